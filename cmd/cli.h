/* SPDX-License-Identifier: MIT
 *
 * cli.h - what the subcommands share: the option table (one row gives parser, --help, man block and
 * the three completions), the parser's and renderers' entry points, and printing. It is not part of
 * the library, and nothing here knows what a recording looks like inside.
 *
 * A subcommand is one `const struct cli_command cmd_NAME` in cmd/NAME.c and one line in main.c. Its
 * options are parsed into a struct of its own whose first member is `struct cli_common common`.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "swt.h"

#define AUTO(closer)           __attribute__((cleanup(closer)))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

#define CLI_USAGE  2 /* exit status of a usage error */
#define CLI_FAILED 1 /* exit status of any other failure that has no status of its own */
#define CLI_PIPE \
    141 /* the reader of our stdout went away: 128 + SIGPIPE, and not a word about it */

/* ---- values that swt.h has no type for ---------------------------------------------------------
 */

struct cli_dims {
    int width, height; /* px; 0 = not given */
};
struct cli_crop {
    int width, height; /* px; 0 = not given */
    int x, y;          /* px from the top left; -1 = centred */
};

/* First member of every command's arguments: the global options and the positional words. */
struct cli_common {
    bool is_quiet, is_verbose, wants_help, wants_version;
    const char **words; /* owned, words[n_words] = NULL; the strings are argv's */
    size_t n_words;
};

/* ---- one option --------------------------------------------------------------------------------
 */

enum cli_kind {
    CLI_FLAG,     /* bool */
    CLI_TEXT,     /* const char *, any text */
    CLI_WORD,     /* const char *, one of `choice` */
    CLI_ENUM,     /* int: position in `choice` */
    CLI_INT,      /* int64_t, bare integer, min..max */
    CLI_DURATION, /* int64_t ns, with unit, min..max */
    CLI_BYTES,    /* uint64_t, min..max */
    CLI_POS,      /* struct swt_pos */
    CLI_LENGTH,   /* struct swt_length */
    CLI_RATIO,    /* struct swt_ratio, > 0 */
    CLI_DIMS,     /* struct cli_dims */
    CLI_CROP      /* struct cli_crop */
};

enum cli_complete { CLI_COMPLETE_NONE, CLI_COMPLETE_FILE, CLI_COMPLETE_DIR, CLI_COMPLETE_CHOICE };

enum { CLI_REQUIRED = 1, CLI_HIDDEN = 2, CLI_BARE_ZERO = 4 /* "0" is right without a unit */ };

/* Name of choice i, NULL past the last; "" is a value that cannot be typed. */
typedef const char *cli_choice_fn(size_t i);

struct cli_option {
    const char *name; /* long name without dashes */
    char letter;      /* short name, 0 = none */
    enum cli_kind kind;
    size_t off;      /* of the field in the command's arguments */
    const char *arg; /* name of the value in help, NULL for flags */
    const char
        *help; /* one or more sentences without final stop; never lists choices or the default */
    const char *preset; /* what holds when it is not given, as text; NULL = nothing to say */
    int64_t min, max;   /* both 0 = any */
    cli_choice_fn *choice;
    enum cli_complete complete;
    unsigned flags;
    const char *group;   /* options of different groups exclude each other; NULL = goes with all */
    const char *heading; /* starts a section of the help before this row */
};

/* Offset of a field that must have exactly this type: another one does not compile. */
#define CLI_AT(args, field, type) \
    (offsetof(args, field) + 0 * sizeof(_Generic(((args *)0)->field, type : 1)))

#define OPT_FLAG(args, field, ...)                                      \
    {                                                                   \
        .kind = CLI_FLAG, .off = CLI_AT(args, field, bool), __VA_ARGS__ \
    }
#define OPT_TEXT(args, field, ...)                                              \
    {                                                                           \
        .kind = CLI_TEXT, .off = CLI_AT(args, field, const char *), __VA_ARGS__ \
    }
#define OPT_WORD(args, field, ...)                                              \
    {                                                                           \
        .kind = CLI_WORD, .off = CLI_AT(args, field, const char *), __VA_ARGS__ \
    }
#define OPT_ENUM(args, field, ...)                                     \
    {                                                                  \
        .kind = CLI_ENUM, .off = CLI_AT(args, field, int), __VA_ARGS__ \
    }
#define OPT_INT(args, field, ...)                                         \
    {                                                                     \
        .kind = CLI_INT, .off = CLI_AT(args, field, int64_t), __VA_ARGS__ \
    }
#define OPT_DURATION(args, field, ...)                                         \
    {                                                                          \
        .kind = CLI_DURATION, .off = CLI_AT(args, field, int64_t), __VA_ARGS__ \
    }
#define OPT_BYTES(args, field, ...)                                          \
    {                                                                        \
        .kind = CLI_BYTES, .off = CLI_AT(args, field, uint64_t), __VA_ARGS__ \
    }
#define OPT_POS(args, field, ...)                                                \
    {                                                                            \
        .kind = CLI_POS, .off = CLI_AT(args, field, struct swt_pos), __VA_ARGS__ \
    }
#define OPT_LENGTH(args, field, ...)                                                   \
    {                                                                                  \
        .kind = CLI_LENGTH, .off = CLI_AT(args, field, struct swt_length), __VA_ARGS__ \
    }
#define OPT_RATIO(args, field, ...)                                                  \
    {                                                                                \
        .kind = CLI_RATIO, .off = CLI_AT(args, field, struct swt_ratio), __VA_ARGS__ \
    }
#define OPT_DIMS(args, field, ...)                                                 \
    {                                                                              \
        .kind = CLI_DIMS, .off = CLI_AT(args, field, struct cli_dims), __VA_ARGS__ \
    }
#define OPT_CROP(args, field, ...)                                                 \
    {                                                                              \
        .kind = CLI_CROP, .off = CLI_AT(args, field, struct cli_crop), __VA_ARGS__ \
    }

/* ---- one command -------------------------------------------------------------------------------
 */

struct cli_note { /* an exit status or an example, with what it means */
    const char *text, *meaning;
};

struct cli_command {
    const char *name;
    const char *summary;  /* one line without final stop */
    const char *synopsis; /* after "swt NAME" */
    const char *word;     /* name of a positional word in messages: "INPUT" */
    size_t min_words, max_words;
    enum cli_complete complete; /* of positional words */
    const struct cli_option *options;
    size_t n_options;
    const char
        *need_group; /* what to say when no option that has a group was given; NULL = none needed */
    const struct cli_note *exits;    /* beyond 0, 1 and 2; ends with text NULL */
    const struct cli_note *examples; /* ends with text NULL */
    size_t args_size;
    const void *presets;          /* initial arguments, args_size bytes */
    int (*run)(const void *args); /* returns the exit status */
};

#define CLI_N(array)        (sizeof(array) / sizeof((array)[0]))
#define CLI_OPTIONS(array)  .options = (array), .n_options = CLI_N(array)
#define CLI_ARGS(type, ...) .args_size = sizeof(type), .presets = &(const type)__VA_ARGS__

/* The options that every command has. */
extern const struct cli_option cli_globals[];
extern const size_t cli_n_globals;

/* ---- cli_parse.c -------------------------------------------------------------------------------
 */

/* Parse argv[0..argc-1] (without the command's name) into `args` (args_size bytes, set to the
 * presets first). Returns 0, or CLI_USAGE with the one line already printed. --help and --version
 * end parsing. owner: args->common.words, freed by cli_args_done on success and on failure */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *args);
void cli_args_done(void *args);

/* Of n names the nearest to a mistyped one, NULL if none is near. */
const char *cli_nearest(const char *typed, const char *(*name)(const void *arg, size_t i),
                        const void *arg);

/* ---- cli_render.c, cli_complete.c --------------------------------------------------------------
 */

struct cli_program {
    const struct cli_command *const *commands;
    size_t n_commands;
};

void cli_help(FILE *out, const struct cli_command *command);
void cli_help_program(FILE *out, const struct cli_program *program);

/* `swt cli-dump WHAT [COMMAND]`: help, man, bash, zsh, fish, json. Returns the exit status. */
int cli_dump(FILE *out, const struct cli_program *program, const char *what, const char *name);

void cli_bash(FILE *out, const struct cli_program *program);
void cli_zsh(FILE *out, const struct cli_program *program);
void cli_fish(FILE *out, const struct cli_program *program);

/* Option i of a command, its own first, then the global ones; hidden ones are left out. NULL past
 * the last. */
const struct cli_option *cli_shown_option(const struct cli_command *command, size_t i);

/* The value's name or its choices where they are few: "KIND", "packets|tensor|both". In `buf`. */
const char *cli_arg_text(const struct cli_option *option, char *buf, size_t cap);

/* ---- cli_print.c -------------------------------------------------------------------------------
 */

/* One line on stderr: "swt NAME: ...", control bytes replaced. `command` NULL: "swt: ...". */
void cli_error(const char *command, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same, and CLI_USAGE returned. */
int cli_usage(const char *command, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The line of a failed library call; returns its exit status. Says nothing for -EPIPE. */
int cli_fail(const char *command, int code, const struct swt_diag *diag);
/* An empty diagnostic, for calls that fail without filling it. */
#define CLI_DIAG                  \
    {                             \
        .offset = -1, .frame = -1 \
    }

/* `text` with control bytes and broken UTF-8 replaced by '?', for people to read. In `buf`. */
const char *cli_clean(const char *text, char *buf, size_t cap);

/* A swt_log_fn: our warnings always (not with -q), the rest and all that FFmpeg says with -v. */
struct cli_log {
    const char *command;
    const struct cli_common *common;
};
void cli_log(void *arg, enum swt_log_level level, const char *room, const char *text);

/* A line that the next one replaces, on a terminal only; "" erases it. Errors erase it first. */
void cli_progress(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* "1.4 GB", "3.000 s": for people. In `buf`. */
const char *cli_bytes(uint64_t bytes, char *buf, size_t cap);
const char *cli_seconds(int64_t ns, char *buf, size_t cap);

/* One JSON object on one line: keys are ours, values are escaped. */
struct cli_json {
    FILE *out;
    bool has_keys;
};
void cli_json_begin(struct cli_json *json, FILE *out);
void cli_json_text(struct cli_json *json, const char *key, const char *value);
void cli_json_count(struct cli_json *json, const char *key, int64_t value);
void cli_json_bool(struct cli_json *json, const char *key, bool value);
void cli_json_ns(struct cli_json *json, const char *key, int64_t ns); /* integer in quotes */
void cli_json_counts(struct cli_json *json, const char *key, const int64_t *values, size_t n);
void cli_json_end(struct cli_json *json);
void cli_json_string(FILE *out, const char *text); /* quoted and escaped, alone */

/* Close stdout and say whether everything got out; `command` NULL as in cli_error. Returns 0, CLI_PIPE, or CLI_FAILED with its
 * line. */
int cli_close_stdout(const char *command);

#endif

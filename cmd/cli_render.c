/* SPDX-License-Identifier: MIT
 *
 * cli_render.c - the option table for people: --help, the generated blocks of the man pages (mdoc),
 * and JSON. Nothing is said here that the table does not hold. Completions are in cli_complete.c.
 */
#include "cli.h"

#include <string.h>

enum { HELP_WIDTH = 80, HELP_INDENT = 26 };

/* ---- what one option says ----------------------------------------------------------------------
 */

const struct cli_option *cli_shown_option(const struct cli_command *command, size_t i)
{
    const struct cli_option *rows[] = {command->options, cli_globals};
    const size_t counts[] = {command->n_options, cli_n_globals};
    for (size_t t = 0; t < 2; t++)
        for (size_t k = 0; k < counts[t]; k++)
            if (!(rows[t][k].flags & CLI_HIDDEN) && i-- == 0)
                return &rows[t][k];
    return NULL;
}

/* Choices joined by `separator`; false if they do not fit into `cap`, `buf` is "" then. */
static bool join_choices(const struct cli_option *option, const char *separator, char *buf,
                         size_t cap)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; option->choice && option->choice(i); i++) {
        if (!*option->choice(i))
            continue;
        int n = snprintf(buf + used, cap - used, "%s%s", used ? separator : "", option->choice(i));
        if (n < 0 || (size_t)n >= cap - used) {
            buf[0] = 0;
            return false;
        }
        used += (size_t)n;
    }
    return used > 0;
}

const char *cli_arg_text(const struct cli_option *option, char *buf, size_t cap)
{
    if (option->arg || option->kind == CLI_FLAG || !join_choices(option, "|", buf, cap))
        snprintf(buf, cap, "%s", option->arg ? option->arg : "");
    return buf;
}

/* Help with choices and default appended. */
static const char *full_help(const struct cli_option *option, char *buf, size_t cap)
{
    char choices[600];
    bool shows = option->arg && join_choices(option, ", ", choices, sizeof choices);
    snprintf(buf, cap, "%s%s%s%s%s%s%s", option->help, shows ? ": " : "", shows ? choices : "",
             option->preset ? " (default: " : "", option->preset ? option->preset : "",
             option->preset ? ")" : "", option->flags & CLI_REQUIRED ? "; required" : "");
    return buf;
}

/* ---- help --------------------------------------------------------------------------------------
 */

/* Words of `text` from column `col` on, broken at HELP_WIDTH, continued at HELP_INDENT. */
static void wrap(FILE *out, const char *text, int col)
{
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (col > HELP_INDENT && col + 1 + n > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_INDENT, "");
            col = HELP_INDENT;
        } else if (col > HELP_INDENT) {
            fputc(' ', out);
            col++;
        }
        fprintf(out, "%.*s", n, text);
        col += n;
        text += n;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void help_row(FILE *out, const char *left, const char *text)
{
    int n = fprintf(out, "%s", left);
    if (n > HELP_INDENT - 2)
        fprintf(out, "\n%*s", HELP_INDENT, "");
    else
        fprintf(out, "%*s", HELP_INDENT - n, "");
    wrap(out, text, HELP_INDENT);
}

static void help_option(FILE *out, const struct cli_option *o)
{
    char left[160], arg[80], text[1200], letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    cli_arg_text(o, arg, sizeof arg);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, *arg ? " " : "", arg);
    if (o->heading)
        fprintf(out, "\n%s:\n", o->heading);
    help_row(out, left, full_help(o, text, sizeof text));
}

static void help_notes(FILE *out, const char *title, const struct cli_note *notes)
{
    char left[64];
    if (notes && notes->text)
        fprintf(out, "\n%s:\n", title);
    for (; notes && notes->text; notes++) {
        snprintf(left, sizeof left, "  %s", notes->text);
        help_row(out, left, notes->meaning);
    }
}

/* Exit statuses that every command has, before its own. */
static const struct cli_note common_exits[] = {
    {"0", "done"}, {"1", "failed"}, {"2", "usage: the command line cannot be right"}, {NULL, NULL}};

void cli_help(FILE *out, const struct cli_command *command)
{
    const struct cli_option *o = NULL;
    fprintf(out, "usage: swt %s %s\n\n%s.\n", command->name, command->synopsis, command->summary);
    for (size_t i = 0; (o = cli_shown_option(command, i)); i++)
        help_option(out, o);
    help_notes(out, "Exit status", common_exits);
    for (const struct cli_note *e = command->exits; e && e->text; e++) {
        char left[64];
        snprintf(left, sizeof left, "  %s", e->text);
        help_row(out, left, e->meaning);
    }
    if (command->examples && command->examples->text)
        fprintf(out, "\nExamples:\n");
    for (const struct cli_note *e = command->examples; e && e->text; e++)
        fprintf(out, "  %s\n      %s\n", e->text, e->meaning);
}

void cli_help_program(FILE *out, const struct cli_program *program)
{
    fprintf(out,
            "usage: swt COMMAND [options]\n\n"
            "Records streams to disk and gives any window of them as a tensor.\n\nCommands:\n");
    for (size_t i = 0; i < program->n_commands; i++) {
        char left[64];
        snprintf(left, sizeof left, "  %s", program->commands[i]->name);
        help_row(out, left, program->commands[i]->summary);
    }
    fprintf(out, "\n'swt COMMAND --help' says more, 'man swt-COMMAND' everything.\n");
}

/* ---- man ---------------------------------------------------------------------------------------
 */

/* Text for mdoc: backslashes and hyphens escaped, a full stop or quote kept from the line's start.
 */
static void roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
    }
}

/* A macro argument: quoted, so that no word of it is taken for a macro. */
static void roff_arg(FILE *out, const char *text)
{
    fputs(" \"", out);
    roff(out, text);
    fputc('"', out);
}

static void man_option(FILE *out, const struct cli_option *o)
{
    char arg[80], text[1200];
    cli_arg_text(o, arg, sizeof arg);
    fprintf(out, ".It");
    if (o->letter)
        fprintf(out, " Fl %c ,", o->letter);
    fprintf(out, " Fl \\-%s", o->name);
    if (*arg) {
        fprintf(out, " Ar");
        roff_arg(out, arg);
    }
    fputc('\n', out);
    roff(out, full_help(o, text, sizeof text));
    fputs(".\n", out);
}

/* A command's first row has a heading, as the first global one has: every list is opened by one. */
static void man_options(FILE *out, const struct cli_command *command)
{
    const struct cli_option *o = NULL;
    fputs("@OPTIONS@\n", out);
    for (size_t i = 0; (o = cli_shown_option(command, i)); i++) {
        if (o->heading)
            fprintf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", i ? ".El\n" : "", o->heading);
        man_option(out, o);
    }
    fputs(".El\n", out);
}

static void man_exits(FILE *out, const struct cli_note *exits)
{
    for (; exits && exits->text; exits++) {
        fprintf(out, ".It %s\n", exits->text);
        roff(out, exits->meaning);
        fputs(".\n", out);
    }
}

static void man_examples(FILE *out, const struct cli_note *examples)
{
    fputs("@EXAMPLES@\n", out);
    for (; examples && examples->text; examples++) {
        roff(out, examples->meaning);
        fputs(":\n.Bd -literal -offset indent\n", out);
        roff(out, examples->text);
        fputs("\n.Ed\n", out);
        fputs(examples[1].text ? ".Pp\n" : "", out);
    }
}

/* Each block begins with a line "@NAME@"; man/generate puts it where the prose has that line. */
static void man(FILE *out, const struct cli_command *command)
{
    fprintf(out, "@NAME@\n.Nm swt-%s\n.Nd %s\n", command->name, command->summary);
    fprintf(out, "@SYNOPSIS@\n.Nm \"swt %s\"\n", command->name);
    roff(out, command->synopsis);
    fputc('\n', out);
    man_options(out, command);
    fputs("@EXIT@\n.Bl -tag -width Ds\n", out);
    man_exits(out, common_exits);
    man_exits(out, command->exits);
    fputs(".El\n", out);
    man_examples(out, command->examples);
}

static void man_program(FILE *out, const struct cli_program *program)
{
    fputs("@COMMANDS@\n.Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < program->n_commands; i++) {
        const struct cli_command *c = program->commands[i];
        fprintf(out, ".It Nm swt Cm %s\n", c->name);
        roff(out, c->summary);
        fprintf(out, ";\nsee\n.Xr swt-%s 1 .\n", c->name);
    }
    fputs(".El\n@PIXELS@\n", out);
    for (size_t i = 0; swt_pixel_name(i); i++)
        fprintf(out, "%s%s", i ? ",\n" : "", swt_pixel_name(i));
    fputs(".\n", out);
}

/* ---- JSON and the door -------------------------------------------------------------------------
 */

static void json_option(FILE *out, const struct cli_option *o)
{
    struct cli_json json;
    char arg[80], text[1200];
    cli_json_begin(&json, out);
    cli_json_text(&json, "option", o->name);
    cli_json_text(&json, "letter", o->letter ? (const char[]){o->letter, 0} : "");
    cli_json_text(&json, "arg", cli_arg_text(o, arg, sizeof arg));
    cli_json_text(&json, "help", full_help(o, text, sizeof text));
    cli_json_bool(&json, "required", (o->flags & CLI_REQUIRED) != 0);
    cli_json_end(&json);
}

static void json_command(FILE *out, const struct cli_command *c)
{
    struct cli_json json;
    const struct cli_option *o = NULL;
    cli_json_begin(&json, out);
    cli_json_text(&json, "command", c->name);
    cli_json_text(&json, "summary", c->summary);
    cli_json_text(&json, "synopsis", c->synopsis);
    cli_json_end(&json);
    for (size_t i = 0; (o = cli_shown_option(c, i)); i++)
        json_option(out, o);
}

static int dump_command(FILE *out, const struct cli_command *command, const char *what)
{
    if (strcmp(what, "help") == 0)
        cli_help(out, command);
    else if (strcmp(what, "man") == 0)
        man(out, command);
    else if (strcmp(what, "json") == 0)
        json_command(out, command);
    else
        return cli_usage("cli-dump", "'%s' of one command: one of help, man, json", what);
    return 0;
}

int cli_dump(FILE *out, const struct cli_program *program, const char *what, const char *name)
{
    for (size_t i = 0; name && i < program->n_commands; i++)
        if (strcmp(program->commands[i]->name, name) == 0)
            return dump_command(out, program->commands[i], what);
    if (name)
        return cli_usage("cli-dump", "no command '%s'", name);
    if (strcmp(what, "help") == 0)
        cli_help_program(out, program);
    else if (strcmp(what, "man") == 0)
        man_program(out, program);
    else if (strcmp(what, "bash") == 0)
        cli_bash(out, program);
    else if (strcmp(what, "zsh") == 0)
        cli_zsh(out, program);
    else if (strcmp(what, "fish") == 0)
        cli_fish(out, program);
    else if (strcmp(what, "json") == 0)
        for (size_t i = 0; i < program->n_commands; i++)
            json_command(out, program->commands[i]);
    else
        return cli_usage("cli-dump", "'%s': one of help, man, bash, zsh, fish, json", what);
    return 0;
}

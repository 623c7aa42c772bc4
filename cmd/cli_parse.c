/* SPDX-License-Identifier: MIT
 *
 * cli_parse.c - words of a command line into a command's arguments, by its option table. Reports
 * usage errors in one line with the nearest name; decides nothing about what options mean together
 * beyond `required` and `group`.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_globals[] = {
    OPT_FLAG(struct cli_common, is_quiet, .name = "quiet", .letter = 'q', .heading = "Common",
             .help = "say nothing but errors"),
    OPT_FLAG(struct cli_common, is_verbose, .name = "verbose", .letter = 'v',
             .help = "explain, and let the libraries speak"),
    OPT_FLAG(struct cli_common, wants_help, .name = "help", .letter = 'h',
             .help = "show this help"),
    OPT_FLAG(struct cli_common, wants_version, .name = "version", .help = "show the version"),
};
const size_t cli_n_globals = CLI_N(cli_globals);

/* What parsing knows while it goes through the words. */
struct parse {
    const struct cli_command *command;
    struct cli_common *common; /* the arguments; fields lie at the rows' offsets */
    char **argv;
    int argc, next;      /* next: index of the word to look at */
    uint64_t seen;       /* bit i: option i of the command was given */
    const char *group;   /* group of the first option that has one */
    const char *grouper; /* that option's name */
};

/* ---- nearest name ------------------------------------------------------------------------------
 */

/* Edit distance with adjacent swaps; names longer than 31 bytes count as far away. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > 31 || m > 31)
        return 99;
    unsigned char d[32][32];
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (unsigned char)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1u : 0u);
            if (d[i - 1][j] + 1u < best)
                best = d[i - 1][j] + 1u;
            if (d[i][j - 1] + 1u < best)
                best = d[i][j - 1] + 1u;
            bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap && d[i - 2][j - 2] + 1u < best)
                best = d[i - 2][j - 2] + 1u;
            d[i][j] = (unsigned char)best;
        }
    return d[n][m];
}

const char *cli_nearest(const char *typed, const char *(*name)(const void *arg, size_t i),
                        const void *arg)
{
    const char *best = NULL;
    unsigned best_d = 1 + (unsigned)(strlen(typed) / 3); /* a third of it may be wrong */
    for (size_t i = 0; name(arg, i); i++) {
        const char *candidate = name(arg, i);
        bool is_start = strlen(typed) >= 2 && strncmp(candidate, typed, strlen(typed)) == 0;
        unsigned d = is_start ? 1 : distance(typed, candidate);
        if (*candidate && d <= best_d && (!best || d < best_d)) {
            best = candidate;
            best_d = d;
        }
    }
    return best;
}

static const char *option_name(const void *command, size_t i)
{
    const struct cli_option *o = cli_shown_option(command, i);
    return o ? o->name : NULL;
}

static const char *choice_name(const void *option, size_t i)
{
    return ((const struct cli_option *)option)->choice(i);
}

static const char *hint(char buf[64], const char *nearest, const char *dashes)
{
    buf[0] = 0;
    if (nearest)
        snprintf(buf, 64, "; did you mean %s%s?", dashes, nearest);
    return buf;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static int bad_value(const struct parse *p, const struct cli_option *o, const char *value,
                     const char *why)
{
    return cli_usage(p->command->name, "--%s '%s': %s", o->name, value, why);
}

static bool parse_integer(const char *text, int64_t *ret)
{
    char *end = NULL;
    if (!strchr("-+0123456789", text[0]) || text[0] == 0)
        return false;
    errno = 0;
    intmax_t v = strtoimax(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *ret = (int64_t)v;
    return true;
}

/* Digits at *s into 0..65535, *s moved past them; false if there are none or too many. */
static bool take_px(const char **s, int *ret)
{
    int v = 0;
    const char *start = *s;
    while (**s >= '0' && **s <= '9') {
        v = v * 10 + (**s - '0');
        if (v > 65535)
            return false;
        (*s)++;
    }
    *ret = v;
    return *s > start;
}

static bool take_char(const char **s, char c)
{
    if (**s != c)
        return false;
    (*s)++;
    return true;
}

static int set_dims(const struct parse *p, const struct cli_option *o, const char *value,
                    struct cli_dims *ret)
{
    const char *s = value;
    struct cli_dims d = {0, 0};
    if (!take_px(&s, &d.width) || !take_char(&s, 'x') || !take_px(&s, &d.height) || *s ||
        d.width < 1 || d.height < 1)
        return bad_value(p, o, value, "not a size such as 224x224 (1 to 65535 each)");
    *ret = d;
    return 0;
}

static int set_crop(const struct parse *p, const struct cli_option *o, const char *value,
                    struct cli_crop *ret)
{
    const char *s = value;
    struct cli_crop c = {0, 0, -1, -1};
    bool is_fine = take_px(&s, &c.width) && take_char(&s, 'x') && take_px(&s, &c.height);
    if (is_fine && *s)
        is_fine = take_char(&s, '+') && take_px(&s, &c.x) && take_char(&s, '+') &&
                  take_px(&s, &c.y);
    if (!is_fine || *s || c.width < 1 || c.height < 1)
        return bad_value(p, o, value, "not a crop such as 224x224 or 224x224+10+20");
    *ret = c;
    return 0;
}

/* Choices as "a, b, c" while they fit into `buf`; "" if they do not. */
static const char *list_choices(const struct cli_option *o, char *buf, size_t cap)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; o->choice(i); i++) {
        if (!*o->choice(i))
            continue;
        int n = snprintf(buf + used, cap - used, "%s%s", used ? ", " : "", o->choice(i));
        if (n < 0 || (size_t)n >= cap - used)
            return buf[0] = 0, buf;
        used += (size_t)n;
    }
    return buf;
}

static int set_choice(const struct parse *p, const struct cli_option *o, const char *value,
                      size_t *ret_i)
{
    for (size_t i = 0; o->choice(i); i++)
        if (*value && strcmp(o->choice(i), value) == 0) {
            *ret_i = i;
            return 0;
        }
    char near[64], all[160];
    const char *nearest = cli_nearest(value, choice_name, o);
    const char *list = list_choices(o, all, sizeof all);
    return cli_usage(p->command->name, "--%s '%s': unknown%s%s%s", o->name, value,
                     hint(near, nearest, ""), !nearest && *list ? "; one of " : "",
                     nearest ? "" : list);
}

/* What a parser of swt.h says about a wrong value, as our line. */
static int said(const struct parse *p, const struct cli_option *o, const char *value, int rc,
                const struct swt_diag *diag)
{
    return rc >= 0 ? 0 : bad_value(p, o, value, diag->text[0] ? diag->text : swt_strerror(rc));
}

static int in_range(const struct parse *p, const struct cli_option *o, const char *value, int64_t v)
{
    if (o->min == 0 && o->max == 0)
        return 0;
    if (v < o->min)
        return cli_usage(p->command->name, "--%s '%s': too small%s", o->name, value,
                         o->min == 1 ? ": must be more than 0" : "");
    if (o->max && v > o->max)
        return cli_usage(p->command->name, "--%s '%s': too large: at most %" PRId64, o->name, value,
                         o->max);
    return 0;
}

static int set_integer(const struct parse *p, const struct cli_option *o, const char *value,
                       int64_t *ret)
{
    struct swt_diag diag = CLI_DIAG;
    if (o->kind == CLI_INT) {
        if (!parse_integer(value, ret))
            return bad_value(p, o, value, "not a whole number");
    } else if ((o->flags & CLI_BARE_ZERO) && strcmp(value, "0") == 0) {
        *ret = 0;
    } else {
        int rc = swt_duration_parse(value, ret, &diag);
        if (rc < 0)
            return said(p, o, value, rc, &diag);
    }
    return in_range(p, o, value, *ret);
}

static int set_bytes(const struct parse *p, const struct cli_option *o, const char *value,
                     uint64_t *ret)
{
    struct swt_diag diag = CLI_DIAG;
    int rc = swt_bytes_parse(value, ret, &diag);
    if (rc < 0)
        return said(p, o, value, rc, &diag);
    return in_range(p, o, value, *ret > INT64_MAX ? INT64_MAX : (int64_t)*ret);
}

static int set_ratio(const struct parse *p, const struct cli_option *o, const char *value,
                     struct swt_ratio *ret)
{
    struct swt_diag diag = CLI_DIAG;
    int rc = swt_ratio_parse(value, ret, &diag);
    if (rc < 0)
        return said(p, o, value, rc, &diag);
    return ret->num > 0 ? 0 : bad_value(p, o, value, "must be more than 0");
}

static int set_value(const struct parse *p, const struct cli_option *o, const char *value)
{
    void *field = (char *)p->common + o->off;
    struct swt_diag diag = CLI_DIAG;
    size_t i = 0;
    int rc = 0;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return 0;
    case CLI_TEXT:
        *(const char **)field = value;
        return *value ? 0 : bad_value(p, o, value, "empty");
    case CLI_WORD:
        *(const char **)field = value;
        return set_choice(p, o, value, &i);
    case CLI_ENUM:
        rc = set_choice(p, o, value, &i);
        *(int *)field = (int)i;
        return rc;
    case CLI_INT:
    case CLI_DURATION:
        return set_integer(p, o, value, field);
    case CLI_BYTES:
        return set_bytes(p, o, value, field);
    case CLI_POS:
        rc = swt_pos_parse(value, field, &diag);
        return said(p, o, value, rc, &diag);
    case CLI_LENGTH:
        rc = swt_length_parse(value, field, &diag);
        return said(p, o, value, rc, &diag);
    case CLI_RATIO:
        return set_ratio(p, o, value, field);
    case CLI_DIMS:
        return set_dims(p, o, value, field);
    case CLI_CROP:
        return set_crop(p, o, value, field);
    }
    return CLI_USAGE;
}

/* ---- words -------------------------------------------------------------------------------------
 */

static const struct cli_option *find_among(const struct cli_option *rows, size_t n,
                                           const char *name, size_t len, char letter)
{
    for (size_t i = 0; i < n; i++) {
        bool is_name = name && strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0;
        if (is_name || (letter && rows[i].letter == letter))
            return &rows[i];
    }
    return NULL;
}

static const struct cli_option *find(const struct parse *p, const char *name, size_t len,
                                     char letter)
{
    const struct cli_option *o = find_among(p->command->options, p->command->n_options, name, len,
                                            letter);
    return o ? o : find_among(cli_globals, cli_n_globals, name, len, letter);
}

/* Remember that an option was given; two options of different groups are an error. */
static int note_seen(struct parse *p, const struct cli_option *o)
{
    const struct cli_option *first = p->command->options;
    if (o >= first && o < first + p->command->n_options)
        p->seen |= UINT64_C(1) << (o - first);
    if (!o->group)
        return 0;
    if (p->group && strcmp(p->group, o->group) != 0)
        return cli_usage(p->command->name, "--%s and --%s exclude each other", p->grouper, o->name);
    p->group = o->group;
    p->grouper = o->name;
    return 0;
}

/* `value` NULL: the next word is the value, whatever it begins with. */
static int give(struct parse *p, const struct cli_option *o, const char *value)
{
    if (o->kind == CLI_FLAG && value)
        return cli_usage(p->command->name, "--%s takes no value", o->name);
    if (o->kind != CLI_FLAG && !value) {
        if (p->next >= p->argc)
            return cli_usage(p->command->name, "--%s needs a value: %s", o->name, o->arg);
        value = p->argv[p->next++];
    }
    int rc = note_seen(p, o);
    return rc ? rc : set_value(p, o, value);
}

static int long_option(struct parse *p, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *o = find(p, name, len, 0);
    if (o)
        return give(p, o, equals ? equals + 1 : NULL);
    char typed[32], near[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(len < 31 ? len : 31), name);
    return cli_usage(p->command->name, "unknown option --%.*s%s", (int)len, name,
                     hint(near, cli_nearest(typed, option_name, p->command), "--"));
}

/* A cluster: flags may follow each other, the last letter may have its value attached. */
static int short_options(struct parse *p, const char *word)
{
    for (const char *s = word + 1; *s; s++) {
        const struct cli_option *o = find(p, NULL, 0, *s);
        if (!o)
            return cli_usage(p->command->name, "unknown option -%c in '%s'", *s, word);
        bool has_rest = o->kind != CLI_FLAG && s[1];
        int rc = give(p, o, has_rest ? s + 1 : NULL);
        if (rc || o->kind != CLI_FLAG)
            return rc;
    }
    return 0;
}

static int positional(struct parse *p, const char *word)
{
    if (p->common->n_words >= p->command->max_words)
        return cli_usage(p->command->name, "one word too many: '%s'", word);
    p->common->words[p->common->n_words++] = word;
    return 0;
}

static int check_complete(const struct parse *p)
{
    const struct cli_command *c = p->command;
    if (p->common->n_words < c->min_words)
        return cli_usage(c->name, "no %s given; try 'swt %s --help'", c->word, c->name);
    for (size_t i = 0; i < c->n_options; i++)
        if ((c->options[i].flags & CLI_REQUIRED) && !(p->seen >> i & 1))
            return cli_usage(c->name, "--%s %s is missing", c->options[i].name, c->options[i].arg);
    if (c->need_group && !p->group)
        return cli_usage(c->name, "%s", c->need_group);
    return 0;
}

static bool ends_early(const struct cli_common *common)
{
    return common->wants_help || common->wants_version;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *args)
{
    if (command->presets)
        memcpy(args, command->presets, command->args_size);
    struct parse p = {.command = command, .common = args, .argv = argv, .argc = argc};
    p.common->words = calloc((size_t)argc + 1, sizeof *p.common->words);
    if (!p.common->words)
        return cli_usage(command->name, "out of memory");
    bool only_words = false;
    int rc = 0;
    while (!rc && p.next < argc && !ends_early(p.common)) {
        const char *word = argv[p.next++];
        if (only_words || word[0] != '-' || !word[1])
            rc = positional(&p, word);
        else if (strcmp(word, "--") == 0)
            only_words = true;
        else
            rc = word[1] == '-' ? long_option(&p, word) : short_options(&p, word);
    }
    return rc || ends_early(p.common) ? rc : check_complete(&p);
}

void cli_args_done(void *args)
{
    struct cli_common *common = args;
    free(common->words);
    common->words = NULL;
}

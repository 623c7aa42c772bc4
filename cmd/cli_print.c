/* SPDX-License-Identifier: MIT
 *
 * cli_print.c - everything people and scripts read: error lines, figures, JSON rows, and the last
 * check that stdout got all of it. No command logic.
 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* ---- text that may hold anything ---------------------------------------------------------------
 */

/* Length of the well-formed UTF-8 character at s, 0 if there is none. */
static size_t utf8_len(const unsigned char *s)
{
    size_t n = s[0] < 0x80             ? 1
               : (s[0] & 0xe0) == 0xc0 ? 2
               : (s[0] & 0xf0) == 0xe0 ? 3
               : (s[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    bool is_overlong = s[0] == 0xc0 || s[0] == 0xc1 || (s[0] == 0xe0 && s[1] < 0xa0) ||
                       (s[0] == 0xf0 && s[1] < 0x90);
    bool is_beyond = s[0] > 0xf4 || (s[0] == 0xf4 && s[1] > 0x8f) || (s[0] == 0xed && s[1] > 0x9f);
    if (is_overlong || is_beyond)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Control characters of both kinds: C0 with DEL, and C1 (which some terminals obey). */
static bool is_control(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

const char *cli_clean(const char *text, char *buf, size_t cap)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0;
    while (*s) {
        size_t n = utf8_len(s);
        bool is_bad = n == 0 || is_control(s);
        size_t step = n ? n : 1, len = is_bad ? 1 : n;
        if (used + len >= cap)
            break;
        memcpy(buf + used, is_bad ? (const unsigned char *)"?" : s, len);
        used += len;
        s += step;
    }
    buf[used] = 0;
    return buf;
}

/* ---- error lines -------------------------------------------------------------------------------
 */

static bool
    has_progress; /* a progress line stands on the terminal: state of the terminal, hence global */

void cli_progress(const char *fmt, ...)
{
    char text[1024], clean[1024];
    va_list ap;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cli_clean(text, clean, sizeof clean);
    fprintf(stderr, "\r%s\033[K", clean);
    fflush(stderr);
    has_progress = clean[0] != 0;
}

static void error_line(const char *command, const char *text)
{
    char clean[2048];
    if (has_progress)
        cli_progress("%s", "");
    fprintf(stderr, "swt%s%s: %s\n", command ? " " : "", command ? command : "",
            cli_clean(text, clean, sizeof clean));
}

void cli_error(const char *command, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_line(command, text);
}

int cli_usage(const char *command, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_line(command, text);
    return CLI_USAGE;
}

/* Does the text hold "WORD NUMBER" already? */
static bool says(const char *text, const char *word, int64_t number)
{
    char phrase[48];
    int n = snprintf(phrase, sizeof phrase, "%s %" PRId64, word, number);
    const char *at = strstr(text, phrase);
    return at && (at[n] < '0' || at[n] > '9');
}

int cli_fail(const char *command, int code, const struct swt_diag *diag)
{
    char at[80] = "";
    int used = 0;
    if (code == -EPIPE)
        return CLI_PIPE;
    const char *text = diag->text[0] ? diag->text : swt_strerror(code);
    bool with_path = diag->path[0] && !strstr(text, diag->path);
    bool with_stream = diag->stream[0] && !strstr(text, diag->stream) &&
                       !strstr(diag->path, diag->stream);
    if (diag->offset >= 0 && !says(text, "byte", diag->offset))
        used = snprintf(at, sizeof at, " (byte %" PRId64, diag->offset);
    if (diag->frame >= 0 && !says(text, "frame", diag->frame))
        used += snprintf(at + used, sizeof at - (size_t)used, "%s%" PRId64,
                         used ? ", frame " : " (frame ", diag->frame);
    if (used > 0)
        snprintf(at + used, sizeof at - (size_t)used, ")");
    cli_error(command, "%s%s%s%s%s%s", with_path ? diag->path : "", with_path ? ": " : "",
              with_stream ? diag->stream : "", with_stream ? ": " : "", text, at);
    return swt_exit_code(code);
}

void cli_log(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    const struct cli_log *log = arg;
    bool is_noise = level > SWT_LOG_WARNING ||
                    strcmp(room, "media") == 0; /* FFmpeg speaks as "media" */
    if (is_noise ? !log->common->is_verbose : log->common->is_quiet)
        return;
    if (log->common->is_verbose)
        cli_error(log->command, "%s: %s", room, text);
    else
        cli_error(log->command, "%s", text);
}

/* ---- figures -----------------------------------------------------------------------------------
 */

const char *cli_bytes(uint64_t bytes, char *buf, size_t cap)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 999.95 && unit + 1 < CLI_N(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(buf, cap, "%.*f %s", unit ? 1 : 0, value, units[unit]);
    return buf;
}

const char *cli_seconds(int64_t ns, char *buf, size_t cap)
{
    uint64_t ms = ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) + 500000) / 1000000;
    snprintf(buf, cap, "%s%" PRIu64 ".%03" PRIu64 " s", ns < 0 ? "-" : "", ms / 1000, ms % 1000);
    return buf;
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

void cli_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8_len(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(out, "\\u%04x", *s);
        else if (n)
            fwrite(s, 1, n, out);
        else
            fputs("\\ufffd", out);
        s += n ? n : 1;
    }
    fputc('"', out);
}

static void json_key(struct cli_json *json, const char *key)
{
    fputs(json->has_keys ? "," : "", json->out);
    json->has_keys = true;
    cli_json_string(json->out, key);
    fputc(':', json->out);
}

void cli_json_begin(struct cli_json *json, FILE *out)
{
    *json = (struct cli_json){.out = out};
    fputc('{', out);
}

void cli_json_text(struct cli_json *json, const char *key, const char *value)
{
    json_key(json, key);
    cli_json_string(json->out, value);
}

void cli_json_count(struct cli_json *json, const char *key, int64_t value)
{
    json_key(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void cli_json_bool(struct cli_json *json, const char *key, bool value)
{
    json_key(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_ns(struct cli_json *json, const char *key, int64_t ns)
{
    json_key(json, key);
    fprintf(json->out, "\"%" PRId64 "\"", ns);
}

void cli_json_counts(struct cli_json *json, const char *key, const int64_t *values, size_t n)
{
    json_key(json, key);
    fputc('[', json->out);
    for (size_t i = 0; i < n; i++)
        fprintf(json->out, "%s%" PRId64, i ? "," : "", values[i]);
    fputc(']', json->out);
}

void cli_json_end(struct cli_json *json)
{
    fputs("}\n", json->out);
}

/* ---- stdout ------------------------------------------------------------------------------------
 */

int cli_close_stdout(const char *command)
{
    errno = 0;
    bool had_error = ferror(stdout) != 0;
    if (fclose(stdout) == 0 && !had_error)
        return 0;
    if (errno == EPIPE)
        return CLI_PIPE;
    cli_error(command, "standard output: %s", errno ? strerror(errno) : "write error");
    return CLI_FAILED;
}

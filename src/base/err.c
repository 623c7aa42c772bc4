/* SPDX-License-Identifier: MIT
 *
 * err.c - the table of codes, and filling diagnostics so that they are one clean line whatever a
 * file name or a library put into them. Prints nothing and keeps nothing.
 */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Exit statuses of the command line (cli.md). */
enum { DONE = 0, FAILED = 1, USAGE = 2, LOST = 3, NOT_THERE = 4 };

static const struct err_row {
    int code, exit_code;
    const char *text;
} rows[] = {
    {SWT_E_NOT_RECORDING, FAILED, "not a recording"},
    {SWT_E_NEWER, FAILED, "written by a newer version of swt"},
    {SWT_E_CORRUPT, LOST, "damaged data"},
    {SWT_E_NO_STREAM, FAILED, "no such stream"},
    {SWT_E_NO_WINDOW, NOT_THERE, "the frames asked for are not there"},
    {SWT_E_RUNS, FAILED, "the window crosses a change of format"},
    {SWT_E_GAP, NOT_THERE, "a gap in the window"},
    {SWT_E_BUSY, FAILED, "another process writes this stream"},
    {SWT_E_INPUT, FAILED, "the input cannot be opened or understood"},
    {SWT_E_NO_DECODER, FAILED, "no decoder for this codec"},
    {SWT_E_NO_MEDIA, FAILED, "the media module is missing or of another version"},
    {SWT_E_UNSUPPORTED, FAILED, "not supported"},
    {SWT_E_USAGE, USAGE, "an argument that cannot be right"},
    {SWT_E_END, FAILED, "the source has ended"},
    {SWT_E_TIMEOUT, FAILED, "the source went silent"},
    {SWT_E_LOST, LOST, "data that existed is not stored or not intact"},
    {SWT_E_STOPPED, FAILED, "stopped before anything was opened"},
};

static const struct err_row *find(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].code == code)
            return &rows[i];
    return NULL;
}

const char *err_text(int code)
{
    if (code >= 0)
        return "no error";
    const struct err_row *row = find(code);
    if (row)
        return row->text;
    const char *text = code > -4096 ? strerrordesc_np(-code) : NULL;
    return text ? text : "unknown error";
}

int err_exit_code(int code)
{
    if (code >= 0)
        return DONE;
    const struct err_row *row = find(code);
    return row ? row->exit_code : FAILED;
}

/* Length without the bytes of a UTF-8 character that is cut off at the end. */
static size_t whole_chars(const char *text, size_t n)
{
    size_t tail = 0; /* continuation bytes at the end */
    while (tail < n && tail < 3 && ((unsigned char)text[n - 1 - tail] & 0xc0) == 0x80)
        tail++;
    if (tail == n)
        return n;
    unsigned char lead = (unsigned char)text[n - 1 - tail];
    size_t want = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    return want > tail ? n - 1 - tail : n;
}

void err_one_line(char *text)
{
    text[whole_chars(text, strlen(text))] = 0;
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
}

/* The end of a path says more than its beginning. */
static void set_path(char ret_path[256], const char *path)
{
    const size_t cap = sizeof((struct swt_diag *)0)->path;
    size_t n = strlen(path);
    if (n < cap) {
        memmove(ret_path, path, n + 1);
        return;
    }
    const char *tail = path + n - (cap - 4);
    while (((unsigned char)*tail & 0xc0) == 0x80)
        tail++;
    memmove(ret_path + 3, tail, strlen(tail) + 1);
    memcpy(ret_path, "...", 3);
}

static void fill(struct swt_diag *reterr, int code, const char *path, int64_t offset,
                 const char *fmt, va_list args) PRINTF_LIKE(5, 0);

static void fill(struct swt_diag *reterr, int code, const char *path, int64_t offset,
                 const char *fmt, va_list args)
{
    char text[sizeof reterr->text]; /* apart, since an argument may be reterr->text */
    if (vsnprintf(text, sizeof text, fmt, args) < 0)
        text[0] = 0;
    err_one_line(text);
    set_path(reterr->path, path ? path : "");
    memcpy(reterr->text, text, sizeof text);
    reterr->code = code;
    reterr->offset = offset;
    reterr->frame = -1;
    reterr->stream[0] = 0;
}

int err_set(struct swt_diag *reterr, int code, const char *fmt, ...)
{
    if (!reterr)
        return code;
    va_list args;
    va_start(args, fmt);
    fill(reterr, code, NULL, -1, fmt, args);
    va_end(args);
    return code;
}

int err_at(struct swt_diag *reterr, int code, const char *path, int64_t offset, const char *fmt,
           ...)
{
    if (!reterr)
        return code;
    va_list args;
    va_start(args, fmt);
    fill(reterr, code, path, offset, fmt, args);
    va_end(args);
    return code;
}

int err_errno(struct swt_diag *reterr, int errnum, const char *path, const char *what)
{
    assert(errnum > 0);
    return err_at(reterr, -errnum, path, -1, "%s: %s", what, err_text(-errnum));
}

void err_stream(struct swt_diag *reterr, const char *stream)
{
    if (reterr && !reterr->stream[0])
        snprintf(reterr->stream, sizeof reterr->stream, "%s", stream);
}

void err_frame(struct swt_diag *reterr, int64_t frame)
{
    if (reterr && reterr->frame < 0)
        reterr->frame = frame;
}

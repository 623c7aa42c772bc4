/* SPDX-License-Identifier: MIT
 *
 * input.c - what the user's word for an input means: an existing name is a file whatever it looks like,
 * then "-", DEVICE:NAME, URL. Opens files and nothing else.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/demux/demux.h"

/* Devices of libavdevice that people name; `format` is FFmpeg's name. */
static const struct device_row {
    const char *prefix, *format;
} device_rows[] = {
    {"lavfi:", "lavfi"}, {"v4l2:", "v4l2"},       {"alsa:", "alsa"},
    {"pulse:", "pulse"}, {"x11grab:", "x11grab"},
};

void demux_input_close(struct demux_input *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    input->fd = -1;
}

static int refuse(struct swt_diag *reterr, const char *text, const char *why)
{
    return err_at(reterr, SWT_E_INPUT, text, -1, "cannot open '%.200s': %s", text, why);
}

static int file_open(struct demux_input *in, const struct stat *st, struct swt_diag *reterr)
{
    if (S_ISDIR(st->st_mode))
        return refuse(reterr, in->text, "it is a directory");
    if (S_ISREG(st->st_mode) && st->st_size == 0)
        return refuse(reterr, in->text, "the file is empty");
    /* A named pipe without a writer must not block here. */
    in->fd = open(in->name, O_RDONLY | O_CLOEXEC | (S_ISREG(st->st_mode) ? 0 : O_NONBLOCK));
    if (in->fd < 0)
        return refuse(reterr, in->text, strerror(errno));
    in->kind = DEMUX_FILE;
    in->is_regular = S_ISREG(st->st_mode);
    if (S_ISCHR(st->st_mode) && strncmp(in->name, "/dev/video", 10) == 0) {
        demux_input_close(in);
        return err_at(reterr, SWT_E_INPUT, in->text, -1,
                      "'%.200s' is a camera, not a file: use v4l2:%.200s", in->text, in->text);
    }
    return 0;
}

static int stdin_open(struct demux_input *in, struct swt_diag *reterr)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0)
        return refuse(reterr, in->text, "standard input is closed");
    if (S_ISDIR(st.st_mode))
        return refuse(reterr, in->text, "standard input is a directory");
    in->kind = DEMUX_STDIN;
    in->fd = STDIN_FILENO;
    in->is_regular = S_ISREG(st.st_mode);
    return 0;
}

/* Length of "scheme" in front of a colon, 0 if there is none. */
static size_t scheme_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || (n > 0 && strchr("+-.,", text[n]) && text[n]))
        n++;
    return n > 0 && isalpha((unsigned char)text[0]) && text[n] == ':' ? n : 0;
}

/* FFmpeg opens these without a protocol of that name. */
static bool is_protocol_of_demuxer(const char *text)
{
    static const char *const names[] = {"rtsp://", "rtsps://", "satip://", "sap://"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_protocol(const char *text, size_t n)
{
    void *at = NULL;
    const char *name;
    while ((name = avio_enum_protocols(&at, 0)))
        if (strlen(name) == n && strncmp(name, text, n) == 0)
            return true;
    return is_protocol_of_demuxer(text);
}

static int other_open(struct demux_input *in, struct swt_diag *reterr)
{
    for (size_t i = 0; i < sizeof device_rows / sizeof device_rows[0]; i++) {
        size_t n = strlen(device_rows[i].prefix);
        if (strncmp(in->text, device_rows[i].prefix, n) != 0)
            continue;
        in->kind = DEMUX_DEVICE;
        in->name = in->text + n;
        av_copy_text(in->device, sizeof in->device, device_rows[i].format);
        return 0;
    }
    size_t n = scheme_length(in->text);
    if (n == 0)
        return refuse(reterr, in->text, "no such file");
    if (!is_protocol(in->text, n))
        return err_at(reterr, SWT_E_INPUT, in->text, -1,
                      "cannot open '%.200s': no such file, and FFmpeg has no protocol '%.*s'",
                      in->text, (int)(n > 40 ? 40 : n), in->text);
    in->kind = DEMUX_URL;
    return 0;
}

int demux_input_open(const char *text, struct demux_input *ret_input, struct swt_diag *reterr)
{
    struct demux_input in = {.text = text, .name = text, .fd = -1};
    struct stat st;
    int rc;
    if (strcmp(text, "-") == 0)
        rc = stdin_open(&in, reterr);
    else if (stat(text, &st) == 0)
        rc = file_open(&in, &st, reterr);
    else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        rc = refuse(reterr, text, strerror(errno));
    else
        rc = other_open(&in, reterr);
    if (rc >= 0)
        *ret_input = in;
    return rc;
}

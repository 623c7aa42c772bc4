/* SPDX-License-Identifier: MIT
 *
 * test_base_err.c - diagnostics, the table of codes, log lines, dtypes and the life of struct params.
 */
#include "base/err.h"

#include <errno.h>

#include "base/dtype.h"
#include "base/log.h"
#include "base/params.h"
#include "t.h"

#define N_CODES \
    17 /* of enum swt_error: a new code needs its row in err.c and its exit status here */

TEST(table__every_code_has_its_own_text_and_exit_status)
{
    static const int exits[N_CODES] = {
        [-20000 - SWT_E_NO_WINDOW] = 4, [-20000 - SWT_E_GAP] = 4,   [-20000 - SWT_E_LOST] = 3,
        [-20000 - SWT_E_CORRUPT] = 3,   [-20000 - SWT_E_USAGE] = 2,
    };
    for (int i = 0; i < N_CODES; i++) {
        int code = -20000 - i;
        CHECK_INT(err_exit_code(code), exits[i] ? exits[i] : 1);
        CHECK(strcmp(err_text(code), "unknown error") != 0);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(err_text(code), err_text(-20000 - j)) != 0);
    }
    CHECK_STR(err_text(-20000 - N_CODES), "unknown error");
}

TEST(table__kernel_codes_and_success)
{
    CHECK_STR(err_text(-ENOENT), "No such file or directory");
    CHECK_INT(err_exit_code(-ENOENT), 1);
    CHECK_INT(err_exit_code(0), 0);
    CHECK_INT(err_exit_code(7), 0);
    CHECK_STR(err_text(0), "no error");
    CHECK_STR(err_text(INT32_MIN), "unknown error");
    CHECK_INT(err_exit_code(INT32_MIN), 1);
}

static struct swt_diag full_diag(void)
{
    struct swt_diag d = {.code = 5, .offset = 6, .frame = 7};
    memset(d.path, 'p', sizeof d.path - 1);
    memset(d.stream, 's', sizeof d.stream - 1);
    memset(d.text, 't', sizeof d.text - 1);
    return d;
}

TEST(set__resets_every_field)
{
    struct swt_diag d = full_diag();
    CHECK_INT(err_set(&d, SWT_E_BUSY, "%s %d", "held by", 42), SWT_E_BUSY);
    CHECK_INT(d.code, SWT_E_BUSY);
    CHECK_INT(d.offset, -1);
    CHECK_INT(d.frame, -1);
    CHECK_STR(d.path, "");
    CHECK_STR(d.stream, "");
    CHECK_STR(d.text, "held by 42");
}

TEST(set__accepts_no_diagnostic)
{
    CHECK_INT(err_set(NULL, SWT_E_BUSY, "%s", "x"), SWT_E_BUSY);
    CHECK_INT(err_at(NULL, SWT_E_BUSY, "p", 1, "%s", "x"), SWT_E_BUSY);
    CHECK_INT(err_errno(NULL, ENOENT, "p", "open"), -ENOENT);
    err_stream(NULL, "video");
    err_frame(NULL, 1);
}

TEST(at__says_where)
{
    struct swt_diag d = full_diag();
    CHECK_INT(err_at(&d, SWT_E_CORRUPT, "rec.swt/video", 4096, "wrong"), SWT_E_CORRUPT);
    CHECK_STR(d.path, "rec.swt/video");
    CHECK_INT(d.offset, 4096);
    CHECK_INT(d.frame, -1);
}

TEST(at__wraps_its_own_text_and_path)
{
    struct swt_diag d;
    err_at(&d, SWT_E_CORRUPT, "some/path", 1, "inner");
    err_at(&d, SWT_E_LOST, d.path, 2, "outer: %s", d.text);
    CHECK_STR(d.text, "outer: inner");
    CHECK_STR(d.path, "some/path");
}

TEST(errno__says_what_failed_and_why)
{
    struct swt_diag d;
    CHECK_INT(err_errno(&d, ENOSPC, "rec.swt", "write"), -ENOSPC);
    CHECK_STR(d.text, "write: No space left on device");
    CHECK_STR(d.path, "rec.swt");
    CHECK_INT(d.code, -ENOSPC);
}

TEST(text__is_one_clean_line)
{
    struct swt_diag d;
    err_set(&d, SWT_E_INPUT, "a\nb\tc\033[31md\177e%s", "\r\n");
    CHECK_STR(d.text, "a?b?c?[31md?e??");
    err_set(&d, SWT_E_INPUT, "é €");
    CHECK_STR(d.text, "é €");
}

TEST(text__is_cut_between_characters)
{
    for (int n = 505; n < 515; n++) {
        struct swt_diag d;
        char long_text[600];
        memset(long_text, 'x', sizeof long_text);
        memcpy(long_text + n, "\xf0\x9f\x8e\xa5!", 6); /* one character of 4 bytes */
        err_set(&d, SWT_E_INPUT, "%s", long_text);
        size_t want = n + 5 <= 511 ? (size_t)n + 5 : n + 4 == 511 ? 511 : n < 511 ? (size_t)n : 511;
        CHECK_INT(strlen(d.text), want);
    }
}

TEST(path__is_shortened_from_the_left)
{
    struct swt_diag d;
    char path[600];
    memset(path, 'a', sizeof path);
    memcpy(path + sizeof path - 9, "/tail.swt", 9);
    for (size_t n = 250; n < 300; n++) {
        char *at = path + sizeof path - n - 1;
        memmove(at, path + sizeof path - n, n);
        at[n] = 0;
        err_at(&d, SWT_E_CORRUPT, at, -1, "x");
        CHECK_INT(strlen(d.path), n < 256 ? n : 255);
        CHECK_INT(strncmp(d.path, "...", 3) == 0, n >= 256);
        CHECK_STR(d.path + strlen(d.path) - 9, "/tail.swt");
        memmove(at + 1, at, n);
    }
}

TEST(path__is_not_cut_within_a_character)
{
    struct swt_diag d;
    char path[400] = "";
    for (size_t n = 0; n + 3 < sizeof path; n += 2)
        memcpy(path + n, "é", 3);
    path[0] = 'x'; /* and the other half of it is left over */
    path[1] = 'x';
    err_at(&d, SWT_E_CORRUPT, path, -1, "x");
    CHECK_INT((unsigned char)d.path[3], 0xc3);
    err_at(&d, SWT_E_CORRUPT, path + 1, -1, "x");
    CHECK_INT((unsigned char)d.path[3], 0xc3);
}

TEST(stream_and_frame__complete_what_is_not_known)
{
    struct swt_diag d;
    err_set(&d, SWT_E_CORRUPT, "x");
    err_stream(&d, "video");
    err_stream(&d, "audio");
    err_frame(&d, 0);
    err_frame(&d, 9);
    CHECK_STR(d.stream, "video");
    CHECK_INT(d.frame, 0);
}

struct said {
    int n;
    enum swt_log_level level;
    char room[16], text[64];
};

static void hear(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    struct said *said = arg;
    said->n++;
    said->level = level;
    snprintf(said->room, sizeof said->room, "%s", room);
    snprintf(said->text, sizeof said->text, "%s", text);
}

TEST(log__hands_on_one_line)
{
    struct said said = {.n = 0};
    struct log_to to = {hear, &said};
    log_line(&to, SWT_LOG_WARNING, "store", "a\n%d", 5);
    CHECK_INT(said.n, 1);
    CHECK_INT(said.level, SWT_LOG_WARNING);
    CHECK_STR(said.room, "store");
    CHECK_STR(said.text, "a?5");
    log_line(&(struct log_to){NULL, NULL}, SWT_LOG_ERROR, "store", "x");
    log_line(NULL, SWT_LOG_ERROR, "store", "x");
    CHECK_INT(said.n, 1);
}

TEST(dtype__names_lead_back)
{
    static const size_t bytes[SWT_N_DTYPES] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
    for (unsigned i = 0; i < SWT_N_DTYPES; i++) {
        const struct dtype *d = dtype_get((enum swt_dtype)i);
        CHECK_INT(dtype_find(d->name), i);
        CHECK_INT(d->bytes, bytes[i]);
        CHECK_INT(d->is_float, i >= SWT_F16);
        CHECK_INT(d->is_signed, i >= SWT_S8);
        CHECK(!d->npy || (size_t)(d->npy[2] - '0') == d->bytes);
    }
    CHECK_STR(dtype_get(SWT_F32)->npy, "<f4");
    CHECK_STR(dtype_get(SWT_U8)->npy, "|u1");
    CHECK(dtype_get(SWT_BF16)->npy == NULL);
    CHECK_INT(dtype_find("none"), SWT_DTYPE_NONE);
    CHECK_INT(dtype_find("U8"), SWT_DTYPE_NONE);
    CHECK_INT(dtype_find(""), SWT_DTYPE_NONE);
    CHECK_STR(dtype_get((enum swt_dtype)99)->name, "none");
    CHECK_STR(dtype_get((enum swt_dtype) - 1)->name, "none");
}

TEST(params__copy_is_deep)
{
    uint8_t bytes[] = {1, 2, 3};
    struct params a, b;
    params_init(&a);
    CHECK_INT(a.profile, -99);
    CHECK_INT(a.rate.den, 1);
    a.extra = bytes;
    a.n_extra = sizeof bytes;
    a.width = 640;
    CHECK_INT(params_copy(&b, &a), 0);
    bytes[0] = 9;
    CHECK_INT(b.width, 640);
    CHECK_INT(b.n_extra, 3);
    CHECK_INT(b.extra[0], 1);
    params_done(&b);
    CHECK(b.extra == NULL);
    params_done(&b);
    a.extra = NULL;
    a.n_extra = 0;
    CHECK_INT(params_copy(&b, &a), 0);
    CHECK(b.extra == NULL);
}

T_MAIN(RUN(table__every_code_has_its_own_text_and_exit_status) RUN(table__kernel_codes_and_success)
           RUN(set__resets_every_field) RUN(set__accepts_no_diagnostic) RUN(at__says_where)
               RUN(at__wraps_its_own_text_and_path) RUN(errno__says_what_failed_and_why)
                   RUN(text__is_one_clean_line) RUN(text__is_cut_between_characters)
                       RUN(path__is_shortened_from_the_left)
                           RUN(path__is_not_cut_within_a_character)
                               RUN(stream_and_frame__complete_what_is_not_known)
                                   RUN(log__hands_on_one_line) RUN(dtype__names_lead_back)
                                       RUN(params__copy_is_deep))

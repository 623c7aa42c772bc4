/* SPDX-License-Identifier: MIT
 *
 * verify.c - swt verify: reads and checks everything in a recording and names what is damaged.
 */
#include "cli.h"

#include <inttypes.h>

struct verify_args {
    struct cli_common common;
};

static void on_damage(void *arg, const struct swt_diag *damage)
{
    (void)arg;
    (void)cli_fail("verify", damage->code, damage); /* the status comes from the whole run */
}

static int run(const void *args)
{
    const struct verify_args *a = args;
    struct swt_verify_report r = {0};
    struct swt_diag diag = CLI_DIAG;
    char size[32];
    int rc = swt_verify(a->common.words[0], on_damage, NULL, &r, &diag);
    if (rc < 0 && rc != SWT_E_LOST)
        return cli_fail("verify", rc, &diag);
    if (!a->common.is_quiet)
        printf("%" PRIu64 " stream%s, %" PRIu64 " segments, %" PRIu64 " entries, %" PRIu64
               " frames, %s: %" PRIu64 " damaged\n",
               r.streams, r.streams == 1 ? "" : "s", r.segments, r.entries, r.frames,
               cli_bytes(r.bytes, size, sizeof size), r.damages);
    return rc < 0 ? swt_exit_code(rc) : 0;
}

static const struct cli_note exits[] = {
    {"3", "damage was found; each is named on standard error with file, byte and frame"},
    {NULL, NULL}};
static const struct cli_note examples[] = {
    {"swt verify clip.swt", "Check every byte of a recording"}, {NULL, NULL}};

const struct cli_command cmd_verify = {
    .name = "verify",
    .summary = "Read and check everything in a recording",
    .synopsis = "RECORDING [options]",
    .word = "RECORDING",
    .min_words = 1,
    .max_words = 1,
    .complete = CLI_COMPLETE_DIR,
    .exits = exits,
    .examples = examples,
    CLI_ARGS(struct verify_args, {.common = {.n_words = 0}}),
    .run = run,
};

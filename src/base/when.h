/* SPDX-License-Identifier: MIT
 *
 * when.h - the words people type for places, lengths, times, sizes and rates (cli.md, "Rules for every
 * subcommand"). A bare integer counts frames; a time carries a unit, a colon or a date. What a place
 * means in a stream is decided elsewhere.
 *
 * Every parser takes the whole text. errors: SWT_E_USAGE with a text that says what is wrong and what
 * would be right; it does not repeat the word, which the caller has.
 */
#ifndef BASE_WHEN_H
#define BASE_WHEN_H

#include "base/err.h"

/* "64" "10s" "1m30s" "00:01:02.5" "2026-11-30T14:00:00Z" "start" "end" "now" "-64" "-2s" */
int when_pos(const char *text, struct swt_pos *ret_pos, struct swt_diag *reterr);

/* "64" "10s"; more than 0 */
int when_length(const char *text, struct swt_length *ret_length, struct swt_diag *reterr);

/* "10s" "250ms" "0s" "00:01:02.5"; rounded to the nearest ns */
int when_duration(const char *text, int64_t *ret_ns, struct swt_diag *reterr);

/* "512MiB" "16GB" "1.5GiB" "100B"; at most INT64_MAX */
int when_bytes(const char *text, uint64_t *ret_bytes, struct swt_diag *reterr);

/* "30" "30000/1001" "29.97"; more than 0, in lowest terms, both below 2^31 */
int when_ratio(const char *text, struct swt_ratio *ret_ratio, struct swt_diag *reterr);

/* A date with zone as ns since 1970 UTC, rounded to the nearest ns; 1677 to 2262. */
int when_date(const char *text, int64_t *ret_wall_ns, struct swt_diag *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * log.h - hands one line to the log function given at open. Keeps no state and never prints.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

struct log_to {
    swt_log_fn *fn; /* NULL: silent */
    void *arg;
};

void log_line(const struct log_to *to, enum swt_log_level level, const char *room, const char *fmt,
              ...) PRINTF_LIKE(4, 5);

#endif

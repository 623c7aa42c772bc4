/* SPDX-License-Identifier: MIT
 *
 * log.c - formats one line and hands it on. Decides nothing about what is worth saying.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_line(const struct log_to *to, enum swt_log_level level, const char *room, const char *fmt,
              ...)
{
    if (!to || !to->fn)
        return;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    err_one_line(text);
    to->fn(to->arg, level, room, text);
}

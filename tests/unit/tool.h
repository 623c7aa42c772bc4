/* SPDX-License-Identifier: MIT
 *
 * tool.h - for unit tests that ask another program whether our bytes are right: files in a folder of
 * their own, commands run in it. Not for the command line's tests, which are bats files.
 */
#ifndef TOOL_H
#define TOOL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tool_dir[64];

static inline void tool_leave(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", tool_dir);
    if (system(command))
        printf("# %s stays\n", tool_dir);
}

/* Work in a new folder that goes when the program ends. */
static inline void tool_enter(void)
{
    if (tool_dir[0])
        return;
    strcpy(tool_dir, "/tmp/swt-unit.XXXXXX");
    if (!mkdtemp(tool_dir) || chdir(tool_dir))
        abort();
    atexit(tool_leave);
}

/* Is a command there? For tests that skip. */
static inline int tool_has(const char *check)
{
    char command[256];

    snprintf(command, sizeof command, "{ %s; } >/dev/null 2>&1", check);
    return system(command) == 0;
}

static inline void tool_write(const char *name, const void *a, size_t n_a, const void *b,
                              size_t n_b)
{
    FILE *f = fopen(name, "wb");

    if (!f || fwrite(a, 1, n_a, f) != n_a || (n_b && fwrite(b, 1, n_b, f) != n_b) || fclose(f))
        abort();
}

/* First `cap` bytes of a file; how many there were. */
static inline size_t tool_read(const char *name, void *data, size_t cap)
{
    FILE *f = fopen(name, "rb");
    size_t n = f ? fread(data, 1, cap, f) : 0;

    if (f)
        fclose(f);
    return n;
}

/* Run a command; its standard output (cut at 4095 bytes, last newline off) in static storage. A status
 * other than 0 gives "status N". */
__attribute__((format(printf, 1, 2))) static inline const char *tool_run(const char *format, ...)
{
    static char out[4096];
    char command[4096];
    size_t n;
    int status;
    FILE *f;
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    f = popen(command, "r");
    if (!f)
        abort();
    n = fread(out, 1, sizeof out - 1, f);
    out[n] = '\0';
    status = pclose(f);
    if (status) {
        printf("# %s\n", command);
        snprintf(out, sizeof out, "status %d", status);
    } else if (n && out[n - 1] == '\n') {
        out[n - 1] = '\0';
    }
    return out;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * t.h - the whole of the unit test framework: one program a file, cases that return nothing and
 * check with CHECK macros, TAP on stdout. A failed check ends its case (not the program) by
 * returning.
 *
 *     TEST(seek__before_first_returns_enoent)
 *     {
 *         CHECK_INT(seek(-1), -ENOENT);
 *     }
 *     T_MAIN(RUN(seek__before_first_returns_enoent))
 */
#ifndef T_H
#define T_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit status of a program that can do nothing here; its last line says why. */
#define T_SKIPPED 77

struct t_case {
    const char *name;
    void (*run)(void);
};

static int t_failed; /* checks that failed in the running case */

#define TEST(name) static void name(void)
#define RUN(fn)    {#fn, fn},

#define T_FAIL(...)                              \
    do {                                         \
        t_failed++;                              \
        printf("# %s:%d: ", __FILE__, __LINE__); \
        printf(__VA_ARGS__);                     \
        putchar('\n');                           \
        return;                                  \
    } while (0)

#define CHECK(condition)                        \
    do {                                        \
        if (!(condition))                       \
            T_FAIL("not true: %s", #condition); \
    } while (0)

#define CHECK_INT(got, expected)                                              \
    do {                                                                      \
        intmax_t t_got = (intmax_t)(got), t_want = (intmax_t)(expected);      \
        if (t_got != t_want)                                                  \
            T_FAIL("%s is %" PRIdMAX ", not %" PRIdMAX, #got, t_got, t_want); \
    } while (0)

#define CHECK_STR(got, expected)                                     \
    do {                                                             \
        const char *t_got = (got), *t_want = (expected);             \
        if (strcmp(t_got, t_want) != 0)                              \
            T_FAIL("%s is \"%s\", not \"%s\"", #got, t_got, t_want); \
    } while (0)

#define CHECK_MEM(got, expected, n)                        \
    do {                                                   \
        if (memcmp((got), (expected), (n)) != 0)           \
            T_FAIL("%s differs from %s", #got, #expected); \
    } while (0)

/* Runs all cases, or those whose name contains argv[1]. */
#define T_MAIN(...)                                                                 \
    int main(int argc, char **argv)                                                 \
    {                                                                               \
        static const struct t_case cases[] = {__VA_ARGS__};                         \
        int n = (int)(sizeof cases / sizeof cases[0]), failed = 0;                  \
        setvbuf(stdout, NULL, _IOLBF, 0);                                           \
        printf("1..%d\n", n);                                                       \
        for (int i = 0; i < n; i++) {                                               \
            if (argc > 1 && !strstr(cases[i].name, argv[1]))                        \
                continue;                                                           \
            t_failed = 0;                                                           \
            cases[i].run();                                                         \
            failed += t_failed != 0;                                                \
            printf("%sok %d - %s\n", t_failed ? "not " : "", i + 1, cases[i].name); \
        }                                                                           \
        return failed != 0;                                                         \
    }

#endif

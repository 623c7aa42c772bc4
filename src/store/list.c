/* SPDX-License-Identifier: MIT
 *
 * list.c - reads a directory through a descriptor of its own, so that the caller's keeps its position.
 */
#include "store/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

static void close_dir(DIR **d)
{
    if (*d != NULL)
        (void)closedir(*d); /* read only: nothing to lose */
    *d = NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_add(struct list *list, size_t *cap, const char *name)
{
    if (list->n == *cap) {
        size_t more = *cap == 0 ? 16 : *cap * 2;
        char **grown = reallocarray(list->names, more, sizeof *grown);
        if (grown == NULL)
            return -ENOMEM;
        list->names = grown;
        *cap = more;
    }
    char *copy = strdup(name);
    if (copy == NULL)
        return -ENOMEM;
    list->names[list->n++] = copy;
    return 0;
}

int list_read(int dir_fd, struct list *ret_list)
{
    AUTO(io_close) int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    AUTO(close_dir) DIR *d = fdopendir(fd);
    if (d == NULL)
        return -errno;
    fd = -1; /* moved into d */
    size_t cap = 0;
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(d);
        if (e == NULL && errno != 0)
            return -errno;
        if (e == NULL)
            break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        int r = list_add(ret_list, &cap, e->d_name);
        if (r < 0)
            return r;
    }
    if (ret_list->n > 1)
        qsort(ret_list->names, ret_list->n, sizeof *ret_list->names, by_name);
    return 0;
}

void list_done(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct list){0};
}

/* SPDX-License-Identifier: MIT
 *
 * list.h - the names in a directory, sorted, as one value.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include <stddef.h>

struct list {
    char **names; /* owned */
    size_t n;
};

/* Names in the directory without "." and "..", sorted by strcmp. `ret_list` must be empty. 0 or -errno. */
int list_read(int dir_fd, struct list *ret_list);
void list_done(struct list *list);

#endif

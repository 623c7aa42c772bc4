/* SPDX-License-Identifier: MIT
 *
 * control.h - the control page: how far a live stream reaches, in tmpfs, and the futex readers sleep on.
 * Transient: native byte order, rebuilt by every session, ignored when it belongs to another boot or
 * another copy of the recording. Readers map it read-only.
 */
#ifndef STORE_CONTROL_H
#define STORE_CONTROL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

#define CONTROL_MAGIC UINT64_C(0x314c54435f545753) /* "SWT_CTL1" */
#define CONTROL_BYTES 4096u

enum control_state { CONTROL_LIVE = 1, CONTROL_ENDED = 2 };

struct control_page {
    uint64_t magic;
    uint8_t boot_id[16];
    uint8_t stream_uuid[16];
    uint64_t lock_dev, lock_ino; /* of STREAM/lock */
    int64_t pid, pid_start;      /* of the writer; start time in clock ticks since boot */
    _Alignas(64) _Atomic uint64_t committed; /* entries of the stream that may be read */
    _Atomic uint64_t visible;                /* frames that may be read; stored after `committed` */
    _Atomic uint32_t seq;                    /* futex word: rises with every publication */
    _Atomic uint32_t state;                  /* enum control_state; 0: being made */
    _Alignas(64) _Atomic uint64_t durable;   /* frames that survive power loss */
    _Atomic uint64_t first_retained;         /* first frame that retention has left */
    _Atomic int64_t heartbeat_ns;            /* CLOCK_BOOTTIME, about once a second */
};

struct control {
    struct control_page *page; /* NULL: none */
    char *path;                /* owned; writer only */
    int fd;                    /* of the page, reader only; valid while `page` is not NULL */
};

/* Writer: make the page of a stream whose lock is `lock_fd` and name it in STREAM/live. `dir` NULL means
 * /dev/shm/swt-UID. `mode`: the recording's, so that who may read the data may read the counter.
 * errors: -EPERM (directory of another owner or open to others), -errno */
int control_create(int stream_dir_fd, int lock_fd, const uint8_t stream_uuid[16], const char *dir,
                   mode_t mode, struct control *ret_control, struct swt_diag *reterr);
/* Declare it valid, with where the stream stands; until then no reader takes it. */
void control_begin(struct control *c, uint64_t committed, uint64_t visible, uint64_t durable);
/* Make it anew if somebody deleted the file; cheap, called by the helper. */
int control_keep(struct control *c, int stream_dir_fd, int lock_fd);
/* The one place where frames become visible. Proof of the order at the definition. */
void control_publish(struct control *c, uint64_t committed, uint64_t visible);
/* End of session: mark ended, wake all, unmap, unlink page and STREAM/live. Accepts an empty control. */
void control_end(struct control *c, int stream_dir_fd);

/* Reader: map the page of a live stream. 1 mapped, 0 none that is valid. */
int control_map(int stream_dir_fd, const uint8_t stream_uuid[16], struct control *ret_control);
void control_unmap(struct control *c);
/* Reader: does the process that made the page still live? A killed one's counters may be behind its entries. */
bool control_has_writer(const struct control *c);
/* Is the write lock of the stream held by anybody? `ret_pid` by the page or the lock's text, 0 unknown. */
bool control_lock_is_held(int stream_dir_fd, int64_t *ret_pid);
/* Sleep until seq != `seen`, at most `timeout_ns`. */
void control_wait(const struct control *c, uint32_t seen, int64_t timeout_ns);

#endif

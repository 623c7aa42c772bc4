/* SPDX-License-Identifier: MIT
 *
 * Unit tests of the control page: who may read it, what is ignored, and that publications wake sleepers.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "store_t.h"

static char folder[64];
static char control_dir[PATH_MAX];
static int stream_fd, lock_fd;
static const uint8_t uuid[16] = {1, 2, 3};

static void begin(void)
{
    char path[PATH_MAX];
    folder_make("/dev/shm", folder);
    path_join(folder, "ctl", control_dir);
    path_join(folder, "video", path);
    if (mkdir(path, 0750) != 0)
        abort();
    stream_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_stream_lock(stream_fd, "video", &lock_fd, NULL) < 0)
        abort();
}

static void end(void)
{
    io_close(&lock_fd);
    io_close(&stream_fd);
    folder_remove(folder);
}

static int create(struct control *c)
{
    return control_create(stream_fd, lock_fd, uuid, control_dir, 0750, c, NULL);
}

TEST(page__is_found_and_follows_what_is_published)
{
    begin();
    struct control c = {0}, seen = {0};
    CHECK_INT(create(&c), 0);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 0); /* not begun */
    control_begin(&c, 10, 8, 5);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 1);
    CHECK_INT(atomic_load(&seen.page->committed), 10);
    CHECK_INT(atomic_load(&seen.page->visible), 8);
    CHECK_INT(atomic_load(&seen.page->durable), 5);
    CHECK_INT(seen.page->pid, getpid());
    uint32_t seq = atomic_load(&seen.page->seq);
    control_publish(&c, 11, 9);
    CHECK_INT(atomic_load(&seen.page->visible), 9);
    CHECK(atomic_load(&seen.page->seq) != seq);
    struct stat st;
    CHECK_INT(stat(c.path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0640); /* the recording's, without execution */
    CHECK_INT(stat(control_dir, &st), 0);
    CHECK_INT(st.st_mode & 07777, 0711);
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", c.path);
    control_end(&c, stream_fd);
    CHECK_INT(atomic_load(&seen.page->state), CONTROL_ENDED);
    CHECK(access(path, F_OK) != 0);
    CHECK(faccessat(stream_fd, "live", F_OK, 0) != 0);
    control_unmap(&seen);
    CHECK(seen.page == NULL);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 0);
    end();
}

TEST(page__of_another_stream_or_lock_is_ignored)
{
    begin();
    static const uint8_t other[16] = {9};
    struct control c = {0}, seen = {0};
    CHECK_INT(create(&c), 0);
    control_begin(&c, 0, 0, 0);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 1);
    control_unmap(&seen);
    CHECK_INT(control_map(stream_fd, other, &seen), 0);
    /* a copy of the recording: the same `live`, another inode of `lock` */
    char copy[PATH_MAX], command[3 * PATH_MAX];
    path_join(folder, "copy", copy);
    (void)snprintf(command, sizeof command, "cp -r %s/video %s", folder, copy);
    CHECK_INT(system(command), 0);
    AUTO(io_close) int copy_fd = open(copy, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(faccessat(copy_fd, "live", F_OK, 0), 0);
    CHECK_INT(control_map(copy_fd, uuid, &seen), 0);
    int64_t pid;
    CHECK(!control_lock_is_held(copy_fd, &pid));
    CHECK(control_lock_is_held(stream_fd, &pid));
    CHECK_INT(pid, getpid());
    control_end(&c, stream_fd);
    io_close(&lock_fd);
    CHECK(!control_lock_is_held(stream_fd, &pid));
    end();
}

TEST(page__that_was_deleted_is_made_anew)
{
    begin();
    struct control c = {0}, old = {0}, seen = {0};
    CHECK_INT(create(&c), 0);
    control_begin(&c, 4, 3, 2);
    CHECK_INT(control_map(stream_fd, uuid, &old), 1);
    CHECK_INT(control_keep(&c, stream_fd, lock_fd), 0);
    CHECK_INT(atomic_load(&old.page->state), CONTROL_LIVE);
    CHECK_INT(unlink(c.path), 0);
    CHECK_INT(unlinkat(stream_fd, "live", 0), 0);
    CHECK_INT(control_keep(&c, stream_fd, lock_fd), 0);
    CHECK_INT(atomic_load(&old.page->state), CONTROL_ENDED); /* its readers look again */
    CHECK_INT(control_map(stream_fd, uuid, &seen), 1);
    CHECK_INT(atomic_load(&seen.page->committed), 4);
    CHECK_INT(atomic_load(&seen.page->visible), 3);
    CHECK_INT(atomic_load(&seen.page->durable), 2);
    control_publish(&c, 5, 4);
    CHECK_INT(atomic_load(&seen.page->visible), 4);
    control_unmap(&old);
    control_unmap(&seen);
    control_end(&c, stream_fd);
    end();
}

TEST(page__of_a_killed_writer_is_ended_by_the_next)
{
    begin();
    struct control c = {0}, old = {0}, seen = {0};
    CHECK_INT(create(&c), 0);
    control_begin(&c, 4, 3, 2);
    CHECK_INT(control_map(stream_fd, uuid, &old), 1);
    struct control next = {0}; /* as after kill -9: nothing was ended, the lock is free */
    CHECK_INT(create(&next), 0);
    CHECK_INT(atomic_load(&old.page->state), CONTROL_ENDED);
    control_begin(&next, 7, 7, 7);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 1);
    CHECK_INT(atomic_load(&seen.page->visible), 7);
    control_unmap(&old);
    control_unmap(&seen);
    control_unmap(&c);
    free(c.path);
    control_end(&next, stream_fd);
    end();
}

TEST(folder__open_to_others_is_refused)
{
    begin();
    struct control c = {0};
    CHECK_INT(mkdir(control_dir, 0700), 0);
    CHECK_INT(chmod(control_dir, 0777), 0);
    CHECK_INT(create(&c), -EPERM);
    CHECK(c.page == NULL);
    CHECK_INT(chmod(control_dir, 0755), 0);
    CHECK_INT(create(&c), 0);
    control_end(&c, stream_fd);
    end();
}

/* A page ages by the wall clock that `touch` cannot set: the change time. So the test waits for nothing and
 * looks at what must not go: pages that are young, written, or not pages at all. */
TEST(sweep__keeps_what_is_young_or_not_a_page)
{
    begin();
    struct control c = {0}, next = {0};
    CHECK_INT(mkdir(control_dir, 0711), 0);
    static const char young[] = "00000000-0000-4000-8000-000000000000-1-2.ctl";
    char at[2 * PATH_MAX], other[2 * PATH_MAX];
    (void)snprintf(at, sizeof at, "%s/%s", control_dir, young);
    (void)snprintf(other, sizeof other, "%s/somebody's.ctl", control_dir);
    int fd = open(at, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    (void)close(fd);
    fd = open(other, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_INT(create(&c), 0);
    CHECK_INT(access(at, F_OK), 0);
    CHECK_INT(access(other, F_OK), 0);
    /* the lock that says "written" outlives the descriptor, in the mapping */
    fd = open(c.path, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_INT(fcntl(fd, F_OFD_GETLK, &lock), 0);
    CHECK_INT(lock.l_type, F_WRLCK);
    control_unmap(&c); /* as a killed writer's is */
    lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_INT(fcntl(fd, F_OFD_GETLK, &lock), 0);
    CHECK_INT(lock.l_type, F_UNLCK);
    (void)close(fd);
    free(c.path);
    CHECK_INT(create(&next), 0);
    control_end(&next, stream_fd);
    end();
}

struct sleeper {
    struct control c;
    uint64_t goal;
    int n_timeouts;
};

/* As a reader does: read seq, look, sleep. */
static void *sleeper_main(void *arg)
{
    struct sleeper *s = arg;
    for (;;) {
        uint32_t seq = atomic_load_explicit(&s->c.page->seq, memory_order_acquire);
        if (atomic_load_explicit(&s->c.page->visible, memory_order_acquire) >= s->goal)
            return NULL;
        int64_t began_ns = clock_mono_ns();
        control_wait(&s->c, seq, INT64_C(5000000000));
        s->n_timeouts += clock_mono_ns() - began_ns >= INT64_C(5000000000);
    }
}

TEST(wait__no_publication_is_slept_through)
{
    begin();
    struct control c = {0};
    struct sleeper s = {.goal = 20000};
    pthread_t thread;
    CHECK_INT(create(&c), 0);
    control_begin(&c, 0, 0, 0);
    CHECK_INT(control_map(stream_fd, uuid, &s.c), 1);
    CHECK_INT(pthread_create(&thread, NULL, sleeper_main, &s), 0);
    for (uint64_t i = 1; i <= s.goal; i++)
        control_publish(&c, i, i);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(s.n_timeouts, 0);
    int64_t began_ns = clock_mono_ns();
    control_wait(&s.c, atomic_load(&s.c.page->seq), 20000000);
    CHECK(clock_mono_ns() - began_ns >= 20000000); /* nothing happens: the time-out ends it */
    control_unmap(&s.c);
    control_end(&c, stream_fd);
    end();
}

T_MAIN(RUN(page__is_found_and_follows_what_is_published)
           RUN(page__of_another_stream_or_lock_is_ignored) RUN(page__that_was_deleted_is_made_anew)
               RUN(page__of_a_killed_writer_is_ended_by_the_next)
                   RUN(folder__open_to_others_is_refused)
                       RUN(sweep__keeps_what_is_young_or_not_a_page)
                           RUN(wait__no_publication_is_slept_through))

/* SPDX-License-Identifier: MIT
 *
 * test_store_more_control.c - control pages and clocks where things go wrong: pages that cannot be made, that are
 * deserted or cut short, a wall clock that is set, no /dev/shm at all. This program's own clock_gettime stands
 * before libc's, so that the wall clock can be moved.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "segmaker.h"
#include "store/store.h"
#include "store_t.h"

#define SECOND INT64_C(1000000000)

static _Atomic int64_t wall_shift_s;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int r = (int)syscall(SYS_clock_gettime, clock, t);
    if (clock == CLOCK_REALTIME)
        t->tv_sec += wall_shift_s;
    return r;
}

static char folder[64], control_dir[PATH_MAX], stream_path[PATH_MAX];
static int stream_fd, lock_fd;
static const uint8_t uuid[16] = {1, 2, 3};

static void begin(void)
{
    folder_make("/dev/shm", folder);
    path_join(folder, "ctl", control_dir);
    path_join(folder, "video", stream_path);
    if (mkdir(stream_path, 0750) != 0)
        abort();
    stream_fd = open(stream_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_stream_lock(stream_fd, "video", &lock_fd, NULL) < 0)
        abort();
}

static void end(void)
{
    wall_shift_s = 0;
    io_close(&lock_fd);
    io_close(&stream_fd);
    folder_remove(folder);
}

static int create(const char *dir, struct control *c)
{
    struct swt_diag d = {0};
    int r = control_create(stream_fd, lock_fd, uuid, dir, 0750, c, &d);
    return r < 0 && d.text[0] == '\0' ? -EINVAL : r;
}

/* ---- pages ------------------------------------------------------------------------------------------ */

TEST(sweep__takes_pages_that_killed_writers_left)
{
    begin();
    struct control dead = {0}, alive = {0}, next = {0};
    static const uint8_t others[2][16] = {{9}, {10}};
    CHECK_INT(control_create(stream_fd, lock_fd, others[0], control_dir, 0750, &dead, NULL), 0);
    CHECK_INT(control_create(stream_fd, lock_fd, others[1], control_dir, 0750, &alive, NULL), 0);
    control_unmap(&dead); /* as a killed writer's is; its file stays */
    CHECK_INT(create(control_dir, &next), 0);
    CHECK_INT(access(dead.path, F_OK), 0); /* young: it may be about to be locked */
    control_end(&next, stream_fd);
    wall_shift_s = 120;
    CHECK_INT(create(control_dir, &next), 0);
    CHECK_INT(access(dead.path, F_OK), -1);
    CHECK_INT(access(alive.path, F_OK), 0);
    free(dead.path);
    control_end(&alive, stream_fd);
    control_end(&next, stream_fd);
    end();
}

TEST(create__what_cannot_be_made_is_an_error_and_leaves_nothing)
{
    begin();
    struct control c = {0};
    char at[2 * PATH_MAX], name[PATH_MAX];
    CHECK_INT(create(control_dir, &c), 0);
    (void)snprintf(name, sizeof name, "%s", c.path);
    control_end(&c, stream_fd);
    (void)snprintf(at, sizeof at, "%s/no/such/parent", folder);
    CHECK_INT(create(at, &c), -ENOENT);
    CHECK_INT(mkdir(name, 0700), 0); /* a folder under the page's name */
    CHECK(create(control_dir, &c) < 0);
    (void)snprintf(at, sizeof at, "%s.%ld", name, (long)getpid());
    CHECK_INT(access(at, F_OK), -1);
    CHECK_INT(rmdir(name), 0);
    CHECK_INT(mkdir(at, 0700), 0); /* one under the name that it has while it is made */
    CHECK_INT(create(control_dir, &c), -EEXIST);
    CHECK_INT(rmdir(at), 0);
    path_join(folder, "file", at);
    (void)close(open(at, O_CREAT | O_WRONLY, 0600));
    CHECK(create(at, &c) < 0);
    int good = lock_fd;
    lock_fd = -1;
    CHECK_INT(create(control_dir, &c), -EBADF);
    lock_fd = good;
    CHECK(c.page == NULL);
    CHECK_INT(create(control_dir, &c), 0);
    control_end(&c, stream_fd);
    end();
}

TEST(map__a_page_cut_short_or_named_wrongly_is_none)
{
    begin();
    struct control c = {0}, seen = {0};
    CHECK_INT(create(control_dir, &c), 0);
    control_begin(&c, 4, 3, 2);
    CHECK_INT(truncate(c.path, 100), 0);
    CHECK_INT(control_map(stream_fd, uuid, &seen), 0);
    CHECK_INT(truncate(c.path, CONTROL_BYTES), 0); /* zeros: of nobody */
    CHECK_INT(control_map(stream_fd, uuid, &seen), 0);
    static const char *const texts[] = {"", "{", "[]", "{\"path\":7}", "{\"path\":\"relative\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        AUTO(io_close) int fd = openat(stream_fd, "live", O_WRONLY | O_TRUNC | O_CREAT, 0600);
        CHECK_INT(io_write_all(fd, texts[i], strlen(texts[i])), 0);
        CHECK_INT(control_map(stream_fd, uuid, &seen), 0);
    }
    control_end(&c, stream_fd);
    end();
}

TEST(keep__what_cannot_be_made_anew_is_an_error_and_the_page_stays)
{
    begin();
    struct control c = {0};
    char at[PATH_MAX], away[PATH_MAX], dir[2 * PATH_MAX];
    path_join(folder, "x", at);
    path_join(folder, "away", away);
    CHECK_INT(mkdir(at, 0711), 0);
    (void)snprintf(dir, sizeof dir, "%s/ctl", at);
    CHECK_INT(create(dir, &c), 0);
    control_begin(&c, 4, 3, 2);
    CHECK_INT(rename(at, away), 0);
    CHECK_INT(control_keep(&c, stream_fd, lock_fd), -ENOENT);
    CHECK_INT(control_keep(&c, stream_fd, -1), -EBADF);
    CHECK_INT(atomic_load(&c.page->state), CONTROL_LIVE);
    control_publish(&c, 5, 4); /* goes on: who has it mapped sees it */
    CHECK_INT(atomic_load(&c.page->visible), 4);
    CHECK_INT(mkdir(at, 0711), 0);
    CHECK_INT(control_keep(&c, stream_fd, lock_fd), 0);
    CHECK_INT(access(c.path, F_OK), 0);
    CHECK_INT(atomic_load(&c.page->visible), 4);
    control_end(&c, stream_fd);
    control_end(&c, stream_fd); /* an empty one: nothing */
    end();
}

/* ---- the helper's seconds --------------------------------------------------------------------------- */

static char logged[1024];      /* the first warning of a session */
static _Atomic bool is_logged; /* set behind it; the helper's thread may be the one that writes */

static void note(void *arg, enum swt_log_level level, const char *room, const char *text)
{
    (void)arg, (void)room;
    if (level > SWT_LOG_WARNING || is_logged)
        return;
    (void)snprintf(logged, sizeof logged, "%s", text);
    is_logged = true;
}

static int rows_open(struct store_dir *dir, const char *control, struct store_writer **ret)
{
    AUTO(params_done) struct params params;
    struct store_writer_spec spec = {.name = "rows",
                                     .kind = SEG_KIND_TENSOR,
                                     .sync_ns = SECOND,
                                     .control_dir = control,
                                     .log = {note, NULL}};
    is_logged = false;
    logged[0] = '\0';
    params_rows(&params, 5000, 1000);
    int r = store_writer_open(dir, &spec, ret, NULL);
    return r < 0 ? r : store_writer_format(*ret, &params, NULL);
}

static int rows_put(struct store_writer *w, uint64_t first, uint64_t n)
{
    uint8_t *data = frames_make(first, n, 5000);
    struct store_item item = item_at((int64_t)first * 1000000);
    uint64_t stored = 0;
    int r = store_writer_frames(w, &item, data, n, &stored, NULL);
    free(data);
    return r;
}

/* Anchors of the stream once there are `n`, at most 10 s later. */
static size_t anchors_of(int fd, size_t n, struct anchor **ret)
{
    size_t got = 0;
    for (int i = 0; i < 1000; i++) {
        if (dir_anchors_read(fd, ret, &got) < 0)
            return 0;
        if (got >= n)
            break;
        free(*ret);
        *ret = NULL;
        (void)usleep(10000);
    }
    return got;
}

/* The wall clock is set, and somebody removes the folder of control files: the writer goes on, the step is
 * anchored on both sides, the loss is told. */
TEST(helper__a_clock_that_is_set_and_a_control_folder_that_is_removed)
{
    begin();
    struct store_dir *dir = NULL;
    struct store_writer *w = NULL;
    struct anchor *anchors = NULL;
    char path[PATH_MAX], x[PATH_MAX], away[PATH_MAX], ctl[2 * PATH_MAX];
    path_join(folder, "r.swt", path);
    path_join(folder, "x", x);
    path_join(folder, "away", away);
    (void)snprintf(ctl, sizeof ctl, "%s/ctl", x);
    CHECK_INT(mkdir(x, 0711), 0);
    CHECK_INT(store_dir_create(path, clock_boot_ns(), &dir, NULL), 0);
    CHECK_INT(rows_open(dir, ctl, &w), 0);
    CHECK_INT(rows_put(w, 0, 3), 0);
    (void)usleep(1300000); /* once the helper has looked at the clocks; it does so every second */
    CHECK_INT(rename(x, away), 0);
    wall_shift_s = 3600;
    AUTO(io_close) int fd = openat(dir->fd, "rows", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(anchors_of(fd, 3, &anchors), 3);
    int64_t before = anchors[1].wall_ns - anchors[1].boot_ns;
    int64_t after = anchors[2].wall_ns - anchors[2].boot_ns;
    CHECK(before - (anchors[0].wall_ns - anchors[0].boot_ns) < SECOND / 10);
    CHECK(after - before > 3599 * SECOND && after - before < 3601 * SECOND);
    CHECK(anchors[2].boot_ns - anchors[1].boot_ns < 3 * SECOND);
    free(anchors);
    for (int i = 0; i < 500 && !is_logged; i++)
        (void)usleep(10000);
    CHECK(is_logged);
    CHECK(strstr(logged, "control file") != NULL);
    CHECK_INT(rows_put(w, 3, 3), 0);
    CHECK_INT(store_writer_close(&w, NULL), 0);
    store_dir_close(&dir);
    end();
}

/* ---- no /dev/shm ------------------------------------------------------------------------------------ */

/* Nothing can be made in /dev/shm: 0 it is so, 77 we may not arrange it. */
static int no_shm(void)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/dev/shm", "tmpfs", MS_RDONLY, "size=4k") != 0)
        return 77;
    return 0;
}

static int record_without_shm(const char *path)
{
    struct store_dir *dir = NULL;
    struct store_writer *w = NULL;
    struct store_reader *r = NULL;
    struct store_reader_state s = {0};
    int rc = no_shm();
    if (rc != 0)
        return rc;
    if (store_dir_create(path, clock_boot_ns(), &dir, NULL) < 0 || rows_open(dir, NULL, &w) < 0)
        return 1;
    bool is_told = is_logged && strstr(logged, "no control file") != NULL;
    bool ok = is_told && rows_put(w, 0, 7) == 0 && store_reader_open(dir, "rows", &r, NULL) == 0 &&
              store_reader_wait(r, 6, 5 * SECOND, NULL) == 1 && rows_put(w, 7, 2) == 0 &&
              store_reader_wait(r, 8, 5 * SECOND, NULL) == 1 &&
              store_reader_refresh(r, &s, NULL) == 0 && s.is_live && s.end_frame == 9;
    store_reader_close(&r);
    ok = store_writer_close(&w, NULL) == 0 && ok;
    store_dir_close(&dir);
    return ok ? 0 : 2;
}

TEST(writer__without_dev_shm_says_so_and_readers_poll)
{
    char disk[64], path[PATH_MAX];
    int status = -1;
    folder_make("/tmp", disk);
    path_join(disk, "r.swt", path);
    pid_t pid = fork();
    if (pid == 0)
        exit(record_without_shm(path));
    CHECK_INT(waitpid(pid, &status, 0), pid);
    folder_remove(disk);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        printf("# no mount namespace here: not tried\n");
    else
        CHECK_INT(WEXITSTATUS(status), 0);
}

/* ---- what a page says to readers -------------------------------------------------------------------- */

TEST(reader__frames_that_retention_has_left_are_no_window)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    struct control c = {0};
    const void *data = NULL;
    AUTO(io_close) int lock = -1;
    begin();
    maker_open(&m, SEG_KIND_TENSOR);
    maker_run(&m, 5000, (struct swt_ratio){30, 1});
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    CHECK_INT(control_create(m.stream_fd, lock, m.meta.uuid, control_dir, 0644, &c, NULL), 0);
    maker_segment(&m, 20 * 5000);
    for (int i = 0; i < 10; i++)
        maker_frames(&m, 1, (int64_t)i * 33333333, 33333333, SEG_FLAG_KEY);
    control_begin(&c, 10, 10, 10);
    atomic_store(&c.page->first_retained, 4);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(s.first_frame, 4);
    CHECK_INT(store_reader_map(r, 3, 2, &data, NULL), SWT_E_NO_WINDOW);
    CHECK_INT(store_reader_map(r, 4, 6, &data, NULL), 0);
    atomic_store(&c.page->first_retained, 99);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(s.first_frame, s.end_frame);
    atomic_store(&c.page->first_retained,
                 5); /* never falls in life; a reader must not break on it */
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK_INT(s.first_frame, 5);
    maker_end(&m, false);
    control_end(&c, m.stream_fd);
    end();
}

/* No page, and somebody writes: pictures that others may still precede are held back until the lock is free. */
TEST(reader__packets_without_a_page_are_held_back)
{
    AUTO(maker_close) struct maker m;
    AUTO(store_reader_close) struct store_reader *r = NULL;
    struct store_reader_state s;
    AUTO(io_close) int lock = -1;
    maker_open(&m, SEG_KIND_PACKETS);
    maker_run(&m, 0, (struct swt_ratio){30, 1});
    CHECK_INT(dir_stream_lock(m.stream_fd, MAKER_STREAM, &lock, NULL), 0);
    maker_segment(&m, 1 << 16);
    for (int i = 0; i < 100; i++)
        maker_packet(&m, 50, (int64_t)i * 33333333, i == 0 ? SEG_FLAG_KEY : 0);
    CHECK_INT(store_reader_open(m.dir, MAKER_STREAM, &r, NULL), 0);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK(s.is_live);
    CHECK_INT(s.end_entry, 100);
    CHECK_INT(s.end_frame, 100 - STORE_REORDER);
    maker_end(&m, false);
    io_close(&lock);
    CHECK_INT(store_reader_refresh(r, &s, NULL), 0);
    CHECK(!s.is_live);
    CHECK_INT(s.end_frame, 100);
}

T_MAIN(RUN(sweep__takes_pages_that_killed_writers_left)
           RUN(create__what_cannot_be_made_is_an_error_and_leaves_nothing)
               RUN(map__a_page_cut_short_or_named_wrongly_is_none)
                   RUN(keep__what_cannot_be_made_anew_is_an_error_and_the_page_stays)
                       RUN(helper__a_clock_that_is_set_and_a_control_folder_that_is_removed)
                           RUN(writer__without_dev_shm_says_so_and_readers_poll)
                               RUN(reader__frames_that_retention_has_left_are_no_window)
                                   RUN(reader__packets_without_a_page_are_held_back))

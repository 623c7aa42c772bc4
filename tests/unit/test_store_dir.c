/* SPDX-License-Identifier: MIT
 *
 * Unit tests of recordings and streams as folders: made once however many begin at the same instant, never
 * over something else, taken back only when empty; and wall-clock anchors.
 */
#include <errno.h>
#include <sys/wait.h>

#include "store_t.h"

#define N_STARTERS 12

static char folder[64];
static char path[PATH_MAX];

static void begin(void)
{
    folder_make("/tmp", folder);
    path_join(folder, "r.swt", path);
}

static void end(void)
{
    folder_remove(folder);
}

static void put_file(const char *name, const char *text)
{
    char at[2 * PATH_MAX];
    (void)snprintf(at, sizeof at, "%s/%s", path, name);
    int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || io_write_all(fd, text, strlen(text)) < 0)
        abort();
    (void)close(fd);
}

TEST(create__then_open_gives_the_same_identity)
{
    begin();
    struct store_dir *made = NULL, *opened = NULL;
    int64_t zero_ns = clock_boot_ns() - 5000000000;
    CHECK_INT(store_dir_create(path, zero_ns, &made, NULL), 0);
    CHECK_INT(store_dir_info(made)->zero_boot_ns, zero_ns);
    int64_t wall_off = store_dir_info(made)->created_wall_ns - store_dir_info(made)->zero_wall_ns;
    CHECK(wall_off >= 5000000000 && wall_off < 7000000000);
    CHECK_INT(store_dir_create(path, 1, &opened, NULL), 0); /* there already: its zero stays */
    CHECK_MEM(store_dir_info(made), store_dir_info(opened), sizeof(struct store_dir_info));
    store_dir_close(&opened);
    CHECK(opened == NULL);
    CHECK_INT(store_dir_open(path, &opened, NULL), 0);
    CHECK_MEM(store_dir_info(made), store_dir_info(opened), sizeof(struct store_dir_info));
    CHECK_STR(store_dir_path(opened), path);
    store_dir_close(&opened);
    store_dir_close(&made);
    end();
}

TEST(open__what_is_no_recording_is_named)
{
    begin();
    struct store_dir *dir = NULL;
    struct swt_diag diag = {0};
    CHECK_INT(store_dir_open(path, &dir, &diag), -ENOENT);
    CHECK_STR(diag.path, path);
    CHECK_INT(mkdir(path, 0755), 0);
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NOT_RECORDING);
    put_file("swt.json", "");
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NOT_RECORDING);
    put_file("swt.json", "{\"magic\":\"swt\"");
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NOT_RECORDING);
    put_file("swt.json", "{\"magic\":\"other\",\"version\":1}");
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NOT_RECORDING);
    put_file("swt.json", "{\"magic\":\"swt\",\"version\":2}");
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NEWER);
    put_file("swt.json", "{\"magic\":\"swt\",\"version\":1,\"uuid\":7}");
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_CORRUPT);
    CHECK_INT(store_dir_create(path, 0, &dir, NULL),
              SWT_E_CORRUPT); /* and it is not written over */
    char file[PATH_MAX];
    path_join(folder, "file", file);
    int fd = open(file, O_WRONLY | O_CREAT, 0644);
    (void)close(fd);
    CHECK_INT(store_dir_open(file, &dir, NULL), SWT_E_NOT_RECORDING);
    CHECK(dir == NULL);
    end();
}

TEST(create__never_touches_something_else)
{
    begin();
    struct store_dir *dir = NULL;
    CHECK_INT(mkdir(path, 0755), 0);
    put_file("holiday.jpg", "x");
    CHECK_INT(store_dir_create(path, 0, &dir, NULL), SWT_E_NOT_RECORDING);
    char lock[2 * PATH_MAX];
    (void)snprintf(lock, sizeof lock, "%s/lock", path);
    CHECK(access(lock, F_OK) != 0);
    char file[PATH_MAX];
    path_join(folder, "file", file);
    int fd = open(file, O_WRONLY | O_CREAT, 0644);
    (void)close(fd);
    CHECK_INT(store_dir_create(file, 0, &dir, NULL), SWT_E_NOT_RECORDING);
    path_join(folder, "no/such/parent", file);
    CHECK_INT(store_dir_create(file, 0, &dir, NULL), -ENOENT);
    end();
}

TEST(create__in_an_empty_folder_and_after_a_killed_creation)
{
    begin();
    struct store_dir *dir = NULL;
    CHECK_INT(mkdir(path, 0755), 0);
    put_file("lock", "");
    put_file(".swt.json.12345678.tmp", "{");
    CHECK_INT(store_dir_create(path, 7, &dir, NULL), 0);
    CHECK_INT(store_dir_info(dir)->zero_boot_ns, 7);
    store_dir_discard(dir);
    CHECK_INT(access(path, F_OK), 0); /* the folder was there before */
    store_dir_close(&dir);
    CHECK_INT(store_dir_open(path, &dir, NULL), SWT_E_NOT_RECORDING);
    end();
}

/* A starter waits for the gate, makes recording and stream, and says which ones it got. */
static void starter(int gate, int out)
{
    uint8_t uuids[32];
    char c;
    struct store_dir *dir = NULL;
    struct stream_meta meta;
    int stream_fd, seg_fd;
    if (read(gate, &c, 1) != 0 || store_dir_create(path, clock_boot_ns(), &dir, NULL) < 0 ||
        dir_stream_create(dir, "video", SEG_KIND_TENSOR, "test", &stream_fd, &seg_fd, &meta, NULL) <
            0)
        _exit(1);
    memcpy(uuids, dir->info.uuid, 16);
    memcpy(uuids + 16, meta.uuid, 16);
    _exit(write(out, uuids, 32) == 32 ? 0 : 1);
}

TEST(create__all_that_begin_at_once_get_the_same)
{
    begin();
    int gate[2], out[2];
    CHECK_INT(pipe(gate), 0);
    CHECK_INT(pipe(out), 0);
    for (int i = 0; i < N_STARTERS; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            (void)close(gate[1]);
            starter(gate[0], out[1]);
        }
    }
    (void)close(gate[1]); /* the gate opens */
    (void)close(out[1]);
    uint8_t first[32], next[32];
    CHECK_INT(read(out[0], first, 32), 32);
    for (int i = 1; i < N_STARTERS; i++) {
        CHECK_INT(read(out[0], next, 32), 32);
        CHECK_MEM(first, next, 32);
    }
    for (int status, i = 0; i < N_STARTERS; i++) {
        CHECK(wait(&status) > 0);
        CHECK_INT(status, 0);
    }
    end();
}

TEST(discard__keeps_what_has_a_frame_or_a_writer)
{
    begin();
    struct store_dir *dir = NULL, *other = NULL;
    struct store_writer *w = NULL;
    struct store_writer_spec spec = {.name = "video", .kind = SEG_KIND_TENSOR};
    CHECK_INT(store_dir_create(path, 0, &dir, NULL), 0);
    CHECK_INT(store_writer_open(dir, &spec, &w, NULL), 0);
    store_dir_discard(dir); /* being written */
    CHECK_INT(store_dir_open(path, &other, NULL), 0);
    store_dir_close(&other);
    struct params params;
    params_rows(&params, 5000, 25);
    uint8_t *data = frames_make(0, 1, 5000);
    struct store_item item = item_at(0);
    uint64_t stored;
    CHECK_INT(store_writer_format(w, &params, NULL), 0);
    CHECK_INT(store_writer_frames(w, &item, data, 1, &stored, NULL), 0);
    free(data);
    CHECK_INT(store_writer_close(&w, NULL), 0);
    store_dir_discard(dir);
    CHECK_INT(seg_count(dir, "video"), 1);
    store_dir_close(&dir);
    CHECK_INT(store_dir_open(path, &dir, NULL), 0);
    store_dir_discard(dir); /* not ours */
    CHECK_INT(access(path, F_OK), 0);
    store_dir_close(&dir);
    end();
}

TEST(streams__are_listed_by_name_and_only_whole_ones)
{
    begin();
    struct store_dir *dir = NULL;
    CHECK_INT(store_dir_create(path, 0, &dir, NULL), 0);
    static const char *const names[] = {"video", "audio.p", "action"};
    for (size_t i = 0; i < 3; i++) {
        AUTO(io_close) int stream_fd = -1;
        AUTO(io_close) int seg_fd = -1;
        struct stream_meta meta;
        CHECK_INT(dir_stream_create(dir, names[i], SEG_KIND_PACKETS, "", &stream_fd, &seg_fd, &meta,
                                    NULL),
                  0);
        CHECK_STR(meta.name, names[i]);
    }
    CHECK_INT(mkdirat(dir->fd, "half", 0755), 0); /* killed before its meta.json */
    CHECK_INT(mkdirat(dir->fd, "Not A Stream", 0755), 0);
    char(*list)[SWT_NAME_CAP] = NULL;
    size_t n = 0;
    CHECK_INT(store_dir_streams(dir, &list, &n, NULL), 0);
    CHECK_INT(n, 3);
    CHECK_STR(list[0], "action");
    CHECK_STR(list[1], "audio.p");
    CHECK_STR(list[2], "video");
    free(list);
    int a, b;
    struct stream_meta meta;
    CHECK_INT(dir_stream_open(dir, "half", &a, &b, &meta, NULL), SWT_E_NO_STREAM);
    CHECK_INT(dir_stream_open(dir, "../x", &a, &b, &meta, NULL), SWT_E_NO_STREAM);
    CHECK_INT(dir_stream_create(dir, "../x", SEG_KIND_TENSOR, "", &a, &b, &meta, NULL),
              SWT_E_USAGE);
    CHECK_INT(dir_stream_create(dir, "half", SEG_KIND_TENSOR, "", &a, &b, &meta, NULL), 0);
    (void)close(a);
    (void)close(b);
    store_dir_close(&dir);
    end();
}

TEST(names__as_the_contract_says)
{
    CHECK(store_name_is_valid("video") && store_name_is_valid("0.a_b-c"));
    CHECK(!store_name_is_valid("") && !store_name_is_valid(".x") && !store_name_is_valid("-x"));
    CHECK(!store_name_is_valid("Video") && !store_name_is_valid("a/b") &&
          !store_name_is_valid("a b"));
    char name[66];
    memset(name, 'a', 65);
    name[63] = '\0';
    CHECK(store_name_is_valid(name));
    name[63] = 'a';
    name[64] = '\0';
    CHECK(!store_name_is_valid(name));
}

TEST(anchors__nearest_of_the_same_boot_and_torn_tails)
{
    begin();
    CHECK_INT(mkdir(path, 0755), 0);
    AUTO(io_close) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct anchor a = {.boot_id = {1}};
    static const int64_t boots[] = {100, 160, 220}, offsets[] = {1000, 1000, 5000};
    for (int boot = 1; boot <= 3; boot++) {
        for (int i = 0; i < 3; i++) {
            a.boot_id[0] = (uint8_t)boot;
            a.boot_ns = boots[i];
            a.wall_ns = boots[i] + offsets[i] * boot;
            CHECK_INT(dir_anchor_append(fd, &a), 0);
            if (boot == 2 && i == 1) { /* power cut in the middle of the next one */
                AUTO(io_close) int clock_fd = openat(fd, "clock", O_WRONLY | O_APPEND);
                CHECK_INT(io_write_all(clock_fd, "torn", 4), 0);
            }
        }
    }
    struct anchor *anchors = NULL;
    size_t n = 0;
    CHECK_INT(dir_anchors_read(fd, &anchors, &n), 0);
    CHECK_INT(n, 9);
    for (int boot = 1; boot <= 3; boot++) {
        uint8_t id[16] = {(uint8_t)boot};
        static const int64_t at[] = {-50, 100, 130, 189, 191, 10000};
        static const int64_t expected[] = {1000, 1000, 1000, 1000, 5000, 5000};
        for (size_t i = 0; i < 6; i++)
            CHECK_INT(dir_wall_ns(anchors, n, id, at[i]), at[i] + expected[i] * boot);
    }
    uint8_t other[16] = {7};
    CHECK_INT(dir_wall_ns(anchors, n, other, 100), INT64_MIN);
    CHECK_INT(dir_wall_ns(anchors, 0, other, 100), INT64_MIN);
    free(anchors);
    AUTO(io_close) int clock_fd = openat(fd, "clock", O_WRONLY);
    CHECK_INT(io_pwrite_all(clock_fd, "x", 1, 64), 0); /* one bad byte: one anchor less */
    CHECK_INT(dir_anchors_read(fd, &anchors, &n), 0);
    CHECK_INT(n, 8);
    free(anchors);
    end();
}

T_MAIN(RUN(create__then_open_gives_the_same_identity) RUN(open__what_is_no_recording_is_named)
           RUN(create__never_touches_something_else)
               RUN(create__in_an_empty_folder_and_after_a_killed_creation)
                   RUN(create__all_that_begin_at_once_get_the_same)
                       RUN(discard__keeps_what_has_a_frame_or_a_writer)
                           RUN(streams__are_listed_by_name_and_only_whole_ones)
                               RUN(names__as_the_contract_says)
                                   RUN(anchors__nearest_of_the_same_boot_and_torn_tails))

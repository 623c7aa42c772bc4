/* SPDX-License-Identifier: MIT
 *
 * store.h - the store's room: recordings, streams, one writer and many readers a stream. Files, maps,
 * locks and commit order; it knows nothing of media or tensors beyond `struct params`.
 *
 * Numbers: a *frame* is a picture shown, a sample or a row; an *entry* is an index record. In tensor
 * streams one entry covers 1..n frames; in packet streams an entry is a packet, and frames are the
 * packets that show a picture, numbered by rank of time_ns over the stream. Decode order and rank
 * differ by at most STORE_REORDER.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <sys/uio.h>

#include "base/log.h"
#include "format/check.h"

#define STORE_REORDER 64 /* pictures between decode order and display order, at most */

/* ---- recording and streams (dir.c) --------------------------------------------------------------- */

struct store_dir; /* an open recording directory */

struct store_dir_info {
    uint8_t uuid[16];
    int64_t created_wall_ns;
    int64_t zero_boot_ns, zero_wall_ns; /* both clocks at media time 0 */
    uint8_t zero_boot_id[16];
};

/* Open an existing recording, or (`create`) make one whose time 0 is `zero_boot_ns` of this boot.
 * errors: SWT_E_NOT_RECORDING, SWT_E_NEWER, SWT_E_CORRUPT, -errno. A path that holds something else is
 * never written to. */
int store_dir_open(const char *path, struct store_dir **ret_dir, struct swt_diag *reterr);
int store_dir_create(const char *path, int64_t zero_boot_ns, struct store_dir **ret_dir,
                     struct swt_diag *reterr); /* opens it if it is there already */
void store_dir_close(struct store_dir **dir);
const struct store_dir_info *store_dir_info(const struct store_dir *dir);
const char *store_dir_path(const struct store_dir *dir);
/* Remove a recording that has no stream with a frame: only what store_dir_create made. For a record that
 * fails before its first frame. */
void store_dir_discard(struct store_dir *dir);

/* Names of the streams, sorted by name; `ret_names` is one heap block, freed by the caller. */
int store_dir_streams(struct store_dir *dir, char (**ret_names)[SWT_NAME_CAP], size_t *ret_n,
                      struct swt_diag *reterr);
bool store_name_is_valid(const char *name);

/* ---- writer -------------------------------------------------------------------------------------- */

struct store_writer;

struct store_writer_spec {
    const char *name;
    enum seg_kind kind;
    uint64_t segment_bytes;  /* payload; 0 = default: 512 MiB tensors, 64 MiB packets */
    int64_t segment_ns;      /* media time; 0 = no limit */
    int64_t sync_ns;         /* 0 = each entry */
    const char *control_dir; /* NULL = /dev/shm/swt-UID */
    const char *made_from;   /* for meta.json: the input, or "" */
    struct log_to log;
};

/* What comes with a frame, a group of frames or a packet. */
struct store_item {
    int64_t time_ns;   /* media time of the (first) frame */
    int64_t src_pts;   /* INT64_MIN: none */
    int32_t dts_delta; /* ticks; INT32_MIN: decode time unknown, and pictures may be out of order */
    uint32_t duration; /* ticks, of all frames together */
    int64_t capture_ns; /* CLOCK_BOOTTIME */
    uint32_t flags;     /* enum seg_flag; SIDE, CONTINUES and FRESH are the store's to set */
    uint32_t dropped_before;
};

struct store_writer_state {
    uint64_t frames;  /* visible frames of the whole stream, absolute */
    uint64_t entries; /* committed entries of the whole stream, absolute */
    uint64_t durable_frames;
    int64_t end_ns;  /* end of the latest frame (time + duration); INT64_MIN: none */
    int64_t last_ns; /* time of the latest frame; INT64_MIN: none */
    uint64_t bytes;  /* payload stored by this session */
};

/* Create the stream if needed, take its lock, recover its end, publish the control file.
 * errors: SWT_E_BUSY with pid of the holder, SWT_E_UNSUPPORTED (another kind; unknown feature bits), … */
int store_writer_open(struct store_dir *dir, const struct store_writer_spec *spec,
                      struct store_writer **ret_writer, struct swt_diag *reterr);

/* Format of what follows. Equal to the last format of the stream: the run goes on; else a new run begins. */
int store_writer_format(struct store_writer *w, const struct params *params,
                        struct swt_diag *reterr);

/* Append `n` frames (tensor) of params.frame_bytes each from `data`, contiguous. Frame k of the call has time
 * time_ns + k / rate. All are committed in order, or the count stored so far is in `ret_stored` with an error:
 * -ENOSPC: nothing after it is stored, the writer stays usable. Gap, discont and dropped_before go to the first. */
int store_writer_frames(struct store_writer *w, const struct store_item *item, const void *data,
                        uint64_t n, uint64_t *ret_stored, struct swt_diag *reterr);

/* Append one packet from pieces; the last `n_side` bytes of them all are its side data as seg_side records
 * (0: none). The total that closes them on disk is the store's to add. A picture whose time is not after every
 * visible one is moved there and flagged discont. */
int store_writer_packet(struct store_writer *w, const struct store_item *item,
                        const struct iovec *pieces, int n_pieces, size_t n_side,
                        struct swt_diag *reterr);

/* Publish what is still grouped (small frames) now. The helper does so after 10 ms. */
int store_writer_flush(struct store_writer *w, struct swt_diag *reterr);
void store_writer_state(const struct store_writer *w, struct store_writer_state *ret);

/* Before close: a stream that never got a frame keeps its format, in a segment without entries that the next session
 * removes. Does nothing when it has frames. */
int store_writer_keep_format(struct store_writer *w, struct swt_diag *reterr);
/* Flush, make all frames visible, sync, seal, publish, unlock, free. 0, or the first error that lost
 * durability. */
int store_writer_close(struct store_writer **w, struct swt_diag *reterr);
void store_writer_abandon(struct store_writer **w); /* for AUTO: close, error ignored */

/* ---- reader -------------------------------------------------------------------------------------- */

struct store_reader;

struct store_reader_state {
    enum seg_kind kind;
    uint64_t first_frame, end_frame; /* kept frames: first .. end - 1 */
    uint64_t first_entry, end_entry;
    uint64_t durable_frames;
    uint64_t segments, bytes;
    bool is_live;
    int64_t writer_pid;
};

/* Of the kept part: times of its first and its last frame, end of the last. */
struct store_times {
    int64_t first_ns, last_ns, end_ns;
};

struct store_totals {
    uint64_t runs, sessions, gaps, disconts, dropped, damaged;
    struct store_times times; /* INT64_MIN: unknown, the stream is empty or that entry is damaged */
};

int store_reader_open(struct store_dir *dir, const char *name, struct store_reader **ret_reader,
                      struct swt_diag *reterr);
void store_reader_close(struct store_reader **r);

/* Look again how far the stream reaches; cheap when nothing changed. */
int store_reader_refresh(struct store_reader *r, struct store_reader_state *ret,
                         struct swt_diag *reterr);
/* Wait until more than `frames` frames are visible, the writer ends, or `timeout_ns` passes. 1 more, 0 not. */
int store_reader_wait(struct store_reader *r, uint64_t frames, int64_t timeout_ns,
                      struct swt_diag *reterr);
/* All 0 for an empty stream; first_ns is INT64_MIN where the first entry is damaged.
 * errors: SWT_E_CORRUPT the last one is */
int store_reader_times(struct store_reader *r, struct store_times *ret, struct swt_diag *reterr);
/* Sums over the stream; reads the whole index of the newest segment. */
int store_reader_totals(struct store_reader *r, struct store_totals *ret, struct swt_diag *reterr);

/* One frame as the index knows it. */
struct store_frame {
    uint64_t frame, entry_no;
    int64_t time_ns;                                /* of this very frame, within its entry */
    int64_t wall_ns;                                /* by the nearest anchor */
    uint64_t segment_base;                          /* number in the segment's file name */
    uint64_t offset;                                /* of the entry's payload, from file start */
    uint64_t entry_bytes;                           /* of the entry's payload */
    uint64_t run_no, run_base_frame, run_end_frame; /* run_end: end of the run as known now */
    struct entry entry;
};

/* errors: SWT_E_NO_WINDOW outside first..end-1; SWT_E_CORRUPT */
int store_reader_frame(struct store_reader *r, uint64_t frame, struct store_frame *ret,
                       struct swt_diag *reterr);
/* The run a frame belongs to; of the index only packet streams need anything. errors: as store_reader_frame */
struct store_run {
    uint64_t run_no, base_frame, end_frame; /* end: as known now */
};
int store_reader_run(struct store_reader *r, uint64_t frame, struct store_run *ret,
                     struct swt_diag *reterr);
/* First kept frame with time >= `ns`, or end_frame if none. */
int store_reader_find_time(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                           struct swt_diag *reterr);
/* First kept frame with wall time >= `ns` in the last pass of that hour, or end_frame. */
int store_reader_find_wall(struct store_reader *r, int64_t ns, uint64_t *ret_frame,
                           struct swt_diag *reterr);
/* First frame in (after, before] that is flagged gap: 1 and its number; 0 none. */
int store_reader_find_gap(struct store_reader *r, uint64_t after, uint64_t before,
                          uint64_t *ret_frame, struct swt_diag *reterr);

/* Format of the run a frame belongs to; borrowed until the reader closes. */
int store_reader_params(struct store_reader *r, uint64_t frame, const struct params **ret_params,
                        struct swt_diag *reterr);

/* Tensor: map frames first .. first + n - 1 of one run as one C-contiguous array; borrowed until close.
 * errors: SWT_E_RUNS, SWT_E_NO_WINDOW, SWT_E_CORRUPT (a file shorter than its entries) */
int store_reader_map(struct store_reader *r, uint64_t first, uint64_t n, const void **ret_data,
                     struct swt_diag *reterr);
/* Check the payload CRCs of all entries that touch these frames. SWT_E_CORRUPT names file, offset, frame. */
int store_reader_check(struct store_reader *r, uint64_t first, uint64_t n, struct swt_diag *reterr);
/* Tensor: map such frames, and with `check` check them. errors: those of store_reader_map and store_reader_check */
int store_reader_peek(struct store_reader *r, uint64_t first, uint64_t n, bool check,
                      const void **ret_data, struct swt_diag *reterr);
/* Tensor: copy such frames; with `check` it is the copies that are checked, and on failure `dst` may hold some.
 * errors: those of store_reader_map and store_reader_check */
int store_reader_copy(struct store_reader *r, uint64_t first, uint64_t n, bool check, uint8_t *dst,
                      struct swt_diag *reterr);

/* Packets: entry by its number, payload borrowed until close. The payload's CRC is checked if `check`. */
struct store_packet {
    uint64_t entry_no;
    struct entry entry;
    const uint8_t *data; /* entry.len bytes */
    size_t n_data;       /* without side data */
    const uint8_t *side; /* seg_side records, NULL if none */
    size_t n_side;
};
int store_reader_packet(struct store_reader *r, uint64_t entry_no, bool check,
                        struct store_packet *ret, struct swt_diag *reterr);
/* The entry to start decoding from for `frame`: the last key, or FRESH entry, at or before it in decode
 * order whose own time is not after the frame's. `ret_entry_no` is at least the run's first entry. */
int store_reader_key(struct store_reader *r, uint64_t frame, uint64_t *ret_entry_no,
                     struct swt_diag *reterr);
/* Number of the frame that a packet shows; SWT_E_NO_WINDOW if it shows none. */
int store_reader_shown(struct store_reader *r, uint64_t entry_no, uint64_t *ret_frame,
                       struct swt_diag *reterr);

/* ---- verify -------------------------------------------------------------------------------------- */

/* Read every byte of a stream that is promised and report each damage. `report` is added to. */
int store_verify(struct store_dir *dir, const char *name, swt_damage_fn *damage, void *arg,
                 struct swt_verify_report *report, struct swt_diag *reterr);

#endif

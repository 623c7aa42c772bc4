/* SPDX-License-Identifier: MIT
 *
 * reader.h - inside of a stream reader, shared by the reader_*.c files. One thread at a time.
 *
 * Functions named *_once may return -ESTALE: a segment vanished or was replaced while they worked. Public
 * functions then look at the directory again and repeat (reader_again); -ESTALE never leaves this room.
 */
#ifndef STORE_READER_H
#define STORE_READER_H

#include <errno.h>
#include <sys/stat.h>

#include "store/control.h"
#include "store/dir.h"
#include "store/segscan.h"

#define READER_BLOCK_ENTRIES 32u  /* index entries read together: 2 KiB */
#define READER_SETS          256u /* of blocks that are kept, at most 2 MiB */
#define READER_WAYS          4u   /* blocks in a set */
#define READER_FDS           48u  /* segment descriptors kept open at most */
#define READER_RANKS         256u /* frames of packets whose order is worked out together */
#define READER_HOLES         64u

/* A segment that has been opened once. */
struct rseg {
    uint64_t base;
    dev_t dev;
    ino_t ino;
    int fd;        /* -1: closed for now */
    uint64_t used; /* stamp for choosing which descriptor to close */
    uint64_t file_bytes;
    struct super super;
    struct slot slot;
    uint64_t
        run_end; /* frame at which the run ends, for runs that have ended; UINT64_MAX: not known */
    uint64_t
        real_end; /* tensor: where its frames end, if the next segment is missing; 0: not known */
    /* reader_map.c */
    const struct rmap *map; /* reservation it is mapped in; borrowed; NULL: none */
    uint64_t map_end;       /* flat address up to which it is mapped there */
    const uint8_t *packets; /* payload of a packet segment, NULL: not mapped */
};

/* Address space, kept until close. */
struct rmap {
    struct rmap *next;
    void *raw; /* as mmap gave it */
    uint64_t raw_bytes;
    uint8_t *addr; /* in it, aligned */
    uint64_t bytes;
    uint64_t run_no, flat; /* tensor: run and flat address at `addr` */
    bool is_run; /* holds whatever of the run is touched; else one window or one segment */
};

struct rblock {
    uint64_t used; /* 0: empty */
    uint64_t salt; /* of its segment */
    uint64_t no;   /* of the block in its segment */
    struct seg_entry entries[READER_BLOCK_ENTRIES];
};

struct rrun {
    uint64_t run_no;
    struct params *params; /* heap, so that borrowed pointers stay */
};

/* A picture of a packet stream, by display order. */
struct rpic {
    int64_t time_ns;
    uint64_t ordinal, entry_no; /* in decode order */
};

/* Decode ordinals from .. to - 1 that are missing. */
struct rhole {
    uint64_t from, to;
    uint64_t n; /* missing in it: fewer than to - from where several were joined */
};

struct store_reader {
    const char *path; /* of the recording; borrowed from the dir */
    int stream_fd, seg_fd;
    struct stream_meta meta;

    /* how far it reaches */
    struct control control;
    bool is_live, is_settled; /* settled: recovered since the writer left */
    bool is_sealed;           /* the newest segment, as recovery saw it */
    int64_t writer_pid;
    uint64_t first_frame, end_frame, first_entry, end_entry, durable_frames;
    uint64_t
        first_base; /* base that first_frame and first_entry were worked out from; UINT64_MAX: none */

    /* the directory as last read; segs[i] NULL: not opened yet */
    uint64_t *bases;
    struct rseg **segs;
    size_t n;
    size_t found; /* by rseg_by_base, last */
    struct timespec listed_mtime;
    int64_t listed_wall_ns;
    struct rseg *open[READER_FDS]; /* those with a descriptor */
    size_t n_open;
    uint64_t stamp;

    struct rblock *blocks; /* READER_SETS of READER_WAYS */
    struct rrun *runs;     /* touched so far */
    size_t n_runs;

    struct rmap *maps;
    uint64_t n_maps, max_maps;

    /* Order of pictures worked out last: `pics` by time, from decode ordinals pics_from on. It answers for
     * frames pics_first .. pics_end - 1. */
    struct rpic *pics;
    size_t n_pics;
    uint64_t pics_from, pics_first, pics_end;
    struct rhole holes[READER_HOLES]; /* ordinals whose entries cannot be read */
    size_t n_holes;

    struct {                    /* entry found last, tensor streams: frames mostly come in order */
        const struct rseg *seg; /* NULL: none */
        uint64_t k;
        struct entry entry;
    } hit;

    struct segscan totals; /* of the newest segment, for totals_seg, up to entry totals_next */
    const struct rseg *totals_seg;
    uint64_t totals_next;

    struct anchor *anchors;
    size_t n_anchors;
    int64_t anchors_boot_ns; /* when read; INT64_MIN: not yet */
};

/* ---- reader_seg.c: the segments, their descriptors and index entries ------------------------------- */

int rseg_list(struct store_reader *r, bool *ret_changed, struct swt_diag *reterr);
/* The same where the directory has changed since. */
int rseg_list_if_changed(struct store_reader *r, bool *ret_changed, struct swt_diag *reterr);
void rseg_done(struct store_reader *r);
/* Forget segments from number n of the list on: they do not belong to the stream. */
void rseg_drop_from(struct store_reader *r, size_t n);

/* Segment i of the list, which has not been opened, from its open file. */
int rseg_take(struct store_reader *r, size_t i, struct segfile *f, struct swt_diag *reterr);
/* Segment i of the list, opened before or now. */
int rseg_get(struct store_reader *r, size_t i, struct rseg **ret_seg, struct swt_diag *reterr);
/* Its descriptor, good until the next call of a rseg_ function. */
int rseg_fd(struct store_reader *r, struct rseg *seg, struct swt_diag *reterr);
/* Is the file at least so long? Looks again before it says no: 1, 0, -errno. */
int rseg_reaches(struct store_reader *r, struct rseg *seg, uint64_t bytes, struct swt_diag *reterr);
/* Entry k of a segment: 1 valid, 0 not, -errno. */
int rseg_entry(struct store_reader *r, struct rseg *seg, uint64_t k, struct entry *ret_entry);
/* Entries of segment i that may be read (a bound only, where its successor cannot be read). */
int rseg_entries(struct store_reader *r, size_t i, struct rseg *seg, uint64_t *ret_n);

/* Last segment whose base is <= `base`. The list is not empty and bases[0] <= base. */
size_t rseg_by_base(struct store_reader *r, uint64_t base);
/* Last segment that can be read whose number by `get` is <= x; 0 if none. */
typedef uint64_t rseg_number(const struct super *s);
int rseg_by_number(struct store_reader *r, rseg_number *get, uint64_t x, size_t *ret_i,
                   struct swt_diag *reterr);
/* Where to look for x among lo .. hi - 1, over which it grows from x_lo to x_hi: in proportion, and in the middle
 * every third time, so that no search takes much longer than bisection. */
uint64_t rseg_guess(uint64_t lo, uint64_t hi, int64_t x_lo, int64_t x_hi, int64_t x,
                    unsigned round);
/* End of the run of a segment, as a frame number. */
int rseg_run_end(struct store_reader *r, struct rseg *seg, uint64_t *ret_end,
                 struct swt_diag *reterr);

/* Tensor: SWT_E_CORRUPT if frames below `end_frame` are in a segment that is
 * missing behind it. */
int rseg_has_frames(struct store_reader *r, size_t i, struct rseg *seg, uint64_t end_frame,
                    struct swt_diag *reterr);

/* Say what is damaged: path, offset, stream, frame (-1 none). Returns SWT_E_CORRUPT. */
int rseg_corrupt(const struct store_reader *r, uint64_t base, int64_t offset, int64_t frame,
                 struct swt_diag *reterr, const char *fmt, ...) PRINTF_LIKE(6, 7);
/* An entry that must be there is not: looks again (-ESTALE), else says what is damaged or missing. */
int rseg_lost_entry(struct store_reader *r, size_t i, uint64_t k, int64_t frame,
                    struct swt_diag *reterr);

/* ---- reader.c -------------------------------------------------------------------------------------- */

/* After a *_once function: true when it is to be repeated. */
bool reader_again(struct store_reader *r, int *rc, int tries, struct swt_diag *reterr);

/* ---- reader_frame.c -------------------------------------------------------------------------------- */

/* SWT_E_NO_WINDOW unless first .. first + n - 1 are kept. */
int reader_has(const struct store_reader *r, uint64_t first, uint64_t n, struct swt_diag *reterr);
int reader_params_once(struct store_reader *r, struct rseg *seg, const struct params **ret_params,
                       struct swt_diag *reterr);
/* Have the wall-clock anchors, fresh enough. */
int reader_anchors(struct store_reader *r);
/* A frame without wall time and run end. `ret_i`: its segment. */
int reader_frame_once(struct store_reader *r, uint64_t frame, struct store_frame *ret,
                      size_t *ret_i, struct swt_diag *reterr);

/* ---- reader_packet.c ------------------------------------------------------------------------------- */

/* Entry by number, segment and index in it. */
int packet_entry_once(struct store_reader *r, uint64_t entry_no, struct entry *ret_entry,
                      size_t *ret_i, struct swt_diag *reterr);
/* Entry number of a frame. */
int packet_of_frame_once(struct store_reader *r, uint64_t frame, uint64_t *ret_entry_no,
                         struct swt_diag *reterr);
/* First frame that can be shown when earlier segments are gone. */
int packet_first_frame_once(struct store_reader *r, uint64_t *ret_frame, struct swt_diag *reterr);

/* ---- reader_map.c ---------------------------------------------------------------------------------- */

int map_once(struct store_reader *r, uint64_t first, uint64_t n, const uint8_t **ret_data,
             struct swt_diag *reterr);
/* Payload of a packet segment, mapped whole. */
int map_packets_once(struct store_reader *r, struct rseg *seg, const uint8_t **ret_payload,
                     struct swt_diag *reterr);
void map_done(struct store_reader *r);

#endif

/* SPDX-License-Identifier: MIT
 *
 * avsource.h - what opening and reading by FFmpeg share.
 */
#ifndef MEDIA_DEMUX_AVSOURCE_H
#define MEDIA_DEMUX_AVSOURCE_H

#include <libavcodec/avcodec.h>

#include "media/demux/demux.h"

struct av_stream {
    int idx; /* of the media_stream; -1: left out */
    bool is_kept, is_begun;
    bool is_wrapped;           /* its packets are pictures by reference */
    struct AVBSFContext *bsf;  /* owned; NULL: packets as they are */
    struct demux_order *order; /* owned; NULL: the container gives times */
    struct demux_parse parse;
};

struct av_source {
    struct media_source base;
    AVFormatContext *ctx; /* owned; FFmpeg frees it when it does not open */
    bool is_open;
    struct demux_bytes *bytes; /* NULL: FFmpeg opens by itself */
    struct av_stream *av;      /* owned; as many as FFmpeg had after opening */
    int n_av;
    AVPacket *packet;               /* the one given last */
    struct AVBSFContext *filtering; /* of the stream whose filter may hold a packet */
    AVBufferPool *unwrapped;
    int unwrapped_bytes;
    int n_errors;
    bool is_damaged;
    uint64_t n_bytes_seen; /* of the protocol, at the last look of the interrupt function */
};

#endif

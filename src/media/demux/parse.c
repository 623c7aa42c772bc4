/* SPDX-License-Identifier: MIT
 *
 * parse.c - a look into whole packets with FFmpeg's parsers: picture type, order count, size. Changes
 * no packet.
 */
#include <libavcodec/avcodec.h>

#include "media/demux/demux.h"

void demux_parse_close(struct demux_parse *parse)
{
    if (parse->parser)
        av_parser_close(parse->parser);
    parse->parser = NULL;
    avcodec_free_context(&parse->ctx);
}

int demux_parse_open(const AVCodecParameters *par, struct demux_parse *ret)
{
    struct demux_parse p = {av_parser_init((int)par->codec_id), avcodec_alloc_context3(NULL)};
    if (!p.ctx || avcodec_parameters_to_context(p.ctx, par) < 0) {
        demux_parse_close(&p);
        return -ENOMEM;
    }
    if (p.parser)
        p.parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    *ret = p;
    return 0;
}

void demux_parse_packet(struct demux_parse *parse, const AVPacket *packet)
{
    uint8_t *out;
    int n_out;
    if (parse->parser)
        (void)av_parser_parse2(parse->parser, parse->ctx, &out, &n_out, packet->data, packet->size,
                               packet->pts, packet->dts,
                               packet->pos); /* what it gives is the packet */
}

/* SPDX-License-Identifier: MIT
 *
 * record_text.c - what is kept of a stream and what it costs, in words for the summary.
 */
#include "session/record_parts.h"

#include <stdio.h>

#include "base/dtype.h"

static void describe_tensor(struct sink *s, const struct track *t, char *kept, size_t cap)
{
    const struct params *p = &s->params;
    if (strcmp(p->media, "video") == 0)
        (void)snprintf(kept, cap, "video kept as %dx%d %s%s", p->width, p->height, p->pixel,
                       t && !t->packets && !t->stream->is_raw
                           ? ", original not kept: --store both keeps it"
                           : "");
    else if (strcmp(p->media, "audio") == 0)
        (void)snprintf(kept, cap, "sound kept as %s, %d channels, %lld Hz",
                       dtype_get(p->dtype)->name, p->channels, (long long)p->rate.num);
    else
        (void)snprintf(kept, cap, "rows kept as %s, %llu bytes each", dtype_get(p->dtype)->name,
                       (unsigned long long)p->frame_bytes);
}

void record_describe(struct sink *s, const struct track *t, const struct swt_record_spec *spec)
{
    char kept[sizeof s->stats.kept];
    const struct params *p = &s->params;
    s->stats.note[0] = '\0';
    if (s->kind == SEG_KIND_PACKETS)
        (void)snprintf(kept, sizeof kept, "%s kept as %s packets",
                       t && t->is_video ? "video" : "sound",
                       t ? t->stream->params.codec : p->codec);
    else
        describe_tensor(s, t, kept, sizeof kept);
    if (s->kind == SEG_KIND_TENSOR && strcmp(p->media, "audio") == 0 && t && t->packets &&
        p->dtype == SWT_F32 && spec->dtype == SWT_DTYPE_NONE)
        (void)snprintf(s->stats.note, sizeof s->stats.note,
                       "--dtype s16 halves it, --store packets keeps it encoded only");
    (void)snprintf(s->stats.kept, sizeof s->stats.kept, "%s", kept);
}

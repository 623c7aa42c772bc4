/* SPDX-License-Identifier: MIT
 *
 * record.c - swt_record_*: checks arguments and calls the session room.
 */
#include <errno.h>
#include <string.h>

#include "session/record.h"

/* The public handle is the session itself. */
static struct record *inside(struct swt_record *record)
{
    return (struct record *)record;
}

void swt_record_spec_init(struct swt_record_spec *spec)
{
    *spec = (struct swt_record_spec){.sync_ns = -1, .fps = {0, 1}};
}

int swt_record_open(const struct swt_record_spec *spec, struct swt_record **ret_record,
                    struct swt_diag *reterr)
{
    if (!spec || !ret_record || !spec->path || (spec->n_inputs && !spec->inputs))
        return err_set(reterr, -EINVAL, "swt_record_open: path, inputs and ret_record are needed");
    return record_open(spec, (struct record **)ret_record, reterr);
}

int swt_record_run(struct swt_record *record, struct swt_diag *reterr)
{
    struct swt_diag unused;
    return record ? record_run(inside(record), reterr ? reterr : &unused) : -EINVAL;
}

void swt_record_stop(struct swt_record *record)
{
    if (record)
        record_stop(inside(record));
}

int swt_record_stream_get(const struct swt_record *record, size_t i, struct swt_record_stream *ret)
{
    return record && ret ? record_stream((const struct record *)record, i, ret) : -EINVAL;
}

void swt_record_close(struct swt_record **record)
{
    if (record)
        record_close((struct record **)record);
}

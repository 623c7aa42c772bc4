/* SPDX-License-Identifier: MIT
 *
 * device.c - cameras, microphones, screens and filter graphs by libavdevice. It brings 60 more libraries and
 * tens of milliseconds of start-up, so it is opened when a device is named and not before.
 */
#include <dlfcn.h>
#include <libavdevice/version.h>
#include <libavutil/macros.h>

#include "media/demux/demux.h"

#define DEVICE_LIBRARY "libavdevice.so." AV_STRINGIFY(LIBAVDEVICE_VERSION_MAJOR)

/* ALSA says its errors on standard error unless told otherwise; what matters comes back as an error. */
static void say_nothing(const char *file, int line, const char *function, int err, const char *fmt,
                        ...)
{
    (void)file;
    (void)line;
    (void)function;
    (void)err;
    (void)fmt;
}

static void silence_alsa(void)
{
    void *library = dlopen("libasound.so.2", RTLD_NOW | RTLD_NOLOAD);
    int (*set_handler)(void (*)(const char *, int, const char *, int, const char *, ...)) = NULL;
    if (library)
        *(void **)&set_handler = dlsym(library, "snd_lib_error_set_handler");
    if (set_handler)
        (void)set_handler(say_nothing);
}

static int no_device(const struct demux_input *input, const char *why, struct swt_diag *reterr)
{
    return err_at(reterr, SWT_E_INPUT, input->text, -1, "cannot open '%.200s': %s", input->text,
                  why);
}

int demux_device_find(const struct demux_input *input, const AVInputFormat **ret_format,
                      struct swt_diag *reterr)
{
    void *library = dlopen(DEVICE_LIBRARY,
                           RTLD_NOW | RTLD_LOCAL); /* for good: it registers itself in FFmpeg */
    if (!library)
        return no_device(input, "devices need " DEVICE_LIBRARY ", which is not there", reterr);
    void (*register_all)(void);
    *(void **)&register_all = dlsym(library, "avdevice_register_all");
    if (!register_all)
        return no_device(input, DEVICE_LIBRARY " cannot be used", reterr);
    silence_alsa();
    register_all(); /* does nothing the second time */
    const AVInputFormat *format = av_find_input_format(input->device);
    if (!format)
        return no_device(input, "this FFmpeg was built without that kind of device", reterr);
    *ret_format = format;
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * module.c - finds and opens the two media modules on first use and keeps them for the life of the process.
 * Knows nothing of what is in them: FFmpeg and libsndfile are loaded with a module, never before.
 */
#include "media/media.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct loaded {
    const char *file;
    const struct media_module *module; /* static in the module; NULL: not opened yet */
};

static struct loaded demux = {"swt-demux.so", NULL};
static struct loaded codec = {"swt-codec.so", NULL};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct log_to **log_slot(void)
{
    static _Thread_local const struct log_to *in_use;
    return &in_use;
}

static bool is_log_of_codec;
static const struct media_host host = {log_slot, &is_log_of_codec};

static void close_handle(void **handle)
{
    if (*handle)
        dlclose(*handle);
    *handle = NULL;
}

/* Folder of the running binary, or of the file that holds this code; false if it cannot be known. */
static bool binary_folder(char *ret_path, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", ret_path, cap);
    if (n <= 0 || (size_t)n >= cap)
        return false;
    ret_path[n] = '\0';
    char *slash = strrchr(ret_path, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

static bool library_folder(char *ret_path, size_t cap)
{
    Dl_info info;
    char real[PATH_MAX];
    if (!dladdr(&host, &info) || !info.dli_fname || !realpath(info.dli_fname, real))
        return false;
    char *slash = strrchr(real, '/');
    if (!slash || (size_t)(slash - real) >= cap)
        return false;
    *slash = '\0';
    memcpy(ret_path, real, (size_t)(slash - real) + 1);
    return true;
}

static int no_media(struct swt_diag *reterr, const char *path, const char *why)
{
    return err_at(reterr, SWT_E_NO_MEDIA, path, -1, "media module %s cannot be used: %s", path,
                  why);
}

static int open_module(const char *path, const struct media_module **ret, struct swt_diag *reterr)
{
    AUTO(close_handle) void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return no_media(reterr, path, why ? why : "it does not load");
    }
    media_module_fn *fn;
    *(void **)&fn = dlsym(handle, MEDIA_MODULE_SYMBOL);
    const struct media_module *m = fn ? fn(&host) : NULL;
    if (!m)
        return no_media(reterr, path, "it is no media module");
    if (m->abi != MEDIA_MODULE_ABI || strcmp(m->version, SWT_VERSION) != 0) {
        char why[160];
        snprintf(why, sizeof why, "it is of version %.40s, this is %s: install both from one build",
                 m->abi == MEDIA_MODULE_ABI ? m->version : "another interface", SWT_VERSION);
        return no_media(reterr, path, why);
    }
    handle = NULL; /* stays open: its log function is in FFmpeg */
    *ret = m;
    return 0;
}

/* The places to look in, in order; those that cannot be known are left out. */
enum { N_PLACES = 4 };
static int places(const char *file, char ret_path[N_PLACES][PATH_MAX])
{
    char folder[PATH_MAX];
    int n = 0;
    static const char *const from_binary[] = {"", "../lib/swt/"}, *const from_library[] = {"",
                                                                                           "swt/"};
    for (int k = 0; k < 2 && binary_folder(folder, sizeof folder); k++)
        n += snprintf(ret_path[n], PATH_MAX, "%s/%s%s", folder, from_binary[k], file) < PATH_MAX;
    for (int k = 0; k < 2 && library_folder(folder, sizeof folder); k++)
        n += snprintf(ret_path[n], PATH_MAX, "%s/%s%s", folder, from_library[k], file) < PATH_MAX;
    return n;
}

static int find_module(struct loaded *l, struct swt_diag *reterr)
{
    char path[N_PLACES][PATH_MAX], looked[400] = "";
    int n = places(l->file, path);
    for (int i = 0; i < n; i++) {
        if (access(path[i], F_OK) == 0)
            return open_module(path[i], &l->module, reterr);
        size_t used = strlen(looked);
        bool is_again = i >= 2 && strcmp(path[i], path[i - 2]) == 0;
        if (!is_again)
            snprintf(looked + used, sizeof looked - used, "%s%.180s", used ? ", " : "", path[i]);
    }
    return err_set(reterr, SWT_E_NO_MEDIA, "media module %s not found; looked for %s", l->file,
                   looked);
}

static int need(struct loaded *l, struct swt_diag *reterr)
{
    pthread_mutex_lock(&lock);
    int rc = l->module ? 0 : find_module(l, reterr);
    pthread_mutex_unlock(&lock);
    return rc;
}

int media_sources(const struct media_source_ops **ret_ops, struct swt_diag *reterr)
{
    int rc = need(&demux, reterr);
    if (rc >= 0)
        *ret_ops = demux.module->source;
    return rc;
}

int media_decoders(const struct media_decoder_ops **ret_ops, struct swt_diag *reterr)
{
    int rc = need(&codec, reterr);
    if (rc >= 0)
        *ret_ops = codec.module->decoder;
    return rc;
}

int media_resamplers(const struct media_resampler_ops **ret_ops, struct swt_diag *reterr)
{
    int rc = need(&codec, reterr);
    if (rc >= 0)
        *ret_ops = codec.module->resampler;
    return rc;
}

/* SPDX-License-Identifier: MIT
 *
 * clock.c - reads the kernel's clocks and boot id.
 */
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

static int64_t read_ns(clockid_t id)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(id, &t); /* cannot fail for these ids on Linux */
    return (int64_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int64_t clock_boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

void clock_boot_id(uint8_t ret_id[16])
{
    char text[37] = "";
    AUTO(io_close) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    if (io_uuid_parse(text, ret_id) < 0)
        memset(ret_id, 0, 16);
}

/* SPDX-License-Identifier: MIT
 *
 * json.c - small JSON files of a recording: read whole, judged member by member, written whole.
 */
#include "store/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define JSON_FILE_MAX (64u << 10) /* bytes; ours are under 8 KiB */

void json_free(cJSON **object)
{
    cJSON_Delete(*object);
    *object = NULL;
}

static void free_text(char **text)
{
    free(*text);
    *text = NULL;
}

int json_read(int dir_fd, const char *name, cJSON **ret_object)
{
    AUTO(free_text) char *text = NULL;
    size_t n;
    int r = io_read_file(dir_fd, name, JSON_FILE_MAX, &text, &n);
    if (r < 0)
        return r;
    AUTO(json_free) cJSON *object = cJSON_ParseWithLength(text, n);
    if (!cJSON_IsObject(object))
        return SWT_E_CORRUPT;
    *ret_object = object;
    object = NULL;
    return 0;
}

int json_write(int dir_fd, const char *name, const cJSON *object, mode_t mode)
{
    AUTO(free_text) char *text = cJSON_Print(object);
    if (text == NULL)
        return -ENOMEM;
    return io_replace_file(dir_fd, name, text, strlen(text), mode);
}

const char *json_text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

bool json_i64(const cJSON *object, const char *key, int64_t *ret_value)
{
    const char *text = json_text(object, key);
    if (text == NULL || *text == '\0')
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *ret_value = value;
    return true;
}

bool json_uuid(const cJSON *object, const char *key, uint8_t ret_uuid[16])
{
    const char *text = json_text(object, key);
    return text != NULL && io_uuid_parse(text, ret_uuid) == 0;
}

bool json_put_text(cJSON *object, const char *key, const char *text)
{
    return cJSON_AddStringToObject(object, key, text) != NULL;
}

bool json_put_i64(cJSON *object, const char *key, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRId64, value); /* 20 characters at most */
    return json_put_text(object, key, text);
}

bool json_put_uuid(cJSON *object, const char *key, const uint8_t uuid[16])
{
    char text[37];
    io_uuid_text(uuid, text);
    return json_put_text(object, key, text);
}

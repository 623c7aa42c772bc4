/* SPDX-License-Identifier: MIT
 *
 * json.h - the few JSON calls that swt.json, meta.json and live need, over cJSON. 64-bit values are decimal
 * text, because a JSON number is a double.
 */
#ifndef STORE_JSON_H
#define STORE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

void json_free(cJSON **object); /* accepts NULL objects; for AUTO */

/* Read and parse one object. SWT_E_CORRUPT: not one JSON object; else -errno. */
int json_read(int dir_fd, const char *name, cJSON **ret_object);
/* Write it so that a power cut leaves the old file or the new one. */
int json_write(int dir_fd, const char *name, const cJSON *object, mode_t mode);

/* Member as text; NULL if missing or no text. Borrowed from the object. */
const char *json_text(const cJSON *object, const char *key);
bool json_i64(const cJSON *object, const char *key, int64_t *ret_value);
bool json_uuid(const cJSON *object, const char *key, uint8_t ret_uuid[16]);

/* False when memory is short. */
bool json_put_text(cJSON *object, const char *key, const char *text);
bool json_put_i64(cJSON *object, const char *key, int64_t value);
bool json_put_uuid(cJSON *object, const char *key, const uint8_t uuid[16]);

#endif

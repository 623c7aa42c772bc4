/* SPDX-License-Identifier: MIT
 *
 * elements.h - one number as an element of a tensor.
 */
#ifndef TENSOR_ELEMENTS_H
#define TENSOR_ELEMENTS_H

#include "swt.h"

/* Write a value: integers rounded to nearest even and clipped, not-a-number as 0; floats rounded to nearest
 * even. `dst` need not be aligned. */
void element_put(enum swt_dtype dtype, double value, void *dst);

#endif

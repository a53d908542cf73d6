/* image_split.h: how split_image=1 cuts an image along its first axis, so that 32-bit offsets reach all of a piece of x and of y. How large
 * a piece may be is an argument, so that a test can have pieces of a small image that large images are cut into. */
#ifndef KW_FAMILIES_GPU_IMAGE_SPLIT_H
#define KW_FAMILIES_GPU_IMAGE_SPLIT_H

#include "config/family.h"

enum { KW_IMAGE_SPLIT_MAX_BYTES = INT32_MAX }; /* bytes */

/* Positions of the result's first axis in a piece: whole rows of y, and of x all that these read, are piece_bytes at most. At most half the
 * axis, so that any image has two pieces; below 1 where a single row is too much. */
int64_t kw_image_split_rows(const kw_problem *problem, int64_t piece_bytes);
/* The launch of conv.igemm; where kw_image_split_rows() is 1 at least. */
void kw_igemm_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, int64_t piece_bytes, kw_launch *launch);

#endif

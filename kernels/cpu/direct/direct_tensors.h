/* direct_tensors.h: the two tensors of direct.c, their channels and groups, and where their pixels lie. */

/* The side that is read, the side that is written. */
#if KW_BACKWARD
#define SRC(a) (a)->y
#define DST(a) (a)->x
#define SRC_CHANNELS(a) (joined(a) * (a)->k)
#define DST_CHANNELS(a) (joined(a) * (a)->c)
#define SRC_SIZE(a) (a)->out
#define DST_SIZE(a) (a)->in
#else
#define SRC(a) (a)->x
#define DST(a) (a)->y
#define SRC_CHANNELS(a) (joined(a) * (a)->c)
#define DST_CHANNELS(a) (joined(a) * (a)->k)
#define SRC_SIZE(a) (a)->in
#define DST_SIZE(a) (a)->out
#endif

/* Of tile registers, so many groups are one: channels of others meet weights of zero. What is said of a group below is of these. */
#define KW_JOINS (KW_MATH == 3 && !KW_MERGE)
static kw_i64 joined(const kw_kernel_args *a) { return KW_JOINS ? a->params.join : 1; }
static kw_i64 groups_of(const kw_kernel_args *a) { return a->groups / joined(a); }
/* So many narrow groups have one copy, so that lines of memory which several groups share are read and written once. */
#define KW_TOGETHER (!KW_MERGE && !KW_TILE_OWN && !KW_WAYS)
static kw_i64 together(const kw_kernel_args *a) { return KW_TOGETHER ? a->params.together : 1; }

/* Small images have a unit together, so that a slice of weights meets more tiles before the next one does. */
static kw_i64 images_together(const kw_kernel_args *a) { return KW_MATH == 3 ? a->params.images : 1; }

/* Bytes of an image in the copy. */
static __attribute__((unused)) kw_i64 copied_image(const kw_kernel_args *a) {
    kw_i64 source = KW_BACKWARD ? a->out[0] : a->in[0];
    return kw_min(a->filter[0], source) * a->params.slice;
}

/* Of the tensor that is read: bytes from a pixel to the next of its row; of pixels of dense tensors, or elements, those in front of a row, and
 * bytes to so many groups of channels behind them; bytes to behind its last element; where nothing is copied, the same and from an image to the
 * next. Of the tensor that is written: bytes from a pixel to the next of its row, from a row, an image to the next, in front of a unit's first
 * pixel. */
#if KW_APART
#include "cpu/lib/apart.h"
#define SRC_STEP(a) (KW_BACKWARD ? (a)->y_step : (a)->x_step)
#define DST_STEP(a) (KW_BACKWARD ? (a)->x_step : (a)->y_step)
#define SRC_PIXEL(a, channels) (SRC_STEP(a)[KW_TO_COLUMN] * KW_BYTES)
#define SRC_LINE(a, n, slice, row, size) kw_apart(SRC_STEP(a), n, slice, row, 0)
#define SRC_AT(a, line, group, channels) ((line + group * channels) * KW_BYTES)
#define SRC_SPAN(a, size, pitch) (kw_apart_span(SRC_STEP(a), (a)->n, SRC_SIZE(a), groups_of(a) * SRC_CHANNELS(a)) * KW_BYTES)
#define SRC_END(a, size) SRC_SPAN(a, size, 0)
#define SRC_IMAGE(a, size) (SRC_STEP(a)[KW_TO_IMAGE] * KW_BYTES)
#define DST_PIXEL(a) (DST_STEP(a)[KW_TO_COLUMN] * KW_OUT_BYTES)
#define DST_ROW(a, size, pitch) (DST_STEP(a)[KW_TO_ROW] * KW_OUT_BYTES)
#define DST_IMAGE(a, size, pitch) (DST_STEP(a)[KW_TO_IMAGE] * KW_OUT_BYTES)
#define DST_FIRST(a, first, pitch, n, z, y, x)                                                                                             \
    (kw_apart(DST_STEP(a), n, z->walk.out_start + z->at * z->walk.out_step, y->walk.out_start, x->walk.out_start) * KW_OUT_BYTES)
#else
#define SRC_PIXEL(a, channels) channels *groups_of(a) * KW_BYTES
#define SRC_LINE(a, n, slice, row, size) ((n * size[0] + slice) * size[1] + row) * size[2]
#define SRC_AT(a, line, group, channels) (line * groups_of(a) + group) * channels *KW_BYTES
#define SRC_SPAN(a, size, pitch) a->n *size[0] * size[1] * size[2] * pitch
#define SRC_END(a, size) a->n *size[0] * a->params.slice
#define SRC_IMAGE(a, size) size[0] * a->params.slice
#define DST_PIXEL(a) DST_CHANNELS(a) * groups_of(a) * KW_OUT_BYTES
#define DST_ROW(a, size, pitch) size[2] * pitch
#define DST_IMAGE(a, size, pitch) (size[0] * size[1] * size[2] * pitch)
#define DST_FIRST(a, first, pitch, n, z, y, x) first *pitch
#endif

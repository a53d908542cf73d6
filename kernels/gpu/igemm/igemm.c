/* igemm.c: convolution as a product of matrices that are gathered on the way into shared memory, all directions: family conv.igemm.
 *
 *   direction    rows                     columns          depth                        first operand        second operand
 *   forward      output pixels            K                taps, C                      x gathered           w, depth contiguous
 *   bwd_data     input pixels of a phase  C                taps of the phase, K         y gathered           w, columns contiguous
 *   bwd_weight   K                        taps, C          output pixels                y, rows contiguous   x gathered, columns contiguous
 *   with KW_PICKS taps, C                 K                the same                     x gathered           y turned
 *
 * Forward and backward data walk over pixels and taps by the same rule (prelude/gpu.h, kw_walk); backward data has a walk for each residue
 * of the input position mod stride, and a tile of rows belongs to one of these phases. KW_MERGE groups are one product of KW_MERGE times
 * the channels; what would join two groups reads as zero (forward) or is not stored (bwd_weight). Depths are counted in elements of the
 * operand. */
#include "gpu/igemm/args.h"
#define KW_KERNEL_PARAMS kw_igemm_params
/* Channels-first tensors of a 1x1 filter as they are: gpu/igemm/planes.h. */
#define KW_PLANES ((KW_PIPE == KW_PIPE_COOPERATIVE || KW_PIPE == KW_PIPE_PINGPONG) && KW_SPEC == KW_SPEC_FILTER1X1_STRIDE1_PAD0)
/* All taps read the same pixels in shared memory: gpu/igemm/border.h. */
#define KW_BORDER ((KW_PIPE == KW_PIPE_COOPERATIVE || KW_PIPE == KW_PIPE_PINGPONG) && KW_SPEC == KW_SPEC_STRIDE1)
#include "kw_config.h"
#include "gpu/matrix/fragment.h"

#define KW_FORWARD (KW_OP == KW_OP_CONV_FWD)
#define KW_DATA (KW_OP == KW_OP_CONV_BWD_DATA)
#define KW_WEIGHT (KW_OP == KW_OP_CONV_BWD_WEIGHT)
#if KW_PLANES
#define KW_A_BY_ROWS KW_PLANES_A_BY_ROWS(KW_OP)
#define KW_B_BY_ROWS KW_PLANES_B_BY_ROWS(KW_OP)
#else
#define KW_A_BY_ROWS (KW_IGEMM_A_BY_ROWS(KW_OP) && !KW_PICKS)
#endif
#if !KW_PLANES
#define KW_B_BY_ROWS (KW_IGEMM_B_BY_ROWS(KW_OP) && !KW_SPOTS && !KW_COPIES_TURN)
#endif
#define KW_TURNS_A 0
#define KW_TURNS_B (KW_DATA || KW_WEIGHT)

#define KW_PIXEL_ROWS (KW_EXPLICIT || KW_SPEC == KW_SPEC_FILTER1X1_STRIDE1_PAD0) /* pixels of x and y are the same */
#define KW_POINTS (KW_PIXEL_ROWS || KW_SPEC == KW_SPEC_FILTER1X1_PAD0)           /* one tap, never beside the image */
#define KW_3X3 (KW_SPEC == KW_SPEC_FILTER3X3)                                    /* three taps an axis and one channel a group */
#define KW_FIRST_AXIS (3 - KW_NDIM)
#define KW_PRESHUFFLE 0
#define KW_TURNED 0
#define KW_A_VEC KW_IGEMM_A_VEC(KW_SPEC, KW_MERGE, KW_VEC_A)
#define KW_B_VEC KW_IGEMM_B_VEC(KW_OP, KW_SPEC, KW_MERGE, KW_VEC_B)

#if KW_OVERLAP
#include "gpu/pipeline/overlap_layout.h"
#if KW_PLANES
#include "gpu/igemm/planes.h"
#elif KW_BORDER
#include "gpu/igemm/border.h"
#else
#include "gpu/igemm/feed.h"
#endif
#include "gpu/lib/slices.h"
#include "gpu/pipeline/overlap.h"
#else
#if KW_INDEX == 32
typedef int kw_off;
#else
typedef kw_i64 kw_off;
#endif

/* What a row, a column or a depth gives to the place of an element: an offset, a position in the image, the group among those merged. */
typedef struct kw_coord {
    kw_off at;
    int pos[3], group;
} kw_coord;

/* Triples are of the axes depth, height, width. The source is the tensor that is gathered. */
typedef struct kw_view {
    const char *at[2];
    kw_i64 out;                                  /* offset of the result */
#if KW_X_ZERO
    kw_u32 zero;                                 /* x's zero point, in each byte */
#endif
    int row, col;                                /* of the tile's first element */
    int rows, cols, depth;                       /* of the product */
    int c, k;                                    /* channels of a group */
    int channels;                                /* of the source, of the merged groups together */
    kw_off src_pixel, out_pixel;                 /* elements of a pixel of the source, and of the tensor of the other image */
    int image[3];                                /* extents of the source */
    int pixels[3];                               /* that are counted through by rows, or by depths for bwd_weight */
    int start[3], step[3];                       /* source position of the first pixel's first tap; from pixel to pixel */
    int taps[3], tap_step[3];                    /* taps; source positions from tap to tap */
    int filter[3], first_tap[3], next_tap[3];    /* filter extents; filter index of the first tap; from tap to tap */
    int out_image[3], out_start[3], out_step[3]; /* of the result: extents, position of the first pixel, from pixel to pixel */
    int in_order;                                /* of backward data: rows are the result's pixels in their order */
#if KW_HAS_CHANNELS
    const kw_gpu_args *args;
    int channel;                 /* of the result, the first column's */
#endif
#if KW_BULK
    const kw_tensor_map *map[2]; /* of x and w: channel, pixel or output channel, group */
    int batch;
#endif
} kw_view;

/* --- numbers with digits: what goes on from step to step by the same amount is divided once --- */

/* A number of mixed radix, the lowest digit first; the highest has no radix. */
typedef struct kw_digits {
    int d[4];
} kw_digits;

/* The radices of (taps, channels): the channel, then a tap along each axis. Returns the place of the highest digit. */
KW_DEVICE int kw_tap_radix(const kw_view *v, int radix[3]) {
    radix[0] = KW_3X3 ? KW_MERGE : v->channels;
    KW_UNROLL
    for (int i = 1; i < KW_NDIM; i++)
        radix[i] = KW_3X3 ? 3 : v->taps[3 - i];
    return KW_POINTS ? 0 : KW_NDIM;
}

/* The radices of (images, pixels): the position along each axis, then the image. */
KW_DEVICE int kw_pixel_radix(const int extent[3], int radix[3]) {
    KW_UNROLL
    for (int i = 0; i < KW_NDIM; i++)
        radix[i] = extent[2 - i];
    return KW_NDIM;
}

/* No digit is divided by zero: a phase of backward data may have no taps. */
KW_DEVICE kw_digits kw_digits_of(const int radix[3], int top, int number) {
    kw_digits n = {{0, 0, 0, 0}};
    KW_UNROLL
    for (int i = 0; i < top; i++) {
        int r = kw_max(radix[i], 1);
        n.d[i] = number % r;
        number /= r;
    }
    n.d[top] = number;
    return n;
}

KW_DEVICE void kw_digits_add(kw_digits *n, const int radix[3], int top, const kw_digits *more) {
    int carry = 0;
    KW_UNROLL
    for (int i = 0; i < top; i++) {
        int digit = n->d[i] + more->d[i] + carry;
        carry = digit >= radix[i];
        n->d[i] = carry ? digit - radix[i] : digit;
    }
    n->d[top] += more->d[top] + carry;
}

/* --- places --- */

/* A position's number in memory. */
KW_DEVICE kw_off kw_flat(const int extent[3], kw_off image, const int pos[3]) {
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        image = image * extent[axis] + pos[axis];
    return image;
}

/* What a pixel reads with its first tap; where pixels are rows in memory, only their number is asked. */
KW_DEVICE kw_coord kw_source_pixel(const kw_view *v, int number, const kw_digits *pixel) {
    kw_coord s;
#if KW_PIXEL_ROWS
    s.at = number * v->src_pixel;
#else
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        s.pos[axis] = v->start[axis] + pixel->d[2 - axis] * v->step[axis];
    s.at = kw_flat(v->image, pixel->d[KW_NDIM], s.pos) * v->src_pixel;
#endif
    return s;
}

KW_DEVICE kw_digits kw_pixel_digits(const int extent[3], int number) {
    int radix[3], top = kw_pixel_radix(extent, radix);
    return kw_digits_of(radix, top, number);
}

/* How far an element of (taps, channels) is from a pixel's first. */
KW_DEVICE kw_coord kw_source_tap(const kw_view *v, const kw_digits *element) {
    kw_coord s;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        s.pos[axis] = element->d[3 - axis] * v->tap_step[axis];
    s.at = (KW_POINTS ? 0 : kw_flat(v->image, 0, s.pos) * v->src_pixel) + element->d[0];
    return s;
}

/* Beside the image is zero. */
KW_DEVICE kw_off kw_source_join(const kw_view *v, kw_coord pixel, kw_coord tap, int *ok) {
#if !KW_POINTS
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        *ok &= (kw_u32)(pixel.pos[axis] + tap.pos[axis]) < (kw_u32)v->image[axis];
#endif
    return pixel.at + tap.at;
}

/* The radices of (taps, groups, channels of a group). */
KW_DEVICE int kw_weight_radix(const kw_view *v, int radix[3]) {
    radix[0] = v->c;
    radix[1] = KW_MERGE;
    return KW_MERGE == 1 ? 0 : 2;
}

/* An element of (taps, channels of all merged groups) in the weights of an output channel, which have the taps of one group. */
KW_DEVICE kw_coord kw_weight_coord(const kw_view *v, const kw_digits *element) {
    kw_coord s;
#if KW_MERGE == 1
    s.at = element->d[0];
#else
    s.group = element->d[1];
    s.at = (kw_off)element->d[2] * v->c + element->d[0];
#endif
    return s;
}

/* Output channel number i of all merged groups: its weights. */
KW_DEVICE kw_coord kw_weight_row(const kw_view *v, int i) {
    kw_coord s;
    s.at = (kw_off)i * (v->filter[0] * v->filter[1] * v->filter[2] * v->c);
#if KW_MERGE > 1
    s.group = i / v->k;
#endif
    return s;
}

/* There are no weights between groups. */
KW_DEVICE kw_off kw_weight_join(kw_coord row, kw_coord element, int *ok) {
#if KW_MERGE > 1
    *ok &= row.group == element.group;
#endif
    return row.at + element.at;
}

/* --- the operands' rows and depths (tile.h) and the result's rows and columns (epilogue.h) --- */

/* A depth that goes on from step to step: its number, and the digits of it that its place asks for. */
typedef struct kw_cursor {
    int k;
    kw_digits n;
} kw_cursor;

KW_DEVICE int kw_depth_radix(const kw_view *v, int which, int radix[3]) {
#if KW_FORWARD
    return which == KW_A ? kw_tap_radix(v, radix) : kw_weight_radix(v, radix);
#elif KW_DATA
    return kw_tap_radix(v, radix);
#else
    return which == KW_A || KW_PIXEL_ROWS ? 0 : kw_pixel_radix(v->pixels, radix);
#endif
}

KW_DEVICE kw_cursor kw_cursor_at(const kw_view *v, int which, int k) {
    kw_cursor c;
    int radix[3], top = kw_depth_radix(v, which, radix);
    c.k = k;
    c.n = kw_digits_of(radix, top, k);
    return c;
}

KW_DEVICE void kw_cursor_add(const kw_view *v, int which, kw_cursor *c, const kw_cursor *more) {
    int radix[3], top = kw_depth_radix(v, which, radix);
    c->k += more->k;
    kw_digits_add(&c->n, radix, top, &more->n);
}

#if KW_FORWARD
KW_DEVICE kw_coord kw_coord_row(const kw_view *v, int which, int row, int *ok) {
    *ok &= row < (which == KW_A ? v->rows : v->cols);
    if (which == KW_B) return kw_weight_row(v, row);
    kw_digits pixel = kw_pixel_digits(v->pixels, row);
    return kw_source_pixel(v, row, &pixel);
}

KW_DEVICE kw_coord kw_coord_depth(const kw_view *v, int which, const kw_cursor *depth, int *ok) {
    *ok &= depth->k < v->depth;
    return which == KW_A ? kw_source_tap(v, &depth->n) : kw_weight_coord(v, &depth->n);
}

KW_DEVICE kw_off kw_coord_join(const kw_view *v, int which, kw_coord row, kw_coord depth, int *ok) {
    return which == KW_A ? kw_source_join(v, row, depth, ok) : kw_weight_join(row, depth, ok);
}

#elif KW_DATA
KW_DEVICE kw_coord kw_coord_row(const kw_view *v, int which, int row, int *ok) {
    kw_coord s;
    *ok &= row < (which == KW_A ? v->rows : v->cols);
    if (which == KW_A) {
        kw_digits pixel = kw_pixel_digits(v->pixels, row);
        return kw_source_pixel(v, row, &pixel);
    }
    s.at = row;
    return s;
}

/* Weights of an element of (taps, output channels). */
KW_DEVICE kw_coord kw_weight_depth(const kw_view *v, const kw_digits *element) {
    kw_coord s;
    int tap[3];
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        tap[axis] = v->first_tap[axis] + element->d[3 - axis] * v->next_tap[axis];
    s.at = (kw_flat(v->filter, element->d[0], tap)) * v->c;
    return s;
}

KW_DEVICE kw_coord kw_coord_depth(const kw_view *v, int which, const kw_cursor *depth, int *ok) {
    *ok &= depth->k < v->depth;
    return which == KW_A ? kw_source_tap(v, &depth->n) : kw_weight_depth(v, &depth->n);
}

KW_DEVICE kw_off kw_coord_join(const kw_view *v, int which, kw_coord row, kw_coord depth, int *ok) {
    return which == KW_A ? kw_source_join(v, row, depth, ok) : row.at + depth.at;
}

#else
KW_DEVICE kw_coord kw_coord_row(const kw_view *v, int which, int row, int *ok) {
    kw_coord s;
    *ok &= row < (which == KW_A ? v->rows : v->cols);
    if (which == KW_B) {
        int radix[3], top = kw_tap_radix(v, radix);
        kw_digits element = kw_digits_of(radix, top, row);
        return kw_source_tap(v, &element);
    }
    s.at = row;
    return s;
}

KW_DEVICE kw_coord kw_coord_depth(const kw_view *v, int which, const kw_cursor *depth, int *ok) {
    kw_coord s;
    *ok &= depth->k < v->depth;
    if (which == KW_B) return kw_source_pixel(v, depth->k, &depth->n);
    s.at = depth->k * v->out_pixel;
    return s;
}

KW_DEVICE kw_off kw_coord_join(const kw_view *v, int which, kw_coord row, kw_coord depth, int *ok) {
    return which == KW_A ? row.at + depth.at : kw_source_join(v, depth, row, ok);
}
#endif

KW_DEVICE kw_coord kw_result_row(const kw_view *v, int row, int *ok) {
    kw_coord s;
    *ok &= row < v->rows;
#if KW_WEIGHT
    s = kw_weight_row(v, row);
#elif KW_FORWARD || KW_PIXEL_ROWS
    s.at = row * v->out_pixel;
#else
    s.at = row * v->out_pixel;
    if (v->in_order) return s;
    kw_digits pixel = kw_pixel_digits(v->pixels, row);
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        s.pos[axis] = v->out_start[axis] + pixel.d[2 - axis] * v->out_step[axis];
    s.at = kw_flat(v->out_image, pixel.d[KW_NDIM], s.pos) * v->out_pixel;
#endif
    return s;
}

KW_DEVICE kw_coord kw_result_col(const kw_view *v, int col, int *ok) {
    kw_coord s;
    *ok &= col < v->cols;
#if KW_WEIGHT
    int radix[3], top = kw_weight_radix(v, radix);
    kw_digits element = kw_digits_of(radix, top, col);
    s = kw_weight_coord(v, &element);
#else
    s.at = col;
#endif
    return s;
}

KW_DEVICE kw_off kw_result_join(const kw_view *v, kw_coord row, kw_coord col, int *ok) {
#if KW_WEIGHT
    return kw_weight_join(row, col, ok);
#else
    return row.at + col.at;
#endif
}

#if KW_HAS_CHANNELS
KW_DEVICE kw_i64 kw_result_channel(const kw_view *v, int col) { return KW_WEIGHT ? 0 : v->channel + col; }
#endif

#if KW_EPILOGUE
KW_DEVICE kw_place kw_result_place(const kw_view *v, int row, int col, kw_i64 at) {
    kw_place p = {v->out + at, kw_result_channel(v, col), KW_WEIGHT ? 0 : (v->out + at) / v->out_pixel, 0};
    return p;
}
#endif

/* --- a tile of the result --- */

KW_DEVICE void kw_view_walk(kw_view *v, kw_walk w, int axis) {
    v->pixels[axis] = w.pixels;
    v->start[axis] = w.src_start;
    v->step[axis] = w.src_step;
    v->taps[axis] = w.taps;
    v->tap_step[axis] = w.tap_src_step;
    v->first_tap[axis] = w.tap_start;
    v->next_tap[axis] = w.tap_step;
    v->out_start[axis] = w.out_start;
    v->out_step[axis] = w.out_step;
}

KW_DEVICE int kw_product(const int e[3]) {
    int product = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        product *= e[axis];
    return product;
}

#define KW_WALKS (KW_DATA && !KW_PIXEL_ROWS) /* backward data as walks of phases */
#if KW_WALKS
/* Tiles of rows are numbered phase by phase: finds the phase of one, and leaves the number of the tile in it. No division for strides of 1, and
 * one an axis for others: they take some hundred cycles before anything is loaded. */
KW_DEVICE int kw_view_phase(kw_view *v, const kw_gpu_args *a, int tile_row) {
    int walks[3] = {1, 1, 1}, phase[3] = {0, 0, 0}, whole[3], over[3]; /* a phase has `whole` pixels, the first `over` of them one more */
    v->in_order = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++) {
        int stride = (int)a->stride[axis], in = (int)a->in[axis];
        v->in_order &= stride == 1;
        walks[axis] = kw_walks_backward(a, axis);
        whole[axis] = stride == 1 ? in : in / stride;
        over[axis] = in - whole[axis] * stride;
    }
    for (int left = kw_product(walks); left > 1; left--) {
        int pixels = (int)a->n;
        KW_UNROLL
        for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
            pixels *= whole[axis] + (phase[axis] < over[axis]);
        int tiles = KW_CEIL(pixels, KW_TILE_M), carry = 1;
        if (tile_row < tiles) break;
        tile_row -= tiles;
        KW_UNROLL
        for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
            phase[axis] += carry;
            carry = phase[axis] == walks[axis];
            phase[axis] = carry ? 0 : phase[axis];
        }
    }
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        kw_view_walk(v, kw_walk_backward(a, axis, phase[axis]), axis);
    return tile_row;
}
#endif

#if KW_SPLIT_IMAGE

/* Tiles of rows are numbered image by image and piece by piece. A piece is counted from its own first position, so that its offsets are
 * small whatever the tensors' sizes; returns the number of the tile in it. */
KW_DEVICE int kw_view_piece(kw_view *v, const kw_gpu_args *a, int tile_row) {
    int axis = KW_FIRST_AXIS, rows = (int)a->params.pixels, all = v->pixels[axis];
    v->pixels[axis] = rows;
    int tiles = KW_CEIL(kw_product(v->pixels), KW_TILE_M), pieces = KW_CEIL(all, rows), image = tile_row / (tiles * pieces);
    int first = tile_row / tiles % pieces * rows, origin;
    v->pixels[axis] = kw_min(rows, all - first);
    v->start[axis] += first * v->step[axis];
    origin = kw_min(kw_max(v->start[axis], 0), v->image[axis] - 1);
    kw_i64 in_row = v->src_pixel, out_row = v->out_pixel;
    for (int inner = axis + 1; inner < 3; inner++) {
        in_row *= v->image[inner];
        out_row *= v->pixels[inner];
    }
    v->at[KW_A] += ((kw_i64)image * v->image[axis] + origin) * in_row * KW_BYTES;
    v->out += ((kw_i64)image * all + first) * out_row;
    v->start[axis] -= origin;
    v->image[axis] -= origin;
    v->rows = kw_product(v->pixels);
    return tile_row % tiles;
}
#endif

KW_DEVICE void kw_view_start(kw_view *v, const kw_gpu_args *a, int batch, int tile_row, int tile_col) {
    kw_i64 c = a->c * KW_MERGE, k = a->k * KW_MERGE; /* channels of the merged groups */
    kw_i64 x = batch * c, y = batch * k, w = batch * k * a->filter[0] * a->filter[1] * a->filter[2] * a->c;
    KW_UNROLL
    for (int axis = 0; axis < 3; axis++) {
        v->filter[axis] = (int)a->filter[axis];
        v->image[axis] = (int)(KW_DATA ? a->out[axis] : a->in[axis]);
        v->out_image[axis] = (int)(KW_DATA ? a->in[axis] : a->out[axis]);
#if !KW_WALKS
        kw_view_walk(v, kw_walk_forward(a, axis), axis);
#endif
    }
#if KW_X_ZERO
    v->zero = kw_zero_word(a);
#endif
    v->c = (int)a->c;
    v->k = (int)a->k;
    v->channels = (int)(KW_DATA ? k : c);
    v->src_pixel = (kw_off)(a->groups * (KW_DATA ? a->k : a->c));
    v->out_pixel = (kw_off)(a->groups * (KW_DATA ? a->c : a->k));
#if KW_WALKS
    tile_row = kw_view_phase(v, a, tile_row);
#endif
    int pixels = (int)a->n * kw_product(v->pixels), spots = kw_product(v->taps) * v->channels;
    v->rows = KW_WEIGHT ? (int)k : pixels;
    v->cols = KW_WEIGHT ? spots : (int)(KW_DATA ? c : k);
    v->depth = KW_WEIGHT ? pixels : spots;
    v->at[KW_A] = KW_FORWARD ? a->x + x * KW_BYTES : a->y + y * KW_BYTES;
    v->at[KW_B] = KW_WEIGHT ? a->x + x * KW_BYTES : a->w + w * KW_BYTES;
    v->out = KW_FORWARD ? y : KW_DATA ? x : w;
#if KW_HAS_CHANNELS
    v->args = a;
    v->channel = (int)(KW_DATA ? x : y);
#endif
#if KW_SPLIT_IMAGE
    tile_row = kw_view_piece(v, a, tile_row);
#endif
    v->row = tile_row * KW_TILE_M;
    v->col = tile_col * KW_TILE_N;
#if KW_BULK
    v->map[KW_A] = &a->map[KW_A];
    v->map[KW_B] = &a->map[KW_B];
    v->batch = batch;
#endif
}

#if KW_BULK
#include "gpu/pipeline/bulk.h"
#else
#include "gpu/lib/tile.h"
#if KW_WGMMA
#include "gpu/pipeline/gather.h"
#else
#include "gpu/pipeline/pipeline.h"
#endif
#endif
#define KW_ROWS_IN_ORDER(view) (KW_WALKS ? (view)->in_order : 0)
#include "gpu/lib/epilogue.h"
#include "gpu/lib/work.h"
#endif

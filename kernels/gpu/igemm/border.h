/* border.h: what gpu/pipeline/overlap.h asks of a convolution with strides of 1, forward or backward data, whose pixels come to shared memory once
 * for many taps (KW_BORDER, spec=stride1): a tile's pixels and the border that these taps reach, 64 channels of each, and a tap's rows of the first
 * operand begin at another of them. gpu/pipeline/overlap_border.h multiplies them.
 *
 * Taps along the axes from kw_border_shared() on share their pixels. Rows are positions of images that are padded along these axes and follow each
 * other: of an axis kw_border_pitch() positions, the first where the first result's first tap reads. So a tap reads a row's position and as many
 * further on for all rows. Behind a line's last pixel stand the zeros before the next line's first, which both share; behind the last line of all
 * shared axes, those before the next. A copy walks over positions like an image's pixels (im2col), zeros beside it. Positions that are of
 * no result are multiplied for nothing and not stored. For each tap along the axes before, which have no padding so, pixels come anew, moved by
 * the tap's offset: a border is such an outer tap and a block of channels.
 *
 * A step is a tap, tap after tap of a border, or where there are 32 channels in all two of them (kw_border_joined), whose filters lie in a stage
 * one behind the other; with a part of the depth it may begin at any. Backward data reads y with the filter turned round. Groups as in
 * feed.h. */
#ifndef KW_IGEMM_BORDER_H
#define KW_IGEMM_BORDER_H

#define KW_PHASES 0

typedef struct kw_feed {
    int col, tap, block, outer;    /* the tile's; the step's first tap of those that share pixels, block of channels, and outer tap */
    int taps, joined, end, blocks; /* facts that each step asks for: of a border; of a step; behind a border's last step; of channels */
} kw_feed;

/* --- of an axis --- */

KW_DEVICE int kw_border_source(const kw_gpu_args *a, int axis) { return (int)(KW_DATA ? a->out[axis] : a->in[axis]); }
KW_DEVICE int kw_border_result(const kw_gpu_args *a, int axis) { return (int)(KW_DATA ? a->in[axis] : a->out[axis]); }
KW_DEVICE int kw_border_reach(const kw_gpu_args *a, int axis) { return (int)((a->filter[axis] - 1) * a->dilation[axis]); }

/* Where the first result's first tap reads. */
KW_DEVICE int kw_border_low(const kw_gpu_args *a, int axis) {
    return KW_DATA ? (int)a->pad[axis] - kw_border_reach(a, axis) : -(int)a->pad[axis];
}

/* The first axis whose taps share their pixels. */
KW_DEVICE int kw_border_shared(const kw_gpu_args *a) { return (int)(a->params.pixels >> 2 * KW_BORDER_BITS) & ((1 << KW_BORDER_BITS) - 1); }

/* Taps of a step. */
KW_DEVICE int kw_border_joined(const kw_gpu_args *a) {
    return (int)(a->params.pixels >> 3 * KW_BORDER_BITS) & ((1 << KW_BORDER_JOINED_BITS) - 1);
}

/* Borders that shared memory has places for. */
KW_DEVICE int kw_border_places(const kw_gpu_args *a) { return (int)(a->params.pixels >> (3 * KW_BORDER_BITS + KW_BORDER_JOINED_BITS)); }

KW_DEVICE int kw_border_pitch(const kw_gpu_args *a, int axis) {
    if (axis < kw_border_shared(a)) return kw_border_result(a, axis);
    return KW_BORDER_PITCH(kw_border_source(a, axis), kw_border_result(a, axis), kw_border_low(a, axis), kw_border_reach(a, axis));
}

/* --- what is brought --- */

KW_DEVICE int kw_feed_c(const kw_gpu_args *a) { return (int)a->c; }
KW_DEVICE int kw_feed_k(const kw_gpu_args *a) { return (int)a->k; }
KW_DEVICE int kw_feed_taps(const kw_gpu_args *a) { return (int)(a->filter[0] * a->filter[1] * a->filter[2]); }
KW_DEVICE int kw_feed_blocks(const kw_gpu_args *a) { return (int)KW_CEIL(KW_DATA ? a->k : a->c, KW_TILE_K); }

/* Of a border. */
KW_DEVICE int kw_border_taps(const kw_gpu_args *a) {
    int taps = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        taps *= axis < kw_border_shared(a) ? 1 : (int)a->filter[axis];
    return taps;
}

/* Copies of a border, and positions of one. */
KW_DEVICE int kw_border_boxes(const kw_gpu_args *a) { return (int)(a->params.pixels >> KW_BORDER_BITS) & ((1 << KW_BORDER_BITS) - 1); }
KW_DEVICE int kw_border_box(const kw_gpu_args *a) { return (int)a->params.pixels & ((1 << KW_BORDER_BITS) - 1); }
KW_DEVICE int kw_border_bytes(const kw_gpu_args *a) { return kw_border_boxes(a) * kw_border_box(a) * KW_SLAB_ROW_BYTES; }

/* --- what a block knows: in shared memory, where it takes no registers from the sums --- */

typedef struct kw_facts {
    int pitch[3], result[3]; /* of an axis */
    kw_u32 over_pitch[3];    /* kw_border_over: what divides by a pitch, and bits that are shifted out behind */
    int bits[3];
    int taps, joined, steps;       /* kw_border_taps, kw_border_joined; of a border */
    int blocks, borders;           /* kw_feed_blocks; of a tile */
    int places, bytes;             /* kw_border_places; of a border */
    int halved;                    /* the block, if any, of which half has no channels */
    int shift[KW_BORDER_TAPS_MAX]; /* of a border's tap: bytes from a row's own position to the one that it reads */
} kw_facts;

typedef char kw_facts_fit[sizeof(kw_facts) == KW_FACTS_BYTES ? 1 : -1];

/* By the first threads of a block, for all behind the next barrier. */
KW_DEVICE void kw_facts_work_out(const kw_gpu_args *a, kw_facts *facts) {
    int taps = kw_border_taps(a), tap = kw_thread(), axis_of = kw_thread() - KW_BORDER_TAPS_MAX, shift = 0, line = 1;
    if (axis_of >= 0 && axis_of < 3) {
        int pitch = kw_border_pitch(a, axis_of), bits = 31;
        while (1 << (bits - 31) < pitch)
            bits++;
        facts->pitch[axis_of] = pitch;
        facts->result[axis_of] = kw_border_result(a, axis_of);
        facts->over_pitch[axis_of] = (kw_u32)((((kw_u64)1 << bits) - 1) / (kw_u32)pitch + 1);
        facts->bits[axis_of] = bits;
    }
    if (axis_of == KW_WAVE) { /* a thread of another wave: none waits for the other's divisions */
        facts->taps = taps;
        facts->joined = kw_border_joined(a);
        facts->places = kw_border_places(a);
        facts->bytes = kw_border_bytes(a);
        facts->steps = kw_over(taps + facts->joined - 1, facts->joined);
        facts->blocks = kw_feed_blocks(a);
        facts->borders = kw_feed_taps(a) / taps * facts->blocks;
        facts->halved = (KW_DATA ? a->k : a->c) - (facts->blocks - 1) * KW_TILE_K <= KW_TILE_K / 2 ? facts->blocks - 1 : -1;
    }
    if (kw_thread() >= taps) return;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        if (axis < kw_border_shared(a)) continue;
        int extent = (int)a->filter[axis], rest = tap / extent;
        shift += (tap - rest * extent) * (int)a->dilation[axis] * line;
        line *= kw_border_pitch(a, axis);
        tap = rest;
    }
    facts->shift[kw_thread()] = shift * KW_SLAB_ROW_BYTES;
}

KW_DEVICE const kw_facts *kw_facts_of(const kw_work *work) { return (const kw_facts *)work->facts; }

/* Lines that lie before a position below 2^31: by a product, since a division takes some hundred cycles while nothing multiplies. Its factor
 * is 2^bits over the pitch, rounded up, which is too much by less than one part in 2^31. */
KW_DEVICE int kw_border_over(const kw_work *work, int axis, int position) {
    return (int)((kw_u64)(kw_u32)position * kw_facts_of(work)->over_pitch[axis] >> kw_facts_of(work)->bits[axis]);
}

KW_DEVICE void kw_work_phase(const kw_gpu_args *a, kw_work *work) { (void)a, (void)work; }

/* --- the copies --- */

KW_DEVICE int kw_feed_steps(const kw_gpu_args *a, const kw_work *work) {
    (void)a;
    return kw_facts_of(work)->borders * kw_facts_of(work)->steps;
}

/* At a step of the tile. */
KW_DEVICE void kw_feed_start(kw_feed *f, const kw_work *work, int step) {
    int steps = kw_facts_of(work)->steps, number = step < steps ? 0 : step / steps;
    f->taps = kw_facts_of(work)->taps;
    f->joined = kw_facts_of(work)->joined;
    f->end = steps * f->joined;
    f->blocks = kw_facts_of(work)->blocks;
    f->col = work->col;
    f->tap = (step - number * steps) * f->joined;
    f->outer = number < f->blocks ? 0 : number / f->blocks;
    f->block = number - f->outer * f->blocks;
}

KW_DEVICE void kw_feed_next(kw_feed *f) {
    f->tap += f->joined;
    if (f->tap < f->end) return;
    int last = f->block + 1 == f->blocks;
    f->tap = 0;
    f->block = last ? 0 : f->block + 1;
    f->outer += last;
}

/* The step's block of channels of all positions that the tile's rows and taps reach with the step's outer tap. */
KW_DEVICE void kw_border_bring(const kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar) {
    int channel = work->batch * (KW_DATA ? kw_feed_k(a) : kw_feed_c(a)) + f->block * KW_TILE_K, box = kw_border_box(a);
    int o[3] = {0, 0, 0}, outer = f->outer;
    KW_UNROLL
    for (int axis = 1; axis >= KW_FIRST_AXIS; axis--) {
        if (axis >= kw_border_shared(a)) continue;
        int extent = (int)a->filter[axis], rest = outer / extent;
        o[axis] = (outer - rest * extent) * (int)a->dilation[axis];
        outer = rest;
    }
    for (int i = 0; i < kw_border_boxes(a); i++) {
        int number = work->row + i * box, p[3] = {0, 0, 0};
        KW_UNROLL
        for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
            int rest = kw_border_over(work, axis, number);
            p[axis] = number - rest * kw_facts_of(work)->pitch[axis] + kw_border_low(a, axis);
            number = rest;
        }
#if KW_NDIM == 1
        kw_tensor_pixels3(to, &a->map[KW_A], bar, channel, p[2], number, 0);
#elif KW_NDIM == 2
        kw_tensor_pixels4(to, &a->map[KW_A], bar, channel, p[2], p[1], number, 0, o[1]);
#else
        kw_tensor_pixels5(to, &a->map[KW_A], bar, channel, p[2], p[1], p[0], number, 0, o[1], o[0]);
#endif
        to += box * KW_SLAB_ROW_BYTES;
    }
}

/* A step's second operand. */
KW_DEVICE void kw_feed_bring(const kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar) {
    int k = work->batch * kw_feed_k(a), tap = f->outer * f->taps + f->tap;
#if KW_DATA
    for (int j = 0; j < f->joined; j++) { /* a tap that the border has not is brought and not multiplied */
        KW_UNROLL
        for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
            kw_tensor_load3(to + (i + j * KW_TILE_K / 2) * 128, &a->map[KW_B], bar, f->col + i, kw_feed_taps(a) - 1 - tap - j,
                            k + f->block * KW_TILE_K);
    }
#else
    kw_tensor_load3(to, &a->map[KW_B], bar, f->joined == 1 ? f->block * KW_TILE_K : tap * (KW_TILE_K / 2), f->joined == 1 ? tap : 0,
                    k + f->col);
#endif
}

#include "gpu/igemm/operands.h"

/* --- where results lie: as gpu/igemm/backward.h has it of strided ones --- */

typedef struct kw_apart_row {
    int image, pos[3];
} kw_apart_row;

KW_DEVICE kw_apart_row kw_apart_row_of(const kw_gpu_args *a, const kw_work *work, int row) {
    kw_apart_row r;
    (void)a;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int rest = kw_border_over(work, axis, row);
        r.pos[axis] = row - rest * kw_facts_of(work)->pitch[axis];
        row = rest;
    }
    r.image = row;
    return r;
}

/* The number of the row's pixel; below 0: it is of none. */
KW_DEVICE int kw_border_pixel(const kw_gpu_args *a, const kw_work *work, int row) {
    kw_apart_row r = kw_apart_row_of(a, work, row);
    int flat = r.image, ok = r.image < a->n;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++) {
        int extent = kw_facts_of(work)->result[axis];
        ok &= r.pos[axis] < extent;
        flat = flat * extent + r.pos[axis];
    }
    return ok ? flat : -1;
}

/* Where a pixel's results begin: one product of 32 bits. */
KW_DEVICE kw_i64 kw_border_pixel_at(const kw_gpu_args *a, int pixel) {
    kw_u32 line = (kw_u32)a->groups * (kw_u32)(KW_DATA ? a->c : a->k);
    return pixel < 0 ? -1 : (kw_i64)((kw_u64)(kw_u32)pixel * line);
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    int pixel = kw_border_pixel(a, work, work->row + row);
    *ok &= pixel >= 0;
    return kw_border_pixel_at(a, pixel);
}

/* What lies behind a group's last channel is another group's. */
KW_DEVICE kw_i64 kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
    int channels = KW_DATA ? kw_feed_c(a) : kw_feed_k(a);
    *cols = channels - work->col - col;
    return (kw_i64)work->batch * channels + work->col + col;
}

#endif

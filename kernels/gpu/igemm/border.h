/* border.h: what gpu/pipeline/overlap.h asks of a convolution with strides of 1, forward or backward data, whose pixels come to shared memory once
 * for all taps (KW_BORDER, spec=stride1): a tile's pixels and the border that its taps reach, 64 channels of each, and a tap's rows of the first
 * operand begin at another of them. gpu/pipeline/overlap_border.h multiplies them.
 *
 * Rows are positions of padded images that follow each other: of an axis kw_border_pitch() positions, the first where the first result's first
 * tap reads. So a tap reads a row's position and as many further on for all rows. Behind a line's last pixel stand the zeros before the next
 * line's first, which both share; behind an image's last line, those before the next image. A copy walks over positions like an
 * image's pixels (im2col), zeros beside it. Positions that are of no result are multiplied for nothing and not stored.
 *
 * A step is a tap, tap after tap of a block of channels; with a part of the depth it may begin at any. Backward data reads y with the filter
 * turned round. Groups as in feed.h. */
#ifndef KW_IGEMM_BORDER_H
#define KW_IGEMM_BORDER_H

#define KW_PHASES 0

typedef struct kw_feed {
    int col, tap, block; /* the tile's; the step's tap, as counted above, and block of channels */
} kw_feed;

/* --- of an axis --- */

KW_DEVICE int kw_border_source(const kw_gpu_args *a, int axis) { return (int)(KW_DATA ? a->out[axis] : a->in[axis]); }
KW_DEVICE int kw_border_result(const kw_gpu_args *a, int axis) { return (int)(KW_DATA ? a->in[axis] : a->out[axis]); }
KW_DEVICE int kw_border_reach(const kw_gpu_args *a, int axis) { return (int)((a->filter[axis] - 1) * a->dilation[axis]); }

/* Where the first result's first tap reads. */
KW_DEVICE int kw_border_low(const kw_gpu_args *a, int axis) {
    return KW_DATA ? (int)a->pad[axis] - kw_border_reach(a, axis) : -(int)a->pad[axis];
}

KW_DEVICE int kw_border_pitch(const kw_gpu_args *a, int axis) {
    return KW_BORDER_PITCH(kw_border_source(a, axis), kw_border_result(a, axis), kw_border_low(a, axis), kw_border_reach(a, axis));
}

/* --- what is brought --- */

KW_DEVICE int kw_feed_c(const kw_gpu_args *a) { return (int)a->c; }
KW_DEVICE int kw_feed_k(const kw_gpu_args *a) { return (int)a->k; }
KW_DEVICE int kw_feed_taps(const kw_gpu_args *a) { return (int)(a->filter[0] * a->filter[1] * a->filter[2]); }
KW_DEVICE int kw_feed_blocks(const kw_gpu_args *a) { return (int)KW_CEIL(KW_DATA ? a->k : a->c, KW_TILE_K); }

KW_DEVICE int kw_feed_steps(const kw_gpu_args *a, const kw_work *work) {
    (void)work;
    return kw_feed_taps(a) * kw_feed_blocks(a);
}

KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    f->col = work->col;
    f->block = work->first ? work->first / kw_feed_taps(a) : 0;
    f->tap = work->first - f->block * kw_feed_taps(a);
}

/* Copies of a border, and positions of one. */
KW_DEVICE int kw_border_boxes(const kw_gpu_args *a) { return (int)(a->params.pixels >> KW_BORDER_BITS); }
KW_DEVICE int kw_border_box(const kw_gpu_args *a) { return (int)a->params.pixels & ((1 << KW_BORDER_BITS) - 1); }
KW_DEVICE int kw_border_bytes(const kw_gpu_args *a) { return kw_border_boxes(a) * kw_border_box(a) * KW_SLAB_ROW_BYTES; }

/* The step's block of channels of all positions that the tile's rows and taps reach. */
KW_DEVICE void kw_border_bring(const kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar) {
    int channel = work->batch * (KW_DATA ? kw_feed_k(a) : kw_feed_c(a)) + f->block * KW_TILE_K, box = kw_border_box(a);
    for (int i = 0; i < kw_border_boxes(a); i++) {
        int number = work->row + i * box, p[3] = {0, 0, 0};
        KW_UNROLL
        for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
            int pitch = kw_border_pitch(a, axis), rest = number / pitch;
            p[axis] = number - rest * pitch + kw_border_low(a, axis);
            number = rest;
        }
#if KW_NDIM == 1
        kw_tensor_pixels3(to, &a->map[KW_A], bar, channel, p[2], number, 0);
#elif KW_NDIM == 2
        kw_tensor_pixels4(to, &a->map[KW_A], bar, channel, p[2], p[1], number, 0, 0);
#else
        kw_tensor_pixels5(to, &a->map[KW_A], bar, channel, p[2], p[1], p[0], number, 0, 0, 0);
#endif
        to += box * KW_SLAB_ROW_BYTES;
    }
}

/* A step's second operand. */
KW_DEVICE void kw_feed_bring(const kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar) {
    int k = work->batch * kw_feed_k(a);
#if KW_DATA
    KW_UNROLL
    for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + i * 128, &a->map[KW_B], bar, f->col + i, kw_feed_taps(a) - 1 - f->tap, k + f->block * KW_TILE_K);
#else
    kw_tensor_load3(to, &a->map[KW_B], bar, f->block * KW_TILE_K, f->tap, k + f->col);
#endif
}

KW_DEVICE void kw_feed_next(kw_feed *f, const kw_gpu_args *a) {
    int over = f->tap + 1 == kw_feed_taps(a);
    f->tap = over ? 0 : f->tap + 1;
    f->block += over;
}

/* --- what a block knows: in shared memory, where it takes no registers from the sums --- */

typedef struct kw_facts {
    int pitch[3], result[3];       /* of an axis */
    int taps, blocks, halved;      /* kw_feed_taps, kw_feed_blocks; the block, if any, of which half has no channels */
    int shift[KW_BORDER_TAPS_MAX]; /* of a tap: bytes from a row's own position to the one that it reads */
} kw_facts;

typedef char kw_facts_fit[sizeof(kw_facts) == KW_FACTS_BYTES ? 1 : -1];

/* By the first threads of a block, for all behind the next barrier. */
KW_DEVICE void kw_facts_work_out(const kw_gpu_args *a, kw_facts *facts) {
    int taps = kw_feed_taps(a), tap = kw_thread(), shift = 0, line = 1;
    if (kw_thread() == KW_BORDER_TAPS_MAX) {
        for (int axis = 0; axis < 3; axis++) {
            facts->pitch[axis] = kw_border_pitch(a, axis);
            facts->result[axis] = kw_border_result(a, axis);
        }
        facts->taps = taps;
        facts->blocks = kw_feed_blocks(a);
        facts->halved = (KW_DATA ? a->k : a->c) - (facts->blocks - 1) * KW_TILE_K <= KW_TILE_K / 2 ? facts->blocks - 1 : -1;
    }
    if (kw_thread() >= taps) return;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = (int)a->filter[axis], rest = tap / extent;
        shift += (tap - rest * extent) * (int)a->dilation[axis] * line;
        line *= kw_border_pitch(a, axis);
        tap = rest;
    }
    facts->shift[kw_thread()] = shift * KW_SLAB_ROW_BYTES;
}

KW_DEVICE const kw_facts *kw_facts_of(const kw_work *work) { return (const kw_facts *)work->facts; }

KW_DEVICE void kw_work_phase(const kw_gpu_args *a, kw_work *work) { (void)a, (void)work; }

/* --- where results lie: as gpu/igemm/backward.h has it of strided ones --- */

typedef struct kw_apart_row {
    int image, pos[3];
} kw_apart_row;

KW_DEVICE kw_apart_row kw_apart_row_of(const kw_gpu_args *a, const kw_work *work, int row) {
    kw_apart_row r;
    (void)a;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int pitch = kw_facts_of(work)->pitch[axis], rest = row / pitch;
        r.pos[axis] = row - rest * pitch;
        row = rest;
    }
    r.image = row;
    return r;
}

KW_DEVICE void kw_apart_row_next(kw_apart_row *r, const kw_gpu_args *a, const kw_work *work, int rows) {
    (void)a;
    r->pos[2] += rows;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int pitch = kw_facts_of(work)->pitch[axis];
        while (r->pos[axis] >= pitch) {
            r->pos[axis] -= pitch;
            if (axis > KW_FIRST_AXIS)
                r->pos[axis - 1]++;
            else
                r->image++;
        }
    }
}

/* Below 0: the row is of no pixel. */
KW_DEVICE kw_i64 kw_apart_row_at(const kw_gpu_args *a, const kw_work *work, const kw_apart_row *r) {
    kw_i64 flat = r->image;
    int ok = r->image < a->n;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++) {
        int extent = kw_facts_of(work)->result[axis];
        ok &= r->pos[axis] < extent;
        flat = flat * extent + r->pos[axis];
    }
    return ok ? flat * a->groups * (KW_DATA ? a->c : a->k) : -1;
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    kw_apart_row r = kw_apart_row_of(a, work, work->row + row);
    kw_i64 at = kw_apart_row_at(a, work, &r);
    *ok &= at >= 0;
    return at;
}

/* What lies behind a group's last channel is another group's. */
KW_DEVICE kw_i64 kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
    int channels = KW_DATA ? kw_feed_c(a) : kw_feed_k(a);
    *cols = channels - work->col - col;
    return (kw_i64)work->batch * channels + work->col + col;
}

#endif

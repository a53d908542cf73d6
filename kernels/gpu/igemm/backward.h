/* backward.h: how gpu/igemm/feed.h goes over the image in backward data.
 *
 * KW_PHASES, channels in runs of 16 bytes: rows of a tile are pixels of x that lie a stride apart, of one residue (phase) along each axis, so
 * that all of them meet the same taps; their positions of y are neighbours, counted from the lowest that any phase meets. Tiles of rows of
 * all phases follow each other, and each phase has as many as the largest. Pixels that no tap reaches have no steps and are zeros.
 *
 * KW_STORES_CELLS, one tap and no padding: a row is a pixel of y, which are rows of a matrix then (kw_feed_rows), and its results are those
 * of the first pixel of x of as many as the strides make a cell of. The others are zeros, stored beside them: as tiles of their phases they
 * would pass shared memory and its barriers like results, three of four with strides of 2.
 *
 * KW_SPOTS, of any count of channels: a row is a spot of neighbouring pixels, a whole number of strides along each axis, and its columns are
 * their channels one after the other, so that few channels fill a tile and y is read once for all of them. Steps are the positions of y that
 * any of a spot's pixels meets; the second operand, (position, k) by column, is made by the first stage, zeros where a pixel has no tap. An
 * infinity or NaN of y times such a zero is NaN: what comes out so is added up anew, tap by tap.
 *
 * What takes divisions is worked out once a block and stands in shared memory (kw_facts). */
#ifndef KW_BACKWARD_H
#define KW_BACKWARD_H

#define KW_PHASES (!KW_SPOTS)
#define KW_STORES_CELLS (KW_PHASES && KW_CELLS_STORED)

/* --- of an axis --- */

/* Pixels of x from row to row. */
KW_DEVICE int kw_feed_each(const kw_gpu_args *a, int axis) {
#if KW_SPOTS
    return (int)(a->params.pixels >> (2 - axis) * KW_SPOT_BITS & ((1 << KW_SPOT_BITS) - 1));
#else
    return (int)a->stride[axis];
#endif
}

/* The lowest position of y that pixels meet. What these divide by is mostly 1: see kw_over(). */
KW_DEVICE int kw_feed_low(const kw_gpu_args *a, int axis) {
    int pad = (int)a->pad[axis], reach = (int)((a->filter[axis] - 1) * a->dilation[axis]), stride = (int)a->stride[axis];
    return stride == 1 ? pad - reach : KW_MEETS_FROM(pad, reach, stride);
}

/* Positions of y from one number of them to the next: pixels of a phase, or single ones, meet only those of taps. step: filter taps from
 * the one to the other. */
KW_DEVICE int kw_feed_unit(const kw_gpu_args *a, int axis, int *step) {
    int dilation = (int)a->dilation[axis], common = (int)a->stride[axis], rest = dilation;
    if (KW_SPOTS) return kw_feed_each(a, axis) == 1 ? dilation : 1;
    *step = 1;
    if (common == 1) return dilation;
    while (rest) {
        int next = common % rest;
        common = rest;
        rest = next;
    }
    *step = (int)a->stride[axis] / common;
    return dilation / common;
}

KW_DEVICE int kw_feed_extent(const kw_gpu_args *a, int axis) {
    return kw_over((int)a->in[axis] + kw_feed_each(a, axis) - 1, kw_feed_each(a, axis));
}

/* How many positions pixels of a phase meet, the last tap of those that serve it, and the offset of its position, the first. */
KW_DEVICE int kw_phase_meets(const kw_gpu_args *a, int axis, int phase, int *first, int *last_tap) {
    int stride = (int)a->stride[axis], tap = (int)a->filter[axis] - 1, step;
    int dilation = (int)a->dilation[axis], at = phase + (int)a->pad[axis] - tap * dilation;
    if (stride == 1) {
        *last_tap = tap;
        return tap + 1;
    }
    kw_feed_unit(a, axis, &step);
    for (int i = 1; i < step && at % stride != 0; i++) {
        at += dilation;
        tap--;
    }
    if (tap < 0 || at % stride != 0) return 0;
    *first = at / stride - kw_feed_low(a, axis);
    *last_tap = tap;
    return tap / step + 1;
}

/* The same of a spot, whose positions follow each other from the lowest on: KW_MEETS_TO(), which the host counts by, and one. */
KW_DEVICE int kw_spot_meets(const kw_gpu_args *a, int axis) {
    int each = kw_feed_each(a, axis);
    return each == 1 ? (int)a->filter[axis] : kw_over(each - 1 + (int)a->pad[axis], (int)a->stride[axis]) - kw_feed_low(a, axis) + 1;
}

/* --- what a block knows --- */

typedef struct kw_phase {
    int steps;                           /* of a tile */
    int at[3];                           /* its first pixel */
    int count[3], first[3], last_tap[3]; /* kw_phase_meets */
} kw_phase;

typedef struct kw_facts {
    int extent[3], pixels; /* rows along each axis, and of all images */
    int unit[3], step[3];  /* kw_feed_unit */
    kw_phase phase[KW_PHASES_MAX];
} kw_facts;

typedef char kw_facts_fit[sizeof(kw_facts) == KW_FACTS_BYTES ? 1 : -1];

KW_DEVICE int kw_feed_phases(const kw_gpu_args *a) {
    int phases = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3 && KW_PHASES; axis++)
        phases *= kw_walks_backward(a, axis);
    return phases;
}

KW_DEVICE void kw_phase_work_out(const kw_gpu_args *a, int number, kw_phase *phase) {
    phase->steps = (int)KW_CEIL(a->k, KW_TILE_K);
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int phases = KW_PHASES ? kw_walks_backward(a, axis) : 1, first = 0, last_tap = 0, rest = kw_over(number, phases);
        phase->at[axis] = number - rest * phases;
        phase->count[axis] = KW_SPOTS ? kw_spot_meets(a, axis) : kw_phase_meets(a, axis, phase->at[axis], &first, &last_tap);
        phase->first[axis] = first;
        phase->last_tap[axis] = last_tap;
        phase->steps *= phase->count[axis];
        number = rest;
    }
}

/* By the first threads of a block, for all behind the next barrier. */
KW_DEVICE void kw_facts_work_out(const kw_gpu_args *a, kw_facts *facts) {
    int number = kw_thread();
    if (number < kw_feed_phases(a)) kw_phase_work_out(a, number, &facts->phase[number]);
    if (number != KW_PHASES_MAX) return;
    facts->pixels = (int)a->n;
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++) {
        int step = 0;
        facts->extent[axis] = kw_feed_extent(a, axis);
        facts->pixels *= facts->extent[axis];
        facts->unit[axis] = kw_feed_unit(a, axis, &step);
        facts->step[axis] = step;
    }
}

KW_DEVICE const kw_facts *kw_facts_of(const kw_work *work) { return (const kw_facts *)work->facts; }

KW_DEVICE int kw_feed_strides(const kw_gpu_args *a) {
    int strides = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        strides *= (int)a->stride[axis];
    return strides;
}

/* Whether a tile's results are followed by the rest of their cells. */
KW_DEVICE int kw_feed_cells(const kw_gpu_args *a) { return KW_STORES_CELLS && a->params.pixels == 1 && kw_feed_strides(a) > 1; }

/* Tiles of the same rows of all phases follow each other, beginning with another phase each time, so that blocks have some of each: leaves
 * the row in the phase. */
KW_DEVICE void kw_work_phase(const kw_gpu_args *a, kw_work *work) {
    work->phase = 0;
    if (kw_feed_strides(a) == 1 || kw_feed_cells(a)) return;
    int phases = kw_feed_phases(a), number = work->row / KW_TILE_M, tile = number / phases;
    work->phase = (number + tile) % phases;
    work->row = tile * KW_TILE_M;
}

#if KW_PHASES

/* Where a row of a phase lies in x: number and its position along each axis. */
typedef struct kw_apart_row {
    int image, pos[3];
} kw_apart_row;

KW_DEVICE kw_apart_row kw_apart_row_of(const kw_gpu_args *a, const kw_work *work, int row) {
    kw_apart_row r;
    (void)a;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = kw_facts_of(work)->extent[axis], rest = row / extent;
        r.pos[axis] = row - rest * extent;
        row = rest;
    }
    r.image = row;
    return r;
}

/* Some rows on. */
KW_DEVICE void kw_apart_row_next(kw_apart_row *r, const kw_gpu_args *a, const kw_work *work, int rows) {
    (void)a;
    r->pos[2] += rows;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = kw_facts_of(work)->extent[axis];
        while (r->pos[axis] >= extent) {
            r->pos[axis] -= extent;
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
        int pos = r->pos[axis] * (int)a->stride[axis] + kw_facts_of(work)->phase[work->phase].at[axis];
        ok &= pos < (int)a->in[axis];
        flat = flat * a->in[axis] + pos;
    }
    return ok ? flat * a->groups * a->c : -1;
}

#if KW_STORES_CELLS
/* Which phases have a pixel in the row's cell: a bit each. */
KW_DEVICE int kw_cell_inside(const kw_gpu_args *a, const kw_work *work, const kw_apart_row *r) {
    int inside = 0, phases = kw_feed_phases(a);
    KW_ROLLED
    for (int phase = 0; phase < phases; phase++) {
        int ok = r->image < a->n;
        KW_UNROLL
        for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
            ok &= r->pos[axis] * (int)a->stride[axis] + kw_facts_of(work)->phase[phase].at[axis] < (int)a->in[axis];
        inside |= ok << phase;
    }
    return inside;
}

/* From the first pixel of a cell to that of a phase. */
KW_DEVICE kw_i64 kw_cell_at(const kw_gpu_args *a, const kw_work *work, int phase) {
    kw_i64 flat = 0;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        flat = flat * a->in[axis] + kw_facts_of(work)->phase[phase].at[axis];
    return flat * a->groups * a->c;
}
#endif

#else

/* --- spots --- */

/* Of a line of a spot's pixels; and of all of them. */
KW_DEVICE int kw_spots_line(const kw_gpu_args *a) { return kw_feed_each(a, 2) * (int)a->c; }

KW_DEVICE int kw_spots_cols(const kw_gpu_args *a) {
    int pixels = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        pixels *= kw_feed_each(a, axis);
    return pixels * (int)a->c;
}

KW_DEVICE int kw_spots_positions(const kw_gpu_args *a) {
    int positions = 1;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
        positions *= kw_spot_meets(a, axis);
    return positions;
}

/* Eight depths of a column at a position, numbered columns first. Returns their place: column, position, depth. */
KW_DEVICE int kw_spots_piece(const kw_gpu_args *a, int number, kw_u32 words[4]) {
    int cols = kw_spots_cols(a), positions = kw_spots_positions(a), each = KW_CEIL((int)a->k, KW_COPY_RUN);
    int rest = number / cols, col = number - rest * cols, run = kw_over(rest, positions), position = rest - run * positions;
    int pixel = col / (int)a->c, channel = col - pixel * (int)a->c, at = position, ok = 1, flat = 0, scale = 1;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int of = kw_feed_each(a, axis), dilation = (int)a->dilation[axis], stride = (int)a->stride[axis], step,
            count = kw_spot_meets(a, axis);
        int above = kw_over(at, count), outer = kw_over(pixel, of);
        int meets = (kw_feed_low(a, axis) + (at - above * count) * kw_feed_unit(a, axis, &step)) * stride;
        int far = pixel - outer * of + (int)a->pad[axis] - meets, tap = kw_over(far, dilation); /* from the first tap */
        ok &= far >= 0 && tap * dilation == far && tap < (int)a->filter[axis];
        flat += tap * scale;
        scale *= (int)a->filter[axis];
        pixel = outer;
        at = above;
    }
    const char *from = a->w + ((kw_i64)run * KW_COPY_RUN * scale + flat) * a->c * KW_BYTES + channel * KW_BYTES;
    KW_UNROLL
    for (int i = 0; i < KW_COPY_RUN; i++) {
        kw_u32 element = 0;
        if (ok && run * KW_COPY_RUN + i < (int)a->k) kw_load_run(&element, from + (kw_i64)i * scale * a->c * KW_BYTES, KW_BYTES);
        words[i / 2] = i % 2 ? words[i / 2] | element << 16 : element;
    }
    return (col * positions + position) * each + run;
}

/* A row of a spot, as its columns are walked through: where a column lies, and what of the spot is inside the image. */
typedef struct kw_spot_walk {
    kw_i64 at;           /* of the column in x */
    int run, of_run;     /* place in a line of the spot's pixels and channels, and how many there are */
    int left;            /* of_run as far as the image reaches */
    int pos[2], room[2]; /* of the line along the outer axes in the spot, and how far the image reaches */
} kw_spot_walk;

KW_DEVICE void kw_spot_walk_start(kw_spot_walk *s, const kw_gpu_args *a, int row, int col) {
    int first[3] = {0, 0, 0};
    s->of_run = kw_spots_line(a);
    int line = col / s->of_run, lines = KW_NDIM > 1 ? kw_feed_each(a, 1) : 1;
    s->run = col - line * s->of_run;
    s->pos[0] = KW_NDIM > 2 ? kw_over(line, lines) : 0;
    s->pos[1] = line - s->pos[0] * lines;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = kw_feed_extent(a, axis), further = row / extent;
        first[axis] = (row - further * extent) * kw_feed_each(a, axis);
        row = further;
    }
    s->room[0] = (int)a->in[0] - first[0];
    s->room[1] = (int)a->in[1] - first[1];
    s->left = row < a->n ? kw_min(((int)a->in[2] - first[2]) * (int)a->c, s->of_run) : 0;
    s->at = (((row * a->in[0] + first[0] + s->pos[0]) * a->in[1] + first[1] + s->pos[1]) * a->in[2] + first[2]) * a->c + s->run;
}

KW_DEVICE int kw_spot_walk_ok(const kw_spot_walk *s) { return s->run < s->left && s->pos[1] < s->room[1] && s->pos[0] < s->room[0]; }

/* So many columns on, which divide a line of the spot. */
KW_DEVICE void kw_spot_walk_next(kw_spot_walk *s, const kw_gpu_args *a, int cols) {
    s->run += cols;
    s->at += cols;
    if (s->run < s->of_run) return;
    s->run = 0;
    s->at += a->in[2] * a->c - s->of_run;
    if (KW_NDIM == 1 || ++s->pos[1] < kw_feed_each(a, 1)) return;
    s->pos[1] = 0;
    s->pos[0]++;
    s->at += (a->in[1] - kw_feed_each(a, 1)) * a->in[2] * a->c;
}

/* Where a column of a spot lies in x; below 0: beside the image. */
KW_DEVICE kw_i64 kw_spots_place(const kw_gpu_args *a, int row, int col) {
    kw_spot_walk s;
    kw_spot_walk_start(&s, a, row, col);
    return kw_spot_walk_ok(&s) ? s.at : -1;
}

/* An element of x, by its own taps alone. */
KW_DEVICE float kw_spot_sum(const kw_gpu_args *a, kw_i64 at) {
    kw_i64 rest = at / a->c, channel = at - rest * a->c, pos[3];
    float sum = 0;
    for (int axis = 2; axis >= 0; axis--) {
        pos[axis] = rest % a->in[axis];
        rest /= a->in[axis];
    }
    kw_i64 taps = a->filter[0] * a->filter[1] * a->filter[2];
    for (kw_i64 tap = 0; tap < taps; tap++) {
        const kw_i64 of[3] = {tap / a->filter[2] / a->filter[1], tap / a->filter[2] % a->filter[1], tap % a->filter[2]};
        kw_i64 pixel = rest;
        int ok = 1;
        for (int axis = 0; axis < 3; axis++) {
            kw_i64 far = pos[axis] + a->pad[axis] - of[axis] * a->dilation[axis];
            ok &= far >= 0 && far % a->stride[axis] == 0 && far / a->stride[axis] < a->out[axis];
            pixel = pixel * a->out[axis] + far / a->stride[axis];
        }
        for (kw_i64 k = 0; ok && k < a->k; k++)
            sum += kw_element(a->y, pixel * a->k + k) * kw_element(a->w, (k * taps + tap) * a->c + channel);
    }
    return sum;
}

/* Elements that are stored together: those that are NaN anew. */
KW_DEVICE void kw_spot_mend(const kw_gpu_args *a, kw_i64 at, kw_u32 *bits, int count) {
    const kw_u32 infinity = KW_OUT == KW_BF16 ? 0x7f80 : 0x7c00;
    if ((*bits & 0x7fff) <= infinity && (*bits >> 16 & 0x7fff) <= infinity) return;
    for (int i = 0; i < count; i++) {
        if ((*bits >> 16 * i & 0x7fff) <= infinity) continue;
        float sum = kw_spot_sum(a, at + i);
        *bits = (*bits & ~(0xffffu << 16 * i)) | (KW_OUT == KW_BF16 ? kw_to_bf16(sum) : kw_to_fp16(sum)) << 16 * i;
    }
}
#endif

#endif

/* reference.c: one thread for each element of the result, in any layout and type, for the problems that no faster family serves: families
 * conv.reference_gpu and gemm.reference_gpu. Sums are taken in the order of the reference's loops. A block has 256 threads, which compute
 * elements that follow each other in memory; a launch that has fewer threads than the result has elements goes over it more than once. */
#include "gpu/reference/args.h"
#define KW_KERNEL_PARAMS kw_reference_gpu_params
#include "kw_config.h"
#include "gpu/lib/access.h"

/* x's zero point. */
KW_DEVICE int reference_zero(const kw_gpu_args *a) {
#if KW_X_ZERO
    return KW_X_ZERO_OF(a);
#else
    (void)a;
    return 0;
#endif
}

/* Zero points: of x, and of w for a channel. */
typedef struct reference_zeros {
    int x, w;
} reference_zeros;

KW_DEVICE reference_zeros reference_zeros_of(const kw_gpu_args *a, kw_i64 channel) {
    reference_zeros zero;
    zero.x = reference_zero(a);
    zero.w = 0;
#if KW_W_ZERO
    zero.w = kw_w_zero(a, channel);
#else
    (void)channel;
#endif
    return zero;
}

/* Where there are zero points, a is x and b is w. */
KW_DEVICE kw_sum reference_product(const char *a, kw_i64 i, const char *b, kw_i64 j, reference_zeros zero) {
#if KW_X_UNSIGNED
    return ((int)((const kw_u8 *)a)[i] - zero.x) * ((int)((const kw_i8 *)b)[j] - zero.w);
#elif KW_IN == KW_INT8
    return ((int)((const kw_i8 *)a)[i] - zero.x) * ((int)((const kw_i8 *)b)[j] - zero.w);
#else
    (void)zero;
    return kw_element(a, i) * kw_element(b, j);
#endif
}

#if KW_OP == KW_OP_GEMM
#if KW_ROW_GROUPS
/* The group of an element; -1: it is behind the last one. */
KW_DEVICE int reference_group(const kw_gpu_args *a, kw_i64 index) {
    kw_group_chunk own; /* of one row */
    kw_group_place place = {0, 0, 0};
    return kw_group_find(&own, &place, a->ends, (int)a->groups, (int)a->gm, 1, (int)(index / a->gn)) ? own.group : -1;
}
#endif

KW_DEVICE kw_sum reference_element(const kw_gpu_args *a, kw_i64 index) {
    kw_i64 col = index % a->gn, row = index / a->gn % a->gm, batch = index / a->gn / a->gm, weights = batch;
#if KW_ROW_GROUPS
    weights = reference_group(a, index);
    if (weights < 0) return 0;
#endif
    kw_i64 layout = a->params.layout;
    int a_by_rows = layout == 0 || layout == 1, b_by_rows = layout == 1 || layout == 2;
    kw_i64 lda = a->line_step[0], ldb = a->line_step[1], a_step = a_by_rows ? 1 : lda, b_step = b_by_rows ? ldb : 1;
    kw_i64 i = batch * a->batch_step[0] + (a_by_rows ? row * lda : row), j = weights * a->batch_step[1] + (b_by_rows ? col : col * ldb);
    kw_sum sum = 0;
    reference_zeros zero = reference_zeros_of(a, (KW_ROW_GROUPS ? weights * a->gn : 0) + col);
    for (kw_i64 k = 0; k < a->gk; k++) {
        sum += reference_product(a->x, i, a->w, j, zero);
        i += a_step;
        j += b_step;
    }
    return sum;
}

/* Where an element of the result lies in memory, whose lines may have gaps between them. */
KW_DEVICE kw_i64 reference_offset(const kw_gpu_args *a, kw_i64 index) {
    return index / a->gn / a->gm * a->batch_step[2] + index / a->gn % a->gm * a->line_step[2] + index % a->gn;
}
#else
/* A tensor's element: pixel, group, channel of c channels a group; channels last or first. */
typedef struct reference_place {
    kw_i64 n, at[3], group, channel;
} reference_place;

/* Inner loops go by steps from channel to channel, and from column to column: worked out anew for every product, an
 * index takes more registers than the compiler is ready to spend on it. */
KW_DEVICE kw_i64 reference_index(const kw_i64 step[5], kw_i64 channels, reference_place p) {
    return p.n * step[0] + p.at[0] * step[1] + p.at[1] * step[2] + p.at[2] * step[3] + (p.group * channels + p.channel) * step[4];
}

KW_DEVICE reference_place reference_place_of(const kw_gpu_args *a, const kw_i64 extent[3], kw_i64 channels, kw_i64 index) {
    reference_place p;
    if (a->params.layout) {
        for (int axis = 2; axis >= 0; axis--) {
            p.at[axis] = index % extent[axis];
            index /= extent[axis];
        }
        p.channel = index % channels;
        index /= channels;
        p.group = index % a->groups;
        p.n = index / a->groups;
        return p;
    }
    p.channel = index % channels;
    index /= channels;
    p.group = index % a->groups;
    index /= a->groups;
    for (int axis = 2; axis >= 0; axis--) {
        p.at[axis] = index % extent[axis];
        index /= extent[axis];
    }
    p.n = index;
    return p;
}

#if KW_OP == KW_OP_CONV_BWD_WEIGHT
/* Elements of a gradient are counted as the layout has them, wherever they lie. */
typedef struct reference_filter_place {
    kw_i64 k, c, tap[3]; /* k: of all groups */
} reference_filter_place;

KW_DEVICE reference_filter_place reference_filter_place_of(const kw_gpu_args *a, kw_i64 index) {
    reference_filter_place p;
    if (!a->params.layout) {
        p.c = index % a->c;
        index /= a->c;
    }
    for (int axis = 2; axis >= 0; axis--) {
        p.tap[axis] = index % a->filter[axis];
        index /= a->filter[axis];
    }
    if (a->params.layout) {
        p.c = index % a->c;
        index /= a->c;
    }
    p.k = index;
    return p;
}
#endif

KW_DEVICE kw_i64 reference_tap(const kw_gpu_args *a, const kw_i64 tap[3]) {
    return (tap[0] * a->filter[1] + tap[1]) * a->filter[2] + tap[2];
}

/* Where an element of the result lies in memory, which may be part of a larger tensor. */
KW_DEVICE kw_i64 reference_offset(const kw_gpu_args *a, kw_i64 index) {
#if KW_OP == KW_OP_CONV_FWD
    return reference_index(a->y_step, a->k, reference_place_of(a, a->out, a->k, index));
#elif KW_OP == KW_OP_CONV_BWD_DATA
    return reference_index(a->x_step, a->c, reference_place_of(a, a->in, a->c, index));
#else
    const kw_i64 *step = a->params.w_step;
    reference_filter_place w = reference_filter_place_of(a, index);
    return w.k * step[0] + w.c * step[1] + reference_tap(a, w.tap) * step[2];
#endif
}

/* The weight of the first tap; that of a later one is as many times w_step[2] further. */
KW_DEVICE kw_i64 reference_weight(const kw_gpu_args *a, kw_i64 group, kw_i64 k, kw_i64 c) {
    return (group * a->k + k) * a->params.w_step[0] + c * a->params.w_step[1];
}

/* sum plus count products of elements that lie the steps apart. */
KW_DEVICE kw_sum reference_run(kw_sum sum, const char *a, kw_i64 i, kw_i64 i_step, const char *b, kw_i64 j, kw_i64 j_step, kw_i64 count,
                               reference_zeros zero) {
    for (; count > 0; count--) {
        sum += reference_product(a, i, b, j, zero);
        i += i_step;
        j += j_step;
    }
    return sum;
}

/* Where a tap of an output pixel reads the input, along an axis; false beside it. */
KW_DEVICE int reference_source(const kw_gpu_args *a, int axis, kw_i64 out, kw_i64 tap, kw_i64 *in) {
    *in = out * a->stride[axis] - a->pad[axis] + tap * a->dilation[axis];
    return *in >= 0 && *in < a->in[axis];
}

#if KW_OP == KW_OP_CONV_FWD
KW_DEVICE kw_sum reference_element(const kw_gpu_args *a, kw_i64 index) {
    reference_place y = reference_place_of(a, a->out, a->k, index), x = y;
    kw_i64 tap[3], x_step = a->x_step[4], w_step = a->params.w_step[1];
    kw_i64 w = reference_weight(a, y.group, y.channel, 0);
    reference_zeros zero = reference_zeros_of(a, y.group * a->k + y.channel);
    kw_sum sum = 0;
    x.channel = 0;
    for (tap[0] = 0; tap[0] < a->filter[0]; tap[0]++) {
        if (!reference_source(a, 0, y.at[0], tap[0], &x.at[0])) continue;
        for (tap[1] = 0; tap[1] < a->filter[1]; tap[1]++) {
            if (!reference_source(a, 1, y.at[1], tap[1], &x.at[1])) continue;
            for (tap[2] = 0; tap[2] < a->filter[2]; tap[2]++) {
                if (!reference_source(a, 2, y.at[2], tap[2], &x.at[2])) continue;
                sum = reference_run(sum, a->x, reference_index(a->x_step, a->c, x), x_step, a->w,
                                    w + reference_tap(a, tap) * a->params.w_step[2], w_step, a->c, zero);
            }
        }
    }
    return sum;
}
#elif KW_OP == KW_OP_CONV_BWD_DATA
/* The output position whose tap reads this input position, along an axis; false when there is none. */
KW_DEVICE int reference_reader(const kw_gpu_args *a, int axis, kw_i64 in, kw_i64 tap, kw_i64 *out) {
    kw_i64 at = in + a->pad[axis] - tap * a->dilation[axis];
    *out = at / a->stride[axis];
    return at >= 0 && *out * a->stride[axis] == at && *out < a->out[axis];
}

KW_DEVICE kw_sum reference_element(const kw_gpu_args *a, kw_i64 index) {
    reference_place x = reference_place_of(a, a->in, a->c, index), y = x;
    kw_i64 tap[3], y_step = a->y_step[4], w_step = a->params.w_step[0];
    kw_i64 w = reference_weight(a, x.group, 0, x.channel);
    reference_zeros zero = {0, 0};
    kw_sum sum = 0;
    y.channel = 0;
    for (tap[0] = 0; tap[0] < a->filter[0]; tap[0]++) {
        if (!reference_reader(a, 0, x.at[0], tap[0], &y.at[0])) continue;
        for (tap[1] = 0; tap[1] < a->filter[1]; tap[1]++) {
            if (!reference_reader(a, 1, x.at[1], tap[1], &y.at[1])) continue;
            for (tap[2] = 0; tap[2] < a->filter[2]; tap[2]++) {
                if (!reference_reader(a, 2, x.at[2], tap[2], &y.at[2])) continue;
                sum = reference_run(sum, a->y, reference_index(a->y_step, a->k, y), y_step, a->w,
                                    w + reference_tap(a, tap) * a->params.w_step[2], w_step, a->k, zero);
            }
        }
    }
    return sum;
}
#else
/* The columns begin..end-1 of a row of y whose tap reads a column of x. */
KW_DEVICE void reference_columns(const kw_gpu_args *a, kw_i64 tap, kw_i64 *begin, kw_i64 *end) {
    kw_i64 before = a->pad[2] - tap * a->dilation[2], last = a->in[2] - 1 + before;
    *begin = before > 0 ? (before + a->stride[2] - 1) / a->stride[2] : 0;
    *end = last < 0 ? 0 : last / a->stride[2] + 1;
    *end = *end < a->out[2] ? *end : a->out[2];
}

KW_DEVICE kw_sum reference_element(const kw_gpu_args *a, kw_i64 index) {
    reference_place x, y;
    reference_filter_place w = reference_filter_place_of(a, index);
    const kw_i64 *tap = w.tap;
    reference_zeros zero = {0, 0};
    kw_i64 end;
    kw_sum sum = 0;
    x.channel = w.c;
    y.channel = w.k % a->k;
    y.group = x.group = w.k / a->k;
    reference_columns(a, tap[2], &y.at[2], &end);
    reference_source(a, 2, y.at[2], tap[2], &x.at[2]);
    kw_i64 y_step = a->y_step[3], x_step = a->x_step[3] * a->stride[2];
    for (x.n = y.n = 0; y.n < a->n; x.n = ++y.n)
        for (y.at[0] = 0; y.at[0] < a->out[0]; y.at[0]++) {
            if (!reference_source(a, 0, y.at[0], tap[0], &x.at[0])) continue;
            for (y.at[1] = 0; y.at[1] < a->out[1]; y.at[1]++) {
                if (!reference_source(a, 1, y.at[1], tap[1], &x.at[1])) continue;
                sum = reference_run(sum, a->y, reference_index(a->y_step, a->k, y), y_step, a->x, reference_index(a->x_step, a->c, x),
                                    x_step, end - y.at[2], zero);
            }
        }
    return sum;
}
#endif
#endif

#if KW_EPILOGUE
KW_DEVICE kw_place reference_result_place(const kw_gpu_args *a, kw_i64 index) {
    kw_place p = kw_place_of(a, index);
#if KW_ROW_GROUPS
    p.channel += reference_group(a, index) * a->gn;
#endif
#if KW_OP == KW_OP_CONV_FWD || KW_OP == KW_OP_CONV_BWD_DATA
    if (a->params.layout) {
        const kw_i64 *extent = KW_OP == KW_OP_CONV_FWD ? a->out : a->in;
        kw_i64 pixels = extent[0] * extent[1] * extent[2], channels = a->groups * (KW_OP == KW_OP_CONV_FWD ? a->k : a->c);
        p.channel = index / pixels % channels;
        p.row = index / pixels / channels * pixels + index % pixels;
    }
#endif
    p.element = reference_offset(a, index);
    return p;
}
#endif

KW_DEVICE void reference_store(const kw_gpu_args *a, char *result, kw_i64 index, kw_sum sum) {
#if KW_ROW_GROUPS
    if (reference_group(a, index) < 0) return;
#endif
#if KW_EPILOGUE
    kw_place place = reference_result_place(a, index);
    kw_finish_run(result + place.element * KW_OUT_BYTES, a, place, &sum, 1);
#else
    kw_store(result, reference_offset(a, index), sum);
#endif
}

KW_KERNEL(kw_stage0, KW_REFERENCE_THREADS) {
    kw_begin();
    for (kw_i64 index = kw_block() * KW_REFERENCE_THREADS + kw_thread(); index < args.params.elements;
         index += kw_blocks() * KW_REFERENCE_THREADS) {
        reference_store(&args,
                        KW_OP == KW_OP_CONV_BWD_DATA     ? args.x
                        : KW_OP == KW_OP_CONV_BWD_WEIGHT ? args.w
                                                         : args.y,
                        index, reference_element(&args, index));
    }
}

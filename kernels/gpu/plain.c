/* plain.c: one thread for each element of the result, in any layout and type, for the problems that no faster family serves: families
 * conv.plain and gemm.plain. Sums are taken in the order of the reference's loops. A block has 256 threads, which compute elements
 * that follow each other in memory; a launch that has fewer threads than the result has elements goes over it more than once. */

enum { PLAIN_THREADS = 256 };

KW_DEVICE kw_sum plain_product(const char *a, kw_i64 i, const char *b, kw_i64 j) {
#if KW_IN == KW_INT8
    return (int)((const kw_i8 *)a)[i] * (int)((const kw_i8 *)b)[j];
#else
    return kw_element(a, i) * kw_element(b, j);
#endif
}

#if KW_OP == KW_OP_GEMM
/* layout: 0 rcr, 1 rrr, 2 crr, 3 ccr */
KW_DEVICE kw_sum plain_element(const kw_gpu_args *a, kw_i64 index) {
    kw_i64 col = index % a->gn, row = index / a->gn % a->gm, batch = index / a->gn / a->gm;
    kw_i64 layout = a->value[0];
    int a_by_rows = layout == 0 || layout == 1, b_by_rows = layout == 1 || layout == 2;
    kw_i64 a_step = a_by_rows ? 1 : a->gm, b_step = b_by_rows ? a->gn : 1;
    kw_i64 i = batch * a->gm * a->gk + (a_by_rows ? row * a->gk : row), j = batch * a->gk * a->gn + (b_by_rows ? col : col * a->gk);
    kw_sum sum = 0;
    for (kw_i64 k = 0; k < a->gk; k++) {
        sum += plain_product(a->x, i, a->w, j);
        i += a_step;
        j += b_step;
    }
    return sum;
}
#else
/* A tensor's element: pixel, group, channel of c channels a group; channels last or first. */
typedef struct plain_place {
    kw_i64 n, at[3], group, channel;
} plain_place;

KW_DEVICE kw_i64 plain_index(const kw_gpu_args *a, const kw_i64 extent[3], kw_i64 channels, plain_place p) {
    if (a->value[0]) { /* channels first */
        kw_i64 plane = (p.n * a->groups + p.group) * channels + p.channel;
        return ((plane * extent[0] + p.at[0]) * extent[1] + p.at[1]) * extent[2] + p.at[2];
    }
    kw_i64 pixel = ((p.n * extent[0] + p.at[0]) * extent[1] + p.at[1]) * extent[2] + p.at[2];
    return (pixel * a->groups + p.group) * channels + p.channel;
}

KW_DEVICE plain_place plain_place_of(const kw_gpu_args *a, const kw_i64 extent[3], kw_i64 channels, kw_i64 index) {
    plain_place p;
    if (a->value[0]) {
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

KW_DEVICE kw_i64 plain_weight(const kw_gpu_args *a, kw_i64 group, kw_i64 k, kw_i64 c, const kw_i64 tap[3]) {
    kw_i64 place = group * a->k + k;
    if (a->value[0]) {
        return (((place * a->c + c) * a->filter[0] + tap[0]) * a->filter[1] + tap[1]) * a->filter[2] + tap[2];
    }
    return (((place * a->filter[0] + tap[0]) * a->filter[1] + tap[1]) * a->filter[2] + tap[2]) * a->c + c;
}

/* Where a tap of an output pixel reads the input; false beside it. */
KW_DEVICE int plain_source(const kw_gpu_args *a, const kw_i64 out[3], const kw_i64 tap[3], kw_i64 in[3]) {
    int inside = 1;
    for (int axis = 0; axis < 3; axis++) {
        in[axis] = out[axis] * a->stride[axis] - a->pad[axis] + tap[axis] * a->dilation[axis];
        inside &= in[axis] >= 0 && in[axis] < a->in[axis];
    }
    return inside;
}

#if KW_OP == KW_OP_CONV_FWD
KW_DEVICE kw_sum plain_element(const kw_gpu_args *a, kw_i64 index) {
    plain_place y = plain_place_of(a, a->out, a->k, index), x = y;
    kw_i64 tap[3];
    kw_sum sum = 0;
    for (tap[0] = 0; tap[0] < a->filter[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < a->filter[1]; tap[1]++)
            for (tap[2] = 0; tap[2] < a->filter[2]; tap[2]++) {
                if (!plain_source(a, y.at, tap, x.at)) continue;
                for (x.channel = 0; x.channel < a->c; x.channel++)
                    sum += plain_product(a->x, plain_index(a, a->in, a->c, x), a->w, plain_weight(a, y.group, y.channel, x.channel, tap));
            }
    return sum;
}
#elif KW_OP == KW_OP_CONV_BWD_DATA
/* The output pixel whose tap reads this input pixel; false when there is none. */
KW_DEVICE int plain_reader(const kw_gpu_args *a, const kw_i64 in[3], const kw_i64 tap[3], kw_i64 out[3]) {
    int there = 1;
    for (int axis = 0; axis < 3; axis++) {
        kw_i64 at = in[axis] + a->pad[axis] - tap[axis] * a->dilation[axis];
        out[axis] = at / a->stride[axis];
        there &= at >= 0 && at % a->stride[axis] == 0 && out[axis] < a->out[axis];
    }
    return there;
}

KW_DEVICE kw_sum plain_element(const kw_gpu_args *a, kw_i64 index) {
    plain_place x = plain_place_of(a, a->in, a->c, index), y = x;
    kw_i64 tap[3];
    kw_sum sum = 0;
    for (tap[0] = 0; tap[0] < a->filter[0]; tap[0]++)
        for (tap[1] = 0; tap[1] < a->filter[1]; tap[1]++)
            for (tap[2] = 0; tap[2] < a->filter[2]; tap[2]++) {
                if (!plain_reader(a, x.at, tap, y.at)) continue;
                for (y.channel = 0; y.channel < a->k; y.channel++)
                    sum += plain_product(a->y, plain_index(a, a->out, a->k, y), a->w, plain_weight(a, x.group, y.channel, x.channel, tap));
            }
    return sum;
}
#else
KW_DEVICE kw_sum plain_element(const kw_gpu_args *a, kw_i64 index) {
    plain_place x, y;
    kw_i64 tap[3];
    kw_sum sum = 0;
    if (!a->value[0]) {
        x.channel = index % a->c;
        index /= a->c;
    }
    for (int axis = 2; axis >= 0; axis--) {
        tap[axis] = index % a->filter[axis];
        index /= a->filter[axis];
    }
    if (a->value[0]) {
        x.channel = index % a->c;
        index /= a->c;
    }
    y.channel = index % a->k;
    y.group = x.group = index / a->k;
    for (y.n = 0; y.n < a->n; y.n++)
        for (y.at[0] = 0; y.at[0] < a->out[0]; y.at[0]++)
            for (y.at[1] = 0; y.at[1] < a->out[1]; y.at[1]++)
                for (y.at[2] = 0; y.at[2] < a->out[2]; y.at[2]++) {
                    x.n = y.n;
                    if (!plain_source(a, y.at, tap, x.at)) continue;
                    sum += plain_product(a->y, plain_index(a, a->out, a->k, y), a->x, plain_index(a, a->in, a->c, x));
                }
    return sum;
}
#endif
#endif

KW_KERNEL(kw_stage0, PLAIN_THREADS) {
    for (kw_i64 index = kw_block() * PLAIN_THREADS + kw_thread(); index < args.value[1]; index += kw_blocks() * PLAIN_THREADS) {
        kw_store(KW_OP == KW_OP_CONV_BWD_DATA     ? args.x
                 : KW_OP == KW_OP_CONV_BWD_WEIGHT ? args.w
                                                  : args.y,
                 index, plain_element(&args, index));
    }
}

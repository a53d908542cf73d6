/* operands.h: what gpu/lib/align.h asks of a convolution: its operands, and their rows. */
#ifndef KW_IGEMM_OPERANDS_H
#define KW_IGEMM_OPERANDS_H

KW_DEVICE const char *kw_operand(const kw_gpu_args *a, int which) {
    if (KW_PICKS) return which == KW_A ? a->x : a->y;
    return which == KW_A ? (KW_FORWARD ? a->x : a->y) : (KW_WEIGHT ? a->x : a->w);
}

#if KW_COPIES_TURN
/* Rows of a turned copy: of backward data the elements of filters that each k has, of gradients of weights (KW_PICKS) all k. */
KW_DEVICE kw_i64 kw_operand_lines(const kw_gpu_args *a, int which) {
    return which == KW_A ? 1 : KW_PICKS ? a->groups * a->k : kw_feed_taps(a) * a->c;
}
#endif

/* Rows are pixels, or the channels of a tap of an output channel; with KW_SPOTS, k of a column at a position. */
KW_DEVICE kw_i64 kw_operand_rows(const kw_gpu_args *a, int which, int *row) {
    int of_y = which == KW_A && !KW_FORWARD && !KW_PICKS;
    *row = (int)(of_y || KW_SPOTS ? a->k : a->c);
#if KW_COPIES_TURN && !KW_FORWARD
    if (which == KW_B) {
        *row = (int)(KW_PICKS ? a->n * a->out[0] * a->out[1] * a->out[2] : a->groups * a->k);
        return kw_operand_lines(a, which);
    }
#endif
#if KW_SPOTS
    if (which == KW_B) return (kw_i64)kw_spots_cols(a) * kw_spots_positions(a);
#endif
    if (which == KW_B && !KW_WEIGHT) return a->k * kw_feed_taps(a);
    return a->n * (of_y ? a->out[0] * a->out[1] * a->out[2] : a->in[0] * a->in[1] * a->in[2]);
}

#endif

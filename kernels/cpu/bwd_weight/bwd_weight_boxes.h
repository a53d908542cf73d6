/* bwd_weight_boxes.h: the boxes of output pixels that sum_share() works on, one after the other. KW_EDGES (merged rows of x that are read where
 * they lie): a pixel whose taps all read the image has them side by side in x; of the others, at most four boxes at the edges of all images, x
 * is copied with its padding. So of x little is copied, where a copy of all of it took a tenth to a fifth of a first layer's time. */

typedef struct boxes {
    kw_i64 low[4], high[4]; /* of the pixels in boxes of even size */
    kw_i64 parts[4], even;  /* such boxes, by axis and all */
    int edges;
    struct {
        kw_i64 low[4], high[4];
    } edge[4];
} boxes;

#if KW_EDGES
/* The pixels of an axis all of whose taps read the image. */
static void find_inside(const share *s, int axis, kw_i64 *low, kw_i64 *high) {
    kw_i64 last = s->in[axis] + s->pad[axis] - s->reach[axis] - 1;
    *low = kw_min(ceil_div(s->pad[axis], s->stride[axis]), s->out[axis]);
    *high = last < 0 ? *low : kw_max(kw_min(last / s->stride[axis] + 1, s->out[axis]), *low);
}

/* What is before and behind the even boxes along an axis; along those in front of it, all that these are. */
static void add_edges(boxes *b, const share *s, int axis) {
    for (int behind = 0; behind < 2; behind++) {
        kw_i64 low = behind ? b->high[axis] : 0, high = behind ? s->out[axis] : b->low[axis];
        if (low == high) continue;
        for (int i = KW_BOX_N; i <= KW_BOX_W; i++) {
            b->edge[b->edges].low[i] = i < axis ? b->low[i] : 0;
            b->edge[b->edges].high[i] = i < axis ? b->high[i] : s->out[i];
        }
        b->edge[b->edges].low[axis] = low;
        b->edge[b->edges++].high[axis] = high;
    }
}
#endif

static boxes find_boxes(const share *s) {
    boxes b = {.even = 1};
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        b.high[axis] = s->out[axis];
#if KW_EDGES
        if (axis == KW_BOX_W || (axis == KW_BOX_H && KW_PADDED_ROWS)) {
            find_inside(s, axis, &b.low[axis], &b.high[axis]);
            add_edges(&b, s, axis);
        }
#endif
        b.even *= b.parts[axis] = ceil_div(b.high[axis] - b.low[axis], s->args->params.box[axis]);
    }
    return b;
}

/* Puts the i-th box into the share. */
static void take_box(share *s, const boxes *b, kw_i64 i) {
    s->edge = i >= b->even;
    kw_i64 rest = i;
    for (int axis = KW_BOX_W; axis >= KW_BOX_N; axis--) {
        if (s->edge) {
            s->low[axis] = b->edge[i - b->even].low[axis];
            s->high[axis] = b->edge[i - b->even].high[axis];
            continue;
        }
        kw_i64 box = s->args->params.box[axis];
        s->low[axis] = b->low[axis] + rest % b->parts[axis] * box;
        s->high[axis] = kw_min(s->low[axis] + box, b->high[axis]);
        rest /= b->parts[axis];
    }
}

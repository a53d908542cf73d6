/* bwd_weight.c: dense backward weight, channels last: dw[k][tap][c] = sum over pixels of x[pixel moved by the tap][c] * y[pixel][k].
 *
 * Both factors are contiguous in their channels, so nothing is transposed: one tensor's channels are spread one by one, the other's fill
 * the lanes. A tile is of one tap of one group; pixels whose tap is in the padding are clipped off. Pixels are worked on box by
 * box (images, depth, rows, columns), so that a box stays in the second-level cache for all tiles of the thread; sums of unfinished tiles
 * wait in shared memory. A unit is a slab of tiles: who works on one copies what its tiles read, of params.together groups at once. Where
 * params.parts, a unit has some of the boxes, its sums stay in shared memory, and stage 1 adds them. KW_OWN: what is said of a group is
 * done for a vector of output channels, whatever groups they are of, and the copy of x is own_lanes.h's; family conv.any_groups_weight.
 * KW_WAYS: it is done for so many groups in turn (bwd_weight_ways.h); family conv.interleaved_weight.
 * KW_COPY: the box is copied first, in the order in which tiles read it, as fp32 or as pairs; where it is 2, of x alone; where it is 0 beside
 * KW_MERGE, of x alone and at the edges of images alone. math=amx has y's channels as rows of pixels (bwd_weight_amx.h). KW_MERGE: the
 * taps of a filter row and the channels, which are one run of the copied row, are worked on as channels, and of so many filter rows in
 * one tile: its pixels of y are read once for all of these. */
#include "cpu/bwd_weight/args.h"
#define KW_KERNEL_PARAMS kw_bwd_weight_params
#include "kw_config.h"

#define KW_PAIRS (KW_DP || KW_MATH == 3 || KW_STORAGE == 3) /* an element is the bf16 or int16 of two pixels of a row */
#if KW_COPY == 2
#include "cpu/lib/zip.h"
#endif
#include "cpu/bwd_weight/bwd_weight_tile.h"
#if KW_MATH == 3
#include "cpu/ahead/call.h"
#endif
#if KW_OWN
#include "cpu/lib/own_lanes.h"
#endif
#if KW_APART
#include "cpu/lib/apart.h"
#endif

#define KW_IN_TURN (KW_WAYS + !KW_WAYS)            /* ways of an element */
#define KW_WIDTH (KW_VECS * KW_LANES / KW_IN_TURN) /* channels of a block of the vector side */
#define KW_PADDED (KW_MERGE || KW_PAIRS)           /* columns of the copy include the padding, and no tap clips them */
#define KW_COPY_Y (KW_COPY == 1)
#define KW_PADDED_ROWS (KW_MERGE > 1) /* and so do its rows, for a tile has several of them */
#if KW_LANES_C
#define KW_X_WIDTH KW_WIDTH /* channels of a block */
#define KW_Y_WIDTH KW_TILE
#else
#define KW_X_WIDTH KW_TILE
#define KW_Y_WIDTH KW_WIDTH
#endif

#define KW_EDGES (KW_COPY == 0 && KW_MERGE) /* bwd_weight_boxes.h */

#include "cpu/bwd_weight/bwd_weight_copy.h"
#if KW_WAYS
#include "cpu/bwd_weight/bwd_weight_ways.h"
#endif

/* The tiles of some groups that a thread works on, box by box. */
typedef struct share {
    const kw_kernel_args *args;
    kw_i64 part, begin, end;   /* tiles, counted over all groups */
    int follows;               /* the thread works on the next part's boxes then */
    kw_i64 group, first, last; /* the group that is worked on, and its tiles, counted within it */
    kw_i64 c, k, taps;         /* as tiles see them: with KW_MERGE, c is a filter row's */
    kw_i64 v_blocks, b_blocks;
    int even;                                                       /* the spread channels are shared out evenly (KW_TILE_FEWER) */
    kw_i64 full;                                                    /* then the first blocks, which have a whole tile's */
    kw_i64 in[4], out[4], stride[4], pad[4], dilation[4], reach[4]; /* by axis; reach: from the first to the last tap */
    kw_i64 source[4], thin[4]; /* extents of x, of which tiles see each thin-th position alone: in is of these */
    kw_i64 low[4], high[4];    /* output pixels of the box */
    int edge;                  /* of which x is copied (KW_EDGES) */
    side x, y;
    struct {
        const char *x, *y; /* of the next box */
        kw_i64 x_bytes, step, a_tile;
    } soon;
} share;

/* With one tap a row, only every second column is the first of a pair. */
#define KW_PAIRED_X(args) (KW_PAIRS && !KW_MERGE && (args)->filter[2] == 1)

KW_INLINE kw_i64 ceil_div(kw_i64 a, kw_i64 b) { return (a + b - 1) / b; }

/* --- boxes --- */

/* Pairs of so many pixels of a row, whole chunks of math=amx. */
KW_INLINE kw_i64 pairs_of(const share *s, kw_i64 pixels) {
    kw_i64 chunk = KW_MATH == 3 ? s->args->params.chunk : 1;
    return ceil_div(pixels, 2 * chunk) * chunk;
}

/* The pixels of both tensors that the box's taps read. */
static __attribute__((unused)) void find_pixels(share *s) {
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        kw_i64 pixels = s->high[axis] - s->low[axis], low = s->low[axis] * s->stride[axis] - s->pad[axis];
        kw_i64 high = low + (pixels - 1) * s->stride[axis] + s->reach[axis] + 1;
        s->y.low[axis] = s->low[axis];
        s->y.count[axis] = pixels;
        s->x.low[axis] = kw_max(low, 0);
        s->x.count[axis] = kw_max(kw_min(high, s->in[axis]) - s->x.low[axis], 0);
        if ((KW_PADDED && axis == KW_BOX_W) || (KW_PADDED_ROWS && axis == KW_BOX_H)) {
            s->x.low[axis] = low;
            s->x.count[axis] = high - low;
        }
    }
#if KW_PAIRS
    kw_i64 pairs = pairs_of(s, s->y.count[KW_BOX_W]);
    s->y.count[KW_BOX_W] = KW_MATH == 3 ? pairs / s->args->params.chunk : pairs;
    /* The last pair's second is zipped to its first. */
    s->x.count[KW_BOX_W] = KW_PAIRED_X(s->args) ? pairs : (2 * pairs - 2) * s->stride[KW_BOX_W] + s->reach[KW_BOX_W] + 1;
#endif
}

KW_INLINE __attribute__((unused)) char *copies_of_y(const kw_kernel_args *a, char *memory) {
    return memory + a->params.together * a->params.x_bytes;
}
KW_INLINE char *sums_of(const kw_kernel_args *a, char *memory) { return copies_of_y(a, memory) + a->params.together * a->params.y_bytes; }

/* The group as the share's tiles see it. */
static void enter_group(share *s, kw_i64 group) {
    const kw_kernel_args *a = s->args;
    kw_i64 tiles = s->v_blocks * s->b_blocks * s->taps;
    s->group = group;
    s->first = kw_max(s->begin - group * tiles, 0);
    s->last = kw_min(s->end - group * tiles, tiles);
    if (KW_OWN) s->k = kw_min(KW_LANES, a->groups * a->k - group * KW_LANES);
}

#if KW_COPIES
/* Of the spread side, the blocks that the share's tiles need. */
static void find_spread(const share *s, copy *spread) {
    kw_i64 split = s->args->params.split, each = s->b_blocks / split, piece = s->taps * each;
    kw_i64 first = s->first / piece, last = (s->last - 1) / piece;
    int one = first / split == last / split;
    spread->block0 = one ? first % split * each : 0;
    spread->block1 = one ? (last % split + 1) * each : s->b_blocks;
}
#endif

/* x from a channel on, as tiles see it. */
static void view_x(side *x, const share *s, kw_i64 first) {
    const kw_kernel_args *a = s->args;
    view_tensor(x, a->x, s->source, a->groups * a->c, first);
    lie_apart(x, a->x_step);
    for (int axis = KW_BOX_D; axis <= KW_BOX_W; axis++) {
        x->count[axis] = s->in[axis];
        x->step[axis] *= s->thin[axis];
    }
}

/* Copies the box: of the share's groups, the blocks that its tiles need. */
static void open_box(share *s, char *memory) {
    find_pixels(s);
#if KW_COPIES
    if (KW_EDGES && !s->edge) return;
    const kw_kernel_args *a = s->args;
    kw_i64 inner = s->taps * s->b_blocks, tiles = inner * s->v_blocks, first = s->begin / tiles, groups = ceil_div(s->end, tiles) - first;
    enter_group(s, first);
    kw_i64 block0 = s->first / inner, block1 = (s->last - 1) / inner + 1;
    if (a->params.along || groups > 1) block0 = 0, block1 = s->v_blocks;
    copy x = {.channels = a->c, .width = KW_X_WIDTH, .step = KW_PAIRED_X(a) ? 2 * s->stride[KW_BOX_W] : 1, .zip = s->stride[KW_BOX_W]};
    copy y = {.channels = a->k, .width = KW_Y_WIDTH, .step = 1 + KW_PAIRS, .zip = 1};
    copy *vectors = KW_LANES_C ? &x : &y, *spread = KW_LANES_C ? &y : &x;
    vectors->block0 = block0;
    vectors->block1 = block1;
    spread->block1 = s->b_blocks;
    if (groups == 1 && a->params.split > 1) find_spread(s, spread);
    x.groups = y.groups = groups;
    x.apart = a->params.x_bytes;
    y.apart = a->params.y_bytes;
#if KW_OWN
    kw_own own = kw_own_of(a, s->group, a->k, a->c);
    y.channels = s->k;
    view_x(&x.tensor, s, own.first * a->c);
    view_tensor(&y.tensor, a->y, s->out, a->groups * a->k, s->group * KW_LANES);
#else
    view_x(&x.tensor, s, s->group * KW_IN_TURN * a->c);
    view_tensor(&y.tensor, a->y, s->out, a->groups * a->k, s->group * KW_IN_TURN * a->k);
#endif
#if KW_APART
    x.together = sums_of(a, memory) + (KW_TILE_BYTES + KW_LINE - 1) / KW_LINE * KW_LINE;
#endif
    lie_apart(&y.tensor, a->y_step);
#if KW_APART
    x.end = a->x + kw_apart_span(a->x_step, a->n, a->in, a->groups * a->c) * KW_BYTES;
    y.end = a->y + kw_apart_span(a->y_step, a->n, a->out, a->groups * a->k) * KW_BYTES;
#else
    x.end = a->x + s->in[KW_BOX_N] * x.tensor.step[KW_BOX_N];
    y.end = a->y + s->in[KW_BOX_N] * y.tensor.step[KW_BOX_N];
#endif
#if KW_WAYS
    kw_i64 ways = kw_min(groups * KW_WAYS, a->groups - s->group * KW_WAYS);
    copy_ways(&s->x, memory, &x, ways, KW_MERGE || !KW_LANES_C ? a->c : s->v_blocks * KW_WIDTH);
    copy_ways(&s->y, copies_of_y(a, memory), &y, ways, KW_LANES_C ? a->k : s->v_blocks * KW_WIDTH);
#elif KW_OWN
    copy_own(&s->x, memory, &x, &own);
#else
    copy_box(&s->x, memory, &x, KW_MERGE);
#endif
#if KW_MATH == 3
    copy_turned(a, &s->y, copies_of_y(a, memory), &y, s->high[KW_BOX_W] - s->low[KW_BOX_W]);
#elif KW_COPY_Y && !KW_WAYS
    copy_box(&s->y, copies_of_y(a, memory), &y, 0);
#endif
#else
    (void)memory;
#endif
}

/* The box of the share's i-th group as tiles read it. */
static void view_box(share *s, kw_i64 i, char *memory) {
    const kw_kernel_args *a = s->args;
    if (KW_COPY || s->edge) {
        s->x.at = memory + i * a->params.x_bytes;
    } else {
        view_x(&s->x, s, s->group * a->c);
    }
#if KW_COPY_Y
    s->y.at = copies_of_y(a, memory) + i * a->params.y_bytes;
#else
    view_tensor(&s->y, a->y, s->out, a->groups * a->k, s->group * a->k);
    lie_apart(&s->y, a->y_step);
#endif
    (void)memory, (void)i;
}

/* --- tiles --- */

/* A tile, and the tiles after it that differ in the broadcast side's block only, where params.along in the vector side's. */
typedef struct place {
    kw_i64 tap, v_block, b_block;
    kw_i64 v_first, b_first; /* the channels from which on either side is read */
} place;

/* Of the vector side: whether the block's channels do not reach its last vector. */
KW_INLINE int block_lacks(const share *s, kw_i64 block) {
    return KW_TILE_LACKS && (KW_LANES_C ? s->c : s->k) - block * KW_WIDTH <= KW_WIDTH - KW_LANES;
}

/* Without a copy, a block reads on into the channels of the groups that follow, and the last ones of a pixel are moved back so that they end
 * with its last channel, or begin with its first (KW_READS_ON): lanes and rows that are not the block's own are not stored. width: of channels,
 * of which it reads so many. before, left: channels from the pixel's first to the group's first, and from there to the pixel's end. */
KW_INLINE kw_i64 first_channel(int copied, kw_i64 block, kw_i64 width, kw_i64 reads, kw_i64 before, kw_i64 left) {
    kw_i64 first = kw_min(block * width, left - reads);
    return copied ? block * width : KW_READS_ON ? kw_max(first, -before) : first;
}

/* Of the spread side: the first channel that a block has, and whether it is one of few. Such a one that does not sum the last vector either
 * has a channel of the block before. */
KW_INLINE kw_i64 spread_from(const share *s, kw_i64 block) {
    return block * KW_TILE - (KW_TILE_FEWER && s->even ? kw_max(block - s->full, 0) : 0);
}
KW_INLINE int block_is_of_fewer(const share *s, const place *at) {
    return KW_TILE_FEWER && s->even && !block_lacks(s, at->v_block) && at->b_block >= s->full;
}
KW_INLINE kw_i64 first_spread(const share *s, const place *at, int copied, kw_i64 before, kw_i64 left) {
    if (KW_WAYS) return spread_from(s, at->b_block);
    kw_i64 reads = KW_TILE - block_is_of_fewer(s, at), end = spread_from(s, at->b_block + 1);
    return s->even ? kw_min(kw_max(end - reads, 0), left - reads) : first_channel(copied, at->b_block, KW_TILE, KW_TILE, before, left);
}

/* copied: whether the tensor is. */
KW_INLINE kw_i64 first_vector(const share *s, const place *at, int copied, kw_i64 before, kw_i64 left) {
    return first_channel(copied, at->v_block, KW_WIDTH, KW_WIDTH - (block_lacks(s, at->v_block) ? KW_LANES : 0), before, left);
}
KW_INLINE kw_i64 first_x(const share *s, const place *at) {
    kw_i64 before = s->group * s->c, left = s->args->groups * s->c - before;
    return KW_LANES_C ? first_vector(s, at, KW_COPY != 0, before, left) : first_spread(s, at, KW_COPY != 0, before, left);
}
KW_INLINE kw_i64 first_y(const share *s, const place *at) {
    kw_i64 before = s->group * s->k, left = s->args->groups * s->k - before;
    return KW_LANES_C ? first_spread(s, at, KW_COPY_Y, before, left) : first_vector(s, at, KW_COPY_Y, before, left);
}

/* Of a pixel's last vector, where the pixel has fewer channels than a tile (KW_READS_ON). */
KW_INLINE kw_i64 last_lanes(const share *s) {
    kw_i64 channels = s->args->groups * (KW_LANES_C ? s->c : s->k);
    return KW_READS_ON && channels < KW_WIDTH ? channels - (KW_WIDTH - KW_LANES) : 0;
}
/* Bytes from a pixel's first element to those of a block. */
KW_INLINE kw_i64 offset_of(const side *t, int copied, kw_i64 block, kw_i64 first) {
    return KW_WAYS ? first * (4 * KW_IN_TURN) : copied ? block * t->block : first * KW_BYTES;
}

/* What is said of a block of either side in the jobs of its tiles. pixels: of its first block. */
KW_INLINE void enter_v(kw_weight_job *job, const share *s, place *at, const char *pixels) {
    kw_i64 own = at->v_block * KW_WIDTH, end = kw_min(own + KW_WIDTH, KW_LANES_C ? s->c : s->k);
    kw_i64 first = KW_LANES_C ? first_x(s, at) : first_y(s, at);
    job->v = pixels + (KW_LANES_C ? offset_of(&s->x, KW_COPY, at->v_block, first) : offset_of(&s->y, KW_COPY_Y, at->v_block, first));
    job->lacks = block_lacks(s, at->v_block);
    job->lanes[0] = own - first, job->lanes[1] = end - first;
    at->v_first = first;
}
KW_INLINE void enter_b(kw_weight_job *job, const share *s, place *at, const char *pixels) {
    kw_i64 own = spread_from(s, at->b_block), end = kw_min(spread_from(s, at->b_block + 1), KW_LANES_C ? s->k : s->c);
    kw_i64 first = KW_LANES_C ? first_y(s, at) : first_x(s, at);
    job->b = pixels + (KW_LANES_C ? offset_of(&s->y, KW_COPY_Y, at->b_block, first) : offset_of(&s->x, KW_COPY, at->b_block, first));
    job->fewer = block_is_of_fewer(s, at);
    job->rows[0] = own - first, job->rows[1] = end - first;
    at->b_first = first;
}

#include "cpu/bwd_weight/bwd_weight_pixels.h"

/* Tiles of such a row. */
KW_INLINE kw_i64 row_of(const share *s) { return s->args->params.along ? s->v_blocks : s->b_blocks / s->args->params.split; }

KW_INLINE place place_of(const share *s, kw_i64 tile) {
    kw_i64 each = row_of(s), row = tile / each, in_row = tile - row * each, outer = row / s->taps;
    kw_i64 split = s->args->params.split, block = outer / split;
    place along = {row % s->taps, in_row, outer, 0, 0}, across = {row % s->taps, block, (outer - block * split) * each + in_row, 0, 0};
    return s->args->params.along ? along : across;
}

/* From a row's end to the next row's first tile. */
KW_INLINE void next_row(const share *s, place *at) {
    kw_i64 along = s->args->params.along, *inner = along ? &at->v_block : &at->b_block, *outer = along ? &at->b_block : &at->v_block;
    if (++at->tap < s->taps) {
        *inner -= row_of(s);
        return;
    }
    at->tap = 0;
    if (*inner < (along ? s->v_blocks : s->b_blocks)) return;
    *inner = 0;
    *outer += 1;
}

KW_INLINE kw_i64 tiles_of_group(const share *s) { return s->v_blocks * s->b_blocks * s->taps; }
KW_INLINE kw_i64 tiles_of(const share *s) {
    const kw_kernel_args *a = s->args;
    return tiles_of_group(s) * (KW_OWN ? ceil_div(a->groups * a->k, KW_LANES) : ceil_div(a->groups, KW_IN_TURN));
}

/* Where the sums of the share's group wait. */
KW_INLINE char *waiting_of(const share *s, kw_i64 part) {
    return s->args->shared + (part * tiles_of(s) + s->group * tiles_of_group(s)) * KW_TILE_BYTES;
}

#include "cpu/bwd_weight/bwd_weight_store.h"

/* --- what comes next --- */

/* The share's tiles ask for the next box while they sum this one: from beyond the second level, each line would be waited for. */
static void expect_box(share *s, int is_last) {
    const kw_kernel_args *a = s->args;
    s->soon.step = 0;
    if (!a->params.soon || is_last) return;
    kw_i64 first = s->high[KW_BOX_W], pixels = kw_min(a->params.box[KW_BOX_W], s->out[KW_BOX_W] - first), x = a->c * KW_BYTES;
    kw_i64 y = a->k * KW_BYTES, steps = ceil_div(s->high[KW_BOX_W] - s->low[KW_BOX_W], 1 + KW_PAIRS);
    s->soon.x = a->x + first * x, s->soon.y = a->y + first * y;
    s->soon.x_bytes = pixels * x;
    s->soon.step = ceil_div(pixels * (x + y), steps * (s->end - s->begin));
    s->soon.a_tile = s->soon.step * steps;
}

KW_INLINE void ask_soon(kw_weight_job *job, const share *s, kw_i64 tile) {
    kw_i64 at = (tile - s->first) * s->soon.a_tile;
    job->soon_step = s->soon.step;
    job->soon = !s->soon.step ? job->v : at < s->soon.x_bytes ? s->soon.x + at : s->soon.y + at - s->soon.x_bytes;
}

#if !KW_EPILOGUE
/* The first tap from this one on that reads pixels of the box. */
static kw_i64 tap_that_reads(const share *s, kw_i64 tap, reads known[4]) {
    for (; tap < s->taps; tap++) {
        kw_weight_job job = {0};
        set_pixels(&job, s, tap, known);
        if (job.count[0]) break;
    }
    return tap;
}
#endif

/* The share's tiles of one box. waiting: where sums wait for the next box; ends says whether this is the first, the last box. */
static void sum_box(const share *s, char *waiting, char *spill, const int ends[2]) {
    kw_i64 zeros_to __attribute__((unused)) = 0; /* where the share is a whole group: taps before it that read padding alone are stored */
    reads known[4] = {{.tap = -1}, {.tap = -1}, {.tap = -1}, {.tap = -1}};
    kw_i64 each = row_of(s), end = (s->first / each + 1) * each;
    place at = place_of(s, s->first);
    kw_weight_job job = {0};
    for (kw_i64 unit = s->first; unit < s->last; end += each, next_row(s, &at)) {
        end = kw_min(end, s->last);
        set_pixels(&job, s, at.tap, known);
        const char *pixels_v = job.v, *pixels_b = job.b;
#if !KW_EPILOGUE
        if (ends[0] && ends[1] && job.count[0] == 0) {
            if (s->last - s->first < tiles_of_group(s)) {
                store_zeros(s, &at, end - unit);
            } else if (at.tap >= zeros_to) {
                zeros_to = tap_that_reads(s, at.tap, known);
                store_zero_taps(s, at.tap, zeros_to - at.tap);
            }
            *(s->args->params.along ? &at.v_block : &at.b_block) += end - unit;
            unit = end;
            continue;
        }
#endif
        char *of_tap = result_of_tap(s, at.tap);
        job.last_lanes = last_lanes(s);
        for (int is_first = 1; unit < end; unit++, *(s->args->params.along ? &at.v_block : &at.b_block) += 1, is_first = 0) {
            if (is_first || s->args->params.along) enter_v(&job, s, &at, pixels_v);
            if (is_first || !s->args->params.along) enter_b(&job, s, &at, pixels_b);
            ask_soon(&job, s, unit);
            job.from = ends[0] ? 0 : waiting + unit * KW_TILE_BYTES;
            job.to = ends[1] ? spill : waiting + unit * KW_TILE_BYTES;
            job.to_step = KW_TILE_ROW;
            job.narrow = 0;
#if KW_MATH == 3
            kw_i64 channels = kw_min(s->c - at.v_block * KW_WIDTH, KW_WIDTH), rows = kw_min(s->k - at.b_block * KW_TILE, KW_TILE);
            job.registers = KW_AMX_PART_OF(ceil_div(rows, KW_AMX_ROWS), ceil_div(channels, KW_LANES));
            job.b_row = KW_BWD_WEIGHT_PITCH(s->args->params.chunk);
#endif
            int stored = ends[1] && is_stored(s, &at, of_tap, &job);
            kw_tile(&job);
            if (ends[1] && !stored) store_sums(s, &at, spill);
        }
    }
}

#include "cpu/bwd_weight/bwd_weight_boxes.h"

static void sum_share(share *s, char *memory) {
    const kw_kernel_args *a = s->args;
    boxes all = find_boxes(s);
    kw_i64 count = all.even + all.edges, parts = a->params.parts;
    kw_i64 first = s->part * count / parts, last = (s->part + 1) * count / parts;
    for (kw_i64 i = first; i < last; i++) {
        const int ends[2] = {i == first, parts == 1 && i == count - 1};
        take_box(s, &all, i);
        open_box(s, memory);
        expect_box(s, i == last - 1 && !s->follows);
        kw_i64 tiles = tiles_of_group(s), first_group = s->begin / tiles;
        for (kw_i64 group = first_group; group * tiles < s->end; group++) {
            enter_group(s, group);
            view_box(s, group - first_group, memory);
            sum_box(s, waiting_of(s, s->part), sums_of(a, memory), ends);
        }
    }
}

static share share_of(const kw_kernel_args *a) {
    kw_i64 taps = a->filter[0] * a->filter[1];
    share s = {
        .args = a, .c = KW_MERGE ? a->c * a->filter[2] : a->c, .k = a->k, .taps = KW_MERGE ? taps / KW_FILTER_ROWS : taps * a->filter[2]};
    s.in[KW_BOX_N] = s.out[KW_BOX_N] = s.source[KW_BOX_N] = a->n;
    s.stride[KW_BOX_N] = s.thin[KW_BOX_N] = 1;
    for (int i = 0; i < 3; i++) {
        int thin = KW_BWD_WEIGHT_IS_THIN(a->filter[i], a->pad[i], a->stride[i], a->in[i], a->out[i]);
        s.source[KW_BOX_D + i] = a->in[i];
        s.in[KW_BOX_D + i] = thin ? a->out[i] : a->in[i];
        s.out[KW_BOX_D + i] = a->out[i];
        s.thin[KW_BOX_D + i] = thin ? a->stride[i] : 1;
        s.stride[KW_BOX_D + i] = thin ? 1 : a->stride[i];
        s.pad[KW_BOX_D + i] = a->pad[i];
        s.dilation[KW_BOX_D + i] = a->dilation[i];
        s.reach[KW_BOX_D + i] = (a->filter[i] - 1) * a->dilation[i];
    }
    if (a->params.flat) { /* a filter of 1: all pixels are one row */
        kw_i64 pixels = a->n * a->out[0] * a->out[1] * a->out[2];
        for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++)
            s.in[axis] = s.out[axis] = s.source[axis] = axis == KW_BOX_W ? pixels : 1;
    }
    s.v_blocks = KW_OWN ? 1 : ceil_div(KW_LANES_C ? s.c : s.k, KW_WIDTH);
    kw_i64 spread = KW_LANES_C ? s.k : s.c;
    s.b_blocks = ceil_div(spread, KW_TILE);
    s.even = KW_TILE_FEWER && KW_TILES_ARE_EVEN(spread, s.b_blocks, KW_TILE);
    s.full = spread - s.b_blocks * (KW_TILE - 1);
    return s;
}

/* Puts the tiles from tile on, of so many groups as are worked on together, into the share; gives the tile behind them. */
static kw_i64 take_groups(share *s, kw_i64 tile, kw_i64 end) {
    kw_i64 tiles = tiles_of_group(s);
    s->begin = tile;
    s->end = kw_min(end, (tile / tiles + s->args->params.together) * tiles);
    return s->end;
}

/* Tiles run over groups, blocks of the vector side, parts of the broadcast side, taps, its blocks; where params.along the two sides change places, so
 * that the rows of dw are written one after the other. */
static void own_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    share s = share_of(a);
    kw_i64 tiles = tiles_of(&s), slabs = a->params.slabs ? a->params.slabs : tiles;
#if KW_MATH == 3
    kw_amx_begin(a->params.chunk, KW_AMX_ROWS);
#endif
    for (kw_i64 unit = begin, next; unit < end; unit = next) {
        s.part = unit / slabs;
        next = kw_min(end, (s.part + 1) * slabs);
        s.follows = next < end;
        kw_i64 tile = (unit - s.part * slabs) * tiles / slabs, last = (next - s.part * slabs) * tiles / slabs;
        while (tile < last) {
            tile = take_groups(&s, tile, last);
            sum_share(&s, memory);
        }
    }
#if KW_MATH == 3
    KW_AMX_END();
#endif
}

#if !KW_OWN && !KW_CHANNELS_FIRST && KW_STORAGE != 3
/* Adds what the parts have of the share's tiles of a group. */
static void add_parts(const share *s, char *spill) {
    kw_i64 parts = s->args->params.parts;
    for (kw_i64 i = s->first; i < s->last; i++) {
        place at = place_of(s, i);
        for (kw_i64 byte = 0; byte < KW_TILE_BYTES; byte += KW_VECTOR) {
            kw_vf sum = kw_load(waiting_of(s, 0) + i * KW_TILE_BYTES + byte);
            for (kw_i64 part = 1; part < parts; part++)
                sum += kw_load(waiting_of(s, part) + i * KW_TILE_BYTES + byte);
            kw_put(spill + byte, sum);
        }
        store_sums(s, &at, spill);
    }
}

/* Units are slabs. */
static void own_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, char *memory) {
    share s = share_of(a);
    kw_i64 tiles = tiles_of(&s), units = kw_min(tiles, KW_BWD_WEIGHT_SUMS), of_group = tiles_of_group(&s);
    s.begin = begin * tiles / units;
    s.end = end * tiles / units;
    for (kw_i64 group = s.begin / of_group; group * of_group < s.end; group++) {
        enter_group(&s, group);
        add_parts(&s, sums_of(a, memory));
    }
}
#define KW_GRADIENT_SUMS 1
#endif

#define KW_GRADIENT 1
#include "cpu/lib/reorder.h"

/* conv_direct_bwd_weight.c: dense backward weight, channels last. Decides how pixels are cut into boxes that stay in the second-level
 * cache; kernels/cpu/bwd_weight/bwd_weight.c is the kernel, bwd_weight_tile.h its register tile. A unit is a slab of tiles,
 * each the sums of one tap. Of few sums and many pixels, pixels are shared out as well, and a second stage adds the sums: else threads
 * copied the same pixels, each for itself, or rested. */
#include "families/cpu/bwd_weight/bwd_weight.h"

#include "base/math.h"
#include "cpu/bwd_weight/args.h"
#include "families/cpu/cpu_rules.h"
#include "families/cpu/emit/tile.h"
#include "families/cpu/reorder.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

enum { LANES = KW_ISA_AXIS_COUNT, TILE, VECS, COPY, MERGE, BOX_KIB, AXIS_COUNT };
enum { LANES_C, LANES_K };
enum { WORD = 4 };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"lanes", "c k", 0, 1, "whose channels fill the vectors: c of x, k of y; the other's are spread one by one"},
    {"tile", NULL, 1, 64, "spread channels of a tile"},
    {"vecs", NULL, 1, 6, "vectors of a tile"},
    {"copy", NULL, 0, 2,
     "1: a box is copied in the order of its use; 0: tiles read the tensors (fp32 only; beside merge edges of x are copied); 2: x is "
     "copied, y is read"},
    {"merge", NULL, 0, 7,
     "above 0: the taps of a filter row and the channels are worked on as channels (for few), of so many rows in a tile"},
    {"box", NULL, 0, 65536, "KiB of pixels worked on at a time; 0: all where the second-level cache holds them, else half of it"},
};

static bool multiplies_tiles(const kw_config *config) {
    return config->axis[KW_AXIS_MATH] == KW_MATH_AMX;
}

static bool amx_tile_is_whole(const kw_rule_case *c) {
    const int32_t *axis = c->config->axis;
    bool pairs = c->config->dtype == KW_BF16;
    return !multiplies_tiles(c->config) || (pairs && axis[TILE] % KW_AMX_ROWS == 0 && axis[LANES] == LANES_C && axis[MERGE] <= 1);
}

static bool bwd_weight_tile_in_registers(const kw_rule_case *c) {
    const int32_t *axis = c->config->axis;
    if (multiplies_tiles(c->config)) {
        return kw_tile_parts_fit_amx(&(kw_tile){.rows = 1, .cols = axis[TILE], .vecs = axis[VECS]});
    }
    return (axis[TILE] * kw_max(axis[MERGE], 1) + 1) * axis[VECS] + 1 <= kw_config_isa(c->config)->registers;
}

static bool tensors_are_readable(const kw_rule_case *c) {
    const int32_t *axis = c->config->axis;
    bool zips =
        c->config->dtype == KW_BF16 && axis[KW_AXIS_MATH] == KW_MATH_DP && axis[LANES] == LANES_K && axis[COPY] == KW_COPY_X && axis[MERGE];
    return axis[COPY] == KW_COPY_BOTH || zips || (c->config->dtype == KW_FP32 && (axis[COPY] == KW_COPY_NONE || axis[MERGE]));
}

static bool spread_rows_are_merged(const kw_rule_case *c) {
    return c->config->axis[MERGE] <= 1 || c->config->axis[LANES] == LANES_K;
}

static const kw_rule valid_rules[] = {
    {"amx_tile", "math=amx is of bf16 and has tiles of 16, 32, ... spread channels, with lanes=c and merge=0 or 1", amx_tile_is_whole},
    {"tile_registers", "the sums of a tile, a row of vectors and a spread value must fit the isa's vector registers, or the 8 of math=amx",
     bwd_weight_tile_in_registers},
    {"copy",
     "copy=0 reads fp32 tensors as they are, copy=2 those of y beside merge (bf16: with math=dp and lanes=k); else copy=1 is needed",
     tensors_are_readable},
    {"merged_lanes", "tiles of several filter rows (merge above 1) have lanes=k", spread_rows_are_merged},
    {0},
};

static int64_t weight_vector_width(const kw_config *config, const kw_bwd_weight *how) {
    return (int64_t)kw_config_isa(config)->lanes * how->vecs;
}

static kw_bwd_weight bwd_weight_of(const kw_config *config) {
    const int32_t *axis = config->axis;
    return (kw_bwd_weight){
        .tile = axis[TILE],
        .vecs = axis[VECS],
        .box_kib = axis[BOX_KIB],
        .lanes_c = axis[LANES] == LANES_C,
        .copy = axis[COPY],
        .merge = axis[MERGE],
        .amx = multiplies_tiles(config),
    };
}

static bool merged_row_is_dense(const kw_rule_case *c) {
    return !c->config->axis[MERGE] || kw_has_dense_rows(c);
}

static bool filter_has_merged_rows(const kw_rule_case *c) {
    int32_t rows = c->config->axis[MERGE];
    return rows <= 1 || c->problem->conv.filter[1] % rows == 0;
}

static bool tensors_hold_a_tile(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    kw_bwd_weight how = bwd_weight_of(c->config);
    bool fma = c->config->dtype == KW_FP32 && c->config->axis[KW_AXIS_MATH] == KW_MATH_FMA && !(how.lanes_c && how.merge);
    int64_t lanes = kw_config_isa(c->config)->lanes, tile = how.tile;
    int64_t least = weight_vector_width(c->config, &how) - (KW_BWD_WEIGHT_READS_ON(fma, lanes, how.vecs) ? lanes - 1 : 0);
    int64_t run = d->c * (how.merge ? d->filter[2] : 1);
    bool x_holds = run >= (how.lanes_c ? least : tile), y_holds = d->k >= (how.lanes_c ? tile : least);
    return (how.copy != KW_COPY_NONE || x_holds) && (how.copy == KW_COPY_BOTH || y_holds);
}

/* Then the taps of a filter row and the channels are one run of x. Of one tap a row merge=0 reads the same. */
static bool rows_are_runs(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    bool in_place = c->config->axis[MERGE] && c->config->axis[COPY] == KW_COPY_NONE;
    return !in_place || (d->g == 1 && d->filter[2] > 1 && kw_problem_is_dense(c->problem));
}

static const kw_rule fits_rules[] = {
    {"merged_row", "merge=1 needs dilation 1 in the last axis", merged_row_is_dense},
    {"merged_rows", "the filter's rows must be a multiple of merge", filter_has_merged_rows},
    {"whole_tile", "a tensor that is not copied must have as many channels as the tile; with 16 lanes some of its last vector's may lack",
     tensors_hold_a_tile},
    {"merged_in_place", "copy=0 beside merge needs one group, several taps a row and tensors without pitches", rows_are_runs},
    {0},
};

/* A problem as the kernel sees it. */
typedef struct shape {
    bool dp, merge, padded;   /* dp: pairs of pixels; columns of x are copied with the padding, and no tap clips them */
    bool amx, flat;           /* flat: all pixels are one row */
    kw_conv_dims dims;        /* the problem's, of the positions that tiles see; where flat, of an image of one row */
    int64_t out[4];           /* n and output extents */
    int64_t groups;           /* or vectors of y's channels */
    int64_t c, k, taps;       /* with merge, c is a filter row's, and a tap so many rows */
    int64_t rows;             /* of the filter, in a tile */
    int64_t x_width, y_width; /* channels of a block */
    int64_t x_blocks, y_blocks;
    int64_t x_pixel, y_pixel; /* bytes of a box's pixel, all blocks */
} shape;

/* A filter of 1 that leaves no pixel out. */
static bool reads_pixels_once(const kw_conv_dims *d, const int64_t out[4]) {
    bool good = true;
    for (int axis = 0; axis < 3; axis++) {
        good = good && d->filter[axis] == 1 && d->stride[axis] == 1 && d->pad[axis] == 0 && d->in[axis] == out[axis + 1];
    }
    return good;
}

static shape shape_of(const kw_bwd_weight *how, const kw_config *config, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    bool merge = how->merge, lanes_c = how->lanes_c, amx = multiplies_tiles(config);
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP || config->axis[KW_AXIS_MATH] == KW_MATH_WIDE || amx;
    int64_t ways = kw_max(how->ways, 1), width = weight_vector_width(config, how) / ways, tile = how->tile;
    shape s = {.dp = dp,
               .merge = merge,
               .padded = dp || merge,
               .amx = amx,
               .dims = *d,
               .out = {d->n},
               .groups = kw_ceil_div(d->g, ways),
               .k = d->k / d->g};
    if (how->own) {
        s.groups = kw_ceil_div(d->k, width);
        s.k = width;
    }
    kw_problem_output(s.out + 1, problem);
    for (int axis = 0; axis < 3; axis++) { /* tiles see no others than these */
        if (KW_BWD_WEIGHT_IS_THIN(d->filter[axis], d->pad[axis], d->stride[axis], d->in[axis], s.out[axis + 1])) {
            s.dims.in[axis] = s.out[axis + 1];
            s.dims.stride[axis] = 1;
        }
    }
    bool even = kw_problem_pixels_are_even(problem, KW_X) && kw_problem_pixels_are_even(problem, KW_Y);
    if (!how->own && even && reads_pixels_once(d, s.out)) { /* boxes of any size, and no row ends with half a pair */
        int64_t pixels = s.out[0] * s.out[1] * s.out[2] * s.out[3];
        s.flat = true;
        s.dims.n = s.out[0] = 1;
        for (int axis = 0; axis < 3; axis++) {
            s.dims.in[axis] = s.out[axis + 1] = axis == 2 ? pixels : 1;
        }
    }
    s.c = d->c / d->g * (merge ? d->filter[2] : 1);
    s.rows = kw_max(how->merge, 1);
    s.taps = d->filter[0] * d->filter[1] / s.rows * (merge ? 1 : d->filter[2]);
    s.x_width = lanes_c ? width : tile;
    s.y_width = lanes_c ? tile : width;
    s.x_blocks = kw_ceil_div(s.c, s.x_width);
    s.y_blocks = kw_ceil_div(s.k, s.y_width);
    s.x_pixel = (merge || (how->ways && !lanes_c) ? d->c / d->g : s.x_blocks * s.x_width) * ways * WORD;
    s.y_pixel = (how->ways && lanes_c ? s.k : s.y_blocks * s.y_width) * ways * WORD;
    if (how->own) {
        s.x_pixel = d->c / d->g * width * WORD;
    }
    return s;
}

/* Pairs of so many pixels of a row, whole chunks of math=amx. */
static int64_t pairs_of(const shape *s, int64_t pixels) {
    int64_t pairs = kw_ceil_div(pixels, 2);
    return s->amx ? KW_AMX_CHUNKS(pairs) * KW_AMX_CHUNK(pairs) : pairs;
}

/* Words of a spread channel's copied row. */
static int64_t words_of(const shape *s, int64_t pixels) {
    int64_t pairs = kw_ceil_div(pixels, 2);
    return s->amx ? KW_AMX_CHUNKS(pairs) * KW_BWD_WEIGHT_PITCH(KW_AMX_CHUNK(pairs)) / WORD : s->dp ? pairs : pixels;
}

/* Positions of x that pixels outputs of an axis read, at most. */
static int64_t source_reach(const shape *s, const kw_conv_dims *d, int axis, int64_t pixels) {
    bool paired = s->dp && axis == 2;
    if (paired && !s->merge && d->filter[axis] == 1) {
        return pairs_of(s, pixels);
    }
    pixels = paired ? 2 * pairs_of(s, pixels) : pixels;
    int64_t all = (pixels - 1) * d->stride[axis] + (d->filter[axis] - 1) * d->dilation[axis] + 1;
    return (s->padded && axis == 2) || (s->rows > 1 && axis == 1) ? all : kw_min(all, d->in[axis]);
}

static int64_t x_bytes(const shape *s, const kw_conv_dims *d, const int64_t box[4]) {
    return box[KW_BOX_N] * source_reach(s, d, 0, box[KW_BOX_D]) * source_reach(s, d, 1, box[KW_BOX_H]) *
           source_reach(s, d, 2, box[KW_BOX_W]) * s->x_pixel;
}

static int64_t y_bytes(const shape *s, const int64_t box[4]) {
    return box[KW_BOX_N] * box[KW_BOX_D] * box[KW_BOX_H] * words_of(s, box[KW_BOX_W]) * s->y_pixel;
}

/* A box's bytes; in floating point, for the first box tried is the whole problem. */
static double box_bytes(const shape *s, const kw_conv_dims *d, const int64_t box[4]) {
    double x = (double)source_reach(s, d, 0, box[KW_BOX_D]) * (double)source_reach(s, d, 1, box[KW_BOX_H]) *
               (double)source_reach(s, d, 2, box[KW_BOX_W]) * (double)s->x_pixel;
    double y = (double)box[KW_BOX_D] * (double)box[KW_BOX_H] * (double)words_of(s, box[KW_BOX_W]) * (double)s->y_pixel;
    return (double)box[KW_BOX_N] * (x + y);
}

static bool within(const shape *s, const kw_conv_dims *d, const int64_t box[4], int64_t budget) {
    return box_bytes(s, d, box) <= (double)budget;
}

/* The largest even share of the problem within the budget, narrowed on the outermost axes first. */
static void choose_box(const shape *s, const kw_conv_dims *d, int64_t budget, int64_t box[4]) {
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        box[axis] = s->out[axis];
    }
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        int64_t least = axis == KW_BOX_W ? kw_min(s->out[KW_BOX_W], 32) : 1; /* shorter rows would be mostly overlap */
        for (int64_t parts = 2; box[axis] > least && !within(s, d, box, budget); parts += parts / 8 + 1) {
            box[axis] = kw_max(kw_ceil_div(s->out[axis], parts), least);
            if (axis == KW_BOX_W && s->dp) {
                box[axis] = kw_round_up(box[axis], 2); /* pairs do not cross boxes */
            }
        }
    }
}

/* Of the second level, boxes have half: what runs on the core's other thread has the rest, and of 80 channels on 50x50, which take three quarters,
 * tiles took 1.4 times as long then, while alone they lose nothing. All of it where it saves a second box of more sums than the level holds, for
 * these are loaded and stored for each box. */
static int64_t box_budget(const kw_bwd_weight *how, const shape *s, const kw_conv_dims *d, int64_t sums, int64_t cache) {
    return within(s, d, s->out, cache) && (how->amx || how->own || sums > cache) ? cache : cache / 2;
}

/* What neighbouring boxes both read is copied twice: whether it is at most a quarter of all. */
static bool overlaps_little(const shape *s, const kw_conv_dims *d, int64_t budget) {
    int64_t box[4];
    double boxes = 1;
    choose_box(s, d, budget, box);
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        boxes *= (double)kw_ceil_div(s->out[axis], box[axis]);
    }
    return 4 * boxes * box_bytes(s, d, box) <= 5 * box_bytes(s, d, s->out);
}

/* Of filters that reach far, boxes are larger. They may leave the second level, as the vectors of a copied pixel are read by so many tiles. */
static int64_t far_budget(const shape *s, const kw_conv_dims *d, int64_t budget, int64_t most) {
    while (budget < most && !overlaps_little(s, d, budget)) {
        budget *= 2;
    }
    return kw_min(budget, most);
}

/* Lines of memory that narrow groups share are read once for all of them: so many groups as are 512 bytes of a pixel, if boxes that hold
 * all of these overlap no more than far_budget() allows. What has ways copies no more for that, so nearly always whole pixels: of 30 groups of
 * 11 channels, tensors of 2 MB, share by share the copies took as long as the products. */
enum { TOGETHER_BYTES = 512, WAYS_TOGETHER_BYTES = 8192 };
static int64_t groups_together(const kw_bwd_weight *how, const kw_config *config, const shape *s, const kw_conv_dims *d, int64_t budget) {
    const int64_t most = how->ways ? WAYS_TOGETHER_BYTES : TOGETHER_BYTES;
    int64_t bytes = kw_max(d->c, d->k) / d->g * kw_max(how->ways, 1) * (int64_t)kw_dtype_size(config->dtype);
    int64_t together = how->own || how->amx ? 1 : kw_max(kw_min(most / bytes, s->groups), 1);
    while (together > 1 && !overlaps_little(s, d, budget / together)) {
        together /= 2;
    }
    return together;
}

/* Fewer pixels would be multiplied sooner than the sums are loaded and stored; shares of a box may have a quarter less. Of wide pixels that are
 * read as they lie, which take up to two pages each, half as many will do, for else every tile meets pages that the TLB no longer has: its
 * first level has 64 to 96 entries in the cores of these years. */
enum { PIXELS_LEAST = 128, SHARE_LEAST = 96, PAGED_LEAST = 64, PAGE = 4096, PAGES = 64 };

/* Pixels whose share of a row of tiles stays in the first level: all its tiles read the same channels of the vector side. Where these are
 * read as they lie, each pixel begins in the midst of a line, at a multiple of what divides its distance from the next. */
static int64_t near_pixels(const kw_bwd_weight *how, const shape *s, const kw_conv_dims *d, int64_t width, int64_t l1) {
    int64_t bytes = (width + how->tile) * WORD;
    if (how->copy == KW_COPY_NONE) {
        int64_t steps = (how->lanes_c ? d->c : d->k) * WORD | width * WORD | KW_LINE;
        bytes = width * WORD + KW_LINE - (steps & -steps) + 2 * KW_LINE;
    }
    int64_t pixels = kw_max(PIXELS_LEAST, l1 / kw_min(bytes, s->x_pixel + s->y_pixel));
    int64_t apart = (how->copy == KW_COPY_NONE ? kw_min(d->c * WORD, PAGE) : 0) + kw_min(d->k * WORD, PAGE);
    return how->copy != KW_COPY_BOTH ? kw_min(pixels, kw_max(PAGES * PAGE / apart, PAGED_LEAST)) : pixels;
}

/* A filter of 1 has no tap that reads a box's pixels again, so its boxes are what a row of tiles finds in the first level. */
static void choose_near_box(const kw_bwd_weight *how, const shape *s, const kw_conv_dims *d, int64_t width, int64_t most,
                            const kw_target *target, int64_t box[4]) {
    int64_t pixels = 0;
    /* In floating point, as box_bytes(): a stride may be as large as it likes. */
    double pixel = (double)s->x_pixel * (double)d->stride[0] * (double)d->stride[1] * (double)d->stride[2] + (double)s->y_pixel;
    double near = (double)near_pixels(how, s, d, width, target->l1) * pixel;
    int64_t budget = near < (double)most ? (int64_t)near : most;
    int64_t least = how->copy != KW_COPY_BOTH ? PAGED_LEAST : SHARE_LEAST;
    for (; pixels < least; budget += budget / 8) {
        choose_box(s, d, kw_min(budget, most), box);
        pixels = budget < most ? box[KW_BOX_N] * box[KW_BOX_D] * box[KW_BOX_H] * box[KW_BOX_W] : least;
    }
}

/* Whether dw is written in its order: of few pixels, which stay in the second level, it takes longer to write than to sum, and where it is
 * far larger than that level, pages change with every row of a tile. Where the last level is far, cores fetch ahead what is written in order,
 * which pays for smaller dw too, the fewer pixels there are. */
static bool writes_most(const kw_bwd_weight *how, const shape *s, const kw_problem *problem, int64_t boxes, const kw_target *target) {
    enum { PIXELS_MOST = 256, PIXELS_FEW = 64 };
    int64_t pixels = s->out[KW_BOX_N] * s->out[KW_BOX_D] * s->out[KW_BOX_H] * s->out[KW_BOX_W],
            bytes = kw_problem_elements(problem, KW_W) * WORD;
    bool large = bytes > 4 * target->l2 || (kw_tile_far(target) && pixels <= PIXELS_FEW && bytes > target->l2 * 3 / 2);
    return how->lanes_c && !how->own && !how->amx && boxes == 1 && pixels <= PIXELS_MOST && large &&
           within(s, &s->dims, s->out, target->l2 / 2);
}

/* Into how many parts the spread side's blocks are cut, so that a slab copies few of them: evenly, and no finer than twice what slabs want. */
static int64_t split_of(const kw_bwd_weight *how, const shape *s, int64_t slabs) {
    int64_t v_blocks = how->lanes_c ? s->x_blocks : s->y_blocks, blocks = how->lanes_c ? s->y_blocks : s->x_blocks;
    int64_t wanted = kw_min(kw_ceil_div(slabs, s->groups * v_blocks), blocks), split = wanted;
    while (blocks % split) {
        split++;
    }
    return how->copy == KW_COPY_NONE || how->own || split > 2 * wanted ? 1 : split;
}

/* Shares of the boxes. Without them threads rest, or each copies, or reads by parts of lines, pixels that others do too. Their sums, as fp32,
 * take at most a quarter of the bytes that are copied, or an eighth of those that are read as they lie. Fewer shares do where units are tiles of
 * a share (nothing copied, one tap at a time), and for tile registers, of whose time the sums of more would be a twentieth. They depend on the
 * problem alone, and so do the bits of results. */
static int64_t parts_wanted(const kw_bwd_weight *how, const shape *s, const kw_conv_dims *d, int64_t sums) {
    enum { COPIED_PARTS = 32, FEWER_PARTS = 16 };
    double most = box_bytes(s, d, s->out) / ((how->copy == KW_COPY_BOTH ? 4.0 : 8.0) * (double)sums);
    double limit = how->amx || (how->copy == KW_COPY_NONE && !how->merge) ? FEWER_PARTS : COPIED_PARTS;
    return !how->parted || most < 2 ? 1 : (int64_t)(most < limit ? most : limit);
}

static bool may_lack(const kw_bwd_weight *how, const kw_config *config) {
    bool fma = config->axis[KW_AXIS_MATH] == KW_MATH_FMA && config->dtype != KW_INT8;
    return KW_TILE_MAY_LACK(fma && kw_config_isa(config)->lanes == 8, false, how->vecs, how->own || how->ways);
}

/* Merged rows are read where they lie, but for what the edges of images have. */
static bool copies_edges(const kw_bwd_weight *how) {
    return how->merge && how->copy == KW_COPY_NONE;
}

/* Boxes of that size, and those at the edges; what is copied of x for all of these and, at most, for one of them. */
typedef struct cuts {
    int64_t boxes, bytes, most;
} cuts;

/* As bwd_weight_boxes.h has it. */
static cuts cut_boxes(const kw_bwd_weight *how, const shape *s, const kw_conv_dims *d, const int64_t box[4]) {
    cuts cut = {.boxes = 1};
    int64_t rest[4] = {s->out[0], s->out[1], s->out[2], s->out[3]}, edges = 0;
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        if (copies_edges(how) && (axis == KW_BOX_W || (axis == KW_BOX_H && s->rows > 1))) {
            int64_t stride = d->stride[axis - 1], pad = d->pad[axis - 1];
            int64_t last = d->in[axis - 1] + pad - (d->filter[axis - 1] - 1) * d->dilation[axis - 1] - 1;
            int64_t low = kw_min(kw_ceil_div(pad, stride), rest[axis]);
            int64_t high = last < 0 ? low : kw_max(kw_min(last / stride + 1, rest[axis]), low);
            const int64_t widths[2] = {low, rest[axis] - high};
            for (int i = 0; i < 2; i++) {
                int64_t edge[4] = {rest[0], rest[1], rest[2], rest[3]};
                edge[axis] = widths[i];
                int64_t bytes = widths[i] ? x_bytes(s, d, edge) : 0;
                edges += widths[i] != 0;
                cut.bytes += bytes;
                cut.most = kw_max(cut.most, bytes);
            }
            rest[axis] = high - low;
        }
        cut.boxes *= kw_ceil_div(rest[axis], box[axis]);
    }
    cut.boxes += edges;
    return cut;
}

/* Of so many spread channels, those that are summed: others of the last tile, unless they are shared out evenly. */
static int64_t spread_rows(const kw_bwd_weight *how, const kw_config *config, int64_t channels, int64_t blocks) {
    bool fewer = how->ways ||
                 (!how->merge && KW_BWD_WEIGHT_FEWER(config->axis[KW_AXIS_MATH] == KW_MATH_FMA, kw_config_isa(config)->lanes, how->copy));
    return fewer && KW_TILES_ARE_EVEN(channels, blocks, how->tile) ? channels : blocks * how->tile;
}

/* What tiles of vector registers multiply and load for so many pixels. */
static void count_vectors(const kw_bwd_weight *how, const kw_config *config, const shape *s, double pixels, kw_launch *launch) {
    int64_t width = weight_vector_width(config, how) / kw_max(how->ways, 1);
    double rows = (double)(how->tile * s->rows), vecs = how->vecs, v_blocks = (double)(how->lanes_c ? s->x_blocks : s->y_blocks);
    int64_t b_blocks = how->lanes_c ? s->y_blocks : s->x_blocks, channels = spread_rows(how, config, how->lanes_c ? s->k : s->c, b_blocks);
    double spread = (double)(s->groups * b_blocks) * pixels;
    const kw_tile tile_of = {.rows = 1, .cols = (int32_t)rows, .vecs = how->vecs};
    const kw_tile_work work = {.block = width, .lacks = may_lack(how, config)};
    int64_t v_channels = how->lanes_c ? s->c : s->k;
    launch->multiply_adds = (double)(s->groups * channels * s->rows) * pixels * kw_tile_products(&work, &tile_of, v_channels);
    double elements = vecs > 1 || s->dp ? rows + vecs : rows * vecs + 1;
    launch->loads = spread * (v_blocks * elements - (v_blocks * vecs - (double)kw_tile_vectors(&work, &tile_of, v_channels)));
}

/* The same of tile registers: those without channels are left out. */
static void count_registers(const kw_bwd_weight *how, const shape *s, double pixels, kw_launch *launch) {
    int64_t rows = kw_ceil_div(s->k, KW_AMX_ROWS), vecs = kw_ceil_div(s->c, s->x_width / how->vecs);
    int64_t tile_rows = how->tile / KW_AMX_ROWS, row_loads = rows * s->x_blocks, vec_loads = vecs * s->y_blocks;
    const kw_tile tile = {.rows = 1, .cols = how->tile, .vecs = how->vecs};
    if (!kw_tile_fits_amx(&tile)) { /* the larger side is loaded again (kw_tile_emit_parts) */
        *(tile_rows > how->vecs ? &row_loads : &vec_loads) = rows * vecs;
    }
    launch->multiply_adds = (double)(s->groups * rows * KW_AMX_ROWS * vecs) * pixels;
    launch->loads = (double)(s->groups * (row_loads + vec_loads)) * pixels;
}

/* Instructions that take the place of a multiply-add, a copied vector whose values go in turn. */
#define INTERLEAVES 4.0

void kw_bwd_weight_launch(const kw_bwd_weight *how, const kw_config *config, const kw_problem *problem, const kw_target *target,
                          kw_launch *launch) {
    shape s = shape_of(how, config, problem);
    const kw_conv_dims *d = &s.dims;
    int64_t width = weight_vector_width(config, how), tile_bytes = KW_BWD_WEIGHT_TILE_BYTES(how->tile * s.rows, width), box[4], boxes;
    int64_t tiles = s.groups * s.taps * s.x_blocks * s.y_blocks, parts = parts_wanted(how, &s, d, tiles * tile_bytes);
    int64_t most = box_budget(how, &s, d, tiles / s.groups * tile_bytes, target->l2);
    int64_t budget = how->box_kib ? (int64_t)how->box_kib * 1024 : how->ways ? target->l2 / 2 : most;
    if (!how->box_kib && how->copy != KW_COPY_NONE && !how->amx) {
        budget = far_budget(&s, d, budget, kw_max(kw_min(8 * target->l2, target->l3 / 4), budget));
    }
    int64_t together = groups_together(how, config, &s, d, budget);
    double share = box_bytes(&s, d, s.out) / (double)parts;
    if (!how->box_kib && s.taps == 1 && (!s.merge || s.flat) && !how->own && !how->amx) {
        choose_near_box(how, &s, d, width, most, target, box);
    } else {
        choose_box(&s, d, parts > 1 && share < (double)budget ? (int64_t)share : budget / together, box);
    }
    *launch = (kw_launch){.stages = 1};
    kw_bwd_weight_params *params = kw_launch_params(launch, kw_bwd_weight_params);
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        params->box[axis] = box[axis];
    }
    cuts cut = cut_boxes(how, &s, d, box);
    boxes = cut.boxes;
    parts = kw_ceil_div(boxes, kw_ceil_div(boxes, kw_min(parts, boxes)));
    /* Each thread copies what its tiles read, so it has them in one go: no more slabs than threads. */
    bool copies = how->copy != KW_COPY_NONE || copies_edges(how);
    int64_t slabs = !copies ? tiles : kw_min(tiles, kw_ceil_div(target->units, parts));
    params->along = writes_most(how, &s, problem, boxes, target);
    params->split = (short)(params->along ? 1 : split_of(how, &s, slabs));
    params->parts = (short)parts;
    params->slabs = copies ? (int)slabs : 0;
    launch->stage[0] = (kw_stage){.units = parts * slabs};
    if (parts > 1) {
        launch->stage[launch->stages++] = (kw_stage){.units = kw_min(tiles, KW_BWD_WEIGHT_SUMS)};
    }
    /* Each block of a copy, and a merged row, may be overrun by a vector. */
    int64_t spare = width * WORD + KW_LINE, ways = kw_max(how->ways, 1), x = 0, y = 0;
    if (copies) {
        x = kw_round_up((copies_edges(how) ? cut.most : x_bytes(&s, d, box)) + (s.x_blocks + 1) * spare +
                            how->tile * WORD * (how->own ? width : ways),
                        KW_LINE);
    }
    if (how->copy == KW_COPY_BOTH) {
        y = kw_round_up(y_bytes(&s, box) + (s.y_blocks + 1) * spare + how->tile * WORD * (how->ways ? ways : 0), KW_LINE);
    }
    params->together = (short)together;
    params->x_bytes = x;
    params->y_bytes = y;
    params->chunk = (short)KW_AMX_CHUNK(kw_ceil_div(box[KW_BOX_W], 2));
    params->flat = s.flat;
    params->soon = s.flat && d->g == 1 && !how->amx && kw_problem_is_dense(problem) && !within(&s, d, s.out, target->l2);
    int64_t row = how->merge && !kw_problem_is_dense(problem) ? d->in[2] * (d->c / d->g) * WORD : 0; /* kw_bring_together() */
    launch->thread_bytes = together * (x + y) + kw_round_up(tile_bytes, KW_LINE) + kw_round_up(row, KW_LINE) + KW_LINE;
    launch->shared_bytes = boxes > 1 ? parts * tiles * tile_bytes : 0;

    double pixels = (double)d->n;
    pixels *= s.flat ? 1 : (double)kw_problem_axis_products(problem, 0);
    pixels *= s.flat ? 1 : s.rows > 1 ? (double)(s.out[KW_BOX_H] * d->filter[1] / s.rows) : (double)kw_problem_axis_products(problem, 1);
    pixels *= s.dp                 ? (double)(pairs_of(&s, s.out[KW_BOX_W]) * (how->merge ? 1 : d->filter[2]))
              : s.padded || s.flat ? (double)s.out[KW_BOX_W]
                                   : (double)kw_problem_axis_products(problem, 2);
    if (s.amx) {
        count_registers(how, &s, pixels, launch);
    } else {
        count_vectors(how, config, &s, pixels, launch);
    }
    double copied = copies_edges(how) ? (double)cut.bytes : (double)(s.groups * boxes) * (double)(x + y);
    launch->copied_bytes = 2.0 * copied + 2.0 * (double)(tiles * tile_bytes) * (double)(boxes - 1);
    if (how->ways) { /* copies and sums stay in the second level; values go in turn by instructions */
        double moved = (double)(s.groups * boxes) * (double)(x_bytes(&s, d, box) + y_bytes(&s, box));
        launch->multiply_adds += INTERLEAVES * moved / (double)(kw_config_isa(config)->lanes * WORD);
        launch->copied_bytes = moved + 0.5 * (double)(tiles * tile_bytes) * (double)(boxes - 1);
    }
    if (!how->lanes_c) { /* stores its sums one by one, each into a line of its own */
        launch->copied_bytes += (double)kw_problem_elements(problem, KW_W) * KW_LINE;
    }
}

/* The lists by which kernels/cpu/bwd_weight/bwd_weight_tile.h unrolls its loops. */
void kw_bwd_weight_emit(const kw_bwd_weight *how, kw_text *text) {
    int rows = how->tile * (how->merge ? how->merge : 1), vecs = how->vecs;
    kw_text_addf(text, "#define KW_LANES_C %d\n#define KW_TILE %d\n#define KW_VECS %d\n#define KW_COPY %d\n#define KW_MERGE %d\n",
                 how->lanes_c, how->tile, vecs, how->copy, how->merge);
    kw_text_addf(text, "#define KW_OWN %d\n#define KW_WAYS %d\n", how->own, how->ways);
    if (how->amx) {
        kw_tile tile = {.rows = 1, .cols = rows, .vecs = vecs};
        kw_tile_emit_parts(text, &tile);
        return;
    }
    kw_text_add(text, "#define KW_EACH_ROW(DO)");
    for (int r = 0; r < rows; r++) {
        kw_text_addf(text, " DO(%d)", r);
    }
    kw_text_add(text, "\n#define KW_EACH_VECTOR(DO, row)");
    for (int v = 0; v < vecs; v++) {
        kw_text_addf(text, " DO(row, %d)", v);
    }
    kw_text_add(text, "\n#define KW_EACH_BUT_LAST(DO, row)");
    for (int v = 0; v + 1 < vecs; v++) {
        kw_text_addf(text, " DO(row, %d)", v);
    }
    kw_text_addf(text, "\n#define KW_LAST_VECTOR(DO, row) DO(row, %d)\n", vecs - 1);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_bwd_weight how = bwd_weight_of(config);
    kw_bwd_weight_launch(&how, config, problem, target, launch);
}

static void conv_direct_bwd_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_bwd_weight how = bwd_weight_of(config);
    if (problem->layout == KW_CHANNELS_LAST) {
        how.parted = config->dtype != KW_INT8;
        kw_bwd_weight_launch(&how, config, problem, target, launch);
        return;
    }
    kw_reorder_launch(launch_last, config, problem, target, launch);
}

static void conv_direct_bwd_weight_emit(const kw_config *config, kw_text *text) {
    kw_bwd_weight how = bwd_weight_of(config);
    kw_bwd_weight_emit(&how, text);
}

const kw_family kw_family_conv_direct_bwd_weight = {
    .name = "conv.direct_bwd_weight",
    .summary = "dense backward weight: sums over boxes of pixels, channels last",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .pitched = true,
    .pitched_text = true,
    .tiles = true,
    .ops = 1u << KW_CONV_BWD_WEIGHT,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_FP8 | 1u << KW_BF8 | 1u << KW_INT8,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_direct_bwd_weight_launch,
    .emit = conv_direct_bwd_weight_emit,
    .kernel = "cpu/bwd_weight/bwd_weight.c",
};

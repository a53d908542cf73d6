/* conv_depthwise_block.c: convolution with one channel a group, all directions, by lanes that keep a subtile's sums. The kernel text is
 * kernels/gpu/depthwise/depthwise.c, and the counts of a block are those of its args.h. A block is one wave, so most rules ask the
 * architecture how wide that is. */
#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/epilogue_text.h"
#include "families/gpu/defines.h"
#include "families/gpu/resident.h"
#include "families/gpu/turned.h"
#include "problem/view.h"

#define AXES(X)                                                                                                                            \
    X(ndim, NULL, 1, 3, "spatial axes of the problem")                                                                                     \
    X(tile_h, NULL, 1, 256, "rows of the result that a block computes of each plane; a plane is a channel of an image")                    \
    X(tile_w, NULL, 1, 256, "columns of the result that a block computes")                                                                 \
    X(filter, NULL, 1, 63, "rows and columns of the filter; of one axis, its taps")                                                        \
    X(stride, NULL, 1, 16, "stride along height and width")                                                                                \
    X(pad, NULL, 0, 63, "padding before height and width")                                                                                 \
    X(dilation, NULL, 1, 16, "dilation along height and width")                                                                            \
    X(filter_d, NULL, 1, 15, "slices of the filter along the depth, of three axes")                                                        \
    X(stride_d, NULL, 1, 16, "stride along the depth")                                                                                     \
    X(pad_d, NULL, 0, 15, "padding before the depth")                                                                                      \
    X(batch, NULL, 1, 1024, "planes that a block computes: images of a channel, or with order=last channels of an image")                  \
    X(sub_h, NULL, 1, 64, "rows that a thread computes")                                                                                   \
    X(sub_w, NULL, 1, 64, "columns that a thread computes")                                                                                \
    X(vec_in, NULL, 1, 16, "elements of the source that a thread loads together: columns, or with order=last channels")                    \
    X(vec_out, NULL, 1, 16, "elements of the result (bwd_weight: of y) that a thread moves together; with order=last its channels")        \
    X(order, "first last", 0, 1, "first: channels before pixels in memory; last: behind them")                                             \
    X(path, "lds registers", 0, 1,                                                                                                         \
      "lds: tiles of the source pass shared memory; registers (conv_bwd_weight): threads walk down sub_h rows of their columns")           \
    X(waves, NULL, 1, 32, "conv_bwd_weight: waves of a block, each with tiles of its own; else 1")                                         \
    X(peers, NULL, 1, 8,                                                                                                                   \
      "conv_bwd_weight: blocks of a cluster, which add their sums through each other's shared memory; 1: a second stage adds all blocks'")

enum {
#define PLACE(name, words, low, high, meaning) AXIS_##name,
    AXES(PLACE)
#undef PLACE
};

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis depthwise_axes[] = {AXES(ROW)};
#undef ROW

typedef enum order_word { FIRST, LAST } order_word;

/* A config read, and what a wave of so many lanes makes of it. Pairs are of height and width. */
typedef struct depthwise_block {
    kw_op op;
    int64_t bytes, result_bytes; /* of an element */
    int64_t ndim, tile[2], sub[2], filter[2], stride[2], pad[2], dilation, depth_filter, depth_stride, depth_pad, batch, vec_in, vec_out,
        waves, peers;
    order_word order;
    bool walks;                  /* path=registers */
    int64_t lanes, lds;          /* of the target; 0 where none is asked */
    int64_t unit_registers;      /* of a multiprocessor */
    bool copies, clusters;       /* its architecture has copies of 16 bytes that pass no registers; clusters of blocks */
    int64_t subtiles;            /* of a tile */
    int64_t step_w, span[2];     /* source columns from subtile to subtile; source rows and columns of one */
    int64_t planes, lane_planes; /* at a time: of the wave, of a lane */
    int64_t row_read, lds_bytes; /* columns that a lane reads from shared memory together; shared memory */
    int64_t accesses;            /* of a wave's lanes to shared memory and to results, for its planes of a tile; order=first */
} depthwise_block;

/* The names that the counts of the kernel's text are made of; b is a depthwise_block. */
#define KW_OP b->op
#define KW_OP_CONV_BWD_DATA KW_CONV_BWD_DATA
#define KW_OP_CONV_BWD_WEIGHT KW_CONV_BWD_WEIGHT
#define KW_BYTES b->bytes
#define KW_OUT_BYTES b->result_bytes
#define KW_ORDER b->order
#define KW_ORDER_FIRST FIRST
#define KW_NDIM b->ndim
#define KW_TILE_H b->tile[0]
#define KW_TILE_W b->tile[1]
#define KW_SUB_H b->sub[0]
#define KW_SUB_W b->sub[1]
#define KW_FILTER b->filter[1]
#define KW_FILTER_D b->depth_filter
#define KW_STRIDE b->stride[1]
#define KW_PAD b->pad[1]
#define KW_DILATION b->dilation
#define KW_VEC_IN b->vec_in
#define KW_VEC_OUT b->vec_out
#define KW_WAVE b->lanes
#define KW_HAS_ASYNC16 b->copies
#define KW_WAVES b->waves
#define KW_PATH b->walks
#define KW_PATH_REGISTERS true
#define KW_PEERS b->peers
#define KW_CEIL kw_ceil_div
#include "gpu/depthwise/args.h"
#include "gpu/lib/resources.h"

/* Runs of the source are stored whole or element by element, as results are that pass shared memory, once in and once out. */
static int64_t count_accesses(const depthwise_block *b) {
    int64_t stores = b->planes * KW_SRC_H * KW_ROW / (KW_RUNS_WHOLE ? KW_IN_RUN : 1);
    int64_t reads = b->lanes * KW_SPAN_H * (KW_READ_COLS / KW_READ);
    int64_t pixels = KW_WEIGHT ? 0 : b->planes * KW_TILE_H * KW_TILE_W;
    return KW_FIRST ? stores + reads + (KW_OUT_STAGED ? 2 * pixels : pixels / KW_OUT_RUN) : 0;
}

static void count_depthwise_block(depthwise_block *b) {
    b->filter[0] = KW_FILTER_H;
    b->stride[0] = KW_STRIDE_H;
    b->pad[0] = KW_PAD_H;
    b->step_w = KW_MOVED(KW_SUB_W);
    b->span[0] = KW_SPAN_H;
    b->span[1] = KW_SPAN_W;
    b->subtiles = KW_SUBTILES;
    b->planes = KW_PLANES;
    b->lane_planes = KW_LANE_PLANES;
    b->row_read = KW_ROW_READ;
    b->lds_bytes = KW_LDS_BYTES;
    b->accesses = count_accesses(b);
}

static depthwise_block read_depthwise_config(const kw_config *config, const kw_target *target) {
    const int32_t *axis = config->axis;
    const kw_gpu_arch *arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    depthwise_block b = {.op = config->op,
                         .bytes = (int64_t)kw_dtype_size(config->dtype),
                         .result_bytes = (int64_t)kw_dtype_size(kw_config_output(config)),
                         .tile = {axis[AXIS_tile_h], axis[AXIS_tile_w]},
                         .sub = {axis[AXIS_sub_h], axis[AXIS_sub_w]},
                         .ndim = axis[AXIS_ndim],
                         .filter = {0, axis[AXIS_filter]},
                         .stride = {0, axis[AXIS_stride]},
                         .pad = {0, axis[AXIS_pad]},
                         .dilation = axis[AXIS_dilation],
                         .depth_filter = axis[AXIS_filter_d],
                         .depth_stride = axis[AXIS_stride_d],
                         .depth_pad = axis[AXIS_pad_d],
                         .batch = axis[AXIS_batch],
                         .vec_in = axis[AXIS_vec_in],
                         .vec_out = axis[AXIS_vec_out],
                         .order = axis[AXIS_order] ? LAST : FIRST,
                         .walks = axis[AXIS_path] != 0,
                         .waves = axis[AXIS_waves],
                         .peers = axis[AXIS_peers],
                         .lanes = target ? kw_max(1, target->lanes) : 0,
                         .lds = target ? target->lds : 0,
                         .unit_registers = target && target->unit_registers ? target->unit_registers
                                           : arch                           ? arch->typical.unit_registers
                                                                            : 0,
                         .copies = target && kw_gpu_arch_has(arch, KW_GPU_async16),
                         .clusters = target && kw_gpu_arch_has(arch, KW_GPU_tma)};
    count_depthwise_block(&b);
    return b;
}

_Static_assert(sizeof(depthwise_block) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a depthwise_block");

static void decode_depthwise_config(const kw_config *config, const kw_target *target, void *decoded) {
    *(depthwise_block *)decoded = read_depthwise_config(config, target);
}

/* --- rules --- */

static bool is_vector(const depthwise_block *b, int64_t elements) {
    enum { VECTOR_BYTES = 32 };
    return !(elements & (elements - 1)) && elements * b->bytes <= VECTOR_BYTES;
}

static bool vectors_are_powers(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return is_vector(b, b->vec_in) && is_vector(b, b->vec_out);
}

static bool sub_in_tile(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->sub[0] <= b->tile[0] && b->sub[1] <= b->tile[1];
}

/* Sums, source rows and the filter of a thread, all of them in registers; of a walk the next step's rows too. */
static int64_t count_values(const depthwise_block *b) {
    int64_t rows = b->walks ? kw_ceil_div(b->filter[0], b->stride[0]) + 1 : b->sub[0];
    int64_t source = b->walks ? 2 * b->stride[0] * b->span[1] : b->span[1];
    return (rows * b->sub[1] + b->filter[0] * b->filter[1] + source) * b->lane_planes;
}

static bool depthwise_sums_fit_registers(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    enum { VALUES = 224 };
    return count_values(b) <= VALUES;
}

static bool phases_are_known(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    bool whole = true;
    for (int i = 0; i < 2; i++) {
        whole &= b->sub[i] % b->stride[i] == 0 && b->tile[i] % b->sub[i] == 0;
    }
    return b->op != KW_CONV_BWD_DATA || whole;
}

static bool reads_are_aligned(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->order == LAST || b->step_w % b->row_read == 0;
}

static bool weight_runs(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->op != KW_CONV_BWD_WEIGHT || b->order == LAST || (b->sub[1] % b->vec_out == 0 && b->tile[1] % b->vec_out == 0);
}

static bool one_axis(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->ndim > 1 || (b->tile[0] == 1 && b->sub[0] == 1);
}

static bool three_axes(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->ndim == 3 || (b->depth_filter == 1 && b->depth_stride == 1 && b->depth_pad == 0);
}

static bool waves_of_weights(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->op == KW_CONV_BWD_WEIGHT || b->waves == 1;
}

static bool walk_form(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return !b->walks || (b->op == KW_CONV_BWD_WEIGHT && b->order == LAST && b->sub[0] == b->tile[0] && b->tile[1] % b->sub[1] == 0 &&
                         b->vec_in == b->vec_out && b->dilation == 1 && b->span[1] <= 32);
}

static bool peers_of_weights(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->peers == 1 || (b->op == KW_CONV_BWD_WEIGHT && !(b->peers & (b->peers - 1)));
}

static const kw_rule depthwise_valid_rules[] = {
    {"one_axis", "with ndim=1 a tile has one row: tile_h=1 sub_h=1", one_axis},
    {"three_axes", "only ndim=3 has a depth: filter_d=1 stride_d=1 pad_d=0", three_axes},
    {"vector_width", "vec_in and vec_out are powers of two of at most 32 bytes", vectors_are_powers},
    {"sub_in_tile", "sub_h x sub_w, what a thread computes, lies in tile_h x tile_w", sub_in_tile},
    {"sums_in_registers", "a thread's sums, its filter and a row of its source must fit its registers: 224 values at most",
     depthwise_sums_fit_registers},
    {"phases", "conv_bwd_data knows the taps of a pixel by its place in the subtile: stride divides sub, and sub divides the tile",
     phases_are_known},
    {"read_vectors",
     "threads read rows in vectors of min(vec_in, 4) columns; the source columns between two subtiles must be multiples of it",
     reads_are_aligned},
    {"weight_runs", "conv_bwd_weight loads y in runs of vec_out columns, which must divide sub_w and tile_w", weight_runs},
    {"walk_form",
     "path=registers is for conv_bwd_weight with order=last: a thread has all rows of a tile (sub_h=tile_h), sub_w divides tile_w, "
     "vec_in is vec_out, dilation 1, and a row reads at most 32 columns",
     walk_form},
    {"waves", "blocks of several waves are for conv_bwd_weight", waves_of_weights},
    {"peers", "clusters of 2, 4 or 8 blocks (peers) are for conv_bwd_weight", peers_of_weights},
    {0},
};

static bool subtiles_in_wave(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->subtiles <= b->lanes;
}

static bool batch_of_planes(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->op == KW_CONV_BWD_WEIGHT ? b->batch == b->planes : b->batch % b->planes == 0;
}

static bool planes_of_runs(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->order == FIRST || b->planes % b->vec_in == 0;
}

static bool depthwise_fits_lds(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->lds_bytes <= b->lds;
}

static bool depthwise_block_threads(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    enum { BLOCK_THREADS = 1024 };
    return b->waves * b->lanes <= BLOCK_THREADS;
}

static bool depthwise_clusters(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return b->peers == 1 || b->clusters;
}

static const kw_rule depthwise_runs_rules[] = {
    {"subtiles", "a wave has a tile, and the tile has more subtiles than that has threads", subtiles_in_wave},
    {"batch", "batch must be a multiple of the planes that a wave has at a time (conv_bwd_weight: just these)", batch_of_planes},
    {"plane_runs", "with order=last vec_in must divide the planes that a wave has at a time", planes_of_runs},
    {"block_threads", "a block has at most 1024 threads", depthwise_block_threads},
    {"lds", "what a tile reads of the source needs more shared memory than a block may have", depthwise_fits_lds},
    {"cluster_arch", "the architecture has no clusters of blocks, as peers asks", depthwise_clusters},
    {0},
};

/* --- which problems a config serves --- */

static bool one_channel_groups(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c == d->g && d->k == d->g;
}

static bool depthwise_ndim(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return c->problem->ndim == b->ndim;
}

static bool depthwise_order(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    return (c->problem->layout == KW_CHANNELS_FIRST) == (b->order == FIRST);
}

static bool depthwise_geometry(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    bool same = d->filter[0] == b->depth_filter && d->stride[0] == b->depth_stride && d->pad[0] == b->depth_pad &&
                (d->dilation[0] == 1 || d->filter[0] == 1);
    for (int i = 0; i < 2; i++) {
        same = same && d->filter[i + 1] == b->filter[i] && d->stride[i + 1] == b->stride[i] && d->pad[i + 1] == b->pad[i] &&
               (d->dilation[i + 1] == b->dilation || d->filter[i + 1] == 1);
    }
    return same;
}

static bool depthwise_vectors_divide(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    kw_problem_output(out, c->problem);
    bool data = b->op == KW_CONV_BWD_DATA;
    int64_t source = b->order == LAST ? d->g : data ? out[2] : d->in[2], result = b->order == LAST ? d->g : data ? d->in[2] : out[2];
    return source % b->vec_in == 0 && result % b->vec_out == 0;
}

static bool depthwise_image_counted(const kw_rule_case *c) {
    const depthwise_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3], planes = b->order == LAST ? d->g : 1, most = 1;
    bool good = true;
    kw_problem_output(out, c->problem);
    for (int side = 0; side < 2; side++) {
        const int64_t *pixels = side ? out : d->in;
        most = kw_max(most, kw_mul(kw_mul(pixels[0], pixels[1], &good), pixels[2], &good));
    }
    int64_t image = kw_mul(most, planes, &good), all = kw_mul(kw_mul(d->n, d->g, &good), most, &good);
    return good && image <= INT32_MAX / 2 && all / kw_max(1, b->tile[0] * b->tile[1]) <= INT32_MAX / 4;
}

static const kw_rule depthwise_takes_rules[] = {
    {"one_channel_groups", "the problem must have one channel a group, in and out", one_channel_groups},
    {0},
};

static const kw_rule depthwise_fits_rules[] = {
    {"ndim", "the problem has another number of spatial axes than ndim", depthwise_ndim},
    {"order", "order=first is for channels-first layouts, order=last for channels-last ones", depthwise_order},
    {"geometry",
     "filter, stride, pad and dilation are for just these on each axis; along the depth filter_d, stride_d and pad_d, undilated",
     depthwise_geometry},
    {"vectors_divide", "vec_in must divide the widths of the source, vec_out those of the result (order=last: the channels); 1 serves any",
     depthwise_vectors_divide},
    {"image_counted", "an image has at most 2^30 elements, and there are at most 2^29 blocks", depthwise_image_counted},
    {0},
};

/* --- launch --- */

/* Blocks of a multiprocessor, up to 16 waves. */
static int64_t blocks_for_weight(const depthwise_block *b) {
    enum { WAVES_WANTED = 16, OTHER_REGISTERS = 32 };
    int64_t registers = b->waves * b->lanes * (count_values(b) + OTHER_REGISTERS);
    return kw_max(1, kw_min(kw_gpu_resident_blocks(b->lds, b->lds_bytes, b->unit_registers, registers), WAVES_WANTED / b->waves));
}

/* A filter's sums are shared by as many blocks as there are at a time, which all have as many rounds of tiles to go over, or by a cluster. */
static void launch_depthwise_weight(const depthwise_block *b, const kw_problem *problem, const kw_target *target, int64_t out_h,
                                    kw_launch *launch) {
    enum { PARTS_MAX = 256, WALK_ROWS = 4 };
    kw_depthwise_block_params *params = kw_launch_params(launch, kw_depthwise_block_params);
    const kw_conv_dims *d = &problem->conv;
    bool first = b->order == FIRST;
    int64_t filters = (first ? d->g : kw_ceil_div(d->g, b->planes)) * b->depth_filter, images = first ? kw_ceil_div(d->n, b->planes) : d->n;
    int64_t most = kw_min(kw_max(1, blocks_for_weight(b) * kw_max(1, target->units) / filters), PARTS_MAX);
    bool joins = b->peers > 1;
    params->rows = b->tile[0];
    if (b->walks) {
        /* As many rows as leave each wave something to do, but not so few that the taps' rows beside them are as many. */
        int64_t shares = kw_ceil_div((joins ? b->peers : most) * b->waves, images * params->tiles_w * params->tiles_d);
        int64_t rows = kw_min(kw_max(kw_ceil_div(out_h, shares), WALK_ROWS), b->tile[0]);
        params->tiles_h = kw_ceil_div(out_h, rows);
        params->rows = kw_ceil_div(out_h, params->tiles_h);
    }
    int64_t units = images * params->tiles_h * params->tiles_w * params->tiles_d;
    int64_t rounds = kw_ceil_div(units, most * b->waves), parts = joins ? b->peers : kw_ceil_div(units, rounds * b->waves);
    params->parts = parts;
    params->units = units;
    params->elements = d->g * b->depth_filter * b->filter[0] * b->filter[1];
    launch->stage[0] = (kw_stage){filters * parts, false, (int32_t)(b->waves * b->lanes)};
    if (joins) {
        launch->cluster[0] = (int32_t)b->peers;
    } else if (parts > 1) {
        launch->stages = 2;
        launch->stage[1] = (kw_stage){kw_ceil_div(params->elements, KW_PARTS_SUMS(parts)), false, KW_ADD_THREADS};
        launch->shared_bytes = parts * params->elements * (int64_t)sizeof(float);
    }
    launch->copied_bytes = 2 * (double)launch->shared_bytes;
}

static void launch_in_order(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    depthwise_block b = read_depthwise_config(config, target);
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    const int64_t *pixels = b.op == KW_CONV_BWD_DATA ? d->in : out;
    int64_t tiles[2] = {kw_ceil_div(pixels[1], b.tile[0]), kw_ceil_div(pixels[2], b.tile[1])};
    int64_t planes = (b.order == FIRST ? kw_ceil_div(d->n, b.batch) * d->g : kw_ceil_div(d->g, b.batch) * d->n) * pixels[0];
    *launch = (kw_launch){.stages = 1, .stage = {{tiles[0] * tiles[1] * planes, false, (int32_t)b.lanes}}};
    *kw_launch_params(launch, kw_depthwise_block_params) =
        (kw_depthwise_block_params){.tiles_h = tiles[0], .tiles_w = tiles[1], .tiles_d = pixels[0]};
    if (b.op == KW_CONV_BWD_WEIGHT) {
        launch_depthwise_weight(&b, problem, target, out[1], launch);
    }
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    /* Of all waves, whose lanes beyond the image or the last subtile work for nothing: each subtile multiplies and reads its rows. */
    int64_t rows_h = b.sub[0], span_h = b.span[0]; /* of a thread; rows of the source that it reads, or with those of y */
    if (b.walks) {
        const kw_depthwise_block_params *params = kw_launch_params_of(launch, kw_depthwise_block_params);
        tiles[0] = params->tiles_h;
        rows_h = params->rows + kw_ceil_div(b.filter[0], b.stride[0]) - 1;
        span_h = rows_h * (b.stride[0] + 1);
    }
    double waves = (double)(tiles[0] * tiles[1] * planes) * (double)kw_max(1, b.batch / b.planes), slices = (double)b.depth_filter;
    double lane_planes = (double)b.lane_planes, taps = (double)(b.filter[0] * b.filter[1]);
    if (b.op == KW_CONV_BWD_DATA) {
        taps /= (double)(b.stride[0] * b.stride[1]);
        slices /= (double)b.depth_stride;
    }
    launch->multiply_adds = waves * slices * taps * (double)(rows_h * b.sub[1]) * lane_planes;
    double rows = (double)(span_h * b.span[1]) * lane_planes / (double)kw_min(b.vec_out, 4);
    /* Two accesses of order=first are as long as a load of order=last, by times of both on an H200. */
    launch->loads = waves * slices * (b.order == FIRST ? (double)b.accesses / (double)kw_max(1, 2 * b.lanes) : rows);
}

static void launch_depthwise(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_turned_launch(launch_in_order, config, problem, target, launch);
}

const kw_family kw_family_conv_depthwise_block = {
    .name = "conv.depthwise_block",
    .summary = "a GPU wave for each tile of depthwise planes, sums in registers; one to three dimensions, any direction",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .filter_text = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16,
    .axes = depthwise_axes,
    .axis_count = sizeof depthwise_axes / sizeof *depthwise_axes,
    .added = "path=lds waves=1 peers=1",
    .rules = {[KW_VALID] = {depthwise_valid_rules},
              [KW_RUNS] = {depthwise_runs_rules},
              [KW_TAKES] = {depthwise_takes_rules},
              [KW_FITS] = {kw_turned_rules, depthwise_fits_rules}},
    .decode = decode_depthwise_config,
    .launch = launch_depthwise,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/depthwise/depthwise.c",
};

/* conv_depthwise_block.c: convolution with one channel a group in two dimensions, all directions, by lanes that keep a subtile's sums. The
 * kernel text is kernels/gpu/depthwise.c. Its counts of lanes, rows and bytes are worked out here once more, for the rules and the launch:
 * a block is one wave, so most rules ask the architecture how wide that is. */
#include "base/math.h"
#include "codegen/gpu/defines.h"
#include "problem/view.h"

#define AXES(X)                                                                                                                            \
    X(tile_h, NULL, 1, 256, "rows of the result that a block computes of each plane; a plane is a channel of an image")                    \
    X(tile_w, NULL, 1, 256, "columns of the result that a block computes")                                                                 \
    X(filter, NULL, 1, 15, "rows and columns of the filter")                                                                               \
    X(stride, NULL, 1, 16, "stride along both axes")                                                                                       \
    X(pad, NULL, 0, 15, "padding before both axes")                                                                                        \
    X(batch, NULL, 1, 1024, "planes that a block computes: images of a channel, or with order=last channels of an image")                  \
    X(sub_h, NULL, 1, 64, "rows that a thread computes")                                                                                   \
    X(sub_w, NULL, 1, 64, "columns that a thread computes")                                                                                \
    X(vec_in, NULL, 1, 16, "elements of the source that a thread loads together: columns, or with order=last channels")                    \
    X(vec_out, NULL, 1, 16, "elements of the result (bwd_weight: of y) that a thread moves together; with order=last its channels")        \
    X(order, "first last", 0, 1, "first: channels before pixels in memory; last: behind them")

enum {
#define PLACE(name, words, low, high, meaning) AXIS_##name,
    AXES(PLACE)
#undef PLACE
};

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis axes[] = {AXES(ROW)};
#undef ROW

typedef enum order_word { FIRST, LAST } order_word;

/* A config read, and what a wave of so many lanes makes of it. Pairs are of height and width. */
typedef struct block {
    kw_op op;
    int64_t bytes; /* of an element */
    int64_t tile[2], sub[2], filter, stride, pad, batch, vec_in, vec_out;
    order_word order;
    int64_t lanes, lds;               /* of the target; 0 where none is asked */
    int64_t subs[2], subtiles;        /* of a tile */
    int64_t step[2], span[2];         /* source rows and columns from subtile to subtile, and of one */
    int64_t seats, planes, lds_bytes; /* lanes with the same subtile; planes at a time; shared memory */
} block;

static int64_t round_up(int64_t value, int64_t multiple) {
    return kw_ceil_div(value, multiple) * multiple;
}

/* Source pixels that the taps of so many pixels reach; KW_SPAN of the text. */
static int64_t span_of(const block *b, int64_t pixels) {
    if (b->op != KW_CONV_BWD_DATA) {
        return (pixels - 1) * b->stride + b->filter;
    }
    int64_t whole = b->stride * b->filter, low = kw_ceil_div(b->pad - b->filter + 1 + whole, b->stride);
    return (pixels - 1 + b->pad + whole) / b->stride - low + 1;
}

static int64_t shared_bytes(const block *b) {
    int64_t height = (b->subs[0] - 1) * b->step[0] + b->span[0], width = (b->subs[1] - 1) * b->step[1] + b->span[1];
    int64_t lane_planes = b->order == FIRST ? 1 : b->vec_out, read = kw_min(b->vec_in, 4);
    if (b->order == FIRST) {
        width = round_up((b->subs[1] - 1) * b->step[1] + round_up(b->span[1], read), read);
    }
    int64_t source = b->planes * height * width * b->bytes;
    int64_t staged = b->order == FIRST && b->vec_out > 1 ? b->planes * b->tile[0] * b->tile[1] * b->bytes : 0;
    int64_t lanes = b->filter * b->filter * lane_planes * b->lanes * (int64_t)sizeof(float);
    return kw_max(source, b->op == KW_CONV_BWD_WEIGHT ? lanes : staged);
}

static block read_config(const kw_config *config, const kw_target *target) {
    const int32_t *axis = config->axis;
    block b = {.op = config->op,
               .bytes = (int64_t)kw_dtype_size(config->dtype),
               .tile = {axis[AXIS_tile_h], axis[AXIS_tile_w]},
               .sub = {axis[AXIS_sub_h], axis[AXIS_sub_w]},
               .filter = axis[AXIS_filter],
               .stride = axis[AXIS_stride],
               .pad = axis[AXIS_pad],
               .batch = axis[AXIS_batch],
               .vec_in = axis[AXIS_vec_in],
               .vec_out = axis[AXIS_vec_out],
               .order = axis[AXIS_order] ? LAST : FIRST,
               .lanes = target ? kw_max(1, target->lanes) : 0,
               .lds = target ? target->lds : 0};
    for (int i = 0; i < 2; i++) {
        b.subs[i] = kw_ceil_div(b.tile[i], b.sub[i]);
        b.step[i] = b.op == KW_CONV_BWD_DATA ? b.sub[i] / b.stride : b.sub[i] * b.stride;
        b.span[i] = span_of(&b, b.sub[i]);
    }
    b.subtiles = b.subs[0] * b.subs[1];
    b.seats = b.lanes / b.subtiles;
    b.planes = b.seats * (b.order == FIRST ? 1 : b.vec_out);
    b.lds_bytes = shared_bytes(&b);
    return b;
}

/* --- rules --- */

typedef struct rule {
    const char *name, *reason;
    bool (*holds)(const block *b);
} rule;

static bool is_vector(const block *b, int64_t elements) {
    enum { VECTOR_BYTES = 32 };
    return !(elements & (elements - 1)) && elements * b->bytes <= VECTOR_BYTES;
}

static bool vectors_are_powers(const block *b) {
    return is_vector(b, b->vec_in) && is_vector(b, b->vec_out);
}

static bool sub_in_tile(const block *b) {
    return b->sub[0] <= b->tile[0] && b->sub[1] <= b->tile[1];
}

/* Sums, one source row and the filter of a thread, all of them in registers. */
static bool sums_fit_registers(const block *b) {
    enum { VALUES = 224 };
    int64_t planes = b->order == FIRST ? 1 : b->vec_out;
    return (b->sub[0] * b->sub[1] + b->filter * b->filter + b->span[1]) * planes <= VALUES;
}

static bool phases_are_known(const block *b) {
    bool whole = true;
    for (int i = 0; i < 2; i++) {
        whole &= b->sub[i] % b->stride == 0 && b->tile[i] % b->sub[i] == 0;
    }
    return b->op != KW_CONV_BWD_DATA || whole;
}

static bool reads_are_aligned(const block *b) {
    return b->order == LAST || b->step[1] % kw_min(b->vec_in, 4) == 0;
}

static bool weight_runs(const block *b) {
    return b->op != KW_CONV_BWD_WEIGHT || b->order == LAST || (b->sub[1] % b->vec_out == 0 && b->tile[1] % b->vec_out == 0);
}

static const rule valid_rules[] = {
    {"vector_width", "vec_in and vec_out are powers of two of at most 32 bytes", vectors_are_powers},
    {"sub_in_tile", "sub_h x sub_w, what a thread computes, lies in tile_h x tile_w", sub_in_tile},
    {"sums_in_registers", "a thread's sums, its filter and a row of its source must fit its registers: 224 values at most",
     sums_fit_registers},
    {"phases", "conv_bwd_data knows the taps of a pixel by its place in the subtile: stride divides sub, and sub divides the tile",
     phases_are_known},
    {"read_vectors",
     "threads read rows in vectors of min(vec_in, 4) columns; the source columns between two subtiles must be multiples of it",
     reads_are_aligned},
    {"weight_runs", "conv_bwd_weight loads y in runs of vec_out columns, which must divide sub_w and tile_w", weight_runs},
    {0},
};

static bool subtiles_in_wave(const block *b) {
    return b->subtiles <= b->lanes;
}

static bool batch_of_planes(const block *b) {
    return b->op == KW_CONV_BWD_WEIGHT ? b->batch == b->planes : b->batch % b->planes == 0;
}

static bool planes_of_runs(const block *b) {
    return b->order == FIRST || b->planes % b->vec_in == 0;
}

static bool fits_lds(const block *b) {
    return b->lds_bytes <= b->lds;
}

static const rule runs_rules[] = {
    {"subtiles", "a block is one wave; the tile has more subtiles than that has threads", subtiles_in_wave},
    {"batch", "batch must be a multiple of the planes that a wave has at a time (conv_bwd_weight: just these)", batch_of_planes},
    {"plane_runs", "with order=last vec_in must divide the planes that a wave has at a time", planes_of_runs},
    {"lds", "what a tile reads of the source needs more shared memory than a block may have", fits_lds},
    {0},
};

static const rule *broken(const rule *rules, const block *b) {
    while (rules->name && rules->holds(b)) {
        rules++;
    }
    return rules->name ? rules : NULL;
}

static kw_status valid(const kw_config *config, kw_error *why) {
    block b = read_config(config, NULL);
    const rule *bad = broken(valid_rules, &b);
    return bad ? kw_fail(why, KW_ILLEGAL, "%s: rule %s: %s", config->family->name, bad->name, bad->reason) : KW_OK;
}

static kw_status runs(const kw_config *config, const kw_target *target, kw_error *why) {
    block b = read_config(config, target);
    const rule *bad = broken(runs_rules, &b);
    return bad ? kw_fail(why, KW_NO_KERNEL, "%s on %s: rule %s: %s", config->family->name, target->arch, bad->name, bad->reason) : KW_OK;
}

/* --- problems --- */

static kw_status fits_geometry(const block *b, const kw_problem *problem, kw_error *why) {
    const kw_conv_dims *d = &problem->conv;
    if (problem->ndim != 2 || d->c != d->g || d->k != d->g) {
        return kw_fail(why, KW_NO_KERNEL, "conv.depthwise_block is for 2 spatial axes and one channel a group, in and out");
    }
    if ((problem->layout == KW_CHANNELS_FIRST) != (b->order == FIRST)) {
        return kw_fail(why, KW_NO_KERNEL, "order=%s is for channels %s in memory", b->order == FIRST ? "first" : "last",
                       b->order == FIRST ? "before the pixels" : "behind the pixels");
    }
    for (int axis = 1; axis < 3; axis++) {
        if (d->filter[axis] != b->filter || d->stride[axis] != b->stride || d->pad[axis] != b->pad || d->dilation[axis] != 1) {
            return kw_fail(why, KW_NO_KERNEL, "filter=%d stride=%d pad=%d is for these on both axes, undilated", (int)b->filter,
                           (int)b->stride, (int)b->pad);
        }
    }
    return KW_OK;
}

static kw_status fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    block b = read_config(config, NULL);
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_status status = fits_geometry(&b, problem, why);
    if (status) {
        return status;
    }
    kw_problem_output(out, problem);
    bool data = b.op == KW_CONV_BWD_DATA, good = true;
    int64_t source = b.order == LAST ? d->g : data ? out[2] : d->in[2], result = b.order == LAST ? d->g : data ? d->in[2] : out[2];
    if (source % b.vec_in || result % b.vec_out) {
        return kw_fail(why, KW_NO_KERNEL, "vec_in=%d and vec_out=%d must divide the %s, %lld and %lld; 1 serves any", (int)b.vec_in,
                       (int)b.vec_out, b.order == LAST ? "channels" : "widths of source and result", (long long)source, (long long)result);
    }
    int64_t planes = b.order == LAST ? d->g : 1, most = kw_max(kw_mul(d->in[1], d->in[2], &good), kw_mul(out[1], out[2], &good));
    if (kw_mul(most, planes, &good) > INT32_MAX / 2 || !good ||
        kw_mul(kw_mul(d->n, d->g, &good), most, &good) / kw_max(1, b.tile[0] * b.tile[1]) > INT32_MAX / 4 || !good) {
        return kw_fail(why, KW_NO_KERNEL, "an image of more than 2^30 elements, or more than 2^29 blocks");
    }
    return KW_OK;
}

enum { TILES_H, TILES_W, PARTS, UNITS, ELEMENTS }; /* of launch.value; kernels/gpu/depthwise.c */

/* A filter's sums are shared by as many blocks as give each multiprocessor 16, since a block is but a wave. */
static void launch_weight(const block *b, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    enum { ADD_THREADS = 256, BLOCKS_WANTED = 16, PARTS_MAX = 256 };
    const kw_conv_dims *d = &problem->conv;
    bool first = b->order == FIRST;
    int64_t filters = first ? d->g : kw_ceil_div(d->g, b->planes), images = first ? kw_ceil_div(d->n, b->planes) : d->n;
    int64_t units = images * launch->value[TILES_H] * launch->value[TILES_W];
    int64_t wanted = kw_ceil_div(BLOCKS_WANTED * kw_max(1, target->units), filters), parts = kw_min(kw_min(wanted, units), PARTS_MAX);
    launch->value[PARTS] = parts;
    launch->value[UNITS] = units;
    launch->value[ELEMENTS] = d->g * b->filter * b->filter;
    launch->stages = 2;
    launch->stage[0].units = filters * parts;
    launch->stage[1] = (kw_stage){kw_ceil_div(launch->value[ELEMENTS], ADD_THREADS), false, ADD_THREADS};
    launch->shared_bytes = parts * launch->value[ELEMENTS] * (int64_t)sizeof(float);
    launch->copied_bytes = 2 * (double)launch->shared_bytes;
}

static void launch_block(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    block b = read_config(config, target);
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    const int64_t *pixels = b.op == KW_CONV_BWD_DATA ? d->in : out;
    int64_t tiles[2] = {kw_ceil_div(pixels[1], b.tile[0]), kw_ceil_div(pixels[2], b.tile[1])};
    int64_t planes = b.order == FIRST ? kw_ceil_div(d->n, b.batch) * d->g : kw_ceil_div(d->g, b.batch) * d->n;
    *launch = (kw_launch){.stages = 1, .stage = {{tiles[0] * tiles[1] * planes, false, (int32_t)b.lanes}}};
    launch->value[TILES_H] = tiles[0];
    launch->value[TILES_W] = tiles[1];
    if (b.op == KW_CONV_BWD_WEIGHT) {
        launch_weight(&b, problem, target, launch);
    }
    /* Of all waves, whose lanes beyond the image or the last subtile work for nothing: each subtile multiplies and reads its rows. */
    double waves = (double)(tiles[0] * tiles[1] * planes) * (double)kw_max(1, b.batch / b.planes);
    double lane_planes = b.order == FIRST ? 1 : (double)b.vec_out, taps = (double)(b.filter * b.filter);
    if (b.op == KW_CONV_BWD_DATA) {
        taps /= (double)(b.stride * b.stride);
    }
    launch->multiply_adds = waves * taps * (double)(b.sub[0] * b.sub[1]) * lane_planes;
    launch->loads = waves * (double)(b.span[0] * b.span[1]) * lane_planes / (double)kw_min(b.order == FIRST ? b.vec_in : b.vec_out, 4);
}

const kw_family kw_family_conv_depthwise_block = {
    .name = "conv.depthwise_block",
    .summary = "a GPU wave for each tile of depthwise planes, sums in registers; square filters in two dimensions, any direction",
    .backend = "gpu",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16,
    .axes = axes,
    .axis_count = sizeof axes / sizeof *axes,
    .valid = valid,
    .runs = runs,
    .fits = fits,
    .launch = launch_block,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/depthwise.c",
};

/* pair_problems.c: see the header. Sizes are found by asking the config's rules: the smallest counts of channels that it serves, then problems above
 * a tile and ragged. */
#include "check/gpu/pair_problems.h"

#include "base/math.h"
#include "families/gpu/mma/mma.h"

#include <stdio.h>
#include <string.h>

/* PROBES: counts of channels, or sizes of a GEMM, are multiples of a power of two up to this, or of a tile. TRIES: as half a tile of 256 columns, beyond
 * which single channels are added one by one, and some. */
enum { PROBES = 16, TRIES = 192, TOGETHER = 64 };

/* A convolution: images, groups as multiples of the merged ones, channels of a group as multiples of what vectors allow, then three axes,
 * of which a problem takes the last ones. */
typedef struct shape {
    int64_t n, groups, c, k;
    int64_t in[3], filter[3], stride[3], pad[3], dilation[3];
} shape;

static const shape shapes[] = {
    {2, 1, 5, 7, {3, 9, 8}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {1, 2, 3, 5, {5, 7, 11}, {3, 3, 2}, {2, 2, 2}, {1, 1, 1}, {1, 2, 1}},
    {1, 2, 3, 5, {3, 7, 9}, {3, 3, 3}, {1, 2, 1}, {1, 1, 2}, {1, 1, 2}},
    {2, 3, 1, 3, {1, 5, 4}, {3, 3, 3}, {2, 1, 2}, {2, 2, 0}, {2, 2, 1}},
    {1, 3, 1, 3, {3, 6, 6}, {1, 4, 3}, {1, 3, 2}, {0, 2, 0}, {1, 1, 2}},
    {2, 2, 5, 7, {2, 9, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
    {1, 3, 3, 7, {3, 9, 8}, {1, 1, 1}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}},
    {3, 2, 3, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
    {1, 3, 7, 3, {3, 5, 13}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Batch and multiples of what vectors, or tiles without padding, allow. */
static const int64_t products[][4] = {{2, 5, 7, 3}, {1, 1, 1, 1}, {1, 3, 5, 27}, {3, 9, 1, 2}, {1, 7, 3, 11}};
enum { PRODUCTS = sizeof products / sizeof *products };

/* With what the problem wants in its text. */
static bool fits(const pair_subject *s, const kw_problem *problem) {
    kw_config special;
    return !kw_config_serves(&special, s->config, problem, s->target, NULL);
}

static bool parse(kw_problem *problem, const pair_subject *s, const char *text) {
    kw_status status = kw_problem_parse(problem, text, NULL);
    problem->fpmath = s->tf32 ? KW_FPMATH_TF32 : KW_FPMATH_STRICT;
    return status == KW_OK;
}

static bool keep(pair_subject *s, const kw_problem *problem) {
    if (s->count == PROBLEMS_MAX || !fits(s, problem)) {
        return false;
    }
    s->problems[s->count++] = *problem;
    return true;
}

/* --- convolutions --- */

/* Of groups in whole merges, with so many channels c and k each. */
static bool make_conv(kw_problem *problem, const pair_subject *s, const shape *of, int ndim, const int64_t channels[2]) {
    static const char *const layouts[] = {"nwgc", "nhwgc", "ndhwgc"}, *const first[] = {"ngcw", "ngchw", "ngcdhw"}, words[] = "ifspd";
    const int64_t *const axes[] = {of->in, of->filter, of->stride, of->pad, of->dilation};
    char text[KW_PROBLEM_TEXT_MAX];
    kw_line line = {text, sizeof text, 0};
    int64_t groups = of->groups * s->mma.merge;
    kw_line_addf(&line, "%s %s %s n%lld g%lld c%lld k%lld", kw_op_name(s->config->op), kw_dtype_name(s->config->dtype),
                 (s->channels_first ? first : layouts)[ndim - 1], (long long)of->n, (long long)groups, (long long)(groups * channels[0]),
                 (long long)(groups * channels[1]));
    for (int i = 0; i < 5; i++) {
        for (int axis = 3 - ndim; axis < 3; axis++) {
            kw_line_addf(&line, "%s%c%lld", axis == 3 - ndim ? " " : "", axis == 3 - ndim ? words[i] : 'x', (long long)axes[i][axis]);
        }
    }
    return parse(problem, s, text);
}

/* A filter that the config serves: its number in shapes. */
static const shape *plain_shape(const pair_subject *s) {
    return s->mma.spec == KW_SPEC_FILTER1X1_PAD0 || s->mma.spec == KW_SPEC_FILTER1X1_STRIDE1_PAD0 ? &shapes[5] : &shapes[0];
}

static bool serves_channels(const pair_subject *s, int ndim, int64_t c, int64_t k) {
    kw_problem problem;
    return make_conv(&problem, s, plain_shape(s), ndim, (const int64_t[2]){c, k}) && fits(s, &problem);
}

/* The smallest units of channels, each found with the other at its safest. */
static void find_channels(pair_subject *s, int ndim) {
    if (kw_mma_overlaps(&s->mma) && s->mma.merge > 1) { /* they have 64 together */
        s->given = true;
        s->unit[0] = s->unit[1] = TOGETHER / s->mma.merge;
        return;
    }
    s->single = !serves_channels(s, ndim, PROBES, PROBES);
    int64_t safe_c = s->single ? 1 : PROBES;
    s->unit[0] = safe_c;
    s->unit[1] = PROBES;
    for (int64_t unit = PROBES; unit; unit /= 2) {
        s->unit[0] = !s->single && serves_channels(s, ndim, unit, PROBES) ? unit : s->unit[0];
        s->unit[1] = serves_channels(s, ndim, safe_c, unit) ? unit : s->unit[1];
    }
}

/* Rows, columns and depth of a convolution as the config cuts them. */
static void conv_extents(int64_t extents[3], const pair_subject *s, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], merge = s->mma.merge, taps = d->filter[0] * d->filter[1] * d->filter[2];
    kw_problem_output(out, problem);
    int64_t c = d->c / d->g * merge, k = d->k / d->g * merge, pixels = d->n * out[0] * out[1] * out[2];
    bool weight = problem->op == KW_CONV_BWD_WEIGHT, data = problem->op == KW_CONV_BWD_DATA;
    extents[0] = weight ? k : data ? d->n * d->in[0] * d->in[1] * d->in[2] : pixels;
    extents[1] = weight ? taps * c : data ? c : k;
    extents[2] = weight ? pixels : taps * (data ? k : c);
}

/* Whether each extent is more than a tile, where it may be, and none a multiple of it. grain is what the extents are multiples of in any case: where a tile
 * divides it, or where single channels give what depth they give, more cannot be asked. */
static bool is_ragged(const pair_subject *s, const int64_t extents[3], const int64_t grain[3]) {
    for (int i = 0; i < 3; i++) {
        int64_t tile = s->mma.tile[i];
        if ((grain[i] % tile && extents[i] % tile == 0) || (extents[i] < tile && !s->single && !s->one[i])) {
            return false;
        }
    }
    return true;
}

/* Which of rows, columns and depth belong to pixels, c and k. */
static const int *conv_places(kw_op op) {
    static const int places[3][3] = {{0, 2, 1}, {0, 1, 2}, {2, 1, 0}};
    return places[op == KW_CONV_FWD ? 0 : op == KW_CONV_BWD_DATA ? 1 : 2];
}

/* What an extent lacks to be above a tile and ragged, in parts of what it has, halved so that it does not grow far beyond. */
static int64_t growth(int64_t extent, int64_t tile, int64_t grain, int64_t parts) {
    bool enough = extent > tile && (extent % tile || grain % tile == 0);
    return enough ? 0 : extent < tile / 2 ? kw_max(1, parts / 2) : 1;
}

/* More than a tile in each direction: rows of the image and channels grow until each is beyond a tile and ragged. */
static void add_large_conv(pair_subject *s, int ndim) {
    shape of = *plain_shape(s);
    const int *place = conv_places(s->config->op);
    int64_t parts[2] = {1, 1}, extents[3], grain[3], *rows = &of.in[3 - ndim];
    int64_t units[2] = {s->unit[0] * s->mma.merge, s->unit[1] * s->mma.merge};
    kw_problem problem;
    of.n = of.groups = 1;
    of.in[1] = 7;
    of.in[2] = 5;
    *rows = 2;
    grain[place[0]] = 1;
    grain[place[1]] = units[0];
    grain[place[2]] = units[1];
    for (int i = 0; i < TRIES; i++) {
        const int64_t channels[2] = {parts[0] * s->unit[0], parts[1] * s->unit[1]};
        if (!make_conv(&problem, s, &of, ndim, channels)) {
            return;
        }
        conv_extents(extents, s, &problem);
        if (is_ragged(s, extents, grain) && keep(s, &problem)) {
            s->ragged = true;
            return;
        }
        *rows += growth(extents[place[0]], s->mma.tile[place[0]], 1, *rows);
        parts[0] += s->single || s->given ? 0 : growth(extents[place[1]], s->mma.tile[place[1]], units[0], parts[0]);
        parts[1] += s->given ? 0 : growth(extents[place[2]], s->mma.tile[place[2]], units[1], parts[1]);
    }
}

static void add_convs(pair_subject *s, int ndim, size_t most) {
    find_channels(s, ndim);
    add_large_conv(s, ndim);
    for (size_t i = 0; i < SHAPES && s->count < most; i++) {
        const int64_t channels[2] = {s->single ? 1 : s->unit[0] * (s->given ? 1 : shapes[i].c), s->unit[1] * (s->given ? 1 : shapes[i].k)};
        shape of = shapes[i];
        kw_problem problem;
        if (s->mma.pipe == KW_PIPE_COOPERATIVE ||
            s->mma.pipe == KW_PIPE_PINGPONG) { /* copies by the hardware know one group, and backward data without strides */
            of.groups = 1;
            for (int axis = 0; axis < 3 && s->config->op == KW_CONV_BWD_DATA; axis++) {
                of.stride[axis] = 1;
            }
        }
        if (make_conv(&problem, s, &of, ndim, channels)) {
            keep(s, &problem);
        }
    }
}

/* Depthwise planes, whose filter and stride are given: images, groups and pixels that tile and batch do not divide. */
static void add_tiled(pair_subject *s) {
    const kw_config *config = s->config;
    int64_t ndim = kw_config_axis(config, "ndim", 2), filter = kw_config_axis(config, "filter", 3);
    int64_t stride = kw_config_axis(config, "stride", 1), dilation = kw_config_axis(config, "dilation", 1);
    int64_t pad = kw_config_axis(config, "pad", 1), extent = (filter - 1) * dilation + 1;
    int64_t tile_h = kw_config_axis(config, "tile_h", 1), tile_w = kw_config_axis(config, "tile_w", 1);
    int64_t batch = kw_config_axis(config, "batch", 1);
    bool first = s->channels_first = kw_word_is(kw_config_axis_word(config, "order"), "first");
    /* Images, groups, depth, height, width. Planes of a block are images, or with channels last groups. */
    const int64_t sizes[][5] = {
        {first ? batch + 1 : 2, first ? 3 : batch + 1, 4, stride * tile_h + 3, stride * tile_w + 5},
        {1, 5, 2, extent + 4, extent + 6},
        {2, 67, 1, extent, extent + 1},
        {3, 1, 5, 2 * stride * tile_h - 1, stride * tile_w + 1},
        {2, 3, 3, stride * (tile_h + 1), stride * (tile_w + 1)},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        shape of = {.n = sizes[i][0],
                    .in = {sizes[i][2], sizes[i][3], 0},
                    .filter = {kw_config_axis(config, "filter_d", 1), filter, filter},
                    .stride = {kw_config_axis(config, "stride_d", 1), stride, stride},
                    .pad = {kw_config_axis(config, "pad_d", 0), pad, pad},
                    .dilation = {1, dilation, dilation}};
        bool kept = false;
        for (int64_t unit = 1; unit <= PROBES && !kept; unit *= 2) {
            kw_problem problem = {0};
            of.groups = first ? sizes[i][1] : kw_ceil_div(sizes[i][1], unit) * unit;
            of.in[2] = first ? kw_ceil_div(sizes[i][4], unit) * unit : sizes[i][4];
            kept = make_conv(&problem, s, &of, (int)ndim, (const int64_t[2]){1, 1});
            /* A filter that pads more than half of itself before has the rest behind, so that rows keep their length. */
            problem.conv.pad_back[2] = 2 * pad > extent - 1 ? extent - 1 - pad : problem.conv.pad_back[2];
            kept = kept && keep(s, &problem);
        }
        s->ragged = s->ragged || (i == 0 && kept);
    }
}

static int64_t rounded_up(int64_t value, int64_t unit) {
    return kw_ceil_div(value, unit) * unit;
}

/* 3x3 filters of conv.direct_block, on images that its tile does not divide: narrow groups beyond a block's waves; or one group whose source
 * has all the channels of the block's waves, or fewer, and whose result has not whole blocks of them. */
static void add_direct(pair_subject *s) {
    const kw_config *config = s->config;
    bool dense = kw_word_is(kw_config_axis_word(config, "impl"), "dense"), data = config->op == KW_CONV_BWD_DATA;
    int64_t width = kw_config_axis(config, "channels", 4), stride = kw_config_axis(config, "stride", 1);
    int64_t tile_h = kw_config_axis(config, "tile_h", 1), tile_w = kw_config_axis(config, "tile_w", 1);
    int64_t cols = kw_config_axis(config, "cols", 1), waves = kw_config_axis(config, "waves_c", 1);
    int64_t most = waves * kw_config_axis(config, "slices", 1) * width, block = waves * cols / width, scale = data ? 1 : stride;
    /* Images, groups, height, width, padding, channels of the source and of the result of dense. */
    const int64_t sizes[][7] = {
        {1, block + 3, scale * tile_h + 3, scale * tile_w + 5, 1, most, cols + 3},
        {2, 2, 5, 4, 1, most - 3, 3},
        {1, 3, 2 * tile_h + 1, 3, 2, width / 2, 2 * cols},
        {3, 1, 3, 3, 0, most / 2 + 1, cols},
        {1, 5, scale * (tile_h - 1) + 1, tile_w + 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        shape of = {.n = sizes[i][0], .in = {1, sizes[i][2], sizes[i][3]}, .filter = {1, 3, 3}, .stride = {1, stride, stride}};
        of.pad[1] = of.pad[2] = sizes[i][4];
        of.dilation[1] = of.dilation[2] = 1;
        bool kept = false;
        for (int64_t unit = 1; unit <= PROBES && !kept; unit *= 2) {
            kw_problem problem;
            int64_t source = dense ? rounded_up(sizes[i][5], unit) : width, result = dense ? rounded_up(sizes[i][6], unit) : width;
            of.groups = dense ? 1 : rounded_up(sizes[i][1], unit);
            kept = make_conv(&problem, s, &of, 2, (const int64_t[2]){data ? result : source, data ? source : result}) && keep(s, &problem);
        }
        s->ragged = s->ragged || (i == 0 && kept);
    }
}

/* Few channels, on images that the tile of conv.direct_1st_block does not divide: images, height, width, channels, filter's height and width,
 * strides, paddings, dilations; width and channels of the result grow to whole vectors. */
static void add_direct_1st(pair_subject *s) {
    int64_t tile_h = kw_config_axis(s->config, "tile_h", 1), tile_w = kw_config_axis(s->config, "tile_w", 1);
    int64_t cols = kw_config_axis(s->config, "cols", 1);
    const int64_t sizes[][13] = {
        {1, tile_h + 3, tile_w + 5, 3, cols + 3, 3, 3, 1, 1, 1, 1, 1, 1},
        {2, 9, 11, 1, 5, 5, 4, 1, 2, 2, 1, 1, 1},
        {1, 2 * tile_h + 1, 7, 3, 2 * cols, 7, 7, 2, 2, 3, 3, 1, 1},
        {3, 5, 4, 4, 3, 1, 1, 1, 1, 0, 0, 1, 1},
        {1, 6, tile_w + 1, 2, cols, 2, 3, 1, 1, 4, 5, 2, 3},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *z = sizes[i];
        bool kept = false;
        for (int64_t unit = 1; unit <= PROBES && !kept; unit *= 2) {
            kw_problem problem;
            shape of = {.n = z[0],
                        .groups = 1,
                        .in = {1, z[1], rounded_up(z[2], unit)},
                        .filter = {1, z[5], z[6]},
                        .stride = {1, z[7], z[8]},
                        .pad = {0, z[9], z[10]},
                        .dilation = {1, z[11], z[12]}};
            kept = make_conv(&problem, s, &of, 2, (const int64_t[2]){z[3], rounded_up(z[4], unit)}) && keep(s, &problem);
        }
        s->ragged = s->ragged || (i == 0 && kept);
    }
}

/* 1x1 layers of conv.point_block: pixels that are no whole strips, more of them than blocks have waves, and channels of either parity. */
static void add_point(pair_subject *s) {
    int64_t rows = kw_config_axis(s->config, "rows", 16), cols = kw_config_axis(s->config, "cols", 64);
    /* Images, height, width, channels of x and of y. */
    const int64_t sizes[][5] = {
        {2, 9, rows + 3, 37, 21}, {1, 3, 5, 16, 8}, {1, 1, 1, 1, 1}, {1, 7, 5, cols + 9, 18}, {1, 4, rows, 6, cols + 3},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t *z = sizes[i];
        shape of = {.n = z[0], .groups = 1, .in = {1, z[1], z[2]}, .filter = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
        kw_problem problem;
        bool kept = make_conv(&problem, s, &of, 2, z + 3) && keep(s, &problem);
        s->ragged = s->ragged || (i == 0 && kept);
    }
}

/* --- GEMMs --- */

static bool make_gemm(kw_problem *problem, const pair_subject *s, int64_t batch, const int64_t size[3]) {
    static const char *const layouts[] = {"rcr", "rrr", "crr", "ccr"};
    char text[KW_PROBLEM_TEXT_MAX];
    snprintf(text, sizeof text, "gemm %s %s b%lld m%lld n%lld k%lld", kw_dtype_name(s->config->dtype), layouts[s->mma.layout],
             (long long)batch, (long long)size[0], (long long)size[1], (long long)size[2]);
    return parse(problem, s, text);
}

static void find_sizes(pair_subject *s) {
    int64_t safe[3];
    for (int i = 0; i < 3; i++) {
        safe[i] = s->mma.pad[i] ? PROBES : kw_max(PROBES, s->mma.tile[i]);
    }
    for (int i = 0; i < 3; i++) {
        int64_t size[3] = {safe[0], safe[1], safe[2]};
        kw_problem problem;
        s->unit[i] = safe[i];
        for (int64_t unit = safe[i]; unit; unit /= 2) {
            size[i] = unit;
            s->unit[i] = make_gemm(&problem, s, 1, size) && fits(s, &problem) ? unit : s->unit[i];
        }
    }
}

static void add_gemms(pair_subject *s) {
    int64_t size[3];
    int32_t *tile = s->mma.tile;
    kw_problem problem;
    bool turned = s->mma.epi == KW_EPI_TURNED, stays = kw_mma_is_stationary(&s->mma); /* the operand of the few, of one product */
    s->one[turned ? 0 : 1] = stays;
    if (turned) { /* rows of its tiles are the result's columns */
        int32_t rows = tile[0];
        tile[0] = tile[1];
        tile[1] = rows;
    }
    find_sizes(s);
    for (int i = 0; i < 3; i++) {
        size[i] = s->unit[i] * (s->mma.tile[i] / s->unit[i] + (s->one[i] ? -1 : 1));
    }
    s->ragged = is_ragged(s, size, s->unit) && make_gemm(&problem, s, 1, size) && keep(s, &problem);
    for (size_t i = 0; i < PRODUCTS; i++) {
        for (int d = 0; d < 3; d++) {
            /* Whole tiles are large: few of them are enough. */
            size[d] = s->unit[d] * (s->unit[d] > PROBES ? kw_min(products[i][d + 1], 2) : products[i][d + 1]);
            size[d] = s->one[d] ? kw_min(size[d], s->mma.tile[d]) : size[d];
        }
        if (make_gemm(&problem, s, stays ? 1 : products[i][0], size)) {
            keep(s, &problem);
        }
    }
}

/* Few rows (columns) of gemm.stream, as many as its tile has or fewer, and a depth of whole vectors. */
static void add_stream(pair_subject *s) {
    bool rows = kw_word_is(kw_config_axis_word(s->config, "few"), "m");
    int64_t few = kw_config_axis(s->config, rows ? "tile_m" : "tile_n", 1),
            other = kw_config_axis(s->config, rows ? "tile_n" : "tile_m", 1);
    const int64_t sizes[][4] = {{2, few - 1, 3 * other + 5, 104}, {1, 1, 1, 8}, {1, few, other, 264}, {3, few / 2 + 1, 2 * other + 1, 40}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t size[3] = {sizes[i][rows ? 1 : 2], sizes[i][rows ? 2 : 1], sizes[i][3]};
        kw_problem problem;
        bool kept = make_gemm(&problem, s, sizes[i][0], size) && keep(s, &problem);
        s->ragged = s->ragged || (i == 0 && kept);
    }
}

void pair_problems_find(pair_subject *s) {
    const char *family = s->config->family->name;
    if (!strcmp(family, "conv.igemm")) {
        s->mma = kw_mma_read(s->config, NULL);
        add_convs(s, s->mma.ndim, PROBLEMS_MAX);
    } else if (!strcmp(family, "gemm.mma")) {
        s->mma = kw_mma_read(s->config, NULL);
        add_gemms(s);
    } else if (!strcmp(family, "gemm.stream")) {
        s->mma = (kw_mma){.layout = kw_config_axis(s->config, "layout", 0)};
        add_stream(s);
    } else if (!strcmp(family, "conv.depthwise_block")) {
        s->mma = (kw_mma){.merge = 1};
        add_tiled(s);
    } else if (!strcmp(family, "conv.direct_block")) {
        s->mma = (kw_mma){.merge = 1};
        add_direct(s);
    } else if (!strcmp(family, "conv.point_block")) {
        s->mma = (kw_mma){.merge = 1};
        add_point(s);
    } else if (!strcmp(family, "conv.direct_1st_block")) {
        s->mma = (kw_mma){.merge = 1};
        add_direct_1st(s);
    } else {
        /* No tiles and no vectors: an element a thread. */
        s->mma = (kw_mma){.merge = 1, .tile = {1, 1, 1}, .pad = {1, 1, 1}, .vec = {1, 1, 1}};
        if (s->config->op == KW_GEMM) {
            add_gemms(s);
        } else {
            add_convs(s, 2, PROBLEMS_MAX / 2);
            add_convs(s, 3, PROBLEMS_MAX);
        }
    }
}

/* legal_problems.c: drawing legal problems. What a config's axes say of the problems it serves is followed three times of four. */
#include "check/legal/legal_problems.h"

#include "base/math.h"
#include "base/statistics/random.h"

#include <string.h>

static int64_t below(uint64_t *random, int64_t end) {
    return (int64_t)kw_random_below(random, (uint64_t)end);
}

static int64_t between(uint64_t *random, int64_t low, int64_t high) {
    return low + below(random, high - low + 1);
}

static bool once_in(uint64_t *random, int64_t times) {
    return below(random, times) == 0;
}

/* Any magnitude below 2^bits, half of them within one of a power of two. */
static int64_t magnitude(uint64_t *random, int bits) {
    int64_t power = (int64_t)1 << below(random, bits);
    return once_in(random, 2) ? kw_max(1, power + between(random, -1, 1)) : between(random, 1, power);
}

static int64_t beyond(uint64_t *random) {
    return once_in(random, 4) ? INT64_MAX - below(random, 2) : magnitude(random, 63);
}

static int64_t draw_channels(uint64_t *random, legal_sizes sizes) {
    static const int64_t usual[] = {1, 1, 2, 3, 4, 5, 8, 8, 16, 16, 17, 24, 32, 33, 40, 64, 72, 128, 256, 512};
    if (sizes == LEGAL_HUGE) {
        return magnitude(random, 40);
    }
    return sizes == LEGAL_SMALL ? usual[below(random, 14)] : usual[below(random, sizeof usual / sizeof *usual)];
}

static int64_t draw_extent(uint64_t *random, legal_sizes sizes) {
    static const int64_t usual[] = {1, 2, 7, 14, 28, 56, 112, 224, 299};
    switch (once_in(random, 3) ? LEGAL_SMALL : sizes) {
    case LEGAL_HUGE:
        return magnitude(random, once_in(random, 4) ? 62 : 33);
    case LEGAL_USUAL:
        return usual[below(random, sizeof usual / sizeof *usual)];
    default:
        return once_in(random, 3) ? between(random, 1, 2) : between(random, 1, once_in(random, 5) ? 80 : 14);
    }
}

/* The same as in front, less than nothing, a few, more than in front, or columns of padding alone: wider than a tile, and than the image. */
static int64_t draw_pad_back(uint64_t *random, int64_t front, int64_t room) {
    switch (below(random, 8)) {
    case 0:
        return -below(random, kw_min(room, 20));
    case 1:
        return between(random, 0, 5);
    case 2:
        return front < INT32_MAX ? front + between(random, 1, 12) : front;
    case 3:
        return between(random, 6, 40);
    default:
        return front;
    }
}

static void draw_axis(uint64_t *random, kw_conv_dims *d, int axis, legal_sizes sizes) {
    bool huge = sizes == LEGAL_HUGE;
    d->in[axis] = draw_extent(random, sizes);
    d->filter[axis] = once_in(random, 3) ? 1 : huge && once_in(random, 3) ? magnitude(random, 33) : between(random, 1, 7);
    d->stride[axis] = once_in(random, 2) ? 1 : between(random, 1, 7);
    d->dilation[axis] = once_in(random, 2) ? 1 : between(random, 1, 5);
    d->pad[axis] = once_in(random, 4) ? between(random, 0, 16) : between(random, 0, 3);
    if (huge) { /* beyond everything, where the output has one pixel or the filter one tap */
        d->stride[axis] = once_in(random, 4) ? beyond(random) : d->stride[axis];
        d->dilation[axis] = once_in(random, 4) ? beyond(random) : d->dilation[axis];
        d->pad[axis] = once_in(random, 4) ? magnitude(random, 50) : d->pad[axis];
    }
    d->pad[axis] = once_in(random, 8) ? 0 : d->pad[axis]; /* behind alone */
    d->pad_back[axis] = draw_pad_back(random, d->pad[axis], d->in[axis] + d->pad[axis]);
}

/* A filter, a stride or channels that are an axis of the config. */
static void follow_axes(uint64_t *random, kw_problem *problem, const kw_config *config) {
    kw_conv_dims *d = &problem->conv;
    kw_word spec = kw_config_axis_word(config, "spec"), order = kw_config_axis_word(config, "order");
    bool pointwise = strstr(config->family->name, "pointwise") || kw_word_is(spec, "filter1x1_stride1_pad0");
    /* A CPU's kernels have launches for either order; of a GPU's that want pixels first the config says so. */
    bool either = config->family->is_reference || config->family->kind == KW_KIND_CPU;
    problem->layout = kw_word_is(order, "first") ? KW_CHANNELS_FIRST : either ? problem->layout : KW_CHANNELS_LAST;
    for (int axis = 3 - problem->ndim; axis < 3; axis++) {
        bool deep = axis == 0 && kw_config_axis(config, "filter_d", 0);
        const char *taps = axis == 1 ? "taps_h" : "taps_w";
        d->filter[axis] = kw_config_axis(config, deep ? "filter_d" : "filter", (int32_t)kw_min(d->filter[axis], INT32_MAX));
        d->pad[axis] = kw_config_axis(config, deep ? "pad_d" : "pad", (int32_t)kw_min(d->pad[axis], INT32_MAX));
        d->dilation[axis] = kw_config_axis(config, "filter", 0) ? kw_config_axis(config, "dilation", 1) : d->dilation[axis];
        d->filter[axis] = axis ? kw_max(d->filter[axis], kw_config_axis(config, taps, 1)) : d->filter[axis];
        if (strstr(config->family->name, "_block")) {
            d->filter[axis] = kw_config_axis(config, deep ? "filter_d" : "filter", 3);
            d->stride[axis] = kw_config_axis(config, deep ? "stride_d" : "stride", 1);
            d->dilation[axis] = kw_config_axis(config, "dilation", 1);
        } else if (axis && kw_config_axis(config, taps, 1) > 1) {
            d->stride[axis] = kw_config_axis(config, "stride", 1);
            d->filter[axis] = d->stride[axis] > 1 ? kw_config_axis(config, taps, 1) : d->filter[axis];
            d->dilation[axis] = d->stride[axis] > 1 ? 1 : d->dilation[axis];
        }
        if (pointwise || kw_word_is(spec, "filter1x1_pad0")) {
            d->filter[axis] = 1;
            d->pad[axis] = d->pad_back[axis] = 0;
            d->stride[axis] = kw_word_is(spec, "filter1x1_stride1_pad0") ? 1 : d->stride[axis];
        } else if (kw_word_is(spec, "filter3x3")) {
            d->filter[axis] = 3;
        }
    }
    bool single = strstr(config->family->name, "depthwise") || kw_word_is(spec, "filter3x3");
    int64_t of_group = single ? 1 : kw_config_axis(config, "channels", 0);
    int32_t merge = kw_config_axis(config, "merge", 1);
    d->g *= merge;
    if (merge > 1 && kw_config_axis(config, "persistent", 0)) { /* blocks that stay have 64 channels together */
        of_group = 64 / merge;
    }
    d->g = kw_word_is(kw_config_axis_word(config, "impl"), "dense") || strstr(config->family->name, "1st") ? 1 : d->g;
    d->c = d->g * kw_config_axis(config, "group_c", of_group ? (int32_t)of_group : (int32_t)draw_channels(random, LEGAL_USUAL));
    d->k = d->g * kw_config_axis(config, "group_k", of_group ? (int32_t)of_group : (int32_t)draw_channels(random, LEGAL_USUAL));
}

static void draw_conv(uint64_t *random, kw_problem *problem, const kw_config *config, legal_sizes sizes) {
    kw_conv_dims *d = &problem->conv;
    bool follow = !once_in(random, 4);
    problem->ndim = (int32_t)between(random, 1, 3);
    problem->ndim =
        follow ? kw_config_axis(config, "ndim", strstr(config->family->name, "direct_block") ? 2 : problem->ndim) : problem->ndim;
    problem->layout = once_in(random, 3) ? KW_CHANNELS_FIRST : KW_CHANNELS_LAST;
    *d = (kw_conv_dims){.in = {1, 1, 1}, .filter = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    d->n = sizes == LEGAL_HUGE ? magnitude(random, 30) : between(random, 1, 4);
    d->g = once_in(random, 2) ? 1 : sizes == LEGAL_HUGE ? magnitude(random, 20) : between(random, 1, once_in(random, 3) ? 40 : 5);
    bool good = true;
    d->c = kw_mul(d->g, draw_channels(random, sizes), &good);
    d->k = kw_mul(d->g, once_in(random, 4) && d->c / d->g < 64 ? d->c / d->g * between(random, 1, 4) : draw_channels(random, sizes), &good);
    for (int axis = 3 - problem->ndim; axis < 3; axis++) {
        draw_axis(random, d, axis, sizes);
    }
    if (follow) {
        follow_axes(random, problem, config);
    }
    problem->filter_order = once_in(random, 8) ? (kw_filter_order)between(random, KW_FILTER_KRSC, KW_FILTER_CRSK) : KW_FILTER_OF_LAYOUT;
    if (problem->op == KW_CONV_BWD_WEIGHT && once_in(random, 8)) {
        static const char step[] = "bias_gradient:fp32";
        (void)kw_epilogue_read_steps(&problem->epilogue, (kw_word){step, sizeof step - 1}, KW_FP32, NULL);
    }
}

static int64_t draw_side(uint64_t *random, const kw_config *config, const char *tile, legal_sizes sizes) {
    int64_t size = sizes == LEGAL_HUGE    ? magnitude(random, 62)
                   : sizes == LEGAL_USUAL ? (int64_t)8 << below(random, 11)
                                          : between(random, 1, once_in(random, 3) ? 3 : 140);
    int64_t unit = kw_config_axis(config, tile, 1);
    return once_in(random, 3) && size < (int64_t)1 << 50 ? kw_round_up(size, unit) : size;
}

static void draw_gemm(uint64_t *random, kw_problem *problem, const kw_config *config, legal_sizes sizes) {
    problem->layout = once_in(random, 4) ? (kw_layout)between(random, KW_RCR, KW_CCR)
                                         : (kw_layout)kw_config_axis(config, "layout", (int32_t)between(random, KW_RCR, KW_CCR));
    problem->gemm = (kw_gemm_dims){
        .batch = once_in(random, 2)    ? 1
                 : sizes == LEGAL_HUGE ? magnitude(random, 40)
                                       : between(random, 1, 5),
        .m = draw_side(random, config, "tile_m", sizes),
        .n = draw_side(random, config, "tile_n", sizes),
        .k = draw_side(random, config, "tile_k", sizes),
    };
}

kw_problem legal_problem_draw(uint64_t *random, const kw_config *config, legal_sizes sizes) {
    kw_problem problem;
    do {
        memset(&problem, 0, sizeof problem);
        problem.op = config->op;
        problem.dtype = config->dtype;
        if (config->op == KW_GEMM) {
            draw_gemm(random, &problem, config, sizes);
        } else {
            draw_conv(random, &problem, config, sizes);
        }
    } while (kw_problem_check(&problem, NULL));
    return problem;
}

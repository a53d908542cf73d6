/* features_native.c: the columns, in three lists. A formula is the code that computes it. */
#include "predict/features/features_native.h"

#include "base/math.h"
#include "predict/estimate.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES_MAX = 128, FEATURE_NAME = 48 };

struct kw_native_features {
    kw_feature_table table;
    size_t config_start, axis_start, pair_start;
    size_t axis_count;
    const char *axes[AXES_MAX];           /* the names that families know the axes by */
    int8_t (*place)[AXES_MAX];            /* one a family: where it has each of the axes, -1: not at all */
    char renamed[AXES_MAX][FEATURE_NAME]; /* names of the features of axes whose own name another feature has */
    kw_feature features[];                /* of the table */
};

static double native_log2(double value) {
    return log2(fmax(value, 1));
}

/* The share of tiles of a size that holds work. */
static double fill_ratio(double extent, double tile) {
    return tile > 0 && extent > 0 ? extent / (ceil(extent / tile) * tile) : 1;
}

/* A cache's bytes; 1 where it is not known, so that ratios stay finite. */
static double cache_or_one(int64_t bytes) {
    return (double)kw_max(bytes, 1);
}

/* How often 2 divides a stride, at most 16 times: rows and pixels that lie many twos apart meet in the same cache sets. */
static double powers_of_two(double bytes) {
    double count = 0;
    while (count < 16 && bytes >= 2 && fmod(bytes, 2) == 0) {
        bytes /= 2;
        count++;
    }
    return count;
}

/* p is the kw_native_features_problem, c its convolution, t the target. */
#define PROBLEM_COLUMNS(F)                                                                                                                 \
    F(op, "problem", "code", (double)p->problem->op)                                                                                       \
    F(dtype, "problem", "code", (double)p->problem->dtype)                                                                                 \
    F(spatial_axes, "problem", "", (double)p->problem->ndim)                                                                               \
    F(log2_n, "problem", "bits", native_log2(p->n))                                                                                        \
    F(log2_g, "problem", "bits", native_log2(p->g))                                                                                        \
    F(log2_c_of_group, "problem", "bits", native_log2(p->cg))                                                                              \
    F(log2_k_of_group, "problem", "bits", native_log2(p->kg))                                                                              \
    F(log2_k_over_c, "problem", "bits", log2(p->kg / p->cg))                                                                               \
    F(c_fill, "problem", "", fill_ratio(p->cg, (double)t->lanes))                                                                          \
    F(k_fill, "problem", "", fill_ratio(p->kg, (double)t->lanes))                                                                          \
    F(all_c_fill, "problem", "", fill_ratio(p->cg * p->g, (double)t->lanes))                                                               \
    F(log2_in_pixels, "problem", "bits", native_log2(p->in_pixels))                                                                        \
    F(log2_out_pixels, "problem", "bits", native_log2(p->out_pixels))                                                                      \
    F(in_w, "problem", "pixels", p->in[2])                                                                                                 \
    F(out_w, "problem", "pixels", p->out[2])                                                                                               \
    F(out_h, "problem", "pixels", p->out[1])                                                                                               \
    F(taps, "problem", "taps", p->taps)                                                                                                    \
    F(filter_w, "problem", "taps", p->filter[2])                                                                                           \
    F(filter_h, "problem", "taps", p->filter[1])                                                                                           \
    F(stride_w, "problem", "pixels", gemm ? 1 : (double)c->stride[2])                                                                      \
    F(stride_h, "problem", "pixels", gemm ? 1 : (double)c->stride[1])                                                                      \
    F(dilation_w, "problem", "pixels", gemm ? 1 : (double)c->dilation[2])                                                                  \
    F(pad_w, "problem", "pixels", gemm ? 0 : (double)(c->pad[2] + c->pad_back[2]))                                                         \
    F(log2_batch, "problem", "bits", native_log2(p->batch))                                                                                \
    F(log2_gm, "problem", "bits", native_log2(p->gm))                                                                                      \
    F(log2_gn, "problem", "bits", native_log2(p->gn))                                                                                      \
    F(log2_gk, "problem", "bits", native_log2(p->gk))                                                                                      \
    F(phases, "problem", "", p->phases)                                                                                                    \
    F(log2_flops, "problem", "bits", native_log2(p->flops))                                                                                \
    F(log2_bytes, "problem", "bits", native_log2(p->bytes))                                                                                \
    F(log2_intensity, "problem", "bits", native_log2(p->flops / p->bytes))                                                                 \
    F(inside_share, "problem", "", p->flops / fmax(p->dense_flops, 1))                                                                     \
    F(log2_x_over_l2, "target", "bits", log2(fmax(p->x_bytes, 1) / cache_or_one(t->l2)))                                                   \
    F(log2_w_over_l2, "target", "bits", log2(fmax(p->w_bytes, 1) / cache_or_one(t->l2)))                                                   \
    F(log2_y_over_l2, "target", "bits", log2(fmax(p->y_bytes, 1) / cache_or_one(t->l2)))                                                   \
    F(log2_bytes_over_l3, "target", "bits", log2(fmax(p->bytes, 1) / cache_or_one(t->l3)))                                                 \
    F(x_pixel_twos, "problem", "bits", powers_of_two(p->g * p->cg * (double)kw_dtype_size(p->problem->dtype)))                             \
    F(y_pixel_twos, "problem", "bits", powers_of_two(p->g * p->kg * (double)kw_dtype_size(p->problem->dtype)))                             \
    F(x_row_twos, "problem", "bits", powers_of_two(p->in[2] * p->g * p->cg * (double)kw_dtype_size(p->problem->dtype)))                    \
    F(y_row_twos, "problem", "bits", powers_of_two(p->out[2] * p->g * p->kg * (double)kw_dtype_size(p->problem->dtype)))                   \
    F(target_units, "target", "threads", (double)t->units)                                                                                 \
    F(target_lanes, "target", "", (double)t->lanes)                                                                                        \
    F(target_registers, "target", "", (double)t->registers)                                                                                \
    F(log2_l1, "target", "bits", native_log2((double)t->l1))                                                                               \
    F(log2_l2, "target", "bits", native_log2((double)t->l2))                                                                               \
    F(log2_l3, "target", "bits", native_log2((double)t->l3))

/* What a kernel takes of a multiprocessor; all 0 on a CPU. */
typedef struct room {
    kw_native_resources need;                   /* known or estimated */
    double sums;                                /* of a thread, in registers or accumulators */
    double by_registers, by_shared, by_threads; /* blocks that a multiprocessor has room for at a time */
    double occupancy;                           /* share of the waves that it can hold */
} room;

/* Blocks of a size that a whole holds; BLOCKS_MOST where one of them is not known. */
static double blocks_in(double whole, double block) {
    enum { BLOCKS_MOST = 32 };
    return whole > 0 && block > 0 ? fmin(floor(whole / block), BLOCKS_MOST) : BLOCKS_MOST;
}

/* Kernels of which their family knows nothing are counted as so many registers and no shared memory. */
static kw_resource_estimate estimate_resources(const kw_config *config, const kw_target *t, double threads) {
    const kw_resource_estimate unknown = {.registers = 64};
    return config->family->estimate_resources ? config->family->estimate_resources(config, t, threads) : unknown;
}

static double launch_block_threads(const kw_launch *launch) {
    double threads = 1;
    for (int stage = 0; stage < launch->stages; stage++) {
        threads = launch->stage[stage].packs || launch->turning.stage[stage].images ? threads
                                                                                    : fmax(threads, (double)launch->stage[stage].threads);
    }
    return threads;
}

static room room_of(const kw_native_features_tiles *w, const kw_target *t, const kw_launch *launch) {
    if (!kw_target_is_gpu(t)) {
        return (room){.sums = 0};
    }
    double threads = launch_block_threads(launch), lanes = (double)kw_max(1, t->lanes), waves = ceil(threads / lanes);
    kw_resource_estimate estimate = estimate_resources(w->config, t, threads);
    room r = {.need = w->need, .sums = estimate.sums};
    if (!(w->need.registers > 0)) {
        r.need = (kw_native_resources){.registers = estimate.registers, .shared_bytes = estimate.shared_bytes};
    }
    r.by_registers = blocks_in((double)t->unit_registers, r.need.registers * waves * lanes);
    r.by_shared = blocks_in((double)t->unit_lds, r.need.shared_bytes);
    r.by_threads = blocks_in((double)t->unit_waves, waves);
    double blocks = fmin(fmin(r.by_registers, r.by_shared), r.by_threads);
    r.occupancy = t->unit_waves > 0 ? fmin(blocks * waves / (double)t->unit_waves, 1) : 0;
    return r;
}

/* l is the launch, steps its vector multiply-adds, units those of its largest stage, w the tiles of the config, r its room, e the parts of a CPU's
 * estimate: what bounds a kernel, in rates of the machine's own, carries over to another machine. */
#define PAIR_COLUMNS(F)                                                                                                                    \
    F(log2_estimate, "pair", "bits", native_log2(estimate_ns))                                                                             \
    F(log2_estimate_rate, "pair", "bits", native_log2(p->flops / fmax(estimate_ns, 1e-3)))                                                 \
    F(products_a_step, "pair", "", steps > 0 ? p->flops / 2 / steps / (double)t->lanes : 0)                                                \
    F(loads_a_step, "pair", "", steps > 0 ? l->loads / steps : 0)                                                                          \
    F(log2_steps, "pair", "bits", native_log2(steps))                                                                                      \
    F(copied_share, "pair", "", log2(1 + l->copied_bytes / p->bytes))                                                                      \
    F(packed_share, "pair", "", log2(1 + (double)l->packed_bytes / p->bytes))                                                              \
    F(packed_over_l2, "pair", "bits", log2(fmax((double)l->packed_bytes, 1) / cache_or_one(t->l2)))                                        \
    F(shared_over_l3, "pair", "bits", log2(fmax((double)l->shared_bytes, 1) / cache_or_one(t->l3)))                                        \
    F(thread_over_l1, "pair", "bits", log2(fmax((double)l->thread_bytes, 1) / cache_or_one(t->l1)))                                        \
    F(thread_over_l2, "pair", "bits", log2(fmax((double)l->thread_bytes, 1) / cache_or_one(t->l2)))                                        \
    F(log2_run_units, "pair", "bits", native_log2(units))                                                                                  \
    F(unit_balance, "pair", "", fill_ratio(units, (double)t->units))                                                                       \
    F(log2_steps_a_unit, "pair", "bits", native_log2(steps / fmax(units, 1)))                                                              \
    F(stages, "pair", "", (double)l->stages)                                                                                               \
    F(out_w_fill, "pair", "", fill_ratio(p->out[2], w->tile_w))                                                                            \
    F(in_w_fill, "pair", "", fill_ratio(p->in[2], w->tile_w))                                                                              \
    F(out_h_fill, "pair", "", fill_ratio(p->out[1], w->tile_h))                                                                            \
    F(k_tile_fill, "pair", "", fill_ratio(p->kg, w->vecs *(double)t->lanes))                                                               \
    F(c_tile_fill, "pair", "", fill_ratio(p->cg, w->vecs *(double)t->lanes))                                                               \
    F(m_tile_fill, "pair", "", fill_ratio(p->gm, w->tile_m))                                                                               \
    F(taps_in_tile, "pair", "", w->tile_w > 0 ? p->filter[2] / w->tile_w : 0)                                                              \
    F(thread_registers, "pair", "", r.need.registers)                                                                                      \
    F(thread_sums, "pair", "", r.sums)                                                                                                     \
    F(spilled_bytes, "pair", "bytes", r.need.spilled_bytes)                                                                                \
    F(block_shared_bytes, "pair", "bytes", r.need.shared_bytes)                                                                            \
    F(blocks_by_registers, "pair", "", r.by_registers)                                                                                     \
    F(blocks_by_shared, "pair", "", r.by_shared)                                                                                           \
    F(blocks_by_threads, "pair", "", r.by_threads)                                                                                         \
    F(occupancy, "pair", "", r.occupancy)                                                                                                  \
    F(multiply_adds_share, "pair", "", e.multiply_adds / fmax(e.ns, 1e-3))                                                                 \
    F(loads_share, "pair", "", e.loads / fmax(e.ns, 1e-3))                                                                                 \
    F(tensors_share, "pair", "", e.tensors / fmax(e.ns, 1e-3))                                                                             \
    F(rereads_share, "pair", "", e.rereads / fmax(e.ns, 1e-3))                                                                             \
    F(copies_share, "pair", "", e.copies / fmax(e.ns, 1e-3))                                                                               \
    F(start_share, "pair", "", e.start / fmax(e.ns, 1e-3))

static const kw_feature problem_features[] = {
#define COLUMN(name, group, unit, formula) {#name, group, unit, #formula, NULL},
    PROBLEM_COLUMNS(COLUMN)
#undef COLUMN
};
static const kw_feature family_feature = {"family", "config", "code", "position in the table of families", NULL};
static const kw_feature pair_features[] = {
#define COLUMN(name, group, unit, formula) {#name, group, unit, #formula, NULL},
    PAIR_COLUMNS(COLUMN)
#undef COLUMN
};
enum { PROBLEM_COUNT = sizeof problem_features / sizeof *problem_features, PAIR_COUNT = sizeof pair_features / sizeof *pair_features };

/* --- the table -------------------------------------------------------------------------------------------------------- */

static bool has_name(const kw_feature *features, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(features[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Adds the axes that no family before had. Of an axis with words the first family's words decide the codes; an axis of the same name has
 * the same words everywhere (a test holds the families to it). One that is named as a feature of problem or pair gets "axis_" before it. */
static kw_status add_axes(kw_native_features *own, const kw_family *family, kw_error *err) {
    for (int32_t i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        bool known = false;
        for (size_t j = 0; j < own->axis_count && !known; j++) {
            known = !strcmp(own->axes[j], axis->name);
        }
        if (known) {
            continue;
        }
        if (own->axis_count == AXES_MAX) {
            return kw_fail(err, KW_ILLEGAL, "the families have more than %d axes; the feature table holds no more", AXES_MAX);
        }
        const char *name = axis->name;
        if (has_name(problem_features, PROBLEM_COUNT, name) || has_name(pair_features, PAIR_COUNT, name)) {
            char *renamed = own->renamed[own->axis_count];
            snprintf(renamed, FEATURE_NAME, "axis_%s", name);
            name = renamed;
        }
        own->features[own->axis_start + own->axis_count] =
            (kw_feature){name, "config", axis->words ? "code" : "", axis->meaning, axis->words};
        own->axes[own->axis_count++] = axis->name;
    }
    return KW_OK;
}

static bool find_places(kw_native_features *own) {
    size_t families = 0;
    while (kw_family_table[families]) {
        families++;
    }
    own->place = calloc(families, sizeof *own->place);
    for (size_t family = 0; family < families && own->place; family++) {
        for (size_t i = 0; i < own->axis_count; i++) {
            own->place[family][i] = (int8_t)kw_family_axis(kw_family_table[family], (kw_word){own->axes[i], strlen(own->axes[i])});
        }
    }
    return own->place != NULL;
}

kw_status kw_native_features_open(kw_native_features **own, kw_error *err) {
    kw_native_features *made = calloc(1, sizeof *made + (PROBLEM_COUNT + 1 + AXES_MAX + PAIR_COUNT) * sizeof *made->features);
    *own = made;
    if (!made) {
        return kw_fail_memory(err, "the feature table");
    }
    memcpy(made->features, problem_features, sizeof problem_features);
    made->config_start = PROBLEM_COUNT;
    made->features[made->config_start] = family_feature;
    made->axis_start = made->config_start + 1;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        kw_status status = add_axes(made, *family, err);
        if (status) {
            kw_native_features_close(own);
            return status;
        }
    }
    if (!find_places(made)) {
        kw_native_features_close(own);
        return kw_fail_memory(err, "the feature table");
    }
    made->pair_start = made->axis_start + made->axis_count;
    memcpy(made->features + made->pair_start, pair_features, sizeof pair_features);
    made->table = (kw_feature_table){"own", made->features, made->pair_start + PAIR_COUNT};
    return KW_OK;
}

void kw_native_features_close(kw_native_features **own) {
    if (*own) {
        free((*own)->place);
    }
    free(*own);
    *own = NULL;
}

const kw_feature_table *kw_native_features_table(const kw_native_features *own) {
    return &own->table;
}

size_t kw_native_features_config_start(const kw_native_features *own) {
    return own->config_start;
}

size_t kw_native_features_pair_start(const kw_native_features *own) {
    return own->pair_start;
}

/* --- rows ------------------------------------------------------------------------------------------------------------- */

void kw_native_problem_read(kw_native_features_problem *p, const kw_problem *problem, const kw_target *target) {
    kw_gemm_view view = kw_problem_view(problem);
    int64_t out[3];
    kw_problem_output(out, problem);
    *p = (kw_native_features_problem){.problem = problem, .target = target, .taps = 1, .in_pixels = 1, .out_pixels = 1};
    if (problem->op == KW_GEMM) {
        const kw_gemm_dims *gemm = &problem->gemm;
        p->n = (double)gemm->batch;
        p->g = 1;
        p->cg = (double)gemm->k;
        p->kg = (double)gemm->n;
        for (int axis = 0; axis < 3; axis++) {
            p->in[axis] = p->out[axis] = axis == 2 ? (double)gemm->m : 1;
            p->filter[axis] = 1;
        }
    } else {
        const kw_conv_dims *conv = &problem->conv;
        p->n = (double)conv->n;
        p->g = (double)conv->g;
        p->cg = (double)(conv->c / conv->g);
        p->kg = (double)(conv->k / conv->g);
        for (int axis = 0; axis < 3; axis++) {
            p->in[axis] = (double)conv->in[axis];
            p->out[axis] = (double)out[axis];
            p->filter[axis] = (double)conv->filter[axis];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        p->taps *= p->filter[axis];
        p->in_pixels *= p->in[axis];
        p->out_pixels *= p->out[axis];
    }
    p->batch = (double)view.batch;
    p->gm = (double)view.gm;
    p->gn = (double)view.gn;
    p->gk = (double)view.gk;
    p->phases = (double)view.phases;
    p->flops = (double)kw_problem_flops(problem);
    p->dense_flops = 2 * p->n * p->g * p->kg * p->cg * p->taps * p->out_pixels;
    p->bytes = (double)kw_problem_bytes(problem);
    p->x_bytes = (double)(kw_problem_values(problem, KW_X) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, KW_X)));
    p->w_bytes = (double)(kw_problem_values(problem, KW_W) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, KW_W)));
    p->y_bytes = (double)(kw_problem_values(problem, KW_Y) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, KW_Y)));
}

void kw_native_features_fill_problem(const kw_native_features *own, double *row, const kw_native_features_problem *p) {
    (void)own;
    const kw_target *t = p->target;
    const kw_conv_dims *c = &p->problem->conv;
    bool gemm = p->problem->op == KW_GEMM;
    size_t i = 0;
#define COLUMN(name, group, unit, formula) row[i++] = formula;
    PROBLEM_COLUMNS(COLUMN)
#undef COLUMN
}

void kw_native_features_fill_config(const kw_native_features *own, double *row, const kw_config *config) {
    size_t family = 0;
    while (kw_family_table[family] && kw_family_table[family] != config->family) {
        family++;
    }
    row[own->config_start] = (double)family;
    for (size_t i = 0; i < own->axis_count; i++) {
        int axis =
            kw_family_table[family] ? own->place[family][i] : kw_family_axis(config->family, (kw_word){own->axes[i], strlen(own->axes[i])});
        row[own->axis_start + i] = axis < 0 ? NAN : (double)config->axis[axis];
    }
}

kw_native_features_tiles kw_native_features_tiles_of(const kw_config *config) {
    return (kw_native_features_tiles){
        .config = config,
        .tile_w = kw_config_axis(config, "tile_w", 0),
        .tile_h = kw_config_axis(config, "tile_h", 0),
        .tile_m = kw_config_axis(config, "tile_m", 0),
        .vecs = kw_config_axis(config, "vecs", 0),
    };
}

/* Units of the largest stage that does not pack. */
static double units_of(const kw_launch *launch) {
    double units = 1;
    for (int stage = 0; stage < launch->stages; stage++) {
        units = launch->stage[stage].packs || launch->turning.stage[stage].images ? units : fmax(units, (double)launch->stage[stage].units);
    }
    return units;
}

void kw_native_features_fill_tiled(const kw_native_features *own, double *row, const kw_native_features_problem *p,
                                   const kw_native_features_tiles *w, const kw_launch *l, double estimate_ns) {
    const kw_estimate parts = kw_estimate_of(w->config, p->problem, p->bytes, p->target, l);
    kw_native_features_fill_pair(own, row, p, w, l, estimate_ns, &parts);
}

void kw_native_features_fill_pair(const kw_native_features *own, double *row, const kw_native_features_problem *p,
                                  const kw_native_features_tiles *w, const kw_launch *l, double estimate_ns, const kw_estimate *parts) {
    const kw_target *t = p->target;
    double units = units_of(l), steps = l->multiply_adds;
    const room r = room_of(w, t, l);
    const kw_estimate e = *parts;
    size_t i = own->pair_start;
#define COLUMN(name, group, unit, formula) row[i++] = formula;
    PAIR_COLUMNS(COLUMN)
#undef COLUMN
}

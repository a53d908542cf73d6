/* gemm_dot.c: matrix products of which both factors lie along the depth, as dot products, B read where it lies; kernels/cpu/dot/dot.c is
 * the kernel. For weights that are not packed beforehand and few rows, and for few columns. */
#include "families/cpu/cpu_rules.h"
#include "families/cpu/emit/tile.h"

#include "base/math.h"
#include "cpu/dot/args.h"
#include "problem/tensors/pitch.h"

#include <math.h>

enum { TILE_M = KW_ISA_AXIS_COUNT, TILE_N, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_m", NULL, 1, 6, "rows of A of a tile"},
    {"tile_n", NULL, 1, 8, "columns of B of a tile"},
};

/* Elements of the depth in a vector. */
static int64_t step_of(const kw_config *config) {
    return (int64_t)kw_config_isa(config)->lanes * kw_config_multiply(config)->pair;
}

/* Of int8 by dot products sums of columns, too, and ones. */
static bool dot_tile_in_registers(const kw_rule_case *c) {
    const int32_t *axis = c->config->axis;
    bool sums = c->config->dtype == KW_INT8 && axis[KW_AXIS_MATH] == KW_MATH_DP;
    return axis[TILE_M] * axis[TILE_N] + axis[TILE_M] + 1 + (sums ? axis[TILE_N] + 1 : 0) <= kw_config_isa(c->config)->registers;
}

/* A single row, or column, whose elements are the matrix's lines lies along the depth too. */
static bool lies_along_depth(const kw_rule_case *c) {
    const kw_problem *p = c->problem;
    bool row = p->gemm.m == 1 && kw_problem_matrix(p, KW_X).line_step == 1,
         column = p->gemm.n == 1 && kw_problem_matrix(p, KW_W).line_step == 1;
    return (p->layout == KW_RCR || p->layout == KW_RRR || row) && (p->layout == KW_RCR || p->layout == KW_CCR || column);
}

static bool has_a_tile(const kw_rule_case *c) {
    const kw_gemm_dims *d = &c->problem->gemm;
    return d->m >= c->config->axis[TILE_M] && d->n >= c->config->axis[TILE_N];
}

static bool depth_is_a_vector(const kw_rule_case *c) {
    return c->problem->gemm.k >= step_of(c->config);
}

static const kw_rule valid_rules[] = {
    {"tile_registers", "the sums of a tile, its rows and a column must fit the isa's vector registers", dot_tile_in_registers},
    {0},
};

static const kw_rule takes_rules[] = {
    {"along_depth", "both factors must lie along the depth: layout rcr, or of a single row or column another; for others take gemm.tiled",
     lies_along_depth},
    {0},
};

static const kw_rule fits_rules[] = {
    {"whole_tile", "there must be as many rows and columns as a tile has", has_a_tile},
    {"whole_vector", "the depth must fill a vector", depth_is_a_vector},
    {0},
};

/* Multiply-adds that each vector of a factor takes besides those of its products: widened, raised, summed by columns. */
static double extra_products(const kw_config *config) {
    return config->dtype == KW_INT8 ? 0.5 : kw_widening_products(config);
}

/* How few columns go over blocks of rows: a chunk of the depth of all of them takes half of the first level of cache, sums that wait a quarter. */
typedef struct block {
    int64_t down, chunk; /* kw_dot_params; 0, all of it: tiles of a column go over all rows */
    int64_t bytes;       /* of the sums that wait */
} block;

static block block_of(const kw_config *config, const kw_gemm_dims *d, int64_t columns, int64_t size, const kw_target *target) {
    enum { CHUNK_LEAST = 32 }; /* vectors; of fewer, sums that pass through memory would count */
    int64_t rows = config->axis[TILE_M], tile = config->axis[TILE_N], step = step_of(config), steps = d->k / step;
    int64_t waiting = kw_ceil_div(columns, tile) * KW_DOT_WAITING(rows, tile) * kw_config_isa(config)->lanes * 4;
    int64_t chunk = target->l1 / 2 / (columns * step * size), down = kw_min(target->l1 / 4 / waiting, kw_ceil_div(d->m, rows));
    bool few = d->m > columns && (double)d->m * (double)d->k * (double)size > (double)target->l1 / 2 && down > 1;
    if (!few || (chunk < CHUNK_LEAST && chunk < steps)) {
        return (block){.chunk = steps};
    }
    chunk = kw_ceil_div(steps, kw_ceil_div(steps, chunk));
    return (block){.down = down, .chunk = chunk, .bytes = down * waiting};
}

static void gemm_dot_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_gemm_dims *d = &problem->gemm;
    int64_t rows = config->axis[TILE_M], columns = config->axis[TILE_N], size = (int64_t)kw_dtype_size(problem->dtype);
    int64_t across = kw_ceil_div(d->n, columns), down = kw_ceil_div(d->m, rows), steps = kw_ceil_div(d->k, step_of(config));
    int64_t parts = kw_min(across, kw_max(1, kw_ceil_div(4 * (target->units > 1 ? target->units : 0), d->batch)));
    int64_t each = kw_ceil_div(across, parts) * columns;
    block cut = block_of(config, d, kw_min(each, d->n), size, target);
    *launch = (kw_launch){.stages = 1, .stage = {{.units = d->batch * kw_ceil_div(d->n, each)}}};
    launch->thread_bytes = KW_LINE * kw_ceil_div(4 * rows * columns, KW_LINE) + cut.bytes;
    *kw_launch_params(launch, kw_dot_params) = (kw_dot_params){.columns = each, .down = (int)cut.down, .chunk = (int)cut.chunk};

    double tiles = (double)d->batch * (double)across * (double)down, lanes = (double)kw_config_isa(config)->lanes;
    /* Adding up the lanes of a sum takes about as many instructions as there are lanes. */
    launch->multiply_adds = tiles * (double)(rows * columns) * ((double)steps + lanes);
    launch->multiply_adds += tiles * (double)(rows + columns) * (double)steps * extra_products(config);
    launch->loads = tiles * ((double)(rows + columns) * (double)steps + (double)(rows * columns));
    launch->later = (double)(down - 1) / (double)down; /* the first tile of a few columns brings them */
    int64_t chunk = cut.down ? cut.chunk * step_of(config) : d->k;
    launch->rereads[0] = (kw_cache_reuse){
        .bytes = (double)(d->batch * (across - 1)) * (double)(d->m * d->k * size),
        .between = ((cut.down ? rows : d->m) + columns) * chunk * size,
    };
    int64_t blocks = cut.down ? kw_ceil_div(down, cut.down) : down;
    launch->rereads[1] = (kw_cache_reuse){
        .bytes = (double)(d->batch * (blocks - 1)) * (double)(d->n * d->k * size),
        .between = cut.down ? (cut.down * rows + each) * d->k * size : (rows + columns) * d->k * size,
    };
}

extern const kw_family kw_family_gemm_dot;

/* Of the isas with the widest vectors that with the most registers; KW_ISA_COUNT: there is none. */
static int32_t widest_isa(const kw_target *target) {
    const kw_cpu_arch *arch = kw_cpu_arch_find(target->arch);
    int32_t best = KW_ISA_COUNT;
    for (int32_t isa = 0; arch && isa < KW_ISA_COUNT; isa++) {
        const kw_isa *own = kw_isa_at(isa), *other = kw_isa_at(best < KW_ISA_COUNT ? best : isa);
        bool better = own->lanes > other->lanes || (own->lanes == other->lanes && own->registers > other->registers);
        best = arch->isas >> isa & 1 && (best == KW_ISA_COUNT || better) ? isa : best;
    }
    return best;
}

/* A tile made to few columns, of which a listed tile of another number sums some twice: that with the fewest instructions a step for a row of all of
 * them. Many columns lose little to a last tile, and fill the lanes of gemm.tiled. */
static size_t tailor_dot(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    enum { COLUMNS_MOST = 16 };
    const kw_gemm_dims *d = &problem->gemm;
    int32_t isa = widest_isa(target);
    if (problem->dtype != KW_FP32 || d->n > COLUMNS_MOST || d->m < d->n || isa == KW_ISA_COUNT) {
        return 0;
    }
    kw_config best = {.family = &kw_family_gemm_dot, .op = problem->op, .dtype = problem->dtype};
    best.axis[KW_AXIS_ISA] = isa, best.axis[KW_AXIS_MATH] = KW_MATH_FMA;
    double least = INFINITY;
    for (int64_t columns = kw_min(axes[TILE_N].high, d->n); columns > 0; columns--) {
        int64_t rows = kw_min(axes[TILE_M].high, (kw_isa_at(isa)->registers - 1) / (columns + 1));
        double cost = (double)(kw_ceil_div(d->n, columns) * (rows * columns + rows + columns)) / (double)rows;
        if (cost < least) {
            least = cost;
            best.axis[TILE_M] = (int32_t)rows, best.axis[TILE_N] = (int32_t)columns;
        }
    }
    configs[0] = best;
    return 1;
}

static void gemm_dot_emit(const kw_config *config, kw_text *text) {
    static const char *const distances[] = {"0", "1", "1 * 2", "3", "1 * 4", "5", "3 * 2", "7"};
    int rows = config->axis[TILE_M], columns = config->axis[TILE_N], lanes = kw_config_isa(config)->lanes;
    kw_text_addf(text, "#define KW_ROWS %d\n#define KW_COLUMNS %d\n#define KW_EACH_ROW(DO)", rows, columns);
    for (int r = 0; r < rows; r++) {
        kw_text_addf(text, " DO(%d, %s%s)", r, r ? "a" : "", distances[r]);
    }
    kw_text_add(text, "\n#define KW_EACH_COLUMN(DO)");
    for (int c = 0; c < columns; c++) {
        kw_text_addf(text, " DO(%d, %s%s)", c, c ? "b" : "", distances[c]);
    }
    kw_text_add(text, "\n#define KW_EACH_SUM(DO, column)");
    for (int r = 0; r < rows; r++) {
        kw_text_addf(text, " DO(%d, column)", r);
    }
    kw_text_addf(text, "\n#define KW_ONES [%d ... %d] = 255\n", 4 * lanes, 8 * lanes - 1);
}

const kw_family kw_family_gemm_dot = {
    .name = "gemm.dot",
    .summary = "matrix product of few rows or columns by dot products; B is read where it lies, along the depth",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .pitched = true,
    .ops = 1u << KW_GEMM,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_gemm_rules, takes_rules},
              [KW_FITS] = {fits_rules}},
    .launch = gemm_dot_launch,
    .tailor = tailor_dot,
    .emit = gemm_dot_emit,
    .kernel = "cpu/dot/dot.c",
};

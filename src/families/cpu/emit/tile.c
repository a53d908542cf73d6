/* tile.c: the register tile of the dense families: its rules, the lists that unroll it, and how problems are cut into tiles. */
#include "families/cpu/emit/tile.h"

#include "base/math.h"
#include "cpu/lib/sizes.h"
#include "problem/epilogue/epilogue.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { PIXELS_OF_A_BASE = 7, BASES_MAX = 5, AMX_REGISTERS = 8 };

static int32_t bases_of_row(const kw_tile *tile) {
    return (tile->cols + PIXELS_OF_A_BASE - 1) / PIXELS_OF_A_BASE;
}

static bool multiplies_tiles(const kw_config *config) {
    return config->axis[KW_AXIS_MATH] == KW_MATH_AMX;
}

/* Registers that hold pixels, one for each 16 of them. */
static int32_t amx_pixels(const kw_tile *tile) {
    return tile->cols / KW_AMX_ROWS;
}

static bool amx_tile_is_whole(const kw_rule_case *c) {
    const kw_tile *tile = c->decoded;
    return !multiplies_tiles(c->config) || (tile->rows == 1 && tile->cols % KW_AMX_ROWS == 0 && !tile->skip);
}

bool kw_tile_fits_amx(const kw_tile *tile) {
    return amx_pixels(tile) * tile->vecs + kw_min(amx_pixels(tile), tile->vecs) + 1 <= AMX_REGISTERS;
}

bool kw_tile_parts_fit_amx(const kw_tile *tile) {
    return amx_pixels(tile) * tile->vecs + 2 <= AMX_REGISTERS;
}

int64_t kw_tile_most_pixels(int32_t isa, int64_t vecs) {
    return (kw_isa_at(isa)->registers - 1 - vecs) / vecs;
}

static bool tile_in_registers(const kw_rule_case *c) {
    const kw_tile *tile = c->decoded;
    if (multiplies_tiles(c->config)) {
        return kw_tile_fits_amx(tile);
    }
    return tile->rows * tile->cols <= kw_tile_most_pixels(c->config->axis[KW_AXIS_ISA], tile->vecs);
}

static bool tile_has_base_pointers(const kw_rule_case *c) {
    const kw_tile *tile = c->decoded;
    return multiplies_tiles(c->config) || tile->rows * bases_of_row(tile) <= BASES_MAX;
}

const kw_rule kw_tile_valid_rules[] = {
    {"amx_tile", "math=amx has tiles of one row and of 16, 32, ... pixels, without edge=skip", amx_tile_is_whole},
    {"tile_registers", "the sums of a tile, its weights and a pixel must fit the isa's vector registers, or the 8 of math=amx",
     tile_in_registers},
    {"base_pointers", "a tile has 5 base pointers, of 7 pixels of a row each", tile_has_base_pointers},
    {0},
};

static bool run_is_short(const kw_rule_case *c) {
    enum { CHANNELS_MAX = 16 };
    return c->problem->conv.c / c->problem->conv.g <= CHANNELS_MAX;
}

static bool run_is_dense(const kw_rule_case *c) {
    return c->problem->conv.dilation[2] == 1 || c->problem->conv.filter[2] == 1;
}

const kw_rule kw_run_takes_rules[] = {
    {"few_channels", "c/g must be at most 16; above, conv.direct is as fast", run_is_short},
    {"dense_width", "dilation must be 1 along the width", run_is_dense},
    {0},
};

static void emit_pixel(kw_text *text, const kw_tile *tile, int row, int col) {
    static const char *const distances[PIXELS_OF_A_BASE] = {"0", "s1", "s1 * 2", "s3", "s1 * 4", "s5", "s3 * 2"};
    kw_text_addf(text, " DO(%d, %d, p%d, %s)", row * tile->cols + col, col, row * bases_of_row(tile) + col / PIXELS_OF_A_BASE,
                 distances[col % PIXELS_OF_A_BASE]);
}

/* Of 16 lanes a product takes as long as a test, of 8 half as long. Tall tiles are for images that are mostly edge, where each test counts;
 * others are for rows whose inner tiles test nothing, and with a test for each pixel read the tensor where it lies. */
int32_t kw_tile_group(const kw_tile *tile, int64_t block) {
    enum { LANES = 8, OF_A_ROW = 2, OF_TALL = 4 };
    int64_t vecs = tile->rows == 1 ? OF_A_ROW : OF_TALL;
    return block / tile->vecs > LANES || tile->vecs >= vecs ? 1 : (int32_t)(vecs / tile->vecs);
}

/* The pixels of each row by groups. */
static void emit_groups(kw_text *text, const kw_tile *tile, int32_t size) {
    unsigned column = 0;
    for (int row = 0; row < tile->rows; row++) {
        column |= 1u << row * tile->cols;
    }
    kw_text_addf(text, "\n#define KW_TILE_GROUP %d\n#define KW_FIRST_COLUMN 0x%xu", size, column);
    int groups = 0;
    for (int first = 0; first < tile->rows * tile->cols; groups++) {
        int row = first / tile->cols, col = first % tile->cols, count = tile->cols - col < size ? tile->cols - col : size;
        kw_text_addf(text, "\n#define KW_GROUP_%d(DO)", groups);
        for (int i = 0; i < count; i++) {
            emit_pixel(text, tile, row, col + i);
        }
        first += count;
    }
    kw_text_add(text, "\n#define KW_EACH_GROUP(DO)");
    for (int group = 0, first = 0; group < groups; group++) {
        int left = tile->cols - first % tile->cols, count = left < size ? left : size;
        kw_text_addf(text, " DO(0x%xu, KW_GROUP_%d)", ((1u << count) - 1) << first, group);
        first += count;
    }
}

/* Pixels whose sums, fewer than are under way, are two each (kernels/cpu/direct/direct_some.h): those, two steps' weights and a pixel have
 * registers. */
static int few_pixels(const kw_tile *tile, int32_t registers) {
    enum { SUMS_UNDER_WAY = 8 };
    return (int)kw_min(kw_min((SUMS_UNDER_WAY - 1) / tile->vecs, tile->cols), (registers - 1 - 2 * tile->vecs) / (2 * tile->vecs));
}

/* The first count pixels of a row, from the last to the first. */
static void emit_back(kw_text *text, const kw_tile *tile, const char *name, int count) {
    kw_text_addf(text, "\n#define KW_EACH_%s_BACK(DO)", name);
    for (int col = count - 1; col >= 0; col--) {
        emit_pixel(text, tile, 0, col);
    }
}

/* The lists by which kernels/cpu/lib/register_tile.h unrolls its loops. */
static void emit_pixels(kw_text *text, const kw_tile *tile, const kw_config *config) {
    kw_text_add(text, "#define KW_EACH_PIXEL(DO)");
    for (int m = 0; m < tile->rows * tile->cols; m++) {
        emit_pixel(text, tile, m / tile->cols, m % tile->cols);
    }
    if (tile->skip) {
        emit_groups(text, tile, kw_tile_group(tile, (int64_t)tile->vecs * kw_config_isa(config)->lanes));
    }
    if (config->wants.padded) {
        int few = few_pixels(tile, kw_config_isa(config)->registers);
        kw_text_addf(text, "\n#define KW_FEW %d", few);
        emit_back(text, tile, "PIXEL", tile->cols);
        emit_back(text, tile, "FEW", few);
    }
    kw_text_add(text, "\n#define KW_EACH_BASE(DO)");
    for (int b = 0; b < tile->rows * bases_of_row(tile); b++) {
        kw_text_addf(text, " DO(p%d, %d, %d)", b, b / bases_of_row(tile), b % bases_of_row(tile) * PIXELS_OF_A_BASE);
    }
    kw_text_add(text, "\n#define KW_EACH_VECTOR(DO, pixel)");
    for (int v = 0; v < tile->vecs; v++) {
        kw_text_addf(text, " DO(pixel, %d)", v);
    }
    kw_text_add(text, "\n#define KW_EACH_BUT_LAST(DO, pixel)");
    for (int v = 0; v + 1 < tile->vecs; v++) {
        kw_text_addf(text, " DO(pixel, %d)", v);
    }
    kw_text_add(text, "\n#define KW_EACH_PAIR(DO, TWO, pixel)");
    for (int v = 0; v + 1 < tile->vecs; v += 2) {
        kw_text_addf(text, " TWO(pixel, %d, %d)", v, v + 1);
    }
    if (tile->vecs % 2) {
        kw_text_addf(text, " DO(pixel, %d)", tile->vecs - 1);
    }
    kw_text_add(text, "\n");
}

/* Registers of AMX: first the sums, pixels outside; then what is loaded once a chunk, the smaller side of the tile; one more holds the larger side,
 * register by register. More of them gain nothing, for the processor renames them, and on one whose other thread has tiles as well each register in
 * use makes all products wait longer. Each is loaded just before it is first used. Of six sums of two by three one register is left for each
 * side, and the larger side is loaded again for each of the smaller. A part of a tile is summed in the same registers. */
static void emit_chunk(kw_text *text, const kw_tile *tile, const char *name, int used_pixels, int used_vecs) {
    int pixels = amx_pixels(tile), vecs = tile->vecs, first = pixels * vecs;
    bool keeps_pixels = pixels <= vecs, reloads = !kw_tile_fits_amx(tile);
    int kept = reloads ? 1 : keeps_pixels ? pixels : vecs, passed = first + kept;
    int keeping = keeps_pixels ? used_pixels : used_vecs, passing = keeps_pixels ? used_vecs : used_pixels;
    const char *keep = keeps_pixels ? "LOAD" : "WEIGHTS", *pass = keeps_pixels ? "WEIGHTS" : "LOAD";
    kw_text_addf(text, "#define KW_EACH_%sSUM(DO)", name);
    for (int i = 0; i < used_pixels * used_vecs; i++) {
        kw_text_addf(text, " DO(%d, %d, %d)", i / used_vecs, i % used_vecs, i / used_vecs * vecs + i % used_vecs);
    }
    kw_text_addf(text, "\n#define KW_%sCHUNK(LOAD, WEIGHTS, DOT)", name);
    for (int step = 0; step < passing * keeping; step++) {
        int i = reloads ? step % passing : step / keeping, j = reloads ? step / passing : step % keeping;
        int keeper = first + (reloads ? 0 : j);
        if (reloads || j == 0) {
            kw_text_addf(text, " %s(%d, %d)", pass, i, passed);
        }
        if (i == 0) {
            kw_text_addf(text, " %s(%d, %d)", keep, j, keeper);
        }
        kw_text_addf(text, " DOT(%d, %d, %d)", keeps_pixels ? j * vecs + i : i * vecs + j, keeps_pixels ? keeper : passed,
                     keeps_pixels ? passed : keeper);
    }
    kw_text_add(text, "\n");
}

void kw_tile_emit_parts(kw_text *text, const kw_tile *tile) {
    int pixels = amx_pixels(tile), vecs = tile->vecs;
    emit_chunk(text, tile, "", pixels, vecs);
    for (int part = 0; part < pixels * vecs; part++) {
        char name[32];
        snprintf(name, sizeof name, "%d_%d_", part / vecs + 1, part % vecs + 1);
        emit_chunk(text, tile, name, part / vecs + 1, part % vecs + 1);
    }
    kw_text_add(text, "#define KW_EACH_PART(DO)");
    for (int part = 0; part < pixels * vecs; part++) {
        kw_text_addf(text, " DO(%d, %d)", part / vecs + 1, part % vecs + 1);
    }
    kw_text_add(text, "\n");
}

void kw_tile_emit(kw_text *text, const kw_tile *tile, const kw_config *config) {
    kw_text_addf(text, "#define KW_TILE_ROWS %d\n#define KW_TILE_COLS %d\n#define KW_TILE_VECS %d\n", tile->rows, tile->cols, tile->vecs);
    kw_text_addf(text, "#define KW_TILE_ODD %d\n#define KW_TILE_SKIP %d\n#define KW_TILE_AHEAD %d\n#define KW_TILE_SUMS %d\n", tile->odd,
                 tile->skip, tile->ahead, tile->sums);
    kw_text_addf(text, "#define KW_TILE_OWN %d\n", tile->own);
    if (tile->ways) {
        kw_text_addf(text, "#define KW_WAYS %d\n", tile->ways);
    }
    if (multiplies_tiles(config)) {
        kw_text_addf(text, "#define KW_AMX_PART %d\n#define KW_AMX_LACKS %d\n", amx_pixels(tile) == 2, tile->vecs == 2);
        emit_chunk(text, tile, "", amx_pixels(tile), tile->vecs);
        if (amx_pixels(tile) == 2) {
            emit_chunk(text, tile, "PART_", 1, tile->vecs);
        }
        if (tile->vecs == 2) {
            emit_chunk(text, tile, "VECTOR_", amx_pixels(tile), 1);
        }
    } else {
        emit_pixels(text, tile, config);
    }
}

int64_t kw_tile_steps(const kw_tile_work *work, int64_t elements) {
    int64_t steps = kw_ceil_div(elements, work->pair);
    return work->amx ? KW_AMX_CHUNKS(steps) * KW_AMX_CHUNK(steps) : steps;
}

double kw_tile_step_loads(const kw_tile_work *work, const kw_tile *tile) {
    double pixels = tile->rows * tile->cols;
    return (work->amx ? pixels / KW_AMX_ROWS : pixels) + tile->vecs;
}

static bool may_lack(const kw_config *config, const kw_tile *tile) {
    bool fma = config->axis[KW_AXIS_MATH] == KW_MATH_FMA, quads = config->axis[KW_AXIS_MATH] == KW_MATH_DP && config->dtype == KW_INT8;
    return KW_TILE_MAY_LACK(fma, quads, tile->vecs, tile->own || tile->sums);
}

kw_tile_work kw_tile_work_of(const kw_config *config, const kw_tile *tile) {
    const kw_multiply *multiply = kw_config_multiply(config);
    bool raised = multiply->math == KW_MATH_DP && config->dtype == KW_INT8 && !config->wants.mixed; /* KW_RAISED of kernels/prelude/cpu.h */
    kw_tile_work work = {
        .block = (int64_t)kw_config_isa(config)->lanes * tile->vecs,
        .pair = multiply->pair,
        .word = 4 / multiply->pair,
        .amx = multiplies_tiles(config),
        .lacks = may_lack(config, tile),
        .instructions = multiply->math == KW_MATH_WIDE ? 2 : 1,
        .converts = raised || 4 / (size_t)multiply->pair != kw_dtype_size(config->dtype),
    };
    work.head = raised || kw_epilogue_zero_x(&config->wants.epilogue) ? KW_TILE_STEP_BYTES(work.block) : 0;
    return work;
}

static bool last_block_lacks(const kw_tile_work *work, const kw_tile *tile, int64_t channels) {
    int64_t rest = channels % work->block, lanes = work->block / tile->vecs;
    return work->lacks && rest > 0 && rest <= work->block - lanes;
}

int64_t kw_tile_vectors(const kw_tile_work *work, const kw_tile *tile, int64_t channels) {
    return kw_ceil_div(channels, work->block) * tile->vecs - last_block_lacks(work, tile, channels);
}

double kw_tile_products(const kw_tile_work *work, const kw_tile *tile, int64_t channels) {
    double vecs = tile->vecs, under_way = (double)KW_LANES_UNDER_WAY * vecs / (double)(work->block * tile->rows * tile->cols);
    double last = last_block_lacks(work, tile, channels) ? vecs - fmin(fmax(vecs - 1, under_way), vecs) : 0;
    return (double)kw_ceil_div(channels, work->block) * vecs - last;
}

int64_t kw_tile_pitch(int64_t pitch, int64_t distance, int64_t count) {
    enum { WAY = 4096, WAYS = 8, LINE = 64 };
    return count > WAYS * (WAY / kw_gcd(WAY, pitch * distance)) / 2 ? pitch + LINE : pitch;
}

int kw_tile_far(const kw_target *target) {
    enum { PAGE = 4096, FAR = 3, MANY_SLICES = 64 << 20 };
    const kw_rates *rates = &target->rates;
    bool far = rates->l2 > 0 && rates->l3 > 0 ? rates->l2 > FAR * rates->l3 : target->l3 >= MANY_SLICES;
    return far ? PAGE : 0;
}

int kw_tile_far_of_block(const kw_target *target, int64_t bytes) {
    int far = kw_tile_far(target);
    return bytes <= target->l1 / 2 ? -far : far;
}

int64_t kw_tile_parts(int64_t units, int64_t blocks, int64_t threads, int64_t each) {
    assert(units > 0 && blocks > 0 && threads > 0);
    for (int64_t parts = 1; parts < blocks; parts++) {
        int64_t all = units * parts, idle = kw_round_up(all, threads) - all;
        if (20 * idle <= all && (threads == 1 || all >= each * threads)) {
            return parts;
        }
    }
    return blocks;
}

int64_t kw_tile_sharers(int64_t units, int64_t parts, int64_t threads) {
    return kw_min(parts, kw_ceil_div(threads, kw_min(units, threads)));
}

/* tile.c: emits kw_tile(). Per step of a run: the weight vectors are loaded once, each pixel's value is spread to all lanes, and one
 * statement stands for each multiply-add.
 *
 * Pixels lie at a run-time distance. Seven of them share a base pointer: with the multiples 1, 3 and 5 of the distance in registers, the
 * address modes of x86 (scales 1, 2, 4) reach 0 to 6. The empty asm statements keep gcc from folding a load into each of its uses (the loop
 * would become load bound) and from spreading the addresses over more registers than there are. */
#include "families/cpu/emit/tile.h"

#include "base/math.h"
#include "families/codegen.h"

enum { PIXELS_OF_A_BASE = 7, BASES_MAX = 5 };

static int32_t bases_of_row(const kw_tile *tile) {
    return (tile->cols + PIXELS_OF_A_BASE - 1) / PIXELS_OF_A_BASE;
}

static bool tile_in_registers(const kw_rule_case *c) {
    const kw_tile *tile = c->decoded;
    return tile->rows * tile->cols * tile->vecs + tile->vecs + 1 <= kw_config_isa(c->config)->registers;
}

static bool tile_has_base_pointers(const kw_rule_case *c) {
    const kw_tile *tile = c->decoded;
    return tile->rows * bases_of_row(tile) <= BASES_MAX;
}

const kw_rule kw_tile_valid_rules[] = {
    {"tile_registers", "the sums of a tile, its vectors of weights and a pixel must fit the isa's vector registers", tile_in_registers},
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

const kw_rule kw_run_fits_rules[] = {
    {"few_channels", "c/g must be at most 16; above, conv.direct is as fast", run_is_short},
    {"dense_width", "dilation must be 1 along the width", run_is_dense},
    {0},
};

/* The address of a pixel relative to its base pointer. */
static const char *const offsets[PIXELS_OF_A_BASE] = {"", " + s1", " + s1 * 2", " + s3", " + s1 * 4", " + s5", " + s3 * 2"};

/* One step for the columns first..end-1 of every row. */
typedef struct step {
    const char *spread;
    int first, end;
} step;

static void emit_step(kw_text *text, const kw_tile *tile, bool dp, step s) {
    for (int v = 0; v < tile->vecs; v++) {
        kw_text_addf(text, "            kw_vf w%d = kw_load(w + %d * KW_VECTOR);\n            KW_KEEP(w%d);\n", v, v, v);
    }
    for (int m = 0; m < tile->rows * tile->cols; m++) {
        int row = m / tile->cols, col = m % tile->cols;
        if (col < s.first || col >= s.end) {
            continue;
        }
        kw_text_addf(text, "            x = %s(p%d%s);\n", s.spread, row * bases_of_row(tile) + col / PIXELS_OF_A_BASE,
                     offsets[col % PIXELS_OF_A_BASE]);
        if (tile->vecs > 1) {
            kw_text_add(text, "            KW_KEEP(x);\n");
        }
        for (int v = 0; v < tile->vecs; v++) {
            if (dp) {
                kw_text_addf(text, "            a%d_%d = kw_dp(a%d_%d, x, w%d);\n", m, v, m, v, v);
            } else {
                kw_text_addf(text, "            a%d_%d += x * w%d;\n", m, v, v);
            }
        }
    }
}

static void emit_loop(kw_text *text, const kw_tile *tile, bool dp, step s) {
    kw_text_add(text, tile->odd ? "        for (; i; i--) {\n" : "        do {\n");
    kw_text_add(text, "            __asm__(\"\" : \"+r\"(s1), \"+r\"(s3), \"+r\"(s5));\n");
    emit_step(text, tile, dp, s);
    if (tile->ahead) {
        kw_text_add(text, "            __builtin_prefetch(ahead);\n            ahead += KW_TILE_PIXELS * 4;\n");
    }
    kw_text_add(text, "            w += KW_TILE_VECS * KW_VECTOR;\n");
    for (int b = 0; b < tile->rows * bases_of_row(tile); b++) {
        kw_text_addf(text, "            p%d += 4;\n", b);
    }
    kw_text_add(text, tile->odd ? "        }\n" : "        } while (--i);\n");
}

static void emit_sums(kw_text *text, const kw_tile *tile, bool dp) {
    step all = {dp ? "kw_spread_pair" : "kw_spread", 0, tile->cols};
    kw_text_add(text, "    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run++) {\n"
                      "        const char *w = job->w + run->w;\n");
    for (int b = 0; b < tile->rows * bases_of_row(tile); b++) {
        kw_text_addf(text, "        const char *p%d = job->src + run->src + %d * job->src_row + %d * s1;\n", b, b / bases_of_row(tile),
                     b % bases_of_row(tile) * PIXELS_OF_A_BASE);
    }
    kw_text_add(text, "        kw_i64 i = job->steps;\n        kw_vf x;\n");
    if (tile->skip) {
        kw_text_add(text, "        kw_i64 low = run->at + job->col, high = low + job->reach;\n"
                          "        if (low >= job->size || high < 0) continue;\n        if (low < 0) {\n");
        emit_loop(text, tile, dp, (step){all.spread, 1, tile->cols});
        kw_text_add(text, "        } else if (high >= job->size) {\n");
        emit_loop(text, tile, dp, (step){all.spread, 0, tile->cols - 1});
        kw_text_add(text, "        } else\n");
    }
    emit_loop(text, tile, dp, all);
    if (tile->odd) {
        kw_text_add(text, "        if (job->odd) {\n");
        emit_step(text, tile, dp, (step){"kw_spread_half", 0, tile->cols});
        kw_text_add(text, "        }\n");
    }
    kw_text_add(text, "    }\n");
}

static void emit_spill(kw_text *text, const kw_tile *tile) {
    for (int m = 0; m < tile->rows * tile->cols; m++) {
        for (int v = 0; v < tile->vecs; v++) {
            kw_text_addf(text, "    kw_put(job->spill + %d * KW_VECTOR, a%d_%d);\n", m * tile->vecs + v, m, v);
        }
    }
}

static void emit_tile_stores(kw_text *text, const kw_tile *tile) {
    int pixels = tile->rows * tile->cols;
    if (tile->sums) {
        emit_spill(text, tile);
        return;
    }
    kw_text_add(text, "    if (kw_tile_whole(job)) {\n        char *out = job->out;\n");
    for (int m = 0; m < pixels; m++) {
        for (int v = 0; v < tile->vecs; v++) {
            kw_text_addf(text, "        kw_store_x(out + %d * KW_LANES * KW_BYTES, a%d_%d);\n", v, m, v);
        }
        if (m + 1 < pixels && (m + 1) % tile->cols == 0) {
            kw_text_addf(text, "        out = job->out + %d * job->out_row;\n", (m + 1) / tile->cols);
        } else if (m + 1 < pixels) {
            kw_text_add(text, "        out += job->out_pixel;\n");
        }
    }
    kw_text_add(text, "        return;\n    }\n");
    emit_spill(text, tile);
    kw_text_add(text, "    kw_tile_part(job);\n");
}

void kw_tile_emit(kw_text *text, const kw_config *config, const kw_tile *tile) {
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP;
    kw_text_addf(
        text,
        "#define KW_TILE_ROWS %d\n#define KW_TILE_COLS %d\n#define KW_TILE_VECS %d\n#define KW_TILE_ODD %d\n#define KW_TILE_SKIP %d\n",
        tile->rows, tile->cols, tile->vecs, tile->odd, tile->skip);
    kw_text_add(text, "#include \"cpu/lib/dense.h\"\n");
    kw_text_add(text, "static __attribute__((noinline)) void kw_tile(const kw_tile_job *job) {\n");
    for (int m = 0; m < tile->rows * tile->cols; m++) {
        for (int v = 0; v < tile->vecs; v++) {
            kw_text_addf(text, "%sa%d_%d = {0}%s", v ? ", " : "    kw_vf ", m, v, v + 1 < tile->vecs ? "" : ";\n");
        }
    }
    kw_text_add(text, "    kw_i64 s1 = job->src_pixel, s3 = 3 * s1, s5 = 5 * s1;\n");
    if (tile->ahead) {
        kw_text_add(text, "    const char *ahead = job->ahead;\n");
    }
    emit_sums(text, tile, dp);
    emit_tile_stores(text, tile);
    kw_text_add(text, "}\n");
}

kw_tile_work kw_tile_work_of(const kw_config *config, const kw_tile *tile) {
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP;
    return (kw_tile_work){
        .block = (int64_t)kw_config_isa(config)->lanes * tile->vecs,
        .pair = dp ? 2 : 1,
        .word = dp ? 2 : 4,
        .converts = !dp && config->dtype != KW_FP32,
    };
}

int64_t kw_tile_pitch(int64_t pitch, int64_t distance, int64_t count) {
    enum { WAY = 4096, WAYS = 8, LINE = 64 };
    return count > WAYS * (WAY / kw_gcd(WAY, pitch * distance)) / 2 ? pitch + LINE : pitch;
}

int64_t kw_tile_parts(int64_t units, int64_t blocks, int64_t threads) {
    for (int64_t parts = 1; parts < blocks; parts++) {
        int64_t all = units * parts, idle = kw_round_up(all, threads) - all;
        if (20 * idle <= all) {
            return parts;
        }
    }
    return blocks;
}

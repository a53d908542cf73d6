/* grouped_emit.c: the straight-line text of a tile of the depthwise and merged families. Named accumulators stay in registers over all
 * windows; KW_KEEP holds weights in registers, where gcc would otherwise load them again for every multiply. */
#include "families/cpu/grouped/grouped_emit.h"

#include "cpu/grouped/args.h"

#include <assert.h>
#include <stdio.h>

int kw_tap_source(bool scatters, int stride, int taps, int pixel, int tap) {
    if (taps == 1) {
        return pixel;
    }
    if (!scatters) {
        return pixel * stride + tap;
    }
    int reach = (taps - 1) / stride; /* source pixels before the tile's own */
    return (pixel - tap + reach * stride) % stride ? -1 : (pixel - tap) / stride + reach;
}

int kw_grouped_sources(const kw_config *config, const kw_grouped *g, int tile, int taps) {
    int most = 0;
    for (int tap = 0; tap < taps; tap++) {
        int source = -1; /* the tap's last: they ascend with the pixels */
        for (int pixel = tile - 1; pixel >= 0 && source < 0; pixel--) {
            source = kw_tap_source(kw_grouped_scatters(config, g), g->stride, taps, pixel, tap);
        }
        most = source > most ? source : most;
    }
    return most + 1;
}

int kw_grouped_row_pairs(const kw_config *config, const kw_grouped *g, int pairs[KW_ROW_PAIRS_MAX][2]) {
    int step = kw_grouped_scatters(config, g) ? g->stride : 1, count = 0;
    int taps = kw_grouped_pairs_columns(config, g) ? g->taps_w : g->taps_h;
    for (int first = 0; first < step; first++) {
        for (int row = first; row < taps; row += 2 * step, count++) {
            assert(count < KW_ROW_PAIRS_MAX);
            pairs[count][0] = row;
            pairs[count][1] = row + step < taps ? row + step : -1;
        }
    }
    return count;
}

int64_t kw_grouped_window_vectors(const kw_config *config, const kw_grouped *g) {
    int pairs[KW_ROW_PAIRS_MAX][2];
    if (kw_grouped_pairs_rows(config, g)) {
        return (int64_t)kw_grouped_row_pairs(config, g, pairs) * (kw_grouped_pairs_columns(config, g) ? 1 : g->taps_w) * 2;
    }
    if (kw_grouped_whole(config)) { /* and their sums */
        return 1 + (int64_t)KW_GROUPED_WORDS(g->src, config->axis[KW_AXIS_MATH] == KW_MATH_DP ? 4 : 2) * g->taps_h * g->taps_w;
    }
    return (int64_t)(config->axis[KW_AXIS_MATH] == KW_MATH_DP ? g->src / 2 : g->src) * g->taps_h * g->taps_w;
}

/* What is emitted. In forward and backward data a is a result pixel's sum and b a tap's weights; in the weight gradient a is a tap's sum
 * and b a result pixel's gradient. */
typedef struct writer {
    kw_text *text;
    const kw_grouped *g;
    bool scatters, gradient, staged, mixes, mixes_other; /* mixes: x is made of several lanes' channels; mixes_other: b is */
    const char *multiply;                                /* of x and b into a */
    const char *half;                                    /* ending of the names of x, a and b */
    int rows, cols;
    unsigned loaded; /* bits of the rows of b that were loaded */
} writer;

static int row_source(const writer *w, int pixel, int tap) {
    return kw_tap_source(w->scatters, w->g->stride, w->g->taps_h, pixel, tap);
}

static int col_source(const writer *w, int pixel, int tap) {
    return kw_tap_source(w->scatters, w->g->stride, w->g->taps_w, pixel, tap);
}

/* Loads the row of b that stands first vectors behind the window's weights (in the gradient, at the tile's result row). */
static void emit_other_row(const writer *w, int row, int first) {
    for (int i = 0; i < (w->gradient ? w->g->tile_w : w->g->taps_w); i++) {
        if (w->mixes_other) {
            kw_text_addf(w->text, "        kw_vf b%d_%d = kw_mix(dst + to[%d], pick);\n", row, i, first + i);
        } else if (w->gradient) {
            kw_text_addf(w->text, "        kw_vf b%d_%d = %s(dst + to[%d]);\n", row, i, w->staged ? "kw_load" : "kw_load_x", first + i);
        } else {
            kw_text_addf(w->text, "        kw_vf b%d_%d = kw_load(w + %d * KW_VECTOR) KW_LESS_W_ZEROS;\n", row, i, first + i);
        }
        kw_text_addf(w->text, "        KW_KEEP(b%d_%d);\n", row, i);
    }
}

/* x, which stands in this column, into the sums of one result row and filter row. */
static void emit_uses(const writer *w, int result_row, int tap_row, int col) {
    for (int pixel = 0; pixel < w->g->tile_w; pixel++) {
        for (int tap = 0; tap < w->g->taps_w; tap++) {
            if (col_source(w, pixel, tap) == col) {
                int a[2] = {result_row, pixel}, b[2] = {tap_row, tap};
                const int *sum = w->gradient ? b : a, *other = w->gradient ? a : b;
                kw_text_addf(w->text, "        a%d_%d%s = %s(a%d_%d%s, x%s, b%d_%d%s);\n", sum[0], sum[1], w->half, w->multiply, sum[0],
                             sum[1], w->half, w->half, other[0], other[1], w->half);
            }
        }
    }
}

static bool col_used(const writer *w, int col) {
    for (int pixel = 0; pixel < w->g->tile_w; pixel++) {
        for (int tap = 0; tap < w->g->taps_w; tap++) {
            if (col_source(w, pixel, tap) == col) {
                return true;
            }
        }
    }
    return false;
}

/* One row of source pixels into all the result rows and filter rows that meet there. */
static void emit_source_row(writer *w, int row) {
    const kw_grouped *g = w->g;
    bool used = false;
    for (int y = 0; y < g->tile_h; y++) {
        for (int r = 0; r < g->taps_h; r++) {
            int other = w->gradient ? y : r;
            if (row_source(w, y, r) == row) {
                used = true;
                if (!(w->loaded >> other & 1)) {
                    emit_other_row(w, other, other * (w->gradient ? g->tile_w : g->taps_w));
                    w->loaded |= 1u << other;
                }
            }
        }
    }
    for (int col = 0; used && col < w->cols; col++) {
        if (!col_used(w, col)) {
            continue;
        }
        kw_text_addf(w->text,
                     w->mixes ? "        x = kw_mix(KW_SOURCE(%d), pick) KW_LESS_ZERO;\n"
                              : "        x = kw_load_x(src + from[%d]) KW_LESS_ZERO;\n",
                     1 + row * w->cols + col);
        for (int y = 0; y < g->tile_h; y++) {
            for (int r = 0; r < g->taps_h; r++) {
                if (row_source(w, y, r) == row) {
                    emit_uses(w, y, r, col);
                }
            }
        }
    }
}

static void emit_pair_weights(const writer *w, int pair) {
    for (int i = 0; i < 2 * w->g->taps_w; i++) {
        const char *half = i % 2 ? "h" : "l";
        kw_text_addf(w->text, "        kw_vf b%d_%d%s = kw_load(w + %d * KW_VECTOR);\n        KW_KEEP(b%d_%d%s);\n", pair, i / 2, half,
                     2 * pair * w->g->taps_w + i, pair, i / 2, half);
    }
}

/* Pairs of filter rows, for each result row by itself, so that no source pixel meets a weight it does not belong to. */
static void emit_row_pairs(writer *w, const kw_config *config) {
    int pairs[KW_ROW_PAIRS_MAX][2], count = kw_grouped_row_pairs(config, w->g, pairs);
    for (int y = 0; y < w->g->tile_h; y++) {
        for (int pair = 0; pair < count; pair++) {
            int first = row_source(w, y, pairs[pair][0]), second = pairs[pair][1] < 0 ? -1 : row_source(w, y, pairs[pair][1]);
            if (first < 0) {
                continue;
            }
            kw_text_add(w->text, "        {\n");
            emit_pair_weights(w, pair);
            for (int col = 0; col < w->cols; col++) {
                if (!col_used(w, col)) {
                    continue;
                }
                kw_text_addf(w->text, "        first = kw_load(src + from[%d]);\n", 1 + first * w->cols + col);
                if (second >= 0) {
                    kw_text_addf(w->text, "        second = kw_load(src + from[%d]);\n", 1 + second * w->cols + col);
                }
                kw_text_addf(w->text, "        xl = kw_pair_low(first, %s), xh = kw_pair_high(first, %s);\n",
                             second < 0 ? "(kw_vf){0}" : "second", second < 0 ? "(kw_vf){0}" : "second");
                w->half = "l";
                emit_uses(w, y, pair, col);
                w->half = "h";
                emit_uses(w, y, pair, col);
            }
            kw_text_add(w->text, "        }\n");
        }
    }
}

/* The pair of two columns of a row, of one with nothing where second is -1, into each sum of the row that meets it. */
static void emit_column_pair(const writer *w, int row, const int pairs[][2], int count, int first, int second) {
    bool used = false;
    for (int i = 0; i < 2 * count * w->g->tile_w; i++) {
        int half = i / count / w->g->tile_w, pair = i / w->g->tile_w % count, pixel = i % w->g->tile_w;
        if (col_source(w, pixel, pairs[pair][0]) != first || (pairs[pair][1] < 0 ? -1 : col_source(w, pixel, pairs[pair][1])) != second) {
            continue;
        }
        if (!used && second < 0) {
            kw_text_addf(w->text, "        xl = kw_pair_low(c%d, (kw_vf){0}), xh = kw_pair_high(c%d, (kw_vf){0});\n", first, first);
        } else if (!used) {
            kw_text_addf(w->text, "        xl = kw_pair_low(c%d, c%d), xh = kw_pair_high(c%d, c%d);\n", first, second, first, second);
        }
        used = true;
        char name = half ? 'h' : 'l';
        kw_text_addf(w->text, "        a%d_%d%c = kw_dp(a%d_%d%c, x%c, b%d%c);\n", row, pixel, name, row, pixel, name, name, pair, name);
    }
}

/* Pairs of filter columns: a pair of source columns is made once for all results of its row that meet it. */
static void emit_column_pairs(writer *w, const kw_config *config) {
    int pairs[KW_ROW_PAIRS_MAX][2], count = kw_grouped_row_pairs(config, w->g, pairs);
    for (int i = 0; i < 2 * count; i++) {
        char half = i % 2 ? 'h' : 'l';
        kw_text_addf(w->text, "        kw_vf b%d%c = kw_load(w + %d * KW_VECTOR);\n        KW_KEEP(b%d%c);\n", i / 2, half, i, i / 2, half);
    }
    for (int row = 0; row < w->g->tile_h; row++) {
        kw_text_add(w->text, "        {\n");
        for (int col = 0; col < w->cols; col++) {
            kw_text_addf(w->text, "        kw_vf c%d = kw_load(src + from[%d]);\n", col, 1 + row * w->cols + col);
            for (int other = 0; other < col; other++) {
                emit_column_pair(w, row, pairs, count, other, col);
                emit_column_pair(w, row, pairs, count, col, other);
            }
            emit_column_pair(w, row, pairs, count, col, -1);
        }
        kw_text_add(w->text, "        }\n");
    }
}

/* Loads two rows' vectors as the pairs NAMEl and NAMEh. */
static void emit_pair(const writer *w, const char *name, const char *tensor, int first, int second) {
    kw_text_addf(w->text, "        first = KW_LOAD_ROW(%s[%d]), second = KW_LOAD_ROW(%s[%d]);\n", tensor, first, tensor, second);
    kw_text_addf(w->text, "        %sl = kw_pair_low(first, second), %sh = kw_pair_high(first, second);\n", name, name);
}

/* The gradient's pairs are of result rows, each with the source rows that a filter row joins to them. */
static void emit_gradient_pairs(writer *w) {
    const kw_grouped *g = w->g;
    for (int y = 0; y < g->tile_h; y += 2) {
        kw_text_add(w->text, "        {\n");
        for (int col = 0, pixel = 0; col < w->cols; col++) {
            for (; pixel < g->tile_w && pixel * (g->taps_w > 1 ? g->stride : 1) <= col; pixel++) {
                char name[32];
                snprintf(name, sizeof name, "b%d_%d", y, pixel);
                kw_text_addf(w->text, "        kw_vf %sl, %sh;\n", name, name);
                emit_pair(w, name, "dst + to", y * g->tile_w + pixel, (y + 1) * g->tile_w + pixel);
            }
            for (int row = 0; row < g->taps_h && col_used(w, col); row++) {
                emit_pair(w, "x", "src + from", 1 + row_source(w, y, row) * w->cols + col, 1 + row_source(w, y + 1, row) * w->cols + col);
                w->half = "l";
                emit_uses(w, y, row, col);
                w->half = "h";
                emit_uses(w, y, row, col);
            }
        }
        kw_text_add(w->text, "        }\n");
    }
}

static void emit_steps(writer *w, const kw_config *config) {
    if (kw_grouped_pairs_rows(config, w->g) && w->gradient) {
        kw_text_add(w->text, "        kw_row first, second;\n        kw_vf xl, xh;\n");
        emit_gradient_pairs(w);
    } else if (kw_grouped_pairs_columns(config, w->g)) {
        kw_text_add(w->text, "        kw_vf xl, xh;\n");
        emit_column_pairs(w, config);
    } else if (kw_grouped_pairs_rows(config, w->g)) {
        kw_text_add(w->text, "        kw_vf first, second, xl, xh;\n");
        emit_row_pairs(w, config);
    } else {
        kw_text_add(w->text, "        kw_vf x;\n");
        for (int row = 0; row < w->rows; row++) {
            emit_source_row(w, row);
        }
    }
}

/* #define NAME with a body of several lines. */
static void add_macro(kw_text *text, const char *name, const kw_text *body) {
    kw_scan scan = kw_scan_string(body->data ? body->data : "");
    kw_word line;
    kw_text_addf(text, "#define %s", name);
    while (kw_scan_line(&scan, &line)) {
        kw_text_add(text, " \\\n");
        kw_text_add_bytes(text, line.at, line.size);
    }
    kw_text_add(text, "\n");
}

/* What kw_tile() in kernels/cpu/grouped/ is unrolled by: its sums, and the products of one window (in the gradient, of one tile). */
static void emit_unrolled(writer *w, const kw_config *config) {
    const kw_grouped *g = w->g;
    kw_text *text = w->text, body = {0};
    int rows = w->gradient ? g->taps_h : g->tile_h, cols = w->gradient ? g->taps_w : g->tile_w;
    kw_text_add(text, "#define KW_EACH_SUM(DO)");
    for (int i = 0; i < rows * cols; i++) {
        kw_text_addf(text, " DO(a%d_%d, %d)", i / cols, i % cols, i);
    }
    kw_text_add(text, "\n");
    w->text = &body;
    emit_steps(w, config);
    w->text = text;
    add_macro(text, "KW_MULTIPLY", &body);
    text->failed = text->failed || body.failed;
    kw_text_drop(&body);
}

/* Where groups share vectors: how a vector of source channels is spread over the lanes. */
static void emit_lanes(kw_text *text, const kw_config *config, const kw_grouped *g) {
    int lanes = kw_config_isa(config)->lanes, steps = config->axis[KW_AXIS_MATH] == KW_MATH_DP ? g->src / 2 : g->src;
    int parts = lanes / g->dst * steps;
    kw_text_addf(text, "#define KW_PARTS %d\n#define KW_WIDEN(v) __builtin_shufflevector(v, v", parts);
    for (int i = 0; i < lanes; i++) {
        kw_text_addf(text, ", %d", i < parts ? i : -1);
    }
    kw_text_add(text, ")\nstatic const int kw_lane_source[KW_LANES] __attribute__((aligned(64))) = {");
    for (int i = 0; i < lanes; i++) {
        kw_text_addf(text, "%s%d", i ? ", " : "", i / g->dst * steps);
    }
    kw_text_add(text, "};\n");
}

void kw_grouped_emit(kw_text *text, const kw_config *config, const kw_grouped *g) {
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP, pairs_rows = kw_grouped_pairs_rows(config, g);
    int pairs[KW_ROW_PAIRS_MAX][2], count = pairs_rows ? kw_grouped_row_pairs(config, g, pairs) : 0;
    writer w = {
        .text = text,
        .g = g,
        .scatters = kw_grouped_scatters(config, g),
        .gradient = kw_grouped_gradient(config),
        .staged = kw_grouped_staged(config, g),
        .mixes = g->reach ? !g->lanes_c : g->src > 1 || g->dst > 1,
        .mixes_other = g->reach && g->lanes_c,
        .multiply = pairs_rows && kw_grouped_whole(config) ? "kw_dot_rows"
                    : kw_grouped_whole(config)             ? "kw_dot"
                    : dp                                   ? "kw_dp"
                                                           : "kw_fma",
        .half = "",
        .rows = kw_grouped_sources(config, g, g->tile_h, g->taps_h),
        .cols = kw_grouped_sources(config, g, g->tile_w, g->taps_w),
    };
    kw_text_addf(text, "#define KW_TILE_H %d\n#define KW_TILE_W %d\n#define KW_TAPS_H %d\n#define KW_TAPS_W %d\n#define KW_STRIDE %d\n",
                 g->tile_h, g->tile_w, g->taps_h, g->taps_w, g->stride);
    kw_text_addf(text, "#define KW_ROWS %d\n#define KW_COLS %d\n#define KW_SRC_GROUP %d\n#define KW_DST_GROUP %d\n", w.rows, w.cols, g->src,
                 g->dst);
    kw_text_addf(text, "#define KW_STAGED %d\n#define KW_REACH %d\n#define KW_LANES_C %d\n", w.staged, g->reach, g->lanes_c);
    int steps = g->reach ? 1 : dp && !pairs_rows ? g->src / 2 : g->src;
    int vectors = g->reach ? g->taps_h * g->taps_w : (int)kw_grouped_window_vectors(config, g) / steps;
    kw_text_addf(text, "#define KW_STEPS %d\n#define KW_STEP_VECTORS %d\n", steps, vectors);
    if (pairs_rows && w.gradient) {
        kw_text_add(text, "#define KW_ROW_PAIRS 0\n");
    } else if (pairs_rows) {
        kw_text_addf(text, "#define KW_ROW_PAIRS %d\nstatic const signed char kw_row_pairs[KW_ROW_PAIRS][2] = {", count);
        for (int i = 0; i < count; i++) {
            kw_text_addf(text, "%s{%d, %d}", i ? ", " : "", pairs[i][0], pairs[i][1]);
        }
        kw_text_add(text, "};\n");
    }
    if (w.mixes && !g->reach && g->dst < kw_config_isa(config)->lanes) {
        emit_lanes(text, config, g);
    }
    kw_text_addf(text, "#define KW_MIXES %d\n", w.mixes);
    emit_unrolled(&w, config);
}

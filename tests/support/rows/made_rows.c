/* made_rows.c: noise and failures come from hashes of what the row is about, so that order plays no part. */
#include "support/rows/made_rows.h"

#include "base/hash.h"
#include "config/config.h"
#include "predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char made_target[] = "cpu:x86-64-v4-bf16 model=vendor-25-97-2 units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432";

static void demand(bool good, const char *what, const kw_error *err) {
    if (!good) {
        fprintf(stderr, "made_rows: %s: %s\n", what, err->text);
        abort();
    }
}

/* 0 to 1, of a text. */
static double chance(const char *text) {
    return (double)(kw_hash64(text, strlen(text)) >> 40) / (double)(1 << 24);
}

static kw_problem problem_of(int number) {
    static const char *const ops[] = {"conv_fwd", "gemm", "conv_bwd_data", "conv_fwd"};
    static const char *const types[] = {"fp32", "bf16"};
    static const int channels[] = {16, 32, 64, 128, 256}, sizes[] = {7, 8, 14, 28, 56, 80};
    const char *op = ops[number % 4], *type = types[number / 4 % 2];
    int c = channels[number / 8 % 5], size = sizes[number / 3 % 6], filter = number / 5 % 2 ? 3 : 1;
    char line[KW_PROBLEM_TEXT_MAX];
    kw_problem problem;
    kw_error err = {0};
    if (number % 4 == 1) {
        snprintf(line, sizeof line, "gemm %s rcr m%d n%d k%d", type, size * size, 64 + number, 8 * c);
    } else {
        snprintf(line, sizeof line, "%s %s n%d g%d c%d k%d i%dx%d f%d p%d", op, type, 1 + number % 5, number % 7 == 3 ? c : 1, c,
                 number % 7 == 3 ? c : 16 + 16 * (number % 9), size, size + number % 3, filter, filter / 2);
    }
    demand(!kw_problem_parse(&problem, line, &err), line, &err);
    return problem;
}

typedef struct making {
    made_rows *made;
    size_t capacity;
    char (*texts)[KW_CONFIG_TEXT_MAX]; /* of all kernels */
    size_t text_count;
    kw_target target;
    kw_problem problem;
    char problem_text[KW_PROBLEM_TEXT_MAX];
} making;

static void set_time(kw_record *record, double time) {
    record->outcome = KW_GOOD;
    record->time_ns = time;
    record->spread_ns = 0.01 * time;
    record->median_ns = time * 1.003;
    record->mad_ns = 0.004 * time;
    record->least_ns = time * 0.99;
    record->half_ns[0] = time * 1.001;
    record->half_ns[1] = time * 0.999;
    record->samples = 21;
    record->calls = 10;
    record->warmups = 3;
}

/* Some kernels end their process, by a rule. */
static bool crashes(const kw_config *config, const kw_problem *problem) {
    bool wide = kw_config_axis(config, "tile_w", 0) >= 14 || kw_config_axis(config, "tile_m", 0) >= 14;
    return wide && (problem->op == KW_GEMM ? problem->gemm.k < 200 : problem->conv.c == 16);
}

/* Wide tiles suffer more than the estimate knows where there are few channels, narrow ones where there are many. */
static double factor_of(const kw_config *config, const kw_problem *problem) {
    double vecs = kw_config_axis(config, "vecs", 1), tile = fmax(kw_config_axis(config, "tile_w", 1), kw_config_axis(config, "tile_m", 1));
    double channels = problem->op == KW_GEMM ? (double)problem->gemm.k : (double)problem->conv.c;
    return 1 + 0.4 * fabs(vecs - 1 - (channels > 64)) + 0.02 * fabs(tile - (channels > 64 ? 14 : 7));
}

static bool take_config(void *user, const char *text) {
    making *m = user;
    kw_error err = {0};
    m->texts = realloc(m->texts, (m->text_count + 1) * sizeof *m->texts);
    demand(m->texts, "memory", &err);
    snprintf(m->texts[m->text_count++], sizeof *m->texts, "%s", text);
    return true;
}

static void add_config(making *m, const char *text) {
    kw_config config;
    kw_error err = {0};
    demand(!kw_config_parse(&config, text, &err), text, &err);
    if (config.op != m->problem.op || config.dtype != m->problem.dtype) {
        return;
    }
    made_rows *made = m->made;
    if (made->count == m->capacity) {
        m->capacity = m->capacity ? 2 * m->capacity : 256;
        made->rows = realloc(made->rows, m->capacity * sizeof *made->rows);
        demand(made->rows, "memory", &err);
    }
    kw_row *row = &made->rows[made->count];
    *row = (kw_row){.sequence = (int64_t)made->count, .packed = true, .seed = 1};
    snprintf(row->run, sizeof row->run, "%s", "0123456789abcdef0123456789abcdef");
    snprintf(row->time, sizeof row->time, "%s", "2026-11-21T05:47:09Z");
    snprintf(row->target, sizeof row->target, "%s", made_target);
    snprintf(row->problem, sizeof row->problem, "%s", m->problem_text);
    snprintf(row->record.config, sizeof row->record.config, "%s", text);
    made->count++;
    if (kw_config_fits(&config, &m->problem, &m->target, NULL)) {
        row->record.outcome = KW_UNFIT;
        snprintf(row->record.detail, sizeof row->record.detail, "does not fit");
        made->unfit++;
        return;
    }
    kw_launch launch = {0};
    config.family->launch(&config, &m->problem, &m->target, &launch);
    char key[KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX];
    snprintf(key, sizeof key, "%s %s", m->problem_text, text);
    double estimate = kw_predict_ns(&config, &m->problem, &m->target, &launch);
    if (crashes(&config, &m->problem)) {
        row->record.outcome = KW_CRASHED;
        snprintf(row->record.detail, sizeof row->record.detail, "signal 11");
        made->failed++;
        return;
    }
    double factor = factor_of(&config, &m->problem);
    set_time(&row->record, 1000 + estimate * factor * (1 + 0.02 * chance(key)));
    made->good++;
    if (factor > 1.9) {
        row->record.outcome = KW_SLOW;
        row->record.time_ns *= 8;
        row->record.samples = 2;
        row->record.spread_ns = row->record.median_ns = row->record.mad_ns = row->record.least_ns = 0;
        row->record.half_ns[0] = row->record.half_ns[1] = 0;
        made->good--;
        made->slow++;
    }
}

void made_rows_make(made_rows *made, int problems) {
    kw_error err = {0};
    making m = {.made = made};
    *made = (made_rows){0};
    demand(!kw_target_parse(&m.target, made_target, &err), "target", &err);
    kw_space_options options = {.size = sizeof(kw_space_options), .set = "tests", .arch = "x86-64-v4-bf16"};
    demand(!kw_space_visit(&options, take_config, &m, &err), "space", &err);
    for (int i = 0; i < problems; i++) {
        m.problem = problem_of(i);
        kw_problem_print(m.problem_text, sizeof m.problem_text, &m.problem);
        for (size_t k = 0; k < m.text_count; k++) {
            add_config(&m, m.texts[k]);
        }
    }
    free(m.texts);
}

void made_rows_free(made_rows *made) {
    free(made->rows);
    *made = (made_rows){0};
}

void made_rows_save(const made_rows *made, const char *path, size_t first, size_t step) {
    kw_store *store = NULL;
    kw_error err = {0};
    kw_run run = {0};
    snprintf(run.id, sizeof run.id, "%s", made->rows[0].run);
    snprintf(run.started, sizeof run.started, "%s", made->rows[0].time);
    snprintf(run.target, sizeof run.target, "%s", made_target);
    demand(!kw_store_open(&store, path, KW_STORE_WRITE, &err), path, &err);
    demand(!kw_store_add_run(store, &run, &err), "run", &err);
    kw_row *chosen = calloc(made->count / step + 1, sizeof *chosen);
    demand(chosen, "memory", &err);
    size_t count = 0;
    for (size_t i = first; i < made->count; i += step) {
        chosen[count++] = made->rows[i];
    }
    demand(!kw_store_add(store, chosen, count, NULL, &err), "rows", &err);
    kw_store_close(&store);
    free(chosen);
}

/* rows.c: see rows.h. */
#include "support/rows/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char rows_target[] = "cpu:x86-64-v4 model=test-1-2-3 units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432";

static const char run_id[] = "0123456789abcdef0123456789abcdef";

void rows_run(kw_run *run) {
    memset(run, 0, sizeof *run);
    snprintf(run->id, sizeof run->id, "%s", run_id);
    snprintf(run->started, sizeof run->started, "2026-11-21T05:47:09Z");
    snprintf(run->version, sizeof run->version, "0.1.0");
    snprintf(run->command, sizeof run->command, "sweep \"quoted\" \\ and, comma");
    snprintf(run->host, sizeof run->host, "host");
    snprintf(run->target, sizeof run->target, "%s", rows_target);
    snprintf(run->options, sizeof run->options, "threads=1");
}

static void fill_times(kw_record *record, int64_t i, int64_t scale) {
    record->time_ns = (1e6 + (double)i / 3) * (double)scale;
    record->spread_ns = (double)(i % 97) / 7;
    record->median_ns = record->time_ns * 1.01;
    record->mad_ns = record->spread_ns / 2;
    record->least_ns = record->time_ns * 0.99;
    record->half_ns[0] = record->time_ns * 0.999;
    record->half_ns[1] = record->time_ns * 1.001;
    record->samples = 21;
    record->dropped = (int32_t)(i % 3);
    record->calls = 10;
    record->warmups = 3;
    record->error = 1 / (double)(i + 3);
    record->ulp = (double)(i % 5) + 0.1;
}

void rows_make(kw_row *row, int64_t i, int64_t kernels) {
    static const kw_outcome failures[] = {KW_UNFIT, KW_WRONG, KW_CRASHED, KW_SLOW};
    int64_t kernel = i % kernels, problem = i / kernels;
    memset(row, 0, sizeof *row);
    snprintf(row->record.config, sizeof row->record.config, "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_w=%lld vecs=2",
             (long long)kernel + 1);
    kw_problem parsed;
    char text[128];
    snprintf(text, sizeof text, "conv_fwd fp32 nhwgc n%lld c64 k64 i56x56 f3x3 p1x1", (long long)problem + 1);
    if (!kw_problem_parse(&parsed, text, NULL)) {
        kw_problem_print(row->problem, sizeof row->problem, &parsed);
    }
    snprintf(row->run, sizeof row->run, "%s", run_id);
    snprintf(row->target, sizeof row->target, "%s", rows_target);
    snprintf(row->time, sizeof row->time, "2026-11-21T05:%02lld:09Z", (long long)(i / 60 % 60));
    row->sequence = i;
    row->packed = true;
    row->seed = 42;
    row->pid = 1234;
    row->compile_ns = (double)i * 1e5;
    row->code_bytes = 4096;
    snprintf(row->code_hash, sizeof row->code_hash, "%032llx", (unsigned long long)i);
    row->registers = 32;
    row->control_ns = 5e5 + (double)(i % 11);
    row->drift = -0.001 * (double)(i % 13 + 1);
    row->clock_mhz = 3700.5;
    row->record.workspace = i % 2 ? 4096 : 0;
    if (i % 5 == 4) {
        row->record.outcome = failures[i / 5 % 4];
        snprintf(row->record.detail, sizeof row->record.detail, "refused: rule %lld says \"no\"", (long long)(i % 3));
    } else {
        row->record.outcome = KW_GOOD;
    }
    if (row->record.outcome == KW_GOOD || row->record.outcome == KW_SLOW) {
        fill_times(&row->record, i, problem + 1);
    }
}

static bool equal_doubles(double a, double b) {
    return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b));
}

static bool records_equal(const kw_record *a, const kw_record *b) {
    return a->outcome == b->outcome && equal_doubles(a->time_ns, b->time_ns) && equal_doubles(a->spread_ns, b->spread_ns) &&
           equal_doubles(a->median_ns, b->median_ns) && equal_doubles(a->mad_ns, b->mad_ns) && equal_doubles(a->least_ns, b->least_ns) &&
           equal_doubles(a->half_ns[0], b->half_ns[0]) && equal_doubles(a->half_ns[1], b->half_ns[1]) && a->samples == b->samples &&
           a->dropped == b->dropped && a->calls == b->calls && a->warmups == b->warmups && a->cold == b->cold &&
           a->workspace == b->workspace && equal_doubles(a->error, b->error) && equal_doubles(a->ulp, b->ulp) &&
           !strcmp(a->config, b->config) && !strcmp(a->detail, b->detail);
}

bool rows_equal(const kw_row *a, const kw_row *b) {
    return records_equal(&a->record, &b->record) && !strcmp(a->run, b->run) && a->sequence == b->sequence && !strcmp(a->time, b->time) &&
           !strcmp(a->target, b->target) && !strcmp(a->problem, b->problem) && a->packed == b->packed && a->seed == b->seed &&
           equal_doubles(a->compile_ns, b->compile_ns) && a->code_bytes == b->code_bytes && !strcmp(a->code_hash, b->code_hash) &&
           a->registers == b->registers && a->spilled_bytes == b->spilled_bytes && a->shared_bytes == b->shared_bytes &&
           equal_doubles(a->control_ns, b->control_ns) && equal_doubles(a->drift, b->drift) && equal_doubles(a->clock_mhz, b->clock_mhz) &&
           equal_doubles(a->memory_mhz, b->memory_mhz) && equal_doubles(a->temperature_c, b->temperature_c) &&
           equal_doubles(a->power_w, b->power_w) && a->pid == b->pid;
}

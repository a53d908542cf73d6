/* report_data.c: rows taken in. Groups and roofs are made in report_groups.c. */
#include "report/data/report_data.h"

#include "base/container/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_report_data_create(kw_report_data **report_data, const char *id, const char *name, kw_error *err) {
    kw_report_data *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "the report");
    }
    made->id = kw_arena_copy(&made->arena, id, strlen(id));
    made->name = kw_arena_copy(&made->arena, name, strlen(name));
    if (!made->id || !made->name) {
        kw_report_data_close(&made);
        return kw_fail_memory(err, "the report");
    }
    *report_data = made;
    return KW_OK;
}

void kw_report_data_close(kw_report_data **report_data) {
    if (*report_data) {
        kw_report_data *gone = *report_data;
        kw_string_table *const tables[] = {&gone->target_names, &gone->problem_names, &gone->config_names, &gone->run_names,
                                           &gone->details,      &gone->families,      &gone->shapes};
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
            kw_string_table_drop(tables[i]);
        }
        kw_arena_drop(&(*report_data)->arena);
        free(*report_data);
        *report_data = NULL;
    }
}

static double positive_or_zero(double value) {
    return isfinite(value) && value > 0 ? value : 0;
}

/* --- targets and their measured roofs ------------------------------------------------------------------------- */

static bool add_report_target(kw_report_data *report_data, const char *text, uint32_t *number) {
    bool added;
    *number = kw_string_table_add(&report_data->target_names, &report_data->arena, text, &added);
    if (*number == UINT32_MAX || !added) {
        return *number != UINT32_MAX;
    }
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->targets, report_data->target_room, (size_t)*number + 1)) {
        return false;
    }
    kw_report_target *target = &report_data->targets[*number];
    *target = (kw_report_target){.text = report_data->target_names.text[*number], .device = ""};
    kw_target facts;
    if (kw_target_parse(&facts, text, NULL) == KW_OK) {
        target->cache = facts.l3 > facts.l2 ? facts.l3 : facts.l2;
        target->label = kw_arena_format(&report_data->arena, "%s:%s %s, units=%lld", kw_backends[facts.backend].name, facts.arch,
                                        facts.model, (long long)facts.units);
    } else {
        target->label = kw_arena_format(&report_data->arena, "%.60s", text);
    }
    return target->label != NULL;
}

/* "fp32=1.17e11 bf16=2.3e11 memory=2.5e10"; what several runs measured differs by noise and clocks, and the highest is the roof. */
static void read_roofs(kw_report_target *target, const char *roofs) {
    kw_scan scan = kw_scan_string(roofs);
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        for (int i = 0; i <= KW_DTYPE_COUNT; i++) {
            const char *name = i < KW_DTYPE_COUNT ? kw_dtype_name((kw_dtype)i) : "memory";
            kw_roof *roof = i < KW_DTYPE_COUNT ? &target->peak[i] : &target->memory;
            size_t length = strlen(name);
            if (!kw_word_starts(word, name) || word.size <= length || word.at[length] != '=') {
                continue;
            }
            double rate = positive_or_zero(strtod(word.at + length + 1, NULL));
            if (rate > roof->rate) {
                *roof = (kw_roof){rate, KW_ROOF_MEASURED};
            }
        }
    }
}

bool kw_report_data_add_run(kw_report_data *report_data, const kw_run *run) {
    bool added;
    uint32_t target, number = kw_string_table_add(&report_data->run_names, &report_data->arena, run->id, &added);
    if (number == UINT32_MAX || !added) {
        return number != UINT32_MAX;
    }
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->runs, report_data->run_room, (size_t)number + 1)) {
        return false;
    }
    report_data->runs[number] = *run;
    if (!*run->target) {
        return true;
    }
    if (!add_report_target(report_data, run->target, &target)) {
        return false;
    }
    read_roofs(&report_data->targets[target], run->roofs);
    if (!*report_data->targets[target].device) {
        report_data->targets[target].device = kw_arena_copy(&report_data->arena, run->device, strlen(run->device));
    }
    return report_data->targets[target].device != NULL;
}

/* --- problems and configs ------------------------------------------------------------------------------------- */

static bool add_problem(kw_report_data *report_data, const char *text, uint32_t *number) {
    bool added;
    *number = kw_string_table_add(&report_data->problem_names, &report_data->arena, text, &added);
    if (*number == UINT32_MAX || !added) {
        return *number != UINT32_MAX;
    }
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->problems, report_data->problem_room, (size_t)*number + 1)) {
        return false;
    }
    kw_report_problem *problem = &report_data->problems[*number];
    *problem = (kw_report_problem){.text = report_data->problem_names.text[*number]};
    if (kw_problem_parse(&problem->value, text, NULL) == KW_OK) {
        problem->known = true;
        problem->flops = (double)kw_problem_flops(&problem->value);
        problem->bytes = (double)kw_problem_bytes(&problem->value);
    }
    return true;
}

/* The family with those axes that give a kernel its shape: "conv.direct tile_h=1 tile_w=14 vecs=2". */
static void print_shape(kw_text *shape, const char *text) {
    kw_scan scan = kw_scan_string(text);
    kw_word word;
    for (int i = 0; kw_scan_word(&scan, &word); i++) {
        if (i && !kw_word_starts(word, "tile") && !kw_word_starts(word, "vecs=") && !kw_word_starts(word, "wave")) {
            continue;
        }
        kw_text_add(shape, i ? " " : "");
        kw_text_add_bytes(shape, word.at, word.size);
    }
}

static bool add_report_config(kw_report_data *report_data, const char *text, uint32_t *number) {
    bool added;
    *number = kw_string_table_add(&report_data->config_names, &report_data->arena, text, &added);
    if (*number == UINT32_MAX || !added) {
        return *number != UINT32_MAX;
    }
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->configs, report_data->config_room, (size_t)*number + 1)) {
        return false;
    }
    kw_scan scan = kw_scan_string(text);
    kw_word word = {text, 0};
    kw_scan_word(&scan, &word);
    kw_text shape = {0};
    print_shape(&shape, text);
    char *family = kw_arena_copy(&report_data->arena, word.at, word.size);
    kw_report_config *config = &report_data->configs[*number];
    *config = (kw_report_config){.text = report_data->config_names.text[*number], .family = family};
    config->shape = kw_string_table_add(&report_data->shapes, &report_data->arena, kw_text_string(&shape), NULL);
    bool good = family && !shape.failed && config->shape != UINT32_MAX;
    kw_text_drop(&shape);
    if (!good) {
        return false;
    }
    config->family_number = kw_string_table_add(&report_data->families, &report_data->arena, family, NULL);
    config->reference = strstr(family, ".reference") != NULL;
    return config->family_number != UINT32_MAX;
}

/* --- rows ----------------------------------------------------------------------------------------------------- */

bool kw_report_data_add_answer(kw_report_data *report_data, const kw_row *row) {
    const kw_record *record = &row->record;
    kw_report_entry entry = {.outcome = (size_t)record->outcome < KW_OUTCOME_COUNT ? record->outcome : KW_UNTRIED,
                             .packed = row->packed,
                             .cold = record->cold,
                             .samples = record->samples,
                             .time_ns = positive_or_zero(record->time_ns),
                             .spread_ns = positive_or_zero(record->spread_ns),
                             .half_ns = {positive_or_zero(record->half_ns[0]), positive_or_zero(record->half_ns[1])}};
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->entries, report_data->entry_room, report_data->entry_count + 1)) {
        return false;
    }
    entry.detail = kw_string_table_add(&report_data->details, &report_data->arena, record->detail, NULL);
    if (entry.detail == UINT32_MAX || !add_report_target(report_data, row->target, &entry.target) ||
        !add_problem(report_data, row->problem, &entry.problem) || !add_report_config(report_data, record->config, &entry.config)) {
        return false;
    }
    if (entry.outcome == KW_GOOD || entry.outcome == KW_SLOW) {
        bool halves = entry.samples > 0 && entry.half_ns[0] > 0 && entry.half_ns[1] > 0;
        entry.score_ns = halves && entry.outcome == KW_GOOD ? (entry.half_ns[0] + entry.half_ns[1]) / 2 : entry.time_ns;
        report_data->timeless += entry.score_ns == 0;
        report_data->halfless += entry.outcome == KW_GOOD && !halves && entry.score_ns > 0;
    }
    report_data->outcome[entry.outcome]++;
    report_data->targets[entry.target].answers++;
    report_data->entries[report_data->entry_count++] = entry;
    return true;
}

/* Seconds of the epoch of "2026-11-21T05:47:09Z"; 0 when it is no such text. */
static double parse_second(const char *text) {
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    static const int64_t before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t part[6] = {0};
    int at = 0;
    for (size_t i = 0; form[i]; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (form[i] == 'd' ? !digit : text[i] != form[i]) {
            return 0;
        }
        at += form[i] != 'd';
        part[at] = digit ? part[at] * 10 + (text[i] - '0') : part[at];
    }
    if (part[0] < 1970 || part[1] < 1 || part[1] > 12) {
        return 0;
    }
    int64_t years = part[0] - (part[1] <= 2), leaps = (years / 4 - years / 100 + years / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400);
    int64_t days = (part[0] - 1970) * 365 + leaps + before[part[1] - 1] + part[2] - 1;
    return (double)(((days * 24 + part[3]) * 60 + part[4]) * 60 + part[5]);
}

static void widen_time_span(kw_report_data *report_data, const char *time, double second) {
    if (second > 0) {
        if (!*report_data->first || strcmp(time, report_data->first) < 0) {
            strcpy(report_data->first, time);
        }
        if (strcmp(time, report_data->last) > 0) {
            strcpy(report_data->last, time);
        }
    }
}

bool kw_report_data_add_row(kw_report_data *report_data, const kw_row *row) {
    const kw_record *record = &row->record;
    if (!KW_ARENA_RESERVE(&report_data->arena, report_data->rows_in_order, report_data->rows_in_order_room,
                          report_data->rows_in_order_count + 1)) {
        return false;
    }
    kw_report_row moment = {.sequence = row->sequence,
                            .control_ns = positive_or_zero(row->control_ns),
                            .drift = isfinite(row->drift) ? row->drift : 0,
                            .compile_ns = positive_or_zero(row->compile_ns),
                            .second = parse_second(row->time),
                            .code_bytes = row->code_bytes > 0 ? row->code_bytes : 0,
                            .good = record->outcome == KW_GOOD};
    double batches = fmax(record->samples, 0) + fmax(record->dropped, 0);
    moment.kernel_ns = positive_or_zero(record->time_ns) * (batches * fmax(record->calls, 0) + fmax(record->warmups, 0));
    moment.run = kw_string_table_find(&report_data->run_names, row->run);
    if (moment.run == UINT32_MAX) { /* a row whose run the store does not have */
        kw_run run = {0};
        memcpy(run.id, row->run, sizeof run.id);
        if (!kw_report_data_add_run(report_data, &run)) {
            return false;
        }
        moment.run = kw_string_table_find(&report_data->run_names, row->run);
    }
    if (!add_report_config(report_data, record->config, &moment.config)) {
        return false;
    }
    widen_time_span(report_data, row->time, moment.second);
    report_data->rows_in_order[report_data->rows_in_order_count++] = moment;
    return true;
}

/* test_merge.c: shards become one store: in any order, any number of times, with lines cut off; what is missing is told and written down. */
#include "base/statistics/random.h"
#include "sweep/shards/manifest.h"
#include "sweep/shards/shard.h"
#include "store/segment.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <kernelwright_tune.h>

#include <sys/stat.h>
#include <unistd.h>

enum { SHARDS = 8, PROBLEMS = 40, CONFIGS_MAX = 8, ORDERS = 10 };

typedef struct site {
    char folder[SCRATCH_MAX];
    char *configs[CONFIGS_MAX];
    size_t configs_count;
    kw_problem problems[PROBLEMS];
    uint64_t random;
    kw_row row;
} site;

static uint64_t draw(site *s, uint64_t below) {
    return kw_random_below(&s->random, below);
}

static const char *path_of(char text[2 * SCRATCH_MAX], const site *s, const char *name) {
    return scratch_path(text, s->folder, name);
}

static bool add_config(void *user, const char *config) {
    site *s = user;
    s->configs[s->configs_count++] = strdup(config);
    return s->configs_count < CONFIGS_MAX;
}

static int open_site(void **state) {
    site *s = calloc(1, sizeof *s);
    *state = s;
    s->random = 2026;
    scratch_make(s->folder);
    for (int i = 0; i < PROBLEMS; i++) {
        char text[80];
        snprintf(text, sizeof text, "conv_fwd fp32 nhwgc n1 c16 k16 i%dx%d f3x3", i + 3, i + 4);
        assert_int_equal(kw_problem_parse(&s->problems[i], text, NULL), KW_OK);
    }
    kw_space_options space = {
        .size = sizeof(kw_space_options), .set = "tests", .arch = "x86-64-v3", .filter = "c.op == 'conv_fwd' and c.dtype == 'fp32'"};
    assert_int_equal(kw_space_visit(&space, add_config, s, NULL), KW_OK);
    assert_int_equal(s->configs_count, CONFIGS_MAX);
    return 0;
}

static int close_site(void **state) {
    site *s = *state;
    scratch_remove(s->folder);
    for (size_t i = 0; i < s->configs_count; i++) {
        free(s->configs[i]);
    }
    free(s);
    return 0;
}

static void name_run(char id[33], int run) {
    snprintf(id, 33, "%032d", run);
}

/* The row of a pair as a run has measured it. */
static const kw_row *make_row(site *s, int run, size_t config, size_t problem) {
    kw_row *row = &s->row;
    int64_t number = (int64_t)(problem * CONFIGS_MAX + config);
    rows_make(row, number * 7 + run, 20);
    snprintf(row->record.config, sizeof row->record.config, "%s", s->configs[config]);
    kw_problem_print(row->problem, sizeof row->problem, &s->problems[problem]);
    name_run(row->run, run);
    row->sequence = number;
    return row;
}

static kw_segment *open_segment(const site *s, const char *name, int run) {
    char path[2 * SCRATCH_MAX];
    kw_segment *segment = NULL;
    kw_run facts;
    rows_run(&facts);
    name_run(facts.id, run);
    assert_int_equal(kw_segment_open(&segment, path_of(path, s, name), NULL), KW_OK);
    assert_int_equal(kw_segment_add_run(segment, &facts, NULL), KW_OK);
    return segment;
}

static void put_all(kw_segment *segment, const kw_row rows[], size_t count) {
    kw_error err = {0};
    if (kw_segment_add(segment, rows, count, &err)) {
        fail_msg("%s", err.text);
    }
}

static void put(kw_segment *segment, const kw_row *row) {
    put_all(segment, row, 1);
}

static void shard_name(char name[64], int shard) {
    snprintf(name, 64, "results.db.shard-%d-of-%d.jsonl", shard + 1, SHARDS);
}

/* Segments of all shards, with some pairs measured by a second shard too, and the manifest that they share. Returns how many rows. */
static int64_t write_shards(site *s) {
    char name[64], path[2 * SCRATCH_MAX];
    kw_row *rows = calloc(PROBLEMS * CONFIGS_MAX, sizeof *rows);
    int64_t all = 0;
    for (int shard = 0; shard < SHARDS; shard++) {
        size_t count = 0;
        for (size_t i = 0; i < PROBLEMS * CONFIGS_MAX; i++) {
            size_t problem = i / CONFIGS_MAX;
            int own = kw_shard_of(&s->problems[problem], SHARDS, 0);
            if (own == shard || (problem % 5 == 0 && (own + 3) % SHARDS == shard)) {
                rows[count++] = *make_row(s, shard, i % CONFIGS_MAX, problem);
            }
        }
        shard_name(name, shard);
        kw_segment *segment = open_segment(s, name, shard);
        put_all(segment, rows, count);
        kw_segment_close(&segment);
        all += (int64_t)count;
    }
    free(rows);
    kw_manifest m = {0};
    assert_int_equal(kw_manifest_create(&m, (const char *const *)s->configs, CONFIGS_MAX, s->problems, PROBLEMS, NULL), KW_OK);
    assert_int_equal(kw_manifest_update(&m, path_of(path, s, "results.db"), NULL), KW_OK);
    kw_manifest_drop(&m);
    return all;
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = 0, got;
    char *text = malloc(1);
    do {
        text = realloc(text, size + 65537);
        got = fread(text + size, 1, 65536, file);
        size += got;
    } while (got);
    text[size] = 0;
    fclose(file);
    return text;
}

/* All that a store says, as text. */
static char *export_of(const site *s, const char *name, bool answers) {
    char path[2 * SCRATCH_MAX], lines[2 * SCRATCH_MAX];
    kw_store *store = NULL;
    kw_error err = {0};
    kw_row_filter filter = {.size = sizeof(kw_row_filter), .answers = answers};
    path_of(lines, s, "export.jsonl");
    if (kw_store_open(&store, path_of(path, s, name), KW_STORE_READ, &err) || kw_store_export(store, &filter, "jsonl", lines, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    kw_store_close(&store);
    char *text = read_all(lines);
    unlink(lines);
    return text;
}

static int64_t runs_of(const site *s, const char *name) {
    char path[2 * SCRATCH_MAX];
    kw_store *store = NULL;
    kw_store_counts counts = {0};
    assert_int_equal(kw_store_open(&store, path_of(path, s, name), KW_STORE_READ, NULL), KW_OK);
    assert_int_equal(kw_store_count(store, &counts, NULL), KW_OK);
    kw_store_close(&store);
    return counts.runs;
}

static void merge(site *s, kw_merge_report *report, const char *out, const char *const names[], size_t count) {
    char path[2 * SCRATCH_MAX], (*paths)[2 * SCRATCH_MAX] = calloc(count, sizeof *paths);
    const char **inputs = calloc(count + 1, sizeof *inputs);
    kw_error err = {0};
    for (size_t i = 0; i < count; i++) {
        inputs[i] = path_of(paths[i], s, names[i]);
    }
    if (kw_merge(path_of(path, s, out), inputs, count, NULL, NULL, report, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(report->inputs, count);
    assert_int_equal(report->rows, report->added + report->known);
    free(paths);
    free(inputs);
}

static void eight_shards_in_any_order_and_number_give_the_same_bytes(void **state) {
    site *s = *state;
    int64_t rows = write_shards(s);
    char names[SHARDS][64], *all = NULL, *answers = NULL;
    for (int i = 0; i < SHARDS; i++) {
        shard_name(names[i], i);
    }
    for (int order = 0; order < ORDERS; order++) {
        const char *inputs[2 * SHARDS];
        char out[32];
        size_t count = SHARDS + (order % 3 ? draw(s, SHARDS) : 0);
        kw_merge_report first, second;
        snprintf(out, sizeof out, "merged-%d.db", order);
        for (size_t i = 0; i < count; i++) {
            inputs[i] = names[i % SHARDS]; /* some twice */
        }
        for (size_t i = count - 1; i > 0; i--) {
            size_t other = draw(s, i + 1);
            const char *moved = inputs[i];
            inputs[i] = inputs[other];
            inputs[other] = moved;
        }
        /* in one call, or in two */
        size_t cut = order % 2 ? draw(s, count) : count;
        merge(s, &first, out, inputs, cut);
        second = (kw_merge_report){0};
        if (cut < count) {
            merge(s, &second, out, inputs + cut, count - cut);
        }
        assert_int_equal(first.added + second.added, rows);
        assert_int_equal(first.damaged + first.refused + second.damaged + second.refused, 0);
        char *text = export_of(s, out, false), *best = export_of(s, out, true);
        if (order) {
            assert_string_equal(text, all);
            assert_string_equal(best, answers);
        }
        free(all);
        free(answers);
        all = text;
        answers = best;
        merge(s, &second, out, inputs, count);
        assert_int_equal(second.added, 0);
        assert_int_equal(second.pairs, PROBLEMS * CONFIGS_MAX);
        assert_int_equal(second.holes, 0);
        text = export_of(s, out, false);
        assert_string_equal(text, all);
        free(text);
        assert_int_equal(runs_of(s, out), SHARDS);
    }
    assert_true(strlen(all) > strlen(answers));
    free(all);
    free(answers);
}

/* Rows for one pair, the best first. */
static void make_rival(site *s, kw_row *row, int place) {
    static const struct {
        kw_outcome outcome;
        int32_t samples;
        double spread_share;
    } rivals[] = {{KW_GOOD, 21, 0.01}, {KW_GOOD, 21, 0.03}, {KW_GOOD, 15, 0.001}, {KW_SLOW, 40, 0.0001}, {KW_CRASHED, 0, 0}};
    *row = *make_row(s, place, 0, 0);
    row->record.outcome = rivals[place].outcome;
    row->record.samples = rivals[place].samples;
    row->record.time_ns = place == 2 ? 1000 : 5000 + place; /* faster is not better evidence */
    row->record.least_ns = row->record.median_ns = row->record.time_ns;
    row->record.spread_ns = rivals[place].spread_share * row->record.time_ns;
    if (!rivals[place].samples) {
        row->record = (kw_record){.outcome = rivals[place].outcome, .detail = "signal 11"};
        snprintf(row->record.config, sizeof row->record.config, "%s", s->configs[0]);
    }
}

static bool note_run(void *user, const kw_row *row) {
    strcpy(user, row->run);
    return true;
}

static void of_several_rows_of_a_pair_the_best_evidence_answers_in_any_order(void **state) {
    enum { RIVALS = 5 };
    site *s = *state;
    char names[RIVALS][32];
    for (int i = 0; i < RIVALS; i++) {
        kw_row row;
        snprintf(names[i], sizeof names[i], "rival-%d.jsonl", i);
        kw_segment *segment = open_segment(s, names[i], i);
        make_rival(s, &row, i);
        put(segment, &row);
        kw_segment_close(&segment);
    }
    for (int order = 0; order < 10; order++) {
        /* without the best ones, the next one answers */
        int first = order / 2, count = RIVALS - first;
        const char *inputs[RIVALS] = {NULL};
        char out[32], path[2 * SCRATCH_MAX], best[33] = "", wanted[33];
        for (int i = 0; i < count; i++) {
            int at = (int)draw(s, (uint64_t)i + 1);
            inputs[i] = inputs[at];
            inputs[at] = names[first + i];
        }
        kw_merge_report report;
        kw_store *store = NULL;
        snprintf(out, sizeof out, "rivals-%d.db", order);
        merge(s, &report, out, inputs, (size_t)count);
        assert_int_equal(report.added, count);
        assert_int_equal(kw_store_open(&store, path_of(path, s, out), KW_STORE_READ, NULL), KW_OK);
        assert_int_equal(kw_store_visit(store, &(kw_row_filter){.size = sizeof(kw_row_filter), .answers = true}, note_run, best, NULL),
                         KW_OK);
        kw_store_close(&store);
        name_run(wanted, first);
        assert_string_equal(best, wanted);
    }
}

static void a_segment_that_was_cut_off_gives_its_whole_lines(void **state) {
    site *s = *state;
    char whole[2 * SCRATCH_MAX], cut[2 * SCRATCH_MAX];
    kw_segment *segment = open_segment(s, "cut.jsonl", 1);
    for (size_t i = 0; i < 12; i++) {
        put(segment, make_row(s, 1, i % CONFIGS_MAX, i / CONFIGS_MAX));
    }
    kw_segment_close(&segment);
    char *text = read_all(path_of(whole, s, "cut.jsonl"));
    size_t size = strlen(text);
    for (int i = 0; i < 16; i++) {
        size_t keep = draw(s, size + 1), lines = 0, tail = 0;
        for (size_t at = 0; at < keep; at++) {
            tail = text[at] == '\n' ? 0 : tail + 1;
            lines += text[at] == '\n';
        }
        /* a line that only lacks its end is whole */
        bool complete = tail && text[keep] == '\n';
        scratch_write(path_of(cut, s, "part.jsonl"), text, keep, 0644);
        kw_merge_report report;
        merge(s, &report, "cut.db", (const char *[]){"part.jsonl"}, 1);
        assert_int_equal(report.rows, lines + complete - (lines + complete > 0)); /* the first one is the run */
        assert_int_equal(report.damaged, tail && !complete);
    }
    free(text);
}

/* Whole lines that cannot be true: a time of nothing, a problem that does not read, a kernel of another type, a run that contradicts. */
static int64_t put_lies(site *s, const char *name) {
    kw_segment *segment = open_segment(s, name, 1);
    kw_run other;
    kw_row row = *make_row(s, 1, 0, 0);
    row.record.outcome = KW_GOOD;
    row.record.samples = 1000;
    row.record.time_ns = row.record.median_ns = row.record.least_ns = 0.001;
    put(segment, &row);
    row = *make_row(s, 1, 1, 0);
    snprintf(row.problem, sizeof row.problem, "conv_fwd fp32 nhwgc n1 g1 c16 k16 i3x4 f3x3 s1x1 p0x0 d1x1;");
    put(segment, &row);
    row = *make_row(s, 1, 2, 0);
    snprintf(row.record.config, sizeof row.record.config, "conv.direct conv_fwd bf16 isa=avx2");
    put(segment, &row);
    kw_segment_close(&segment);
    segment = open_segment(s, "other.jsonl", 2); /* a run of the same id, said by another host */
    rows_run(&other);
    name_run(other.id, 1);
    snprintf(other.host, sizeof other.host, "elsewhere");
    assert_int_equal(kw_segment_add_run(segment, &other, NULL), KW_OK);
    put(segment, make_row(s, 2, 3, 0));
    kw_segment_close(&segment);
    return 4;
}

static void what_import_refuses_is_refused_by_merge_which_goes_on(void **state) {
    site *s = *state;
    char path[2 * SCRATCH_MAX];
    kw_merge_report merged;
    kw_import_report imported[2];
    kw_store *store = NULL;
    kw_row lie;
    const char *names[] = {"lies.jsonl", "other.jsonl", "last.jsonl"};
    int64_t lies = put_lies(s, "lies.jsonl");
    kw_segment *segment = open_segment(s, "last.jsonl", 1);
    put(segment, make_row(s, 1, 4, 0));
    kw_segment_close(&segment);
    merge(s, &merged, "united.db", names, 3);
    assert_int_equal(merged.refused, lies);
    assert_int_equal(merged.damaged, 0);
    assert_int_equal(merged.added, 2);
    assert_non_null(strstr(merged.first_fault, "lies.jsonl: line 2: 0.001 ns would be"));
    assert_int_equal(kw_store_open(&store, path_of(path, s, "imported.db"), KW_STORE_WRITE, NULL), KW_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kw_store_import(store, NULL, path_of(path, s, names[i]), NULL, &imported[i], NULL), KW_OK);
    }
    assert_int_equal(imported[0].refused + imported[1].refused, lies);
    /* a store is no better witness than a segment */
    lie = *make_row(s, 1, 0, 0);
    lie.record.outcome = KW_GOOD;
    lie.record.time_ns = lie.record.median_ns = lie.record.least_ns = 0.001;
    assert_int_equal(kw_store_add(store, &lie, 1, NULL, NULL), KW_OK);
    kw_store_close(&store);
    merge(s, &merged, "again.db", (const char *const[]){"imported.db"}, 1);
    assert_int_equal(merged.refused, 1);
    assert_int_equal(merged.added, 1);
    assert_non_null(strstr(merged.first_fault, "imported.db: "));
    /* nor does a sweep that goes on take it for done */
    assert_int_equal(kw_segment_open(&segment, path_of(path, s, "lies.jsonl"), NULL), KW_OK);
    assert_false(kw_segment_has(segment, lie.target, lie.problem, lie.record.config, lie.packed, lie.record.cold));
    kw_segment_close(&segment);
}

static void inputs_are_told_apart_by_content(void **state) {
    site *s = *state;
    char from[2 * SCRATCH_MAX], to[2 * SCRATCH_MAX];
    kw_merge_report report;
    write_shards(s);
    merge(s, &report, "one.db", (const char *[]){"results.db.shard-1-of-8.jsonl"}, 1);
    int64_t rows = report.rows;
    assert_int_equal(rename(path_of(from, s, "one.db"), path_of(to, s, "store.jsonl")), 0);
    assert_int_equal(rename(path_of(from, s, "results.db.shard-2-of-8.jsonl"), path_of(to, s, "segment.db")), 0);
    merge(s, &report, "two.db", (const char *[]){"store.jsonl", "segment.db"}, 2);
    assert_int_equal(report.damaged + report.refused, 0);
    assert_true(report.added > rows);
    /* the store itself, and nothing at all */
    int64_t added = report.added;
    merge(s, &report, "two.db", (const char *[]){"two.db", "segment.db"}, 2);
    assert_int_equal(report.added, 0);
    merge(s, &report, "two.db", NULL, 0);
    assert_int_equal(report.rows, added);
    /* no store and no segment: all its lines are counted as what they are */
    scratch_write(path_of(to, s, "notes.txt"), "to do\nlater\n", 12, 0644);
    merge(s, &report, "two.db", (const char *[]){"notes.txt"}, 1);
    assert_int_equal(report.damaged, 2);
    assert_int_equal(report.added, 0);
}

static kw_status merge_next(site *s, kw_merge_report *report, const char *out, const char *input, const char *next) {
    char a[2 * SCRATCH_MAX], b[2 * SCRATCH_MAX], c[2 * SCRATCH_MAX];
    const char *inputs[] = {path_of(b, s, input)};
    return kw_merge(path_of(a, s, out), inputs, 1, NULL, next ? path_of(c, s, next) : NULL, report, NULL);
}

static void holes_are_told_and_become_the_next_manifest(void **state) {
    site *s = *state;
    char name[64], path[2 * SCRATCH_MAX];
    kw_merge_report report;
    write_shards(s);
    int64_t lost = 0;
    for (int i = 0; i < SHARDS; i++) {
        shard_name(name, i);
        if (i != 2 && i != 5) {
            assert_int_equal(merge_next(s, &report, "holes.db", name, "next.manifest"), KW_OK);
        }
    }
    /* what two lost shards had, but for what others have measured, too */
    for (size_t i = 0; i < PROBLEMS; i++) {
        int shard = kw_shard_of(&s->problems[i], SHARDS, 0), other = (shard + 3) % SHARDS;
        bool twice = i % 5 == 0 && other != 2 && other != 5;
        lost += (shard == 2 || shard == 5) && !twice ? CONFIGS_MAX : 0;
    }
    assert_true(lost > 0);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_int_equal(report.holes, lost);
    kw_manifest next = {0};
    assert_int_equal(kw_manifest_read(&next, path_of(path, s, "next.manifest"), NULL), KW_OK);
    assert_int_equal(kw_manifest_pairs(&next), lost);
    assert_true(next.problems.count < PROBLEMS);
    kw_segment *segment = open_segment(s, "later.jsonl", 77);
    for (size_t i = 0; i < next.problems.count; i++) {
        uint32_t positions[CONFIGS_MAX];
        size_t wanted = kw_manifest_configs(positions, &next, i);
        for (size_t config = 0; config < wanted; config++) {
            kw_row row = *make_row(s, 77, 0, 0);
            row.sequence = (int64_t)(i * CONFIGS_MAX + config);
            kw_problem_print(row.problem, sizeof row.problem, &next.problems.problems[i]);
            kw_config_print(row.record.config, sizeof row.record.config, &next.configs.configs[positions[config]]);
            put(segment, &row);
        }
    }
    kw_segment_close(&segment);
    assert_int_equal(kw_manifest_update(&next, path_of(path, s, "later.jsonl"), NULL), KW_OK);
    kw_manifest_drop(&next);
    unlink(path_of(path, s, "next.manifest"));
    assert_int_equal(merge_next(s, &report, "holes.db", "later.jsonl", "next.manifest"), KW_OK);
    assert_int_equal(report.pairs, lost);
    assert_int_equal(report.holes, 0);
    assert_int_not_equal(access(path_of(path, s, "next.manifest"), F_OK), 0);
    /* the store knows from its own manifest what was wanted of it in all */
    merge(s, &report, "holes.db", NULL, 0);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_int_equal(report.holes, 0);
    /* shards that had nothing left to measure leave a run alone, or an empty file */
    static const char *const idle[] = {"holes.db.shard-1-of-1.jsonl"};
    segment = open_segment(s, *idle, 78);
    kw_segment_close(&segment);
    for (int i = 0; i < 2; i++, scratch_write(path_of(path, s, *idle), "", 0, 0644)) {
        merge(s, &report, "holes.db", idle, 1);
        assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
        assert_int_equal(report.rows + report.holes, 0);
    }
}

static const char other_target[] = "cpu:x86-64-v3 model=other units=2 lanes=8 registers=16 l1=32768 l2=1048576 l3=33554432";

/* A pair that any of the machines has measured is no hole, whichever came first. */
static void what_one_of_several_machines_has_measured_is_no_hole(void **state) {
    site *s = *state;
    kw_merge_report report;
    write_shards(s);
    kw_segment *segment = open_segment(s, "whole.jsonl", 99);
    for (size_t i = 0; i < PROBLEMS * CONFIGS_MAX; i++) {
        kw_row row = *make_row(s, 99, i % CONFIGS_MAX, i / CONFIGS_MAX);
        snprintf(row.target, sizeof row.target, "%s", other_target);
        put(segment, &row);
    }
    kw_segment_close(&segment);
    merge(s, &report, "one.db", (const char *[]){"results.db.shard-1-of-8.jsonl", "whole.jsonl"}, 2);
    assert_int_equal(report.refused, 0);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_int_equal(report.holes, 0);
    merge(s, &report, "other.db", (const char *[]){"whole.jsonl", "results.db.shard-1-of-8.jsonl"}, 2);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_int_equal(report.holes, 0);
}

static void rows_of_another_machine_or_timing_hide_no_hole(void **state) {
    site *s = *state;
    char path[2 * SCRATCH_MAX];
    kw_merge_report report;
    write_shards(s);
    enum { ROWS = 2 * PROBLEMS * CONFIGS_MAX };
    kw_row *rows = calloc(ROWS, sizeof *rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = *make_row(s, 99, i / 2 % CONFIGS_MAX, i / 2 / CONFIGS_MAX);
        rows[i].sequence = (int64_t)i;
        rows[i].record.cold = i % 2;
        if (!rows[i].record.cold) {
            snprintf(rows[i].target, sizeof rows[i].target, "%s", other_target);
        }
    }
    kw_segment *segment = open_segment(s, "other.jsonl", 99);
    put_all(segment, rows, ROWS);
    kw_segment_close(&segment);
    free(rows);
    merge(s, &report, "mixed.db", (const char *[]){"other.jsonl"}, 1);
    assert_int_equal(report.refused, 0);
    assert_int_equal(report.pairs, 0); /* no manifest lies beside it */
    merge(s, &report, "mixed.db", (const char *[]){"results.db.shard-1-of-8.jsonl"}, 1);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_true(report.holes > PROBLEMS * CONFIGS_MAX / 2);
    /* asked for cold, which the other run has measured on this machine as well, nothing is missing */
    kw_manifest cold = {0};
    char manifest[2 * SCRATCH_MAX], input[2 * SCRATCH_MAX];
    const char *inputs[] = {path_of(input, s, "results.db.shard-1-of-8.jsonl")};
    path_of(manifest, s, "cold.manifest");
    assert_int_equal(kw_manifest_create(&cold, (const char *const *)s->configs, CONFIGS_MAX, s->problems, PROBLEMS, NULL), KW_OK);
    cold.cold = true;
    assert_int_equal(kw_manifest_write(&cold, manifest, NULL), KW_OK);
    kw_manifest_drop(&cold);
    assert_int_equal(kw_merge(path_of(path, s, "mixed.db"), inputs, 1, manifest, NULL, &report, NULL), KW_OK);
    assert_int_equal(report.pairs, PROBLEMS * CONFIGS_MAX);
    assert_int_equal(report.holes, 0);
}

static void what_cannot_be_merged_is_refused_before_anything_is_written(void **state) {
    site *s = *state;
    char out[2 * SCRATCH_MAX], input[2 * SCRATCH_MAX], manifest[2 * SCRATCH_MAX], next[2 * SCRATCH_MAX];
    kw_segment *segment = open_segment(s, "alone.jsonl", 3);
    put(segment, make_row(s, 3, 0, 0));
    kw_segment_close(&segment);
    const char *inputs[] = {path_of(input, s, "alone.jsonl")};
    path_of(out, s, "none.db");
    path_of(next, s, "none.manifest");
    kw_error err = {0};
    assert_int_equal(kw_merge(out, inputs, 1, NULL, next, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "--manifest"));
    assert_int_equal(kw_merge(out, inputs, 1, path_of(manifest, s, "absent.manifest"), NULL, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "absent.manifest"));
    scratch_write(path_of(manifest, s, "alone.jsonl.manifest"), "kernelwright-manifest 1\nconfig", 30, 0644);
    assert_int_equal(kw_merge(out, inputs, 1, NULL, NULL, NULL, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "alone.jsonl.manifest"));
    assert_int_equal(kw_merge(NULL, inputs, 1, NULL, NULL, NULL, &err), KW_ILLEGAL);
    unlink(manifest);
    inputs[0] = path_of(input, s, "absent.jsonl");
    assert_int_equal(kw_merge(out, inputs, 1, NULL, NULL, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "absent.jsonl"));
    inputs[0] = s->folder;
    assert_int_not_equal(kw_merge(out, inputs, 1, NULL, NULL, NULL, &err), KW_OK);
    assert_int_equal(kw_merge(out, NULL, 0, NULL, NULL, NULL, &err), KW_MISSING);
    assert_int_not_equal(access(out, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_site, close_site)

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        TEST(eight_shards_in_any_order_and_number_give_the_same_bytes),
        TEST(of_several_rows_of_a_pair_the_best_evidence_answers_in_any_order),
        TEST(a_segment_that_was_cut_off_gives_its_whole_lines),
        TEST(inputs_are_told_apart_by_content),
        TEST(holes_are_told_and_become_the_next_manifest),
        TEST(what_one_of_several_machines_has_measured_is_no_hole),
        TEST(rows_of_another_machine_or_timing_hide_no_hole),
        TEST(what_import_refuses_is_refused_by_merge_which_goes_on),
        TEST(what_cannot_be_merged_is_refused_before_anything_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* merge.c: kw_merge: stores and segments into one store, and what is missing. The union is the store's; here is only the walk over the
 * inputs and over the pairs of the manifests. Inputs are told apart by their first bytes, never by their names.
 *
 * A pair is a hole when no target that the inputs have runs or rows of has a row for it: a store may hold the rows of other machines, and these
 * must not stand for the ones that were lost here. Where the inputs name none (segments of shards that had nothing left to measure), the store's
 * own rows count. */
#include "base/os/file.h"
#include "problem/target/target.h"
#include "sweep/shards/manifest.h"
#include "sweep/shards/shard.h"
#include "store/segment.h"
#include "store/io/plausible.h"

#include <kernelwright_tune.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows that are added in one transaction. */
enum { BATCH = 256 };

typedef struct merging {
    const char *out;
    kw_store *store;
    kw_arena arena;
    kw_manifest wanted;
    bool has_manifest;
    const char **targets; /* of the inputs' runs and rows, each once */
    size_t target_count, target_capacity;
    kw_row *batch;
    size_t batched;
    kw_merge_report *report;
    const char *input; /* being read */
    kw_error *err;     /* for visitors of a store, which have none of their own */
    kw_status status;  /* likewise */
} merging;

/* --- rows ------------------------------------------------------------------------------------------------------- */

static kw_status flush_batch(merging *m, kw_error *err) {
    size_t added = 0;
    kw_status status = m->batched ? kw_store_add(m->store, m->batch, m->batched, &added, err) : KW_OK;
    if (!status) {
        m->report->added += (int64_t)added;
        m->report->known += (int64_t)(m->batched - added);
        m->batched = 0;
    }
    return status;
}

static kw_status note_target(merging *m, const char *target, kw_error *err) {
    /* From the end: rows of one target come together. */
    for (size_t i = m->target_count; i-- > 0;) {
        if (!strcmp(m->targets[i], target)) {
            return KW_OK;
        }
    }
    if (m->target_count == m->target_capacity) {
        size_t capacity = m->target_capacity ? 2 * m->target_capacity : 8;
        const char **targets = reallocarray(m->targets, capacity, sizeof *targets);
        if (!targets) {
            return kw_fail_memory(err, "the targets of a merge");
        }
        m->targets = targets;
        m->target_capacity = capacity;
    }
    char *copy = kw_arena_copy(&m->arena, target, strlen(target));
    if (!copy) {
        return kw_fail_memory(err, "the targets of a merge");
    }
    m->targets[m->target_count++] = copy;
    return KW_OK;
}

static kw_status merge_row(void *user, const kw_row *row, kw_error *err) {
    merging *m = user;
    m->report->rows++;
    kw_status status = note_target(m, row->target, err);
    if (!status) {
        m->batch[m->batched++] = *row;
        status = m->batched == BATCH ? flush_batch(m, err) : KW_OK;
    }
    return status;
}

static kw_status merge_run(void *user, const kw_run *run, kw_error *err) {
    merging *m = user;
    kw_status status = *run->target ? note_target(m, run->target, err) : KW_OK;
    return status ? status : kw_store_add_run(m->store, run, err);
}

static void note_merge_fault(merging *m, const char *path, const char *why) {
    if (!*m->report->first_fault) {
        snprintf(m->report->first_fault, sizeof m->report->first_fault, "%.230s: %.270s", path, why);
    }
}

/* What a store holds is judged as what a segment holds. */
static bool visit_row(void *user, const kw_row *row) {
    merging *m = user;
    kw_error why = {0};
    m->status = kw_row_plausible(row, &why);
    if (m->status == KW_NO_MEMORY) {
        kw_fail(m->err, m->status, "%s", why.text);
    } else if (m->status) {
        m->report->refused++;
        note_merge_fault(m, m->input, why.text);
        m->status = KW_OK;
    } else {
        m->status = merge_row(m, row, m->err);
    }
    return !m->status;
}

static bool visit_run(void *user, const kw_run *run) {
    merging *m = user;
    kw_error why = {0};
    m->status = merge_run(m, run, &why);
    if (m->status == KW_ILLEGAL) {
        m->report->refused++;
        note_merge_fault(m, m->input, why.text);
        m->status = KW_OK;
    } else if (m->status) {
        kw_fail(m->err, m->status, "%s", why.text);
    }
    return !m->status;
}

static bool visit_own_row(void *user, const kw_row *row) {
    merging *m = user;
    m->status = note_target(m, row->target, m->err);
    return !m->status;
}

static bool count_own_row(void *user, const kw_row *row) {
    merging *m = user;
    m->report->rows++;
    m->report->known++;
    return visit_own_row(m, row);
}

/* --- inputs ----------------------------------------------------------------------------------------------------- */

static kw_status merge_store(merging *m, const char *path, kw_error *err) {
    kw_store *input = NULL;
    kw_status status = kw_store_open(&input, path, KW_STORE_READ, err);
    m->err = err;
    m->status = KW_OK;
    status = status ? status : kw_store_visit_runs(input, visit_run, m, err);
    status = status ? status : m->status;
    status = status ? status : kw_store_visit(input, NULL, visit_row, m, err);
    status = status ? status : m->status;
    kw_store_close(&input);
    return status ? status : flush_batch(m, err);
}

static kw_status merge_segment(merging *m, const char *path, kw_error *err) {
    kw_segment_visitor visitor = {merge_run, merge_row, m};
    kw_segment_counts counts = {0};
    kw_status status = kw_segment_read(path, &visitor, &counts, err);
    m->report->damaged += counts.damaged;
    m->report->refused += counts.refused;
    if (*counts.first_fault) {
        note_merge_fault(m, path, counts.first_fault);
    }
    return status ? status : flush_batch(m, err);
}

static kw_status visit_own(merging *m, bool (*visit)(void *user, const kw_row *row), kw_error *err) {
    m->err = err;
    m->status = KW_OK;
    kw_status status = kw_store_visit(m->store, NULL, visit, m, err);
    return status ? status : m->status;
}

/* The store itself as an input: nothing to add, but its targets count. */
static kw_status merge_itself(merging *m, kw_error *err) {
    return visit_own(m, count_own_row, err);
}

static kw_status is_store_file(bool *store, const char *path, kw_error *err) {
    static const char magic[] = "SQLite format 3"; /* with its end: 16 bytes */
    char start[sizeof magic] = "";
    struct stat info;
    ptrdiff_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    kw_status status = fd < 0 || fstat(fd, &info) ? kw_fail_file(err, "read", path) : KW_OK;
    if (!status && !S_ISREG(info.st_mode)) { /* inputs are read more than once */
        status = kw_fail(err, KW_IO, "cannot merge %s: it is not a regular file", path);
    } else if (!status && (got = kw_file_fill(fd, start, sizeof start)) < 0) {
        status = kw_fail_file(err, "read", path);
    }
    if (fd >= 0) {
        close(fd);
    }
    *store = got == (ptrdiff_t)sizeof magic && !memcmp(start, magic, sizeof magic);
    return status;
}

static bool is_same_path(const char *a, const char *b) {
    struct stat left, right;
    return !stat(a, &left) && !stat(b, &right) && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

static kw_status merge_input(merging *m, const char *path, kw_error *err) {
    bool store;
    m->report->inputs++;
    m->input = path;
    if (is_same_path(path, m->out)) {
        return merge_itself(m, err);
    }
    kw_status status = is_store_file(&store, path, err);
    return status ? status : store ? merge_store(m, path, err) : merge_segment(m, path, err);
}

/* --- manifests -------------------------------------------------------------------------------------------------- */

static kw_status add_manifest(merging *m, const char *path, kw_error *err) {
    kw_manifest one = {0};
    kw_error why = {0};
    kw_status status = kw_manifest_read(&one, path, &why);
    if (status) {
        return kw_fail(err, status, "%s; name another with --manifest", why.text);
    }
    status = kw_manifest_add(&m->wanted, &one, err);
    m->has_manifest = true;
    kw_manifest_drop(&one);
    return status;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The manifests beside the inputs, each once, in the order of their names: what comes out does not depend on the order of inputs. */
static kw_status read_manifests(merging *m, const char *const *inputs, size_t count, kw_error *err) {
    const char **paths = kw_arena_array(&m->arena, count + 1, sizeof *paths);
    for (size_t i = 0; paths && i < count; i++) {
        char *base = kw_shard_base(&m->arena, inputs[i]);
        paths[i] = base ? kw_arena_format(&m->arena, "%s.manifest", base) : NULL;
        if (!paths[i]) {
            paths = NULL;
        }
    }
    if (!paths) {
        return kw_fail_memory(err, "the names of manifests");
    }
    qsort(paths, count, sizeof *paths, compare_paths);
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < count; i++) {
        if ((!i || strcmp(paths[i], paths[i - 1])) && !access(paths[i], F_OK)) {
            status = add_manifest(m, paths[i], err);
        }
    }
    return status;
}

/* --- holes ------------------------------------------------------------------------------------------------------ */

static kw_status has_merged_row(merging *m, bool *has, const char *problem, const char *config, kw_error *err) {
    kw_status status = KW_OK;
    *has = false;
    for (size_t i = 0; !status && !*has && i < m->target_count; i++) {
        status = kw_store_has(m->store, has, m->targets[i], problem, config, !m->wanted.fresh_weights, m->wanted.cold, err);
    }
    return status;
}

/* Adds to holes, which has the configs and problems of m->wanted, the pairs of one problem that have no row. */
static kw_status find_holes(merging *m, kw_manifest *holes, size_t problem, uint32_t positions[], kw_error *err) {
    char text[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
    size_t wanted = kw_manifest_configs(positions, &m->wanted, problem);
    kw_status status = KW_OK;
    kw_problem_print(text, sizeof text, &m->wanted.problems.problems[problem]);
    for (size_t i = 0; !status && i < wanted; i++) {
        bool has;
        kw_config_print(config, sizeof config, &m->wanted.configs.configs[positions[i]]);
        status = has_merged_row(m, &has, text, config, err);
        m->report->pairs++;
        if (!status && !has) {
            m->report->holes++;
            status = kw_manifest_add_run(holes, (kw_manifest_run){(uint32_t)problem, positions[i], positions[i]}, err);
        }
    }
    return status;
}

static kw_status write_holes(const kw_manifest *holes, const char *path, kw_error *err) {
    kw_manifest small = {0};
    kw_status status = kw_manifest_add(&small, holes, err);
    status = status ? status : kw_manifest_write(&small, path, err);
    kw_manifest_drop(&small);
    return status;
}

/* How the pairs without a row are measured where the others were. */
static void name_target(merging *m) {
    kw_text where = {0};
    if (m->target_count == 1) {
        kw_target_add_options(&where, m->targets[0]);
    }
    snprintf(m->report->where, sizeof m->report->where, "%s", kw_text_string(&where));
    kw_text_drop(&where);
}

static kw_status look_for_holes(merging *m, const char *next, kw_error *err) {
    uint32_t *positions = calloc(m->wanted.configs.count + 1, sizeof *positions);
    kw_manifest holes = m->wanted; /* borrows its configs and problems; the pairs are its own */
    holes.runs = NULL;
    holes.run_count = holes.run_capacity = 0;
    holes.listed = true;
    kw_status status = positions ? KW_OK : kw_fail_memory(err, "the holes of a sweep");
    for (size_t problem = 0; !status && problem < m->wanted.problems.count; problem++) {
        status = find_holes(m, &holes, problem, positions, err);
    }
    if (!status && next && m->report->holes) {
        status = write_holes(&holes, next, err);
    }
    free(holes.runs);
    free(positions);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------- */

static kw_status merge_all(merging *m, const char *const *inputs, size_t count, kw_error *err) {
    m->batch = calloc(BATCH, sizeof *m->batch);
    kw_status status = m->batch ? kw_store_open(&m->store, m->out, KW_STORE_WRITE, err) : kw_fail_memory(err, "rows to merge");
    for (size_t i = 0; !status && i < count; i++) {
        status = merge_input(m, inputs[i], err);
    }
    /* Without inputs the question is what the store itself lacks. */
    status = status || count ? status : merge_itself(m, err);
    return status || m->target_count ? status : visit_own(m, visit_own_row, err);
}

/* Before anything is written: what cannot be read is to be seen at once. */
static kw_status check_merge_inputs(merging *m, const char *const *inputs, size_t count, const char *manifest, kw_error *err) {
    kw_status status = KW_OK;
    bool store;
    if (!count && access(m->out, F_OK)) {
        return kw_fail(err, KW_MISSING, "%s is not there, and nothing is to be merged into it; name segments or stores", m->out);
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = is_store_file(&store, inputs[i], err);
    }
    if (status) {
        return status;
    }
    return manifest ? add_manifest(m, manifest, err) : read_manifests(m, count ? inputs : &m->out, count ? count : 1, err);
}

kw_status kw_merge(const char *out, const char *const *inputs, size_t count, const char *manifest, const char *next,
                   kw_merge_report *report, kw_error *err) {
    kw_merge_report unasked = {0};
    report = report ? report : &unasked;
    *report = (kw_merge_report){0};
    if (!out || (count && !inputs)) {
        return kw_fail(err, KW_ILLEGAL, "kw_merge: %s is NULL", out ? "inputs" : "out");
    }
    merging m = {.out = out, .report = report};
    kw_status status = check_merge_inputs(&m, inputs, count, manifest, err);
    if (!status && next && !m.has_manifest) {
        status = kw_fail(err, KW_MISSING,
                         "no manifest lies beside the inputs (NAME.manifest), so holes cannot be told; name one with --manifest");
    }
    status = status ? status : merge_all(&m, inputs, count, err);
    if (!status && m.has_manifest) {
        name_target(&m);
        status = look_for_holes(&m, next, err);
        status = status ? status : kw_manifest_update(&m.wanted, out, err);
    }
    kw_store_close(&m.store);
    kw_manifest_drop(&m.wanted);
    kw_arena_drop(&m.arena);
    free(m.targets);
    free(m.batch);
    return status;
}

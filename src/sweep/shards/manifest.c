/* manifest.c: manifests as values: the product or the listed pairs, and their union. Text in: manifest_read.c; text and files out:
 * manifest_write.c. */
#include "sweep/shards/manifest.h"

#include "base/hash.h"
#include "config/config.h"
#include "problem/wants.h"
#include "sweep/shards/shard.h"

#include <stdlib.h>
#include <string.h>

static bool same_kind(const kw_manifest *m, size_t config, size_t problem) {
    return kw_config_suits(&m->configs.configs[config], &m->problems.problems[problem]);
}

/* Narrows a run to its first and last config of the problem's kind; false when there is none. */
static bool trim_run(const kw_manifest *m, kw_manifest_run *run) {
    while (run->first < run->last && !same_kind(m, run->first, run->problem)) {
        run->first++;
    }
    while (run->first < run->last && !same_kind(m, run->last, run->problem)) {
        run->last--;
    }
    return same_kind(m, run->first, run->problem);
}

void kw_manifest_drop(kw_manifest *m) {
    kw_catalog_drop(&m->configs);
    kw_distinct_drop(&m->problems);
    free(m->runs);
    *m = (kw_manifest){0};
}

/* Whether an earlier problem has wanted the same copies. */
static bool is_special_new(const kw_manifest *m, size_t problem) {
    const kw_problem *p = &m->problems.problems[problem];
    kw_wants wants = kw_problem_wants(p);
    for (size_t i = 0; i < problem; i++) {
        const kw_problem *q = &m->problems.problems[i];
        kw_wants other = kw_problem_wants(q);
        if (q->op == p->op && q->dtype == p->dtype && kw_wants_differ(&other, &wants) == KW_WANT_COUNT) {
            return false;
        }
    }
    return true;
}

/* Kernels have in their text what problems want of it: of the configs that can, a copy for each that the problems want. */
static kw_status add_specials(kw_manifest *m, kw_error *err) {
    kw_status status = KW_OK;
    size_t given = m->configs.count;
    for (size_t p = 0; p < m->problems.count; p++) {
        const kw_problem *problem = &m->problems.problems[p];
        if (kw_problem_is_plain(problem) || !is_special_new(m, p)) {
            continue;
        }
        for (size_t i = 0; i < given && !status; i++) {
            const kw_config *config = &m->configs.configs[i];
            if (config->op == problem->op && config->dtype == problem->dtype && kw_config_is_plain(config)) {
                kw_config copy = kw_config_special(config, problem);
                status = kw_config_check(&copy, NULL) ? KW_OK : kw_catalog_add(&m->configs, &copy, NULL, err);
            }
        }
    }
    return status;
}

kw_status kw_manifest_create(kw_manifest *m, const char *const configs[], size_t config_count, const kw_problem problems[],
                             size_t problem_count, kw_error *err) {
    kw_status status = KW_OK;
    size_t position;
    for (size_t i = 0; !status && i < config_count; i++) {
        kw_config config;
        status = kw_config_parse(&config, configs[i], err);
        status = status ? status : kw_catalog_add(&m->configs, &config, NULL, err);
    }
    for (size_t i = 0; !status && i < problem_count; i++) {
        status = kw_problem_check(&problems[i], err);
        if (!status && !kw_distinct_add(&m->problems, &problems[i], &position)) {
            status = kw_fail_memory(err, "a manifest");
        }
    }
    status = status ? status : add_specials(m, err);
    if (status) {
        kw_manifest_drop(m);
    }
    return status;
}

/* --- pairs ------------------------------------------------------------------------------------------------------ */

static kw_status append_run(kw_manifest *m, kw_manifest_run run, kw_error *err) {
    if (m->run_count == m->run_capacity) {
        size_t capacity = m->run_capacity ? 2 * m->run_capacity : 64;
        kw_manifest_run *runs = reallocarray(m->runs, capacity, sizeof *runs);
        if (!runs) {
            return kw_fail_memory(err, "a manifest's pairs");
        }
        m->runs = runs;
        m->run_capacity = capacity;
    }
    m->runs[m->run_count++] = run;
    return KW_OK;
}

/* Whether next continues run: it overlaps, adjoins, or no config of the problem's kind lies between. */
static bool continues_run(const kw_manifest *m, const kw_manifest_run *run, const kw_manifest_run *next) {
    if (run->problem != next->problem) {
        return false;
    }
    for (uint32_t config = run->last + 1; config < next->first; config++) {
        if (same_kind(m, config, run->problem)) {
            return false;
        }
    }
    return true;
}

static int compare_runs(const void *left, const void *right) {
    const kw_manifest_run *a = left, *b = right;
    if (a->problem != b->problem) {
        return a->problem < b->problem ? -1 : 1;
    }
    return (a->first > b->first) - (a->first < b->first);
}

static bool in_order(const kw_manifest *m) {
    for (size_t i = 1; i < m->run_count; i++) {
        const kw_manifest_run *before = &m->runs[i - 1], *run = &m->runs[i];
        if (compare_runs(before, run) >= 0 || (before->problem == run->problem && run->first <= before->last)) {
            return false;
        }
    }
    return true;
}

/* Brings runs appended in any order into the form that the header promises. */
static void sort_manifest_runs(kw_manifest *m) {
    size_t kept = 0;
    if (!in_order(m)) {
        qsort(m->runs, m->run_count, sizeof *m->runs, compare_runs);
    }
    for (size_t i = 0; i < m->run_count; i++) {
        if (kept && continues_run(m, &m->runs[kept - 1], &m->runs[i])) {
            uint32_t *last = &m->runs[kept - 1].last;
            *last = m->runs[i].last > *last ? m->runs[i].last : *last;
        } else {
            m->runs[kept++] = m->runs[i];
        }
    }
    m->run_count = kept;
}

/* The first run of a problem at or after its place in the order. */
static size_t find_run(const kw_manifest *m, size_t problem) {
    size_t low = 0, high = m->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->runs[middle].problem < problem) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

size_t kw_manifest_configs(uint32_t positions[], const kw_manifest *m, size_t problem) {
    const kw_manifest_run whole = {(uint32_t)problem, 0, (uint32_t)m->configs.count - 1};
    size_t run = m->listed ? find_run(m, problem) : 0, end = m->listed ? m->run_count : m->configs.count > 0, count = 0;
    for (; run < end; run++) {
        const kw_manifest_run *r = m->listed ? &m->runs[run] : &whole;
        if (r->problem != problem) {
            break;
        }
        for (uint32_t config = r->first; config <= r->last; config++) {
            if (same_kind(m, config, problem)) {
                positions[count++] = config;
            }
        }
    }
    return count;
}

static int64_t product_pairs(const kw_manifest *m) {
    int64_t of_kind[KW_OP_COUNT][KW_DTYPE_COUNT] = {{0}}, pairs = 0;
    for (size_t i = 0; i < m->configs.count; i++) {
        of_kind[m->configs.configs[i].op][m->configs.configs[i].dtype] += kw_config_is_plain(&m->configs.configs[i]);
    }
    for (size_t i = 0; i < m->problems.count; i++) {
        const kw_problem *problem = &m->problems.problems[i];
        if (kw_problem_is_plain(problem)) {
            pairs += of_kind[problem->op][problem->dtype];
            continue;
        }
        for (size_t config = 0; config < m->configs.count; config++) {
            pairs += same_kind(m, config, i);
        }
    }
    return pairs;
}

int64_t kw_manifest_pairs(const kw_manifest *m) {
    int64_t pairs = 0;
    if (!m->listed) {
        return product_pairs(m);
    }
    for (size_t i = 0; i < m->run_count; i++) {
        for (uint32_t config = m->runs[i].first; config <= m->runs[i].last; config++) {
            pairs += same_kind(m, config, m->runs[i].problem);
        }
    }
    return pairs;
}

uint64_t kw_manifest_salt(const kw_manifest *m) {
    char text[KW_PROBLEM_TEXT_MAX];
    uint64_t salt[2] = {1, 0};
    for (size_t i = 0; i < m->problems.count; i++) {
        salt[1] = kw_hash64(text, kw_problem_print(text, sizeof text, &m->problems.problems[i]));
        salt[0] = kw_hash64(salt, sizeof salt);
    }
    return salt[0];
}

kw_status kw_manifest_add_run(kw_manifest *m, kw_manifest_run run, kw_error *err) {
    if (run.first > run.last || run.last >= m->configs.count || run.problem >= m->problems.count) {
        return kw_fail(err, KW_ILLEGAL, "pair %u-%u %u: the manifest has %zu configs and %zu problems", run.first + 1, run.last + 1,
                       run.problem + 1, m->configs.count, m->problems.count);
    }
    if (!trim_run(m, &run)) {
        return kw_fail(err, KW_ILLEGAL, "pair %u-%u %u: no such config has the problem's operation and type", run.first + 1, run.last + 1,
                       run.problem + 1);
    }
    kw_manifest_run *last = m->listed && m->run_count ? &m->runs[m->run_count - 1] : NULL;
    if (last && (run.problem < last->problem || (run.problem == last->problem && run.first <= last->last))) {
        return kw_fail(err, KW_ILLEGAL, "pair %u-%u %u comes after pair %u-%u %u; pairs ascend by problem, then by config", run.first + 1,
                       run.last + 1, run.problem + 1, last->first + 1, last->last + 1, last->problem + 1);
    }
    m->listed = true;
    if (last && continues_run(m, last, &run)) {
        last->last = run.last;
        return KW_OK;
    }
    return append_run(m, run, err);
}

/* --- union ------------------------------------------------------------------------------------------------------ */

/* Turns the product into runs. */
static kw_status list_pairs(kw_manifest *m, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t problem = 0; !m->listed && !status && m->configs.count && problem < m->problems.count; problem++) {
        kw_manifest_run run = {(uint32_t)problem, 0, (uint32_t)m->configs.count - 1};
        if (trim_run(m, &run)) {
            status = append_run(m, run, err);
        }
    }
    m->listed = true;
    return status;
}

static const uint32_t nowhere = UINT32_MAX;

typedef struct adoption {
    kw_manifest *m;
    const kw_manifest *other;
    uint32_t *wanted; /* the other's configs of the problem at hand */
    uint32_t *places; /* in m, of the other's configs; nowhere: not looked up yet */
} adoption;

/* Adds the pairs of one of the other's problems, count of them. Only what has a pair comes along. */
static kw_status adopt_problem(const adoption *a, size_t problem, size_t count, kw_error *err) {
    kw_manifest *m = a->m;
    size_t position;
    kw_status status = KW_OK;
    if (!kw_distinct_add(&m->problems, &a->other->problems.problems[problem], &position)) {
        return kw_fail_memory(err, "a manifest");
    }
    for (size_t i = 0; !status && i < count; i++) {
        uint32_t *place = &a->places[a->wanted[i]];
        const kw_config *config = &a->other->configs.configs[a->wanted[i]];
        if (*place == nowhere) {
            status = kw_catalog_add(&m->configs, config, NULL, err);
            *place = status ? nowhere : (uint32_t)kw_catalog_find(&m->configs, config);
        }
        kw_manifest_run *last = m->run_count ? &m->runs[m->run_count - 1] : NULL;
        if (!status && last && last->problem == position && last->last + 1 == *place) {
            last->last = *place;
        } else if (!status) {
            status = append_run(m, (kw_manifest_run){(uint32_t)position, *place, *place}, err);
        }
    }
    return status;
}

static kw_status adopt_pairs(kw_manifest *m, const kw_manifest *other, kw_error *err) {
    size_t count = other->configs.count;
    adoption a = {m, other, calloc(count + 1, sizeof *a.wanted), calloc(count + 1, sizeof *a.places)};
    kw_status status = a.wanted && a.places ? list_pairs(m, err) : kw_fail_memory(err, "a manifest");
    for (size_t i = 0; !status && i < count; i++) {
        a.places[i] = nowhere;
    }
    for (size_t problem = 0; !status && problem < other->problems.count; problem++) {
        size_t of_problem = kw_manifest_configs(a.wanted, other, problem);
        status = of_problem ? adopt_problem(&a, problem, of_problem, err) : KW_OK;
    }
    sort_manifest_runs(m);
    free(a.wanted);
    free(a.places);
    return status;
}

kw_status kw_manifest_add(kw_manifest *m, const kw_manifest *other, kw_error *err) {
    bool empty = !m->configs.count && !m->problems.count;
    if (!empty && (m->cold != other->cold || m->fresh_weights != other->fresh_weights)) {
        return kw_fail(err, KW_ILLEGAL, "two manifests are timed differently (%s %s, %s %s); treat them one at a time",
                       m->cold ? "cold" : "hot", m->fresh_weights ? "fresh" : "packed", other->cold ? "cold" : "hot",
                       other->fresh_weights ? "fresh" : "packed");
    }
    m->cold = other->cold;
    m->fresh_weights = other->fresh_weights;
    kw_status status = adopt_pairs(m, other, err);
    /* Listing what is all of the product would only be longer. */
    if (!status && kw_manifest_pairs(m) == product_pairs(m)) {
        m->listed = false;
        m->run_count = 0;
    }
    return status;
}

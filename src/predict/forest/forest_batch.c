/* forest_batch.c: a fixed set of candidates and one thread's memory to score it with. Bins of what depends on the candidates alone are
 * found when the batch is opened; a call then answers the conditions on kernel features for those that it asks about, on problem
 * features (one value each) and on pair features (one column each), and has the kernel walk the trees. */
#include "predict/forest/forest_binning.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct kw_forest_batch {
    const kw_forest *forest;
    size_t count, words; /* of a row of all candidates */
    kw_forest_role *roles;
    uint16_t *bins; /* of kernel features with splits, one after the other: one a candidate */
    size_t kernel_features;
};

struct kw_forest_scratch {
    const kw_forest_kernel *kernel;
    kw_forest_binning binder;
    kw_forest_job job;
    uint64_t *all;
    char *memory; /* everything above points into it */
    size_t bytes;
};

static const kw_forest_kernel *const kernels[] = {
#ifdef KW_FOREST_X86
    &kw_forest_avx512, &kw_forest_avx2,
#endif
    &kw_forest_baseline};

static bool processor_has(const kw_forest_kernel *kernel) {
#ifdef KW_FOREST_X86
    __builtin_cpu_init();
    if (kernel == &kw_forest_avx512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx2") &&
               __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    }
    if (kernel == &kw_forest_avx2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    }
#endif
    return kernel == &kw_forest_baseline;
}

static kw_status find_kernel(const kw_forest_kernel **kernel, const char *instructions, kw_error *err) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (instructions ? !strcmp(instructions, kernels[i]->instructions) : processor_has(kernels[i])) {
            *kernel = kernels[i];
            return processor_has(*kernel) ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "this processor has no %s", instructions);
        }
    }
    return kw_fail(err, KW_MISSING, "no instructions %.40s for forests; there are baseline, avx2, avx512", instructions);
}

/* Pieces of one block, each at a multiple of a cache line. With base NULL this only counts. */
static void *lay_array(char *base, size_t *used, size_t count, size_t size) {
    size_t at = *used, bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2 - at) {
        *used = SIZE_MAX / 2;
        return NULL;
    }
    *used = at + (bytes + 63) / 64 * 64;
    return base ? base + at : NULL;
}

/* The binder's working memory for columns of kernels and pairs. */
static void lay_binder(kw_forest_binning *b, const kw_forest_batch *batch, char *base, size_t *used) {
    const kw_forest *forest = batch->forest;
    size_t kernel_bins = kw_forest_max_bins(forest, batch->roles, KW_FOREST_KERNEL);
    size_t pair_bins = kw_forest_max_bins(forest, batch->roles, KW_FOREST_PAIR);
    size_t bins = kernel_bins > pair_bins ? kernel_bins : pair_bins, classes = bins < b->count ? bins : b->count;
    size_t conditions =
        kw_forest_conditions_of(forest, batch->roles, KW_FOREST_KERNEL) + kw_forest_conditions_of(forest, batch->roles, KW_FOREST_PAIR);
    b->asked = lay_array(base, used, b->count, sizeof *b->asked);
    b->different = lay_array(base, used, b->count, sizeof *b->different);
    b->lower = lay_array(base, used, b->count, sizeof *b->lower);
    b->numbers = lay_array(base, used, b->count, sizeof *b->numbers);
    b->bins = lay_array(base, used, b->count, sizeof *b->bins);
    b->classes = lay_array(base, used, bins, sizeof *b->classes);
    b->occupied = lay_array(base, used, bins + 1, sizeof *b->occupied);
    b->memo = lay_array(base, used, 1, sizeof *b->memo);
    b->buckets = lay_array(base, used, classes * batch->words, sizeof *b->buckets);
    b->rows = lay_array(base, used, conditions * batch->words, sizeof *b->rows);
}

/* asked is NULL for all candidates. */
static void ask_about(kw_forest_binning *b, const bool *asked) {
    b->asked_count = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (!asked || asked[i]) {
            b->asked[b->asked_count++] = (uint32_t)i;
        }
    }
}

static bool has_bins(const kw_forest_batch *batch, size_t feature) {
    return batch->roles[feature] == KW_FOREST_KERNEL && batch->forest->columns[feature].splits;
}

static kw_status bin_kernel_columns(kw_forest_batch *batch, const kw_forest_candidates *candidates, kw_error *err) {
    size_t next = 0;
    for (size_t i = 0; i < batch->forest->features; i++) {
        batch->kernel_features += has_bins(batch, i);
    }
    batch->bins = calloc(batch->kernel_features * batch->count + 1, sizeof *batch->bins);
    for (size_t i = 0; i < batch->forest->features && batch->bins; i++) {
        if (has_bins(batch, i)) {
            kw_forest_bins_of(batch->bins + next++ * batch->count, batch->forest, i, candidates->columns[i], batch->count);
        }
    }
    return batch->bins ? KW_OK : kw_fail_memory(err, "a batch of candidates");
}

kw_status kw_forest_batch_open(kw_forest_batch **out, const kw_forest *forest, const kw_forest_candidates *candidates, kw_error *err) {
    size_t count = candidates->count, group = 64 * KW_FOREST_WORD_GROUP;
    *out = NULL;
    if (!count || count > KW_FOREST_MAX_CANDIDATES) {
        return kw_fail(err, KW_ILLEGAL, "%zu candidates; a batch has 1 to %d", count, KW_FOREST_MAX_CANDIDATES);
    }
    for (size_t i = 0; i < forest->features; i++) {
        if (candidates->roles[i] == KW_FOREST_KERNEL && forest->columns[i].splits && !candidates->columns[i]) {
            return kw_fail(err, KW_MISSING, "the candidates have no values for feature %.80s, on which the model splits", forest->names[i]);
        }
    }
    kw_forest_batch *batch = calloc(1, sizeof *batch);
    if (!batch) {
        return kw_fail_memory(err, "a batch of candidates");
    }
    batch->forest = forest;
    batch->count = count;
    batch->words = (count + group - 1) / group * KW_FOREST_WORD_GROUP;
    assert(batch->words * 64 >= count); /* a bit for each candidate */
    batch->roles = malloc(forest->features * sizeof *batch->roles);
    kw_status status = KW_OK;
    if (!batch->roles) {
        status = kw_fail_memory(err, "a batch of candidates");
    } else {
        memcpy(batch->roles, candidates->roles, forest->features * sizeof *batch->roles);
        status = bin_kernel_columns(batch, candidates, err);
    }
    if (status) {
        kw_forest_batch_close(&batch);
    }
    *out = batch;
    return status;
}

void kw_forest_batch_replace(kw_forest_batch *batch, size_t candidate, const double *const *columns) {
    uint16_t *bins = batch->bins + candidate;
    for (size_t i = 0; i < batch->forest->features; i++) {
        if (has_bins(batch, i)) {
            kw_forest_bins_of(bins, batch->forest, i, columns[i] + candidate, 1);
            bins += batch->count;
        }
    }
}

void kw_forest_batch_close(kw_forest_batch **batch) {
    if (*batch) {
        free((*batch)->roles);
        free((*batch)->bins);
        free(*batch);
        *batch = NULL;
    }
}

size_t kw_forest_batch_bytes(const kw_forest_batch *batch) {
    return sizeof *batch + batch->forest->features * sizeof *batch->roles + batch->kernel_features * batch->count * sizeof *batch->bins;
}

static size_t largest_tree(const kw_forest *forest) {
    size_t most = KW_FOREST_TABLE;
    for (size_t i = 0; i < forest->trees; i++) {
        size_t leaves = forest->tree_leaf[i + 1] - forest->tree_leaf[i];
        most = leaves > most ? leaves : most;
    }
    return most;
}

static void lay_scratch(kw_forest_scratch *s, const kw_forest_batch *batch, char *base) {
    kw_forest_job *job = &s->job;
    size_t used = 0, row = batch->words;
    s->binder.answers = lay_array(base, &used, batch->forest->condition_count + 1, sizeof *s->binder.answers);
    lay_binder(&s->binder, batch, base, &used);
    s->all = lay_array(base, &used, row, sizeof *s->all);
    for (size_t i = 0; i < KW_FOREST_SLOTS; i++) {
        job->slots[i] = lay_array(base, &used, row, sizeof *s->all);
    }
    job->planes = lay_array(base, &used, row * KW_FOREST_PLANES * KW_FOREST_BATCH, sizeof *job->planes);
    job->values = lay_array(base, &used, job->table_size * KW_FOREST_BATCH, sizeof *job->values);
    job->scores = lay_array(base, &used, row * 64, sizeof *job->scores);
    s->bytes = used;
}

kw_status kw_forest_scratch_open(kw_forest_scratch **out, const kw_forest_batch *batch, const char *instructions, kw_error *err) {
    const kw_forest_kernel *kernel = NULL;
    *out = NULL;
    kw_status status = find_kernel(&kernel, instructions, err);
    if (status) {
        return status;
    }
    kw_forest_scratch *s = calloc(1, sizeof *s);
    if (!s) {
        return kw_fail_memory(err, "scoring a batch of candidates");
    }
    s->kernel = kernel;
    s->binder = (kw_forest_binning){.forest = batch->forest, .count = batch->count};
    s->job = (kw_forest_job){.forest = batch->forest, .table_size = largest_tree(batch->forest)};
    lay_scratch(s, batch, NULL);
    s->memory = s->bytes < SIZE_MAX / 2 ? calloc(1, s->bytes + 64) : NULL;
    if (!s->memory) {
        kw_forest_scratch_close(&s);
        return kw_fail_memory(err, "scoring a batch of candidates");
    }
    lay_scratch(s, batch, s->memory + (64 - (uintptr_t)s->memory % 64) % 64);
    s->job.all = s->all;
    s->job.answers = s->binder.answers;
    s->job.rows = s->binder.rows;
    *out = s;
    return KW_OK;
}

void kw_forest_scratch_close(kw_forest_scratch **scratch) {
    if (*scratch) {
        free((*scratch)->memory);
        free(*scratch);
        *scratch = NULL;
    }
}

size_t kw_forest_scratch_bytes(const kw_forest_scratch *scratch) {
    return sizeof *scratch + scratch->bytes + 64;
}

/* Rows of this call: a bit for each candidate that is asked about. */
static void size_rows(kw_forest_scratch *s) {
    size_t asked = s->binder.asked_count, used = (asked + 63) / 64, group = s->kernel->group;
    s->job.candidates = asked;
    s->job.used_words = used;
    s->job.words = s->binder.words = used <= KW_FOREST_NARROW ? used : (used + group - 1) / group * group;
    memset(s->all, 0, s->job.words * sizeof *s->all);
    memset(s->all, 0xff, asked / 64 * sizeof *s->all);
    if (asked % 64) {
        s->all[asked / 64] = ((uint64_t)1 << asked % 64) - 1;
    }
}

void kw_forest_batch_score(const kw_forest_batch *batch, kw_forest_scratch *scratch, const kw_forest_query *query, double *scores) {
    const kw_forest *forest = batch->forest;
    kw_forest_binning *binder = &scratch->binder;
    const uint16_t *bins = batch->bins;
    ask_about(binder, query->asked);
    if (!binder->asked_count) {
        return;
    }
    size_rows(scratch);
    binder->row_count = 0;
    for (size_t i = 0; i < forest->features; i++) {
        if (!forest->columns[i].splits) {
            continue;
        }
        if (batch->roles[i] == KW_FOREST_PROBLEM) {
            kw_forest_bin_value(forest, i, query->values[i], binder->answers);
        } else if (batch->roles[i] == KW_FOREST_PAIR) {
            kw_forest_bin_column(binder, i, query->columns[i]);
        } else {
            kw_forest_bin_known(binder, i, bins);
            bins += batch->count;
        }
    }
    scratch->kernel->score(&scratch->job);
    for (size_t j = 0; j < binder->asked_count; j++) {
        scores[binder->asked[j]] = scratch->job.scores[j];
    }
}

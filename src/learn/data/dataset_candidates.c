/* dataset_candidates.c: inserts an untried pair for each candidate that has no row. */
#include "learn/data/dataset_candidates.h"

#include "base/container/array.h"
#include "base/os/file.h"
#include "predict/predict.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 64 << 20 };

kw_status kw_dataset_candidates_read(kw_catalog *candidates, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&arena, path, FILE_LIMIT, &data, &size, err);
    status = status ? status : kw_catalog_read(candidates, path, data, size, err);
    kw_arena_drop(&arena);
    if (!status && !candidates->count) {
        status = kw_fail(err, KW_ILLEGAL, "%.300s: no kernel is in it", path);
    }
    return status;
}

/* A config with its text, to be sorted by it. */
typedef struct named {
    const kw_config *config;
    char text[KW_CONFIG_TEXT_MAX];
} named;

static int by_pair_text(const void *left, const void *right) {
    const named *a = left, *b = right;
    return strcmp(a->text, b->text);
}

static kw_status sort_candidates(named **list, const kw_catalog *candidates, kw_error *err) {
    *list = calloc(candidates->count + 1, sizeof **list);
    if (!*list) {
        return kw_fail_memory(err, "the candidates");
    }
    for (size_t i = 0; i < candidates->count; i++) {
        (*list)[i].config = &candidates->configs[i];
        kw_config_print((*list)[i].text, sizeof(*list)[i].text, &candidates->configs[i]);
    }
    qsort(*list, candidates->count, sizeof **list, by_pair_text);
    return KW_OK;
}

typedef struct pair_array {
    kw_pair *pairs;
    size_t count, capacity;
} pair_array;

static bool add_group_pair(pair_array *g, const kw_pair *pair) {
    if (!KW_ARRAY_RESERVE(g->pairs, g->capacity, g->count + 1)) {
        return false;
    }
    g->pairs[g->count++] = *pair;
    return true;
}

static bool add_untried_pair(pair_array *g, const kw_problem_group *problem_group, const kw_config *config) {
    kw_pair pair = {.config = *config, .outcome = KW_UNTRIED};
    if (!config->family->emit || kw_config_fits(config, &problem_group->problem, &problem_group->target, NULL)) {
        return true;
    }
    kw_config_launch(config, &problem_group->problem, &problem_group->target, &pair.launch);
    pair.estimate_ns = kw_predict_ns(config, &problem_group->problem, &problem_group->target, &pair.launch);
    return add_group_pair(g, &pair);
}

/* Both lists ascend by text: a merge. */
static bool complete_group(pair_array *g, const kw_dataset *dataset, kw_problem_group *problem_group, const named *candidates,
                           size_t count) {
    size_t first = g->count, next = 0;
    bool good = true;
    char text[KW_CONFIG_TEXT_MAX];
    for (size_t i = problem_group->first; i < problem_group->first + problem_group->count && good; i++) {
        kw_config_print(text, sizeof text, &dataset->pairs[i].config);
        int order = 1;
        while (good && next < count && (order = strcmp(candidates[next].text, text)) < 0) {
            good = add_untried_pair(g, problem_group, candidates[next++].config);
        }
        next += next < count && !order;
        good = good && add_group_pair(g, &dataset->pairs[i]);
    }
    while (good && next < count) {
        good = add_untried_pair(g, problem_group, candidates[next++].config);
    }
    problem_group->first = first;
    problem_group->count = g->count - first;
    return good;
}

kw_status kw_dataset_candidates_add(kw_dataset *dataset, const kw_catalog *candidates, size_t *added, kw_error *err) {
    pair_array g = {0};
    named *list = NULL;
    kw_status status = sort_candidates(&list, candidates, err);
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        if (!complete_group(&g, dataset, &dataset->problem_groups[c], list, candidates->count)) {
            status = kw_fail_memory(err, "the candidates");
        }
    }
    free(list);
    if (status) {
        /* Problem groups already point into the new list, so the data set is of no use without it. */
        free(g.pairs);
        kw_dataset_close(dataset);
        return status;
    }
    if (added) {
        *added = g.count - dataset->pair_count;
    }
    free(dataset->pairs);
    dataset->pairs = g.pairs;
    dataset->pair_count = g.count;
    return KW_OK;
}

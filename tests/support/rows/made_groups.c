/* made_groups.c: see made_groups.h. */
#include "support/rows/made_groups.h"

#include "base/hash.h"
#include "support/rows/made_rows.h"
#include "space/problems/family_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const made_kernels[MADE_KERNELS] = {
    "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=pad",
    "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=skip",
    "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=7 vecs=2 band=0 edge=skip",
    "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=8 vecs=2 band=0 edge=skip",
    "conv.pointwise conv_fwd fp32 isa=avx512 math=fma tile_m=14 vecs=2 band=0 ahead=1",
    "conv.pointwise conv_fwd fp32 isa=avx512 math=fma tile_m=7 vecs=2 band=0 ahead=1",
};

static void demand(bool good, const kw_error *err) {
    if (!good) {
        fprintf(stderr, "made_groups: %s\n", err->text);
        abort();
    }
}

static kw_pair pair_of(const made_pair *from, const kw_problem_group *problem_group) {
    kw_pair pair = {.outcome = from->outcome, .samples = 25, .time_ns = from->time, .spread_ns = from->spread};
    kw_error err = {0};
    demand(!kw_config_parse(&pair.config, made_kernels[from->kernel], &err), &err);
    pair.config = kw_config_special(&pair.config, &problem_group->problem);
    for (int h = 0; h < 2 && from->outcome == KW_GOOD; h++) {
        pair.half_ns[h] = from->halves[h] > 0 ? from->halves[h] : from->time;
    }
    pair.config.family->launch(&pair.config, &problem_group->problem, &problem_group->target, &pair.launch);
    pair.estimate_ns = 1000 * from->kernel + 1;
    return pair;
}

static void add_group(kw_dataset *dataset, const made_group *from) {
    kw_problem_group *problem_group = &dataset->problem_groups[dataset->problem_group_count++];
    kw_error err = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    *problem_group = (kw_problem_group){.packed = true, .first = dataset->pair_count};
    demand(!kw_problem_parse(&problem_group->problem, from->problem, &err), &err);
    demand(!kw_target_parse(&problem_group->target, made_target, &err), &err);
    problem_group->hash = kw_hash64(text, kw_problem_print(text, sizeof text, &problem_group->problem));
    kw_line bucket = {.data = problem_group->bucket, .capacity = sizeof problem_group->bucket};
    kw_family_key(&bucket, &problem_group->problem);
    for (const made_pair *pair = from->pairs; pair->outcome != KW_OUTCOME_COUNT; pair++) {
        dataset->pairs[dataset->pair_count++] = pair_of(pair, problem_group);
        problem_group->count++;
    }
}

void made_groups_make(kw_dataset *dataset, const made_group *problem_groups, size_t count) {
    kw_error err = {.text = "out of memory"};
    *dataset = (kw_dataset){.problem_groups = calloc(count + 1, sizeof *dataset->problem_groups),
                            .pairs = calloc(count * MADE_KERNELS + 1, sizeof *dataset->pairs)};
    demand(dataset->problem_groups && dataset->pairs, &err);
    for (size_t i = 0; i < count; i++) {
        add_group(dataset, &problem_groups[i]);
    }
}

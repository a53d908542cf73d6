/* sample_model.c: the model of test_model.c and test_ranking.c. */

#include "sample_model.h"
#include "support/kw_test.h"

const char *const one_target[] = {TARGET, NULL};
const char *const two_served[] = {"conv_fwd fp32", "gemm bf16", NULL};
/* Not the order of this library's table, one that it does not have, and one of its own missing. */
const char *const strange_families[] = {"gemm.tiled", "conv.of_yesterday", "conv.pointwise", "conv.direct", NULL};
const stump plain_trees[] = {
    {"log2_gk", 8.5, 0.25, -0.125, false},     {"tile_w", 4.5, 0.0625, -0.3, false},
    {"log2_estimate", 14.5, -0.7, 0.9, false}, {"family", 0x9, 0.01, 0.02, true},
    {"out_w_fill", 0.95, 0.2, -0.1, false},    {"isa", 0x1, 0.003, 0.004, true},
    {"log2_steps", 18.5, -0.01, 0.07, false},  {NULL, 0, 0, 0, false},
};
const stumps plain = {"time", one_target, two_served, strange_families, plain_trees};

kw_model *open_stumps(const stumps *what) {
    kw_text spec = {0}, forest = {0};
    kw_model *model = NULL;
    kw_error err = {0};
    stumps_write(what, &spec, &forest);
    if (kw_model_parse(&model, spec.data, spec.size, forest.data, forest.size, &err)) {
        fail_msg("%s", err.text);
    }
    kw_text_drop(&spec);
    kw_text_drop(&forest);
    return model;
}

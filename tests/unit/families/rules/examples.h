/* examples.h: for each family a config that its rules allow, and for each rule a change of it that breaks just this one. To add a
 * family: its rule_examples in a file here, a line in the list of test_family_rules.c. */
#ifndef KW_TESTS_RULE_EXAMPLES_H
#define KW_TESTS_RULE_EXAMPLES_H

#include <stddef.h>

/* The rules of KW_VALID are asked; then, where an architecture is given, those of KW_RUNS; then, where a problem is given, those of
 * KW_TAKES and KW_FITS. */
typedef struct rule_example {
    const char *rule;    /* the first that does not hold; "": all hold */
    const char *kind;    /* "conv_fwd fp16" */
    const char *changes; /* "axis=value ...", instead of the family's axes */
    const char *arch;    /* "sm_90", "x86-64-v3", or one that nobody knows; NULL: none */
    const char *problem; /* NULL: none */
} rule_example;

typedef struct rule_examples {
    const char *family, *axes;
    const rule_example *rows; /* ended by a NULL rule */
} rule_examples;

extern const rule_examples direct_rule_examples, direct_1st_rule_examples, gemm_tiled_rule_examples, gemm_dot_rule_examples,
    pointwise_rule_examples, bwd_weight_rule_examples, any_groups_rule_examples, any_groups_weight_rule_examples, interleaved_rule_examples,
    interleaved_weight_rule_examples;
extern const rule_examples depthwise_rule_examples, depthwise_weight_rule_examples, depthwise_planes_rule_examples,
    depthwise_rows_rule_examples, depthwise_lines_rule_examples, depthwise_lines_weight_rule_examples,
    depthwise_pixels_weight_rule_examples, merged_rule_examples, merged_weight_rule_examples, any_merged_rule_examples,
    any_merged_weight_rule_examples;
extern const rule_examples igemm_rule_examples, gemm_mma_rule_examples;
extern const rule_examples depthwise_block_rule_examples, direct_block_rule_examples, direct_1st_block_rule_examples,
    conv_point_block_rule_examples, gemm_stream_rule_examples;

#endif

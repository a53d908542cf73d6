/* fake_families.h: two small families that stand for the table of src/families, so that the tests of rules and filters do not change
 * when a real family does. Included once a program. */
#ifndef KW_TEST_FAKE_FAMILIES_H
#define KW_TEST_FAKE_FAMILIES_H

#include "config/config.h"
#include "config/arch/isa.h"

/* tile_h * tile_w <= 6: a validity that the product of axes breaks. */
static bool has_few_pixels(const kw_rule_case *c) {
    return c->config->axis[2] * c->config->axis[3] <= 6;
}

static const kw_rule tile_valid[] = {{"pixels", "tile_h times tile_w must be at most 6", has_few_pixels}, {0}};

static void no_text(const kw_config *config, kw_text *text) {
    (void)config;
    (void)text;
}

static const kw_axis tile_axes[] = {
    KW_ISA_AXES,
    {"tile_h", NULL, 1, 8, "rows"},
    {"tile_w", NULL, 1, 64, "columns"},
    {"order", "band image", 0, 1, "loop order"},
};
static const kw_axis rows_axes[] = {KW_ISA_AXES, {"rows", NULL, 0, 16, "rows of the filter"}};

static const kw_family tile_family = {.name = "fake.tile",
                                      .kind = KW_KIND_CPU,
                                      .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
                                      .dtypes = 1 << KW_FP32 | 1 << KW_BF16,
                                      .axes = tile_axes,
                                      .axis_count = 5,
                                      .rules = {[KW_VALID] = {tile_valid, kw_isa_valid_rules}, [KW_RUNS] = {kw_isa_runs_rules}},
                                      .emit = no_text};
static const kw_family rows_family = {.name = "fake.rows",
                                      .kind = KW_KIND_CPU,
                                      .ops = 1 << KW_CONV_FWD,
                                      .dtypes = 1 << KW_FP32,
                                      .axes = rows_axes,
                                      .axis_count = 3,
                                      .emit = no_text};
static const kw_family plain_family = {
    .name = "fake.plain", .kind = KW_KIND_CPU, .ops = 1 << KW_GEMM, .dtypes = 1 << KW_FP32 | 1 << KW_INT8};

const kw_family *const kw_family_table[] = {&tile_family, &rows_family, &plain_family, NULL};

#endif

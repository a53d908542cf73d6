/* legal_problems.h: random legal problems, as awkward as kw_problem_check allows, drawn for a config so that a good part of them is served:
 * extents of 1 and 2, strides above the filter, padding above the image, uneven and negative padding behind, groups, channel multipliers,
 * batches, both layouts of a convolution and all four of a GEMM, 1 to 3 dimensions; and sizes of every magnitude up to the 63 bits that the
 * check allows, with strides and dilations beyond everything where they are of no effect. The same state draws the same. */
#ifndef KW_TEST_LEGAL_PROBLEMS_H
#define KW_TEST_LEGAL_PROBLEMS_H

#include "config/config.h"

typedef enum legal_sizes {
    LEGAL_SMALL, /* that a machine computes at once */
    LEGAL_USUAL, /* of networks */
    LEGAL_HUGE,  /* anything: nothing is meant to be run */
    LEGAL_SIZES_COUNT
} legal_sizes;

/* Of the config's operation and type. */
kw_problem legal_problem_draw(uint64_t *random, const kw_config *config, legal_sizes sizes);

#endif

/* literals.h: problem lists as the tile engine of Composable Kernel keeps them: JSON, and Python modules of literal problems.
 *
 *     {"problems": [{"M": 512, "N": 512, "K": 512}, {"N": 8, "C": 64, "K": 64, "Hi": 56, "Wi": 56, "Y": 3, "X": 3, "pad_h": 1, "pad_w": 1}]}
 *     PROBLEMS = [GroupedConvProblem(N=4, C=64, K=128, G=1, Hi=32, Wi=32, Y=3, X=3, pad_h=1, pad_w=1, direction="bwd_data")]
 *
 * Names are those of CSV columns (problem/import/csv.h) and direction, dtype, layout, name; what is not known is an error, since it would
 * change what is meant. Images, groups and strides that are not named are 1, padding is 0. A JSON list may have our own lines, too. */
#ifndef KW_SPACE_PROBLEMS_FORMATS_LITERALS_H
#define KW_SPACE_PROBLEMS_FORMATS_LITERALS_H

#include "space/problems/problems.h"

#include <stddef.h>

/* Whether a text begins as JSON does. */
bool kw_literals_are_json(const char *text, size_t size);
/* source begins error messages. */
kw_status kw_json_problems_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err);
/* Calls of something that ends in "Problem" with literal arguments by name. Nothing is run: a module that computes its problems is
 * refused. */
kw_status kw_python_problems_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err);

#endif

/* forest_text.h: LightGBM's model text made small. What scoring does not need (gains, counts, weights, parameters) takes two thirds of
 * the text; leaf values keep 7 digits. LightGBM and our reader both read the result, and score it alike. */
#ifndef KW_LEARN_MODEL_FOREST_TEXT_H
#define KW_LEARN_MODEL_FOREST_TEXT_H

#include "base/status.h"
#include "base/text.h"

/* Appends the first trees of a model's text to slim; KW_MALFORMED when it is none. */
kw_status kw_forest_text_compact(kw_text *slim, const char *text, int64_t trees, kw_error *err);
/* Trees of a model's text. */
int64_t kw_forest_text_trees(const char *text);

#endif

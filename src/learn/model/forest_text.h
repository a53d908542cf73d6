/* forest_text.h: LightGBM's model text made small, and gzip. What scoring does not need (gains, counts, weights, parameters) takes two thirds of
 * the text; leaf values keep 7 digits. LightGBM and our reader both read the result, and score it alike. */
#ifndef KW_LEARN_MODEL_FOREST_TEXT_H
#define KW_LEARN_MODEL_FOREST_TEXT_H

#include "base/status.h"
#include "base/text.h"

/* Appends the first trees of a model's text to slim; KW_MALFORMED when it is none. */
kw_status kw_forest_text_compact(kw_text *slim, const char *text, int64_t trees, kw_error *err);
/* Trees of a model's text. */
int64_t kw_forest_text_trees(const char *text);

/* Appends a gzip member without name and time: the same bytes give the same file. */
kw_status kw_gzip(kw_text *out, const void *data, size_t size, kw_error *err);
/* Appends what a gzip member holds; more than limit bytes are KW_ILLEGAL. Data that is not gzip is appended as it is. */
kw_status kw_gunzip(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err);

#endif

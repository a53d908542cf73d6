/* forest_numbers.h: a model's text in another library's numbers. Trees know features by their position in a list and categories by their
 * code; both are positions in lists that grow, so a model that is to be gone on with says in names what it means. */
#ifndef KW_LEARN_MODEL_FOREST_NUMBERS_H
#define KW_LEARN_MODEL_FOREST_NUMBERS_H

#include "base/status.h"
#include "base/text.h"

/* What became of a feature of the text. */
typedef struct kw_feature_number {
    int32_t position;     /* -1: it is no more, so no tree may ask about it */
    const int32_t *codes; /* of a category: the new code of each old one, -1: it is no more; NULL: they are as they were */
    size_t code_count;
} kw_feature_number;

/* Appends the text with the features named in names, in their order; old has one of each feature of the text, which kw_forest_parse must have
 * accepted. A category's code that is no more, or that its list does not have, stands in no set: it goes right, as unknown ones do.
 * KW_ILLEGAL names a feature that is asked about and no more. */
kw_status kw_forest_text_renumber(kw_text *out, const char *text, const kw_feature_number *old, const char *const *names, size_t count,
                                  kw_error *err);

#endif

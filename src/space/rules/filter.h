/* filter.h: a predicate over configs, written as one Lua expression over c: "c.tile_w >= 7 and c.family == 'conv.direct'". It must yield
 * true or false. A config that lacks an axis which the evaluation touches is not selected; a name that no family has is an error. */
#ifndef KW_SPACE_RULES_FILTER_H
#define KW_SPACE_RULES_FILTER_H

#include "config/config.h"

/* One thread at a time. */
typedef struct kw_filter kw_filter;

kw_status kw_filter_open(kw_filter **filter, const char *expression, kw_error *err);
void kw_filter_close(kw_filter **filter);
kw_status kw_filter_test(kw_filter *filter, const kw_config *config, bool *selected, kw_error *err);

#endif

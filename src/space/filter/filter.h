/* filter.h: a predicate over configs, written as one Lua expression over c: "c.tile_w >= 7 and c.family == 'conv.direct'". It must yield
 * true or false. c.NAME == "*" and c.NAME == -1, which no value is, hold for every config that has the field. A config that lacks an axis which the evaluation touches is not selected; a name that no family has is an error. */
#ifndef KW_SPACE_FILTER_FILTER_H
#define KW_SPACE_FILTER_FILTER_H

#include "config/config.h"

/* One thread at a time. */
typedef struct kw_filter kw_filter;

/* arch, which must live as long as the filter, is c.arch; may be NULL. */
kw_status kw_filter_open(kw_filter **filter, const char *expression, const char *arch, kw_error *err);
void kw_filter_close(kw_filter **filter);
kw_status kw_filter_test(kw_filter *filter, const kw_config *config, bool *selected, kw_error *err);

#endif

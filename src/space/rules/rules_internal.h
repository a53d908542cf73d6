/* rules_internal.h: what the readers of rule files share; internal to this folder. */
#ifndef KW_SPACE_RULES_RULES_INTERNAL_H
#define KW_SPACE_RULES_RULES_INTERNAL_H

#include "space/rules/rules.h"

enum { KW_RULE_FILE_STEPS = 20000000, KW_RULE_CALL_STEPS = 1000000 };

/* The folder of the rules, for messages. */
static inline const char *kw_rules_origin(const kw_rules *rules) {
    return rules->folder ? rules->folder : "rules";
}
/* Only inside protected calls. The value on top as one of the axis; raises when it is none. */
int32_t kw_rule_axis_value(lua_State *state, const char *file, const kw_axis *axis);
/* Makes known to rule files: include "tables/NAME" and numbers "16x16x32". */
kw_status kw_rules_define(kw_rules *rules, kw_error *err);

#endif

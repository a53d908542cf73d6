/* rules_internal.h: what the readers of rule files share; internal to this folder. */
#ifndef KW_SPACE_RULES_RULES_INTERNAL_H
#define KW_SPACE_RULES_RULES_INTERNAL_H

#include "space/rules/rule_files.h"
#include "space/rules/rules.h"

enum { KW_RULE_FILE_STEPS = 20000000, KW_RULE_CALL_STEPS = 1000000 };

/* The folder of the rules, for messages. */
static inline const char *kw_rules_origin(const kw_rules *rules) {
    return rules->folder ? rules->folder : "rules";
}
/* Runs a rule file; *ref gets its table, which has no other keys, *file its name for messages. */
kw_status kw_rules_load_file(kw_rules *rules, kw_rule_name name, const char *const *keys, const char **file, int *ref, kw_error *err);
/* Only inside protected calls. Pushes the field of the table at the top; raises unless it has the type. */
void kw_rules_push_field(lua_State *state, const char *file, const char *field, int type);
/* Only inside protected calls. Raises where what is on top is not what a set can take of a family. */
void kw_rules_check_member(lua_State *state, const char *file, const char *name);
/* Only inside protected calls. The value on top as one of the axis; raises when it is none. */
int32_t kw_rule_axis_value(lua_State *state, const char *file, const kw_axis *axis);
/* Makes known to rule files: include "tables/NAME" and numbers "16x16x32". */
kw_status kw_rules_define(kw_rules *rules, kw_error *err);

#endif

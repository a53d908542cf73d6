/* rule_files.h: finding rule files, in a folder or among those compiled in. */
#ifndef KW_SPACE_RULES_RULE_FILES_H
#define KW_SPACE_RULES_RULE_FILES_H

#include "base/container/arena.h"
#include "base/status.h"
#include "base/text.h"

typedef struct kw_rule_name {
    const char *kind; /* "arch", "families" or "sets" */
    const char *name;
} kw_rule_name;

typedef struct kw_rule_text {
    const char *file; /* "KIND/NAME.lua" */
    const char *text;
    size_t size;
} kw_rule_text;

/* Reads KIND/NAME.lua of the folder (NULL: compiled in). A name that is not known is KW_MISSING and the message lists those that are. */
kw_status kw_rule_file(kw_arena *arena, const char *folder, kw_rule_name name, kw_rule_text *out, kw_error *err);
/* Whether there is such a file. */
bool kw_rule_exists(const char *folder, kw_rule_name name);
/* Appends the names of a kind, in alphabetical order, each followed by the separator. */
kw_status kw_rule_names(kw_text *names, const char *folder, const char *kind, char separator, kw_error *err);
/* The folder to read rules from: what is asked for, else KW_RULES, else NULL. */
const char *kw_rule_folder(const char *wanted);

/* Of the interpreter that is linked. */
const char *kw_lua_version(void);

#endif

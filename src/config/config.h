/* config.h: one kernel of a family as a value, and its text: "FAMILY OP DTYPE axis=value ...", axes in the family's order, all of
 * them, then what it has of a problem's wishes (problem/wants.h). The text is the kernel's whole name. */
#ifndef KW_CONFIG_CONFIG_H
#define KW_CONFIG_CONFIG_H

#include "config/family.h"

/* Reads the text (axes in any order, each exactly once, but kw_family.added may be left out): a config of the family's axes, whether its
 * rules allow it or not. KW_MISSING: no such family or axis. */
kw_status kw_config_read(kw_config *config, const char *text, kw_error *err);
/* kw_config_read() and kw_config_check(). */
kw_status kw_config_parse(kw_config *config, const char *text, kw_error *err);
/* Canonical text; returns the whole text's length. KW_CONFIG_TEXT_MAX is always enough. */
size_t kw_config_print(char *text, size_t capacity, const kw_config *config);
/* Op and dtype belong to the family, every axis is in its range, and the family's rules hold. */
kw_status kw_config_check(const kw_config *config, kw_error *err);
/* KW_OK when the config serves the problem on the target; else KW_NO_KERNEL and the rule. */
kw_status kw_config_fits(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err);
/* Whether the family takes a problem of its operations and types, whatever the config: a part of what kw_config_fits asks. */
bool kw_family_takes(const kw_family *family, const kw_problem *problem, const kw_target *target);
/* Whether it is as a catalog lists it; whether operation, type and what its text has besides are what the problem wants; the config with
 * what it wants, nothing else changed. */
bool kw_config_is_plain(const kw_config *config);
bool kw_config_suits(const kw_config *config, const kw_problem *problem);
kw_config kw_config_special(const kw_config *config, const kw_problem *problem);
/* The config as a catalog lists it. */
kw_config kw_config_plain(const kw_config *config);
/* The config with what the problem wants in its text, and whether it serves the problem then. special may be the config itself. */
kw_status kw_config_serves(kw_config *special, const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err);
/* Whether two are one kernel. */
bool kw_config_equal(const kw_config *a, const kw_config *b);
/* KW_OK when the target can run the config (its isa and math axes); else KW_NO_KERNEL and the rule. */
kw_status kw_config_runs(const kw_config *config, const kw_target *target, kw_error *err);
/* How it runs on a problem that it fits. */
void kw_config_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch);
/* Whether it has less than 2^31 blocks in each stage, and 2^32 threads: the last of what kw_config_fits asks of a GPU. */
bool kw_launch_is_counted(const kw_launch *launch);
/* Value of an axis by name; fallback when the family has no such axis. */
int32_t kw_config_axis(const kw_config *config, const char *axis, int32_t fallback);
/* The word of a word axis; NULL when the family has no such axis or it is not a word axis. */
kw_word kw_config_axis_word(const kw_config *config, const char *axis);

#endif

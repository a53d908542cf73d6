/* rule.h: what a family refuses, each reason once and under a name. A family lists its rules in tables (kw_family.rules): those that make a
 * config one that can be generated at all (KW_VALID), those that ask what the target can run (KW_RUNS), those that ask which problems the
 * family takes, whatever the config (KW_TAKES), and those that ask which of these the config serves (KW_FITS). A rule that reads the
 * problem alone belongs to KW_TAKES: it is asked once for all configs of the family (pool.h). The first that does not hold is the refusal:
 *   "FAMILY: rule NAME: WHY", of KW_RUNS "FAMILY on ARCH: rule NAME: WHY".
 * tests/unit/families/test_family_rules.c demands an example for every rule of every family. */
#ifndef KW_CONFIG_RULE_H
#define KW_CONFIG_RULE_H

#include "base/status.h"
#include "problem/target/target.h"

struct kw_config;
struct kw_family;

typedef enum kw_rule_kind { KW_VALID, KW_RUNS, KW_TAKES, KW_FITS, KW_RULE_KINDS } kw_rule_kind;

/* What a rule looks at. */
typedef struct kw_rule_case {
    const struct kw_config *config; /* NULL for KW_TAKES */
    const kw_target *target;        /* NULL for KW_VALID */
    const kw_problem *problem;      /* NULL but for KW_TAKES and KW_FITS; of the config's op and dtype */
    const void *decoded;            /* the config as the family's decode() reads it; NULL for families without one, and for KW_TAKES */
} kw_rule_case;

/* why: what must be so, and the way out where there is one; it follows "rule NAME: ". */
typedef struct kw_rule {
    const char *name, *why;
    bool (*holds)(const kw_rule_case *c);
} kw_rule;

enum {
    KW_RULE_TABLES = 4,     /* tables of a kind, the last one NULL; a table ends with a NULL name */
    KW_DECODED_BYTES = 512, /* what decode() may fill */
};

/* The first rule of a kind in the family that does not hold in the case; NULL when all do. */
const kw_rule *kw_rule_broken_in(kw_rule_kind kind, const struct kw_family *family, const kw_rule_case *c);
/* The same of a config, which is decoded. target and problem as in kw_rule_case. */
const kw_rule *kw_rule_broken(kw_rule_kind kind, const struct kw_config *config, const kw_target *target, const kw_problem *problem);
/* KW_OK, or KW_ILLEGAL (KW_VALID) or KW_NO_KERNEL (the others) and the broken rule's name and reason. */
kw_status kw_rules_check(kw_rule_kind kind, const struct kw_config *config, const kw_target *target, const kw_problem *problem,
                         kw_error *err);

#endif

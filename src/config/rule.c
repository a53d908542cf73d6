/* rule.c: finds the first rule of a family that a config breaks. */
#include "config/family.h"

#include <assert.h>
#include <stdalign.h>

static const kw_rule *broken_rule_of_table(const kw_rule *rule, const kw_rule_case *c) {
    while (rule->name && rule->holds(c)) {
        rule++;
    }
    return rule->name ? rule : NULL;
}

const kw_rule *kw_rule_broken_in(kw_rule_kind kind, const kw_family *family, const kw_rule_case *c) {
    const kw_rule *broken = NULL;
    for (int i = 0; !broken && family->rules[kind][i]; i++) {
        broken = broken_rule_of_table(family->rules[kind][i], c);
    }
    return broken;
}

const kw_rule *kw_rule_broken(kw_rule_kind kind, const kw_config *config, const kw_target *target, const kw_problem *problem) {
    alignas(max_align_t) unsigned char decoded[KW_DECODED_BYTES];
    const kw_family *family = config->family;
    assert(kind == KW_VALID || target);
    assert(kind < KW_TAKES || (problem && problem->op == config->op && problem->dtype == config->dtype));
    kw_rule_case c = {.config = kind == KW_TAKES ? NULL : config, .target = target, .problem = problem};
    if (family->decode && kind != KW_TAKES) {
        family->decode(config, target, decoded);
        c.decoded = decoded;
    }
    return kw_rule_broken_in(kind, family, &c);
}

kw_status kw_rules_check(kw_rule_kind kind, const kw_config *config, const kw_target *target, const kw_problem *problem, kw_error *err) {
    const char *family = config->family->name;
    const kw_rule *rule = kw_rule_broken(kind, config, target, problem);
    if (!rule) {
        return KW_OK;
    }
    if (kind == KW_RUNS) {
        return kw_fail(err, KW_NO_KERNEL, "%s on %s: rule %s: %s", family, target->arch, rule->name, rule->why);
    }
    return kw_fail(err, kind == KW_VALID ? KW_ILLEGAL : KW_NO_KERNEL, "%s: rule %s: %s", family, rule->name, rule->why);
}

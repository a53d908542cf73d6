/* outcome.c: the names of what can become of a kernel on a problem, as records and reports print them. */
#include "problem/names/outcome.h"

#include <stdio.h>

static const char *const outcome_names[] = {
    [KW_UNTRIED] = "untried",       [KW_GOOD] = "good",     [KW_UNFIT] = "unfit",
    [KW_UNCOMPILED] = "uncompiled", [KW_WRONG] = "wrong",   [KW_MISTRUSTED] = "mistrusted",
    [KW_UNLAUNCHED] = "unlaunched", [KW_SLOW] = "slow",     [KW_CRASHED] = "crashed",
    [KW_TIMED_OUT] = "timed_out",   [KW_SPILLS] = "spills", [KW_TOO_MUCH_LDS] = "too_much_lds",
};
_Static_assert(sizeof outcome_names / sizeof *outcome_names == KW_OUTCOME_COUNT, "each outcome has a name");

const char *kw_outcome_name(kw_outcome outcome) {
    return (size_t)outcome < KW_OUTCOME_COUNT ? outcome_names[outcome] : "unknown";
}

bool kw_outcome_is_failure(kw_outcome outcome) {
    return outcome != KW_GOOD && outcome != KW_SLOW && outcome != KW_UNFIT && outcome != KW_UNTRIED;
}

void kw_record_fail(kw_record *record, kw_outcome outcome, const kw_error *why) {
    record->outcome = outcome;
    snprintf(record->detail, sizeof record->detail, "%.*s", (int)sizeof record->detail - 1, why->text);
}

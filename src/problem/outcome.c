/* outcome.c: the names of what can become of a kernel on a problem, as records and reports print them. */
#include <kernelwright.h>

static const char *const outcome_names[KW_OUTCOME_COUNT] = {
    [KW_UNTRIED] = "untried",       [KW_GOOD] = "good",     [KW_UNFIT] = "unfit",
    [KW_UNCOMPILED] = "uncompiled", [KW_WRONG] = "wrong",   [KW_MISTRUSTED] = "mistrusted",
    [KW_UNLAUNCHED] = "unlaunched", [KW_SLOW] = "slow",     [KW_CRASHED] = "crashed",
    [KW_TIMED_OUT] = "timed_out",   [KW_SPILLS] = "spills", [KW_TOO_MUCH_LDS] = "too_much_lds",
};

const char *kw_outcome_name(kw_outcome outcome) {
    return (size_t)outcome < KW_OUTCOME_COUNT ? outcome_names[outcome] : "unknown";
}

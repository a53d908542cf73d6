/* cpu_rules.c: rules that CPU families share. */
#include "families/cpu/cpu_rules.h"

static bool has_channels_last(const kw_rule_case *c) {
    return c->problem->layout == KW_CHANNELS_LAST;
}

const kw_rule kw_channels_last_rules[] = {
    {"channels_last", "the layout must be channels-last", has_channels_last},
    {0},
};

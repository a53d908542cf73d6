/* as_they_lie.h: what conv.depthwise_planes and conv.depthwise_rows both ask of a problem: a depthwise convolution of channels-first tensors of one
 * type, whose epilogue has values of channels, or one for all. */
#ifndef KW_FAMILIES_CPU_DEPTHWISE_AS_THEY_LIE_H
#define KW_FAMILIES_CPU_DEPTHWISE_AS_THEY_LIE_H

#include "families/cpu/cpu_rules.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

static bool has_channels_first(const kw_rule_case *c) {
    return c->problem->layout == KW_CHANNELS_FIRST;
}

static bool has_one_channel_groups(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c == d->g && d->k == d->g;
}

static bool images_are_flat(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->in[0] == 1 && d->filter[0] == 1 && d->pad[0] == 0 && d->pad_back[0] <= 0;
}

static bool results_have_the_type(const kw_rule_case *c) {
    return !c->problem->epilogue.converts;
}

static bool steps_are_of_channels(const kw_rule_case *c) {
    bool good = true;
    for (int32_t i = 0; i < c->problem->epilogue.count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(c->problem->epilogue.step[i].op)->shape;
        good &= shape != KW_EXTRA_ALL && shape != KW_EXTRA_ROW;
    }
    return good;
}

/* Stands in a table of rules. */
#define KW_AS_THEY_LIE_RULES                                                                                                               \
    {"channels_first", "the layout must be channels-first; for channels last take conv.depthwise", has_channels_first},                    \
        {"one_channel_groups", "g, c and k must be the same", has_one_channel_groups},                                                     \
        {"flat_images", "images, and filters, must have one plane and no padding beyond it", images_are_flat},                             \
        {"result_type", "the result must have the type of what is read; for others take conv.depthwise", results_have_the_type}, {         \
        "channel_steps", "no step of an epilogue has values of pixels or of elements; with such take conv.depthwise",                      \
            steps_are_of_channels                                                                                                          \
    }

#endif

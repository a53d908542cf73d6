/* depthwise_rules.h: what the families of this folder ask of a problem: a depthwise convolution of flat images of one type, whose epilogue has
 * values of channels, or one for all. */
#ifndef KW_FAMILIES_CPU_DEPTHWISE_DEPTHWISE_RULES_H
#define KW_FAMILIES_CPU_DEPTHWISE_DEPTHWISE_RULES_H

#include "families/cpu/cpu_rules.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

static inline bool kw_has_channels_first(const kw_rule_case *c) {
    return c->problem->layout == KW_CHANNELS_FIRST;
}

static inline bool has_one_channel_groups(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c == d->g && d->k == d->g;
}

static inline bool images_are_flat(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->in[0] == 1 && d->filter[0] == 1 && d->pad[0] == 0 && d->pad_back[0] <= 0;
}

static inline bool results_have_the_type(const kw_rule_case *c) {
    return !c->problem->epilogue.converts || c->problem->dtype == KW_INT8;
}

static inline bool steps_are_of_channels(const kw_rule_case *c) {
    bool good = true;
    for (int32_t i = 0; i < c->problem->epilogue.count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(c->problem->epilogue.step[i].op)->shape;
        good &= shape != KW_EXTRA_ALL && shape != KW_EXTRA_ROW;
    }
    return good;
}

/* Stand in tables of rules. */
#define KW_DEPTHWISE_RULES                                                                                                                 \
    {"one_channel_groups", "g, c and k must be the same", has_one_channel_groups}, {                                                       \
        "flat_images", "images, and filters, must have one plane and no padding beyond it", images_are_flat                                \
    }
#define KW_CHANNEL_STEPS_RULES                                                                                                             \
    {"result_type", "the result of floats must have the type of what is read; for others take conv.depthwise", results_have_the_type}, {   \
        "channel_steps", "no step of an epilogue has values of pixels or of elements; with such take conv.depthwise",                      \
            steps_are_of_channels                                                                                                          \
    }
#define KW_AS_THEY_LIE_RULES                                                                                                               \
    {"channels_first", "the layout must be channels-first; for channels last take conv.depthwise", kw_has_channels_first},                 \
        KW_DEPTHWISE_RULES, KW_CHANNEL_STEPS_RULES

#endif

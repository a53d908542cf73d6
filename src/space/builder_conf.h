/* builder_conf.h: lists of instances as CK Builder keeps them, read as configs of conv.igemm. A folder has
 *
 *     DIRECTION/SUBSET/LAYOUT_DTYPE[_streamk].conf      DIRECTION forward, backward_data, backward_weight; LAYOUT nhwgc, ndhwgc
 *
 * with one instance a line, in one of seven forms; docs/gpu-spaces.md tells them. A line with '#' or ';' is passed over. */
#ifndef KW_SPACE_BUILDER_CONF_H
#define KW_SPACE_BUILDER_CONF_H

#include "config/catalog.h"

typedef struct kw_builder_lists {
    const char *folder, *subset; /* "tests", "profiler" */
    int64_t wave;                /* threads of a wave, 32 or 64 */
} kw_builder_lists;

/* Adds the configs of the lists for base's op and dtype; base says the values of axes that a line does not. Lists that are not there hold
 * nothing, but a folder without any list of the subset is KW_MISSING. Errors name file and line. */
kw_status kw_builder_read(kw_catalog *out, const kw_builder_lists *lists, const kw_config *base, kw_error *err);
/* One line of the direction base->op. present is false for a line that stands for no kernel. source and number begin error messages. */
kw_status kw_builder_line(kw_config *config, bool *present, const kw_builder_lists *lists, kw_word line, const kw_config *base,
                          kw_error *err);

#endif

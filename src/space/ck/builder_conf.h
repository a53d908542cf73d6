/* builder_conf.h: lists of instances as CK Builder keeps them, read as configs of conv.igemm and conv.depthwise_block. A folder has
 *
 *     DIRECTION/SUBSET/LAYOUT_DTYPE[_streamk].conf      DIRECTION forward, backward_data, backward_weight; LAYOUT nhwgc, ndhwgc
 *     forward/SUBSET/ngchw_depthwise.conf               one list for all types
 *
 * with one instance a line; docs/kernels/gpu-spaces.md tells the forms. A line with '#' or ';' is passed over. */
#ifndef KW_SPACE_CK_BUILDER_CONF_H
#define KW_SPACE_CK_BUILDER_CONF_H

#include "config/catalog.h"

typedef struct kw_builder_lists {
    const char *folder, *subset; /* "tests", "profiler" */
    int64_t wave;                /* threads of a wave, 32 or 64 */
} kw_builder_lists;

/* Adds the configs of the lists for base's family, op and dtype; base says the values of axes that a line does not. A list that is not there holds
 * nothing, but where the subset has none for any direction and type it is KW_MISSING. Errors name file and line. */
kw_status kw_builder_read(kw_catalog *out, const kw_builder_lists *lists, const kw_config *base, kw_error *err);
/* The same for one list as text; name begins error messages, base says ndim. */
kw_status kw_builder_text(kw_catalog *out, const char *name, kw_word text, int64_t wave, const kw_config *base, kw_error *err);

#endif

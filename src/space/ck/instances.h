/* instances.h: lists of kernels as Composable Kernel's dispatcher and instance builder write them, in JSON, read as configs:
 *
 *     {"variant": "forward", "ndim_spatial": 2, "layout": "nhwgc", "datatype": "bf16", "instances": [{"id": 0, "tile_m": 128, ...}, ...]}
 *     {"metadata": {...}, "kernels": [{"name": ..., "signature": {"variant": ...}, "algorithm": {"tile_m": 16, "wave": "1x4x1", ...}}, ...]}
 *
 * Each instance is the one config whose axes have its values (fields.h says what a name and a value are); it must name what a published
 * kernel is, or the config is not the kernel. A name or value that is not known is an error. An instance that the rules refuse, as the lists
 * of one version hold some that another cannot make, is left out and counted. */
#ifndef KW_SPACE_CK_INSTANCES_H
#define KW_SPACE_CK_INSTANCES_H

#include "config/catalog.h"

#include <jansson.h>

typedef struct kw_instance_count {
    size_t all, refused;
    char first[256]; /* why the first was */
} kw_instance_count;

bool kw_instances_are(const json_t *root);
/* Adds to the catalog; name begins error messages. */
kw_status kw_instances_read(kw_catalog *out, kw_instance_count *count, const char *name, const json_t *root, kw_error *err);

#endif

/* traits.h: a pool of kernels as lists of allowed values, in JSON:
 *
 *     {"variant": "forward", "trait_config": {"data_type": {"values": ["bf16"]}, "tile_w": {"values": [7, 14]}, ...}}
 *
 * A trait is an axis of some family, by its own name, or one of the fixed ones: data_type, ndim_spatial, family. It constrains the families
 * that have it and leaves the others alone. Names that files for other kernels use (pipeline, wave_mode, ...) and no family has yet are
 * passed over with a remark, so that such files can be read; any other name is an error, because a typing error that quietly selects
 * everything is worse than none. docs/traits.md is the reference. */
#ifndef KW_SPACE_CK_TRAITS_H
#define KW_SPACE_CK_TRAITS_H

#include "base/container/arena.h"
#include "config/config.h"

typedef struct kw_trait_value {
    const char *text; /* as the file has it: a word, digits, true or false */
    int64_t number;
    bool is_number; /* an integer or a truth value */
} kw_trait_value;

typedef struct kw_trait {
    const char *name;
    const kw_trait_value *values;
    size_t count;
} kw_trait;

/* A zeroed one allows nothing; kw_traits_read fills it. */
typedef struct kw_traits {
    kw_arena arena;
    const char *name;           /* of the file, for messages */
    uint32_t ops, dtypes, ndim; /* bits 1 << kw_op, 1 << kw_dtype, 1 << spatial axes of a convolution */
    uint32_t families;          /* bits by position in kw_family_table */
    const kw_trait *traits;     /* all others */
    size_t count;
} kw_traits;

/* traits must be zeroed; after a failure it is empty. name begins error messages. */
kw_status kw_traits_read(kw_traits *traits, const char *name, const char *text, size_t size, kw_error *err);
/* The same from a file. */
kw_status kw_traits_load(kw_traits *traits, const char *path, kw_error *err);
void kw_traits_drop(kw_traits *traits);

bool kw_traits_allow(const kw_traits *traits, const kw_config *config);
/* One line for each trait that no family of the backend has. */
void kw_traits_warn(const kw_traits *traits, kw_device_kind kind, void (*log)(void *user, const char *line), void *user);

#endif

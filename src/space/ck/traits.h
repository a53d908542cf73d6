/* traits.h: a pool of kernels as lists of allowed values, in JSON, or one value each in the text of a config:
 *
 *     {"variant": "forward", "trait_config": {"data_type": {"values": ["bf16"]}, "pipeline": {"values": ["compv3", "compv5"]}, ...}}
 *     conv.igemm conv_fwd bf16 pipeline=compv5 tile_m=128 warp_m=*
 *
 * The tile engine's further sections are read as well: {"tile_config": {"tile_m": {"min": 128, "max": 256, "step": 64}, ...}, "layout": "rcr"}.
 * A trait is an axis of some family or a published field (fields.h), or a fixed one: data_type, variant, ndim_spatial, layout, arch, family.
 * A config of a family that lacks the field is not allowed, unless no family of its kind of device has it: such a trait is passed over with
 * a remark, so that one file serves GPUs and CPUs. Any other name is an error, because a typing error that quietly selects everything is
 * worse than none. docs/selection/traits.md is the reference. */
#ifndef KW_SPACE_CK_TRAITS_H
#define KW_SPACE_CK_TRAITS_H

#include "base/container/arena.h"
#include "space/axis_values.h"
#include "space/ck/fields.h"

/* What a trait is for the kernels of a family. */
typedef struct kw_trait_use {
    bool passed_over, present; /* not present: none is allowed */
    bool allows_without;       /* of a family without the axis */
    kw_field_place place;
} kw_trait_use;

typedef struct kw_trait {
    const char *name;
    const kw_field_value *values;
    size_t count;
    bool any;                /* "*" or -1 is among the values */
    const kw_trait_use *use; /* by position in kw_family_table */
} kw_trait;

/* A zeroed one allows nothing; kw_traits_read fills it. */
typedef struct kw_traits {
    kw_arena arena;
    const char *name;                    /* of the file, for messages */
    uint32_t ops, dtypes, ndim, layouts; /* bits 1 << kw_op, 1 << kw_dtype, 1 << spatial axes of a convolution, 1 << kw_layout */
    uint64_t families;                   /* bits by position in kw_family_table */
    bool of_config;                      /* what no family of the kind of device has is not passed over */
    const kw_field_value *archs;         /* NULL: all */
    size_t arch_count;
    kw_trait *traits; /* all others */
    size_t count;
} kw_traits;

/* traits must be zeroed; after a failure it is empty. name begins error messages. */
kw_status kw_traits_read(kw_traits *traits, const char *name, const char *text, size_t size, kw_error *err);
/* The same from a file. */
kw_status kw_traits_load(kw_traits *traits, const char *path, kw_error *err);
/* The same from the text of a config in which family, operation, type and values may be "*", numbers also -1, names are those of traits, and
 * what is not named may be anything. */
kw_status kw_traits_of_config(kw_traits *traits, const char *text, kw_error *err);
/* Whether the text is for kw_traits_of_config(): it has a "*" or -1, a name that is no axis of its family, or too few axes. */
bool kw_config_is_pattern(const char *text);
void kw_traits_drop(kw_traits *traits);

bool kw_traits_allow(const kw_traits *traits, const kw_config *config);
bool kw_traits_allow_arch(const kw_traits *traits, const char *arch);
/* The values of the family's axes that traits name; count 0: not named. An axis that may have any value is in *every. Memory is arena's. */
kw_status kw_traits_axes(kw_axis_values *values, uint32_t *every, const kw_traits *traits, const kw_family *family, kw_arena *arena,
                         kw_error *err);
/* Fails where traits are of a config whose family is for another kind of device, or has none of the fields there. */
kw_status kw_traits_check_kind(const kw_traits *traits, kw_device_kind kind, const char *arch, kw_error *err);
/* One line for each trait that no family of the kind has, and for an architecture that is not meant. arch may be NULL. */
void kw_traits_warn(const kw_traits *traits, kw_device_kind kind, const char *arch, void (*log)(void *user, const char *line), void *user);

#endif

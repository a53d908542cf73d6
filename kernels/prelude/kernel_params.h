/* kernel_params.h: what every kernel's args.h begins with. The numbers that a family's launch() hands to its kernel are a struct of
 * kw_i64 with named fields in kernels/<...>/args.h, which the kernel's text and its host side both include. A text says which one is its
 * own by
 *     #define KW_KERNEL_PARAMS kw_direct_params
 * before it includes kw_config.h, and reads args->params.rows; launch() writes the same struct through kw_launch_params
 * (config/family.h). */
#ifndef KW_KERNEL_PARAMS_H
#define KW_KERNEL_PARAMS_H

typedef long long kw_i64;

#define KW_PARAMS_WORDS 8

/* Tensors that an epilogue reads besides x, w and y: KW_EXTRA_MAX of kernelwright/epilogue.h. */
#define KW_EXTRAS 6

/* Tensor maps of a launch, for bulk copies of a GPU, and the axes of one. */
#define KW_MAPS 3
#define KW_MAP_RANK 5

/* Any kernel's params, as the library carries them from launch() to the kernel. */
typedef struct kw_kernel_params {
    kw_i64 word[KW_PARAMS_WORDS];
} kw_kernel_params;

/* How a text of a CPU for channels-first tensors (KW_CHANNELS_FIRST) uses its stages for channels-last ones (cpu/lib/reorder.h). */
typedef struct kw_reorder {
    kw_i64 roles;                       /* what each stage does, 4 bits each from stage 0 on */
    kw_i64 images, groups;              /* of a turn */
    kw_i64 units[2];                    /* of the kernel's own stages in a turn */
    kw_i64 packed;                      /* bytes of a turn's packed weights */
    kw_i64 x_at, w_at, y_at, shared_at; /* bytes before the copies; w_at -1: w is read and written as it is */
    kw_i64 band_rows,
        band_units; /* result rows that are turned back before the next ones, and the kernel's units of these; 0: all at once */
} kw_reorder;

#define KW_ROLE_WEIGHTS 1     /* w is turned */
#define KW_ROLE_PACK 2        /* the kernel's own packing, turn by turn */
#define KW_ROLE_TURNS 3       /* turns: copies, the kernel's own work on them, and back */
#define KW_ROLE_IN 4          /* all tensors that are read are turned */
#define KW_ROLE_COPIES 5      /* the kernel's own work on these copies */
#define KW_ROLE_OUT 6         /* and back */
#define KW_ROLE_GRADIENT 7    /* the same for w */
#define KW_REORDER_PIXELS 256 /* of a unit that turns a part of a tensor */

#ifdef __cplusplus
#define KW_STATIC_ASSERT(what, why) static_assert(what, why)
#else
#define KW_STATIC_ASSERT(what, why) _Static_assert(what, why)
#endif

/* Stands below each such struct. */
#define KW_PARAMS_FIT(type) KW_STATIC_ASSERT(sizeof(type) <= sizeof(kw_kernel_params), #type " is larger than KW_PARAMS_WORDS")

#endif

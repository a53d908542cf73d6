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

/* Tensors that an epilogue reads besides x, w and y: KW_EXTRA_MAX of kernelwright.h. */
#define KW_EXTRAS 6

/* Tensor maps of a launch, for bulk copies of a GPU, and the axes of one. */
#define KW_MAPS 3
#define KW_MAP_RANK 5

/* Any kernel's params, as the library carries them from launch() to the kernel. */
typedef struct kw_kernel_params {
    kw_i64 word[KW_PARAMS_WORDS];
} kw_kernel_params;

#ifdef __cplusplus
#define KW_STATIC_ASSERT(what, why) static_assert(what, why)
#else
#define KW_STATIC_ASSERT(what, why) _Static_assert(what, why)
#endif

/* Stands below each such struct. */
#define KW_PARAMS_FIT(type) KW_STATIC_ASSERT(sizeof(type) <= sizeof(kw_kernel_params), #type " is larger than KW_PARAMS_WORDS")

#endif

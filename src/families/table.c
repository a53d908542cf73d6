/* table.c: the list of all kernel families, compiled-in ones last. To add one: its file in cpu/, one line in each list here, one line
 * in CMakeLists.txt, its rules in rules/families/. */
#include "config/family.h"

extern const kw_family kw_family_conv_direct, kw_family_conv_direct_1st, kw_family_conv_pointwise, kw_family_gemm_tiled;
extern const kw_family kw_family_conv_depthwise, kw_family_conv_depthwise_weight, kw_family_conv_merged, kw_family_conv_merged_weight;
extern const kw_family kw_family_conv_direct_bwd_weight, kw_family_conv_gemm_col2im;
extern const kw_family kw_family_conv_depthwise_block, kw_family_conv_direct_block, kw_family_conv_igemm, kw_family_gemm_mma,
    kw_family_conv_reference_gpu, kw_family_gemm_reference_gpu;
extern const kw_family kw_family_conv_reference, kw_family_gemm_reference;

const kw_family *const kw_family_table[] = {
    &kw_family_conv_direct,
    &kw_family_conv_pointwise,
    &kw_family_conv_direct_1st,
    &kw_family_conv_gemm_col2im,
    &kw_family_gemm_tiled,
    &kw_family_conv_depthwise,
    &kw_family_conv_merged,
    &kw_family_conv_depthwise_weight,
    &kw_family_conv_merged_weight,
    &kw_family_conv_direct_bwd_weight,
    &kw_family_conv_depthwise_block,
    &kw_family_conv_direct_block,
    &kw_family_conv_igemm,
    &kw_family_gemm_mma,
    &kw_family_conv_reference_gpu,
    &kw_family_gemm_reference_gpu,
    &kw_family_conv_reference,
    &kw_family_gemm_reference,
    NULL,
};

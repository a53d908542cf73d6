/* ck_kernels.h: kernels of CK Tile, by the names that its benchmarks print, as configs of two families of their own. Such a config is an
 * identity with its fields: rows of it are learned from and evaluated like any other, but nothing here can generate it, no family table has
 * it, and no registry takes it. Its axes are called as those of our GPU families where they mean the same.
 *
 *   grouped_conv_VARIANT_DTYPE_Nd_AxBxC_PIPELINE[_intrawave|_interwave][_dsb][_si][_gmN][_2stage]
 *   gemm[_universal]_DTYPE_LAYOUT_PIPELINE_EPILOGUE_SCHEDULER_PADM_PADN_PADK_PERSISTENT_TILE_WARPS_WARPTILE[_vecA_B_C][_splitkN]
 *
 * Suffixes of a convolution stand in any order; benchmark_ may stand in front. splitkN is ours: there the parts are of the problem. */
#ifndef KW_PREDICT_CK_CK_KERNELS_H
#define KW_PREDICT_CK_CK_KERNELS_H

#include "config/config.h"

/* KW_MALFORMED names the part that follows no grammar. */
kw_status kw_ck_config_read(kw_config *config, const char *name, kw_error *err);
/* KW_OK where the kernel is of the problem's operation, type and layout, or number of axes. */
kw_status kw_ck_config_fits(const kw_config *config, const kw_problem *problem, kw_error *err);

#endif

/* planes.h: launch of kernels/cpu/gemm/planes.h, channels-first tensors whose pixels fill the vectors. */
#ifndef KW_FAMILIES_CPU_PLANES_H
#define KW_FAMILIES_CPU_PLANES_H

#include "families/cpu/emit/tile.h"

/* tile->cols result channels by tile->vecs vectors of pixels. by_taps: the depth is channels by taps (planes_taps.h). */
void kw_planes_launch(const kw_tile *tile, bool by_taps, const kw_config *config, const kw_problem *problem, const kw_target *target,
                      kw_launch *result);

#endif

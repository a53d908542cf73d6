/* first.c: conv.direct_1st on channels-first tensors as they lie: the product of planes.h, whose depth is channels by taps. */
#include "cpu/gemm/args.h"
#define KW_KERNEL_PARAMS kw_gemm_params
#define KW_LANES_ARE_PIXELS 1
#define KW_PLANE_TAPS 1
#include "kw_config.h"

#define KW_TILE_PASSES 1
#define KW_TILE_FAR 1
#define KW_TILE_FEWER (KW_TILE_COLS > 1)
#include "cpu/lib/zip.h"
#include "cpu/lib/tile.h"
#include "cpu/ahead/call.h"
#include "cpu/gemm/planes.h"

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    pack_rows(a, begin, end);
}

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { multiply_planes(a, begin, end, memory); }

/* tile.h: the dense families' kw_tile() in plain loops, as a sample of what src/codegen/cpu/tile.c emits as straight-line text. It does the
 * same work, one pixel and one output channel at a time, for fp32. */
#include "cpu_abi.h"
#define KW_LANES 8
#define KW_STORAGE 0
#define KW_DP 0
#include "cpu.h"
#define KW_TILE_ROWS 1
#define KW_TILE_COLS 6
#define KW_TILE_VECS 2
#define KW_TILE_ODD 0
#define KW_TILE_SKIP 0
#include "../cpu/dense.h"

static void kw_tile(const kw_tile_job *job) {
    for (kw_i64 i = 0; i < KW_TILE_PIXELS * KW_BLOCK; i++) {
        kw_i64 pixel = i / KW_BLOCK, channel = i % KW_BLOCK;
        float sum = 0;
        for (const kw_run *run = job->runs; run < job->runs + job->run_count; run++) {
            const char *src = job->src + run->src + pixel / KW_TILE_COLS * job->src_row + pixel % KW_TILE_COLS * job->src_pixel;
            const char *w = job->w + run->w + 4 * channel;
            for (kw_i64 step = 0; step < job->steps; step++) {
                sum += *(const kw_f32_u *)(src + 4 * step) * *(const kw_f32_u *)(w + KW_STEP_BYTES * step);
            }
        }
        *(kw_f32_u *)(job->spill + 4 * i) = sum;
    }
    kw_tile_part(job);
}

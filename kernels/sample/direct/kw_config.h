/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4. conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 vecs=1 band=0 edge=skip */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_STORAGE 0
#define KW_DP 0
#define KW_BACKWARD 0
#include "prelude/cpu.h"
#define KW_MERGE 0
#define KW_TILE_ROWS 1
#define KW_TILE_COLS 2
#define KW_TILE_VECS 1
#define KW_TILE_ODD 0
#define KW_TILE_SKIP 1
#include "cpu/lib/dense.h"
static __attribute__((noinline)) void kw_tile(const kw_tile_job *job) {
    kw_vf a0_0 = {0};
    kw_vf a1_0 = {0};
    kw_i64 s1 = job->src_pixel, s3 = 3 * s1, s5 = 5 * s1;
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run++) {
        const char *w = job->w + run->w;
        const char *p0 = job->src + run->src + 0 * job->src_row + 0 * s1;
        kw_i64 i = job->steps;
        kw_vf x;
        kw_i64 low = run->at + job->col, high = low + job->reach;
        if (low >= job->size || high < 0) continue;
        if (low < 0) {
        do {
            __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));
            kw_vf w0 = kw_load(w + 0 * KW_VECTOR);
            KW_KEEP(w0);
            x = kw_spread(p0 + s1);
            a1_0 += x * w0;
            w += KW_TILE_VECS * KW_VECTOR;
            p0 += 4;
        } while (--i);
        } else if (high >= job->size) {
        do {
            __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));
            kw_vf w0 = kw_load(w + 0 * KW_VECTOR);
            KW_KEEP(w0);
            x = kw_spread(p0);
            a0_0 += x * w0;
            w += KW_TILE_VECS * KW_VECTOR;
            p0 += 4;
        } while (--i);
        } else
        do {
            __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));
            kw_vf w0 = kw_load(w + 0 * KW_VECTOR);
            KW_KEEP(w0);
            x = kw_spread(p0);
            a0_0 += x * w0;
            x = kw_spread(p0 + s1);
            a1_0 += x * w0;
            w += KW_TILE_VECS * KW_VECTOR;
            p0 += 4;
        } while (--i);
    }
    if (kw_tile_whole(job)) {
        char *out = job->out;
        kw_store_x(out + 0 * KW_LANES * KW_BYTES, a0_0);
        out += job->out_pixel;
        kw_store_x(out + 0 * KW_LANES * KW_BYTES, a1_0);
        return;
    }
    kw_put(job->spill + 0 * KW_VECTOR, a0_0);
    kw_put(job->spill + 1 * KW_VECTOR, a1_0);
    kw_tile_part(job);
}
#endif

/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.direct_bwd_weight conv_bwd_weight bf16 isa=avx512 math=dp lanes=c tile=2 vecs=1 copy=1 merge=0 box=0 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_STORAGE 1
#define KW_DP 1
#define KW_BACKWARD 0
#include "prelude/cpu.h"
#define KW_LANES_C 1
#define KW_TILE 2
#define KW_VECS 1
#define KW_COPY 1
#define KW_MERGE 0
#include "cpu/bwd_weight/bwd_weight.h"
static __attribute__((noinline)) void kw_tile(const kw_weight_job *job) {
    kw_vf a0_0 = {0};
    kw_vf a1_0 = {0};
    if (job->from) {
        a0_0 = kw_load(job->from + 0 * KW_VECTOR);
        a1_0 = kw_load(job->from + 1 * KW_VECTOR);
    }
    for (int r = 0; r < KW_TILE; r++)
        for (int line = 0; line < KW_TILE_ROW; line += 64) __builtin_prefetch(job->to + r * job->to_step + line, 1);
    const char *v0 = job->v, *b0 = job->b;
    for (kw_i64 i0 = job->count[0]; i0 > 0; i0--, v0 += job->v_step[0], b0 += job->b_step[0]) {
        const char *v1 = v0, *b1 = b0;
        for (kw_i64 i1 = job->count[1]; i1 > 0; i1--, v1 += job->v_step[1], b1 += job->b_step[1]) {
            const char *v2 = v1, *b2 = b1;
            for (kw_i64 i2 = job->count[2]; i2 > 0; i2--, v2 += job->v_step[2], b2 += job->b_step[2]) {
                const char *v = v2, *b = b2;
                kw_i64 i = job->count[3], v_step = job->v_step[3], b_step = job->b_step[3];
                do {
                    kw_vf v0 = kw_load(v + 0 * KW_VECTOR);
                    KW_KEEP(v0);
                    kw_vf x;
                    x = kw_spread_pair(b + 0);
                    a0_0 = kw_dp(a0_0, x, v0);
                    x = kw_spread_pair(b + 4);
                    a1_0 = kw_dp(a1_0, x, v0);
                    v += v_step;
                    b += b_step;
                } while (--i);
            }
        }
    }
    char *to = job->to;
    if (job->narrow) {
        kw_store_x(to + 0 * KW_LANES * KW_BYTES, a0_0);
        to += job->to_step;
        kw_store_x(to + 0 * KW_LANES * KW_BYTES, a1_0);
        return;
    }
    kw_put(to + 0 * KW_VECTOR, a0_0);
    to += job->to_step;
    kw_put(to + 0 * KW_VECTOR, a1_0);
}
#endif

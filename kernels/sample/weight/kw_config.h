/* What the generator puts in front of kernels/cpu/weight.c, in its smallest form: one spread channel by one vector, copied, fp32. With it the
 * file compiles by itself. A generated kw_tile() is the same loop as straight-line code for more sums. */
#include "cpu_abi.h"
#define KW_LANES 16
#define KW_STORAGE 0
#define KW_DP 0
#define KW_BACKWARD 0
#include "cpu.h"
#define KW_LANES_C 1
#define KW_TILE 1
#define KW_VECS 1
#define KW_COPY 1
#define KW_MERGE 0
#include "../../cpu/weight.h"

static void kw_tile(const kw_weight_job *job) {
    kw_vf a = {0};
    if (job->from) a = kw_load(job->from);
    for (kw_i64 i0 = 0; i0 < job->count[0]; i0++) {
        for (kw_i64 i1 = 0; i1 < job->count[1]; i1++) {
            for (kw_i64 i2 = 0; i2 < job->count[2]; i2++) {
                for (kw_i64 i3 = 0; i3 < job->count[3]; i3++) {
                    const kw_i64 at[4] = {i0, i1, i2, i3};
                    const char *v = job->v, *b = job->b;
                    for (int i = 0; i < 4; i++) {
                        v += at[i] * job->v_step[i];
                        b += at[i] * job->b_step[i];
                    }
                    a += kw_spread(b) * kw_load(v);
                }
            }
        }
    }
    kw_put(job->to, a);
}

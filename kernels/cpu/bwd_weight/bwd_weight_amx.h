/* bwd_weight_amx.h: the tile of weight gradients by tile registers: 16 spread channels' pixel pairs of a row are a register, the same pairs of
 * 16 channels in lanes another, 16 x 16 sums a third. So the spread side is copied with its channels as rows (copy_turned), and a row's
 * pairs are cut into chunks of equally many, 16 at most, of which the last may be zeros. kw_config.h has KW_EACH_SUM and KW_CHUNK as for
 * lib/amx_tile.h, of the whole tile and of each part of it, KW_EACH_r_v_SUM and KW_r_v_CHUNK: LOAD is of the spread side, WEIGHTS of the vector
 * side. */
#include "cpu/lib/amx_sizes.h"

/* Of a job: so many registers of rows, so many vectors. */
#define KW_AMX_PART_OF(rows16, vecs) (8 * (rows16) + (vecs))

#define KW_AMX_CLEAR(rows16, v_, t) KW_AMX_ZERO(t)
#define KW_AMX_RESUME(rows16, v_, t) KW_AMX_LOAD(t, job->from + (rows16)*KW_AMX_ROWS * tile_row + (v_)*KW_VECTOR, tile_row)
#define KW_AMX_KEEP(rows16, v_, t) KW_AMX_STORE(t, job->to + (rows16)*KW_AMX_ROWS * job->to_step + (v_)*KW_VECTOR, job->to_step)
#define KW_AMX_SPREAD(rows16, t) KW_AMX_LOAD(t, b + (rows16)*KW_AMX_ROWS * b_row, b_row)
#define KW_AMX_VECTORS(v_, t) KW_AMX_LOAD(t, v + (v_)*KW_VECTOR, v_row)

/* The chunks of a job, by the first r registers of rows and v vectors. */
#define KW_AMX_SUM_PART(r, v_)                                                                                                             \
    case KW_AMX_PART_OF(r, v_): {                                                                                                          \
        if (job->from) {                                                                                                                   \
            KW_EACH_##r##_##v_##_SUM(KW_AMX_RESUME)                                                                                        \
        } else {                                                                                                                           \
            KW_EACH_##r##_##v_##_SUM(KW_AMX_CLEAR)                                                                                         \
        }                                                                                                                                  \
        const char *v0 = job->v, *b0 = job->b;                                                                                             \
        for (kw_i64 i0 = job->count[0]; i0 > 0; i0--, v0 += job->v_step[0], b0 += job->b_step[0]) {                                        \
            const char *v1 = v0, *b1 = b0;                                                                                                 \
            for (kw_i64 i1 = job->count[1]; i1 > 0; i1--, v1 += job->v_step[1], b1 += job->b_step[1]) {                                    \
                const char *v2 = v1, *b2 = b1;                                                                                             \
                for (kw_i64 i2 = job->count[2]; i2 > 0; i2--, v2 += job->v_step[2], b2 += job->b_step[2]) {                                \
                    const char *v = v2, *b = b2;                                                                                           \
                    for (kw_i64 i = job->count[3]; i > 0; i--, v += job->v_step[3], b += job->b_step[3]) {                                 \
                        KW_##r##_##v_##_CHUNK(KW_AMX_SPREAD, KW_AMX_VECTORS, KW_AMX_DOT)                                                   \
                    }                                                                                                                      \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
        KW_EACH_##r##_##v_##_SUM(KW_AMX_KEEP) break;                                                                                       \
    }

/* Registers of rows and vectors that have no channels are neither read nor summed. */
static __attribute__((noinline)) void kw_tile(const kw_weight_job *job) {
    kw_i64 tile_row = KW_TILE_ROW, b_row = job->b_row, v_row = job->v_row;
    switch (job->registers) { KW_EACH_PART(KW_AMX_SUM_PART) }
}

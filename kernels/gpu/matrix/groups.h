/* groups.h: the places of waves that multiply in fours by wgmma.h, and their sums, for bulk.h and gather.h. */
#ifndef KW_GROUPS_H
#define KW_GROUPS_H

#include "gpu/matrix/wgmma.h"

/* Place of four waves among those that multiply the same tile; repeats of their pattern follow each other. */
typedef struct kw_wave_coord {
    int m, n;
} kw_wave_coord;

KW_DEVICE kw_wave_coord kw_wave_coord_of(int wave) {
    kw_wave_coord wave_coord;
    wave_coord.n = wave / KW_GROUP_WAVES % KW_WAVE_N;
    wave_coord.m = wave / KW_GROUP_WAVES / KW_WAVE_N % KW_WAVE_COORDS_M;
    return wave_coord;
}

KW_DEVICE int kw_row_of(kw_wave_coord wave_coord, int repeat) { return (repeat * KW_WAVE_COORDS_M + wave_coord.m) * KW_INST_M; }
KW_DEVICE int kw_col_of(kw_wave_coord wave_coord, int repeat) { return (repeat * KW_WAVE_N + wave_coord.n) * KW_INST_N; }

#define KW_REPEAT_M KW_WAVE_REPEATS_M
#define KW_REPEAT_N KW_WAVE_REPEATS_N

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
} kw_sums;

KW_DEVICE void kw_sums_hold(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++)
            kw_wgmma_hold(&sums->at[i][j]);
    }
}

#endif

/* steps.h: what every pipeline works on: a block's steps along the depth, and sums that begin with nothing. Included where a pipeline has
 * said what its kw_sums, kw_loader and kw_wave_coord are; the loader brings a step's tiles, by threads or by bulk copies. */
#ifndef KW_STEPS_H
#define KW_STEPS_H

typedef struct kw_steps {
    const kw_view *view;
    kw_loader loader;
    kw_wave_coord wave_coord;
    int first, count; /* depth of the first step; steps, 0 where there is nothing to add */
    char *lds;
} kw_steps;

KW_DEVICE void kw_sums_clear(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++) {
            KW_UNROLL
            for (int e = 0; e < KW_ACC_N; e++)
                sums->at[i][j].e[e] = 0;
        }
    }
}

#endif

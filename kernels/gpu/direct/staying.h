/* staying.h: the kernel of grouped.h whose blocks stay (KW_STAYS). A block has the same channels in all its tiles, so it brings their
 * weights once, which are more bytes than the source of a tile of 8 x 8 pixels and 64 channels; a wave keeps its own in registers where they
 * are few. The next tile's source comes in by asynchronous copies, to a second place while one is multiplied, or to the same while results
 * leave. */
#ifndef KW_DIRECT_STAYING_H
#define KW_DIRECT_STAYING_H

/* As kw_lds_at() has it. */
#define KW_COPY_CELL(pixel, cell) ((cell) ^ (pixel) % (KW_CELLS % 8 ? 4 : 8))
#define KW_COPY_THREADS KW_THREADS
#include "gpu/direct/copied.h"

KW_DEVICE void kw_source_copy(char *lds, const kw_image *v, kw_position at) {
    kw_tile_copy(lds, v->source, v->source_h, v->source_w, v->source_c, v->top, v->left, at.channel, kw_wave(), KW_SRC_H, KW_SRC_W, 1);
}

KW_DEVICE void kw_weights_bring(char *lds, const kw_gpu_args *a, int channel) {
    KW_ROLLED
    for (int first = kw_thread(); first < KW_BROUGHT_PIECES; first += KW_BROUGHT_LOADS * KW_THREADS) {
        kw_brought brought;
        kw_brought_load(&brought, a, channel, first);
        kw_brought_store(lds + KW_BROUGHT_AT, &brought, first);
    }
}

KW_DEVICE kw_slab_weights kw_weights_of(const char *lds, int col) { return lds + KW_BROUGHT_AT + col * (KW_BROUGHT_ROW * KW_BYTES); }

/* Of a wave whose first channel in the block is col. */
KW_DEVICE void kw_kept_read(kw_kept *kept, const char *lds, int col) {
    KW_UNROLL
    for (int slab = 0; slab < KW_SLABS && KW_KEEPS; slab++) {
        int at = slab * KW_STEPS;
        KW_UNROLL
        for (int phase = 0; phase < KW_PHASES; phase++) {
            KW_UNROLL
            for (int step = 0; step < kw_steps_of(phase); step++, at++) {
                KW_UNROLL
                for (int n = 0; n < KW_REPEAT_N; n++)
                    kw_read_weights(&kept->at[at][n], kw_weights_of(lds, col + slab * KW_SLAB), n, phase, step);
            }
        }
    }
}

/* A slab of a tile, whose source is in shared memory. */
KW_DEVICE void kw_slab_finish(const kw_image *v, kw_position at, char *lds, const char *source, int coord, int wave_col, const int slab,
                              const kw_kept *kept) {
    int col = wave_col + slab * KW_SLAB, from = slab * KW_STEPS;
    if (at.channel + col >= v->result_c) return;
    KW_UNROLL
    for (int phase = 0; phase < KW_PHASES; phase++) {
        kw_sums sums;
        kw_sums_clear(&sums);
        kw_slab_run(&sums, source, coord, col, phase, kw_weights_of(lds, col), kept, from);
        kw_slab_store(v, at, &sums, lds, coord, col, phase);
        from += kw_steps_of(phase);
    }
}

#if KW_LEAST_BLOCKS == 0 /* else the host compiles it again because it spilled (jit/toolchain/nvrtc.c) */
#undef KW_LEAST_BLOCKS
#define KW_LEAST_BLOCKS (KW_STAY_BLOCKS > 1 ? KW_STAY_BLOCKS : 1)
#endif

KW_KERNEL(kw_stage0, KW_THREADS) {
    KW_LDS(KW_GROUPED_LDS_BYTES);
    int unit = (int)kw_block(), turn = 0;
    kw_position at = kw_position_of(&args, unit, KW_SRC_CHANNELS);
    kw_image image = kw_image_of(&args, at);
    int wave_col = kw_wave() % KW_WAVES_C * KW_COLS, coord = kw_wave() / KW_WAVES_C * (KW_REPEAT_M * KW_INST_M);
    kw_kept kept;
    kw_begin(); /* where the block's tile lies needs nothing of the launch before */
    kw_source_copy(kw_lds, &image, at);
    kw_async_commit();
    kw_weights_bring(kw_lds, &args, at.channel);
    kw_async_wait(0, 0);
    kw_barrier();
    kw_kept_read(&kept, kw_lds, wave_col);
    KW_ROLLED
    while (1) {
        const char *source = kw_lds + turn * KW_SOURCE_ROOM;
        kw_image v = image;
        kw_position to = at;
        int more = (unit += (int)kw_blocks()) < (int)args.params.units;
        if (more) {
            at = kw_position_of(&args, unit, KW_SRC_CHANNELS);
            image = kw_image_of(&args, at);
        }
        turn ^= KW_SOURCES - 1;
        /* The same, as no unit is below 0. But the compiler does not know it: so it works out in each tile where a step's pixels lie, and keeps no
         * registers for all 18 steps of 32 channels. */
        int here = KW_CHANNELS < 32 ? coord : coord | unit >> 31;
        if (more && KW_SOURCES > 1) kw_source_copy(kw_lds + turn * KW_SOURCE_ROOM, &image, at);
        if (KW_KEEPS) {
            KW_UNROLL
            for (int slab = 0; slab < KW_SLABS; slab++)
                kw_slab_finish(&v, to, kw_lds, source, here, wave_col, slab, &kept);
        } else {
            KW_ROLLED
            for (int slab = 0; slab < KW_SLABS; slab++)
                kw_slab_finish(&v, to, kw_lds, source, here, wave_col, slab, &kept);
        }
        kw_barrier();
        if (more && KW_SOURCES == 1) kw_source_copy(kw_lds, &image, at);
        kw_async_commit();
        kw_result_store(&v, to, kw_lds);
        if (!more) break;
        kw_async_wait(0, 0);
        kw_barrier();
    }
}

#endif

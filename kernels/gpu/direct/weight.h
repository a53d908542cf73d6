/* weight.h: backward weight of direct.c, for groups of 4 to 32 channels. A wave has the weights between 16 result channels and 16 source
 * channels, those of whole groups side by side or a quarter of what 32 x 32 channels have, for all nine taps in registers from beginning to
 * end: products of y, turned, by x, whose depth is pixels. Blocks share the tiles of all images, waves (KW_WAVES_Q) those of a tile's
 * pixels; each stores its sums in a slice of the workspace, and a second kernel adds the slices in order. A block may hold several tiles at a
 * time (KW_SLICES), each brought and multiplied by waves of its own.
 *
 * peers > 1, for small images: the blocks that share a channel's sums are one cluster. Each adds its waves' sums, writes to each of its peers the
 * share that the peer adds, and that one's sums of all blocks are added in their order and stored: one launch.
 *
 * gpu/direct/planes.h and gpu/direct/lying.h have how tiles stand in shared memory, and the products. */
#ifndef KW_DIRECT_WEIGHT_H
#define KW_DIRECT_WEIGHT_H

#include "gpu/lib/parts.h"

#define KW_REPEAT_N (KW_COLS / KW_INST_N)

/* Waves that share a tile's pixels; threads that bring it, and their loads under way together. */
enum {
    KW_TILE_WAVES = KW_WAVES_Q / KW_SLICES,
    KW_BRING_THREADS = KW_WAVES_C * KW_TILE_WAVES * KW_WAVE,
    KW_LOADS = KW_JOINS && KW_THREADS <= 256 ? 8 : 4,
    KW_ALONE = KW_BRING_THREADS == KW_WAVE /* each wave has tiles of its own, and waits for no other's */
};

/* The block's wave: its first result and source channel. Of 32 channels a group four waves have a quarter each. */
KW_DEVICE int kw_wave_to(int wave) { return KW_CHANNELS == 32 ? wave / 4 * 32 + wave / 2 % 2 * 16 : wave * 16; }
KW_DEVICE int kw_wave_from(int wave) { return KW_CHANNELS == 32 ? wave / 4 * 32 + wave % 2 * 16 : wave * 16; }

typedef struct kw_sums {
    kw_acc at[KW_TAPS][KW_REPEAT_N];
} kw_sums;

#if KW_LIES
#include "gpu/direct/lying.h"
#else
#include "gpu/direct/planes.h"
#endif

/* What a wave of the block brings and multiplies. */
typedef struct kw_own {
    int held, wave, to, from; /* number of its tile; of the wave among those that share it; its first channels in the block */
} kw_own;

/* The threads that bring and multiply a tile. */
KW_DEVICE void kw_tile_barrier() {
    if (KW_ALONE)
        kw_wave_barrier();
    else
        kw_barrier();
}

/* Begins to bring the wave's tile of the round that begins with unit `first`; zeros where there is none. */
KW_DEVICE void kw_tile_bring(char *lds, const kw_gpu_args *a, kw_own own, kw_i64 first, int channel) {
    int h = (int)a->in[1], w = (int)a->in[2], out_h = (int)a->out[1], out_w = (int)a->out[2], c = (int)a->groups * KW_CHANNELS;
    kw_u32 mine = (kw_u32)first + (kw_u32)(own.held * (int)a->params.parts), across = (kw_u32)a->params.tiles_w,
           high = (kw_u32)a->params.tiles_h;
    int some = mine < (kw_u32)a->params.units; /* which are counted in 31 bits */
    kw_u32 unit = some ? mine : 0;
    int col = (int)(unit % across) * KW_TILE_W, row = (int)(unit / across % high) * KW_TILE_H;
    kw_i64 image = unit / across / high;
    const char *x = a->x + image * (h * w * c) * KW_BYTES, *y = a->y + image * (out_h * out_w * c) * KW_BYTES;
    int top = row * KW_STRIDE - (int)a->pad[1], left = col * KW_STRIDE - (int)a->pad[2];
#if KW_LIES
    kw_tile_copy(lds, x, some ? h : 0, w, c, top, left, channel, own.wave, KW_SRC_H, KW_SRC_W, KW_STRIDE);
    kw_tile_copy(lds + KW_X_BYTES, y, some ? out_h : 0, out_w, c, row, col, channel, own.wave, KW_TILE_H, KW_TILE_W, 1);
    kw_async_commit();
#else
    kw_rect from_x = {x, some ? h : 0, w, c, top, left, KW_SRC_H, KW_STRIDE * KW_ROW_HALF, KW_STRIDE, KW_ROW_HALF, KW_X_PLANE};
    kw_rect from_y = {y, some ? out_h : 0, out_w, c, row, col, KW_TILE_H, KW_TILE_W, 1, KW_TILE_W, KW_Y_PLANE};
    kw_planes_load(lds, from_x, channel, own.wave * KW_WAVE + kw_lane());
    kw_planes_load(lds + KW_X_BYTES, from_y, channel, own.wave * KW_WAVE + kw_lane());
#endif
}

KW_DEVICE void kw_tile_multiply(kw_sums *sums, const char *tile, kw_own own) {
    KW_ROLLED
    for (int pixel = own.wave % KW_TILE_WAVES * KW_INST_K; pixel < KW_TILE_H * KW_TILE_W; pixel += KW_TILE_WAVES * KW_INST_K) {
#if KW_LIES
        kw_lying_run(sums, tile, tile + KW_X_BYTES, own.from, own.to, pixel);
#else
        kw_pixels_run(sums, (const kw_u32 *)tile + own.from * KW_X_PLANE, (const kw_u32 *)(tile + KW_X_BYTES) + own.to * KW_Y_PLANE, pixel);
#endif
    }
}

/* To a slice that begins with channel `first` of the result; what lies between two groups is nobody's. channels: those that the slice has. */
KW_DEVICE void kw_sums_store(const kw_sums *sums, float *slice, int first, int channels, int wave) {
    KW_UNROLL
    for (int i = 0; i < KW_TAPS * KW_REPEAT_N * KW_ACC_N; i++) {
        int e = i % KW_ACC_N, n = i / KW_ACC_N % KW_REPEAT_N, tap = i / KW_ACC_N / KW_REPEAT_N;
        int to = first + kw_wave_to(wave) + kw_acc_row(kw_lane(), e);
        int from = first + kw_wave_from(wave) + n * KW_INST_N + kw_acc_col(kw_lane(), e);
        if (to / KW_CHANNELS == from / KW_CHANNELS && to < channels)
            slice[(to * KW_TAPS + tap) * KW_CHANNELS + from % KW_CHANNELS] = sums->at[tap][n].e[e];
    }
}

#if KW_JOINS
/* The sums of the cluster's blocks. lds: shares from the peers, then the room of the tiles, which nobody reads any more. */
KW_DEVICE void kw_sums_join(const kw_gpu_args *a, char *lds, const kw_sums *sums, int channel, int wave_c, int wave_q, int part) {
    float *own = (float *)(lds + KW_JOINED_BYTES);
    kw_sums_store(sums, own + wave_q * KW_WEIGHT_SUMS, 0, KW_SRC_CHANNELS, wave_c);
    kw_barrier();
    kw_cluster_wait(); /* the peers' shared memory is there */
    for (int at = kw_thread() * 4; at < KW_WEIGHT_SUMS; at += KW_THREADS * 4) {
        float four[4] = {0, 0, 0, 0};
        kw_u32 words[4];
        KW_UNROLL
        for (int q = 0; q < KW_WAVES_Q; q++) {
            KW_UNROLL
            for (int i = 0; i < 4; i++)
                four[i] += own[q * KW_WEIGHT_SUMS + at + i];
        }
        KW_UNROLL
        for (int i = 0; i < 4; i++)
            words[i] = kw_bits(four[i]);
        kw_peer_write(lds + (part * KW_PEER_SUMS + at % KW_PEER_SUMS) * 4, at / KW_PEER_SUMS, words);
    }
    kw_cluster_barrier();
    for (int at = kw_thread(); at < KW_PEER_SUMS; at += KW_THREADS) {
        int in_block = part * KW_PEER_SUMS + at;
        kw_i64 element = (kw_i64)channel * (KW_TAPS * KW_CHANNELS) + in_block;
        float sum = 0;
        if (in_block >= KW_WEIGHT_SUMS || element >= a->params.elements) break;
        KW_UNROLL
        for (int peer = 0; peer < KW_PEERS; peer++)
            sum += ((const float *)lds)[peer * KW_PEER_SUMS + at];
#if KW_EPILOGUE
        kw_finish_element(a->w, a, element, sum);
#else
        kw_store(a->w, element, sum);
#endif
    }
}
#endif

KW_KERNEL(kw_stage0, KW_THREADS) {
    KW_LDS(KW_WEIGHT_LDS_BYTES);
    kw_begin();
    kw_u32 block = (kw_u32)kw_block(), parts = (kw_u32)args.params.parts;
    kw_i64 part = block % parts;
    int channel = (int)(block / parts) * KW_SRC_CHANNELS, wave_c = kw_wave() / KW_WAVES_Q, wave_q = kw_wave() % KW_WAVES_Q;
    kw_own own = {wave_q / KW_TILE_WAVES, wave_c * KW_TILE_WAVES + wave_q % KW_TILE_WAVES, kw_wave_to(wave_c), kw_wave_from(wave_c)};
    char *tile = kw_lds + KW_JOINED_BYTES + own.held * KW_HELD_BYTES;
    kw_sums sums;
#if KW_JOINS
    kw_cluster_arrive();
#endif
    KW_UNROLL
    for (int i = 0; i < KW_TAPS * KW_REPEAT_N * KW_ACC_N; i++)
        sums.at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
#if KW_LIES
    enum { OTHER = KW_ALL_HELD_BYTES / 2 };
    const kw_i64 round = args.params.parts * KW_SLICES;
    if (part < args.params.units) kw_tile_bring(tile, &args, own, part, channel);
    int at = 0;
    for (kw_i64 first = part; first < args.params.units; first += round) {
        if (first + round < args.params.units) {
            kw_tile_bring(tile + OTHER - at, &args, own, first + round, channel);
            kw_async_wait(1, 0);
        } else {
            kw_async_wait(0, 0);
        }
        kw_tile_barrier();
        kw_tile_multiply(&sums, tile + at, own);
        kw_tile_barrier();
        at = OTHER - at;
    }
    if (KW_ALONE && KW_JOINS) kw_barrier(); /* sums come to where tiles were */
#else
    for (kw_i64 first = part; first < args.params.units; first += args.params.parts * KW_SLICES) {
        kw_tile_bring(tile, &args, own, first, channel);
        kw_barrier();
        kw_tile_multiply(&sums, tile, own);
        kw_barrier();
    }
#endif
#if KW_JOINS
    kw_sums_join(&args, kw_lds, &sums, channel, wave_c, wave_q, (int)part);
#else
    kw_sums_store(&sums, (float *)args.shared + (part * KW_WAVES_Q + wave_q) * args.params.elements, channel,
                  (int)args.groups * KW_CHANNELS, wave_c);
#endif
}

#if !KW_JOINS
KW_KERNEL(kw_stage1, KW_ADD_THREADS) {
    KW_LDS(KW_PARTS_BYTES);
    kw_begin();
    kw_parts_reduce(&args, kw_lds, (int)args.params.parts * KW_WAVES_Q);
}
#endif

#endif

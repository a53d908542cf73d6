/* args.h of gpu/direct: what launch() of conv.direct_block hands to direct.c, and the counts of a block, which src/families/gpu/direct has
 * as well: macros over the axes, as in gpu/lib/resources.h. */
#ifndef KW_DIRECT_BLOCK_ARGS_H
#define KW_DIRECT_BLOCK_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_direct_block_params {
    kw_i64 tiles_h, tiles_w; /* of the result */
    kw_i64 block_cols;       /* blocks side by side along the channels of the result */
    kw_i64 packed;           /* lanes' shares of all weights */
    kw_i64 units;            /* of backward weight tiles of all images; with KW_STAYS times the blocks side by side */
    /* Of backward weight: */
    kw_i64 parts;    /* blocks that share a channel's sums */
    kw_i64 elements; /* weights */
} kw_direct_block_params;

KW_PARAMS_FIT(kw_direct_block_params);

#define KW_DATA (KW_OP == KW_OP_CONV_BWD_DATA)
#define KW_WEIGHT (KW_OP == KW_OP_CONV_BWD_WEIGHT)
#define KW_DENSE (KW_IMPL == KW_IMPL_DENSE)
#define KW_INST_M 16 /* pixels of an instruction */
#define KW_INST_N (KW_NVIDIA ? 8 : 16)
#define KW_EXTENT 3
#define KW_TAPS 9
#define KW_PREFETCH_MOST 4 /* loads of a thread under way together */
#define KW_BLOCK_THREADS (KW_WAVES_C * KW_WAVES_Q * KW_WAVE)

/* Along either axis. A coord is a result pixel, or with phases one of each phase. */
#define KW_SIDE (KW_DATA ? KW_STRIDE : 1)                              /* phases */
#define KW_STEP (KW_DATA ? 1 : KW_STRIDE)                              /* source pixels from coord to coord */
#define KW_REACH (KW_DATA ? KW_CEIL(KW_EXTENT, KW_STRIDE) : KW_EXTENT) /* source pixels that the taps of a coord read */
#define KW_COORDS_H (KW_TILE_H / KW_SIDE)
#define KW_COORDS_W (KW_TILE_W / KW_SIDE)

/* Channels of a block: of the source, and of the result. Backward weight has 16 x 16 channels a wave: four waves have the 32 x 32 of a wide
 * group. */
#define KW_WEIGHT_COLS 16
#define KW_WEIGHT_CHANNELS (KW_WAVES_C * (KW_CHANNELS == 32 ? KW_WEIGHT_COLS / 2 : KW_WEIGHT_COLS))
#define KW_SRC_CHANNELS (KW_WEIGHT ? KW_WEIGHT_CHANNELS : KW_DENSE ? KW_WAVES_C * KW_SLICES * KW_CHANNELS : KW_WAVES_C * KW_COLS)
#define KW_DST_CHANNELS (KW_WEIGHT ? KW_WEIGHT_CHANNELS : KW_DENSE ? KW_COLS : KW_WAVES_C * KW_COLS)

/* Source rows that are in shared memory at a time, and columns. */
#define KW_SRC_H (KW_WEIGHT ? (KW_TILE_H - 1) * KW_STRIDE + KW_EXTENT : KW_DENSE ? KW_STEP : (KW_COORDS_H - 1) * KW_STEP + KW_REACH)
#define KW_SRC_W ((KW_COORDS_W - 1) * KW_STEP + KW_REACH)
#define KW_PIXEL_BYTES (KW_SRC_CHANNELS * KW_BYTES)
#define KW_SRC_BYTES (KW_SRC_H * KW_SRC_W * KW_PIXEL_BYTES)

/* impl=grouped: channels of a slab; instructions of its depth, for all phases; the result's part of shared memory. */
#define KW_SLAB (KW_CHANNELS > KW_INST_N ? KW_CHANNELS : KW_INST_N)
#define KW_STEPS_OF(taps) KW_CEIL((taps)*KW_SLAB, KW_INST_K)
#define KW_STEPS (KW_SIDE == 2 ? KW_STEPS_OF(4) + 2 * KW_STEPS_OF(2) + KW_STEPS_OF(1) : KW_STEPS_OF(KW_TAPS))
#define KW_GROUPED_OUT_BYTES (KW_STORE == KW_STORE_LDS ? KW_TILE_H * KW_TILE_W * KW_PIXEL_BYTES : 0)
/* pack=lds: behind it the block's weights, a row for each channel of the result: taps by the source channels of its group. Rows that follow
 * each other meet different banks. */
#define KW_BRINGS (KW_PACK == KW_PACK_LDS)
#define KW_BROUGHT_ROW (KW_TAPS * KW_CHANNELS + (KW_CHANNELS > 8 ? 8 : 0))
#define KW_BROUGHT_BYTES (KW_BRINGS ? KW_SRC_CHANNELS * KW_BROUGHT_ROW * KW_BYTES : 0)
/* NVIDIA, with whole copies of 16 bytes: blocks stay, their weights with them, and go from tile to tile (staying.h). The next source comes in while
 * one is multiplied, where a block needs no more shared memory for two than this. Sources are whole copies of a wave.
 * Of phases with few channels, whose weights are few beside the results, all tiles at once are faster. */
#define KW_STAYS                                                                                                                           \
    (KW_BRINGS && KW_HAS_MMA && KW_HAS_ASYNC16 && KW_VEC == 8 && KW_SWIZZLE == KW_SWIZZLE_XOR && KW_STORE == KW_STORE_LDS &&               \
     (KW_SIDE == 1 || KW_CHANNELS >= 16))
#define KW_TWO_SOURCES (96 * 1024)
#define KW_SOURCE_ROOM (KW_STAYS ? KW_LYING_BYTES(KW_SRC_H * KW_SRC_W) : KW_SRC_BYTES)
#define KW_SOURCES (KW_STAYS && 2 * KW_SOURCE_ROOM + KW_GROUPED_OUT_BYTES + KW_BROUGHT_BYTES <= KW_TWO_SOURCES ? 2 : 1)
/* Words of weights that a wave keeps in registers, where they are few and leave room for two blocks; registers of a thread, which say how
 * many blocks a multiprocessor has. By times of an H200. */
#define KW_KEPT_WORDS (KW_COLS / KW_SLAB * KW_STEPS * (KW_SLAB / KW_INST_N) * KW_B_WORDS)
#define KW_KEPT_MOST 40
#define KW_KEEPS (KW_STAYS && KW_KEPT_WORDS <= KW_KEPT_MOST && KW_SIDE == 1 && KW_BLOCK_THREADS <= 256)
#define KW_WAVE_SUMS (KW_CEIL(KW_COORDS_H * KW_COORDS_W, KW_WAVES_Q * KW_INST_M) * (KW_SLAB / KW_INST_N))
#define KW_STAY_REGISTERS                                                                                                                  \
    (KW_KEEPS ? (KW_KEPT_WORDS > 30 ? (KW_WAVE_SUMS > 2 ? 128 : 80) : (KW_WAVE_SUMS > 1 ? 80 : 64))                                        \
              : (KW_WAVE_SUMS > 4                              ? 128                                                                       \
                 : KW_WAVE_SUMS > 2 && KW_BLOCK_THREADS <= 256 ? 80                                                                        \
                                                               : 64))
#define KW_STAY_BLOCKS (64 * 1024 / (KW_BLOCK_THREADS * KW_STAY_REGISTERS))
#define KW_OUT_AT (KW_SOURCES * KW_SOURCE_ROOM)
#define KW_GROUPED_LDS_BYTES (KW_OUT_AT + KW_GROUPED_OUT_BYTES + KW_BROUGHT_BYTES)

/* impl=dense: result rows (with phases: rows of coords) whose sums are open; instructions of a slice's depth, and of a wave's whole filter;
 * sums of a row, which pass shared memory because waves share them or for wider stores. Source rows and sums have two places each. */
#define KW_OPEN KW_CEIL(KW_EXTENT, KW_STRIDE)
#define KW_DEPTHS (KW_CHANNELS / KW_INST_K)
#define KW_DENSE_SHARES (KW_SLICES * KW_TAPS * KW_DEPTHS * (KW_COLS / KW_INST_N))
#define KW_SHARED (KW_WAVES_C > 1 || KW_STORE == KW_STORE_LDS)
#define KW_ROW_SUMS (KW_SIDE * KW_SIDE * KW_COORDS_W * KW_COLS)
#define KW_PART_BYTES (KW_SHARED ? KW_WAVES_C * KW_ROW_SUMS * 4 : 0)
#define KW_DENSE_LDS_BYTES (2 * (KW_SRC_BYTES + KW_PART_BYTES))

/* Backward weight: tiles of x and y channel by channel. */
#define KW_ROW_HALF ((KW_TILE_W + 2) / 2 * 2)                     /* elements of a row of x that leave the same, in whole words */
#define KW_X_PLANE ((KW_SRC_H * KW_STRIDE * KW_ROW_HALF / 2) | 1) /* words of a channel; odd, so that channels meet different banks */
#define KW_Y_PLANE ((KW_TILE_H * KW_TILE_W / 2) | 1)
/* swizzle=xor: as they lie, in whole copies of a wave, and the next tile beside each. */
#define KW_LIES (KW_SWIZZLE == KW_SWIZZLE_XOR)
#define KW_WAVE_COPY 512 /* bytes: NVIDIA's waves */
#define KW_LYING_BYTES(pixels) (KW_CEIL((pixels)*KW_PIXEL_BYTES, KW_WAVE_COPY) * KW_WAVE_COPY)
#define KW_X_BYTES (KW_LIES ? KW_LYING_BYTES(KW_SRC_H * KW_SRC_W) : KW_SRC_CHANNELS * KW_X_PLANE * 4)
#define KW_Y_BYTES (KW_LIES ? KW_LYING_BYTES(KW_TILE_H * KW_TILE_W) : KW_SRC_CHANNELS * KW_Y_PLANE * 4)
#define KW_HELD_BYTES (KW_X_BYTES + KW_Y_BYTES) /* of a tile, of which a block holds KW_SLICES at a time */
/* peers > 1: a block's sums, its share of which the blocks of its cluster write before the tiles; all waves' stand where the tiles were. */
#define KW_JOINS (KW_PEERS > 1)
#define KW_WEIGHT_SUMS (KW_SRC_CHANNELS * KW_TAPS * KW_CHANNELS)
#define KW_PEER_SUMS (KW_CEIL(KW_WEIGHT_SUMS / 4, KW_PEERS) * 4)
#define KW_JOINED_BYTES (KW_JOINS ? KW_PEERS * KW_PEER_SUMS * 4 : 0)
#define KW_ALL_HELD_BYTES ((KW_LIES ? 2 : 1) * KW_SLICES * KW_HELD_BYTES)
#define KW_WAVES_BYTES (KW_JOINS ? KW_WAVES_Q * KW_WEIGHT_SUMS * 4 : 0)
#define KW_WEIGHT_LDS_BYTES (KW_JOINED_BYTES + (KW_ALL_HELD_BYTES > KW_WAVES_BYTES ? KW_ALL_HELD_BYTES : KW_WAVES_BYTES))

#endif

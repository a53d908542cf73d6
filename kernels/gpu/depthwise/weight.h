/* weight.h: backward weight of depthwise.c. A block has a slice of the filters of one channel (order=first) or of KW_PLANES channels, and
 * its waves go over tiles of pixels; its lanes' sums are added at the end, and a second kernel adds the blocks' (parts.h). peers > 1: the
 * blocks that share a filter's sums are one cluster and add them through each other's shared memory: one launch. */
#ifndef KW_DEPTHWISE_WEIGHT_H
#define KW_DEPTHWISE_WEIGHT_H

#if KW_WAVES == 1
#define kw_block_barrier() kw_wave_barrier()
#else
#define kw_block_barrier() kw_barrier()
#endif

/* A tile of pixels with what it reads of the source, the first of a wave from a unit on whose slice of the source is there. */
typedef struct kw_tile {
    kw_i64 unit; /* args.params.units: there is none */
    kw_position at;
    int depth;
} kw_tile;

KW_DEVICE kw_tile kw_tile_from(const kw_gpu_args *a, kw_i64 unit, kw_i64 step, kw_i64 channel, int slice) {
    kw_tile tile;
    kw_i64 rest;
    for (tile.unit = unit; tile.unit < a->params.units; tile.unit += step) {
        tile.at = kw_position_of(a, tile.unit, &rest);
        tile.at.channel = channel;
        tile.at.image = rest;
        if (kw_source_depth(a, tile.at.depth, slice, &tile.depth)) break;
    }
    return tile;
}

#if KW_WALKS
#include "gpu/depthwise/walk.h"
#elif KW_COPIES

/* Begins to copy the source and, behind it, the pixels of y. */
KW_DEVICE void kw_tile_copy(char *lds, const kw_gpu_args *a, const kw_tile *tile) {
    kw_source_copy(lds, a, tile->at, tile->depth);
    kw_rows_copy(lds + KW_SRC_BYTES, a, a->y, kw_image_out(a), tile->at, KW_TILE_H, KW_TILE_W);
    kw_async_commit();
}

/* A lane's pixels of y, zero where there are none. */
KW_DEVICE void kw_pixels_take(kw_pixels *pixels, const char *tile, kw_wave_coord wave_coord) {
    kw_pixels_clear(pixels);
    KW_UNROLL
    for (int i = 0; i < KW_SUB_H * KW_SUB_W * KW_LANE_PLANES; i += KW_Y_RUN) {
        int y = i / KW_LANE_PLANES / KW_SUB_W, x = i / KW_LANE_PLANES % KW_SUB_W, plane = i % KW_LANE_PLANES;
        int row = wave_coord.row + y, col = wave_coord.col + x;
        kw_u32 words[KW_RUN_WORDS(KW_Y_RUN)];
        if (row >= KW_TILE_H || col >= KW_TILE_W) continue;
        kw_load_run(words, tile + ((row * KW_TILE_W + col) * KW_PLANES + wave_coord.plane + plane) * KW_BYTES, KW_Y_RUN * KW_BYTES);
        KW_UNROLL
        for (int e = 0; e < KW_Y_RUN; e++)
            pixels->at[y][x][plane + e] = kw_value(words, e);
    }
}

#else

/* A lane's pixels of y, zero where there are none. */
KW_DEVICE void kw_pixels_read(kw_pixels *pixels, const kw_gpu_args *a, kw_position at, kw_wave_coord wave_coord) {
    kw_pixels_clear(pixels);
    KW_UNROLL
    for (int i = 0; i < KW_SUB_H * KW_SUB_W * KW_LANE_PLANES; i += KW_Y_RUN) {
        int y = i / KW_LANE_PLANES / KW_SUB_W, x = i / KW_LANE_PLANES % KW_SUB_W, plane = i % KW_LANE_PLANES;
        int row = wave_coord.row + y, col = wave_coord.col + x;
        kw_i64 element;
        kw_u32 words[KW_RUN_WORDS(KW_Y_RUN)];
        if (row >= KW_TILE_H || col >= KW_TILE_W) continue;
        if (!kw_element_of(a, kw_image_out(a), at, wave_coord.plane + plane, at.row + row, at.col + col, &element)) continue;
        kw_load_run(words, a->y + element * KW_BYTES, KW_Y_RUN * KW_BYTES);
        KW_UNROLL
        for (int e = 0; e < KW_Y_RUN; e++)
            pixels->at[y][KW_FIRST ? x + e : x][KW_FIRST ? 0 : plane + e] = kw_value(words, e);
    }
}
#endif

/* Lanes of a wave whose sums are added, and those side by side that keep theirs. */
enum { KW_ADDED = KW_FIRST ? KW_WAVE : KW_SUBTILES, KW_KEPT = KW_FIRST ? 1 : KW_SUBTILE_LANES };

/* Element of the result, of a sum of the block; false when there is none. */
KW_DEVICE int kw_filter_element(const kw_gpu_args *a, kw_i64 channel, int slice, int sum, kw_i64 *element) {
    *element = ((channel + sum / KW_TAPS) * KW_FILTER_D + slice) * KW_TAPS + sum % KW_TAPS;
    return sum < KW_FILTER_SUMS && channel + sum / KW_TAPS < a->groups;
}

KW_DEVICE void kw_element_store(const kw_gpu_args *a, kw_i64 element, float sum) {
#if KW_EPILOGUE
    kw_finish_element(a->w, a, element, sum);
#else
    kw_store(a->w, element, sum);
#endif
}

/* Adds up what the lanes of all waves have, always in the same order, and puts it into the block's sums in shared memory, filter by filter
 * (KW_JOINS), or where no other block has any into the result, or into the block's slice of the workspace. Sums that neighbouring threads add
 * begin with other lanes, so that they meet different banks. waves: their tiles, which nobody reads any more. */
KW_DEVICE void kw_filter_add(const kw_gpu_args *a, float *sums, char *waves, const kw_filter *filter, int wave, kw_i64 part, kw_i64 channel,
                             int slice) {
    KW_UNROLL
    for (int e = 0; e < KW_TAPS * KW_LANE_PLANES; e++) {
        int tap = e / KW_LANE_PLANES;
        ((float *)(waves + wave * KW_WAVE_BYTES))[e * KW_WAVE + kw_lane()] =
            filter->at[tap / KW_FILTER][tap % KW_FILTER][e % KW_LANE_PLANES];
    }
    kw_block_barrier();
    for (int i = kw_thread(); i < KW_FILTER_SUMS; i += KW_BLOCK_THREADS) {
        int kept = i % KW_KEPT, e = i / KW_KEPT, plane = kept * KW_LANE_PLANES + e % KW_LANE_PLANES;
        float sum = 0;
        KW_ROLLED
        for (int w = 0; w < KW_WAVES; w++) {
            const float *from = (const float *)(waves + w * KW_WAVE_BYTES) + e * KW_WAVE + kept;
            KW_UNROLL
            for (int lane = 0; lane < KW_ADDED; lane++)
                sum += from[(lane + e) % KW_ADDED * KW_KEPT];
        }
        int in_block = plane * KW_TAPS + e / KW_LANE_PLANES;
        kw_i64 element;
        if (KW_JOINS)
            sums[in_block] = sum;
        else if (!kw_filter_element(a, channel, slice, in_block, &element))
            continue;
        else if (a->params.parts == 1)
            kw_element_store(a, element, sum);
        else
            ((float *)a->shared)[part * a->params.elements + element] = sum;
    }
}

#if KW_JOINS
/* Each block of the cluster gets its share of the others' sums, adds them in their order and stores. joined: where shares come. */
KW_DEVICE void kw_filter_join(const kw_gpu_args *a, char *joined, const float *sums, kw_i64 part, kw_i64 channel, int slice) {
    kw_block_barrier();
    kw_cluster_wait(); /* the peers' shared memory is there */
    for (int at = kw_thread() * 4; at < KW_FILTER_SUMS; at += KW_BLOCK_THREADS * 4) {
        kw_u32 words[4];
        kw_load_run(words, (const char *)(sums + at), 16);
        kw_peer_write(joined + ((int)part * KW_PEER_SUMS + at % KW_PEER_SUMS) * 4, at / KW_PEER_SUMS, words);
    }
    kw_cluster_barrier();
    for (int at = kw_thread(); at < KW_PEER_SUMS; at += KW_BLOCK_THREADS) {
        kw_i64 element;
        float sum = 0;
        if (!kw_filter_element(a, channel, slice, (int)part * KW_PEER_SUMS + at, &element)) break;
        KW_UNROLL
        for (int peer = 0; peer < KW_PEERS; peer++)
            sum += ((const float *)joined)[peer * KW_PEER_SUMS + at];
        kw_element_store(a, element, sum);
    }
}
#endif

KW_KERNEL(kw_stage0, KW_BLOCK_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    kw_begin();
    kw_wave_coord wave_coord = kw_wave_coord_of(kw_lane());
    kw_i64 part = kw_block() % args.params.parts, filters = kw_block() / args.params.parts;
    kw_i64 channel = filters / KW_FILTER_D * (KW_FIRST ? 1 : KW_PLANES), step = args.params.parts * KW_WAVES;
    int slice = (int)(filters % KW_FILTER_D), wave = KW_WAVES == 1 ? 0 : kw_wave();
    float *sums = (float *)(kw_lds + KW_JOINED_BYTES);
    char *waves = kw_lds + 2 * KW_JOINED_BYTES, *tiles = waves + wave * KW_WAVE_BYTES;
    kw_filter filter;
#if KW_JOINS
    kw_cluster_arrive();
#endif
    KW_UNROLL
    for (int e = 0; e < KW_TAPS * KW_LANE_PLANES; e++)
        filter.at[e / KW_LANE_PLANES / KW_FILTER][e / KW_LANE_PLANES % KW_FILTER][e % KW_LANE_PLANES] = 0;
#if KW_WALKS
    kw_tile tile = kw_tile_from(&args, part * KW_WAVES + wave, step, channel, slice);
    for (; tile.unit < args.params.units; tile = kw_tile_from(&args, tile.unit + step, step, channel, slice))
        kw_tile_walk(&filter, &args, &tile, wave_coord);
#elif KW_COPIES
    kw_tile tile = kw_tile_from(&args, part * KW_WAVES + wave, step, channel, slice);
    if (tile.unit < args.params.units) kw_tile_copy(tiles, &args, &tile);
    for (int at = 0; tile.unit < args.params.units; at = KW_TILES_BYTES / 2 - at) {
        kw_tile next = kw_tile_from(&args, tile.unit + step, step, channel, slice);
        if (next.unit < args.params.units) {
            kw_tile_copy(tiles + KW_TILES_BYTES / 2 - at, &args, &next);
            kw_wait_copied(1);
        } else {
            kw_wait_copied(0);
        }
        kw_wave_barrier();
        if (wave_coord.there) {
            kw_pixels pixels;
            kw_pixels_take(&pixels, tiles + at + KW_SRC_BYTES, wave_coord);
            kw_subtile(&pixels, &filter, tiles + at, wave_coord);
        }
        kw_wave_barrier();
        tile = next;
    }
#else
    for (kw_i64 unit = part * KW_WAVES + wave; unit < args.params.units; unit += step) {
        kw_i64 rest;
        kw_position at = kw_position_of(&args, unit, &rest);
        at.channel = channel;
        at.image = rest * (KW_FIRST ? KW_PLANES : 1);
        int depth;
        if (!kw_source_depth(&args, at.depth, slice, &depth)) continue;
        kw_source_load(tiles, &args, at, depth);
        kw_pixels pixels;
        if (wave_coord.there) kw_pixels_read(&pixels, &args, at, wave_coord);
        kw_wave_barrier();
        if (wave_coord.there) kw_subtile(&pixels, &filter, tiles, wave_coord);
        kw_wave_barrier();
    }
#endif
    kw_filter_add(&args, sums, waves, &filter, wave, part, channel, slice);
#if KW_JOINS
    kw_filter_join(&args, kw_lds, sums, part, channel, slice);
#endif
}

#if !KW_JOINS
KW_KERNEL(kw_stage1, KW_ADD_THREADS) {
    KW_LDS(KW_PARTS_BYTES);
    kw_begin();
    kw_parts_reduce(&args, kw_lds, (int)args.params.parts);
}
#endif

#endif

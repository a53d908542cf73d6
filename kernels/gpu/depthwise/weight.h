/* weight.h: backward weight of depthwise.c. A block has a slice of the filters of one channel (order=first) or of KW_PLANES channels, and
 * goes over tiles of pixels; its lanes' sums are added at the end, and a second kernel adds the blocks' (parts.h). */
#ifndef KW_DEPTHWISE_WEIGHT_H
#define KW_DEPTHWISE_WEIGHT_H

#if KW_COPIES

/* A tile of pixels with what it reads of the source, the first of a part from a unit on whose slice of the source is there. */
typedef struct kw_tile {
    kw_i64 unit; /* args.params.units: there is none */
    kw_position at;
    int depth;
} kw_tile;

KW_DEVICE kw_tile kw_tile_from(const kw_gpu_args *a, kw_i64 unit, kw_i64 channel, int slice) {
    kw_tile tile;
    kw_i64 rest;
    for (tile.unit = unit; tile.unit < a->params.units; tile.unit += a->params.parts) {
        tile.at = kw_position_of(a, tile.unit, &rest);
        tile.at.channel = channel;
        tile.at.image = rest;
        if (kw_source_depth(a, tile.at.depth, slice, &tile.depth)) break;
    }
    return tile;
}

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

/* Adds what the lanes have, in their order, and stores it in the workspace's slice of this part. */
KW_DEVICE void kw_filter_store(const kw_gpu_args *a, kw_i64 part, kw_i64 channel, int slice, const kw_filter *filter, char *lds) {
    float *sums = (float *)lds;
    const int planes = KW_FIRST ? 1 : KW_PLANES, lanes = KW_FIRST ? KW_WAVE : KW_SUBTILES, step = KW_FIRST ? 1 : KW_SUBTILE_LANES;
    KW_UNROLL
    for (int e = 0; e < KW_TAPS * KW_LANE_PLANES; e++) {
        int tap = e / KW_LANE_PLANES;
        sums[e * KW_WAVE + kw_lane()] = filter->at[tap / KW_FILTER][tap % KW_FILTER][e % KW_LANE_PLANES];
    }
    kw_wave_barrier();
    for (int i = kw_thread(); i < KW_TAPS * planes; i += KW_WAVE) {
        int tap = i % KW_TAPS, plane = i / KW_TAPS;
        const float *from = sums + (tap * KW_LANE_PLANES + plane % KW_LANE_PLANES) * KW_WAVE + plane / KW_LANE_PLANES;
        float sum = 0;
        for (int lane = 0; lane < lanes; lane++)
            sum += from[lane * step];
        kw_i64 to = part * a->params.elements + ((channel + plane) * KW_FILTER_D + slice) * KW_TAPS + tap;
        if (channel + plane < a->groups) ((float *)a->shared)[to] = sum;
    }
}

KW_KERNEL(kw_stage0, KW_WAVE) {
    KW_LDS(KW_LDS_BYTES);
    kw_begin();
    kw_wave_coord wave_coord = kw_wave_coord_of(kw_lane());
    kw_i64 part = kw_block() % args.params.parts, filters = kw_block() / args.params.parts;
    kw_i64 channel = filters / KW_FILTER_D * (KW_FIRST ? 1 : KW_PLANES);
    int slice = (int)(filters % KW_FILTER_D);
    kw_filter filter;
    KW_UNROLL
    for (int e = 0; e < KW_TAPS * KW_LANE_PLANES; e++)
        filter.at[e / KW_LANE_PLANES / KW_FILTER][e / KW_LANE_PLANES % KW_FILTER][e % KW_LANE_PLANES] = 0;
#if KW_COPIES
    kw_tile tile = kw_tile_from(&args, part, channel, slice);
    if (tile.unit < args.params.units) kw_tile_copy(kw_lds, &args, &tile);
    for (int at = 0; tile.unit < args.params.units; at = KW_TILES_BYTES / 2 - at) {
        kw_tile next = kw_tile_from(&args, tile.unit + args.params.parts, channel, slice);
        if (next.unit < args.params.units) {
            kw_tile_copy(kw_lds + KW_TILES_BYTES / 2 - at, &args, &next);
            kw_wait_copied(1);
        } else {
            kw_wait_copied(0);
        }
        kw_wave_barrier();
        if (wave_coord.there) {
            kw_pixels pixels;
            kw_pixels_take(&pixels, kw_lds + at + KW_SRC_BYTES, wave_coord);
            kw_subtile(&pixels, &filter, kw_lds + at, wave_coord);
        }
        kw_wave_barrier();
        tile = next;
    }
#else
    for (kw_i64 unit = part; unit < args.params.units; unit += args.params.parts) {
        kw_i64 rest;
        kw_position at = kw_position_of(&args, unit, &rest);
        at.channel = channel;
        at.image = rest * (KW_FIRST ? KW_PLANES : 1);
        int depth;
        if (!kw_source_depth(&args, at.depth, slice, &depth)) continue;
        kw_source_load(kw_lds, &args, at, depth);
        kw_pixels pixels;
        if (wave_coord.there) kw_pixels_read(&pixels, &args, at, wave_coord);
        kw_wave_barrier();
        if (wave_coord.there) kw_subtile(&pixels, &filter, kw_lds, wave_coord);
        kw_wave_barrier();
    }
#endif
    kw_filter_store(&args, part, channel, slice, &filter, kw_lds);
}

KW_KERNEL(kw_stage1, KW_ADD_THREADS) {
    KW_LDS(KW_PARTS_BYTES);
    kw_begin();
    kw_parts_reduce(&args, kw_lds, (int)args.params.parts);
}

#endif

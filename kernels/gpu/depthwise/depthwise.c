/* depthwise.c: convolution with one channel a group and one to three spatial axes, in all directions: family conv.depthwise_block. A block
 * is one wave, of backward weight one or several.
 *
 * A plane is what one filter slides over: a channel of an image. A block computes a tile of KW_TILE_H x KW_TILE_W pixels of KW_BATCH
 * planes, as many of them at a time as its lanes hold: images of one channel (order=first) or neighbouring channels of one image
 * (order=last). What the tile reads of the source comes to shared memory once. A lane then walks over the source rows of its subtile, whose
 * sums it keeps in registers; a row that is read serves all taps.
 *
 *   direction    tile of                    source   a lane's sums
 *   forward      output pixels              x        of its pixels
 *   bwd_data     input pixels               y        of its pixels; subtiles are multiples of the stride: which taps reach a pixel is known
 *   bwd_weight   output pixels, many tiles  x        of the filter's taps; lanes are added at the end, blocks by a second kernel, in order
 *
 * One axis: rows of one pixel's height. Three: a tile lies in one slice of the depth, and forward and backward data go over the slices of
 * the source that meet it, one for each tap of the filter's depth; a block of backward weight has the taps of one slice of the filter. */
#include "gpu/depthwise/args.h"
#define KW_KERNEL_PARAMS kw_depthwise_block_params
#include "kw_config.h"
#include "gpu/lib/access.h"
#include "gpu/lib/resources.h"
#include "gpu/lib/parts.h"

/* --- lanes: each has a subtile of KW_LANE_PLANES planes --- */

typedef struct kw_wave_coord {
    int there;           /* false: a lane too many */
    int plane, row, col; /* its first plane of those at a time, and its first pixel in the tile */
} kw_wave_coord;

KW_DEVICE kw_wave_coord kw_wave_coord_of(int lane) {
    kw_wave_coord wave_coord;
    int sub = KW_FIRST ? lane % KW_SUBTILES : lane / KW_SUBTILE_LANES;
    wave_coord.plane = KW_FIRST ? lane / KW_SUBTILES : lane % KW_SUBTILE_LANES * KW_LANE_PLANES;
    wave_coord.there = KW_FIRST ? wave_coord.plane < KW_SUBTILE_LANES : sub < KW_SUBTILES;
    wave_coord.row = sub / KW_SUBS_W * KW_SUB_H;
    wave_coord.col = sub % KW_SUBS_W * KW_SUB_W;
    return wave_coord;
}

#define KW_LOW_H KW_LOW_OF(KW_EXTENT_H, KW_STRIDE_H, KW_PAD_H)
#define KW_READS(pixel, tap) KW_READS_OF(pixel, tap, KW_EXTENT, KW_STRIDE, KW_PAD)
#define KW_READS_H(pixel, tap) KW_READS_OF(pixel, tap, KW_EXTENT_H, KW_STRIDE_H, KW_PAD_H)
#define KW_SOURCE(pixel, tap) KW_SOURCE_OF(pixel, tap, KW_EXTENT, KW_STRIDE, KW_PAD)
#define KW_SOURCE_H(pixel, tap) KW_SOURCE_OF(pixel, tap, KW_EXTENT_H, KW_STRIDE_H, KW_PAD_H)
#define KW_RUN_WORDS(run) KW_CEIL((run)*KW_BYTES, 4)

/* Shared memory has plane, row, column (order=first) or row, column, plane. */
KW_DEVICE int kw_lds_element(int plane, int row, int col) {
    return KW_FIRST ? (plane * KW_SRC_H + row) * KW_ROW + col : (row * KW_SRC_W + col) * KW_PLANES + plane;
}

/* --- tiles in the tensors --- */

/* The first plane and the first pixel of a tile. */
typedef struct kw_position {
    kw_i64 image, channel;
    int depth, row, col;
} kw_position;

/* A tensor's pixels of a plane. */
typedef struct kw_image {
    int d, h, w;
} kw_image;

KW_DEVICE kw_image kw_image_in(const kw_gpu_args *a) {
    kw_image image = {(int)a->in[0], (int)a->in[1], (int)a->in[2]};
    return image;
}

KW_DEVICE kw_image kw_image_out(const kw_gpu_args *a) {
    kw_image image = {(int)a->out[0], (int)a->out[1], (int)a->out[2]};
    return image;
}

/* Number of an element in memory, plane counted from the place's, whose depth is one of the image's; false when there is none. */
KW_DEVICE int kw_element_of(const kw_gpu_args *a, kw_image size, kw_position at, int plane, int row, int col, kw_i64 *element) {
    kw_i64 image = at.image + (KW_FIRST ? plane : 0), channel = at.channel + (KW_FIRST ? 0 : plane);
    int there = image < a->n && channel < a->groups && (kw_u32)row < (kw_u32)size.h && (kw_u32)col < (kw_u32)size.w;
    int pixel = (at.depth * size.h + row) * size.w + col, pixels = size.d * size.h * size.w; /* at most 2^30 */
#if KW_FIRST
    *element = (image * a->groups + channel) * pixels + pixel;
#else
    *element = image * pixels * a->groups + channel + (int)((kw_u32)pixel * (kw_u32)a->groups);
#endif
    return there;
}

/* Of order=first: number of the first element of a plane's slice, counted from the place's; and how many elements there are from an image's
 * plane to the next one's. */
KW_DEVICE kw_i64 kw_slice_first(const kw_gpu_args *a, kw_image size, kw_position at, int plane) {
    return (((at.image + plane) * a->groups + at.channel) * size.d + at.depth) * (size.h * size.w);
}
KW_DEVICE kw_i64 kw_plane_step(const kw_gpu_args *a, kw_image size) { return a->groups * (size.d * size.h * size.w); }

/* Tiles are numbered along the width, the height, the depth, then by planes; there are less than 2^31. */
KW_DEVICE kw_position kw_position_of(const kw_gpu_args *a, kw_i64 tile, kw_i64 *rest) {
    kw_u32 number = (kw_u32)tile, tiles_w = (kw_u32)a->params.tiles_w, tiles_h = (kw_u32)a->params.tiles_h,
           tiles_d = (kw_u32)a->params.tiles_d;
    kw_position at;
    at.col = (int)(number % tiles_w) * KW_TILE_W;
    number /= tiles_w;
    at.row = (int)(number % tiles_h) * (KW_WALKS ? (int)a->params.rows : KW_TILE_H);
    number /= tiles_h;
    at.depth = (int)(number % tiles_d);
    *rest = (kw_i64)(number / tiles_d);
    return at;
}

/* The source's slice that a tap of the filter's depth brings to a slice of the tile; false when there is none. */
KW_DEVICE int kw_source_depth(const kw_gpu_args *a, int depth, int tap, int *source) {
    int d = KW_DATA ? depth + KW_PAD_D - tap : depth * KW_STRIDE_D - KW_PAD_D + tap;
    *source = KW_DATA ? d / KW_STRIDE_D : d;
    return d >= 0 && (!KW_DATA || d % KW_STRIDE_D == 0) && *source < (int)(KW_DATA ? a->out[0] : a->in[0]);
}

/* --- the source: global -> shared memory --- */

/* Runs of a row: of aligned columns around the source's, or of planes at each column. */
#define KW_ROW_RUNS                                                                                                                        \
    (KW_RUNS_WHOLE ? KW_CEIL(KW_SHIFT + KW_SRC_W, KW_IN_RUN)                                                                               \
     : KW_FIRST    ? (KW_SRC_W + 2 * KW_IN_RUN - 2) / KW_IN_RUN                                                                            \
                   : KW_SRC_W * (KW_PLANES / KW_IN_RUN))
#define KW_SRC_RUNS ((KW_FIRST ? KW_PLANES : 1) * KW_SRC_H * KW_ROW_RUNS)
#define KW_LANE_RUNS KW_CEIL(KW_SRC_RUNS, KW_WAVE)
/* Loads of a lane that are under way together, the same number each time. */
#define KW_LOADS_MOST (KW_RUNS_WHOLE && KW_IN_RUN * KW_BYTES < 16 ? 12 : 8)
#define KW_PREFETCH_LOADS KW_CEIL(KW_LANE_RUNS, KW_CEIL(KW_LANE_RUNS, KW_LOADS_MOST))

typedef struct kw_run_coord {
    int there, plane, row, col; /* col counts from the source's first, and may be before it */
} kw_run_coord;

/* left: first column of the source in its image. */
KW_DEVICE kw_run_coord kw_run_of(int run, int left) {
    kw_run_coord s;
    int in_row = run % KW_ROW_RUNS, row = run / KW_ROW_RUNS;
    s.there = run < KW_SRC_RUNS;
    s.row = row % KW_SRC_H;
    s.plane = KW_FIRST ? row / KW_SRC_H : in_row % (KW_PLANES / KW_IN_RUN) * KW_IN_RUN;
    s.col = KW_FIRST ? in_row * KW_IN_RUN - (left & (KW_IN_RUN - 1)) : in_row / (KW_PLANES / KW_IN_RUN);
    return s;
}

KW_DEVICE void kw_put_run(char *lds, kw_run_coord s, const kw_u32 *words) {
#if KW_FIRST
    KW_UNROLL
    for (int e = 0; e < KW_IN_RUN; e++) {
        char *to = lds + kw_lds_element(s.plane, s.row, s.col + e) * KW_BYTES;
        if ((kw_u32)(s.col + e) < (kw_u32)KW_SRC_W) {
#if KW_BYTES == 4
            *(kw_u32 *)to = words[e];
#else
            *(kw_u16 *)to = (kw_u16)(words[e / 2] >> e % 2 * 16);
#endif
        }
    }
#else
    kw_store_run(lds + kw_lds_element(s.plane, s.row, s.col) * KW_BYTES, words, KW_IN_RUN * KW_BYTES);
#endif
}

#if KW_COPIES
#define KW_COPIES_OF(h, w) KW_CEIL((h) * (w)*KW_PLANE_RUNS, KW_WAVE) /* that a lane makes */
#define KW_TILE_COPIES (KW_COPIES_OF(KW_SRC_H, KW_SRC_W) + (KW_WEIGHT ? KW_COPIES_OF(KW_TILE_H, KW_TILE_W) : 0))

/* Begins to copy h rows of w columns from a place on, all its planes; runs lie in shared memory as they are numbered. */
KW_DEVICE void kw_rows_copy(char *lds, const kw_gpu_args *a, const char *tensor, kw_image size, kw_position at, int h, int w) {
    int plane = kw_lane() % KW_PLANE_RUNS * KW_IN_RUN, first = kw_lane() / KW_PLANE_RUNS, groups = (int)a->groups;
    const char *slice = tensor + ((at.image * size.d + at.depth) * size.h * size.w * groups + at.channel + plane) * KW_BYTES;
    int there = at.channel + plane < groups;
    KW_UNROLL
    for (int i = 0; i < KW_COPIES_OF(h, w); i++) {
        int pixel = first + i * (KW_WAVE / KW_PLANE_RUNS), row = at.row + pixel / w, col = at.col + pixel % w;
        int ok = there && pixel < h * w && (kw_u32)row < (kw_u32)size.h && (kw_u32)col < (kw_u32)size.w;
        kw_async16(lds + i * KW_WAVE * 16, ok ? slice + (kw_i64)((row * size.w + col) * groups) * KW_BYTES : tensor, ok);
    }
}

/* Of the source of a tile; depth: its slice. */
KW_DEVICE void kw_source_copy(char *lds, const kw_gpu_args *a, kw_position at, int depth) {
    at.depth = depth;
    at.row = KW_MOVED_H(at.row) + KW_LOW_H;
    at.col = KW_MOVED(at.col) + KW_LOW;
    kw_rows_copy(lds, a, KW_DATA ? a->y : a->x, KW_DATA ? kw_image_out(a) : kw_image_in(a), at, KW_SRC_H, KW_SRC_W);
}

#define kw_wait_copied(younger)                                                                                                            \
    kw_async_wait(younger, KW_TILE_COPIES) /* until no copies are under way but those of so many younger tiles */
#elif KW_RUNS_WHOLE

/* depth: the source's slice. Runs lie in shared memory as they are numbered. */
KW_DEVICE void kw_source_load(char *lds, const kw_gpu_args *a, kw_position at, int depth) {
    kw_image size = KW_DATA ? kw_image_out(a) : kw_image_in(a);
    int top = KW_MOVED_H(at.row) + KW_LOW_H, left = KW_MOVED(at.col) + KW_LOW - KW_SHIFT,
        planes = (int)kw_min64(a->n - at.image, KW_PLANES);
    at.depth = depth;
    const char *from = (KW_DATA ? a->y : a->x) + kw_slice_first(a, size, at, 0) * KW_BYTES;
    kw_i64 step = KW_PLANES == 1 ? 0 : kw_plane_step(a, size);
    KW_ROLLED
    for (int first = kw_lane(); first < KW_SRC_RUNS; first += KW_PREFETCH_LOADS * KW_WAVE) {
        kw_u32 words[KW_PREFETCH_LOADS][KW_RUN_WORDS(KW_IN_RUN)];
        KW_UNROLL
        for (int i = 0; i < KW_PREFETCH_LOADS; i++) {
            int run = first + i * KW_WAVE, line = run / KW_ROW_RUNS, col = left + (run - line * KW_ROW_RUNS) * KW_IN_RUN;
            int plane = KW_PLANES == 1 ? 0 : line / KW_SRC_H, row = top + line - plane * KW_SRC_H;
            int ok = run < KW_SRC_RUNS && plane < planes && (kw_u32)row < (kw_u32)size.h && (kw_u32)col < (kw_u32)size.w;
            KW_UNROLL
            for (int w = 0; w < KW_RUN_WORDS(KW_IN_RUN); w++)
                words[i][w] = 0;
            if (ok) kw_load_run(words[i], from + (plane * step + row * size.w + col) * KW_BYTES, KW_IN_RUN * KW_BYTES);
        }
        KW_UNROLL
        for (int i = 0; i < KW_PREFETCH_LOADS; i++)
            if (first + i * KW_WAVE < KW_SRC_RUNS)
                kw_store_run(lds + (first + i * KW_WAVE) * (KW_IN_RUN * KW_BYTES), words[i], KW_IN_RUN * KW_BYTES);
    }
}

#else

/* depth: the source's slice. */
KW_DEVICE void kw_source_load(char *lds, const kw_gpu_args *a, kw_position at, int depth) {
    kw_image size = KW_DATA ? kw_image_out(a) : kw_image_in(a);
    const char *source = KW_DATA ? a->y : a->x;
    int top = KW_MOVED_H(at.row) + KW_LOW_H, left = KW_MOVED(at.col) + KW_LOW;
    at.depth = depth;
    for (int first = kw_lane(); first < KW_SRC_RUNS; first += KW_PREFETCH_LOADS * KW_WAVE) {
        kw_u32 words[KW_PREFETCH_LOADS][KW_RUN_WORDS(KW_IN_RUN)];
        int ok[KW_PREFETCH_LOADS];
        KW_UNROLL
        for (int i = 0; i < KW_PREFETCH_LOADS; i++) {
            kw_run_coord s = kw_run_of(first + i * KW_WAVE, left);
            kw_i64 element;
            ok[i] = kw_element_of(a, size, at, s.plane, top + s.row, left + s.col, &element) && s.there;
            kw_load_run(words[i], source + (ok[i] ? element : 0) * KW_BYTES, KW_IN_RUN * KW_BYTES);
        }
        KW_UNROLL
        for (int i = 0; i < KW_PREFETCH_LOADS; i++) {
            kw_run_coord s = kw_run_of(first + i * KW_WAVE, left);
            KW_UNROLL
            for (int w = 0; w < KW_RUN_WORDS(KW_IN_RUN); w++)
                words[i][w] = ok[i] ? words[i][w] : 0;
            if (s.there) kw_put_run(lds, s, words[i]);
        }
    }
}

#endif

/* --- shared memory -> registers --- */

typedef struct kw_source_row {
    float at[KW_READ_COLS][KW_LANE_PLANES];
} kw_source_row;

/* Source row number `row` of a lane's subtile. */
KW_DEVICE void kw_row_read(kw_source_row *r, const char *lds, kw_wave_coord wave_coord, int row) {
    int y = KW_MOVED_H(wave_coord.row) + row, x = KW_MOVED(wave_coord.col);
    kw_u32 words[KW_RUN_WORDS(KW_READ)];
    KW_UNROLL
    for (int i = 0; i < KW_READ_COLS * KW_LANE_PLANES; i += KW_READ) {
        int col = KW_FIRST ? i : i / KW_LANE_PLANES, plane = KW_FIRST ? 0 : i % KW_LANE_PLANES;
        kw_load_run(words, lds + kw_lds_element(wave_coord.plane + plane, y, x + KW_SHIFT - KW_SKIP + col) * KW_BYTES, KW_READ * KW_BYTES);
        KW_UNROLL
        for (int e = 0; e < KW_READ; e++)
            r->at[KW_FIRST ? col + e : col][KW_FIRST ? 0 : plane + e] = kw_value(words, e);
    }
}

typedef struct kw_pixels {
    float at[KW_SUB_H][KW_SUB_W][KW_LANE_PLANES];
} kw_pixels;

/* A slice of the filter. */
typedef struct kw_filter {
    float at[KW_FILTER_H][KW_FILTER][KW_LANE_PLANES];
} kw_filter;

/* Pixels and source meet in all taps of a subtile: pixels += source * filter, or filter += source * pixels for bwd_weight. */
KW_DEVICE void kw_subtile(kw_pixels *pixels, kw_filter *filter, const char *lds, kw_wave_coord wave_coord) {
    KW_UNROLL
    for (int row = 0; row < KW_SPAN_H; row++) {
        kw_source_row source;
        kw_row_read(&source, lds, wave_coord, row);
        KW_UNROLL
        for (int tap_row = 0; tap_row < KW_FILTER_H; tap_row++) {
            KW_UNROLL
            for (int y = 0; y < KW_SUB_H; y++) {
                if (!KW_READS_H(y, tap_row) || KW_SOURCE_H(y, tap_row) != row) continue;
                KW_UNROLL
                for (int tap = 0; tap < KW_FILTER; tap++) {
                    KW_UNROLL
                    for (int x = 0; x < KW_SUB_W; x++) {
                        KW_UNROLL
                        for (int p = 0; p < KW_LANE_PLANES; p++) {
                            if (!KW_READS(x, tap)) continue;
#if KW_WEIGHT
                            filter->at[tap_row][tap][p] += source.at[KW_SKIP + KW_SOURCE(x, tap)][p] * pixels->at[y][x][p];
#else
                            pixels->at[y][x][p] += source.at[KW_SKIP + KW_SOURCE(x, tap)][p] * filter->at[tap_row][tap][p];
#endif
                        }
                    }
                }
            }
        }
    }
}

KW_DEVICE void kw_pixels_clear(kw_pixels *pixels) {
    KW_UNROLL
    for (int i = 0; i < KW_SUB_H * KW_SUB_W * KW_LANE_PLANES; i++)
        pixels->at[i / KW_LANE_PLANES / KW_SUB_W][i / KW_LANE_PLANES % KW_SUB_W][i % KW_LANE_PLANES] = 0;
}

#if !KW_WEIGHT

/* --- forward and backward data --- */

#if KW_COPIES
/* Begins to copy the filters of a wave's planes, which lie together; read one by one, each lane's would be in lines of its own. */
KW_DEVICE void kw_filter_copy(char *lds, const kw_gpu_args *a, kw_i64 channel) {
    const int each = KW_FILTER_D * KW_TAPS * KW_BYTES;
    const char *from = a->w + channel * each;
    int bytes = (int)kw_min64(a->groups - channel, KW_PLANES) * each;
    KW_UNROLL
    for (int i = 0; i < KW_CEIL(KW_PLANES * each, 16 * KW_WAVE); i++) {
        int at = (i * KW_WAVE + kw_thread()) * 16;
        kw_async16(lds + i * KW_WAVE * 16, at < bytes ? from + at : a->w, at < bytes);
    }
}

/* A slice of those of a lane. */
KW_DEVICE void kw_filter_take(kw_filter *filter, const char *lds, kw_wave_coord wave_coord, int slice) {
    KW_UNROLL
    for (int p = 0; p < KW_LANE_PLANES; p++) {
        int from = ((wave_coord.plane + p) * KW_FILTER_D + slice) * KW_TAPS;
        KW_UNROLL
        for (int tap = 0; tap < KW_TAPS; tap++)
            filter->at[tap / KW_FILTER][tap % KW_FILTER][p] = kw_element(lds, from + tap);
    }
}
#else

KW_DEVICE void kw_filter_read(kw_filter *filter, const kw_gpu_args *a, kw_i64 channel, int slice) {
    KW_UNROLL
    for (int p = 0; p < KW_LANE_PLANES; p++) {
        kw_i64 from = (kw_min64(channel + p, a->groups - 1) * KW_FILTER_D + slice) * KW_TAPS; /* a channel too many is not stored */
        KW_UNROLL
        for (int tap = 0; tap < KW_TAPS; tap++)
            filter->at[tap / KW_FILTER][tap % KW_FILTER][p] = kw_element(a->w, from + tap);
    }
}
#endif

KW_DEVICE char *kw_result(const kw_gpu_args *a) { return KW_DATA ? a->x : a->y; }
KW_DEVICE kw_image kw_result_size(const kw_gpu_args *a) { return KW_DATA ? kw_image_in(a) : kw_image_out(a); }

#if KW_EPILOGUE
/* Of an element that kw_element_of() gives for a plane. */
KW_DEVICE kw_place kw_plane_place(const kw_gpu_args *a, kw_position at, int plane, kw_i64 element) {
    kw_place p = {element, at.channel + (KW_FIRST ? 0 : plane), 0, KW_FIRST};
#if KW_FIRST
    kw_image size = kw_result_size(a);
    p.row = element - ((at.image + plane) * (a->groups - 1) + at.channel) * (size.d * size.h * size.w);
#else
    p.row = element / a->groups;
#endif
    return p;
}
#endif

#if KW_OUT_STAGED

KW_DEVICE void kw_pixels_store(const kw_gpu_args *a, kw_position at, kw_wave_coord wave_coord, const kw_pixels *pixels, char *lds) {
    const int aligned = KW_TILE_W % KW_OUT_RUN == 0, runs = (KW_TILE_W + (aligned ? 0 : 2 * KW_OUT_RUN - 2)) / KW_OUT_RUN;
    kw_wave_barrier();
    KW_UNROLL
    for (int y = 0; y < KW_SUB_H; y++) {
        KW_UNROLL
        for (int x = 0; x < KW_SUB_W; x++) {
            int to = (wave_coord.plane * KW_TILE_H + wave_coord.row + y) * KW_TILE_W + wave_coord.col + x;
            if (!wave_coord.there || wave_coord.row + y >= KW_TILE_H || wave_coord.col + x >= KW_TILE_W) continue;
#if KW_EPILOGUE
            kw_i64 element;
            if (kw_element_of(a, kw_result_size(a), at, wave_coord.plane, at.row + wave_coord.row + y, at.col + wave_coord.col + x,
                              &element))
                kw_finish_run(lds + to * KW_OUT_BYTES, a, kw_plane_place(a, at, wave_coord.plane, element), &pixels->at[y][x][0], 1);
#else
            kw_store(lds, to, pixels->at[y][x][0]);
#endif
        }
    }
    kw_wave_barrier();
    for (int i = kw_thread(); i < KW_PLANES * KW_TILE_H * runs; i += KW_WAVE) {
        int row = i / runs % KW_TILE_H, plane = i / runs / KW_TILE_H, col = i % runs * KW_OUT_RUN - (at.col & (KW_OUT_RUN - 1));
        const char *from = lds + (plane * KW_TILE_H + row) * KW_TILE_W * KW_OUT_BYTES;
        kw_i64 element;
        if (!kw_element_of(a, kw_result_size(a), at, plane, at.row + row, at.col + col, &element)) continue;
        int whole = col >= 0 && col + KW_OUT_RUN <= KW_TILE_W;
        kw_u32 words[KW_RUN_WORDS(KW_OUT_RUN)];
        KW_UNROLL
        for (int e = 0; e < KW_OUT_RUN; e++) {
            if ((kw_u32)(col + e) >= (kw_u32)KW_TILE_W) continue; /* of the neighbouring tile */
            kw_u32 bits;
            kw_load_run(&bits, from + (col + e) * KW_OUT_BYTES, KW_OUT_BYTES);
            if (whole)
                words[e * KW_OUT_BYTES / 4] = (e * KW_OUT_BYTES % 4 ? words[e * KW_OUT_BYTES / 4] : 0) | bits << e * KW_OUT_BYTES % 4 * 8;
            else
                kw_store_run(kw_result(a) + (element + e) * KW_OUT_BYTES, &bits, KW_OUT_BYTES);
        }
        if (whole) kw_store_run(kw_result(a) + element * KW_OUT_BYTES, words, KW_OUT_RUN * KW_OUT_BYTES);
    }
}

#elif KW_FIRST

KW_DEVICE void kw_pixels_store(const kw_gpu_args *a, kw_position at, kw_wave_coord wave_coord, const kw_pixels *pixels, char *lds) {
    kw_image size = kw_result_size(a);
    int row = at.row + wave_coord.row, col = at.col + wave_coord.col;
    kw_i64 first = kw_slice_first(a, size, at, wave_coord.plane);
    if (!wave_coord.there || at.image + wave_coord.plane >= a->n) return;
    KW_UNROLL
    for (int y = 0; y < KW_SUB_H; y++) {
        KW_UNROLL
        for (int x = 0; x < KW_SUB_W; x += KW_OUT_RUN) {
            if (wave_coord.row + y >= KW_TILE_H || wave_coord.col + x >= KW_TILE_W || row + y >= size.h || col + x >= size.w) continue;
            kw_i64 element = first + ((row + y) * size.w + col + x);
#if KW_EPILOGUE
            kw_finish_run(kw_result(a) + element * KW_OUT_BYTES, a, kw_plane_place(a, at, wave_coord.plane, element), &pixels->at[y][x][0],
                          KW_OUT_RUN);
#else
            kw_store_result(kw_result(a) + element * KW_OUT_BYTES, &pixels->at[y][x][0], KW_OUT_RUN);
#endif
        }
    }
}

#else

KW_DEVICE void kw_pixels_store(const kw_gpu_args *a, kw_position at, kw_wave_coord wave_coord, const kw_pixels *pixels, char *lds) {
    KW_UNROLL
    for (int y = 0; y < KW_SUB_H; y++) {
        KW_UNROLL
        for (int x = 0; x < KW_SUB_W; x++) {
            if (!wave_coord.there || wave_coord.row + y >= KW_TILE_H || wave_coord.col + x >= KW_TILE_W) continue;
            KW_UNROLL
            for (int p = 0; p < KW_LANE_PLANES; p += KW_OUT_RUN) {
                kw_i64 element;
                if (kw_element_of(a, kw_result_size(a), at, wave_coord.plane + p, at.row + wave_coord.row + y, at.col + wave_coord.col + x,
                                  &element))
#if KW_EPILOGUE
                    kw_finish_run(kw_result(a) + element * KW_OUT_BYTES, a, kw_plane_place(a, at, wave_coord.plane + p, element),
                                  &pixels->at[y][x][p], KW_OUT_RUN);
#else
                    kw_store_result(kw_result(a) + element * KW_OUT_BYTES, &pixels->at[y][x][p], KW_OUT_RUN);
#endif
            }
        }
    }
}
#endif

KW_KERNEL(kw_stage0, KW_WAVE) {
    KW_LDS(KW_LDS_BYTES);
    kw_begin();
    kw_wave_coord wave_coord = kw_wave_coord_of(kw_lane());
    kw_i64 rest, blocks = KW_FIRST ? args.groups : KW_CEIL(args.groups, KW_BATCH);
    kw_position at = kw_position_of(&args, kw_block(), &rest);
    kw_u32 outer = (kw_u32)rest / (kw_u32)blocks; /* there are less than 2^31 tiles */
    at.channel = (rest - outer * blocks) * (KW_FIRST ? 1 : KW_BATCH);
    at.image = (kw_i64)outer * (KW_FIRST ? KW_BATCH : 1);
    kw_filter filter;
#if KW_FIRST && KW_FILTER_D == 1
    kw_filter_read(&filter, &args, at.channel, 0);
#endif
    for (int round = 0; round < KW_BATCH / KW_PLANES; round++) {
        kw_pixels pixels;
        if (at.image >= args.n || at.channel >= args.groups) break;
        kw_pixels_clear(&pixels);
#if KW_COPIES
        kw_filter_copy(kw_lds + KW_SRC_BYTES, &args, at.channel);
#endif
        KW_ROLLED
        for (int slice = 0; slice < KW_FILTER_D; slice++) {
            int depth;
            if (!kw_source_depth(&args, at.depth, slice, &depth)) continue;
            if (slice > 0) kw_wave_barrier();
#if KW_COPIES
            kw_source_copy(kw_lds, &args, at, depth);
            kw_async_commit();
            kw_wait_copied(0);
            kw_wave_barrier();
            kw_filter_take(&filter, kw_lds + KW_SRC_BYTES, wave_coord, slice);
#else
            kw_source_load(kw_lds, &args, at, depth);
#if !KW_FIRST || KW_FILTER_D > 1
            kw_filter_read(&filter, &args, at.channel + wave_coord.plane * !KW_FIRST, slice);
#endif
            kw_wave_barrier();
#endif
            if (wave_coord.there) kw_subtile(&pixels, &filter, kw_lds, wave_coord);
        }
        kw_pixels_store(&args, at, wave_coord, &pixels, kw_lds);
        kw_wave_barrier();
        if (KW_FIRST)
            at.image += KW_PLANES;
        else
            at.channel += KW_PLANES;
    }
}

#else
#include "gpu/depthwise/weight.h"
#endif

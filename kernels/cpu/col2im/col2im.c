/* col2im.c: backward data into few channels, as into a network's first layer. A source pixel's channels times the weights of a whole
 * filter slice give all that the pixel adds to the destinations under the filter; so vectors are full where a destination has fewer
 * channels than a vector has lanes. The columns of a filter row and the channels lie side by side both there and in the destination, so
 * the sums are added in runs of filter_w * c.
 *
 * A unit is one image, group, destination slice and band of its rows. It adds into fp32 sums of the band, which have room for columns
 * beside the image, so that only rows are tested, and writes the band once: its order of additions is fixed, and no two units write the
 * same. Source rows near a band's edge are multiplied for both bands. */
#include "cpu/col2im/args.h"
#define KW_KERNEL_PARAMS kw_col2im_params
#include "kw_config.h"

#include "cpu/lib/register_tile.h"

/* Bytes from a pixel of y, of x, to the next of its row, and from a row to the next; where a row begins. */
#if KW_APART
#include "cpu/lib/apart.h"
#define FROM_PIXEL(a) (a)->y_step[KW_TO_COLUMN] * KW_BYTES
#define FROM_ROW(a, n, slice, row, group) (kw_apart((a)->y_step, n, slice, row, 0) + (group) * (a)->k)
#define TO_PIXEL(a) (a)->x_step[KW_TO_COLUMN]
#define TO_STEP(a) (a)->x_step[KW_TO_ROW]
#define TO_ROW(a, first, n, slice, row, group) (kw_apart((a)->x_step, n, slice, row, 0) + (group) * (a)->c)
#define GAPLESS(a) ((a)->groups == 1 && TO_PIXEL(a) == (a)->c)
#else
#define FROM_PIXEL(a) (a)->k *(a)->groups *KW_BYTES
#define FROM_ROW(a, n, slice, row, group) ((((n) * (a)->out[0] + slice) * (a)->out[1] + row) * width * (a)->groups + group) * (a)->k
#define TO_PIXEL(a) (a)->groups *(a)->c
#define TO_STEP(a) (a)->in[2] * (a)->groups *(a)->c
#define TO_ROW(a, first, n, slice, row, group) ((first) * (a)->groups + group) * (a)->c
#define GAPLESS(a) (a)->groups == 1
#endif

/* How the sums of a tile's pixels add up over a run of count columns. Neighbouring pixels reach into each other's destinations, and
 * adding pixel after pixel would read each time what has only just been written; so a vector of destinations is read once, gets its share
 * of every pixel that reaches it, and is written once. A pattern is the same for all filter rows, tiles and units. */
typedef struct share {
    kw_i64 from;         /* bytes from the run's first sum of the tile's first pixel on */
    int lanes[KW_LANES]; /* all ones where the pixel reaches, else 0 */
} share;

typedef struct target {
    kw_i64 to, shares; /* a vector from destination number to on; so many shares of the pattern's list */
} target;

typedef struct pattern {
    kw_i64 count, targets;
    target *target;
    share *share;
} pattern;

/* A part of a filter row within a block of columns: a tile's sums from byte from on are added to those at to. */
typedef struct piece {
    kw_i64 from;
    float *to;
    const pattern *pattern;
} piece;

KW_STATIC_ASSERT(sizeof(share) == KW_COL2IM_SHARE_BYTES(KW_LANES) && sizeof(target) == KW_COL2IM_TARGET_BYTES, "launch() counts on it");
KW_STATIC_ASSERT(sizeof(pattern) <= KW_COL2IM_PATTERN_BYTES && sizeof(piece) == KW_COL2IM_PIECE_BYTES, "launch() counts on it");

typedef struct band {
    kw_i64 n, group, slice, first, end; /* rows first..end-1 */
} band;

static kw_i64 ceil_div(kw_i64 count, kw_i64 step) { return (count + step - 1) / step; }
static kw_i64 run_of(const kw_kernel_args *a) { return a->filter[2] * a->c; }
static kw_i64 blocks_of(const kw_kernel_args *a) { return ceil_div(a->filter[1] * run_of(a), KW_BLOCK); }
static kw_i64 block_bytes(const kw_kernel_args *a) { return ceil_div(a->k, KW_PAIR) * KW_STEP_BYTES; }

static band band_of(const kw_kernel_args *a, kw_i64 unit) {
    band b = {.first = unit % a->params.bands * a->params.rows};
    b.end = kw_min(b.first + a->params.rows, a->in[1]);
    unit /= a->params.bands;
    b.slice = unit % a->in[0];
    unit /= a->in[0];
    b.group = unit % a->groups;
    b.n = unit / a->groups;
    return b;
}

/* Packed order: group, depth tap, block of columns (filter row, filter column, channel), steps. */
static void own_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_i64 blocks = blocks_of(a), columns = a->filter[1] * run_of(a), pixel = a->filter[0] * columns;
    (void)thread_memory;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 first = unit % blocks * KW_BLOCK, tap = unit / blocks % a->filter[0], group = unit / blocks / a->filter[0];
        const char *w = a->w + (group * a->k * pixel + tap * columns + first) * KW_BYTES;
        kw_pack_run(a, a->packed + unit * block_bytes(a), w, a->k, pixel, columns - first, 1);
    }
}

/* Where a pattern's lists may begin behind another's. */
static kw_i64 shares_most(const kw_kernel_args *a) { return KW_COL2IM_SHARES(KW_TILE_COLS, run_of(a), KW_LANES); }

static void make_pattern(const kw_kernel_args *a, pattern *made, kw_i64 count) {
    kw_i64 step = a->stride[2] * a->c, reached = (KW_TILE_COLS - 1) * step + count, shares = 0;
    made->count = count;
    made->targets = 0;
    for (kw_i64 to = 0; to < reached; to += KW_LANES) {
        target t = {.to = to};
        for (kw_i64 m = 0; m < KW_TILE_COLS; m++) {
            kw_i64 first = m * step - to;
            if (first >= KW_LANES || first + count <= 0) continue;
            share *s = &made->share[shares++];
            s->from = m * KW_STEP_BYTES - first * 4;
            for (kw_i64 lane = 0; lane < KW_LANES; lane++)
                s->lanes[lane] = -(lane >= first && lane < first + count);
            t.shares++;
        }
        if (t.shares) made->target[made->targets++] = t;
    }
}

/* A pattern for each count of columns that a piece can have: whole filter rows, and what the two ends of each block leave of them. */
static void make_patterns(const kw_kernel_args *a, char *memory) {
    pattern *list = (pattern *)(memory + a->params.patterns_at);
    kw_i64 run = run_of(a), all = a->filter[1] * run, most = shares_most(a), made = 0;
    char *room = (char *)(list + KW_COL2IM_PATTERNS(blocks_of(a)));
    for (kw_i64 at = 0, end; at < all; at = end) {
        end = kw_min(kw_min((at / run + 1) * run, (at / KW_BLOCK + 1) * KW_BLOCK), all);
        kw_i64 same = 0;
        while (same < made && list[same].count != end - at)
            same++;
        if (same < made) continue;
        list[made].target = (target *)room;
        list[made].share = (share *)(list[made].target + most);
        room = (char *)(list[made].share + most);
        make_pattern(a, &list[made++], end - at);
    }
}

/* Lists what source row p adds to the band from a block of columns; gives the number of pieces. */
static kw_i64 list_pieces(const kw_kernel_args *a, const band *b, kw_i64 p, kw_i64 block, char *memory, piece *list) {
    float *sums = (float *)(memory + a->params.sums_at);
    kw_i64 run = run_of(a), count = 0, low = block * KW_BLOCK, high = kw_min(low + KW_BLOCK, a->filter[1] * run);
    for (kw_i64 at = low, end; at < high; at = end) {
        kw_i64 tap = at / run, row = p * a->stride[1] - a->pad[1] + tap * a->dilation[1];
        end = kw_min((tap + 1) * run, high);
        if (row < b->first || row >= b->end) continue;
        const pattern *pattern = (const struct pattern *)(memory + a->params.patterns_at);
        while (pattern->count != end - at)
            pattern++;
        float *to = sums + (row - b->first) * a->params.row + a->params.left - a->pad[2] * a->c + at % run;
        list[count++] = (piece){(at - low) * 4, to, pattern};
    }
    return count;
}

/* Adds a tile's sums; at: from a row's first destination to the tile's first. */
static void add_tile(const piece *list, kw_i64 pieces, const char *sums, kw_i64 at) {
    for (const piece *p = list; p < list + pieces; p++) {
        const share *s = p->pattern->share;
        for (const target *t = p->pattern->target, *end = t + p->pattern->targets; t < end; t++) {
            float *to = p->to + at + t->to;
            kw_vf sum = kw_load(to);
            for (const share *last = s + t->shares; s < last; s++)
                sum += (kw_vf)(*(const kw_vu_u *)(sums + p->from + s->from) & *(const kw_vu_u *)s->lanes);
            kw_put(to, sum);
        }
    }
}

/* What one source row adds to the band. */
static void add_row(const kw_kernel_args *a, const band *b, kw_i64 tap, kw_i64 source_slice, kw_i64 p, char *memory) {
    kw_i64 blocks = blocks_of(a), pixel = a->params.pixel, width = a->out[2], pitch = FROM_PIXEL(a);
    piece *list = (piece *)(memory + KW_COL2IM_PIECES_AT(KW_SPILL_BYTES, KW_LANES));
    kw_run whole = {0};
    kw_tile_job job = {.runs = &whole, .run_count = 1, .steps = ceil_div(a->k, KW_PAIR), .src_pixel = pixel, .spill = memory};
    const char *from = a->y + FROM_ROW(a, b->n, source_slice, p, b->group) * KW_BYTES;
    int copied = 0;
    for (kw_i64 block = 0; block < blocks; block++) {
        kw_i64 pieces = list_pieces(a, b, p, block, memory, list);
        if (!pieces) continue;
        if (!copied) {
            for (kw_i64 q = 0; q < width; q++)
                kw_copy(memory + a->params.copy_at + q * pixel, from + q * pitch, a->k, pixel);
            copied = 1;
        }
        job.w = a->packed + ((b->group * a->filter[0] + tap) * blocks + block) * block_bytes(a);
        for (kw_i64 q = 0; q < width; q += KW_TILE_COLS) {
            job.src = memory + a->params.copy_at + q * pixel;
            job.ahead_step = KW_TILE_PIXELS * 4;
#if KW_APART
            job.ahead = from + a->y_step[KW_TO_ROW] * KW_BYTES + q * pitch;
#else
            job.ahead = from + (width + q) * pitch; /* the next row's */
#endif
            kw_tile(&job);
            if (width - q < KW_TILE_COLS) kw_zero(memory + (width - q) * KW_STEP_BYTES, (KW_TILE_COLS - width + q) * KW_STEP_BYTES);
            add_tile(list, pieces, memory, q * a->stride[2] * a->c);
        }
    }
}

static void write_band(const kw_kernel_args *a, const band *b, const float *sums) {
    kw_i64 pixels = a->in[2], channels = a->c;
    kw_i64 first = ((b->n * a->in[0] + b->slice) * a->in[1] + b->first) * a->in[2];
    char *to = a->x + TO_ROW(a, first, b->n, b->slice, b->first, b->group) * KW_OUT_BYTES;
    if (GAPLESS(a) && !KW_EPILOGUE_PLACED) { /* the whole row in one go */
        channels *= pixels;
        pixels = 1;
    }
    for (kw_i64 row = b->first; row < b->end; row++, sums += a->params.row, to += TO_STEP(a) * KW_OUT_BYTES) {
        for (kw_i64 i = 0; i < pixels; i++) {
            const float *from = sums + a->params.left + i * a->c;
            char *at = to + i * TO_PIXEL(a) * KW_OUT_BYTES;
            kw_i64 left = channels;
            kw_place place = kw_place_at(a, a->x, b->group * a->c, first + (row - b->first) * a->in[2] + i);
            for (; left >= KW_LANES; left -= KW_LANES, from += KW_LANES, at += KW_LANES * KW_OUT_BYTES) {
                kw_result_x(at, kw_load(from), place);
                place = kw_place_moved(place, KW_LANES, 0, 0);
            }
#if KW_EPILOGUE /* sums have room behind them */
            if (left > 0) kw_result_lanes(at, kw_load(from), kw_place_lanes(place, 0, left));
#elif KW_APART
            if (left > 0) kw_store_tail(at, kw_load(from), left);
#else
            for (; left > 0; left--, at += KW_BYTES)
                kw_store_1(at, *from++);
#endif
        }
    }
}

static void own_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    char *memory = thread_memory;
    float *sums = (float *)(memory + a->params.sums_at);
    make_patterns(a, memory);
    for (kw_i64 unit = begin; unit < end; unit++) {
        band b = band_of(a, unit);
        kw_zero((char *)sums, (b.end - b.first) * a->params.row * 4);
        kw_i64 reach = (a->filter[1] - 1) * a->dilation[1], low = b.first + a->pad[1] - reach;
        kw_i64 first = low > 0 ? ceil_div(low, a->stride[1]) : 0, last = kw_min((b.end - 1 + a->pad[1]) / a->stride[1], a->out[1] - 1);
        for (kw_i64 tap = 0; tap < a->filter[0]; tap++) {
            kw_i64 at = b.slice + a->pad[0] - tap * a->dilation[0];
            if (at < 0 || at % a->stride[0] || at / a->stride[0] >= a->out[0]) continue;
            for (kw_i64 p = first; p <= last; p++)
                add_row(a, &b, tap, at / a->stride[0], p, memory);
        }
        write_band(a, &b, sums);
    }
}

#include "cpu/lib/reorder.h"

/* direct.c: convolution by tiles straight over a zero-padded copy of the rows that a unit needs; forward and backward data alike, by way
 * of walks (prelude/cpu.h). Families conv.direct, conv.direct_1st (KW_MERGE: the columns of a filter row and the channels are one run),
 * conv.interleaved (KW_WAYS: direct_ways.h) and conv.any_groups (KW_TILE_OWN: a unit's result channels are one vector, whatever groups they
 * are of, and its copy is own_lanes.h's). KW_COLUMNS: tile registers of few channels have the columns of a filter row as channels, of a copy
 * with a pixel for each result column (direct_columns.h).
 *
 * A unit is one image, group, walk of each axis, depth, block of output rows and columns, and part of the output channels. Its copy, which
 * the walks of rows and columns have in common, is dense in memory at the type the tile reads, so the tile needs no test for edges:
 * columns are padded with zeros, rows outside the image are left out of the run table (with tiles of one row) or are rows of zeros. The
 * copy costs little because every output channel reads it.
 *
 * Where a tile leaves out what it lacks and what is padding to a tap (KW_TILE_SKIP), padding is not copied, and a row's columns are shared
 * out evenly: 25 are 13 and 12, or 9, 8 and 8. Columns that read padding alone have tiles of their own.
 *
 * Where params.flow, a tile's pixels go on in the next row: the copy has all rows, side by side, so that pixel m of a block, counted by copied
 * pixels, reads from m on whatever row it is of. The pixels between two rows are summed for nothing and left out of the results. Of a strided
 * convolution the copy then has a plane for each place of a row and of a column modulo the stride (plane_bytes()): a tap reads one of them,
 * in which its pixels are neighbours.
 *
 * Of merged columns what the tiles at both ends of a row read may be all that is copied (direct_edges.h).
 *
 * Where no padding is read, elements are what the tile reads or signed bytes and pixels lie well, there is no copy (in_place()).
 *
 * The taps of a filter row whose pixels lie side by side are one run to the tiles that read no padding by them (join_runs()).
 * Where much of a tile reads padding, its taps sum intervals of pixels (direct_intervals.h).
 *
 * Loops over the three axes keep the text short, which is what its compile time depends on. */
#include "cpu/direct/args.h"
#define KW_KERNEL_PARAMS kw_direct_params
#include "kw_config.h"

/* A text that can read the tensor where it lies. */
#ifndef KW_WAYS
#define KW_WAYS 0
#endif
#define KW_IN_PLACE (!KW_TILE_OWN && KW_MATH != 3 && !KW_WAYS)
#define KW_TILE_FAR (!KW_TILE_OWN)
/* A text that may copy the ends of rows alone (direct_edges.h). */
#define KW_COPIES_EDGES (KW_MERGE && KW_IN_PLACE && KW_MATH == 0 && !KW_HEADED && KW_WORD == KW_BYTES)
#define KW_TILE_REPEATS KW_COPIES_EDGES
#define KW_TILE_JOINS (!KW_TILE_OWN && !KW_MERGE && KW_MATH != 3)
#include "cpu/lib/tile.h"
/* Tiles that sum intervals (direct_intervals.h), which problems of much padding want: a quarter of the compile. */
#ifdef KW_PADDED
#define KW_TILE_INTERVALS (!KW_HEADED)
#else
#define KW_TILE_INTERVALS 0
#endif
#if KW_TILE_SKIP && !KW_HEADED
#define KW_READS_PADDING (KW_TILE_GROUP > 1) /* 0: tiles leave out all that is none of the image */
#else
#define KW_READS_PADDING 1
#endif
#if KW_TILE_OWN
#define KW_COPY_OPTIONS KW_BY_REGIONS
#include "cpu/lib/own_lanes.h"
#else
#define KW_COPY_OPTIONS
#endif

KW_STATIC_ASSERT(sizeof(kw_run) <= KW_DIRECT_RUN_BYTES, "launch() counts on it");

#include "cpu/direct/direct_columns.h"
#include "cpu/direct/direct_tensors.h"

static kw_i64 block_size(const kw_kernel_args *a, int axis) { return axis ? a->params.block[axis - 1] : 1; }
static int flows(const kw_kernel_args *a) { return KW_MATH == 3 && a->params.flow; }
static int in_planes(const kw_kernel_args *a) { return !KW_BACKWARD && flows(a) && a->stride[1] * a->stride[2] > 1; }
static int in_place(const kw_kernel_args *a) { return KW_IN_PLACE && !a->params.copy_at; }
static kw_i64 plane_bytes(const kw_kernel_args *a) { return a->params.slice / (a->stride[1] * a->stride[2]); }

static kw_i64 ceil_div(kw_i64 count, kw_i64 step) { return (count + step - 1) / step; }

/* Elements of a run. */
static kw_i64 elements_of(const kw_kernel_args *a) { return SRC_CHANNELS(a) * (KW_MERGE ? a->filter[2] : 1); }
static kw_i64 steps_of(const kw_kernel_args *a) { return KW_MATH == 3 ? a->params.steps : kw_run_steps(elements_of(a)); }
static kw_i64 run_bytes(const kw_kernel_args *a) { return KW_HEAD_BYTES + steps_of(a) * KW_STEP_BYTES; }
static kw_i64 taps_of(const kw_kernel_args *a) { return a->filter[0] * a->filter[1] * a->filter[2]; }
static kw_i64 block_bytes(const kw_kernel_args *a) { return taps_of(a) / (KW_MERGE ? a->filter[2] : 1) * run_bytes(a); }

/* What units and packed weights count by, groups or vectors of result channels; of each: blocks of result channels, the first result
 * channel, and how many there are from that on. */
#if KW_TILE_OWN
#define KW_RESULTS KW_BLOCK
static kw_i64 shares_of(const kw_kernel_args *a) { return ceil_div(a->groups * DST_CHANNELS(a), KW_LANES); }
static kw_i64 blocks_of(const kw_kernel_args *a) { return (void)a, 1; }
static kw_i64 first_result(const kw_kernel_args *a, kw_i64 share) { return (void)a, share * KW_LANES; }
static kw_i64 results_from(const kw_kernel_args *a, kw_i64 share) { return a->groups * DST_CHANNELS(a) - share * KW_LANES; }
#else
#define KW_RESULTS (KW_WAYS ? KW_BLOCK / (KW_WAYS + !KW_WAYS) : KW_BLOCK) /* of a group in a block */
static kw_i64 groups_of_share(const kw_kernel_args *a) { return !KW_WAYS ? together(a) : a->params.way_rows ? 1 : KW_WAYS; }
static kw_i64 shares_of(const kw_kernel_args *a) { return ceil_div(groups_of(a), groups_of_share(a)); }
static kw_i64 blocks_of(const kw_kernel_args *a) { return ceil_div(DST_CHANNELS(a), KW_RESULTS); }
static kw_i64 first_result(const kw_kernel_args *a, kw_i64 share) { return share * groups_of_share(a) * DST_CHANNELS(a); }
static kw_i64 results_from(const kw_kernel_args *a, kw_i64 share) { return (void)share, DST_CHANNELS(a); }
#endif

#include "cpu/direct/direct_walks.h"
#include "cpu/direct/direct_edges.h"

typedef struct block {
    kw_i64 n, share, part; /* n: the first image */
    kw_i64 first_run;      /* runs of the walks before these, in packed order */
    side axis[3];
} block;

static kw_i64 take(kw_i64 *unit, kw_i64 count) {
    kw_i64 rest = *unit % count;
    *unit /= count;
    return rest;
}

static kw_i64 walks_of_a_copy(const kw_kernel_args *a) { return walks_of(a, 1) * walks_of(a, 2); }

/* Groups follow each other block by block, for lines of memory have channels of several; walks of rows and columns do too, so that threads whose units
 * are neighbours have as much to do as each other however unequal the walks' taps are. false when the block is beyond the end of a walk. */
static int block_of(block *b, const kw_kernel_args *a, walks *kept, kw_i64 unit) {
    kw_i64 later_taps = 1, phase[3], number[3];
    int good = 1;
    for (int axis = 2; axis > 0; axis--)
        phase[axis] = take(&unit, walks_of(a, axis));
    b->part = take(&unit, a->params.parts);
    b->share = take(&unit, shares_of(a));
    for (int axis = 2; axis >= 0; axis--)
        number[axis] = take(&unit, ceil_div(pixels_of(a, axis), block_size(a, axis)));
    phase[0] = take(&unit, walks_of(a, 0));
    b->n = unit * images_together(a);
    b->first_run = 0;
    for (int axis = 2; axis >= 0; axis--) {
        united room;
        const united *u = united_of(kept, a, axis, phase[axis], number[axis], &room);
        b->axis[axis] = u->side;
        good &= u->side.count > 0;
        b->first_run = u->before * later_taps + u->side.walk.taps * b->first_run;
        later_taps *= u->taps;
    }
    return good;
}

static kw_i64 images_of_unit(const kw_kernel_args *a, const block *b) { return kw_min(images_together(a), a->n - b->n); }

/* Groups that have the block's copy in common. */
static kw_i64 groups_of_unit(const kw_kernel_args *a, const block *b) {
    return KW_TOGETHER ? kw_min(together(a), groups_of(a) - b->share * together(a)) : 1;
}

/* The tap of a filter row whose weights are packed at place `number`: taps go by source columns, so that neighbours in the source have
 * neighbouring weights. */
KW_INLINE kw_i64 tap_in_turn(kw_i64 number, kw_i64 taps) { return KW_BACKWARD ? taps - 1 - number : number; }

#if KW_WAYS
enum { WAY_BLOCK = KW_BLOCK / KW_WAYS }; /* results of a way in a block */
#endif
#include "cpu/direct/direct_pack.h"

#if KW_TILE_OWN
typedef kw_own reader;
static reader reader_of(const kw_kernel_args *a, const block *b) { return kw_own_of(a, b->share, DST_CHANNELS(a), SRC_CHANNELS(a)); }

/* A pixel's channels, for bf16 pairs two at a time; the last one of an odd number has a zero as its partner. The last step of int8 may have
 * bytes of a next group, which meet weights of zero; where the tensor ends it is taken from a copy. */
static KW_COPY_OPTIONS void copy_pixel(const reader *r, const char *from, char *to, const char *end) {
#if KW_STORAGE == 3
    kw_i64 steps = ceil_div(r->channels, KW_PAIR), whole = r->channels / KW_PAIR;
    if (from + r->span + steps * KW_PAIR <= end) {
        kw_own_copy(to, r, from, 0, steps, KW_OWN_WORDS, end);
    } else {
        char last[KW_LANES * KW_OWN_CHANNELS + KW_PAIR];
        for (kw_i64 i = 0; i < r->span + steps * KW_PAIR; i++)
            last[i] = i < r->span + r->channels ? from[i] : 0;
        if (whole) kw_own_copy(to, r, from, 0, whole, KW_OWN_WORDS, end);
        kw_own_copy(to + whole * KW_VECTOR, r, last + whole * KW_PAIR, 0, 1, KW_OWN_WORDS, end);
    }
#elif KW_DP
    kw_i64 pairs = r->channels / 2;
    if (pairs) kw_own_copy(to, r, from, 0, pairs, KW_OWN_WORDS, end);
    if (r->channels % 2) kw_own_copy(to + pairs * KW_VECTOR, r, from + pairs * 4, 0, 1, KW_OWN_VALUES, end);
#else
    kw_own_copy(to, r, from, 0, r->channels, KW_OWN_VALUES, end);
#endif
}
#elif !KW_WAYS
/* The first group of a unit, and the channels of all, which lie side by side. */
typedef struct reader {
    kw_i64 first, channels;
} reader;
static reader reader_of(const kw_kernel_args *a, const block *b) {
    return (reader){b->share * together(a), groups_of_unit(a, b) * SRC_CHANNELS(a)};
}
#endif

/* Where copied row y and column x begin, counted from the first ones. */
static kw_i64 copied_at(const kw_kernel_args *a, kw_i64 y, kw_i64 x) {
    const kw_i64 *step = a->stride;
    if (!in_planes(a)) return y * a->params.row + x * a->params.pixel;
    return (y % step[1] * step[2] + x % step[2]) * plane_bytes(a) + y / step[1] * a->params.row + x / step[2] * a->params.pixel;
}

/* Whether depth tap number t of the block reads inside the image; slice gets where. */
static int slice_of(const kw_kernel_args *a, const block *b, kw_i64 t, kw_i64 *slice) {
    const side *z = &b->axis[0];
    *slice = z->walk.src_start + z->at * z->walk.src_step + t * z->walk.tap_src_step;
    return *slice >= 0 && *slice < SRC_SIZE(a)[0];
}

#if KW_WAYS
#include "cpu/direct/direct_ways.h"
#else
/* Copies the columns low..high-1 that are read. */
static void copy_places(const kw_kernel_args *a, const kw_walk *w, kw_i64 channels, kw_i64 low, kw_i64 high, const char *from, char *to) {
    unsigned long long places = places_read(w);
    kw_i64 pixel = a->params.pixel, pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), place = place_of(w, low);
    for (; low < high; low++, to += pixel, from += pitch, place = place + 1 == w->src_step ? 0 : place + 1) {
        if (places >> (place & 63) & 1) kw_copy(to, from, channels, pixel);
    }
}

/* So many pixels, which lie pitch apart. spare: a vector behind them in the copy is written later, by the next row. */
static void copy_pixels(char *to, kw_i64 pixel, const char *from, kw_i64 pitch, kw_i64 channels, kw_i64 count, int spare) {
#if KW_COPIES_NARROW
    if (spare) {
        kw_copy_vectors(to, pixel, from, pitch, channels, count);
        return;
    }
#endif
    (void)spare;
    for (kw_i64 i = kw_copy_narrow(to, pixel, from, pitch, channels, count); i < count; i++)
        kw_copy(to + i * pixel, from + i * pitch, channels, pixel);
}

#if KW_COLUMNS
/* The result columns of a block: of each what its filter row reads of a source row (0: one outside the image), side by side. Where that is
 * padding, or pixels do not follow each other, what all columns read is put together first, in front of the copy. spare: the row behind this one
 * is written later. */
static void copy_columns(const kw_kernel_args *a, const side *x, const char *row, char *to, char *copy, int spare) {
    const kw_kernel_args *given = given_of(a);
    kw_i64 step = given->stride[2], pixel = a->params.pixel, pitch = SRC_PIXEL(given, given->c), bytes = given->c * KW_WORD;
    kw_i64 count = kw_min(x->high, a->out[2]) - x->low, behind = (x->high - x->low - count) * pixel;
    kw_i64 first = x->low * step - given->pad[2], last = first + (count - 1) * step + given->filter[2];
    if (!row) {
        kw_pad(a, to, (x->high - x->low) * pixel);
        return;
    }
    const char *from = row + first * pitch;
    if (first < 0 || last > given->in[2] || pitch != bytes) {
        kw_i64 low = kw_min(kw_max(first, 0), last), high = kw_max(kw_min(last, given->in[2]), low);
        char *side_by_side = copy - KW_DIRECT_COLUMNS_BYTES(a->params.block[1], step, given->filter[2], bytes);
        from = side_by_side;
        kw_pad(a, side_by_side, (low - first) * bytes);
        kw_pad(a, side_by_side + (high - first) * bytes, (last - high) * bytes);
        side_by_side += (low - first) * bytes;
        if (pitch == bytes && high > low) kw_copy(side_by_side, row + low * pitch, (high - low) * given->c, (high - low) * bytes);
        for (; pitch != bytes && low < high; low++, side_by_side += bytes)
            kw_copy(side_by_side, row + low * pitch, given->c, bytes);
    }
    copy_pixels(to, pixel, from, step * bytes, a->c, count, spare);
    if (behind) kw_pad(a, to + count * pixel, behind);
}
#endif

/* Where a row's columns of one place are in the copy and in the tensor, and how many bytes are padding before and behind so many pixels. */
typedef struct plane_part {
    kw_i64 to, from, before, behind, inside;
} plane_part;
enum { PLANES_AT_ONCE = 8 };

/* Of the places from first on that are read. Gives how many. */
static __attribute__((unused)) int list_planes(plane_part *part, const kw_kernel_args *a, const side *x, kw_i64 first) {
    kw_i64 pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), pixel = a->params.pixel, step = x->walk.src_step;
    unsigned long long places = places_read(&x->walk);
    int listed = 0;
    for (kw_i64 place = first; place < kw_min(first + PLANES_AT_ONCE, step); place++) {
        if (!(places >> (place & 63) & 1)) continue;
        kw_i64 column = x->low + place, count = kw_max(ceil_div(x->high - column, step), 0);
        kw_i64 before = kw_min(kw_max(ceil_div(-column, step), 0), count); /* columns outside */
        kw_i64 inside = kw_max(kw_min(ceil_div(SRC_SIZE(a)[2] - column, step), count) - before, 0);
        part[listed++] = (plane_part){.to = place * plane_bytes(a),
                                      .from = (column + before * step) * pitch,
                                      .before = before * pixel,
                                      .behind = (count - before - inside) * pixel,
                                      .inside = inside};
    }
    return listed;
}

/* copy_row() into the planes of its columns; from: 0 of a row outside the image. */
static __attribute__((unused)) void copy_in_planes(const kw_kernel_args *a, const plane_part *part, int parts, const reader *r, kw_i64 step,
                                                   const char *from, char *to, int spare) {
    kw_i64 pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), pixel = a->params.pixel;
    for (const plane_part *end = part + parts; part < end; part++) {
        char *at = to + part->to, *behind = at + part->before + part->inside * pixel;
        if (!from) {
            kw_pad(a, at, behind - at + part->behind);
            continue;
        }
        if (part->before) kw_pad(a, at, part->before);
        copy_pixels(at + part->before, pixel, from + part->from, step * pitch, r->channels, part->inside, spare);
        if (part->behind) kw_pad(a, behind, part->behind);
    }
}

/* spare: the row behind this one is written later. */
static KW_COPY_OPTIONS void copy_row(const kw_kernel_args *a, const side *x, const reader *r, const char *from, char *to, int spare) {
    kw_i64 channels = r->channels, pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), pixel = a->params.pixel;
    kw_i64 low = kw_min(kw_max(x->low, 0), x->high), high = kw_max(kw_min(x->high, SRC_SIZE(a)[2]), low);
    char *behind = to + (high - x->low) * pixel;
    if (KW_READS_PADDING) {
        kw_pad(a, to, (low - x->low) * pixel);
        kw_pad(a, behind, (x->high - high) * pixel);
    }
    to += (low - x->low) * pixel;
    from += low * pitch;
    (void)spare, (void)behind;
#if KW_TILE_OWN
    const kw_i64 *size = SRC_SIZE(a);
    const char *end = SRC(a) + SRC_SPAN(a, size, pitch);
    for (; low < high; low++, to += pixel, from += pitch)
        copy_pixel(r, from, to, end);
    return;
#endif
    /* Merged columns may be read behind the filter; of narrow pixels a row in one go is sooner copied than a part of it. */
    if (!KW_MERGE && x->walk.src_step > x->walk.taps && channels * KW_BYTES >= KW_LINE) {
        copy_places(a, &x->walk, channels, low, high, from, to);
        return;
    }
    if (groups_of(a) == 1 && pixel == channels * KW_WORD && (!KW_APART || pitch == channels * KW_BYTES)) { /* the whole row in one go */
        channels *= high - low;
        low = high - (high > low);
    }
#if KW_APART && KW_WORD == KW_BYTES && KW_STORAGE <= 3 && KW_MATH != 3
    if (pixel == channels * KW_WORD && pixel <= 16) {
        kw_bring_together(to, from, pitch, pixel, high - low, KW_ZERO_BYTE * 0x0101010101010101ll);
        return;
    }
#endif
    copy_pixels(to, pixel, from, pitch, channels, high - low, spare);
    if (KW_COPIES_NARROW && KW_READS_PADDING && spare && x->high > high) kw_pad(a, behind, (x->high - high) * pixel);
}

/* Fills the copy of an image; slices of depth that fall into the padding have none. */
static KW_COPY_OPTIONS void copy_block(const kw_kernel_args *a, const block *b, char *to) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    const kw_i64 *size = SRC_SIZE(given_of(a));
    char *copy __attribute__((unused)) = to;
    kw_i64 channels __attribute__((unused)) = SRC_CHANNELS(a), slice;
    reader r = reader_of(a, b);
    row_ends ends = row_ends_of(a, x);
    inner whole = rows_not_copied(a, y, x);
    unsigned long long places = places_read(&y->walk);
    for (kw_i64 tz = 0; tz < b->axis[0].walk.taps; tz++) {
        if (!slice_of(a, b, tz, &slice)) continue;
        for (kw_i64 first = 0; first < (in_planes(a) ? x->walk.src_step : 1); first += PLANES_AT_ONCE) {
            plane_part part[PLANES_AT_ONCE];
            int parts = in_planes(a) ? list_planes(part, a, x, first) : 0;
            kw_i64 place = place_of(&y->walk, y->low), apart = in_planes(a) ? a->stride[1] : 1;
            for (kw_i64 row = y->low; row < y->high; row++, place = place + 1 == y->walk.src_step ? 0 : place + 1) {
                if (!(places >> (place & 63) & 1) || (row >= whole.first && row < whole.last)) continue;
                kw_i64 line = SRC_LINE(a, b->n, slice, row, size);
                char *at = to + copied_at(a, row - y->low, 0);
                int inside = row >= 0 && row < size[1], spare = row + apart < y->high && a->params.row >= KW_VECTOR;
                const char *from = inside ? SRC(a) + SRC_AT(a, line, r.first, channels) : 0;
#if KW_COLUMNS
                copy_columns(a, x, inside ? SRC(a) + SRC_AT(given_of(a), line, r.first, given_of(a)->c) : 0, at, copy, spare);
                continue;
#endif
                if (in_planes(a)) {
                    copy_in_planes(a, part, parts, &r, x->walk.src_step, from, at, spare);
                } else if (has_edges(a)) {
                    copy_edges(&ends, from, at);
                } else if (inside) {
                    copy_row(a, x, &r, from, at, spare);
                } else if (KW_READS_PADDING) {
                    kw_pad(a, at, (x->high - x->low) * a->params.pixel);
                }
            }
        }
        to += a->params.slice;
    }
}
#endif

/* The runs of all taps whose depth is inside the image, by height, depth, width; gives the runs of one height. */
static kw_i64 list_runs(const kw_kernel_args *a, const block *b, kw_run *run) {
    const kw_walk *z = &b->axis[0].walk, *y = &b->axis[1].walk, *x = &b->axis[2].walk;
    kw_i64 columns = KW_MERGE ? (x->taps > 0) : x->taps, slices = 0, slice;
    for (kw_i64 ty = 0; ty < y->taps; ty++) {
        slices = 0;
        for (kw_i64 tz = 0; tz < z->taps; tz++) {
            if (!slice_of(a, b, tz, &slice)) continue;
            for (kw_i64 tx = 0; tx < columns; tx++, run++) {
                kw_i64 column = tap_in_turn(tx, columns) * x->tap_src_step;
                run->src = (in_place(a) ? slice : slices) * a->params.slice + copied_at(a, ty * y->tap_src_step, column);
                run->w = (b->first_run + (ty * z->taps + tz) * columns + tx) * run_bytes(a);
#if KW_TILE_SKIP
                run->at = x->src_start + column;
                run->at_row = y->src_start + ty * y->tap_src_step;
#endif
            }
            slices++;
        }
    }
    return slices * columns;
}

/* Whether all of the rows low..high, that a tap moves so far, are outside the image. */
KW_INLINE int outside(kw_i64 low, kw_i64 high, kw_i64 moved, kw_i64 size) { return high + moved < 0 || low + moved >= size; }

/* Keeps the taps by height that read a row of the image from a tile at rows row..row_last of the walk. */
static void clip_runs(kw_tile_job *job, const kw_kernel_args *a, const kw_walk *y, kw_i64 row, kw_i64 row_last, const kw_run *runs,
                      kw_i64 of_height) {
    kw_i64 first = 0, last = y->taps, low = y->src_start + row * y->src_step, high = y->src_start + row_last * y->src_step;
    if (KW_TILE_ROWS == 1 && !rows_apart(a)) {
        while (first < last && outside(low, high, first * y->tap_src_step, SRC_SIZE(a)[1]))
            first++;
        while (first < last && outside(low, high, (last - 1) * y->tap_src_step, SRC_SIZE(a)[1]))
            last--;
    }
    job->runs = runs + first * of_height;
    job->run_count = (last - first) * of_height;
}

#if KW_MATH == 3
#include "cpu/direct/direct_amx.h"
#endif

#include "cpu/direct/direct_sum.h"

/* The copies of a unit's images. */
static void copy_images(const kw_kernel_args *a, block b, char *to) {
    for (kw_i64 left = images_of_unit(a, &b); left > 0; left--, b.n++, to += copied_image(a))
        copy_block(a, &b, to);
}

static void own_stage1(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    KW_SEE(a, args)
    char *memory = thread_memory;
    kw_i64 held = -1; /* the unit, parts and walks aside, whose copy the memory holds */
    walks kept;
    keep_walks(&kept, a);
    kw_tiles_begin(steps_of(a), KW_TILE_PIXELS);
    for (kw_i64 unit = begin; unit < end; unit++) {
        block b;
        if (!block_of(&b, a, &kept, unit)) continue;
        sweep zeros = sweep_of(a, &b, &kept);
        if (zeros == SWEPT) continue;
        kw_i64 taps = b.axis[1].walk.taps * b.axis[2].walk.taps, place = unit / (a->params.parts * walks_of_a_copy(a));
        if (taps && held != place && !in_place(a)) {
            copy_images(a, b, memory + a->params.copy_at);
            held = place;
        }
        sum_block(a, &b, zeros, memory);
    }
    kw_tiles_end();
}

#include "cpu/lib/reorder.h"

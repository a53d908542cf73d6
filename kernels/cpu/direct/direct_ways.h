/* direct_ways.h: direct.c where a vector has the results of KW_WAYS ways, lane by lane in turn: lane i is of way i % KW_WAYS. Ways are
 * groups that lie side by side or, where params.way_rows, parts of the rows of one group, so many rows apart. The copy holds the ways'
 * values of a channel side by side, so that one load spreads them over a vector; weights are packed lane by lane. Groups with few results
 * fill vectors so that they would leave half idle: 20 results are 62 % of two vectors, by four ways all of five.
 *
 * Tiles leave their sums in spill, result by result and of each the ways in turn; store_ways() takes them apart. */

/* The first group of a unit, how many of its ways exist, and zeros, which a way reads that lacks the row or does not exist. */
typedef struct reader {
    kw_i64 first, ways;
    const char *zeros;
} reader;

static reader reader_of(const kw_kernel_args *a, const block *b) {
    static const char zeros[4 * KW_DIRECT_WAY_CHANNELS];
    kw_i64 first = b->share * groups_of_share(a);
    return (reader){first, a->params.way_rows ? KW_WAYS : kw_min(KW_WAYS, a->groups - first), zeros};
}

#if KW_MASKS
/* Pixels of groups that are narrow_of(), which all are read; gives how many, 0 of others. */
static kw_i64 copy_narrow(const kw_kernel_args *a, const reader *r, char *to, const char *from, kw_i64 pixels) {
    kw_i64 channels = SRC_CHANNELS(a), pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), pixel = a->params.pixel;
    if (a->params.way_rows || r->ways < KW_WAYS || from == r->zeros || KW_WAYS * channels > 2 * KW_LANES) return 0;
    narrow n = narrow_of(channels);
    for (kw_i64 i = 0; i < pixels; i++)
        interleave_narrow(to + i * pixel, from + i * pitch, &n);
    return kw_max(pixels, 0);
}
#else
static kw_i64 copy_narrow(const kw_kernel_args *a, const reader *r, char *to, const char *from, kw_i64 pixels) {
    return (void)a, (void)r, (void)to, (void)from, (void)pixels, 0;
}
#endif

/* The pixels low..high-1 of a row of all ways. */
static void copy_way_row(const kw_kernel_args *a, const block *b, const reader *r, kw_i64 slice, kw_i64 row, char *to) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    const kw_i64 *size = SRC_SIZE(a);
    kw_i64 channels = SRC_CHANNELS(a), pitch = SRC_PIXEL(a, SRC_CHANNELS(a)), pixel = a->params.pixel;
    kw_i64 low = kw_min(kw_max(x->low, 0), x->high), high = kw_max(kw_min(x->high, size[2]), low), step[KW_WAYS];
    const char *from[KW_WAYS];
    for (kw_i64 way = 0; way < KW_WAYS; way++) {
        kw_i64 line = row + way * a->params.way_rows * y->walk.src_step, group = r->first + (a->params.way_rows ? 0 : way);
        int there = way < r->ways && line >= 0 && line < size[1];
        kw_i64 at = SRC_LINE(a, b->n, slice, line, size);
        from[way] = there ? SRC(a) + SRC_AT(a, at, group, channels) + low * pitch : r->zeros;
        step[way] = there ? pitch : 0;
    }
    if (KW_READS_PADDING) {
        kw_pad(a, to, (low - x->low) * pixel);
        kw_pad(a, to + (high - x->low) * pixel, (x->high - high) * pixel);
    }
    to += (low - x->low) * pixel;
    unsigned long long places = places_read(&x->walk);
    if (x->walk.taps >= x->walk.src_step && copy_narrow(a, r, to, from[0], high - low)) return;
    for (kw_i64 place = place_of(&x->walk, low); low < high; low++, to += pixel) {
        if (places >> (place & 63) & 1) interleave(to, from, channels);
        place = place + 1 == x->walk.src_step ? 0 : place + 1;
        for (kw_i64 way = 0; way < KW_WAYS; way++)
            from[way] += step[way];
    }
}

static void copy_block(const kw_kernel_args *a, const block *b, char *to) {
    const side *y = &b->axis[1];
    reader r = reader_of(a, b);
    kw_i64 slice;
    unsigned long long places = places_read(&y->walk);
    for (kw_i64 tz = 0; tz < b->axis[0].walk.taps; tz++) {
        if (!slice_of(a, b, tz, &slice)) continue;
        for (kw_i64 row = y->low; row < y->high; row++) {
            if (places >> (place_of(&y->walk, row) & 63) & 1) copy_way_row(a, b, &r, slice, row, to + copied_at(a, row - y->low, 0));
        }
        to += a->params.slice;
    }
}

#if KW_MASKS && !KW_EPILOGUE && KW_OUT_BYTES == 4
#define store_way store_way_lanes
/* The pixels' sums of one way, straight from where the tile left them. */
KW_INLINE void store_way_lanes(const kw_tile_job *job, const char *sums, kw_i64 way) {
    kw_vi lanes = lanes_of_way(way);
    char *out = job->out;
    for (kw_i64 col = 0; col < job->cols; col++, sums += KW_STEP_BYTES, out += job->out_pixel) {
        for (int v = 0; v < KW_TILE_VECS; v += 2) {
            kw_i64 first = v * WAY_LANES, left = kw_min(job->channels - first, 2 * WAY_LANES);
            if (left <= 0) break;
            kw_put_lanes(out + 4 * first, values_of_way(sums, v, KW_TILE_VECS, lanes), kw_first_lanes(left));
        }
    }
}
#else
#define store_way store_way_sorted
/* The same by way of memory, where they lie as kw_tile_part() takes them. */
static void store_way_sorted(kw_tile_job *job, const char *sums, kw_i64 way) {
    char sorted[KW_SPILL_BYTES] __attribute__((aligned(KW_LINE)));
    kw_vi lanes = lanes_of_way(way);
    for (kw_i64 col = 0; col < job->cols; col++) {
        for (int v = 0; v < KW_TILE_VECS; v += 2)
            kw_put(sorted + col * KW_STEP_BYTES + 4 * v * WAY_LANES, values_of_way(sums + col * KW_STEP_BYTES, v, KW_TILE_VECS, lanes));
    }
    job->spill = sorted;
    kw_tile_part(job);
}
#endif

/* Writes what exists of a tile, way by way, from the sums that it left in spill. */
static void store_ways(const kw_kernel_args *a, const kw_tile_job *sums, const block *b, kw_i64 row) {
    const kw_walk *y = &b->axis[1].walk;
    reader r = reader_of(a, b);
    kw_tile_job job = *sums;
    job.channels = kw_min(job.channels, WAY_BLOCK);
    for (kw_i64 way = 0; way < r.ways; way++) {
        kw_i64 rows = way * a->params.way_rows, result = a->params.way_rows ? 0 : way * DST_CHANNELS(a);
        if (y->out_start + (row + rows) * y->out_step >= DST_SIZE(a)[1]) break;
        job.out = sums->out + rows * sums->out_row + result * KW_OUT_BYTES;
        job.at = kw_place_moved(sums->at, result, 0, rows);
        store_way(&job, sums->spill, way);
    }
}

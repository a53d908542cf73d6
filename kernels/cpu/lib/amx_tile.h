/* amx_tile.h: kw_tile() by the tile registers of AMX: KW_TILE_COLS pixels, 16 a register, by KW_TILE_VECS vectors of channels, summed over
 * the runs of a job. Source pixels and packed weights lie as register_tile.h reads them: 16 pixels' steps of a run are a register, and so
 * are 16 steps of a vector of weights. A run is cut into chunks of equally many steps, 16 at most; its last steps may be zeros.
 *
 * kw_config.h says in which registers what is kept:
 *   KW_EACH_SUM(DO)             DO(pixels, vector, register) for each register of sums; pixels: number of 16 of them
 *   KW_EACH_PART_SUM, KW_PART_CHUNK  the same of the first 16 pixels alone, where KW_AMX_PART: a tile of 32, of which no more exist
 *   KW_EACH_VECTOR_SUM, KW_VECTOR_CHUNK  of the first vector of channels alone, where KW_AMX_LACKS: a tile of two, one of which the last
 *                               block may lack
 *   KW_CHUNK(LOAD, WEIGHTS, DOT)  what is done for a chunk, in order: LOAD(pixels, register), WEIGHTS(vector, register),
 *                               DOT(sums, source, weights) */
#include "cpu/lib/amx_sizes.h"
#include "cpu/lib/dense.h"

/* Before the tiles of a stage, for runs of so many steps, none of which has more pixels than so many; and after them. Registers have
 * rows for those there are: of a few rows of a product fewer are loaded and multiplied than 16. */
static void kw_tiles_begin(kw_i64 steps, kw_i64 pixels) { kw_amx_begin(KW_AMX_CHUNK(steps), pixels < KW_AMX_ROWS ? pixels : KW_AMX_ROWS); }
static void kw_tiles_end(void) { KW_AMX_END(); }

#define KW_AMX_CLEAR(pixels, v, t) KW_AMX_ZERO(t)
#define KW_AMX_RELOAD(pixels, v, t) KW_AMX_LOAD(t, job->spill + (pixels)*KW_AMX_ROWS * KW_STEP_BYTES + (v)*KW_VECTOR, weights_step)
#define KW_AMX_SOURCE(pixels, t) KW_AMX_LOAD(t, src + (pixels)*KW_AMX_ROWS * step, step)
#define KW_AMX_PASSING(pixels, t) KW_AMX_PASS(t, src + (pixels)*KW_AMX_ROWS * step, step)
/* KW_TILE_BACK: of a text that defines it 1, a run's last chunk begins so many bytes earlier in the pixels (job->back), whose weights
 * are zero there. */
#ifndef KW_TILE_BACK
#define KW_TILE_BACK 0
#endif
/* KW_TILE_PASSES: pixels that are not kept no other tile reads before weights that should stay in the first-level cache are done with. */
#ifndef KW_TILE_PASSES
#define KW_TILE_PASSES 0
#endif
#define KW_AMX_WEIGHTS(v, t) KW_AMX_LOAD(t, w + (v)*KW_VECTOR, weights_step)
#define KW_AMX_SPILL(pixels, v, t) KW_AMX_STORE(t, job->spill + (pixels)*KW_AMX_ROWS * KW_STEP_BYTES + (v)*KW_VECTOR, weights_step)
#define KW_AMX_RESULT(pixels, v, t) KW_AMX_STORE(t, job->out + (pixels)*KW_AMX_ROWS * job->out_pixel + (v)*KW_VECTOR, job->out_pixel)

/* The lines of so many pixels' results, which are written when the tile is done, and lie far apart: nothing else brings them near in time. A chunk
 * asks for a few, for what is read must not wait for all. Results that begin in the midst of a line end in one more, and without that one a store
 * waits. Gives where the next pixel's are. */
KW_INLINE const char *kw_amx_expect_results(const kw_tile_job *job, const char *to, kw_i64 pixels) {
    for (; pixels > 0; pixels--, to += job->out_pixel) {
        for (const char *line = to - ((kw_i64)to & (KW_LINE - 1)); line < to + KW_BLOCK * KW_OUT_BYTES; line += KW_LINE)
            __builtin_prefetch(line, 1);
    }
    return to;
}

/* Pixels of which a chunk asks for the results, so that all have been asked for with the last one. */
KW_INLINE kw_i64 kw_amx_results_a_chunk(const kw_tile_job *job, kw_i64 chunks) {
    kw_i64 all = chunks * job->run_count;
    return job->rest || !all ? 0 : (job->cols + all - 1) / all;
}

/* KW_TILE_AHEAD: a chunk's part of the next tile's pixels. */
KW_INLINE void kw_amx_fetch_ahead(const char *from, kw_i64 step) {
    for (kw_i64 pixel = 0; KW_TILE_AHEAD && pixel < KW_TILE_COLS; pixel++, from += step)
        __builtin_prefetch(from);
}

/* A chunk's part of the weights that come next: from beyond the second-level cache into it. */
KW_INLINE const char *kw_amx_fetch_weights(const kw_tile_job *job, const char *from) {
    for (kw_i64 line = job->next_lines; line > 0; line--, from += KW_LINE)
        __builtin_prefetch(from, 0, 2);
    return from;
}

#define KW_AMX_SUM_RUNS(EACH_SUM, CHUNK, SOURCE)                                                                                           \
    if (job->more || KW_X_ZERO) {                                                                                                          \
        EACH_SUM(KW_AMX_RELOAD)                                                                                                            \
    } else {                                                                                                                               \
        EACH_SUM(KW_AMX_CLEAR)                                                                                                             \
    }                                                                                                                                      \
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run++) {                                                   \
        const char *src = job->src + run->src, *w = job->w + run->w + KW_HEAD_BYTES, *ahead = job->ahead;                                  \
        for (kw_i64 i = chunks; i; i--, src += 4 * chunk, w += chunk * KW_STEP_BYTES, ahead += 4 * chunk) {                                \
            if (KW_TILE_BACK && i == 1) src -= job->back;                                                                                  \
            CHUNK(SOURCE, KW_AMX_WEIGHTS, KW_AMX_DOT)                                                                                      \
            next = kw_amx_fetch_weights(job, next);                                                                                        \
            kw_amx_fetch_ahead(ahead, step);                                                                                               \
            results = kw_amx_expect_results(job, results, results_a_chunk);                                                                \
        }                                                                                                                                  \
    }

#if KW_X_ZERO
/* What the sums of each pixel begin by, where those of a slice before are kept. */
static void kw_amx_begin_sums(const kw_tile_job *job) {
    for (kw_i64 v = 0; v < KW_BLOCK; v += KW_LANES) {
        kw_vi sums = {0};
        for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run++)
            sums += (kw_vi)kw_load(job->w + run->w + 4 * v);
        sums *= job->times;
        for (kw_i64 pixel = 0; pixel < KW_TILE_COLS; pixel++)
            kw_put(job->spill + pixel * KW_STEP_BYTES + 4 * v, (kw_vf)sums);
    }
}
#endif

static __attribute__((noinline)) void kw_tile(const kw_tile_job *job) {
#if KW_X_ZERO
    if (!job->more) kw_amx_begin_sums(job);
#endif
    kw_i64 step = job->src_pixel, weights_step = KW_STEP_BYTES, chunk = KW_AMX_CHUNK(job->steps), chunks = KW_AMX_CHUNKS(job->steps);
    int whole = kw_tile_whole(job);
    const char *next = job->next, *results = job->out;
    kw_i64 results_a_chunk = kw_amx_results_a_chunk(job, chunks);
#if KW_AMX_PART
    if (job->cols <= KW_AMX_ROWS) {
        KW_AMX_SUM_RUNS(KW_EACH_PART_SUM, KW_PART_CHUNK, KW_AMX_SOURCE)
        KW_EACH_PART_SUM(KW_AMX_SPILL)
        if (!job->rest) kw_tile_part(job);
        return;
    }
#endif
#if KW_AMX_LACKS
    if (job->channels <= KW_LANES) {
        KW_AMX_SUM_RUNS(KW_EACH_VECTOR_SUM, KW_VECTOR_CHUNK, KW_AMX_SOURCE)
        KW_EACH_VECTOR_SUM(KW_AMX_SPILL)
        if (!job->rest) kw_tile_part(job);
        return;
    }
#endif
    if (KW_TILE_PASSES && !job->keep) {
        KW_AMX_SUM_RUNS(KW_EACH_SUM, KW_CHUNK, KW_AMX_PASSING)
    } else {
        KW_AMX_SUM_RUNS(KW_EACH_SUM, KW_CHUNK, KW_AMX_SOURCE)
    }
    if (job->rest) {
        KW_EACH_SUM(KW_AMX_SPILL)
        return;
    }
#if KW_OUT_BYTES == 4 && !KW_EPILOGUE
    if (whole) {
        KW_EACH_SUM(KW_AMX_RESULT)
        return;
    }
#endif
    KW_EACH_SUM(KW_AMX_SPILL)
    if (!whole || KW_EPILOGUE) {
        kw_tile_part(job);
        return;
    }
    const char *from = job->spill;
    char *to = job->out;
    for (kw_i64 pixel = 0; pixel < KW_TILE_COLS; pixel++, from += KW_STEP_BYTES, to += job->out_pixel)
        kw_store_whole(to, from);
}

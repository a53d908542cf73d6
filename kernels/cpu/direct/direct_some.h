/* direct_some.h: kw_tile_some(): the sums of as many pixels as a job says, which begin with what is in spill and are left there. So a tile of
 * which a run of taps reads padding by some pixels has the others alone in registers, side by side: no step tests anything, and each product of
 * the loop is one that counts. A step jumps to its first product, from which it falls through to that of pixel 0; the jump is the same in
 * all steps of a job, so the core foresees it.
 *
 * So few pixels that their sums would wait for each other have two sums each, of even and of odd steps: kw_tile_few(). The host side emits
 *   KW_FEW                  pixels of such a tile at most
 *   KW_EACH_PIXEL_BACK(DO)  like KW_EACH_PIXEL, from the last pixel to the first
 *   KW_EACH_FEW_BACK(DO)    the same of KW_FEW pixels */
#if KW_TILE_INTERVALS
#define KW_SOME_PLACE(pixel, col, base, distance) [pixel] = &&some_##pixel - &&some_0,
#define KW_SOME_PIXEL(pixel, col, base, distance)                                                                                          \
    some_##pixel : x = KW_SPREAD(base + (distance));                                                                                       \
    if (KW_TILE_VECS > 1) KW_KEEP(x);                                                                                                      \
    KW_EACH_VECTOR(KW_MULTIPLY, pixel)
#define KW_SOME_NEXT(base, row, first) base += KW_SPREAD_BYTES;
#define KW_SOME_RESUME(pixel, col, base, distance)                                                                                         \
    case (pixel) + 1:                                                                                                                      \
        KW_EACH_VECTOR(KW_RESUME, pixel)                                                                                                   \
        __attribute__((fallthrough));
#define KW_SOME_SPILL(pixel, col, base, distance)                                                                                          \
    case (pixel) + 1:                                                                                                                      \
        KW_EACH_VECTOR(KW_SPILL, pixel)                                                                                                    \
        __attribute__((fallthrough));

/* job->cols pixels, at least one. */
KW_TILE_FUNCTION void kw_tile_some(const kw_tile_job *job) {
    static const int place[] = {KW_EACH_PIXEL_BACK(KW_SOME_PLACE)};
    const void *first = &&some_0 + place[job->cols - 1];
    kw_i64 s1 = job->src_pixel, s3 = 3 * s1, s5 = 5 * s1, w_step = KW_WEIGHTS_STEP(job);
    const char *src = job->src;
    KW_EACH_PIXEL(KW_DECLARE_PIXEL)
    switch (job->cols) { KW_EACH_PIXEL_BACK(KW_SOME_RESUME) default:; }
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run += KW_RUN_STEP(job)) {
        const char *w = job->w + run->w;
        KW_EACH_BASE(KW_DECLARE_BASE)
        kw_i64 i = job->steps;
        kw_vf x;
        do {
            __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));
            KW_EACH_VECTOR(KW_LOAD_WEIGHTS, 0)
            goto *first;
            KW_EACH_PIXEL_BACK(KW_SOME_PIXEL)
            w += w_step;
            KW_EACH_BASE(KW_SOME_NEXT)
        } while (--i);
    }
    switch (job->cols) { KW_EACH_PIXEL_BACK(KW_SOME_SPILL) default:; }
}

#if KW_FEW
/* The sums of odd steps are called as<pixel>_<vector>. */
#define KW_DECLARE_SECOND(pixel, v) KW_DECLARE(s##pixel, v)
#define KW_DECLARE_FEW(pixel, col, base, distance)                                                                                         \
    KW_EACH_VECTOR(KW_DECLARE, pixel)                                                                                                      \
    KW_EACH_VECTOR(KW_DECLARE_SECOND, pixel)
#define KW_LOAD_SECOND(pixel, v)                                                                                                           \
    kw_vf u##v = kw_load(w + w_step + (v)*KW_VECTOR);                                                                                      \
    KW_KEEP(u##v);
#define KW_MULTIPLY_SECOND(pixel, v)                                                                                                       \
    {                                                                                                                                      \
        kw_vf w##v = u##v;                                                                                                                 \
        KW_MULTIPLY(s##pixel, v)                                                                                                           \
    }
#define KW_FEW_PIXEL(pixel, col, base, distance)                                                                                           \
    KW_SOME_PIXEL(pixel, col, base, distance)                                                                                              \
    x = KW_SPREAD(base + (distance) + KW_SPREAD_BYTES);                                                                                    \
    if (KW_TILE_VECS > 1) KW_KEEP(x);                                                                                                      \
    KW_EACH_VECTOR(KW_MULTIPLY_SECOND, pixel)
#define KW_LAST_PIXEL(pixel, col, base, distance)                                                                                          \
    case (pixel) + 1:                                                                                                                      \
        x = KW_SPREAD(base + (distance));                                                                                                  \
        if (KW_TILE_VECS > 1) KW_KEEP(x);                                                                                                  \
        KW_EACH_VECTOR(KW_MULTIPLY, pixel)                                                                                                 \
        __attribute__((fallthrough));
#define KW_ADD_SECOND(pixel, v) a##pixel##_##v += as##pixel##_##v;
#define KW_FEW_SPILL(pixel, col, base, distance)                                                                                           \
    case (pixel) + 1:                                                                                                                      \
        KW_EACH_VECTOR(KW_ADD_SECOND, pixel)                                                                                               \
        KW_EACH_VECTOR(KW_SPILL, pixel)                                                                                                    \
        __attribute__((fallthrough));

/* The same of KW_FEW pixels at most. */
KW_TILE_FUNCTION void kw_tile_few(const kw_tile_job *job) {
    static const int place[] = {KW_EACH_FEW_BACK(KW_SOME_PLACE)};
    const void *first = &&some_0 + place[job->cols - 1];
    kw_i64 s1 = job->src_pixel, s3 = 3 * s1, s5 = 5 * s1, w_step = KW_WEIGHTS_STEP(job);
    KW_EACH_FEW_BACK(KW_DECLARE_FEW)
    switch (job->cols) { KW_EACH_FEW_BACK(KW_SOME_RESUME) default:; }
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run += KW_RUN_STEP(job)) {
        const char *w = job->w + run->w, *p0 = job->src + run->src;
        kw_vf x;
        for (kw_i64 i = job->steps / 2; i; i--) {
            __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));
            KW_EACH_VECTOR(KW_LOAD_WEIGHTS, 0)
            KW_EACH_VECTOR(KW_LOAD_SECOND, 0)
            goto *first;
            KW_EACH_FEW_BACK(KW_FEW_PIXEL)
            w += 2 * w_step;
            p0 += 2 * KW_SPREAD_BYTES;
        }
        if (job->steps % 2) {
            KW_EACH_VECTOR(KW_LOAD_WEIGHTS, 0)
            switch (job->cols) { KW_EACH_FEW_BACK(KW_LAST_PIXEL) default:; }
        }
    }
    switch (job->cols) { KW_EACH_FEW_BACK(KW_FEW_SPILL) default:; }
}
#else
#define kw_tile_few kw_tile_some
#endif
#endif

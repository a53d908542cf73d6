/* direct_pack.h: stage 0 of direct.c, its packed weights. */

#if KW_TILE_OWN && KW_BACKWARD
/* kw_pack_run() for result channels of which each group's stand by themselves; w: the tap of the first group. */
static void pack_run(const kw_kernel_args *a, char *to, const char *w, kw_i64 first) {
    kw_i64 row = taps_of(a) * a->c;
    char *head __attribute__((unused)) = to;
    to += KW_HEAD_BYTES;
    for (kw_i64 lane = 0; lane < KW_LANES; lane++, to += 4) {
        kw_i64 channel = kw_min(first + lane, a->groups * a->c - 1);
        const char *from = w + (channel / a->c * a->k * row + channel % a->c) * KW_BYTES;
        for (kw_i64 e = 0; e < a->k; e += KW_PAIR) {
            const char *at = from + e * row * KW_BYTES;
#if KW_STORAGE == 3
            *(kw_u32 *)(to + e / KW_PAIR * KW_VECTOR) = kw_word_of(at, row, a->k - e);
#elif KW_DP
            kw_u32 high = e + 1 < a->k ? *(const kw_u16_u *)(at + row * KW_BYTES) : 0;
            *(kw_u32 *)(to + e / KW_PAIR * KW_VECTOR) = *(const kw_u16_u *)at | high << 16;
#else
            *(float *)(to + e * KW_VECTOR) = kw_load_1(at);
#endif
        }
    }
#if KW_HEADED
    kw_pack_head(head, head + run_bytes(a));
#endif
}
#endif

#if !KW_TILE_OWN && !KW_WAYS
/* kw_pack_run() of joined groups; w: the tap of the first group's first weight. */
static void pack_joined(const kw_kernel_args *a, char *to, const char *w, kw_i64 first) {
    kw_i64 row = taps_of(a) * a->c, src = SRC_CHANNELS(a) / joined(a), dst = DST_CHANNELS(a) / joined(a);
    kw_i64 element = KW_BACKWARD ? row : 1, channel = KW_BACKWARD ? 1 : row;
    kw_zero(to, run_bytes(a));
    for (kw_i64 k = 0, count = kw_min(KW_BLOCK, DST_CHANNELS(a) - first); k < count; k++) {
        kw_i64 group = (first + k) / dst;
        const char *from = w + (group * a->k * row + (first + k) % dst * channel) * KW_BYTES;
        for (kw_i64 e = 0; e < src; e++) {
            kw_i64 at = group * src + e;
            char *word = to + KW_HEAD_BYTES + at / KW_PAIR * KW_STEP_BYTES + 4 * k;
            __builtin_memcpy(word + at % KW_PAIR * KW_BYTES, from + e * element * KW_BYTES, KW_BYTES);
        }
    }
#if KW_HEADED
    kw_pack_head(to, to + run_bytes(a));
#endif
}
#endif

#if KW_WAYS
/* kw_pack_run() for the ways' lanes in turn. w: the tap of the block's first result in the first group. Elements that lie apart have their
 * results side by side; else a few elements of each way are packed by themselves first. */
static void pack_ways(const kw_kernel_args *a, char *to, const char *w, kw_i64 share, kw_i64 left) {
    enum { FEW = 16, PITCH = (WAY_BLOCK + KW_LANES - 1) / KW_LANES * KW_LANES };
    char few[KW_WAYS][4 * FEW * PITCH] __attribute__((aligned(KW_LINE)));
    kw_i64 row = taps_of(a) * a->c, elements = elements_of(a);
    const char *from[KW_WAYS];
    for (kw_i64 way = 0; way < KW_WAYS; way++) {
        kw_i64 group = a->params.way_rows ? share : kw_min(share * KW_WAYS + way, a->groups - 1);
        from[way] = w + group * a->k * row * KW_BYTES;
    }
    if (KW_BACKWARD) {
        for (kw_i64 e = 0; e < elements; e++, to += KW_STEP_BYTES) {
            if (left < WAY_BLOCK) kw_zero(to, KW_STEP_BYTES);
            interleave(to, from, kw_min(left, WAY_BLOCK));
            for (kw_i64 way = 0; way < KW_WAYS; way++)
                from[way] += row * KW_BYTES;
        }
        return;
    }
    for (kw_i64 e = 0; e < elements; e += FEW) {
        kw_i64 count = kw_min(FEW, elements - e);
        const char *packed[KW_WAYS];
        for (kw_i64 way = 0; way < KW_WAYS; way++) {
            int again = way && a->params.way_rows; /* the same as the first one's */
            packed[way] = few[again ? 0 : way];
            if (!again) KW_AHEAD(a, KW_AHEAD_KIND)->pack(few[way], from[way] + e * KW_BYTES, count, 1, left, row, PITCH);
        }
        for (kw_i64 i = 0; i < count; i++, to += KW_STEP_BYTES) {
            interleave(to, packed, WAY_BLOCK);
            for (kw_i64 way = 0; way < KW_WAYS; way++)
                packed[way] += 4 * PITCH;
        }
    }
}
#endif

/* Packed order: share, block of output channels, walks by depth, height, width, then their taps by height, depth, width, steps. */
static void own_stage0(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    KW_SEE(a, args)
    kw_i64 blocks = blocks_of(a), row = taps_of(a) * a->c;
    kw_i64 element = KW_BACKWARD ? row : 1, channel = KW_BACKWARD ? 1 : row;
    (void)thread_memory, (void)element;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 first = unit % blocks * KW_RESULTS, left = results_from(a, unit / blocks) - first;
#if KW_TILE_OWN
        const char *w = a->w + (KW_BACKWARD ? 0 : first_result(a, unit) * channel * KW_BYTES);
#elif KW_WAYS
        const char *w = a->w + first * channel * KW_BYTES;
#else
        const char *w = a->w + (unit / blocks * joined(a) * a->k * row + (joined(a) > 1 ? 0 : first * channel)) * KW_BYTES;
#endif
        (void)left;
        char *to = a->packed + unit * block_bytes(a);
        for (kw_i64 phase = 0, all = walks_of(a, 0) * walks_of(a, 1) * walks_of(a, 2); phase < all; phase++) {
            kw_i64 y_walks = walks_of(a, 1), x_walks = walks_of(a, 2);
            kw_walk z = walk_of(a, 0, phase / (y_walks * x_walks)), y = walk_of(a, 1, phase / x_walks % y_walks);
            kw_walk x = walk_of(a, 2, phase % x_walks);
            if (KW_MERGE) x.taps = 1;
            for (kw_i64 t = 0; t < y.taps * z.taps * x.taps; t++, to += run_bytes(a)) {
                kw_i64 ty = t / (z.taps * x.taps), tz = t / x.taps % z.taps, tx = tap_in_turn(t % x.taps, x.taps);
                kw_i64 tap = ((z.tap_start + tz * z.tap_step) * a->filter[1] + y.tap_start + ty * y.tap_step) * a->filter[2];
                const char *from = w + (tap + x.tap_start + tx * x.tap_step) * a->c * KW_BYTES;
#if KW_TILE_OWN && KW_BACKWARD
                pack_run(a, to, from, first_result(a, unit));
#elif KW_WAYS
                pack_ways(a, to, from, unit / blocks, left);
#elif KW_TILE_OWN
                kw_pack_run(a, to, from, elements_of(a), element, left, channel);
#else
                if (joined(a) > 1)
                    pack_joined(a, to, from, first);
                else
                    kw_pack_run(a, to, from, elements_of(a), element, left, channel);
                if (KW_MATH == 3 && joined(a) == 1) {
                    kw_i64 packed = KW_HEAD_BYTES + kw_run_steps(elements_of(a)) * KW_STEP_BYTES;
                    kw_zero(to + packed, run_bytes(a) - packed);
                }
#endif
            }
        }
    }
}

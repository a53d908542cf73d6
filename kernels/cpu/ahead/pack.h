/* pack.h: weights in the order in which tiles read them: steps of block words (kernels/cpu/lib/dense.h). */

#if KW_STORAGE == 3
static void pack_run(char *to, const char *w, kw_i64 elements, kw_i64 element, kw_i64 channels, kw_i64 channel, kw_i64 block) {
    for (kw_i64 e = 0; e < elements; e += KW_PAIR) {
        const char *from = w + e * element;
        kw_i64 k = 0, whole = e + KW_PAIR <= elements;
        if (channel == 1 && channels >= block && whole) {
            for (; k < block; k += KW_LANES, to += 4 * KW_LANES)
                kw_put(to, (kw_vf)words_of(from + k, element, 0));
        }
        if (KW_WORD == 1 && element == 1 && whole) {
            for (; k < kw_min(channels, block); k++, to += 4)
                *(kw_i32_u *)to = *(const kw_i32_u *)(from + k * channel);
        }
        for (; k < block; k++, to += 4)
            *(kw_u32 *)to = k < channels ? kw_word_of(from + k * channel, element, elements - e) : 0;
    }
}
#else
/* Of a vector of channels, of which count exist, the steps from element e on, one by one. */
static void pack_lanes(char *to, const char *w, kw_i64 e, kw_i64 elements, kw_i64 element, kw_i64 count, kw_i64 channel,
                       kw_i64 step_bytes) {
    for (; e < elements; e += KW_PAIR) {
        const char *from = w + e * element * KW_BYTES, *partner = e + 1 < elements ? from + element * KW_BYTES : 0;
        char *lane = to + e / KW_PAIR * step_bytes;
        (void)partner;
        for (kw_i64 k = 0; k < KW_LANES; k++, lane += 4) {
            kw_i64 at = k * channel * KW_BYTES;
#if KW_PAIR == 2
            kw_u32 low = k < count ? *(const kw_u16_u *)(from + at) : 0;
            kw_u32 high = k < count && partner ? *(const kw_u16_u *)(partner + at) : 0;
            *(kw_u32 *)lane = low | high << 16;
#else
            *(float *)lane = k < count ? kw_load_1(from + at) : 0.0f;
#endif
        }
    }
}

/* The whole words of a vector of channels whose elements lie side by side: turned in registers, as many at a time as lanes. The last of them
 * are moved back. */
static void pack_turned(char *to, const char *w, kw_i64 words, kw_i64 channel, kw_i64 step_bytes) {
    for (kw_i64 c = 0; c < words; c += KW_LANES) {
        kw_i64 at = kw_min(c, words - KW_LANES);
        const char *from = w + at * KW_PAIR * KW_BYTES;
        if (KW_PAIR == 2)
            turn_4(to + at * step_bytes, step_bytes, from, channel * KW_BYTES);
        else
            turn_widened(to + at * step_bytes, step_bytes, from, channel * KW_BYTES);
    }
}

/* Channels that lie side by side are taken a vector at a time, so that many rows are under way from memory at once. */
static void pack_run(char *to, const char *w, kw_i64 elements, kw_i64 element, kw_i64 channels, kw_i64 channel, kw_i64 block) {
    kw_i64 step_bytes = KW_TILE_STEP_BYTES(block), words = elements / KW_PAIR, vectors = channel == 1 && channels >= block ? words : 0;
    for (kw_i64 e = 0; e < vectors * KW_PAIR; e += KW_PAIR) {
        const char *from = w + e * element * KW_BYTES;
        for (kw_i64 k = 0; k < block; k += KW_LANES) {
            char *step = to + e / KW_PAIR * step_bytes + 4 * k;
#if KW_PAIR == 2
            kw_vu low = kw_words_of_halves(*(const kw_vh_u *)(from + k * KW_BYTES));
            kw_vu high = kw_words_of_halves(*(const kw_vh_u *)(from + (element + k) * KW_BYTES));
            kw_put(step, (kw_vf)(low | high << 16));
#else
            kw_put(step, kw_load_x(from + k * KW_BYTES));
#endif
        }
    }
    for (kw_i64 k = 0; k < block; k += KW_LANES) {
        const char *from = w + k * channel * KW_BYTES;
        kw_i64 done = vectors;
        if (!done && element == 1 && words >= KW_LANES && channels >= k + KW_LANES) {
            pack_turned(to + 4 * k, from, words, channel, step_bytes);
            done = words;
        }
        pack_lanes(to + 4 * k, from, done * KW_PAIR, elements, element, channels - k, channel, step_bytes);
    }
}
#endif

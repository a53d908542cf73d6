/* lines_bytes.h: what lines_copy.h copies of int8: words of the bytes of KW_LINE_ROWS rows, as many of a vector of channels. Rows are variables of their own,
 * p0 and on, for compilers at the level of optimisation that kernels are built with leave structs in memory and loops as they are. */
#if KW_QUADS
#define KW_EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#else
#define KW_EACH_ROW(DO) DO(0) DO(1)
#endif
#define KW_PADDING_WORDS(padding) ({ KW_EACH_ROW(KW_ROW_OF_PADDING) KW_LINE_WORDS_HERE; })
#define KW_ROW_OF_PADDING(i) const char *p##i = padding;

/* Bytes of two rows side by side. */
KW_INLINE kw_vh kw_zip_bytes(const char *first, const char *second) {
    kw_vh low, high;
    __asm__("vpmovzxbw %1, %0" : "=v"(low) : "m"(*(const kw_vc_u *)first));
    __asm__("vpmovzxbw %1, %0" : "=v"(high) : "m"(*(const kw_vc_u *)second));
    return low | high << 8;
}

#if KW_QUADS
KW_INLINE kw_vf kw_words_of_rows(const char *p0, const char *p1, const char *p2, const char *p3) {
    kw_vu words = kw_words_of_halves(kw_zip_bytes(p0, p1)) | kw_words_of_halves(kw_zip_bytes(p2, p3)) << 16;
    return (kw_vf)(KW_RAISED ? words ^ 0x80808080u : words);
}
#define KW_LINE_WORDS_HERE kw_words_of_rows(p0, p1, p2, p3)
#else
KW_INLINE kw_vf kw_words_of_rows(const char *p0, const char *p1) {
    kw_vh bytes = kw_zip_bytes(p0, p1);
    kw_vf words;
#if KW_X_UNSIGNED
    __asm__("vpmovzxbw %1, %0" : "=v"(words) : "v"(bytes));
#else
    __asm__("vpmovsxbw %1, %0" : "=v"(words) : "v"(bytes));
#endif
    return words;
}
#define KW_LINE_WORDS_HERE kw_words_of_rows(p0, p1)
#endif

/* Rows that there are, and padding for those that there are not, which does not go on where they do. */
#define KW_ROW_BEGINS(i)                                                                                                                   \
    const char *p##i = rows.at[i] ? rows.at[i] : padding;                                                                                  \
    const kw_i64 goes##i = rows.at[i] ? -1 : 0;
#define KW_ROW_STEPS(i) p##i += by & goes##i;

/* Fewer bytes than a vector of each. */
#define KW_ROW_IN_PART(i)                                                                                                                  \
    char part##i[KW_LANES] = {0};                                                                                                          \
    for (kw_i64 b = 0; b < count; b++)                                                                                                     \
        part##i[b] = p##i[b];                                                                                                              \
    p##i = part##i;
KW_INLINE kw_vf kw_some_words(kw_line_rows rows, kw_i64 at, const char *padding, kw_i64 count) {
    KW_EACH_ROW(KW_ROW_BEGINS)
    kw_i64 by = at;
    KW_EACH_ROW(KW_ROW_STEPS)
    KW_EACH_ROW(KW_ROW_IN_PART)
    return KW_LINE_WORDS_HERE;
}

/* count elements of rows; to may be written as far as a vector more. whole: as much may be read behind them. */
KW_INLINE void kw_copy_run(char *to, kw_line_rows rows, const char *padding, kw_i64 count, int whole) {
    enum { by = KW_LANES };
    kw_i64 i = 0, end = whole ? count : count - KW_LANES + 1;
    KW_EACH_ROW(KW_ROW_BEGINS)
    for (; i < end; i += KW_LANES) {
        kw_put(to + 4 * i, KW_LINE_WORDS_HERE);
        KW_EACH_ROW(KW_ROW_STEPS)
    }
    if (i < count) kw_put(to + 4 * i, kw_some_words(rows, i, padding, count - i));
}

/* Pixels that are by bytes apart, side by side; last: behind the last of them nothing may be read. */
#define KW_ROW_AT_CHANNEL(i) const char *channel##i = p##i + (c & goes##i);
#define KW_ROW_HERE(i) const char *p##i = channel##i;
KW_INLINE void kw_copy_pixels(char *to, kw_line_rows rows, const char *padding, kw_i64 count, kw_i64 channels, kw_i64 by, int last) {
    kw_i64 whole = count - last;
    KW_EACH_ROW(KW_ROW_BEGINS)
    for (kw_i64 i = 0; i < whole; i++, to += 4 * channels) {
        for (kw_i64 c = 0; c < channels; c += KW_LANES) {
            KW_EACH_ROW(KW_ROW_AT_CHANNEL) {
                KW_EACH_ROW(KW_ROW_HERE)
                kw_put(to + 4 * c, KW_LINE_WORDS_HERE);
            }
        }
        KW_EACH_ROW(KW_ROW_STEPS)
    }
    if (last && count > 0) {
        for (kw_i64 c = 0; c < channels; c += KW_LANES)
            kw_put(to + 4 * c, kw_some_words(rows, whole * by + c, padding, kw_min(KW_LANES, channels - c)));
    }
}

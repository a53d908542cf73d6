/* zip.h: elements of 2 bytes and others of the same places by pairs, as dot products of pairs want them where the lanes are pixels. */
#if KW_DP && KW_STORAGE == 1
#if KW_LANES == 16
typedef kw_u16 kw_pixel_halves __attribute__((vector_size(64)));
typedef kw_u16 kw_pixel_halves_u __attribute__((vector_size(64), aligned(1), may_alias));
/* Of 32 pairs those from first on, 0 or 16: one permutation. */
#define KW_ZIPPED(low, high, first)                                                                                                        \
    ((kw_vf)__builtin_shufflevector(low, high, first, first + 32, first + 1, first + 33, first + 2, first + 34, first + 3, first + 35,     \
                                    first + 4, first + 36, first + 5, first + 37, first + 6, first + 38, first + 7, first + 39, first + 8, \
                                    first + 40, first + 9, first + 41, first + 10, first + 42, first + 11, first + 43, first + 12,         \
                                    first + 44, first + 13, first + 45, first + 14, first + 46, first + 15, first + 47))
#endif
KW_INLINE kw_vf kw_zip_pixels(const char *low, const char *high) {
    return (kw_vf)(kw_words_of_halves(*(const kw_vh_u *)low) | kw_words_of_halves(*(const kw_vh_u *)high) << 16);
}
#endif

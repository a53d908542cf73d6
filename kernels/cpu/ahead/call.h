/* call.h: what of ahead.h is meant for a kernel's own elements. */
#ifndef KW_AHEAD_CALL_H
#define KW_AHEAD_CALL_H

#include "cpu/ahead/ahead.h"

#if KW_STORAGE == 3 && KW_PAIR == 4
#define KW_AHEAD_KIND (KW_RAISED ? KW_AHEAD_INT8_RAISED : KW_AHEAD_INT8_QUADS)
#elif KW_STORAGE == 3
#define KW_AHEAD_KIND (KW_X_UNSIGNED ? KW_AHEAD_UINT8_PAIRS : KW_AHEAD_INT8_PAIRS)
#elif KW_STORAGE == 1
#define KW_AHEAD_KIND (KW_PAIR == 2 ? KW_AHEAD_BF16_PAIRS : KW_AHEAD_BF16)
#else
#define KW_AHEAD_KIND (KW_STORAGE == 0 ? KW_AHEAD_FP32 : KW_STORAGE == 2 ? KW_AHEAD_FP16 : KW_STORAGE == 4 ? KW_AHEAD_FP8 : KW_AHEAD_BF8)
#endif
#define KW_AHEAD_OF_BYTES(bytes) ((bytes) == 4 ? KW_AHEAD_FP32 : (bytes) == 2 ? KW_AHEAD_BF16 : KW_AHEAD_FP8)
#define KW_AHEAD(a, of_kind) ((a)->ahead->kind[KW_LANES == 16][of_kind])

/* Elements as they are; of the type that is written; and as a tile reads them (KW_WORD, KW_CONVERTS). */
KW_INLINE void kw_transpose(const kw_kernel_args *a, char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows, kw_i64 cols) {
    KW_AHEAD(a, KW_AHEAD_OF_BYTES(KW_BYTES))->turn(to, to_row, from, from_row, rows, cols);
}
KW_INLINE void kw_transpose_out(const kw_kernel_args *a, char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows,
                                kw_i64 cols) {
    KW_AHEAD(a, KW_AHEAD_OF_BYTES(KW_OUT_BYTES))->turn(to, to_row, from, from_row, rows, cols);
}
KW_INLINE void kw_transpose_widened(const kw_kernel_args *a, char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows,
                                    kw_i64 cols) {
    KW_AHEAD(a, KW_AHEAD_KIND)->turn_words(to, to_row, from, from_row, rows, cols);
}

#endif

/* ahead.h: what of CPU kernels' text is compiled with the library, ahead of all kernels: turning matrices and packing weights. It depends on the type
 * of the elements and the width of vectors alone, and would be up to a third of what a kernel costs to compile. A kernel finds it in its
 * arguments (prelude/kernel_abi.h).
 *
 * What these functions write a kernel in the cache relies on, and it is not compiled again when they change: whoever changes that changes
 * KW_KERNEL_ABI as well. */
#ifndef KW_CPU_AHEAD_H
#define KW_CPU_AHEAD_H

#include "prelude/kernel_params.h"

/* What elements are and what a tile reads of them, a word of 4 bytes for each pixel: the value as fp32, or as many elements as are multiplied at
 * once. RAISED: 128 + each signed byte. */
#define KW_AHEAD_FP32 0
#define KW_AHEAD_BF16 1
#define KW_AHEAD_FP16 2
#define KW_AHEAD_FP8 3
#define KW_AHEAD_BF8 4
#define KW_AHEAD_BF16_PAIRS 5
#define KW_AHEAD_INT8_PAIRS 6
#define KW_AHEAD_UINT8_PAIRS 7
#define KW_AHEAD_INT8_QUADS 8
#define KW_AHEAD_INT8_RAISED 9
#define KW_AHEAD_KINDS 10 /* kernels/cpu/ahead/ahead.c is compiled for each, and each width: src/families/CMakeLists.txt */

/* A matrix of elements written by columns: to[col][row] = from[row][col]. Distances in bytes. */
typedef void kw_ahead_turn(char *to, kw_i64 to_row, const char *from, kw_i64 from_row, kw_i64 rows, kw_i64 cols);

/* One run of weights for one block of result channels: element e of channel k is w[e * element + k * channel]. What is beyond elements or
 * channels becomes zero. */
typedef void kw_ahead_pack(char *to, const char *w, kw_i64 elements, kw_i64 element, kw_i64 channels, kw_i64 channel, kw_i64 block);

typedef struct kw_ahead_kind {
    kw_ahead_turn *turn;       /* elements as they are: all kinds of as many bytes have the same */
    kw_ahead_turn *turn_words; /* elements become what a tile reads */
    kw_ahead_pack *pack;
} kw_ahead_kind;

typedef struct kw_ahead {
    const kw_ahead_kind *kind[2][KW_AHEAD_KINDS]; /* vectors of 8 and of 16 lanes, by kind */
} kw_ahead;

#endif

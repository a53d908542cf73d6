/* ahead.c: what ahead.h promises, for one kind of elements and one width of vectors: KW_AHEAD_KIND and KW_LANES, which the build defines. */
#include "cpu/ahead/ahead.h"

#include "cpu/lib/sizes.h"
#include "prelude/kernel_abi.h"

#if KW_AHEAD_KIND == KW_AHEAD_FP32
#define KW_STORAGE 0
#elif KW_AHEAD_KIND == KW_AHEAD_BF16 || KW_AHEAD_KIND == KW_AHEAD_BF16_PAIRS
#define KW_STORAGE 1
#elif KW_AHEAD_KIND == KW_AHEAD_FP16
#define KW_STORAGE 2
#elif KW_AHEAD_KIND == KW_AHEAD_FP8
#define KW_STORAGE 4
#elif KW_AHEAD_KIND == KW_AHEAD_BF8
#define KW_STORAGE 5
#else
#define KW_STORAGE 3
#endif
#if KW_AHEAD_KIND == KW_AHEAD_INT8_QUADS || KW_AHEAD_KIND == KW_AHEAD_INT8_RAISED
#define KW_PAIR 4
#define KW_MATH 1
#elif KW_AHEAD_KIND == KW_AHEAD_INT8_PAIRS || KW_AHEAD_KIND == KW_AHEAD_UINT8_PAIRS
#define KW_PAIR 2
#define KW_MATH 2
#else
#define KW_PAIR (KW_AHEAD_KIND == KW_AHEAD_BF16_PAIRS ? 2 : 1)
#define KW_MATH 0
#endif
#define KW_X_UNSIGNED (KW_AHEAD_KIND == KW_AHEAD_UINT8_PAIRS || KW_AHEAD_KIND == KW_AHEAD_INT8_QUADS)
#define KW_MASKS (KW_LANES == 16)
#define KW_OUT KW_STORAGE
#include "prelude/cpu.h"

#include "cpu/ahead/turn.h"

#include "cpu/ahead/pack.h"

#define KW_PASTE(kind, lanes) kw_ahead_##kind##_##lanes
#define KW_NAME(kind, lanes) KW_PASTE(kind, lanes)

const kw_ahead_kind KW_NAME(KW_AHEAD_KIND, KW_LANES) = {turn_elements, turn_words, pack_run};

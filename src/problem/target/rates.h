/* rates.h: what one core of a CPU gets done in a nanosecond, by instruction and by level of memory. They are facts of a target that
 * are measured (measure/rates/rates.h) and kept; a rate of 0 was not measured, and the stated default of its instruction set stands for
 * it. They are no part of a target's text, which is wisdom's key: a measured number is another one tomorrow. */
#ifndef KW_PROBLEM_TARGET_RATES_H
#define KW_PROBLEM_TARGET_RATES_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>

/* One list for the struct, the text and doctor: name, default, meaning. Vector instructions a nanosecond, then bytes. The defaults are those
 * of a core at 3.66 GHz whose 512-bit instructions go down one pipe and the narrower ones down two; only where a machine differs from
 * them in the proportion of two rates is another kernel chosen. */
#define KW_RATES(X)                                                                                                                        \
    X(fma256, 7.32, "multiply-adds of 8 fp32 lanes")                                                                                       \
    X(fma512, 3.66, "multiply-adds of 16 fp32 lanes")                                                                                      \
    X(dp512, 3.66, "dot products of bf16 pairs, 16 lanes")                                                                                 \
    X(bytes256, 7.32, "dot products of int8 quads, 8 lanes")                                                                               \
    X(bytes512, 3.66, "dot products of int8 quads, 16 lanes")                                                                              \
    X(wide256, 7.32, "multiplications of int16 pairs and their additions, 8 lanes")                                                        \
    X(wide512, 3.66, "multiplications of int16 pairs and their additions, 16 lanes")                                                       \
    X(tiles, 58.6, "rows of 16 lanes that tiles of bf16 multiply")                                                                         \
    X(byte_tiles, 58.6, "rows of 16 lanes that tiles of int8 multiply")                                                                    \
    X(load256, 7.32, "loads of 32 bytes from the first-level cache")                                                                       \
    X(load512, 3.66, "loads of 64 bytes from the first-level cache")                                                                       \
    X(tile_load, 7.32, "rows of 64 bytes that tiles load")                                                                                 \
    X(l2, 112, "bytes from the second-level cache")                                                                                        \
    X(l3, 90, "bytes from the last level, of a quarter of it")                                                                             \
    X(l3_full, 48, "bytes from the last level, of nearly all of it")                                                                       \
    X(ram, 25, "bytes from memory, one thread")                                                                                            \
    X(ram_all, 27.5, "bytes from memory, all threads together")

typedef struct kw_rates {
#define KW_RATE(name, usual, meaning) double name;
    KW_RATES(KW_RATE)
#undef KW_RATE
} kw_rates;

enum { KW_RATES_TEXT_MAX = 320 };

/* The measured rates, and the defaults of the others; loads of a width of which multiply-adds alone are known go at their rate, for cores have
 * as many ports for the one as for the other, and no default of a farther level is above a nearer one's rate. */
kw_rates kw_rates_whole(const kw_rates *measured);
/* "fma256=7.32 fma512=3.66": those that were measured, three digits each. */
size_t kw_rates_print(char *text, size_t capacity, const kw_rates *rates);
/* Takes up what the text has; words of other names mean nothing to it. false: it has no rate, or one that is no number above 0. */
bool kw_rates_parse(kw_rates *rates, kw_word text);
/* Of two measurements of one machine the higher, rate by rate: what disturbs one makes it lower. */
void kw_rates_raise(kw_rates *rates, const kw_rates *other);
/* A nearer level of memory that was measured as slower than a farther one was disturbed: it gets the farther one's rate. */
void kw_rates_order(kw_rates *rates);
#endif

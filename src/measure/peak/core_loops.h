/* core_loops.h: how many instructions of one kind a core gets done. */
#ifndef KW_MEASURE_PEAK_CORE_LOOPS_H
#define KW_MEASURE_PEAK_CORE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*kw_core_loop)(long turns, const float *half, const float *one);

/* Multiply-adds, dot products of bf16 and of bytes, products of int16 pairs with their addition, loads from the first level; whole tiles. */
typedef enum kw_core_loop_id {
    KW_LOOP_FMA256,
    KW_LOOP_FMA512,
    KW_LOOP_DP512,
    KW_LOOP_BYTES256,
    KW_LOOP_BYTES512,
    KW_LOOP_WIDE256,
    KW_LOOP_WIDE512,
    KW_LOOP_LOAD256,
    KW_LOOP_LOAD512,
    KW_LOOP_TILES,
    KW_LOOP_BYTE_TILES,
    KW_LOOP_TILE_LOAD
} kw_core_loop_id;

/* NULL where this processor has no such instructions. */
kw_core_loop kw_core_loop_of(kw_core_loop_id id);
/* Instructions a nanosecond: the best of a dozen runs of a quarter of a millisecond. */
double kw_core_loop_rate(kw_core_loop loop);

#endif

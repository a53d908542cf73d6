/* sizes.h: sizes that the CPU kernels and their host side agree on: what a register tile reads, packs and spills. */
#ifndef KW_CPU_SIZES_H
#define KW_CPU_SIZES_H

#include "prelude/kernel_params.h"

/* Bytes of a cache line. Parts of thread memory begin at multiples of it. */
#define KW_LINE 64

/* Packed weights of a step of kw_tile() for block output channels. A step takes 4 bytes of a pixel. */
#define KW_TILE_STEP_BYTES(block) (4 * (block))
/* math=amx: rows of a tile register, and steps that it holds at most. A run of steps is cut into chunks of equally many. */
#define KW_AMX_ROWS 16
#define KW_AMX_CHUNKS(steps) (((steps) + KW_AMX_ROWS - 1) / KW_AMX_ROWS)
#define KW_AMX_CHUNK(steps) (((steps) + KW_AMX_CHUNKS(steps) - 1) / KW_AMX_CHUNKS(steps))

/* Sums of a tile of pixels, as fp32. */
#define KW_TILE_SPILL_BYTES(pixels, block) ((pixels)*KW_TILE_STEP_BYTES(block))

#endif

/* sizes.h: what the CPU kernels and their host side agree on: what a register tile reads, packs and spills, and which of its sums it leaves
 * out. */
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
/* Steps of copied pixels, of which a row of a register crosses no lines: of several chunks each is a line, the last one too. */
#define KW_AMX_LINES(steps) (KW_AMX_CHUNKS(steps) > 1 ? KW_AMX_CHUNKS(steps) * KW_AMX_ROWS : (steps))

/* Sums of a tile of pixels, as fp32. */
#define KW_TILE_SPILL_BYTES(pixels, block) ((pixels)*KW_TILE_STEP_BYTES(block))

/* Whether tiles of a block of channels that do not reach the last vector leave that one out. fma: of floats, by multiply-adds; quads: of bytes, by
 * dot products; special: tiles whose steps are vectors or whose sums the caller adds up. Tiles of one vector leave out nothing, but where a core
 * multiplies as fast as it loads they are bound by their loads. */
#define KW_TILE_MAY_LACK(fma, quads, vecs, special) (((fma) || (quads)) && (vecs) > 1 && !(special))
/* Whether so many can be shared out to so many tiles evenly: each tile has as many as fit it, or one less. */
#define KW_TILES_ARE_EVEN(count, tiles, fit) ((tiles) * ((fit)-1) <= (count))

#endif

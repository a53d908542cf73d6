/* tiles.h: the tile registers of AMX. Linux keeps their 8 KiB for a process only when it asked for them, and may refuse: an old kernel, a
 * policy, a stack for signals that is too small to hold them. */
#ifndef KW_BASE_OS_TILES_H
#define KW_BASE_OS_TILES_H

#include <stdbool.h>

typedef enum kw_tiles {
    KW_TILES_NONE,    /* the processor has none that serve bf16 and int8, or KW_TILES=off */
    KW_TILES_REFUSED, /* it has, and the system refuses them */
    KW_TILES_REAL,
    KW_TILES_PLAYED, /* KW_TILES=played: kernels play them in plain C */
} kw_tiles;

/* Asks for the whole process, as often as one likes. why, where they are refused: the system's reason. */
kw_tiles kw_tiles_ask(char why[64]);

#endif

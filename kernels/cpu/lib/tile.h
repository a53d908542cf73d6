/* tile.h: the kw_tile() of a config's math, for the families that have kernels of both kinds, and what a stage says before and after. */
#if KW_MATH == 3
#include "cpu/lib/amx_tile.h"
#else
#include "cpu/lib/register_tile.h"
static void kw_tiles_begin(kw_i64 steps, kw_i64 pixels) { (void)steps, (void)pixels; }
static void kw_tiles_end(void) {}
#endif

/* ahead.c: the functions that kernels are handed (kernels/cpu/ahead/), which the build compiles for each kind of elements and width of vectors. A
 * processor without vectors of 16 lanes has them as well, and no kernel that would call them. */
#include "families/cpu/ahead.h"

#include "cpu/ahead/ahead.h"

#ifdef KW_AHEAD_X86
#define EACH_KIND(DO, lanes)                                                                                                               \
    DO(0, lanes) DO(1, lanes) DO(2, lanes) DO(3, lanes) DO(4, lanes) DO(5, lanes) DO(6, lanes) DO(7, lanes) DO(8, lanes) DO(9, lanes)
#define DECLARE(kind, lanes) extern const kw_ahead_kind kw_ahead_##kind##_##lanes;
#define POINT(kind, lanes) &kw_ahead_##kind##_##lanes,
EACH_KIND(DECLARE, 8)
EACH_KIND(DECLARE, 16)
const struct kw_ahead kw_cpu_ahead = {{{EACH_KIND(POINT, 8)}, {EACH_KIND(POINT, 16)}}};
#else
const struct kw_ahead kw_cpu_ahead;
#endif

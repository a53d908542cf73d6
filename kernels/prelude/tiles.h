/* tiles.h: the tile registers of AMX, eight of 16 rows of 64 bytes. A kernel of math=amx gives each its size once a thread, KW_AMX_BEGIN,
 * and lets go of them at the end of its stage. tiles_played.h says the same in plain C. t, c, a, b: numbers of tiles, literally.
 *
 *   KW_AMX_ZERO(t)               all zero
 *   KW_AMX_LOAD(t, p, step)      rows from memory, step bytes apart
 *   KW_AMX_PASS(t, p, step)      the same of what is soon read no more: it need not stay in the first-level cache
 *   KW_AMX_STORE(t, p, step)
 *   KW_AMX_DOT(c, a, b)          c += a times b: 32-bit lanes of c; a's rows and b's columns are bf16 pairs or int8 quads
 */
#define KW_AMX_BEGIN(sizes) __asm__ volatile("ldtilecfg %0" : : "m"(sizes))
#define KW_AMX_END() __asm__ volatile("tilerelease" : : : "memory")
#define KW_AMX_ZERO(t) __asm__ volatile("tilezero %%tmm" #t : :);
#define KW_AMX_LOAD(t, p, step) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"(step) : "memory");
#define KW_AMX_PASS(t, p, step) __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(p), "r"(step) : "memory");
#define KW_AMX_STORE(t, p, step) __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(p), "r"(step) : "memory");
#if KW_STORAGE == 1
#define KW_AMX_DOT(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :);
#elif KW_X_UNSIGNED
#define KW_AMX_DOT(c, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :);
#else
#define KW_AMX_DOT(c, a, b) __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :);
#endif

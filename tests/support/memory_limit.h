/* memory_limit.h: want of memory at any one allocation. A test that kw_limit_memory() of tests/CMakeLists.txt was called for asks this
 * for each malloc, calloc, realloc and aligned_alloc of the program. */
#ifndef KW_TESTS_MEMORY_LIMIT_H
#define KW_TESTS_MEMORY_LIMIT_H

/* How many allocations are still granted before one is refused; negative: all are. */
extern long memory_granted;
/* How many were asked for, granted or not. */
extern long memory_asked;

#endif

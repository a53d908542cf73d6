/* memory_limit.c: see memory_limit.h. The linker sends the program's calls here. */
#include "support/memory_limit.h"

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

long memory_granted = -1, memory_asked;

static bool is_granted(void) {
    memory_asked++;
    return memory_granted < 0 || memory_granted-- > 0;
}

void *__wrap_malloc(size_t size) {
    return is_granted() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
    return is_granted() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *memory, size_t size) {
    return is_granted() ? __real_realloc(memory, size) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return is_granted() ? __real_aligned_alloc(alignment, size) : NULL;
}

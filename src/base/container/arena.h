/* arena.h: bulk memory that is dropped whole. Everything allocated from an arena lives until kw_arena_drop; there is no
 * single free. An arena belongs to one thread at a time. A zeroed kw_arena is an empty one. */
#ifndef KW_BASE_CONTAINER_ARENA_H
#define KW_BASE_CONTAINER_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct kw_arena_block kw_arena_block;

typedef struct kw_arena {
    kw_arena_block *last;
} kw_arena;

/* Zeroed memory aligned to 16 bytes; NULL when there is none or size overflows. */
void *kw_arena_alloc(kw_arena *arena, size_t size);
/* Zeroed array; NULL also when count * size overflows. */
void *kw_arena_array(kw_arena *arena, size_t count, size_t size);
/* A terminated copy of length bytes. */
char *kw_arena_copy(kw_arena *arena, const char *text, size_t length);
/* A formatted string; NULL when there is no memory. */
char *kw_arena_format(kw_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kw_arena_drop(kw_arena *arena);

#endif

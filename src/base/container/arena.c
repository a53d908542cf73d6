/* arena.c: a list of blocks, each twice the size of the one before it up to 1 MiB. Under AddressSanitizer every piece is a block of its own:
 * what is read or written behind a piece is behind an allocation, and a test that refuses memory can refuse it for every piece. */
#include "base/container/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kw_arena_block {
    kw_arena_block *before;
    size_t used, size;
    _Alignas(16) char data[];
};

#ifdef __SANITIZE_ADDRESS__
enum { FIRST_BLOCK = 1, LARGEST_BLOCK = 1, ALIGNMENT = 1, BLOCK_A_PIECE = 1 };
#else
enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20, ALIGNMENT = 16, BLOCK_A_PIECE = 0 };
#endif

void *kw_arena_alloc(kw_arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    kw_arena_block *block = arena->last;
    assert(!block || (block->used <= block->size && block->used % ALIGNMENT == 0));
    if (!block || BLOCK_A_PIECE || block->size - block->used < size) {
        size_t room = block && block->size < LARGEST_BLOCK ? 2 * block->size : block ? LARGEST_BLOCK : FIRST_BLOCK;
        if (room < size) {
            room = size;
        }
        block = calloc(1, sizeof *block + room);
        if (!block) {
            return NULL;
        }
        block->size = room;
        block->before = arena->last;
        arena->last = block;
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

void *kw_arena_array(kw_arena *arena, size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : kw_arena_alloc(arena, bytes);
}

char *kw_arena_copy(kw_arena *arena, const char *text, size_t length) {
    char *copy = kw_arena_alloc(arena, length + 1);
    if (copy && length) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *kw_arena_format(kw_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : kw_arena_alloc(arena, (size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(args);
    return text;
}

void kw_arena_drop(kw_arena *arena) {
    while (arena->last) {
        kw_arena_block *block = arena->last;
        arena->last = block->before;
        free(block);
    }
}

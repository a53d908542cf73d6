/* emu_room.c: see the header. A room has addresses for the most threads that a block may have; memory is there when it is touched. */
#include "backend/emu/emu_room.h"

#include "backend/emu/emu.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Calls that a fault left, and threads that ended in a call, never took back what marks the bounds of their variables, here or in what
 * is mapped here next. */
#ifdef __SANITIZE_ADDRESS__
void __asan_unpoison_memory_region(void const volatile *memory, size_t size);
#else
#define __asan_unpoison_memory_region(memory, size) (void)0
#endif

enum { PAGE = 4096 };
static const size_t room_bytes = ((size_t)KW_EMU_THREADS_MAX + 1) * KW_EMU_STACK;

static kw_emu_room *make_room(void) {
    kw_emu_room *room = calloc(1, sizeof *room);
    void *memory = room ? mmap(NULL, room_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        free(room);
        return NULL;
    }
    room->memory = memory;
    room->stacks = (char *)(((uintptr_t)memory + KW_EMU_STACK - 1) & -(uintptr_t)KW_EMU_STACK);
    return room;
}

kw_emu_room *kw_emu_room_take(kw_emu_rooms *rooms, int threads) {
    pthread_mutex_lock(&rooms->lock);
    kw_emu_room *room = rooms->idle;
    rooms->idle = room ? room->next : NULL;
    pthread_mutex_unlock(&rooms->lock);
    room = room ? room : make_room();
    for (; room && room->guarded < threads; room->guarded++) {
        mprotect(room->stacks + (size_t)room->guarded * KW_EMU_STACK, PAGE, PROT_NONE); /* a wish */
    }
    return room;
}

void kw_emu_room_give(kw_emu_rooms *rooms, kw_emu_room *room) {
    if (room) {
        pthread_mutex_lock(&rooms->lock);
        room->next = rooms->idle;
        rooms->idle = room;
        pthread_mutex_unlock(&rooms->lock);
    }
}

void kw_emu_rooms_close(kw_emu_rooms *rooms) {
    for (kw_emu_room *room = rooms->idle, *next; room; room = next) {
        next = room->next;
        __asan_unpoison_memory_region(room->memory, room_bytes);
        munmap(room->memory, room_bytes);
        free(room);
    }
    pthread_mutex_destroy(&rooms->lock);
}

/* emu_room.h: memory for the stacks of a block's threads, kept from run to run: a guard below each stack costs a call of the system, and
 * these took more time than most kernels that are checked. */
#ifndef KW_BACKEND_EMU_ROOM_H
#define KW_BACKEND_EMU_ROOM_H

#include <pthread.h>
#include <stdbool.h>

/* stacks: of KW_EMU_STACK bytes each, at such an address; the lowest page of the first `guarded` may not be touched. */
typedef struct kw_emu_room {
    struct kw_emu_room *next;
    void *memory;
    char *stacks;
    int guarded;
} kw_emu_room;

/* Those of a device that no machine has. */
typedef struct kw_emu_rooms {
    pthread_mutex_t lock;
    kw_emu_room *idle;
} kw_emu_rooms;

/* At least so many stacks, with what an earlier block left in them; NULL: no memory. */
kw_emu_room *kw_emu_room_take(kw_emu_rooms *rooms, int threads);
/* room: may be NULL. */
void kw_emu_room_give(kw_emu_rooms *rooms, kw_emu_room *room);
void kw_emu_rooms_close(kw_emu_rooms *rooms);

#endif

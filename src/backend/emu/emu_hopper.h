/* emu_hopper.h: what Hopper adds to a block: barriers in shared memory that count arrivals and bytes, bulk copies that complete on them,
 * and matrix instructions of four waves that read shared memory. The functions of a thread are calls of the kernel text (emu_abi.h). */
#ifndef KW_BACKEND_EMU_EMU_HOPPER_H
#define KW_BACKEND_EMU_EMU_HOPPER_H

#include "backend/emu/emu.h"

/* --- emu_bulk.c --- */

void kw_emu_mbar_init(kw_emu_thread *self, char *bar, int count);
void kw_emu_mbar_end(kw_emu_thread *self, char *bar);
void kw_emu_mbar_arrive(kw_emu_thread *self, char *bar, int bytes);
void kw_emu_mbar_wait(kw_emu_thread *self, char *bar, int parity);
void kw_emu_tensor_load(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6]);
void kw_emu_proxy_fence(kw_emu_thread *self);
unsigned kw_emu_shared_address(kw_emu_thread *self, const void *at);

/* A block begins. */
void kw_emu_bulk_begin(kw_emu_machine *machine);
/* Nobody can run: carries out the oldest bulk copy. false: there is none. */
bool kw_emu_bulk_next(kw_emu_machine *machine);

/* --- emu_group.c --- */

void kw_emu_wgmma(kw_emu_thread *self, const kw_emu_inst *inst, float *acc, unsigned long long a, unsigned long long b);
void kw_emu_wgmma_step(kw_emu_thread *self, int commits);
void kw_emu_wgmma_wait(kw_emu_thread *self, int groups);

/* A block begins; has ended: products that nobody waited for are a fault. */
void kw_emu_group_begin(kw_emu_machine *machine);
void kw_emu_group_left(kw_emu_machine *machine);

#endif

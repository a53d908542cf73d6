/* emu_hopper.h: what Hopper adds to a block: barriers in shared memory that count arrivals and bytes, bulk copies that complete on them,
 * bulk stores, barriers of some waves, and matrix instructions of four waves that read shared memory. The functions of a thread are calls
 * of the kernel text (emu_abi.h). */
#ifndef KW_BACKEND_EMU_HOPPER_EMU_HOPPER_H
#define KW_BACKEND_EMU_HOPPER_EMU_HOPPER_H

#include "backend/emu/emu.h"

/* --- emu_bulk.c --- */

void kw_emu_mbar_init(kw_emu_thread *self, char *bar, int count);
void kw_emu_mbar_end(kw_emu_thread *self, char *bar);
void kw_emu_mbar_fence(kw_emu_thread *self);
void kw_emu_mbar_arrive(kw_emu_thread *self, char *bar, int bytes);
void kw_emu_mbar_wait(kw_emu_thread *self, char *bar, int parity);
void kw_emu_tensor_load(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6]);
void kw_emu_mbar_arrive_at(kw_emu_thread *self, char *bar, int rank);
void kw_emu_tensor_share(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], int blocks);
void kw_emu_tensor_pixels(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], const int offset[3]);
void kw_emu_proxy_fence(kw_emu_thread *self);
unsigned kw_emu_shared_address(kw_emu_thread *self, const void *at);

/* A block begins. */
void kw_emu_bulk_begin(kw_emu_machine *machine);
/* Nobody can run: carries out the oldest bulk copy. false: there is none. */
bool kw_emu_bulk_next(kw_emu_machine *machine);

/* One run of a box along its innermost axis, or the channels of a pixel; NULL: it lies outside. count: elements that are there, from the
 * `skip`th on. */
char *kw_emu_box_row(const kw_emu_bulk *b, int64_t row, int *skip, int *count);
int64_t kw_emu_box_bytes(const kw_emu_map *map);
/* Byte of shared memory: bits 4-6 are combined with bits 7-9. */
int32_t kw_emu_swizzled(const kw_emu_map *map, int32_t byte);
/* NULL, or the rule that a copy breaks. */
const char *kw_emu_bulk_rejection(const kw_emu_machine *machine, const kw_emu_bulk *b, int coordinates);

/* --- emu_store.c --- */

void kw_emu_tensor_store(kw_emu_thread *self, const kw_emu_map *map, const char *from, const int at[6]);
void kw_emu_store_commit(kw_emu_thread *self);
void kw_emu_store_wait(kw_emu_thread *self, int groups);
void kw_emu_waves_barrier(kw_emu_thread *self, int number, int threads, int waits);
/* A block begins; has ended: stores that nobody waited for, and barriers that some arrived at, are faults. */
void kw_emu_store_begin(kw_emu_machine *machine);
void kw_emu_store_left(kw_emu_machine *machine);

/* --- emu_cluster.c --- */

void kw_emu_cluster_barrier(kw_emu_thread *self);
/* The block of this rank, which what is asked for reaches; NULL: a fault is told. */
kw_emu_machine *kw_emu_cluster_peer(kw_emu_thread *self, int rank, const char *what, const void *place);
void kw_emu_peer_write(kw_emu_thread *self, char *at, int rank, const unsigned words[4]);
/* All threads of all blocks of a cluster are at the barrier: this one's go on. */
void kw_emu_cluster_met(kw_emu_machine *machine);
/* Then: what it knows of the others. */
void kw_emu_cluster_know(kw_emu_machine *machine);

/* --- emu_group.c --- */

void kw_emu_wgmma(kw_emu_thread *self, const kw_emu_inst *inst, float *acc, unsigned long long a, unsigned long long b, int add);
void kw_emu_wgmma_step(kw_emu_thread *self, int commits);
void kw_emu_wgmma_wait(kw_emu_thread *self, int groups);
void kw_emu_registers(kw_emu_thread *self, int count, int takes, int blocks);

/* A block begins; has ended: products that nobody waited for are a fault. */
void kw_emu_group_begin(kw_emu_machine *machine);
void kw_emu_group_left(kw_emu_machine *machine);

#endif

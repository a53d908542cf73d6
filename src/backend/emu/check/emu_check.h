/* emu_check.h: what a machine is told of each access to memory, and what it makes of it. */
#ifndef KW_BACKEND_EMU_CHECK_EMU_CHECK_H
#define KW_BACKEND_EMU_CHECK_EMU_CHECK_H

#include "backend/emu/emu.h"

/* The calls of the kernel text before an access. They do not return when the access is wrong. */
void kw_emu_read(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);
void kw_emu_write(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);
void kw_emu_add(kw_emu_thread *self, const void *at, void *const *frame);
/* An asynchronous copy is asked for, and later carried out. */
void kw_emu_copy_begins(kw_emu_thread *self, const kw_emu_copy *copy, void *const *frame);
void kw_emu_copy_ends(kw_emu_thread *self, const kw_emu_copy *copy);

/* What one thread did before comes before what others do now: in the whole block, in one wave. */
void kw_emu_order_block(kw_emu_machine *machine);
void kw_emu_order_wave(kw_emu_machine *machine, int wave);
/* All of the block know what other blocks of its cluster wrote here. */
void kw_emu_order_cluster(kw_emu_machine *machine);
/* A block of the cluster writes to 16 bytes of `machine`, another one: they must be there, and nothing since the two last met may have touched
 * them. */
void kw_emu_peer_wrote(kw_emu_thread *self, kw_emu_machine *machine, int64_t offset, void *const *frame);
/* A bulk copy that a thread asks for will write to bytes of `machine`, another one: it must know that nothing touches them any more. */
void kw_emu_peer_brings(kw_emu_thread *self, kw_emu_machine *machine, int64_t offset, int64_t bytes, void *const *frame);

/* What a bulk copy or a matrix instruction of four waves does with bytes of shared memory from offset on. begins: asked for by a thread;
 * till it ends nobody may write there, nor read what is written. Products stamp what they read with the first thread of the four waves. */
void kw_emu_engine_begins(kw_emu_thread *self, int64_t offset, int64_t bytes, bool writes, void *const *frame);
/* The same reading, seen by a thread that takes part in it: it must know of what is read. */
void kw_emu_engine_reads(kw_emu_thread *self, int64_t offset, int64_t bytes, void *const *frame);
void kw_emu_engine_wrote(kw_emu_machine *machine, int64_t offset, int64_t bytes);
void kw_emu_engine_read(kw_emu_machine *machine, int thread, int64_t offset, int64_t bytes);

/* A moment of a thread, and whether it comes before what another one does now. */
uint32_t kw_emu_stamp(const kw_emu_machine *machine, int thread);
bool kw_emu_happens_before(const kw_emu_machine *machine, uint32_t stamp, int thread);
/* Whether a thread's wave knows all of others, those of its four waves left out, that another one of these does. */
bool kw_emu_knows_as_much(const kw_emu_machine *machine, int thread, int other);
/* What a thread did and knows is put to knowledge; a thread knows from now on what is there. */
void kw_emu_clock_release(kw_emu_machine *machine, int thread, uint32_t knowledge[KW_EMU_AGENTS]);
void kw_emu_clock_acquire(kw_emu_machine *machine, int thread, const uint32_t knowledge[KW_EMU_AGENTS]);

#endif

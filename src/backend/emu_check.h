/* emu_check.h: what a machine is told of each access to memory, and what it makes of it. */
#ifndef KW_BACKEND_EMU_CHECK_H
#define KW_BACKEND_EMU_CHECK_H

#include "backend/emu.h"

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

#endif

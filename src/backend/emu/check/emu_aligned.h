/* emu_aligned.h: what the lanes of a wave must do together. NVIDIA's instructions that are `.aligned` want all lanes at the same one, and a
 * function that holds one is another instruction wherever it is called from, since compilers put it there. Lanes that wait for each other at one
 * are compared when all are there; what they do not wait at is a path that each has gone, and paths are compared when they meet next. */
#ifndef KW_BACKEND_EMU_CHECK_EMU_ALIGNED_H
#define KW_BACKEND_EMU_CHECK_EMU_ALIGNED_H

#include "backend/emu/emu.h"

/* What a thread that does not run waits at: "kw_mma". */
const char *kw_emu_call_name(const kw_emu_fiber *fiber);
/* A thread calls the machine: where, for those that compare it while it waits. frame: of the machine's function that the text called. */
void kw_emu_come(kw_emu_thread *self, void *const *frame);
/* The first of threads that wait, from first + 1 to last - 1, which waits elsewhere than the first; -1: none. up: so many callers up their calls
 * differ, 0: these themselves do. */
int kw_emu_find_apart(const kw_emu_machine *machine, int first, int last, int *up);
/* The place of a thread that waits, or of a caller so many up; NULL: there is none. */
const void *kw_emu_caller_place(const kw_emu_machine *machine, const kw_emu_fiber *fiber, int up);

/* Products of the thread's four waves are asked for, or about to be, and not waited for, and the text tells where it is. */
bool kw_emu_under_way(const kw_emu_thread *self);
/* A thread does what the other lanes of its wave must do too. what: which of these things, or of a barrier of some waves KW_EMU_NAMED_STEP. */
enum { KW_EMU_ACCESS_STEP, KW_EMU_MBAR_STEP };
#define KW_EMU_NAMED_STEP(number, waits) ((number) << 1 | !(waits))
void kw_emu_step_taken(kw_emu_thread *self, kw_emu_path_kind kind, int what, void *const *frame);
/* All lanes of a wave have met, or ended: a fault when they came by different paths, which then begin anew. */
void kw_emu_compare_paths(kw_emu_machine *machine, int wave);

/* A fault: these lanes of a wave go on from where they wait without the others. here: bits of lanes. */
void kw_emu_report_missing(kw_emu_machine *machine, int wave, uint64_t here);

/* The calls of the kernel text before an access; they go on to kw_emu_read and kw_emu_write. */
void kw_emu_text_reads(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);
void kw_emu_text_writes(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);

#endif

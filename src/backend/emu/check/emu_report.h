/* emu_report.h: what the machine says of threads that wait for each other in vain. */
#ifndef KW_BACKEND_EMU_CHECK_EMU_REPORT_H
#define KW_BACKEND_EMU_CHECK_EMU_REPORT_H

#include "backend/emu/emu.h"

/* Nobody can go on and not all have ended. */
void kw_emu_report_deadlock(kw_emu_machine *machine);
/* The same from outside the block. */
void kw_emu_say_deadlock(kw_emu_machine *machine);
/* All threads stand at a barrier: a fault when lanes of one wave came to different ones. */
void kw_emu_report_partial_barrier(kw_emu_machine *machine);
/* All of so many threads from first on, those of a wave or of four, stand at a joint operation: a fault when it is not the same one. */
void kw_emu_report_diverged(kw_emu_machine *machine, int first, int count);

/* A thread asks for its next asynchronous copy: a fault when the other lanes' copy of that number stands elsewhere or has another base. */
void kw_emu_report_collective(kw_emu_machine *machine, int thread, const char *base, const void *place);

#endif

/* emu_schedule.c: whose turn it is among the fibers of a block, and the way out of a block that went wrong. Below all other files of the
 * emulator: what it cannot know is asked of the machine's events. */
#include "backend/emu/emu.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* The next thread that can run, from wave first on; -1: none. */
static int next_ready(const kw_emu_machine *m, int first) {
    for (int i = 0; i < m->waves; i++) {
        int wave = first + i < m->waves ? first + i : first + i - m->waves;
        if (m->wave[wave].ready) {
            return wave * m->run->wave + __builtin_ctzll(m->wave[wave].ready);
        }
    }
    return -1;
}

/* Goes on with another thread. Returns when somebody goes on with this one, which for one that has ended is never. */
void kw_emu_yield(kw_emu_machine *m) {
    int self = m->current, next = next_ready(m, self / m->run->wave);
    while (next < 0 && m->events.idle(m)) {
        next = next_ready(m, self / m->run->wave);
    }
    if (next < 0) {
        m->events.stuck(m);
        kw_emu_switch(&m->fiber[self].sp, &m->outside);
        return;
    }
    if (next == self) {
        return;
    }
    assert(next < m->run->threads && m->fiber[next].state != KW_EMU_ENDED);
    m->current = next;
    kw_emu_switch(&m->fiber[self].sp, &m->fiber[next].sp);
}

void kw_emu_resume(kw_emu_machine *m) {
    int next = next_ready(m, 0);
    assert(next >= 0);
    m->current = next;
    kw_emu_switch(&m->outside, &m->fiber[next].sp);
}

void kw_emu_fault(kw_emu_machine *m, const char *format, ...) {
    if (!m->failed) {
        va_list list;
        va_start(list, format);
        vsnprintf(m->fault, sizeof m->fault, format, list);
        va_end(list);
    }
    m->failed = true;
    kw_emu_switch(&m->fiber[m->current].sp, &m->outside);
}

void kw_emu_set_ready(kw_emu_machine *m, int thread, bool ready) {
    assert(thread >= 0 && thread < m->run->threads);
    uint64_t bit = (uint64_t)1 << thread % m->run->wave, *mask = &m->wave[thread / m->run->wave].ready;
    *mask = ready ? *mask | bit : *mask & ~bit;
}

/* emu_report.c: see emu_report.h. Threads that do the same at the same line are one group: "0-31, 64-95 wait at kw_barrier,
 * gpu/igemm/igemm.c:210". */
#include "backend/emu/check/emu_report.h"

#include "backend/emu/check/emu_aligned.h"

#include <stdio.h>
#include <string.h>

static void describe_fiber(const kw_emu_machine *m, const kw_emu_fiber *fiber, int up, char text[160]) {
    char place[80], caller[80];
    if (fiber->state == KW_EMU_ENDED || fiber->state == KW_EMU_RUNS) {
        snprintf(text, 160, "%s", fiber->state == KW_EMU_ENDED ? "have ended" : "run");
        return;
    }
    kw_emu_line(m->run->object, fiber->place, place);
    int used = snprintf(text, 160, "wait %s%s, %.40s",
                        fiber->state == KW_EMU_IN_WAVE    ? "for their wave at "
                        : fiber->state == KW_EMU_IN_GROUP ? "for their four waves at "
                                                          : "at ",
                        kw_emu_call_name(fiber), place);
    const void *above = up > 0 ? kw_emu_caller_place(m, fiber, up) : NULL;
    if (above) {
        kw_emu_line(m->run->object, above, caller);
        snprintf(text + used, 160 - (size_t)used, " called at %.40s", caller);
    } else if (fiber->state == KW_EMU_AT_MBAR) {
        const kw_emu_mbar *mbar = fiber->mbar;
        snprintf(text + used, 160 - (size_t)used, ", for %d of %d arrivals and %lld bytes at byte %d", mbar->missing, mbar->count,
                 (long long)mbar->bytes, mbar->at);
    } else if (fiber->state == KW_EMU_AT_WAVES) {
        const kw_emu_named *named = &m->named[fiber->named];
        snprintf(text + used, 160 - (size_t)used, ", number %d, where %d of %d are", fiber->named, named->arrived, named->threads);
    } else if (fiber->state == KW_EMU_AT_REGISTERS) {
        const kw_emu_group *group = &m->group[(fiber - m->fiber) / KW_EMU_GROUP];
        snprintf(text + used, 160 - (size_t)used, ", for %d registers instead of %d", group->wanted, group->registers);
    }
}

/* What a thread waited for before counts no more. */
static bool same_position(const kw_emu_machine *m, const kw_emu_fiber *a, const kw_emu_fiber *b, int up) {
    if (a->state != b->state || a->state == KW_EMU_ENDED || a->state == KW_EMU_RUNS) {
        return a->state == b->state;
    }
    bool joint = a->state == KW_EMU_IN_WAVE || a->state == KW_EMU_IN_GROUP;
    return a->place == b->place && (!joint || a->joint == b->joint) && (a->state != KW_EMU_AT_MBAR || a->mbar == b->mbar) &&
           (a->state != KW_EMU_AT_WAVES || a->named == b->named) &&
           (up <= 0 || kw_emu_caller_place(m, a, up) == kw_emu_caller_place(m, b, up));
}

/* "threads 0-31 wait at ...; 32-63 have ended" for threads first .. last-1. up: names who called, so many callers up. Returns how long it is. */
static size_t list_groups(const kw_emu_machine *m, int first, int last, int up, char *text, size_t room) {
    size_t used = 0;
    for (int from = first, to; from < last && used < room; from = to) {
        char what[160];
        for (to = from + 1; to < last && same_position(m, &m->fiber[from], &m->fiber[to], up); to++) {
        }
        describe_fiber(m, &m->fiber[from], up, what);
        int wrote = to - from > 1 ? snprintf(text + used, room - used, "%s%d-%d %s", used ? "; " : "threads ", from, to - 1, what)
                                  : snprintf(text + used, room - used, "%s%d %s", used ? "; " : "threads ", from, what);
        used += (size_t)wrote;
    }
    return used;
}

/* The first thread of a wave some of whose lanes wait for the others at what all must come to; -1: there is none. */
static int first_parted(const kw_emu_machine *m) {
    for (int t = 0; t < m->run->threads; t++) {
        int first = t / m->run->wave * m->run->wave;
        const kw_emu_fiber *a = &m->fiber[first], *b = &m->fiber[t];
        bool alone = a->state == KW_EMU_AT_MBAR || a->state == KW_EMU_ENDED, other = b->state == KW_EMU_AT_MBAR || b->state == KW_EMU_ENDED;
        if (!(alone && other) && !same_position(m, a, b, 0)) {
            return first;
        }
    }
    return -1;
}

void kw_emu_say_deadlock(kw_emu_machine *m) {
    int used = snprintf(m->fault, sizeof m->fault, "deadlock in block %lld: ", (long long)m->block), parted = first_parted(m);
    size_t room = sizeof m->fault - (size_t)used;
    if (list_groups(m, 0, m->run->threads, 0, m->fault + used, room) >= room && parted >= 0) { /* not all can be said: that may be why */
        int last = parted + m->run->wave < m->run->threads ? parted + m->run->wave : m->run->threads;
        used = snprintf(m->fault, sizeof m->fault, "deadlock in block %lld, where the lanes of a wave part: ", (long long)m->block);
        list_groups(m, parted, last, 0, m->fault + used, sizeof m->fault - (size_t)used);
    }
}

void kw_emu_report_deadlock(kw_emu_machine *m) {
    kw_emu_say_deadlock(m);
    m->failed = true; /* what is said stays */
    kw_emu_fault(m, "deadlock");
}

/* The same line may stand in the machine code several times. */
static bool same_line(const kw_emu_machine *m, const void *a, const void *b) {
    char first[80], second[80];
    if (a == b) {
        return true;
    }
    kw_emu_line(m->run->object, a, first);
    kw_emu_line(m->run->object, b, second);
    return !strcmp(first, second);
}

void kw_emu_report_diverged(kw_emu_machine *m, int first, int count) {
    int last = first + count < m->run->threads ? first + count : m->run->threads;
    int up;
    if (kw_emu_find_apart(m, first, last, &up) >= 0) {
        char text[sizeof m->fault - 48];
        list_groups(m, first, last, up, text, sizeof text);
        kw_emu_fault(m, "the lanes of %s part in block %lld: %s", count > m->run->wave ? "four waves" : "a wave", (long long)m->block,
                     text);
    }
    for (int t = first; t < last; t += m->run->wave) {
        kw_emu_compare_paths(m, t / m->run->wave);
    }
}

void kw_emu_report_partial_barrier(kw_emu_machine *m) {
    for (int first = 0; first < m->run->threads; first += m->run->wave) {
        kw_emu_report_diverged(m, first, m->run->wave);
    }
}

/* A lane that is far behind the others finds its number taken by a later one, and is not compared. */
void kw_emu_report_collective(kw_emu_machine *m, int thread, const char *base, const void *place) {
    uint32_t number = ++m->fiber[thread].asked;
    kw_emu_collective_call *slot = &m->wave[thread / m->run->wave].asked[number % KW_EMU_COLLECTIVES_KEPT];
    if (slot->number > number) {
        return;
    }
    if (slot->number < number) {
        *slot = (kw_emu_collective_call){number, base, place, thread};
        return;
    }
    if (slot->base != base || !same_line(m, slot->place, place)) {
        char first[80], second[80];
        kw_emu_line(m->run->object, slot->place, first);
        kw_emu_line(m->run->object, place, second);
        kw_emu_fault(m,
                     "asynchronous copy in block %lld: lanes of a wave must copy together to one base; thread %d: base %lld, %s; thread "
                     "%d: base %lld, %s",
                     (long long)m->block, slot->thread, (long long)(slot->base - m->lds), first, thread, (long long)(base - m->lds),
                     second);
    }
}

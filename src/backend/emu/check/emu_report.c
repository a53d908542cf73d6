/* emu_report.c: see emu_report.h. Threads that do the same at the same line are one group: "0-31, 64-95 wait at kw_barrier,
 * gpu/igemm/igemm.c:210". */
#include "backend/emu/check/emu_report.h"

#include <stdio.h>
#include <string.h>

static const char *fiber_activity(const kw_emu_fiber *fiber) {
    switch (fiber->state) {
    case KW_EMU_AT_BARRIER:
        return "wait at kw_barrier";
    case KW_EMU_IN_WAVE:
        return fiber->joint == KW_EMU_MATRIX         ? "wait for their wave at kw_mma"
               : fiber->joint == KW_EMU_WAVE_BARRIER ? "wait for their wave at kw_wave_barrier"
               : fiber->joint == KW_EMU_MATRIX_WRITE || fiber->joint == KW_EMU_MATRIX_WRITE_TURNED
                   ? "wait for their wave at kw_matrix_write"
                   : "wait for their wave at kw_matrix_read";
    case KW_EMU_IN_GROUP:
        return fiber->joint == KW_EMU_GROUP_MATRIX   ? "wait for their four waves at kw_wgmma"
               : fiber->joint == KW_EMU_GROUP_FENCE  ? "wait for their four waves at kw_wgmma_fence"
               : fiber->joint == KW_EMU_GROUP_COMMIT ? "wait for their four waves at kw_wgmma_commit"
                                                     : "wait for their four waves at kw_wgmma_wait";
    case KW_EMU_AT_MBAR:
        return "wait at kw_mbar_wait";
    case KW_EMU_AT_WAVES:
        return "wait at kw_waves_barrier";
    case KW_EMU_AT_CLUSTER:
        return "wait at kw_cluster_barrier";
    case KW_EMU_ENDED:
        return "have ended";
    default:
        return "run";
    }
}

static void describe_fiber(const kw_emu_machine *m, const kw_emu_fiber *fiber, char text[128]) {
    char place[80];
    if (fiber->state == KW_EMU_ENDED) {
        snprintf(text, 128, "%s", fiber_activity(fiber));
        return;
    }
    kw_emu_line(m->run->object, fiber->place, place);
    if (fiber->state == KW_EMU_AT_MBAR) {
        const kw_emu_mbar *mbar = fiber->mbar;
        snprintf(text, 128, "%s, %.40s, for %d of %d arrivals and %lld bytes at byte %d", fiber_activity(fiber), place, mbar->missing,
                 mbar->count, (long long)mbar->bytes, mbar->at);
        return;
    }
    if (fiber->state == KW_EMU_AT_WAVES) {
        const kw_emu_named *named = &m->named[fiber->named];
        snprintf(text, 128, "%s, %.40s, number %d, where %d of %d are", fiber_activity(fiber), place, fiber->named, named->arrived,
                 named->threads);
        return;
    }
    snprintf(text, 128, "%s, %s", fiber_activity(fiber), place);
}

static bool same_position(const kw_emu_fiber *a, const kw_emu_fiber *b) {
    return a->state == b->state &&
           (a->state == KW_EMU_ENDED || (a->place == b->place && a->joint == b->joint && a->mbar == b->mbar && a->named == b->named));
}

/* "threads 0-31 wait at ...; 32-63 have ended" for threads first .. last-1. */
static void list_groups(const kw_emu_machine *m, int first, int last, char *text, size_t room) {
    size_t used = 0;
    for (int from = first, to; from < last && used < room; from = to) {
        char what[128];
        for (to = from + 1; to < last && same_position(&m->fiber[from], &m->fiber[to]); to++) {
        }
        describe_fiber(m, &m->fiber[from], what);
        int wrote = to - from > 1 ? snprintf(text + used, room - used, "%s%d-%d %s", used ? "; " : "threads ", from, to - 1, what)
                                  : snprintf(text + used, room - used, "%s%d %s", used ? "; " : "threads ", from, what);
        used += (size_t)wrote;
    }
}

void kw_emu_say_deadlock(kw_emu_machine *m) {
    int used = snprintf(m->fault, sizeof m->fault, "deadlock in block %lld: ", (long long)m->block);
    list_groups(m, 0, m->run->threads, m->fault + used, sizeof m->fault - (size_t)used);
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
    for (int t = first + 1; t < last; t++) {
        const kw_emu_fiber *a = &m->fiber[first], *b = &m->fiber[t];
        if (a->joint != b->joint || (a->place != b->place && !same_line(m, a->place, b->place))) {
            char text[sizeof m->fault - 64];
            list_groups(m, first, last, text, sizeof text);
            kw_emu_fault(m, "the lanes of %s part in block %lld: %s", count > m->run->wave ? "four waves" : "a wave", (long long)m->block,
                         text);
        }
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

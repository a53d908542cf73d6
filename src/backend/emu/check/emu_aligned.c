/* emu_aligned.c: see emu_aligned.h. A call is where it stands and where its function was called, up to the kernel: the text is compiled without
 * inlining, so that the addresses along the frames tell one from another. Where a compiler optimised, lines do.
 *
 * Two paths are kept. Barriers of some waves, of which those that arrive do not wait. And while products of four waves are asked for and not
 * waited for, each access to memory and each wait for a barrier: lanes that part there leave the compiler to bring them together again between
 * wgmma instructions, and an H200 was seen to hang (docs/devices/emulator.md). An arrival is one instruction with a predicate, and not one of these. */
#include "backend/emu/check/emu_aligned.h"

#include "backend/emu/check/emu_check.h"

#include <stdio.h>
#include <string.h>

static kw_emu_thread *thread_head(const kw_emu_machine *m, int thread) {
    return (kw_emu_thread *)(void *)(m->stacks + (size_t)(thread + 1) * KW_EMU_STACK) - 1;
}

/* --- where a call stands --- */

const char *kw_emu_call_name(const kw_emu_fiber *fiber) {
    static const char *const joint[] = {[KW_EMU_MATRIX] = "kw_mma",
                                        [KW_EMU_MATRIX_READ] = "kw_matrix_read",
                                        [KW_EMU_MATRIX_READ_TURNED] = "kw_matrix_read",
                                        [KW_EMU_MATRIX_WRITE] = "kw_matrix_write",
                                        [KW_EMU_MATRIX_WRITE_TURNED] = "kw_matrix_write",
                                        [KW_EMU_WAVE_BARRIER] = "kw_wave_barrier",
                                        [KW_EMU_GROUP_MATRIX] = "kw_wgmma",
                                        [KW_EMU_GROUP_FENCE] = "kw_wgmma_fence",
                                        [KW_EMU_GROUP_COMMIT] = "kw_wgmma_commit",
                                        [KW_EMU_GROUP_WAIT] = "kw_wgmma_wait",
                                        [KW_EMU_GROUP_GIVE] = "kw_registers_give",
                                        [KW_EMU_GROUP_TAKE] = "kw_registers_take"};
    static const char *const state[] = {
        [KW_EMU_AT_BARRIER] = "kw_barrier",         [KW_EMU_AT_MBAR] = "kw_mbar_wait",           [KW_EMU_AT_WAVES] = "kw_waves_barrier",
        [KW_EMU_AT_CLUSTER] = "kw_cluster_barrier", [KW_EMU_AT_REGISTERS] = "kw_registers_take", [KW_EMU_ENDED] = NULL};
    return fiber->state == KW_EMU_IN_WAVE || fiber->state == KW_EMU_IN_GROUP ? joint[fiber->joint] : state[fiber->state];
}

static bool in_text(const kw_emu_machine *m, const void *place) {
    return (size_t)((const char *)place - m->run->object->base) < m->run->object->size;
}

/* The frame above, NULL: there is none. Frames of a thread lie on its stack, callers above. */
static void *const *frame_above(void *const *frame) {
    uintptr_t top = ((uintptr_t)frame | (KW_EMU_STACK - 1)) - sizeof(kw_emu_thread);
    void *const *caller = (void *const *)frame[0];
    return caller > frame && (uintptr_t)caller < top ? caller : NULL;
}

void kw_emu_come(kw_emu_thread *self, void *const *frame) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    fiber->place = frame[1];
    fiber->caller = (void *const *)frame[0];
}

static bool same_place(const kw_emu_machine *m, const void *a, const void *b) {
    char first[80], second[80];
    if (a == b || !m->run->object->optimised) {
        return a == b;
    }
    kw_emu_line(m->run->object, a, first);
    kw_emu_line(m->run->object, b, second);
    return !strcmp(first, second);
}

static int calls_differ(const kw_emu_machine *m, const kw_emu_fiber *a, const kw_emu_fiber *b) {
    const void *one = a->place, *other = b->place;
    void *const *frame = a->caller, *const *beside = b->caller;
    for (int up = 0;; up++) {
        if (!in_text(m, one) || !in_text(m, other)) { /* the machine, which called the kernel */
            return in_text(m, one) == in_text(m, other) ? -1 : up;
        }
        if (!same_place(m, one, other)) {
            return up;
        }
        if (!frame || !beside) {
            return -1;
        }
        one = frame[1], other = beside[1];
        frame = frame_above(frame), beside = frame_above(beside);
    }
}

/* Where lanes go the same way, what they return to lies at the same places of their stacks. */
enum { DEPTH_MAX = 16 };

int kw_emu_find_apart(const kw_emu_machine *m, int first, int last, int *up) {
    const kw_emu_fiber *a = &m->fiber[first];
    const char *stack = m->stacks + (size_t)first * KW_EMU_STACK;
    void *const *frame = a->caller;
    const void *back[DEPTH_MAX];
    ptrdiff_t at[DEPTH_MAX];
    int depth = 0;
    for (; frame && depth < DEPTH_MAX; frame = in_text(m, frame[1]) ? frame_above(frame) : NULL) {
        back[depth] = frame[1];
        at[depth++] = (const char *)(frame + 1) - stack;
    }
    for (int t = first + 1; t < last; t++) {
        const kw_emu_fiber *b = &m->fiber[t];
        const char *other = stack + (size_t)(t - first) * KW_EMU_STACK;
        bool same = !frame && a->place == b->place && (const char *)a->caller - stack == (const char *)b->caller - other;
        for (int i = 0; i < depth && same; i++) {
            same = *(const void *const *)(const void *)(other + at[i]) == back[i];
        }
        *up = a->state != b->state || (a->state != KW_EMU_AT_BARRIER && a->joint != b->joint) ? 0 : same ? -1 : calls_differ(m, a, b);
        if (*up >= 0) {
            return t;
        }
    }
    return -1;
}

const void *kw_emu_caller_place(const kw_emu_machine *m, const kw_emu_fiber *fiber, int up) {
    const void *place = fiber->place;
    void *const *frame = fiber->caller;
    for (; up > 0 && frame && in_text(m, place); up--) {
        place = frame[1];
        frame = frame_above(frame);
    }
    return up == 0 && in_text(m, place) ? place : NULL;
}

/* --- paths --- */

static uint64_t digest_with(uint64_t digest, uint64_t value) {
    return (digest ^ value) * 0x9e3779b97f4a7c15 + (digest >> 29);
}

void kw_emu_step_taken(kw_emu_thread *self, kw_emu_path_kind kind, int what, void *const *frame) {
    kw_emu_machine *m = self->machine;
    kw_emu_wave *wave = &m->wave[self->thread >> m->run->wave_shift];
    kw_emu_path *path = &m->fiber[self->thread].path[kind];
    void *const *above = frame_above(frame);
    kw_emu_step step = {.place = frame[1], .caller = above ? above[1] : NULL, .what = what};
    uint32_t number = path->count++;
    path->digest = digest_with(path->digest, (uint64_t)what);
    for (; frame && in_text(m, frame[1]) && !m->run->object->optimised; frame = frame_above(frame)) {
        path->digest = digest_with(path->digest, (uint64_t)((const char *)frame[1] - m->run->object->base));
    }
    step.digest = path->digest;
    if (number >= KW_EMU_STEPS_KEPT) {
        return;
    }
    if (number == wave->steps[kind]) {
        wave->step[kind][wave->steps[kind]++] = step;
    } else if (!path->parted && wave->step[kind][number].digest != step.digest) {
        path->parted = number + 1;
        path->own = step;
    }
}

/* "3, 16-31": the threads of a wave that bits say. */
static void list_threads(const kw_emu_machine *m, int wave, uint64_t bits, char *text, size_t room) {
    size_t used = 0;
    *text = 0;
    for (int from = 0, to; from < m->run->wave && used < room; from = to) {
        to = from + 1;
        if (!(bits >> from & 1)) {
            continue;
        }
        while (to < m->run->wave && bits >> to & 1) {
            to++;
        }
        int first = wave * m->run->wave;
        used +=
            (size_t)snprintf(text + used, room - used, to - from > 1 ? "%s%d-%d" : "%s%d", used ? ", " : "", first + from, first + to - 1);
    }
}

/* "kw_barrier, gpu/igemm/igemm.c:210": what a thread came to. */
static void say_call(const kw_emu_machine *m, const kw_emu_fiber *fiber, char text[112]) {
    char line[80];
    snprintf(text, 112, "their end");
    if (fiber->state != KW_EMU_ENDED) {
        kw_emu_line(m->run->object, fiber->place, line);
        snprintf(text, 112, "%s, %s", kw_emu_call_name(fiber), line);
    }
}

static void say_step(const kw_emu_machine *m, kw_emu_path_kind kind, const kw_emu_step *step, bool calls, char text[208]) {
    char line[80], caller[80] = "";
    kw_emu_line(m->run->object, step->place, line);
    if (calls && in_text(m, step->caller)) {
        kw_emu_line(m->run->object, step->caller, caller);
    }
    const char *what = kind == KW_EMU_PATH_STEPS ? (step->what == KW_EMU_MBAR_STEP ? "kw_mbar_wait" : "an access to memory")
                       : step->what & 1          ? "kw_waves_arrive"
                                                 : "kw_waves_barrier";
    snprintf(text, 208, "%s, %s%s%s", what, line, *caller ? " called at " : "", caller);
}

void kw_emu_report_missing(kw_emu_machine *m, int wave, uint64_t here) {
    const kw_emu_fiber *fiber = &m->fiber[wave * m->run->wave + __builtin_ctzll(here)];
    char threads[48], line[80];
    list_threads(m, wave, m->wave[wave].all & ~here, threads, sizeof threads);
    kw_emu_line(m->run->object, fiber->place, line);
    kw_emu_fault(m, "the lanes of a wave part in block %lld: threads %s do not come to %s, %s", (long long)m->block, threads,
                 kw_emu_call_name(fiber), line);
}

static uint32_t steps_together(const kw_emu_path *path) {
    return path->parted ? path->parted - 1 : path->count;
}

static void report_path(kw_emu_machine *m, int wave, kw_emu_path_kind kind, int first, int last) {
    const char *when = kind == KW_EMU_PATH_STEPS ? " while products are under way" : "";
    uint32_t number = KW_EMU_STEPS_KEPT; /* of the first thing that not all did */
    uint64_t others = 0, without = 0;    /* who did something else instead, or nothing */
    char threads[48], one[208], other[208];
    for (int t = first; t < last; t++) {
        uint32_t good = steps_together(&m->fiber[t].path[kind]);
        number = good < number ? good : number;
    }
    for (int t = first; t < last; t++) {
        const kw_emu_path *path = &m->fiber[t].path[kind];
        others |= (uint64_t)(path->parted == number + 1) << (t - first);
        without |= (uint64_t)(path->count == number) << (t - first);
    }
    uint64_t bits = without ? without : others;
    list_threads(m, wave, bits, threads, sizeof threads);
    if (number == KW_EMU_STEPS_KEPT) {
        kw_emu_fault(m, "the lanes of a wave part in block %lld%s: wave %d, by more than %d steps", (long long)m->block, when, wave,
                     KW_EMU_STEPS_KEPT);
        return;
    }
    const kw_emu_step *step = &m->wave[wave].step[kind][number];
    const kw_emu_fiber *fiber = &m->fiber[first + __builtin_ctzll(bits)];
    bool calls = !without && fiber->path[kind].own.place == step->place;
    say_step(m, kind, step, calls, other);
    if (without) {
        say_call(m, fiber, one);
    } else {
        say_step(m, kind, &fiber->path[kind].own, calls, one);
    }
    kw_emu_fault(m, "the lanes of a wave part in block %lld%s: threads %s come to %s, %s %s", (long long)m->block, when, threads, one,
                 without ? "without" : "others to", other);
}

static void compare_path(kw_emu_machine *m, int wave, kw_emu_path_kind kind, int first, int last) {
    if (!m->wave[wave].steps[kind]) {
        return;
    }
    for (int t = first + 1; t < last; t++) {
        const kw_emu_path *a = &m->fiber[first].path[kind], *b = &m->fiber[t].path[kind];
        if (a->count != b->count || a->digest != b->digest) {
            report_path(m, wave, kind, first, last);
        }
    }
    m->wave[wave].steps[kind] = 0;
    for (int t = first; t < last; t++) {
        m->fiber[t].path[kind] = (kw_emu_path){0};
    }
}

/* Whoever ended is asked no more. */
static void compare_asked(kw_emu_machine *m, int wave, int first, int last) {
    const kw_emu_thread *most = thread_head(m, first);
    uint64_t fewer = 0;
    bool same = true;
    for (int t = first + 1; t < last; t++) {
        const kw_emu_thread *head = thread_head(m, t);
        same = same && head->wave_asked == most->wave_asked;
        most = head->wave_asked > most->wave_asked ? head : most;
    }
    for (int t = first; t < last && !same; t++) {
        fewer |= (uint64_t)(m->fiber[t].state != KW_EMU_ENDED && thread_head(m, t)->wave_asked < most->wave_asked) << (t - first);
    }
    if (fewer) {
        char threads[48], call[112];
        list_threads(m, wave, fewer, threads, sizeof threads);
        say_call(m, &m->fiber[first + __builtin_ctzll(fewer)], call);
        kw_emu_fault(m, "the lanes of a wave part in block %lld: threads %s come to %s, without kw_wave, %s", (long long)m->block, threads,
                     call, most->wave_asked_at);
    }
}

void kw_emu_compare_paths(kw_emu_machine *m, int wave) {
    int first = wave * m->run->wave, last = first + m->run->wave < m->run->threads ? first + m->run->wave : m->run->threads;
    if (!m->run->nvidia) {
        return;
    }
    for (int kind = 0; kind < KW_EMU_PATHS; kind++) {
        compare_path(m, wave, (kw_emu_path_kind)kind, first, last);
    }
    if (m->fiber[first].state != KW_EMU_IN_WAVE || m->fiber[first].joint == KW_EMU_WAVE_BARRIER) { /* other meetings of a wave are many */
        compare_asked(m, wave, first, last);
    }
}

/* --- accesses --- */

/* An optimised text has its accesses elsewhere. */
bool kw_emu_under_way(const kw_emu_thread *self) {
    const kw_emu_machine *m = self->machine;
    const kw_emu_group *group = &m->group[self->thread / KW_EMU_GROUP];
    return group->open && !m->run->object->optimised;
}

void kw_emu_text_reads(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame) {
    if (kw_emu_under_way(self)) {
        kw_emu_step_taken(self, KW_EMU_PATH_STEPS, KW_EMU_ACCESS_STEP, frame);
    }
    kw_emu_read(self, at, size, aligned, frame);
}

void kw_emu_text_writes(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame) {
    if (kw_emu_under_way(self)) {
        kw_emu_step_taken(self, KW_EMU_PATH_STEPS, KW_EMU_ACCESS_STEP, frame);
    }
    kw_emu_write(self, at, size, aligned, frame);
}

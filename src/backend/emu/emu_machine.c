/* emu_machine.c: the threads of a block as fibers that run in turn until each waits for others. A thread runs until it meets the others of
 * its wave (a joint operation, done by the last to come) or of its block (a barrier), so a meeting costs one switch a thread.
 *
 * When no thread can run and not all have ended, or when those that meet do not mean the same, the text is wrong: the block ends with a
 * fault that says who waits where. */
#include "backend/emu/emu.h"

#include "backend/emu/check/emu_aligned.h"
#include "backend/emu/check/emu_check.h"
#include "backend/emu/hopper/emu_hopper.h"
#include "backend/emu/check/emu_report.h"
#include "backend/emu/emu_room.h"
#include "base/container/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Calls that a fault left, and threads that ended in a call, never took back what marks the bounds of their variables. */
#ifdef __SANITIZE_ADDRESS__
void __asan_unpoison_memory_region(void const volatile *memory, size_t size);
#else
#define __asan_unpoison_memory_region(memory, size) (void)0
#endif

enum { COPIES_MAX = 1 << 16 };

static kw_emu_thread *thread_head(const kw_emu_machine *m, int thread) {
    return (kw_emu_thread *)(void *)(m->stacks + (size_t)(thread + 1) * KW_EMU_STACK) - 1;
}

static kw_emu_thread *running_thread(void) {
    return (kw_emu_thread *)(((uintptr_t)__builtin_frame_address(0) | (KW_EMU_STACK - 1)) + 1) - 1;
}

/* --- meetings --- */

static void block_barrier(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    kw_emu_come(self, __builtin_frame_address(0));
    fiber->state = KW_EMU_AT_BARRIER;
    if (++m->waiting < m->run->threads) {
        kw_emu_set_ready(m, self->thread, false);
        kw_emu_yield(m);
        return;
    }
    kw_emu_report_partial_barrier(m);
    for (int t = 0; t < m->run->threads; t++) {
        m->fiber[t].state = KW_EMU_RUNS;
    }
    for (int w = 0; w < m->waves; w++) {
        m->wave[w].ready = m->wave[w].all;
    }
    m->waiting = 0;
    kw_emu_order_block(m);
}

/* Both halves of the wave hold an operand of the older 32-thread instructions. */
static bool halves_agree(const kw_emu_inst *inst, const kw_emu_lane lanes[]) {
    size_t bytes = (size_t)inst->k * (inst->type >= 3 ? 1 : 2);
    for (int l = 0; inst->kind == KW_EMU_WMMA11 && l < 16; l++) {
        if (memcmp(lanes[l].a, lanes[l + 16].a, bytes) || memcmp(lanes[l].b, lanes[l + 16].b, bytes)) {
            return false;
        }
    }
    return true;
}

static void run_collective(kw_emu_machine *m, kw_emu_wave *wave, const kw_emu_fiber *first) {
    if (first->joint == KW_EMU_MATRIX_READ || first->joint == KW_EMU_MATRIX_READ_TURNED) {
        kw_emu_matrix_read(first->matrices, first->joint == KW_EMU_MATRIX_READ_TURNED, wave->lane);
    }
    if (first->joint == KW_EMU_MATRIX_WRITE || first->joint == KW_EMU_MATRIX_WRITE_TURNED) {
        kw_emu_matrix_write(first->joint == KW_EMU_MATRIX_WRITE_TURNED, wave->lane);
    }
    if (first->joint == KW_EMU_MATRIX && !halves_agree(first->inst, wave->lane)) {
        char line[80];
        kw_emu_line(m->run->object, first->place, line);
        kw_emu_fault(m, "kw_mma in block %lld: lanes 0-15 and 16-31 must hold the same and do not, %s", (long long)m->block, line);
    }
    if (first->joint == KW_EMU_MATRIX && !kw_emu_matrix(&m->tile, first->inst, wave->lane)) {
        kw_emu_fault(m, "no matrix instruction of kind %d multiplies %dx%dx%d of type %d", first->inst->kind, first->inst->m,
                     first->inst->n, first->inst->k, first->inst->type);
    }
}

/* Returns when all lanes of the wave came here, which kw_emu_come() says of each, and the operation is done. */
static void meet_wave(kw_emu_thread *self, kw_emu_collective joint) {
    kw_emu_machine *m = self->machine;
    int first = self->thread / m->run->wave * m->run->wave;
    kw_emu_wave *wave = &m->wave[self->thread / m->run->wave];
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    uint64_t bit = (uint64_t)1 << (self->thread - first);
    fiber->joint = joint;
    fiber->state = KW_EMU_IN_WAVE;
    wave->waiting |= bit;
    if (wave->waiting != wave->all) {
        wave->ready &= ~bit;
        kw_emu_yield(m);
        return;
    }
    kw_emu_report_diverged(m, first, m->run->wave);
    run_collective(m, wave, fiber);
    for (int t = first; t < first + m->run->wave && t < m->run->threads; t++) {
        m->fiber[t].state = KW_EMU_RUNS;
    }
    wave->waiting = 0;
    wave->ready = wave->all;
    if (joint == KW_EMU_WAVE_BARRIER) {
        kw_emu_order_wave(m, first / m->run->wave);
    }
}

static void wave_barrier(kw_emu_thread *self) {
    kw_emu_come(self, __builtin_frame_address(0));
    meet_wave(self, KW_EMU_WAVE_BARRIER);
}

/* NVIDIA has no matrix instruction for fp32 that is fp32: each lane has all k of its two rows and two columns. */
static void lane_multiply(const kw_emu_inst *inst, float *acc, const float *a, const float *b) {
    for (int e = 0; e < 4; e++) {
        for (int k = 0; k < inst->k; k++) {
            acc[e] += a[e / 2 * inst->k + k] * b[e % 2 * inst->k + k];
        }
    }
}

static void wave_matrix(kw_emu_thread *self, const kw_emu_inst *inst, void *acc, const void *a, const void *b) {
    kw_emu_machine *m = self->machine;
    if (inst->kind == KW_EMU_FMA) {
        lane_multiply(inst, acc, a, b);
        return;
    }
    m->fiber[self->thread].inst = inst;
    m->wave[self->thread / m->run->wave].lane[self->thread % m->run->wave] = (kw_emu_lane){acc, a, b};
    kw_emu_come(self, __builtin_frame_address(0));
    meet_wave(self, KW_EMU_MATRIX);
}

/* A lane reads the row that it has the address of, for all. */
static void wave_matrix_read(kw_emu_thread *self, unsigned *to, const char *at, int count, int turned) {
    enum { ROW_BYTES = 16, ROWS = 8 };
    kw_emu_machine *m = self->machine;
    int lane = self->thread % m->run->wave;
    if (lane < ROWS * count) {
        if (m->run->checks) {
            kw_emu_read(self, at, ROW_BYTES, 1, __builtin_frame_address(0));
        }
        if (at < m->lds || at >= m->lds + m->lds_used) {
            char line[80];
            kw_emu_line(m->run->object, __builtin_return_address(0), line);
            kw_emu_fault(m, "kw_matrix_read in block %lld: the row of lane %d lies outside shared memory, %s", (long long)m->block, lane,
                         line);
        }
    }
    m->fiber[self->thread].matrices = count;
    m->wave[self->thread / m->run->wave].lane[lane] = (kw_emu_lane){to, at, NULL};
    kw_emu_come(self, __builtin_frame_address(0));
    meet_wave(self, turned ? KW_EMU_MATRIX_READ_TURNED : KW_EMU_MATRIX_READ);
}

static void matrix_write(kw_emu_thread *self, char *to, const unsigned *from, int turned) {
    enum { ROW_BYTES = 16 };
    kw_emu_machine *m = self->machine;
    if (m->run->checks) {
        kw_emu_write(self, to, ROW_BYTES, 1, __builtin_frame_address(0));
    }
    if (to < m->lds || to >= m->lds + m->lds_used) {
        char line[80];
        kw_emu_line(m->run->object, __builtin_return_address(0), line);
        kw_emu_fault(m, "kw_matrix_write in block %lld: the row of lane %d lies outside shared memory, %s", (long long)m->block,
                     self->thread % m->run->wave, line);
    }
    m->wave[self->thread / m->run->wave].lane[self->thread % m->run->wave] = (kw_emu_lane){to, from, NULL};
    kw_emu_come(self, __builtin_frame_address(0));
    meet_wave(self, turned ? KW_EMU_MATRIX_WRITE_TURNED : KW_EMU_MATRIX_WRITE);
}

/* --- copies that are under way --- */

static void copy_async(kw_emu_thread *self, char *base, const char *from, int bytes, int ok) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    if (fiber->copy_count == COPIES_MAX || !KW_ARRAY_RESERVE(fiber->copies, fiber->copy_room, (size_t)fiber->copy_count + 1)) {
        kw_emu_fault(m, "thread %d has %d asynchronous copies under way, more than can be kept", self->thread, fiber->copy_count);
        return;
    }
    kw_emu_copy *asked = &fiber->copies[fiber->copy_count];
    *asked = (kw_emu_copy){.to = base + bytes * (self->thread % m->run->wave),
                           .from = ok ? from : NULL,
                           .place = __builtin_return_address(0),
                           .bytes = bytes,
                           .group = fiber->group};
    if (m->run->checks) {
        kw_emu_report_collective(m, self->thread, base, asked->place);
        kw_emu_copy_begins(self, asked, __builtin_frame_address(0));
    }
    fiber->copy_count++; /* last, so that the frame is there for a report */
}

static void commit_copies(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    m->fiber[self->thread].group++;
}

/* NVIDIA counts groups, and what no group has is not waited for; AMD counts copies. */
static int32_t due(const kw_emu_machine *m, const kw_emu_fiber *fiber, int groups, int copies) {
    int32_t count = 0;
    if (!m->run->nvidia) {
        return fiber->copy_count > groups * copies ? fiber->copy_count - groups * copies : 0;
    }
    while (count < fiber->copy_count && fiber->copies[count].group < fiber->group - groups) {
        count++;
    }
    return count;
}

static void wait_copies(kw_emu_thread *self, int groups, int copies) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    int32_t count = due(m, fiber, groups, copies);
    for (int32_t i = 0; i < count; i++) {
        const kw_emu_copy *c = &fiber->copies[i];
        if (c->from) {
            memcpy(c->to, c->from, (size_t)c->bytes);
        } else {
            memset(c->to, 0, (size_t)c->bytes);
        }
        if (m->run->checks) {
            kw_emu_copy_ends(self, c);
        }
    }
    fiber->copy_count -= count;
    memmove(fiber->copies, fiber->copies + count, (size_t)fiber->copy_count * sizeof *fiber->copies);
}

/* --- memory --- */

static char *shared_memory(kw_emu_thread *self, kw_i64 bytes) {
    kw_emu_machine *m = self->machine;
    if (bytes > m->run->lds) {
        kw_emu_fault(m, "the block wants %lld bytes of shared memory, a block may have %d", bytes, m->run->lds);
    }
    if (bytes > m->lds_used) {
        memset(m->lds + m->lds_used, 0xff, (size_t)(bytes - m->lds_used));
        m->lds_used = (int32_t)bytes;
    }
    return m->lds;
}

/* Blocks of several machines add to one place. */
static float atomic_add(kw_emu_thread *self, float *p, float v) {
    union {
        uint32_t bits;
        float value;
    } old, sum;
    if (((kw_emu_machine *)self->machine)->run->checks) {
        kw_emu_add(self, p, __builtin_frame_address(0));
    }
    old.bits = __atomic_load_n((uint32_t *)(void *)p, __ATOMIC_RELAXED);
    do {
        sum.value = old.value + v;
    } while (!__atomic_compare_exchange_n((uint32_t *)(void *)p, &old.bits, sum.bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old.value;
}

static void no_access(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame) {
    (void)self, (void)at, (void)size, (void)aligned, (void)frame;
}

/* --- a block --- */

static size_t block_shadow_bytes(const kw_emu_run *run) {
    return ((size_t)KW_EMU_LDS_MAX >> run->cell_shift) * sizeof(kw_emu_shadow_cell);
}

/* Nobody can run: the last moment that a bulk copy can be put off to. */
static bool copy_when_idle(kw_emu_machine *m) {
    return kw_emu_bulk_next(m);
}

/* Some thread waits for what another block can do. */
static bool peer_may_help(const kw_emu_machine *m) {
    for (int t = 0; t < m->run->threads; t++) {
        if (m->fiber[t].state == KW_EMU_AT_MBAR) {
            return true;
        }
    }
    return false;
}

/* Nobody can run any more: all threads have ended, or wait for the blocks of the cluster, or they wait in vain. */
static void check_all_ended(kw_emu_machine *m) {
    if (m->at_cluster == m->run->threads || (m->run->cluster > 1 && peer_may_help(m))) {
        return; /* emu_blocks.c goes on */
    }
    if (m->ended < m->run->threads) {
        kw_emu_report_deadlock(m);
    }
    for (int w = 0; w < m->waves; w++) {
        kw_emu_compare_paths(m, w);
    }
    kw_emu_group_left(m);
    kw_emu_store_left(m);
}

static void run_thread(void) {
    kw_emu_thread *self = running_thread();
    kw_emu_machine *m = self->machine;
    m->run->stage(m->run->args);
    m->fiber[self->thread].state = KW_EMU_ENDED;
    m->ended++;
    kw_emu_set_ready(m, self->thread, false);
    kw_emu_yield(m);
}

/* Clocks go on from block to block, so that cells need not be cleared; they are when the clocks come near their end. */
static void begin_order(kw_emu_machine *m) {
    if (m->clock[0] > KW_EMU_IN_FLIGHT / 2) {
        memset(m->clock, 0, sizeof m->clock);
        madvise(m->cells, block_shadow_bytes(m->run), MADV_DONTNEED);
    }
    uint32_t highest = 0;
    for (int a = 0; a < KW_EMU_AGENTS; a++) {
        highest = m->clock[a] > highest ? m->clock[a] : highest;
    }
    for (int a = 0; a < KW_EMU_AGENTS; a++) {
        m->clock[a] = highest;
    }
    m->known[0][m->waves] = highest; /* what bulk copies of earlier blocks wrote */
    for (int w = 0; w < m->waves; w++) {
        m->fenced[w] = highest;
    }
    kw_emu_order_block(m);
    kw_emu_order_cluster(m);
}

void kw_emu_machine_begin(kw_emu_machine *m, int64_t block) {
    const kw_emu_run *run = m->run;
    __asan_unpoison_memory_region(m->stacks, (size_t)run->threads * KW_EMU_STACK);
    m->block = block;
    m->waiting = m->ended = m->lds_used = m->current = 0;
    m->meetings = m->at_cluster = 0;
    m->visitor = -1;
    m->failed = false;
    m->stirred = true;
    memset(m->peer_known, 0, run->cluster > 1 ? sizeof m->peer_known : 0);
    for (int t = 0; t < run->threads; t++) {
        kw_emu_thread *head = thread_head(m, t);
        kw_emu_fiber *fiber = &m->fiber[t];
        *head = (kw_emu_thread){.calls = m->calls, .machine = m, .block = block, .blocks = run->blocks, .thread = t, .rank = m->rank};
        fiber->sp = kw_emu_fiber_start((char *)head, run_thread);
        fiber->state = KW_EMU_RUNS;
        fiber->copy_count = fiber->group = 0;
        fiber->asked = 0;
        memset(fiber->path, 0, sizeof fiber->path);
    }
    for (int w = 0; w < m->waves; w++) {
        int lanes = run->threads - w * run->wave;
        m->wave[w].all = m->wave[w].ready =
            lanes >= 64 || lanes >= run->wave ? ~(uint64_t)0 >> (64 - run->wave) : ((uint64_t)1 << lanes) - 1;
        m->wave[w].waiting = 0;
        memset(m->wave[w].asked, 0, sizeof m->wave[w].asked);
        memset(m->wave[w].steps, 0, sizeof m->wave[w].steps);
    }
    kw_emu_bulk_begin(m);
    kw_emu_group_begin(m);
    kw_emu_store_begin(m);
    begin_order(m);
}

static bool is_ready(const kw_emu_machine *m) {
    for (int w = 0; w < m->waves; w++) {
        if (m->wave[w].ready) {
            return true;
        }
    }
    return false;
}

bool kw_emu_machine_go_on(kw_emu_machine *m) {
    m->stirred = false;
    while (!is_ready(m) && copy_when_idle(m)) {
    }
    if (is_ready(m)) {
        kw_emu_resume(m);
    }
    return !m->failed;
}

/* Memory that is there when it is touched; NULL: none. */
static void *map_zeros(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static kw_status open_machine(kw_emu_machine **machine, kw_emu_run *run, kw_error *err) {
    *machine = NULL;
    kw_emu_machine *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
    if (!m) {
        return kw_fail_memory(err, "an emulated GPU");
    }
    memset(m, 0, sizeof *m);
    m->run = run;
    m->events = (kw_emu_events){.idle = copy_when_idle, .stuck = check_all_ended};
    m->waves = (run->threads + run->wave - 1) / run->wave;
    m->calls = (kw_emu_calls){.lds = shared_memory,
                              .barrier = block_barrier,
                              .wave_barrier = wave_barrier,
                              .add = atomic_add,
                              .copy = copy_async,
                              .commit = commit_copies,
                              .wait = wait_copies,
                              .matrix = wave_matrix,
                              .matrix_read = wave_matrix_read,
                              .mbar_init = kw_emu_mbar_init,
                              .mbar_end = kw_emu_mbar_end,
                              .mbar_fence = kw_emu_mbar_fence,
                              .mbar_arrive = kw_emu_mbar_arrive,
                              .mbar_wait = kw_emu_mbar_wait,
                              .tensor_load = kw_emu_tensor_load,
                              .proxy_fence = kw_emu_proxy_fence,
                              .shared_address = kw_emu_shared_address,
                              .wgmma = kw_emu_wgmma,
                              .wgmma_step = kw_emu_wgmma_step,
                              .wgmma_wait = kw_emu_wgmma_wait,
                              .registers = kw_emu_registers,
                              .tensor_pixels = kw_emu_tensor_pixels,
                              .tensor_store = kw_emu_tensor_store,
                              .store_commit = kw_emu_store_commit,
                              .store_wait = kw_emu_store_wait,
                              .waves_barrier = kw_emu_waves_barrier,
                              .matrix_write = matrix_write,
                              .cluster_barrier = kw_emu_cluster_barrier,
                              .peer_write = kw_emu_peer_write,
                              .mbar_arrive_at = kw_emu_mbar_arrive_at,
                              .tensor_share = kw_emu_tensor_share,
                              .read = run->checks ? kw_emu_text_reads : no_access,
                              .write = run->checks ? kw_emu_text_writes : no_access};
    m->room = kw_emu_room_take(run->rooms, run->threads);
    m->cells = map_zeros(block_shadow_bytes(run));
    m->lds = aligned_alloc(1024, KW_EMU_LDS_MAX);
    *machine = m;
    if (!m->room || !m->cells || !m->lds) {
        kw_emu_machine_close(machine);
        return kw_fail_memory(err, "an emulated GPU");
    }
    m->stacks = m->room->stacks;
    return KW_OK;
}

kw_status kw_emu_machine_open(kw_emu_machine **machine, kw_emu_run *run, kw_error *err) {
    kw_status status = open_machine(machine, run, err);
    for (int r = 1; r < run->cluster && !status; r++) {
        status = open_machine(&(*machine)->peer[r], run, err);
    }
    if (status) {
        kw_emu_machine_close(machine);
        return status;
    }
    kw_emu_machine *first = *machine;
    first->peer[0] = first;
    for (int r = 1; r < run->cluster; r++) {
        memcpy(first->peer[r]->peer, first->peer, sizeof first->peer);
        first->peer[r]->rank = r;
    }
    return KW_OK;
}

void kw_emu_machine_close(kw_emu_machine **machine) {
    kw_emu_machine *m = *machine;
    if (!m) {
        return;
    }
    for (int r = 1; r < KW_EMU_CLUSTER_MAX && m->rank == 0; r++) {
        kw_emu_machine_close(&m->peer[r]);
    }
    for (int t = 0; t < KW_EMU_THREADS_MAX; t++) {
        free(m->fiber[t].copies);
    }
    for (int g = 0; g < KW_EMU_GROUPS_MAX; g++) {
        free(m->group[g].queue);
    }
    free(m->bulk);
    kw_emu_room_give(m->run->rooms, m->room);
    if (m->cells) {
        munmap(m->cells, block_shadow_bytes(m->run));
    }
    free(m->lds);
    free(m);
    *machine = NULL;
}

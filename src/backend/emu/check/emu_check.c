/* emu_check.c: is an access to memory in bounds, aligned, allowed, and ordered with those of other threads?
 *
 * Order is kept by clocks. Each wave has one; an access is stamped with its thread and the wave's clock. A barrier makes every wave know
 * the others' clocks and starts new ones, a barrier of a wave does so for that wave alone. An access of thread u at clock c comes before
 * one of a thread of wave w when c <= known[w][wave of u], or when it is the same thread. Two accesses of which one writes, neither
 * before the other, are a race; so are two of different blocks of a launch. For shared memory each cell keeps its last writer, its last
 * two readers, and one of another wave that nothing orders before the last, which with barriers of the whole block is all that it takes:
 * whoever came earlier is ordered when these are.
 *
 * A cell is as wide as the narrowest element of the kernel's tensors. Cells of global memory are used by all machines of a run at a time
 * and are exchanged as one word; an exchange by each side means that the later one sees the earlier. Only what may be written has cells. */
#include "backend/emu/check/emu_check.h"

#include <stdio.h>
#include <string.h>

enum { THREAD_BITS = 10, THREAD_MASK = (1 << THREAD_BITS) - 1, NEAR = 1 << 16, PEER_BYTES = 16 };

static uint32_t stamp_of(const kw_emu_machine *m, int thread) {
    return m->clock[thread >> m->run->wave_shift] << THREAD_BITS | (uint32_t)thread;
}

static uint32_t shared_offset(const kw_emu_machine *m, const void *place) {
    return (uint32_t)((const char *)place - m->run->object->base);
}

/* Whether what was stamped comes before what thread does now. */
static bool is_before(const kw_emu_machine *m, uint32_t stamp, int thread) {
    int other = (int)(stamp & THREAD_MASK);
    uint32_t clock = stamp >> THREAD_BITS;
    return clock <= m->known[thread >> m->run->wave_shift][other >> m->run->wave_shift] || (other == thread && clock != KW_EMU_IN_FLIGHT);
}

static void say_line(const kw_emu_machine *m, uint32_t place, char text[80]) {
    kw_emu_line(m->run->object, m->run->object->base + place, text);
}

/* --- faults --- */

typedef struct access {
    kw_emu_thread *self;
    const char *at;
    int64_t size;
    void *const *frame; /* of who was told; frame[1] is the place */
    bool writes, adds;
} access;

static const char *access_verb(const access *a) {
    return a->adds ? "adds to" : a->writes ? "writes" : "reads";
}

static void fail_outside(kw_emu_machine *m, const access *a) {
    const kw_emu_run *run = m->run;
    char line[KW_EMU_BACKTRACE_MAX], where[96];
    kw_emu_backtrace(run->object, a->frame, line);
    snprintf(where, sizeof where, "address %p, where nothing is", (const void *)a->at);
    int64_t nearest = NEAR;
    for (int i = 0; i < run->range_count; i++) {
        const kw_emu_range *range = &run->range[i];
        int64_t offset = a->at - range->start, beside = offset < 0 ? -offset : offset - range->size;
        if (beside < nearest) {
            nearest = beside;
            snprintf(where, sizeof where, "byte %lld of %s, which has bytes 0 to %lld", (long long)offset, range->name,
                     (long long)range->size - 1);
        }
    }
    int64_t offset = a->at - m->lds;
    if ((offset < 0 ? -offset : offset - m->lds_used) < nearest) {
        snprintf(where, sizeof where, "byte %lld of shared memory, of which the block has %d", (long long)offset, m->lds_used);
    }
    if (a->at >= m->stacks && a->at < m->stacks + (size_t)run->threads * KW_EMU_STACK) {
        snprintf(where, sizeof where, "a variable of thread %d", (int)((a->at - m->stacks) / KW_EMU_STACK));
    }
    kw_emu_fault(m, "out of bounds: thread %d of block %lld %s %lld bytes at %s; %s", a->self->thread, (long long)m->block, access_verb(a),
                 (long long)a->size, where, line);
}

static void fail_unaligned(kw_emu_machine *m, const access *a) {
    char line[KW_EMU_BACKTRACE_MAX];
    kw_emu_backtrace(m->run->object, a->frame, line);
    kw_emu_fault(m, "misaligned: thread %d of block %lld %s %lld bytes at once, at an address that is %d more than a multiple of that; %s",
                 a->self->thread, (long long)m->block, access_verb(a), (long long)a->size, (int)((uintptr_t)a->at % (uintptr_t)a->size),
                 line);
}

static void fail_written(kw_emu_machine *m, const access *a, const char *name) {
    char line[KW_EMU_BACKTRACE_MAX];
    kw_emu_backtrace(m->run->object, a->frame, line);
    kw_emu_fault(m, "thread %d of block %lld %s %s, which this stage may only read; %s", a->self->thread, (long long)m->block,
                 access_verb(a), name, line);
}

static void fail_early(kw_emu_machine *m, const access *a, const char *name) {
    char line[KW_EMU_BACKTRACE_MAX];
    kw_emu_backtrace(m->run->object, a->frame, line);
    kw_emu_fault(m, "missing kw_launch_wait: thread %d of block %lld %s %s while the launch before may still run; %s", a->self->thread,
                 (long long)m->block, access_verb(a), name, line);
}

/* What came before, and could have come after. */
typedef struct earlier {
    int64_t block;
    uint32_t stamp, place;
    bool wrote;
} earlier;

static void fail_race(kw_emu_machine *m, const access *a, const char *name, int64_t offset, earlier e) {
    char line[KW_EMU_BACKTRACE_MAX], before[80], block[48] = "";
    kw_emu_backtrace(m->run->object, a->frame, line);
    say_line(m, e.place, before);
    if (e.stamp >> THREAD_BITS == KW_EMU_IN_FLIGHT) {
        kw_emu_fault(m, "missing wait in block %lld: thread %d %s %s, byte %lld, %s, while %s of thread %d is under way, %s",
                     (long long)m->block, a->self->thread, access_verb(a), name, (long long)offset, line,
                     e.wrote ? "an asynchronous copy" : "a kw_wgmma", (int)(e.stamp & THREAD_MASK), before);
        return;
    }
    int agent = (int)(e.stamp & THREAD_MASK) >> m->run->wave_shift;
    if (agent > m->waves) {
        kw_emu_fault(
            m,
            "missing kw_cluster_barrier in block %lld: thread %d %s %s, byte %lld, %s, which the cluster's block %d wrote since the "
            "last, %s",
            (long long)m->block, a->self->thread, access_verb(a), name, (long long)offset, line, agent - m->waves - 1, before);
        return;
    }
    if (agent == m->waves) {
        kw_emu_fault(m,
                     "missing wait in block %lld: thread %d %s %s, byte %lld, %s, and has not waited for the bulk copy that wrote it, %s",
                     (long long)m->block, a->self->thread, access_verb(a), name, (long long)offset, line, before);
        return;
    }
    if (e.block != m->block) {
        snprintf(block, sizeof block, " of block %lld", (long long)e.block);
    }
    kw_emu_fault(m, "race in block %lld: thread %d %s %s, byte %lld, %s; nothing orders it with thread %d%s that %s it, %s",
                 (long long)m->block, a->self->thread, access_verb(a), name, (long long)offset, line, (int)(e.stamp & THREAD_MASK), block,
                 e.wrote ? "writes" : "reads", before);
}

/* --- shared memory --- */

/* A wave whose lanes read one after the other does not push out what other waves read. */
static void note_reader(const kw_emu_machine *m, kw_emu_shadow_cell *cell, uint32_t stamp, uint32_t place) {
    int shift = m->run->wave_shift, thread = (int)(stamp & THREAD_MASK), last = (int)(cell->reader[0] & THREAD_MASK);
    bool replaced = (int)(cell->reader[2] & THREAD_MASK) >> shift == thread >> shift || is_before(m, cell->reader[2], thread);
    if (last >> shift != thread >> shift && replaced) {
        cell->reader[2] = cell->reader[0];
        cell->reader_place[2] = cell->reader_place[0];
    }
    if (last != thread) {
        cell->reader[1] = cell->reader[0];
        cell->reader_place[1] = cell->reader_place[0];
    }
    cell->reader[0] = stamp;
    cell->reader_place[0] = place;
}

static void check_shared(kw_emu_machine *m, const access *a, int64_t offset, uint32_t stamp) {
    int thread = a->self->thread, shift = m->run->cell_shift;
    uint32_t place = shared_offset(m, a->frame[1]);
    kw_emu_shadow_cell *cell = m->cells + (offset >> shift), *last = m->cells + ((offset + a->size - 1) >> shift);
    for (; cell <= last; cell++) {
        int64_t byte = (cell - m->cells) << shift;
        if (!is_before(m, cell->writer, thread)) {
            fail_race(m, a, "shared memory", byte, (earlier){m->block, cell->writer, cell->writer_place, true});
        }
        if (!a->writes) {
            if (cell->reader[0] != stamp) {
                note_reader(m, cell, stamp, place);
            }
            continue;
        }
        for (int i = 0; i < KW_EMU_READERS; i++) {
            if (!is_before(m, cell->reader[i], thread)) {
                fail_race(m, a, "shared memory", byte, (earlier){m->block, cell->reader[i], cell->reader_place[i], false});
            }
        }
        cell->writer = stamp;
        cell->writer_place = place;
    }
}

/* --- global memory --- */

static const uint64_t adding = (uint64_t)1 << 63;

/* Nothing orders the threads of a launch in global memory: a barrier is for shared memory alone, the end of the stage for the rest. */
static void check_other(kw_emu_machine *m, const access *a, const kw_emu_range *range, int64_t byte, uint64_t word, earlier e) {
    if (!word || (word & adding && a->adds)) {
        return;
    }
    e.block = (int64_t)((word & ~adding) >> 32) - 1;
    e.stamp = (uint32_t)word;
    if (e.block != m->block || (int)(e.stamp & THREAD_MASK) != a->self->thread) {
        fail_race(m, a, range->name, byte, e);
    }
}

static void check_cells(kw_emu_machine *m, const access *a, const kw_emu_range *range, int64_t offset) {
    int shift = m->run->cell_shift;
    uint32_t place = shared_offset(m, a->frame[1]);
    uint64_t mine = (uint64_t)(m->block + 1) << 32 | (uint32_t)a->self->thread | (a->adds ? adding : 0);
    for (int64_t i = offset >> shift; i <= (offset + a->size - 1) >> shift; i++) {
        kw_emu_global_shadow_cell *cell = &range->cells[i];
        int64_t byte = i << shift;
        if (!a->writes) {
            uint64_t last = __atomic_load_n(&cell->reader[0], __ATOMIC_SEQ_CST);
            if (last != mine) {
                __atomic_store_n(&cell->reader[1], last, __ATOMIC_SEQ_CST);
                __atomic_store_n(&cell->reader[0], mine, __ATOMIC_SEQ_CST);
                __atomic_store_n(&cell->reader_place, place, __ATOMIC_RELAXED);
            }
            uint64_t writer = __atomic_load_n(&cell->writer, __ATOMIC_SEQ_CST);
            check_other(m, a, range, byte, writer,
                        (earlier){.place = __atomic_load_n(&cell->writer_place, __ATOMIC_RELAXED), .wrote = true});
            continue;
        }
        uint32_t place_before = __atomic_exchange_n(&cell->writer_place, place, __ATOMIC_RELAXED);
        uint64_t writer = __atomic_exchange_n(&cell->writer, mine, __ATOMIC_SEQ_CST);
        check_other(m, a, range, byte, writer, (earlier){.place = place_before, .wrote = true});
        for (int r = 0; r < 2; r++) {
            uint64_t reader = __atomic_load_n(&cell->reader[r], __ATOMIC_SEQ_CST);
            check_other(m, a, range, byte, reader, (earlier){.place = __atomic_load_n(&cell->reader_place, __ATOMIC_RELAXED)});
        }
    }
}

/* Where an access lies; NULL: in none of the launch's memory. */
static const kw_emu_range *find_memory_range(const kw_emu_run *run, const access *a) {
    for (int i = 0; i < run->range_count; i++) {
        const kw_emu_range *range = &run->range[i];
        if (a->at >= range->start && a->at - range->start <= range->size - a->size) {
            return range;
        }
    }
    return NULL;
}

static void check_access(const access *a, bool aligned) {
    kw_emu_machine *m = a->self->machine;
    int64_t offset = a->at - m->lds;
    if (aligned && (uintptr_t)a->at & (uintptr_t)(a->size - 1)) {
        fail_unaligned(m, a);
    }
    if (offset >= 0 && offset <= m->lds_used - a->size) {
        check_shared(m, a, offset, stamp_of(m, a->self->thread));
        return;
    }
    const kw_emu_range *range = find_memory_range(m->run, a);
    if (!range) {
        offset = a->at - m->run->object->base;
        if (a->writes || offset < 0 || offset > (int64_t)m->run->object->size - a->size) { /* constants of the text may be read */
            fail_outside(m, a);
        }
        return;
    }
    if (a->writes && !range->written) {
        fail_written(m, a, range->name);
    }
    if (m->run->early && !a->self->waited) {
        fail_early(m, a, range->name);
    }
    if (range->cells) {
        check_cells(m, a, range, a->at - range->start);
    }
}

void kw_emu_read(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame) {
    check_access(&(access){.self = self, .at = at, .size = size, .frame = frame}, aligned);
}

void kw_emu_write(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame) {
    check_access(&(access){.self = self, .at = at, .size = size, .frame = frame, .writes = true}, aligned);
}

void kw_emu_add(kw_emu_thread *self, const void *at, void *const *frame) {
    check_access(&(access){.self = self, .at = at, .size = sizeof(float), .frame = frame, .writes = true, .adds = true}, true);
}

/* --- copies --- */

/* From now on until it ends nobody may touch what it writes, its own thread included. */
void kw_emu_copy_begins(kw_emu_thread *self, const kw_emu_copy *copy, void *const *frame) {
    kw_emu_machine *m = self->machine;
    access to = {.self = self, .at = copy->to, .size = copy->bytes, .frame = frame, .writes = true};
    int64_t offset = copy->to - m->lds;
    if (copy->from) {
        kw_emu_read(self, copy->from, copy->bytes, 1, frame);
    }
    if ((uintptr_t)copy->to & (uintptr_t)(copy->bytes - 1)) {
        fail_unaligned(m, &to);
    }
    if (offset < 0 || offset > m->lds_used - copy->bytes) {
        fail_outside(m, &to);
        return;
    }
    check_shared(m, &to, offset, (uint32_t)KW_EMU_IN_FLIGHT << THREAD_BITS | (uint32_t)self->thread);
}

void kw_emu_copy_ends(kw_emu_thread *self, const kw_emu_copy *copy) {
    kw_emu_machine *m = self->machine;
    int64_t offset = copy->to - m->lds;
    int shift = m->run->cell_shift;
    for (int64_t i = offset >> shift; i <= (offset + copy->bytes - 1) >> shift; i++) {
        m->cells[i].writer = stamp_of(m, self->thread);
    }
}

/* --- bulk copies and matrix instructions of four waves: shared memory seen by what is not a thread --- */

static uint32_t under_way(int thread) {
    return (uint32_t)KW_EMU_IN_FLIGHT << THREAD_BITS | (uint32_t)thread;
}

/* What a thread stored must have been handed over by a fence of its own; what bulk copies wrote needs none. */
static void check_proxy(kw_emu_machine *m, const access *a, int64_t offset) {
    int shift = m->run->cell_shift;
    for (int64_t i = offset >> shift; i <= (offset + a->size - 1) >> shift; i++) {
        const kw_emu_shadow_cell *cell = &m->cells[i];
        int wave = (int)(cell->writer & THREAD_MASK) >> m->run->wave_shift;
        uint32_t clock = cell->writer >> THREAD_BITS;
        if (wave < m->waves && clock > m->fenced[wave] && clock != KW_EMU_IN_FLIGHT) {
            char line[KW_EMU_BACKTRACE_MAX], before[80];
            kw_emu_backtrace(m->run->object, a->frame, line);
            say_line(m, cell->writer_place, before);
            kw_emu_fault(m,
                         "missing kw_proxy_fence in block %lld: %s of thread %d %s shared memory, byte %lld, %s, stored by thread %d, %s",
                         (long long)m->block, a->writes ? "a bulk copy" : "a kw_wgmma", a->self->thread, access_verb(a),
                         (long long)(i << shift), line, (int)(cell->writer & THREAD_MASK), before);
        }
    }
}

void kw_emu_engine_begins(kw_emu_thread *self, int64_t offset, int64_t bytes, bool writes, void *const *frame) {
    kw_emu_machine *m = self->machine;
    access a = {.self = self, .at = m->lds + offset, .size = bytes, .frame = frame, .writes = writes};
    if (offset < 0 || offset > m->lds_used - bytes) {
        fail_outside(m, &a);
        return;
    }
    if (m->run->checks) {
        check_proxy(m, &a, offset);
        check_shared(m, &a, offset, under_way(self->thread));
    }
}

void kw_emu_engine_reads(kw_emu_thread *self, int64_t offset, int64_t bytes, void *const *frame) {
    const kw_emu_machine *m = self->machine;
    int shift = m->run->cell_shift;
    access a = {.self = self, .at = m->lds + offset, .size = bytes, .frame = frame};
    for (int64_t i = offset >> shift; i <= (offset + bytes - 1) >> shift; i++) {
        const kw_emu_shadow_cell *cell = &m->cells[i];
        if (!is_before(m, cell->writer, self->thread)) {
            fail_race(self->machine, &a, "shared memory", i << shift, (earlier){m->block, cell->writer, cell->writer_place, true});
        }
    }
}

bool kw_emu_knows_as_much(const kw_emu_machine *m, int thread, int other) {
    const uint32_t *one = m->known[thread >> m->run->wave_shift], *two = m->known[other >> m->run->wave_shift];
    int first = thread / KW_EMU_GROUP * KW_EMU_GROUP >> m->run->wave_shift, last = first + (KW_EMU_GROUP >> m->run->wave_shift);
    bool knows = true;
    for (int agent = 0; agent < KW_EMU_AGENTS; agent++) {
        knows = knows && (one[agent] >= two[agent] || (agent >= first && agent < last));
    }
    return knows;
}

void kw_emu_engine_wrote(kw_emu_machine *m, int64_t offset, int64_t bytes) {
    int shift = m->run->cell_shift;
    for (int64_t i = offset >> shift; i <= (offset + bytes - 1) >> shift; i++) {
        m->cells[i].writer = m->clock[m->waves] << THREAD_BITS | (uint32_t)(m->waves << m->run->wave_shift);
    }
}

void kw_emu_engine_read(kw_emu_machine *m, int thread, int64_t offset, int64_t bytes) {
    int shift = m->run->cell_shift;
    for (int64_t i = offset >> shift; i <= (offset + bytes - 1) >> shift; i++) {
        for (int r = 0; r < KW_EMU_READERS; r++) {
            m->cells[i].reader[r] = m->cells[i].reader[r] == under_way(thread) ? stamp_of(m, thread) : m->cells[i].reader[r];
        }
    }
}

uint32_t kw_emu_stamp(const kw_emu_machine *m, int thread) {
    return stamp_of(m, thread);
}

bool kw_emu_happens_before(const kw_emu_machine *m, uint32_t stamp, int thread) {
    return is_before(m, stamp, thread);
}

/* --- order --- */

void kw_emu_clock_release(kw_emu_machine *m, int thread, uint32_t knowledge[KW_EMU_AGENTS]) {
    int wave = thread >> m->run->wave_shift;
    for (int w = 0; w <= m->waves; w++) {
        knowledge[w] = m->known[wave][w] > knowledge[w] ? m->known[wave][w] : knowledge[w];
    }
    knowledge[wave] = m->clock[wave]++;
}

void kw_emu_clock_acquire(kw_emu_machine *m, int thread, const uint32_t knowledge[KW_EMU_AGENTS]) {
    uint32_t *known = m->known[thread >> m->run->wave_shift];
    for (int w = 0; w <= m->waves; w++) {
        known[w] = knowledge[w] > known[w] ? knowledge[w] : known[w];
    }
}

void kw_emu_order_block(kw_emu_machine *m) {
    uint32_t brought = 0; /* bulk copies that some wave has waited for */
    for (int w = 0; w < m->waves; w++) {
        brought = m->known[w][m->waves] > brought ? m->known[w][m->waves] : brought;
    }
    for (int w = 0; w < m->waves; w++) {
        memcpy(m->known[w], m->clock, (size_t)m->waves * sizeof *m->clock);
        m->known[w][m->waves] = brought;
    }
    for (int w = 0; w < m->waves; w++) {
        m->clock[w]++;
    }
}

void kw_emu_order_cluster(kw_emu_machine *m) {
    int first = m->waves + 1;
    memcpy(m->met, m->known[0], sizeof m->met); /* all waves know the same */
    for (int w = 0; w < m->waves; w++) {
        memcpy(m->known[w] + first, m->clock + first, sizeof m->clock - (size_t)first * sizeof *m->clock);
    }
    for (int a = first; a < KW_EMU_AGENTS; a++) {
        m->met[a] = m->clock[a]++;
    }
}

/* known: of the machine's clocks. */
static bool was_known(const kw_emu_machine *m, const uint32_t *known, uint32_t stamp) {
    return stamp >> THREAD_BITS <= known[(stamp & THREAD_MASK) >> m->run->wave_shift];
}

static bool was_met(const kw_emu_machine *m, uint32_t stamp) {
    return was_known(m, m->met, stamp);
}

void kw_emu_peer_wrote(kw_emu_thread *self, kw_emu_machine *m, int64_t offset, void *const *frame) {
    const kw_emu_machine *own = self->machine;
    int shift = m->run->cell_shift, agent = m->waves + 1 + own->rank;
    uint32_t stamp = m->clock[agent] << THREAD_BITS | (uint32_t)(agent << m->run->wave_shift), place = shared_offset(m, frame[1]);
    for (int64_t i = offset >> shift; i <= (offset + PEER_BYTES - 1) >> shift; i++) {
        kw_emu_shadow_cell *cell = &m->cells[i];
        bool good = was_met(m, cell->writer);
        uint32_t before = cell->writer_place;
        for (int r = 0; r < KW_EMU_READERS && good; r++) {
            good = was_met(m, cell->reader[r]);
            before = cell->reader_place[r];
        }
        if (!good) {
            char line[KW_EMU_BACKTRACE_MAX], other[80];
            kw_emu_backtrace(m->run->object, frame, line);
            say_line(m, before, other);
            kw_emu_fault(
                self->machine,
                "race in the cluster: thread %d of block %lld writes shared memory of block %lld, byte %lld, %s; they have not met "
                "since it was touched, %s",
                self->thread, (long long)own->block, (long long)m->block, (long long)(i << shift), line, other);
        }
        cell->writer = stamp;
        cell->writer_place = place;
    }
}

void kw_emu_peer_brings(kw_emu_thread *self, kw_emu_machine *m, int64_t offset, int64_t bytes, void *const *frame) {
    const kw_emu_machine *own = self->machine;
    int shift = m->run->cell_shift;
    const uint32_t *known = own->peer_known[self->thread >> own->run->wave_shift][m->rank];
    for (int64_t i = offset >> shift; i <= (offset + bytes - 1) >> shift; i++) {
        kw_emu_shadow_cell *cell = &m->cells[i];
        uint32_t before = cell->writer_place, touched = cell->writer;
        bool good = was_known(m, known, touched);
        for (int r = 0; r < KW_EMU_READERS && good; r++) {
            before = cell->reader_place[r];
            good = was_known(m, known, cell->reader[r]);
        }
        if (!good) {
            char line[KW_EMU_BACKTRACE_MAX], other[80];
            kw_emu_backtrace(m->run->object, frame, line);
            say_line(m, before, other);
            kw_emu_fault(
                self->machine,
                "race in the cluster: a bulk copy of block %lld writes shared memory of block %lld, byte %lld, %s; it does not know "
                "whether that is done with it, %s",
                (long long)own->block, (long long)m->block, (long long)(i << shift), line, other);
        }
        cell->writer = under_way(self->thread);
        cell->writer_place = shared_offset(m, frame[1]);
    }
}

void kw_emu_order_wave(kw_emu_machine *m, int wave) {
    m->known[wave][wave] = m->clock[wave]++;
}

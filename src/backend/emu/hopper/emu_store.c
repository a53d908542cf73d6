/* emu_store.c: bulk stores from shared memory to a tensor (PTX, "cp.async.bulk.tensor", "bulk_group") and barriers of some waves (PTX,
 * "bar.sync", "bar.arrive") as NVIDIA documents them.
 *
 * A store is carried out when its thread waits for its group, which is as late as may be: from when it is asked for to then nobody may
 * write what it reads. A barrier of some waves makes all that meet there know what the others did. */
#include "backend/emu/hopper/emu_hopper.h"

#include "backend/emu/check/emu_aligned.h"
#include "backend/emu/check/emu_check.h"

#include <string.h>

enum { PIECE = 16, ELEMENTS_MAX = 256 };

static void report_store(kw_emu_machine *m, const void *place, const char *rule) {
    char line[80];
    kw_emu_line(m->run->object, place, line);
    kw_emu_fault(m, "bulk store in block %lld, %s: %s", (long long)m->block, line, rule);
}

/* --- bulk stores --- */

static int32_t box_rows(const kw_emu_bulk *box) {
    return box->bytes / (box->map.box[0] * box->map.bytes);
}

static void check_target(kw_emu_thread *self, const kw_emu_bulk *box, void *const *frame) {
    for (int32_t r = 0; r < box_rows(box); r++) {
        int skip, count;
        const char *to = kw_emu_box_row(box, r, &skip, &count);
        if (to) {
            kw_emu_write(self, to, count * box->map.bytes, 0, frame);
        }
    }
}

void kw_emu_tensor_store(kw_emu_thread *self, const kw_emu_map *map, const char *from, const int at[6]) {
    kw_emu_machine *m = self->machine;
    kw_emu_bulk box = {.map = *map, .to = (int32_t)(from - m->lds)};
    const char *rule = map->pixels ? "the map is one of an image" : kw_emu_bulk_rejection(m, &box, at[0]);
    for (int i = 1; i <= map->rank && !rule; i++) {
        rule = at[i] < 0 ? "it begins before the first element, which an H200 was seen to refuse (illegal instruction)" : NULL;
    }
    if (rule || m->store_count == KW_EMU_STORES_MAX) {
        report_store(m, __builtin_return_address(0), rule ? rule : "more are under way than can be kept");
        return;
    }
    box.bytes = (int32_t)kw_emu_box_bytes(map);
    memcpy(box.at, at + 1, sizeof box.at);
    if (m->run->checks) {
        check_target(self, &box, __builtin_frame_address(0));
    }
    kw_emu_engine_begins(self, box.to, box.bytes, false, __builtin_frame_address(0));
    m->store[m->store_count++] = (kw_emu_store){.box = box, .thread = self->thread, .commit = m->fiber[self->thread].store_commits};
}

static void complete_store(kw_emu_machine *m, const kw_emu_store *store) {
    const kw_emu_bulk *box = &store->box;
    int32_t row_bytes = box->map.box[0] * box->map.bytes;
    for (int32_t r = 0; r < box_rows(box); r++) {
        char row[ELEMENTS_MAX * 8];
        int skip, count;
        char *to = kw_emu_box_row(box, r, &skip, &count);
        for (int32_t at = 0; at < row_bytes; at += PIECE) {
            memcpy(row + at, m->lds + kw_emu_swizzled(&box->map, box->to + r * row_bytes + at), PIECE);
        }
        if (to) {
            memcpy(to, row + skip * box->map.bytes, (size_t)(count * box->map.bytes));
        }
    }
    if (m->run->checks) {
        kw_emu_engine_read(m, store->thread, box->to, box->bytes);
    }
}

void kw_emu_store_commit(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    m->fiber[self->thread].store_commits++;
}

void kw_emu_store_wait(kw_emu_thread *self, int groups) {
    kw_emu_machine *m = self->machine;
    int64_t last = (int64_t)m->fiber[self->thread].store_commits - groups;
    int32_t kept = 0;
    for (int32_t i = 0; i < m->store_count; i++) {
        if (m->store[i].thread == self->thread && (int64_t)m->store[i].commit < last) {
            complete_store(m, &m->store[i]);
        } else {
            m->store[kept++] = m->store[i];
        }
    }
    m->store_count = kept;
}

/* --- barriers of some waves --- */

/* Hardware counts whole waves. */
static void check_waves(kw_emu_machine *m, int number) {
    for (int w = 0; w < m->waves; w++) {
        uint64_t here = 0;
        for (int lane = 0, t = w * m->run->wave; lane < m->run->wave && t < m->run->threads; lane++, t++) {
            here |= (uint64_t)(m->fiber[t].state == KW_EMU_AT_WAVES && m->fiber[t].named == number) << lane;
        }
        if (here && here != m->wave[w].all) {
            kw_emu_report_missing(m, w, here);
        } else if (here) {
            kw_emu_compare_paths(m, w);
        }
    }
}

static void end_meeting(kw_emu_machine *m, int number) {
    kw_emu_named *named = &m->named[number];
    check_waves(m, number);
    named->arrived = 0;
    for (int t = 0; t < m->run->threads; t++) {
        kw_emu_fiber *fiber = &m->fiber[t];
        if (fiber->state == KW_EMU_AT_WAVES && fiber->named == number) {
            fiber->state = KW_EMU_RUNS;
            kw_emu_set_ready(m, t, true);
            kw_emu_clock_acquire(m, t, named->next);
        }
    }
}

void kw_emu_waves_barrier(kw_emu_thread *self, int number, int threads, int waits) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    if (number < 1 || number >= KW_EMU_NAMED || threads < 1 || threads % m->run->wave || threads > m->run->threads) {
        kw_emu_fault(m, "barrier %d of %d threads in block %lld: numbers are 1 to 15, and threads whole waves", number, threads,
                     (long long)m->block);
        return;
    }
    kw_emu_named *named = &m->named[number];
    if (named->arrived && named->threads != threads) {
        char line[80];
        kw_emu_line(m->run->object, __builtin_return_address(0), line);
        kw_emu_fault(m, "barrier %d in block %lld: thread %d says %d threads, others said %d; %s", number, (long long)m->block,
                     self->thread, threads, named->threads, line);
        return;
    }
    named->threads = threads;
    named->arrived++;
    kw_emu_clock_release(m, self->thread, named->next);
    kw_emu_come(self, __builtin_frame_address(0));
    kw_emu_step_taken(self, KW_EMU_PATH_BARRIERS, KW_EMU_NAMED_STEP(number, waits), __builtin_frame_address(0));
    fiber->named = number;
    fiber->state = waits ? KW_EMU_AT_WAVES : KW_EMU_RUNS;
    if (named->arrived == threads) {
        end_meeting(m, number);
    } else if (waits) {
        kw_emu_set_ready(m, self->thread, false);
        kw_emu_yield(m);
    }
}

/* --- a block --- */

void kw_emu_store_begin(kw_emu_machine *m) {
    m->store_count = 0;
    memset(m->named, 0, sizeof m->named);
}

void kw_emu_store_left(kw_emu_machine *m) {
    if (m->store_count) {
        kw_emu_fault(m, "missing wait in block %lld: %d bulk stores of thread %d are not waited for", (long long)m->block, m->store_count,
                     m->store[0].thread);
    }
    for (int i = 0; i < KW_EMU_NAMED; i++) {
        if (m->named[i].arrived) {
            kw_emu_fault(m, "barrier %d in block %lld: %d of %d threads arrived, and nobody comes any more", i, (long long)m->block,
                         m->named[i].arrived, m->named[i].threads);
        }
    }
}

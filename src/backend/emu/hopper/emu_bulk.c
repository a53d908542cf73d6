/* emu_bulk.c: barriers in shared memory (PTX, "mbarrier") and bulk tensor copies (PTX, "cp.async.bulk.tensor") as NVIDIA
 * documents them, both of tiles and of images (im2col). A phase of a barrier is over when all its arrivals came and all bytes that were
 * announced were brought.
 *
 * A copy is carried out when no thread can go on without one, the oldest first: nobody can be later. What it brings is ordered before
 * those who wait on its barrier and nobody else: it is stamped as done by an engine, which is one more wave to the clocks of
 * emu_check.c. */
#include "backend/emu/hopper/emu_hopper.h"

#include "backend/emu/check/emu_aligned.h"
#include "backend/emu/check/emu_check.h"
#include "base/container/array.h"

#include <stdlib.h>
#include <string.h>

enum { BULK_MAX = 1 << 12, SPAN_BYTES = 128, PIECE = 16, BOX_MAX = 256, RANK_MAX = 5 };

/* --- barriers --- */

static void report_mbar(kw_emu_machine *m, const void *place, const char *what, const char *bar) {
    char line[80];
    kw_emu_line(m->run->object, place, line);
    kw_emu_fault(m, "%s in block %lld: the barrier at byte %lld of shared memory, %s", what, (long long)m->block, (long long)(bar - m->lds),
                 line);
}

static kw_emu_mbar *find_mbar(kw_emu_machine *m, const char *bar) {
    for (int i = 0; i < KW_EMU_MBARS_MAX; i++) {
        if (m->mbar[i].used && m->mbar[i].at == bar - m->lds) {
            return &m->mbar[i];
        }
    }
    return NULL;
}

/* The barrier that a thread means; it must have been made, and the thread must know. */
static kw_emu_mbar *known_mbar(kw_emu_thread *self, const char *bar, const void *place) {
    kw_emu_machine *m = self->machine;
    kw_emu_mbar *mbar = find_mbar(m, bar);
    if (!mbar) {
        report_mbar(m, place, "no kw_mbar_init", bar);
    } else if (!kw_emu_happens_before(m, mbar->made, self->thread)) {
        report_mbar(m, place, "race with kw_mbar_init", bar);
    }
    return mbar;
}

static bool is_phase_complete(const kw_emu_mbar *mbar, int parity) {
    return (int)(mbar->phase & 1) != parity;
}

static void end_phase(kw_emu_machine *m, kw_emu_mbar *mbar) {
    if (mbar->missing || mbar->bytes) {
        return;
    }
    mbar->phase++;
    mbar->missing = mbar->count;
    memcpy(mbar->done, mbar->next, sizeof mbar->done);
    memcpy(mbar->peer_done, mbar->peer_next, sizeof mbar->peer_done);
    for (int t = 0; t < m->run->threads; t++) {
        kw_emu_fiber *fiber = &m->fiber[t];
        if (fiber->state == KW_EMU_AT_MBAR && fiber->mbar == mbar && is_phase_complete(mbar, fiber->parity)) {
            fiber->state = KW_EMU_RUNS;
            kw_emu_set_ready(m, t, true);
        }
    }
}

void kw_emu_mbar_init(kw_emu_thread *self, char *bar, int count) {
    kw_emu_machine *m = self->machine;
    int64_t at = bar - m->lds;
    int i = 0;
    if (find_mbar(m, bar)) {
        report_mbar(m, __builtin_return_address(0), "kw_mbar_init again", bar);
    }
    if (at < 0 || at > m->lds_used - 8 || at % 8 || count < 1) {
        report_mbar(m, __builtin_return_address(0), "kw_mbar_init outside shared memory, misaligned, or for nobody", bar);
    }
    while (i < KW_EMU_MBARS_MAX && m->mbar[i].used) {
        i++;
    }
    if (i == KW_EMU_MBARS_MAX) {
        report_mbar(m, __builtin_return_address(0), "more barriers than can be kept", bar);
        return;
    }
    m->mbar[i] = (kw_emu_mbar){.used = true, .at = (int32_t)at, .count = count, .missing = count, .made = kw_emu_stamp(m, self->thread)};
}

void kw_emu_mbar_end(kw_emu_thread *self, char *bar) {
    kw_emu_machine *m = self->machine;
    kw_emu_mbar *mbar = known_mbar(self, bar, __builtin_return_address(0));
    for (int t = 0; t < m->run->threads; t++) {
        if (m->fiber[t].state == KW_EMU_AT_MBAR && m->fiber[t].mbar == mbar) {
            report_mbar(m, __builtin_return_address(0), "kw_mbar_end while threads wait", bar);
        }
    }
    mbar->used = false;
}

void kw_emu_mbar_arrive(kw_emu_thread *self, char *bar, int bytes) {
    kw_emu_machine *m = self->machine;
    kw_emu_mbar *mbar = known_mbar(self, bar, __builtin_return_address(0));
    if (!mbar->missing) {
        report_mbar(m, __builtin_return_address(0), "more arrivals than kw_mbar_init counted", bar);
    }
    mbar->bytes += bytes;
    mbar->missing--;
    kw_emu_clock_release(m, self->thread, mbar->next);
    end_phase(m, mbar);
}

void kw_emu_mbar_wait(kw_emu_thread *self, char *bar, int parity) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    kw_emu_mbar *mbar = known_mbar(self, bar, __builtin_return_address(0));
    if (kw_emu_under_way(self)) {
        kw_emu_step_taken(self, KW_EMU_PATH_STEPS, KW_EMU_MBAR_STEP, __builtin_frame_address(0));
    }
    if (!is_phase_complete(mbar, parity)) {
        kw_emu_come(self, __builtin_frame_address(0));
        fiber->state = KW_EMU_AT_MBAR;
        fiber->mbar = mbar;
        fiber->parity = parity;
        kw_emu_set_ready(m, self->thread, false);
        kw_emu_yield(m);
    }
    kw_emu_clock_acquire(m, self->thread, mbar->done);
    for (int r = 0; r < m->run->cluster; r++) {
        uint32_t *known = m->peer_known[self->thread >> m->run->wave_shift][r];
        for (int a = 0; a < KW_EMU_AGENTS; a++) {
            known[a] = known[a] > mbar->peer_done[r][a] ? known[a] : mbar->peer_done[r][a];
        }
    }
}

/* In another block of the cluster, where the barrier lies at the same place. NULL: a fault is told. */
static kw_emu_mbar *peer_mbar(kw_emu_thread *self, const char *bar, int rank, const char *what, const void *place) {
    kw_emu_machine *m = self->machine, *to = kw_emu_cluster_peer(self, rank, what, place);
    kw_emu_mbar *mbar = to ? find_mbar(to, to->lds + (bar - m->lds)) : NULL;
    if (to && !mbar) {
        report_mbar(m, place, "no kw_mbar_init in the other block", bar);
    }
    return mbar;
}

void kw_emu_mbar_arrive_at(kw_emu_thread *self, char *bar, int rank) {
    kw_emu_machine *m = self->machine;
    kw_emu_mbar *mbar;
    if (rank == m->rank) {
        kw_emu_mbar_arrive(self, bar, 0);
        return;
    }
    mbar = peer_mbar(self, bar, rank, "kw_mbar_arrive_at", __builtin_return_address(0));
    if (!mbar) {
        return;
    }
    if (!mbar->missing) {
        report_mbar(m, __builtin_return_address(0), "more arrivals than kw_mbar_init counted, from another block", bar);
    }
    mbar->missing--;
    kw_emu_clock_release(m, self->thread, mbar->peer_next[m->rank]);
    m->peer[rank]->stirred = true;
    end_phase(m->peer[rank], mbar);
}

/* --- copies --- */

int64_t kw_emu_box_bytes(const kw_emu_map *map) {
    int64_t bytes = map->bytes;
    for (int i = 0; i < map->rank; i++) {
        bytes *= map->box[i];
    }
    return bytes;
}

/* NULL, or the rule that a copy breaks. */
const char *kw_emu_bulk_rejection(const kw_emu_machine *m, const kw_emu_bulk *b, int coordinates) {
    const kw_emu_map *map = &b->map;
    if (map->rank < 1 || map->rank > RANK_MAX || coordinates != map->rank) {
        return "the launch describes no such map, or one of another rank";
    }
    if ((uintptr_t)map->base % PIECE || map->box[0] * map->bytes % PIECE || (map->swizzle && map->box[0] * map->bytes > SPAN_BYTES)) {
        return "tensor and rows of the box must be multiples of 16 bytes, and a row at most 128 with the swizzle";
    }
    for (int i = 0; i < map->rank; i++) {
        if (map->box[i] < 1 || map->box[i] > BOX_MAX || (i && map->stride[i - 1] % PIECE)) {
            return "a box has 1 to 256 elements along each axis, and strides are multiples of 16 bytes";
        }
    }
    if (b->to % SPAN_BYTES) {
        return "the box must lie at a multiple of 128 bytes";
    }
    return m->waves > KW_EMU_WAVES_MAX - 1 ? "blocks of 1024 threads cannot be played with bulk copies" : NULL;
}

/* The rule that a walk over an image breaks, or NULL: where it may begin, and how far on it may read (PTX, "im2col mode"). */
static const char *walk_rejection(const kw_emu_bulk *b) {
    const kw_emu_map *map = &b->map;
    int axes = map->rank - 2;
    if (axes < 1 || !map->pixels) {
        return "the launch describes no map of an image";
    }
    int limit = 1 << (16 / axes - 1); /* of 16, 8 and 5 bits */
    for (int i = 0; i < axes; i++) {
        int64_t start = b->at[i + 1] - map->low[i],
                high = map->low[i] + (int64_t)(map->count[i] - 1) * map->step[i] + 1 - map->extent[i + 1];
        if (start < 0 || start % map->step[i] || start / map->step[i] >= map->count[i]) {
            return "a walk must begin at one of the image's pixels";
        }
        if (map->low[i] < -limit || map->low[i] >= limit || high < -limit || high >= limit || map->step[i] > 8) {
            return "an image is bounded in 16, 8 or 5 bits along each of 1, 2 or 3 axes, and steps are 8 at most";
        }
        if (b->offset[i] < 0 || b->offset[i] >= 2 * limit) {
            return "offsets of pixels have 16, 8 or 5 bits, for 1, 2 or 3 axes";
        }
    }
    return NULL;
}

/* Pixel number `row` of a walk; NULL: it lies beside its image, or after the last. */
static char *walk_row(const kw_emu_bulk *b, int64_t row) {
    const kw_emu_map *map = &b->map;
    int axes = map->rank - 2;
    char *from = map->base;
    for (int i = 0; i < axes; i++) { /* as numbers with the innermost axis as the lowest digit */
        int64_t digit = (b->at[i + 1] - map->low[i]) / map->step[i] + row, at;
        row = digit / map->count[i];
        at = map->low[i] + digit % map->count[i] * map->step[i] + b->offset[i];
        if (at < 0 || at >= map->extent[i + 1]) {
            from = NULL;
        }
        from = from ? from + at * map->stride[i] : NULL;
    }
    int64_t image = b->at[axes + 1] + row;
    return from && image >= 0 && image < map->extent[axes + 1] ? from + image * map->stride[axes] : NULL;
}

static char *tile_row(const kw_emu_bulk *b, int64_t row) {
    const kw_emu_map *map = &b->map;
    char *from = map->base;
    for (int i = 1; i < map->rank; i++) {
        int64_t at = b->at[i] + row % map->box[i];
        row /= map->box[i];
        if (at < 0 || at >= map->extent[i]) {
            return NULL;
        }
        from += at * map->stride[i - 1];
    }
    return from;
}

char *kw_emu_box_row(const kw_emu_bulk *b, int64_t row, int *skip, int *count) {
    const kw_emu_map *map = &b->map;
    char *from = map->pixels ? walk_row(b, row) : tile_row(b, row);
    if (!from) {
        return NULL;
    }
    int64_t first = b->at[0] < 0 ? 0 : b->at[0], last = b->at[0] + map->box[0];
    last = last < map->extent[0] ? last : map->extent[0];
    *skip = (int)(first - b->at[0]);
    *count = last > first ? (int)(last - first) : 0;
    return *count ? from + first * map->bytes : NULL;
}

int32_t kw_emu_swizzled(const kw_emu_map *map, int32_t byte) {
    return map->swizzle ? byte ^ (byte >> 7 & 7) << 4 : byte;
}

static void complete_bulk_copy(kw_emu_machine *m, const kw_emu_bulk *b) {
    int32_t row_bytes = b->map.box[0] * b->map.bytes, rows = b->bytes / row_bytes;
    for (int32_t r = 0; r < rows; r++) {
        _Alignas(16) char row[BOX_MAX * 8] = {0};
        int skip = 0, count = 0;
        const char *from = kw_emu_box_row(b, r, &skip, &count);
        if (from) {
            memcpy(row + skip * b->map.bytes, from, (size_t)(count * b->map.bytes));
        }
        for (int32_t at = 0; at < row_bytes; at += PIECE) {
            memcpy(m->lds + kw_emu_swizzled(&b->map, b->to + r * row_bytes + at), row + at, PIECE);
        }
    }
    m->clock[m->waves]++;
    if (m->run->checks) {
        kw_emu_engine_wrote(m, b->to, b->bytes);
    }
    b->mbar->next[m->waves] = m->clock[m->waves];
    b->mbar->bytes -= b->bytes;
    end_phase(m, b->mbar);
}

static bool reserve_bulk_copies(kw_emu_machine *m) {
    return m->bulk_count < BULK_MAX && KW_ARRAY_RESERVE(m->bulk, m->bulk_room, (size_t)m->bulk_count + 1);
}

/* What it reads must lie in the launch's memory: each run that is there is an access. */
static void check_source(kw_emu_thread *self, const kw_emu_bulk *b, void *const *frame) {
    int64_t rows = b->bytes / (b->map.box[0] * b->map.bytes);
    for (int64_t r = 0; r < rows; r++) {
        int skip, count;
        const char *from = kw_emu_box_row(b, r, &skip, &count);
        if (from) {
            kw_emu_read(self, from, count * b->map.bytes, 0, frame);
        }
    }
}

static void begin_bulk_copy(kw_emu_thread *self, kw_emu_bulk *b, const char *rule, const void *place, void *const *frame) {
    kw_emu_machine *m = self->machine;
    if (rule || !reserve_bulk_copies(m)) {
        char line[80];
        kw_emu_line(m->run->object, place, line);
        kw_emu_fault(m, "bulk copy in block %lld, %s: %s", (long long)m->block, line, rule ? rule : "more are under way than can be kept");
        return;
    }
    b->bytes = (int32_t)kw_emu_box_bytes(&b->map);
    if (m->run->checks) {
        check_source(self, b, frame);
    }
    kw_emu_engine_begins(self, b->to, b->bytes, true, frame);
    if (!b->mbar->fenced) {
        report_mbar(m, place, "missing kw_mbar_fence", m->lds + b->mbar->at);
    }
    m->bulk[m->bulk_count++] = *b;
}

void kw_emu_tensor_load(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6]) {
    kw_emu_machine *m = self->machine;
    kw_emu_bulk b = {.map = *map, .to = (int32_t)(to - m->lds), .mbar = known_mbar(self, bar, __builtin_return_address(0))};
    const char *rule = map->pixels ? "the map is one of an image" : kw_emu_bulk_rejection(m, &b, at[0]);
    memcpy(b.at, at + 1, sizeof b.at);
    if (!rule && b.at[0] * map->bytes % PIECE) { /* seen on an H200: an illegal instruction */
        rule = "its first coordinate is at no multiple of 16 bytes";
    }
    begin_bulk_copy(self, &b, rule, __builtin_return_address(0), __builtin_frame_address(0));
}

void kw_emu_tensor_share(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], int blocks) {
    kw_emu_machine *m = self->machine;
    const void *place = __builtin_return_address(0);
    for (int r = 0; r < m->run->cluster; r++) {
        if (!(blocks >> r & 1)) {
            continue;
        }
        if (r == m->rank) {
            kw_emu_tensor_load(self, to, map, bar, at);
            continue;
        }
        kw_emu_machine *peer = m->peer[r];
        kw_emu_bulk b = {.map = *map, .to = (int32_t)(to - m->lds), .mbar = peer_mbar(self, bar, r, "kw_tensor_share3", place)};
        const char *rule = map->pixels ? "the map is one of an image" : kw_emu_bulk_rejection(m, &b, at[0]);
        memcpy(b.at, at + 1, sizeof b.at);
        rule = rule ? rule : b.at[0] * map->bytes % PIECE ? "its first coordinate is at no multiple of 16 bytes" : NULL;
        if (rule || !reserve_bulk_copies(peer)) {
            char line[80];
            kw_emu_line(m->run->object, place, line);
            kw_emu_fault(m, "bulk copy in block %lld, %s: %s", (long long)m->block, line,
                         rule ? rule : "more are under way than can be kept");
            return;
        }
        b.bytes = (int32_t)kw_emu_box_bytes(&b.map);
        if (m->run->checks) {
            kw_emu_peer_brings(self, peer, b.to, b.bytes, __builtin_frame_address(0));
        }
        peer->bulk[peer->bulk_count++] = b;
        peer->stirred = true;
    }
}

void kw_emu_tensor_pixels(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], const int offset[3]) {
    kw_emu_machine *m = self->machine;
    kw_emu_bulk b = {.map = *map, .to = (int32_t)(to - m->lds), .mbar = known_mbar(self, bar, __builtin_return_address(0))};
    memcpy(b.at, at + 1, sizeof b.at);
    memcpy(b.offset, offset, sizeof b.offset);
    const char *rule = kw_emu_bulk_rejection(m, &b, at[0]);
    rule = rule ? rule : walk_rejection(&b);
    begin_bulk_copy(self, &b, rule, __builtin_return_address(0), __builtin_frame_address(0));
}

bool kw_emu_bulk_next(kw_emu_machine *m) {
    if (!m->bulk_count) {
        return false;
    }
    kw_emu_bulk oldest = m->bulk[0];
    memmove(m->bulk, m->bulk + 1, (size_t)--m->bulk_count * sizeof oldest);
    complete_bulk_copy(m, &oldest);
    return true;
}

void kw_emu_bulk_begin(kw_emu_machine *m) {
    m->bulk_count = 0;
    for (int i = 0; i < KW_EMU_MBARS_MAX; i++) {
        m->mbar[i].used = false;
    }
}

/* --- small things --- */

/* Who made barriers tells bulk copies of them; what it stored is handed over besides. */
void kw_emu_mbar_fence(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    for (int i = 0; i < KW_EMU_MBARS_MAX; i++) {
        kw_emu_mbar *mbar = &m->mbar[i];
        mbar->fenced = mbar->fenced || (mbar->used && kw_emu_happens_before(m, mbar->made, self->thread));
    }
    kw_emu_proxy_fence(self);
}

void kw_emu_proxy_fence(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    int wave = self->thread >> m->run->wave_shift;
    m->fenced[wave] = m->clock[wave]++;
}

unsigned kw_emu_shared_address(kw_emu_thread *self, const void *at) {
    return (unsigned)((const char *)at - ((kw_emu_machine *)self->machine)->lds);
}

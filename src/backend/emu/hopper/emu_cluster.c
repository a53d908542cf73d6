/* emu_cluster.c: clusters, blocks that run together and write to each other's shared memory (PTX, "barrier.cluster", "mapa", "st.shared::cluster")
 * as NVIDIA documents them.
 *
 * Each block has a machine of its own, and they play one after the other (emu_blocks.c). So what one writes to another is there early, or
 * late, as the ranks are: that it may come in any order between two meetings is checked. What a peer writes is stamped with a clock that stands for it in the machine that is written to, and which that block's threads
 * know from the next meeting on; and it must have been touched by nobody since the last one. A block may end as soon as it has met the others
 * for the last time, so that nobody may write to it from then on.
 *
 * Barriers that a peer arrives at, and copies that it asks for, are a block's own (emu_bulk.c): it goes on when they let it. Such a copy needs
 * nobody's meeting, but who asks must know from a barrier that the block is done with what lies there: of each peer's clocks a wave knows
 * what those barriers told. */
#include "backend/emu/hopper/emu_hopper.h"

#include "backend/emu/check/emu_aligned.h"
#include "backend/emu/check/emu_check.h"

#include <string.h>

enum { PEER_BYTES = 16 };

void kw_emu_cluster_barrier(kw_emu_thread *self) {
    kw_emu_machine *m = self->machine;
    kw_emu_fiber *fiber = &m->fiber[self->thread];
    kw_emu_come(self, __builtin_frame_address(0));
    fiber->state = KW_EMU_AT_CLUSTER;
    m->at_cluster++;
    for (int w = 0; w < m->waves && m->at_cluster == m->run->threads; w++) {
        kw_emu_compare_paths(m, w);
    }
    kw_emu_set_ready(m, self->thread, false);
    kw_emu_yield(m);
}

static void report_peer(kw_emu_thread *self, int rank, const char *what, const char *why, const void *place) {
    kw_emu_machine *m = self->machine;
    char line[80];
    kw_emu_line(m->run->object, place, line);
    kw_emu_fault(m, "%s in block %lld, %s, to the cluster's block %d: %s", what, (long long)m->block, line, rank, why);
}

kw_emu_machine *kw_emu_cluster_peer(kw_emu_thread *self, int rank, const char *what, const void *place) {
    kw_emu_machine *m = self->machine, *to = rank >= 0 && rank < m->run->cluster ? m->peer[rank] : NULL;
    if (!to) {
        report_peer(self, rank, what, "there is no such block", place);
        return NULL;
    }
    if (!m->meetings) {
        report_peer(self, rank, what, "it may not have begun; kw_cluster_barrier() comes first", place);
    }
    if (to->ended == to->run->threads) {
        report_peer(self, rank, what, "it has ended", place);
    }
    if (to != m) {
        to->visitor = (int32_t)m->block;
    }
    return to;
}

void kw_emu_peer_write(kw_emu_thread *self, char *at, int rank, const unsigned words[4]) {
    const void *place = __builtin_return_address(0);
    kw_emu_machine *m = self->machine, *to = kw_emu_cluster_peer(self, rank, "kw_peer_write", place);
    int64_t offset = at - m->lds;
    if (!to) {
        return;
    }
    if (offset < 0 || offset > to->lds_used - PEER_BYTES || offset % PEER_BYTES) {
        report_peer(self, rank, "kw_peer_write", "no 16 bytes of its shared memory, at a multiple of that", place);
    }
    if (m->run->checks && to != m) {
        kw_emu_peer_wrote(self, to, offset, __builtin_frame_address(0));
    } else if (m->run->checks) {
        kw_emu_write(self, at, PEER_BYTES, 1, __builtin_frame_address(0));
    }
    memcpy(to->lds + offset, words, PEER_BYTES);
}

void kw_emu_cluster_met(kw_emu_machine *m) {
    for (int t = 0; t < m->run->threads; t++) {
        m->fiber[t].state = KW_EMU_RUNS;
    }
    for (int w = 0; w < m->waves; w++) {
        m->wave[w].ready = m->wave[w].all;
    }
    m->at_cluster = 0;
    m->stirred = true;
    m->meetings++;
    m->visitor = -1;
    kw_emu_order_block(m);
    kw_emu_order_cluster(m);
}

void kw_emu_cluster_know(kw_emu_machine *m) {
    for (int r = 0; r < m->run->cluster; r++) {
        for (int w = 0; w < m->waves; w++) {
            memcpy(m->peer_known[w][r], m->peer[r]->met, sizeof m->peer_known[w][r]);
        }
    }
}

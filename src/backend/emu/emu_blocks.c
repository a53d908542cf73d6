/* emu_blocks.c: a block from its begin to its end, or the blocks of a cluster: one after the other, each until all its threads wait for the
 * cluster; when all blocks do, they go on. */
#include "backend/emu/hopper/emu_hopper.h"
#include "backend/emu/check/emu_report.h"

#include <stdio.h>
#include <string.h>

/* Blocks that do not meet any more: some have ended, others wait for them; or one was written to that may have ended before. */
static bool fail_parted(kw_emu_machine *first, const kw_emu_machine *waits, const kw_emu_machine *left) {
    char line[80];
    kw_emu_line(first->run->object, waits->fiber[0].place, line);
    snprintf(first->fault, sizeof first->fault, "deadlock in the cluster: block %lld waits at kw_cluster_barrier, %s; block %lld has ended",
             (long long)waits->block, line, (long long)left->block);
    return false;
}

static bool check_visits(kw_emu_machine *first) {
    for (int r = 0; r < first->run->cluster; r++) {
        const kw_emu_machine *m = first->peer[r];
        if (m->visitor >= 0) {
            snprintf(first->fault, sizeof first->fault,
                     "missing kw_cluster_barrier: block %lld may end before block %d writes to its shared memory", (long long)m->block,
                     m->visitor);
            return false;
        }
    }
    return true;
}

static bool at_rest(const kw_emu_machine *m) {
    return m->ended == m->run->threads || m->at_cluster == m->run->threads;
}

static bool fail_block(kw_emu_machine *first, const kw_emu_machine *m) {
    if (m != first) {
        memcpy(first->fault, m->fault, sizeof first->fault);
    }
    return false;
}

/* Each block up to where it waits for the others, or its end; one that waits for what a peer has still to do goes on when that stirred it. waits,
 * left: one of each. */
static bool play_round(kw_emu_machine *first, const kw_emu_machine **waits, const kw_emu_machine **left) {
    *waits = *left = NULL;
    for (bool again = true; again;) {
        again = false;
        for (int r = 0; r < first->run->cluster; r++) {
            kw_emu_machine *m = first->peer[r];
            if (at_rest(m) || !m->stirred) {
                continue;
            }
            again = true;
            if (!kw_emu_machine_go_on(m)) {
                return fail_block(first, m);
            }
        }
    }
    for (int r = 0; r < first->run->cluster; r++) {
        kw_emu_machine *m = first->peer[r];
        if (!at_rest(m)) {
            kw_emu_say_deadlock(m);
            return fail_block(first, m);
        }
        *(m->at_cluster ? waits : left) = m;
    }
    return true;
}

bool kw_emu_cluster_run(kw_emu_machine *first, int64_t block) {
    const kw_emu_machine *waits, *left;
    for (int r = 0; r < first->run->cluster; r++) {
        kw_emu_machine_begin(first->peer[r], block + r);
    }
    while (play_round(first, &waits, &left)) {
        if (!waits) {
            return check_visits(first);
        }
        if (left) {
            return fail_parted(first, waits, left);
        }
        for (int r = 0; r < first->run->cluster; r++) {
            kw_emu_cluster_met(first->peer[r]);
        }
        for (int r = 0; r < first->run->cluster; r++) {
            kw_emu_cluster_know(first->peer[r]);
        }
    }
    return false;
}

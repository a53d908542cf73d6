/* cpu_run.c: stages over threads, with a barrier between two stages. Each share of a stage is one contiguous range of its units, the same one
 * each time and most often on the same thread, so that what that touched last time is near it; and it is done in pieces, so that who has done
 * its own takes over what a slower one, or one whose core somebody else has, did not begin. Pieces get smaller: few calls of the kernel, and
 * little left for one when the others are done.
 *
 * On a host's own threads a task of its loop is a thread of the team: the host may run them one after the other, on any thread. */
#include "backend/cpu/cpu_run.h"

#include "base/os/clock.h"
#include "config/launch/team.h"

#include <stdatomic.h>
#include <string.h>

enum { PIECES = 3 };

/* Shares of KW_TEAM_UNITS units are cut into all pieces, of two and three into two. */
static int pieces_of(int64_t units) {
    return units >= KW_TEAM_UNITS ? PIECES : units >= 2 ? 2 : 1;
}

static int64_t unit_of_piece(int64_t units, int piece, int pieces) {
    return piece >= pieces ? units : units - (units >> piece);
}

/* Halves of what is left: 1/2, 1/4, ... and the last two alike. */
static void do_piece(void *user, const kw_cpu_piece *p) {
    const kw_cpu_work *work = user;
    int64_t each = work->units[p->stage] / p->shares, rest = work->units[p->stage] % p->shares;
    int64_t first = p->share * each + (p->share < rest ? p->share : rest), units = each + (p->share < rest);
    int64_t begin = first + unit_of_piece(units, p->piece, p->pieces), end = first + unit_of_piece(units, p->piece + 1, p->pieces);
    if (begin < end) {
        char *own = work->thread_bytes ? work->thread_memory + (size_t)p->thread * work->thread_bytes : NULL;
        int64_t start = work->share_ns ? kw_clock_thread_ns() : 0;
        if (work->stage[p->stage]) {
            work->stage[p->stage](&work->args, begin, end, own);
        } else if (p->stage < work->sums_stages) {
            kw_cpu_x_sums_do(work->sums, p->stage, begin, end);
        } else {
            kw_cpu_filter_copy(work->filter[p->stage], begin, end);
        }
        if (work->share_ns) {
            __atomic_fetch_add(&work->share_ns[p->stage][p->share], kw_clock_thread_ns() - start, __ATOMIC_RELAXED);
        }
    }
}

/* --- on a host's threads ------------------------------------------------------------------------------------------------ */

typedef struct host_stage {
    const kw_cpu_job *job;
    int stage, shares;
    _Atomic uint8_t begun[KW_CPU_THREADS_MAX];   /* tasks: each is done once, whatever the host's loop does */
    _Atomic uint16_t pieces[KW_CPU_THREADS_MAX]; /* of a share that somebody has begun */
} host_stage;

static void do_host_task(void *memory, int32_t index) {
    host_stage *s = memory;
    if (index < 0 || index >= s->shares || atomic_exchange(&s->begun[index], 1)) {
        return;
    }
    kw_cpu_piece todo = {.stage = s->stage, .shares = s->shares, .pieces = s->job->pieces, .thread = index};
    for (int i = 0; i < s->shares; i++) {
        todo.share = (index + i) % s->shares;
        while (atomic_load_explicit(&s->pieces[todo.share], memory_order_relaxed) < todo.pieces &&
               (todo.piece = atomic_fetch_add(&s->pieces[todo.share], 1)) < todo.pieces) {
            s->job->task(s->job->user, &todo);
        }
    }
}

static void run_on_host(const kw_host_threads *host, const kw_cpu_job *job) {
    host_stage s = {.job = job, .shares = job->threads};
    for (; s.stage < job->stages; s.stage++) {
        memset((void *)s.begun, 0, (size_t)s.shares);
        memset((void *)s.pieces, 0, (size_t)s.shares * sizeof *s.pieces);
        host->parallel_for(host->pool, s.shares, do_host_task, &s);
        for (int32_t i = 0; i < s.shares; i++) {
            do_host_task(&s, i); /* one that the host's loop left out; most often none */
        }
    }
}

static void run_job(const kw_cpu_job *job, const kw_cpu_threads *on) {
    if (job->threads < 2) {
        kw_cpu_run_alone(job);
    } else if (on->host.parallel_for) {
        run_on_host(&on->host, job);
    } else {
        kw_cpu_pool_run(on->pool, job);
    }
}

void kw_cpu_run(kw_cpu_work *work, const kw_cpu_threads *on, int threads, bool wake) {
    int64_t widest = 0;
    for (int i = 0; i < work->stages; i++) {
        widest = work->units[i] > widest ? work->units[i] : widest;
    }
    const kw_cpu_job job = {.threads = threads,
                            .stages = work->stages,
                            .pieces = threads > 1 ? pieces_of(widest / threads) : 1,
                            .wake = wake,
                            .task = do_piece,
                            .user = work};
    run_job(&job, on);
}

/* --- lists ------------------------------------------------------------------------------------------------------------- */

/* Of share s the items first[s] .. first[s + 1] - 1, of which those below next[s] are begun. */
typedef struct shared_list {
    const kw_cpu_list *list;
    int32_t first[KW_CPU_THREADS_MAX + 1];
    _Atomic int32_t next[KW_CPU_THREADS_MAX];
} shared_list;

static void cut_list(shared_list *s, int shares) {
    const kw_cpu_list *list = s->list;
    double all = 0, before = 0;
    int share = 0;
    for (int i = 0; i < list->count; i++) {
        all += list->work(list->user, i);
    }
    for (int i = 0; i < list->count; i++) {
        double work = list->work(list->user, i);
        for (; share < shares && before + work / 2 >= all * share / shares; share++) { /* an item is whose its middle is */
            s->first[share] = i;
        }
        before += work;
    }
    for (; share <= shares; share++) {
        s->first[share] = list->count;
    }
    s->first[0] = 0;
    for (int i = 0; i < shares; i++) {
        atomic_store_explicit(&s->next[i], s->first[i], memory_order_relaxed);
    }
}

static void do_items(void *user, const kw_cpu_piece *p) {
    shared_list *s = user;
    for (int i = 0; i < p->shares; i++) {
        int share = (p->share + i) % p->shares;
        int32_t item;
        while (atomic_load_explicit(&s->next[share], memory_order_relaxed) < s->first[share + 1] &&
               (item = atomic_fetch_add(&s->next[share], 1)) < s->first[share + 1]) {
            s->list->run(s->list->user, item);
        }
    }
}

void kw_cpu_run_list(const kw_cpu_list *list, const kw_cpu_threads *on, int threads, bool wake) {
    shared_list s;
    s.list = list;
    const kw_cpu_job job = {.threads = threads, .stages = 1, .pieces = 1, .wake = wake, .task = do_items, .user = &s};
    cut_list(&s, threads);
    run_job(&job, on);
}

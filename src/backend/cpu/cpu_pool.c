/* cpu_pool.c: crews of threads. Whoever waits looks at a word, offering its core to others now and then, and sleeps on the word (futex) when
 * somebody took the core, or after a while. The looking makes launches of microseconds possible; a wake costs tens of them, so a run that is
 * worth less and the first for a while goes without the threads that sleep.
 *
 *   call      of a thread beside the caller:
 *               IDLE    -> CALLED   by the caller, and back when the work was done before the thread came
 *               CALLED  -> BUSY     by the thread, and BUSY -> IDLE when it finds nothing more to do
 *               IDLE    -> ASLEEP   by the thread, when it has looked long enough; CALLED follows with a wake
 *               BUSY    -> WATCHED  by the caller, who sleeps until the thread leaves; IDLE follows with a wake
 *   claimed   of a share: how many of its pieces somebody has begun, over all stages; who makes it one more does that piece
 *   done      pieces done of all stages; stage i is over at (i + 1) * team * pieces. sleepers: who has to be woken then
 *
 * A run of microseconds on many cores is as fast as lines go from core to core. So what a caller writes to each thread is asked for before it
 * is written (a line after the other takes a tenth of a microsecond each), a thread counts the pieces of a share in one go, and what is
 * looked at while waiting shares its line with nothing that is written meanwhile.
 *
 * Invariants: a crew is in one slot of its pool or belongs to one run; between runs no thread of a crew is CALLED, BUSY or WATCHED. */
#include "backend/cpu/cpu_pool.h"

#include "base/os/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLOTS = 64, LINE = 64, LOOKS = 128, DENIED_RUNS = 1000 };
enum { IDLE, CALLED, BUSY, ASLEEP, WATCHED, DISMISSED };
static const int64_t look_ns = 1000000, taken_ns = 50000; /* taken: a yield that lasted so long, somebody else ran */

typedef struct crew crew;

/* A thread beside the caller, and the share that is its own. */
typedef struct crew_thread {
    _Alignas(LINE) _Atomic uint32_t call;
    crew *crew;
    pthread_t thread;
    int number; /* 1 and above */
    _Alignas(LINE) _Atomic uint32_t claimed;
} crew_thread;

struct crew {
    crew_thread **threads; /* threads[i] has number i + 1 */
    int made, denied;      /* denied: runs to go until one that could not be started is tried again */
    kw_cpu_job job;        /* of the run under way */
    int team;
    int64_t last_ns;          /* when the last run ended */
    _Atomic uint32_t claimed; /* of share 0, the caller's */
    _Alignas(LINE) _Atomic uint32_t done;
    _Atomic uint32_t sleepers;
};

struct kw_cpu_pool {
    _Atomic(crew *) slots[SLOTS]; /* crews without work */
};

/* --- waiting ------------------------------------------------------------------------------------------------------------ */

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_sleepers(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void relax_core(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static bool is_not(uint32_t value, uint32_t other) {
    return value != other;
}

static bool has_reached(uint32_t value, uint32_t end) {
    return value >= end;
}

/* Looks at the word for a while; whether it became what is waited for. */
static bool look_at(_Atomic uint32_t *word, bool (*came)(uint32_t, uint32_t), uint32_t value) {
    int64_t end = 0, last = 0;
    for (;;) {
        for (int i = 0; i < LOOKS; i++) {
            if (came(atomic_load_explicit(word, memory_order_acquire), value)) {
                return true;
            }
            relax_core();
        }
        int64_t now = kw_clock_ns();
        if (end && (now > end || now - last > taken_ns)) {
            return false;
        }
        end = end ? end : now + look_ns;
        last = now;
        sched_yield(); /* whoever is waited for may want this very core */
    }
}

/* --- work --------------------------------------------------------------------------------------------------------------- */

static void await_done(crew *c, uint32_t wanted) {
    if (look_at(&c->done, has_reached, wanted)) {
        return;
    }
    atomic_fetch_add(&c->sleepers, 1);
    uint32_t done = atomic_load(&c->done);
    while (done < wanted) {
        sleep_while(&c->done, done);
        done = atomic_load(&c->done);
    }
    atomic_fetch_sub(&c->sleepers, 1);
}

static void count_done(crew *c, uint32_t pieces) {
    uint32_t done = atomic_fetch_add(&c->done, pieces) + pieces;
    if (done % (uint32_t)(c->team * c->job.pieces) == 0 && atomic_load(&c->sleepers)) {
        wake_sleepers(&c->done, INT_MAX);
    }
}

/* The number of the piece of the share's stage that the caller is to do; -1: somebody has begun the last one. */
static int claim_piece(crew *c, int share, int stage) {
    _Atomic uint32_t *claimed = share ? &c->threads[share - 1]->claimed : &c->claimed;
    const uint32_t pieces = (uint32_t)c->job.pieces, first = (uint32_t)stage * pieces;
    uint32_t before = atomic_load_explicit(claimed, memory_order_relaxed);
    while (before - first < pieces) {
        if (atomic_compare_exchange_weak(claimed, &before, before + 1)) {
            return (int)(before - first);
        }
    }
    return -1;
}

/* The thread's own share of each stage, then what nobody began of the others. */
static void do_shares(crew *c, int own) {
    const kw_cpu_job *job = &c->job;
    kw_cpu_piece todo = {.shares = c->team, .pieces = job->pieces, .thread = own};
    for (int stage = 0; stage < job->stages; stage++) {
        uint32_t over = (uint32_t)(stage + 1) * (uint32_t)(c->team * job->pieces);
        todo.stage = stage;
        for (int i = 0; i < c->team && atomic_load_explicit(&c->done, memory_order_relaxed) < over; i++) {
            todo.share = own + i < c->team ? own + i : own + i - c->team;
            uint32_t did = 0;
            for (; (todo.piece = claim_piece(c, todo.share, stage)) >= 0; did++) {
                job->task(job->user, &todo);
            }
            if (did) {
                count_done(c, did);
            }
        }
        if (stage + 1 < job->stages || !own) {
            await_done(c, over);
        }
    }
}

/* --- threads ------------------------------------------------------------------------------------------------------------ */

/* Until somebody wants something. */
static uint32_t await_call(crew_thread *t) {
    uint32_t state = IDLE;
    if (!look_at(&t->call, is_not, IDLE) && atomic_compare_exchange_strong(&t->call, &state, ASLEEP)) {
        while (atomic_load(&t->call) == ASLEEP) {
            sleep_while(&t->call, ASLEEP);
        }
    }
    return atomic_load(&t->call);
}

static void *serve_crew(void *memory) {
    crew_thread *t = memory;
    for (;;) {
        uint32_t state = await_call(t);
        if (state == DISMISSED) {
            return NULL;
        }
        if (state == CALLED && atomic_compare_exchange_strong(&t->call, &state, BUSY)) {
            do_shares(t->crew, t->number);
            if (atomic_exchange(&t->call, IDLE) == WATCHED) {
                wake_sleepers(&t->call, 1);
            }
        }
    }
}

/* Comes back when the thread is not, or no longer, at the work of this run. */
static void release_thread(crew_thread *t) {
    uint32_t state = atomic_load_explicit(&t->call, memory_order_acquire);
    if (state == IDLE || (state == CALLED && atomic_compare_exchange_strong(&t->call, &state, IDLE)) || look_at(&t->call, is_not, BUSY)) {
        return;
    }
    state = BUSY;
    if (atomic_compare_exchange_strong(&t->call, &state, WATCHED)) {
        while (atomic_load(&t->call) == WATCHED) {
            sleep_while(&t->call, WATCHED);
        }
    }
}

static void call_thread(crew_thread *t, uint32_t what) {
    if (atomic_exchange(&t->call, what) == ASLEEP) {
        wake_sleepers(&t->call, 1);
    }
}

/* Signals are for the host's own threads; but those of a fault are for the thread that made it, where the host may have a handler. */
static bool start_thread(crew_thread *t) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all, before;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sigdelset(&all, faults[i]);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&t->thread, NULL, serve_crew, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !code;
}

static bool add_thread(crew *c) {
    crew_thread **more = realloc(c->threads, (size_t)(c->made + 1) * sizeof(crew_thread *));
    if (!more) {
        return false;
    }
    c->threads = more;
    more[c->made] = aligned_alloc(LINE, sizeof(crew_thread));
    if (!more[c->made]) {
        return false;
    }
    *more[c->made] = (crew_thread){.crew = c, .number = c->made + 1};
    if (!start_thread(more[c->made])) {
        free(more[c->made]);
        return false;
    }
    c->made++;
    return true;
}

/* The team that a run can have: so many as are wanted, or as can be made. */
static int make_team(crew *c, int wanted) {
    if (c->denied) {
        c->denied--;
    }
    while (c->made + 1 < wanted && !c->denied) {
        if (!add_thread(c)) {
            c->denied = DENIED_RUNS;
        }
    }
    return c->made + 1 < wanted ? c->made + 1 : wanted;
}

/* --- crews -------------------------------------------------------------------------------------------------------------- */

static void drop_crew(crew *c, bool forked) {
    for (int i = 0; i < c->made; i++) {
        if (!forked) {
            call_thread(c->threads[i], DISMISSED);
            pthread_join(c->threads[i]->thread, NULL);
        }
        free(c->threads[i]);
    }
    free(c->threads);
    free(c);
}

/* One without work, else a new one; NULL for want of memory. */
static crew *take_crew(kw_cpu_pool *pool) {
    for (int i = 0; i < SLOTS; i++) {
        crew *c = atomic_load_explicit(&pool->slots[i], memory_order_relaxed);
        if (c && (c = atomic_exchange(&pool->slots[i], NULL))) {
            return c;
        }
    }
    crew *made = aligned_alloc(LINE, sizeof *made);
    if (made) {
        *made = (crew){.team = 1};
    }
    return made;
}

static void give_crew_back(kw_cpu_pool *pool, crew *c) {
    for (int i = 0; i < SLOTS; i++) {
        crew *none = NULL;
        if (atomic_compare_exchange_strong(&pool->slots[i], &none, c)) {
            return;
        }
    }
    drop_crew(c, false);
}

kw_cpu_pool *kw_cpu_pool_create(void) {
    return calloc(1, sizeof(kw_cpu_pool));
}

void kw_cpu_pool_destroy(kw_cpu_pool **pool, bool forked) {
    for (int i = 0; *pool && i < SLOTS; i++) {
        crew *c = atomic_load(&(*pool)->slots[i]);
        if (c) {
            drop_crew(c, forked);
        }
    }
    free(*pool);
    *pool = NULL;
}

void kw_cpu_run_alone(const kw_cpu_job *job) {
    for (int stage = 0; stage < job->stages; stage++) {
        job->task(job->user, &(kw_cpu_piece){.stage = stage, .shares = 1, .pieces = 1});
    }
}

static void call_team(crew *c, bool wake) {
    for (int i = 0; i < c->team - 1; i++) {
        if (wake || atomic_load_explicit(&c->threads[i]->call, memory_order_relaxed) != ASLEEP) {
            call_thread(c->threads[i], CALLED);
        }
    }
}

static void run_team(crew *c, bool wake) {
    atomic_store_explicit(&c->claimed, 0, memory_order_relaxed);
    atomic_store_explicit(&c->done, 0, memory_order_relaxed);
    for (int i = 0; i < c->team - 1; i++) {
        __builtin_prefetch(&c->threads[i]->claimed, 1);
        __builtin_prefetch(&c->threads[i]->call, 1);
    }
    for (int i = 0; i < c->team - 1; i++) {
        atomic_store_explicit(&c->threads[i]->claimed, 0, memory_order_relaxed);
    }
    call_team(c, wake || kw_clock_ns() - c->last_ns < look_ns);
    do_shares(c, 0);
    for (int i = 0; i < c->team - 1; i++) {
        release_thread(c->threads[i]);
    }
    c->last_ns = kw_clock_ns();
}

void kw_cpu_pool_run(kw_cpu_pool *pool, const kw_cpu_job *job) {
    crew *c = job->threads > 1 ? take_crew(pool) : NULL;
    int team = c ? make_team(c, job->threads) : 1;
    if (team < 2) {
        kw_cpu_run_alone(job); /* also without a crew, for want of memory */
    } else {
        c->job = *job;
        c->team = team;
        run_team(c, job->wake);
    }
    if (c) {
        give_crew_back(pool, c);
    }
}

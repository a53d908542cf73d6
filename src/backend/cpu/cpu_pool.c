/* cpu_pool.c: crews of threads. Whoever waits looks at a word for a while, giving its core away now and then, and then sleeps on the word
 * (futex). The looking makes launches of microseconds possible, its end keeps cores free that others need.
 *
 *   call      states IDLE -> CALLED (the caller) -> IDLE (the thread, its share done); IDLE <-> ASLEEP (the thread, while nothing is to do)
 *   left      threads that are not done; with CALLER_SLEEPS when the last of them has to wake the caller
 *   phase     grows when all of a team have come to a barrier; sleepers counts those who have to be woken for it
 *
 * Invariants: a crew is in one slot of its pool or belongs to one run; call, left and team change only between the two ends of a run. */
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
enum { IDLE, CALLED, ASLEEP, DISMISSED };
static const uint32_t CALLER_SLEEPS = 1u << 31;
static const int64_t look_ns = 100000;

/* A thread of a crew, beside the caller. */
typedef struct crew_thread {
    _Alignas(LINE) _Atomic uint32_t call;
    kw_cpu_crew *crew;
    pthread_t thread;
    int number; /* 1 and above */
} crew_thread;

struct kw_cpu_crew {
    crew_thread **threads; /* threads[i] has number i + 1 */
    int made, denied;      /* denied: runs to go until one that could not be started is tried again */
    kw_cpu_task *task;     /* of the run under way */
    void *user;
    int team;
    _Alignas(LINE) _Atomic uint32_t left;
    _Alignas(LINE) _Atomic uint32_t arrived;
    _Atomic uint32_t phase, sleepers;
};

struct kw_cpu_pool {
    _Atomic(kw_cpu_crew *) slots[SLOTS]; /* crews without work */
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

/* Looks at the word for a while, until it has the value (equal) or another one; whether it came to that. */
static bool look_at(_Atomic uint32_t *word, bool equal, uint32_t value) {
    int64_t end = 0;
    for (;;) {
        for (int i = 0; i < LOOKS; i++) {
            if ((atomic_load_explicit(word, memory_order_acquire) == value) == equal) {
                return true;
            }
            relax_core();
        }
        int64_t now = kw_clock_ns();
        end = end ? end : now + look_ns;
        if (now > end) {
            return false;
        }
        sched_yield(); /* whoever is waited for may want this very core */
    }
}

void kw_cpu_crew_wait(kw_cpu_crew *crew, int team) {
    uint32_t phase = atomic_load(&crew->phase);
    if (atomic_fetch_add(&crew->arrived, 1) + 1 == (uint32_t)team) {
        atomic_store(&crew->arrived, 0);
        atomic_fetch_add(&crew->phase, 1);
        if (atomic_load(&crew->sleepers)) {
            wake_sleepers(&crew->phase, INT_MAX);
        }
        return;
    }
    if (look_at(&crew->phase, false, phase)) {
        return;
    }
    atomic_fetch_add(&crew->sleepers, 1);
    while (atomic_load(&crew->phase) == phase) {
        sleep_while(&crew->phase, phase);
    }
    atomic_fetch_sub(&crew->sleepers, 1);
}

/* --- threads ------------------------------------------------------------------------------------------------------------ */

/* CALLED or DISMISSED. */
static uint32_t await_call(crew_thread *t) {
    uint32_t state = IDLE;
    if (!look_at(&t->call, false, IDLE) && atomic_compare_exchange_strong(&t->call, &state, ASLEEP)) {
        while (atomic_load(&t->call) == ASLEEP) {
            sleep_while(&t->call, ASLEEP);
        }
    }
    return atomic_load(&t->call);
}

static void *serve_crew(void *memory) {
    crew_thread *t = memory;
    kw_cpu_crew *crew = t->crew;
    while (await_call(t) == CALLED) {
        crew->task(crew, crew->user, t->number, crew->team);
        atomic_store(&t->call, IDLE);
        if (atomic_fetch_sub(&crew->left, 1) == (CALLER_SLEEPS | 1)) {
            wake_sleepers(&crew->left, 1);
        }
    }
    return NULL;
}

static void call_thread(crew_thread *t, uint32_t what) {
    if (atomic_exchange(&t->call, what) == ASLEEP) {
        wake_sleepers(&t->call, 1);
    }
}

/* Signals are for the host's own threads. */
static bool start_thread(crew_thread *t) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&t->thread, NULL, serve_crew, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !code;
}

static bool add_thread(kw_cpu_crew *crew) {
    crew_thread **more = realloc(crew->threads, (size_t)(crew->made + 1) * sizeof(crew_thread *));
    crew->threads = more ? more : crew->threads;
    crew_thread *t = more ? aligned_alloc(LINE, sizeof *t) : NULL;
    if (!t) {
        return false;
    }
    *t = (crew_thread){.crew = crew, .number = crew->made + 1};
    if (!start_thread(t)) {
        free(t);
        return false;
    }
    crew->threads[crew->made++] = t;
    return true;
}

/* The team that a run can have: so many as are wanted, or as can be made. */
static int make_team(kw_cpu_crew *crew, int wanted) {
    if (crew->denied) {
        crew->denied--;
    }
    while (crew->made + 1 < wanted && !crew->denied) {
        if (!add_thread(crew)) {
            crew->denied = DENIED_RUNS;
        }
    }
    return crew->made + 1 < wanted ? crew->made + 1 : wanted;
}

/* --- crews -------------------------------------------------------------------------------------------------------------- */

static void drop_crew(kw_cpu_crew *crew, bool forked) {
    for (int i = 0; i < crew->made; i++) {
        if (!forked) {
            call_thread(crew->threads[i], DISMISSED);
            pthread_join(crew->threads[i]->thread, NULL);
        }
        free(crew->threads[i]);
    }
    free(crew->threads);
    free(crew);
}

/* One without work, else a new one; NULL for want of memory. */
static kw_cpu_crew *take_crew(kw_cpu_pool *pool) {
    for (int i = 0; i < SLOTS; i++) {
        kw_cpu_crew *crew = atomic_load_explicit(&pool->slots[i], memory_order_relaxed);
        if (crew && (crew = atomic_exchange(&pool->slots[i], NULL))) {
            return crew;
        }
    }
    kw_cpu_crew *made = aligned_alloc(LINE, sizeof *made);
    if (made) {
        *made = (kw_cpu_crew){.team = 1};
    }
    return made;
}

static void give_crew_back(kw_cpu_pool *pool, kw_cpu_crew *crew) {
    for (int i = 0; i < SLOTS; i++) {
        kw_cpu_crew *none = NULL;
        if (atomic_compare_exchange_strong(&pool->slots[i], &none, crew)) {
            return;
        }
    }
    drop_crew(crew, false);
}

kw_cpu_pool *kw_cpu_pool_create(void) {
    return calloc(1, sizeof(kw_cpu_pool));
}

void kw_cpu_pool_destroy(kw_cpu_pool **pool, bool forked) {
    for (int i = 0; *pool && i < SLOTS; i++) {
        kw_cpu_crew *crew = atomic_load(&(*pool)->slots[i]);
        if (crew) {
            drop_crew(crew, forked);
        }
    }
    free(*pool);
    *pool = NULL;
}

static void await_team(kw_cpu_crew *crew) {
    if (look_at(&crew->left, true, 0)) {
        return;
    }
    uint32_t left = atomic_fetch_or(&crew->left, CALLER_SLEEPS) | CALLER_SLEEPS;
    while (left != CALLER_SLEEPS) {
        sleep_while(&crew->left, left);
        left = atomic_load(&crew->left);
    }
}

void kw_cpu_pool_run(kw_cpu_pool *pool, int threads, kw_cpu_task *task, void *user) {
    kw_cpu_crew *crew = take_crew(pool);
    int team = crew ? make_team(crew, threads) : 1;
    if (team < 2) {
        task(crew, user, 0, 1);
    } else {
        crew->task = task;
        crew->user = user;
        crew->team = team;
        atomic_store(&crew->left, (uint32_t)team - 1);
        for (int i = 0; i < team - 1; i++) {
            call_thread(crew->threads[i], CALLED);
        }
        task(crew, user, 0, team);
        await_team(crew);
    }
    if (crew) {
        give_crew_back(pool, crew);
    }
}

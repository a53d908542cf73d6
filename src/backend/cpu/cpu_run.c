/* cpu_run.c: stages over the threads of a pool, with a barrier between two stages. Each thread takes one contiguous range of a stage's units,
 * the same one each time, so that what it touched last time is near it. */
#include "backend/cpu/cpu_run.h"

<<<<<<< HEAD
#include "base/os/clock.h"

#include <omp.h>

#if defined __SANITIZE_THREAD__
#define UNDER_TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#ifdef UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#define UNSEEN __attribute__((no_sanitize_thread, noinline))
#define SEEN __attribute__((noinline))

static void run_worker_share(const kw_cpu_work *work) {
    __tsan_acquire((void *)(uintptr_t)work);
}

static void hand_over(const kw_cpu_work *work) {
    __tsan_release((void *)(uintptr_t)work);
}
#else
#define UNSEEN
#define SEEN

static void run_worker_share(const kw_cpu_work *work) {
    (void)work;
}

static void hand_over(const kw_cpu_work *work) {
    (void)work;
}
#endif

/* A share's time raises its stage's, which all threads of the team may do at once. */
static void note_share(const kw_cpu_work *work, int stage, int64_t ns) {
    int64_t known = __atomic_load_n(&work->share_ns[stage], __ATOMIC_RELAXED);
    while (ns > known && !__atomic_compare_exchange_n(&work->share_ns[stage], &known, ns, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

SEEN static void run_share(const kw_cpu_work *work, int stage, int thread, int team) {
    run_worker_share(work);
=======
static void run_share(const kw_cpu_work *work, int stage, int thread, int team) {
>>>>>>> 2665264 (Stages run on threads of the library's own, which sleep when nothing comes; a thread that cannot be made is a smaller team)
    int64_t share = work->units[stage] / team, rest = work->units[stage] % team;
    int64_t begin = thread * share + (thread < rest ? thread : rest);
    int64_t end = begin + share + (thread < rest);
    if (begin < end) {
        char *own = work->thread_bytes ? work->thread_memory + (size_t)thread * work->thread_bytes : NULL;
        int64_t start = work->share_ns ? kw_clock_thread_ns() : 0;
        work->stage[stage](&work->args, begin, end, own);
        if (work->share_ns) {
            note_share(work, stage, kw_clock_thread_ns() - start);
        }
    }
}

static void run_stages(kw_cpu_crew *crew, void *user, int thread, int team) {
    const kw_cpu_work *work = user;
    for (int stage = 0; stage < work->stages; stage++) {
        if (stage && team > 1) {
            kw_cpu_crew_wait(crew, team);
        }
        run_share(work, stage, thread, team);
    }
}

void kw_cpu_run(kw_cpu_work *work, kw_cpu_pool *pool, int threads) {
    if (threads < 2) {
<<<<<<< HEAD
        for (int stage = 0; stage < work->stages; stage++) {
            run_share(work, stage, 0, 1);
        }
        return;
=======
        run_stages(NULL, work, 0, 1);
    } else {
        kw_cpu_pool_run(pool, threads, run_stages, work);
>>>>>>> 2665264 (Stages run on threads of the library's own, which sleep when nothing comes; a thread that cannot be made is a smaller team)
    }
}

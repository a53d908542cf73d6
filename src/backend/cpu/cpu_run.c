/* cpu_run.c: stages over OpenMP threads, with a barrier between two stages. Each thread takes one contiguous range of a stage's units, the
 * same one each time, so that what it touched last time is near it.
 *
 * ThreadSanitizer does not see the barriers of libgomp. Under it, the team's function is left out of its sight and each stage is enclosed
 * by an acquire and a release of the work, which is the order that the barriers make. */
#include "backend/cpu/cpu_run.h"

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
    hand_over(work);
}

UNSEEN static void run_team(const kw_cpu_work *work, int threads) {
#pragma omp parallel num_threads(threads) default(none) firstprivate(work)
    {
        int thread = omp_get_thread_num(), team = omp_get_num_threads();
        for (int stage = 0; stage < work->stages; stage++) {
            if (stage) {
#pragma omp barrier
            }
            run_share(work, stage, thread, team);
        }
    }
}

void kw_cpu_run(const kw_cpu_work *work, int threads) {
    if (threads < 2) {
        for (int stage = 0; stage < work->stages; stage++) {
            run_share(work, stage, 0, 1);
        }
        return;
    }
    hand_over(work);
    run_team(work, threads);
    run_worker_share(work);
}

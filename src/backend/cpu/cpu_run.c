/* cpu_run.c: stages over the threads of a pool, with a barrier between two stages. Each share of a stage is one contiguous range of its units,
 * the same one each time and most often on the same thread, so that what that touched last time is near it. */
#include "backend/cpu/cpu_run.h"

#include "base/os/clock.h"

/* A share's time raises its stage's, which all threads of the team may do at once. */
static void note_share(const kw_cpu_work *work, int stage, int64_t ns) {
    int64_t known = __atomic_load_n(&work->share_ns[stage], __ATOMIC_RELAXED);
    while (ns > known && !__atomic_compare_exchange_n(&work->share_ns[stage], &known, ns, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void run_share(void *user, int stage, int share, int shares) {
    const kw_cpu_work *work = user;
    int64_t each = work->units[stage] / shares, rest = work->units[stage] % shares;
    int64_t begin = share * each + (share < rest ? share : rest);
    int64_t end = begin + each + (share < rest);
    if (begin < end) {
        char *own = work->thread_bytes ? work->thread_memory + (size_t)share * work->thread_bytes : NULL;
        int64_t start = work->share_ns ? kw_clock_thread_ns() : 0;
        work->stage[stage](&work->args, begin, end, own);
        if (work->share_ns) {
            note_share(work, stage, kw_clock_thread_ns() - start);
        }
    }
}

void kw_cpu_run(kw_cpu_work *work, kw_cpu_pool *pool, int threads, bool wake) {
    kw_cpu_pool_run(pool, threads, wake, work->stages, run_share, work);
}

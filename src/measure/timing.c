/* timing.c: how long does a call take, on a machine that others use too?
 *
 * Batches are short (0.3 ms), because the scheduler's slice is about 3 ms: short ones often fall between two slices, long ones never do.
 * A batch during which the scheduler took the processor away (ru_nivcsw of getrusage moved) is dropped. The time is the lower quartile
 * of 21 clean batches, the spread their interquartile range; the quartile of clean batches is steady to 0.2 % where medians of long ones
 * are off by a factor of two under load. One thread: RUSAGE_THREAD. More: RUSAGE_SELF, which counts the OpenMP threads (and strangers of
 * the same process, whose switches then cost batches, not truth).
 *
 * Calls above 3 ms are batches of one: 7 of them, above 20 ms 3, above 100 ms 2. These can hardly all be clean under load; a call of one
 * thread whose wall clock ran at most 2 % ahead of its processor clock counts as clean as well. When fewer than three batches (or half
 * of those wanted, if that is less) were clean after three times the wanted number, all of them count, with the processor clock in place
 * of the wall clock for one thread.
 *
 * Subjects take turns: a round gives each one batch, and the order rotates, so that drift and neighbours hit all alike. Before a batch
 * of a subject faster than 1 ms one call is made that does not count: caches are warm as if the subject ran alone. */
#include "measure/timing.h"

#include "base/clock.h"
#include "base/math.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { WARM_BELOW_NS = 1000000, SINGLE_ABOVE_NS = 3000000, SHORT_ABOVE_NS = 20000000, SHORTEST_ABOVE_NS = 100000000 };
enum { BATCHES = 21, BATCH_NS = 300000, TRIES = 3 };

typedef struct sample_list {
    double *wall, *cpu; /* ns a call */
    bool *clean;
    int32_t wanted, tried, clean_count;
    int64_t calls; /* a batch */
    bool gave_up;
    double seen_ns;
} sample_list;

static int64_t preemptions(int threads) {
    struct rusage usage;
    return getrusage(threads > 1 ? RUSAGE_SELF : RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

static kw_status run_batch(const kw_subject *subject, int64_t calls, int64_t *wall, int64_t *cpu, kw_error *err) {
    kw_status status = KW_OK;
    int64_t cpu_start = kw_clock_thread_ns(), start = kw_clock_ns();
    for (int64_t i = 0; i < calls && !status; i++) {
        status = subject->call(subject->context, err);
    }
    *wall = kw_clock_ns() - start;
    *cpu = kw_clock_thread_ns() - cpu_start;
    return status;
}

/* Warms up and finds how many calls make a batch. The first call pays for page faults and cold caches; the best of what follows is the
 * guess. */
static kw_status size_batch(const kw_subject *subject, sample_list *list, const kw_timing_options *options, int threads, kw_error *err) {
    int64_t target = options->batch_ns > 0 ? options->batch_ns : BATCH_NS, wall = 0, cpu = 0;
    double best = 0, best_cpu = 0;
    for (int64_t calls = 1, turn = 0; turn < 24; turn++) {
        kw_status status = run_batch(subject, calls, &wall, &cpu, err);
        if (status) {
            return status;
        }
        double each = (double)kw_max(1, wall) / (double)calls;
        best = best == 0 || each < best ? each : best;
        double each_cpu = (double)kw_max(1, cpu) / (double)calls;
        best_cpu = best_cpu == 0 || each_cpu < best_cpu ? each_cpu : best_cpu;
        if (turn > 0 && (double)calls * best >= (double)target / 2) {
            break;
        }
        if (wall > SHORT_ABOVE_NS) {
            break; /* a second warm-up would cost more than it tells */
        }
        calls = turn == 0 ? 1 : kw_max(calls + 1, kw_min(8 * calls, (int64_t)((double)target / best)));
    }
    list->seen_ns = best;
    list->calls = kw_max(1, (int64_t)((double)target / best));
    /* Nothing is given up for having been preempted: the processor clock of a single thread does not count that. */
    list->gave_up = options->give_up_ns > 0 && (threads > 1 ? best : best_cpu) > options->give_up_ns;
    int32_t most = options->batches > 0 ? options->batches : BATCHES;
    int32_t fit = best > SHORTEST_ABOVE_NS ? 2 : best > SHORT_ABOVE_NS ? 3 : best > SINGLE_ABOVE_NS ? 7 : most;
    list->wanted = fit < most ? fit : most;
    return KW_OK;
}

static kw_status allocate(sample_list *list, kw_error *err) {
    size_t tries = (size_t)list->wanted * TRIES;
    list->wall = calloc(tries, sizeof *list->wall);
    list->cpu = calloc(tries, sizeof *list->cpu);
    list->clean = calloc(tries, sizeof *list->clean);
    return list->wall && list->cpu && list->clean ? KW_OK : kw_fail_memory(err, "timing samples");
}

static void drop(sample_list *list) {
    free(list->wall);
    free(list->cpu);
    free(list->clean);
}

static bool is_done(const sample_list *list) {
    return list->gave_up || list->clean_count >= list->wanted || list->tried >= list->wanted * TRIES;
}

static kw_status add_sample(const kw_subject *subject, sample_list *list, int threads, kw_error *err) {
    int64_t wall = 0, cpu = 0;
    kw_status status = KW_OK;
    if (list->seen_ns < WARM_BELOW_NS) {
        status = subject->call(subject->context, err);
    }
    int64_t before = preemptions(threads);
    status = status ? status : run_batch(subject, list->calls, &wall, &cpu, err);
    bool clean = preemptions(threads) == before;
    if (threads == 1 && list->calls == 1 && (double)wall <= 1.02 * (double)cpu) {
        clean = true;
    }
    list->wall[list->tried] = (double)wall / (double)list->calls;
    list->cpu[list->tried] = (double)cpu / (double)list->calls;
    list->clean[list->tried++] = clean;
    list->clean_count += clean;
    return status;
}

static kw_timed summarise(sample_list *list, int threads) {
    kw_timed result = {.time_ns = list->seen_ns};
    if (list->gave_up) {
        return result;
    }
    bool enough = list->clean_count >= kw_min(3, kw_max(1, list->wanted / 2));
    double *samples = !enough && threads == 1 ? list->cpu : list->wall;
    size_t kept = 0;
    for (int32_t i = 0; i < list->tried; i++) {
        if (!enough || list->clean[i]) {
            samples[kept++] = samples[i];
        }
    }
    kw_quartiles(samples, kept, &result.time_ns, &result.spread_ns);
    result.samples = (int32_t)kept;
    result.dropped = list->tried - list->clean_count;
    return result;
}

kw_status kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads, kw_timed results[],
                           kw_error *err) {
    kw_status status = KW_OK;
    sample_list *lists = calloc(count ? count : 1, sizeof *lists);
    if (!lists) {
        return kw_fail_memory(err, "timing samples");
    }
    for (size_t i = 0; i < count && !status; i++) {
        status = size_batch(&subjects[i], &lists[i], options, threads, err);
        status = status ? status : allocate(&lists[i], err);
    }
    bool more = !status;
    for (size_t round = 0; more && !status; round++) {
        more = false;
        for (size_t turn = 0; turn < count && !status; turn++) {
            size_t i = (turn + round) % count;
            if (!is_done(&lists[i])) {
                status = add_sample(&subjects[i], &lists[i], threads, err);
                more = true;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!status) {
            results[i] = summarise(&lists[i], threads);
        }
        drop(&lists[i]);
    }
    free(lists);
    return status;
}

static int compare_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Linear between neighbours, the first sample at 0 and the last at 1. */
static double quantile(const double *sorted, size_t count, double at) {
    double place = at * (double)(count - 1);
    size_t below = (size_t)place;
    double rest = place - (double)below;
    return below + 1 < count ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[count - 1];
}

void kw_quartiles(double *samples, size_t count, double *lower, double *range) {
    *lower = *range = 0;
    if (!count) {
        return;
    }
    qsort(samples, count, sizeof *samples, compare_double);
    *lower = quantile(samples, count, 0.25);
    *range = quantile(samples, count, 0.75) - *lower;
}

/* timing.c: how long does a call take, on a machine that others use too?
 *
 * Batches are short (0.3 ms), because the scheduler's slice is about 3 ms: short ones often fall between two slices, long ones never do. A
 * batch during which the scheduler took the processor away (ru_nivcsw of getrusage moved) is dropped. The time is the lower quartile of 21
 * clean batches, the spread their interquartile range; the quartile of clean batches is steady to 0.2 % where medians of long ones are off
 * by a factor of two under load. One thread: RUSAGE_THREAD. More: RUSAGE_SELF, which counts the pool's threads (and strangers of the same
 * process, whose switches then cost batches, not truth).
 *
 * A team misses a thread that has no processor, which no count of switches need show: whoever is there does its share. So calls above
 * 10 us are looked at from within (two readings of a clock a share, 0.4 us each): the longest share of each stage by its thread's processor
 * clock is what the call takes alone, and batches a tenth above it are dropped. Of shorter ones those a quarter above the least.
 *
 * Calls above 3 ms are batches of one: 7 of them, above 20 ms 3, above 100 ms 2. These can hardly all be clean under load; a call of one
 * thread whose wall clock ran at most 2 % ahead of its processor clock counts as clean as well. When fewer than three batches (or half of
 * those wanted, if that is less) were clean after three times the wanted number, all of them count, with the processor clock in place of
 * the wall clock, and for every subject that has one, so that one clock compares all.
 *
 * Subjects take turns: a round gives each one batch, in an order that rotates or is drawn anew each time, so that drift and neighbours hit
 * all alike. Where a comparison is wanted (levelled), what all subjects of a round were slowed by is taken out of their times: of a machine
 * that is slower in some rounds, which no clock tells, the quartile of one subject may lie among the slow ones and that of another not.
 *
 * A control has its turn in each round; where its batch is clean and off its median, the machine was another one, and the round is made
 * again. Neighbours on the same chip slow a machine for some tenths of a second, which a median of that time does not show: so the
 * control's level is handed from call to call, and where it is above that the machine is waited for. Before a batch of a subject faster
 * than 1 ms one call is made that does not count: caches are warm as if the subject ran alone.
 *
 * A device's own clock gives the time of a batch. Clocks are of intervals: the date may jump. Memory is had before the first batch. */
#include "measure/timing/timing.h"

#include "base/os/clock.h"
#include "base/math.h"
#include "measure/timing/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { WARM_BELOW_NS = 1000000, SINGLE_ABOVE_NS = 3000000, SHORT_ABOVE_NS = 20000000, SHORTEST_ABOVE_NS = 100000000 };
enum { BATCHES = 21, BATCH_NS = 300000, TRIES = 3, MEANS_SOMETHING_NS = 20000, CONTROL_LEAST = 3 };
enum { BEYOND_DOUBT = 3 }; /* times the ratio for which a subject is dropped */
enum { PAUSE_NS = 5000000, PATIENCE_NS = 500000000, ALONE_ABOVE_NS = 10000, WAKING_NS = 5000 };
static const double usual_drift_limit = 0.05;
static const double team_limit = 1.1;   /* a clean call of a team takes no more than so many times its longest shares, and waking it */
static const double least_limit = 1.25; /* nor one without clocks so many times the least */

typedef struct sample {
    double wall, cpu; /* ns a call */
    int32_t round;
    bool kept;  /* no switch was counted */
    bool clean; /* nor does its time tell of one */
} sample;

typedef struct sample_list {
    sample *samples;
    int32_t wanted, room, tried, counting; /* counting: clean and in no round of drift */
    int32_t warmups, looks;                /* calls and batches while the batch was sized */
    int64_t calls;                         /* a batch */
    int threads;
    bool alone, sized_alone; /* batches are looked at from within; so were the looks that sized them */
    bool gave_up;
    double slow;                         /* times the fastest, when dropped for it */
    double spent_ns;                     /* all calls so far */
    double seen_ns, seen_cpu_ns, own_ns; /* the best while sizing; own: by the clock that preemption does not touch */
    double last_ns;                      /* of all calls of the last look */
} sample_list;

/* One call of kw_time_subjects. lists and order hold the control behind the subjects. */
typedef struct timer {
    const kw_subject *subjects;
    const kw_timing_options *options;
    size_t count, all;
    int threads; /* of those that say nothing else */
    bool by_cpu; /* some subject has too few clean batches: the processor clock compares all that have one */
    sample_list *lists;
    size_t *order;
    bool *drifted; /* rounds */
    int32_t rounds, rounds_most;
    double level, drift_limit; /* of the control; level 0: unknown */
    int64_t waited_ns;
    double *levels, usual_level; /* of rounds */
    int32_t *present;            /* subjects that tell of a round */
    double *scratch, *room;      /* as long as the longest list, for statistics */
    const sample **kept;         /* as long */
    uint64_t random;
} timer;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t preemptions(int threads) {
    struct rusage usage;
    return getrusage(threads > 1 ? RUSAGE_SELF : RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

static void report_timer_turn(const timer *t, size_t i) {
    if (t->options->turn) {
        t->options->turn(t->options->user, i < t->count ? i : SIZE_MAX);
    }
}

static kw_status run_batch(const kw_subject *subject, bool alone, int64_t calls, int64_t *wall, int64_t *cpu, kw_error *err) {
    kw_status status = KW_OK;
    if (subject->batch) {
        double ns = 0;
        status = subject->batch(subject->context, calls, &ns, err);
        *wall = *cpu = (int64_t)ns;
        return status;
    }
    if (alone) {
        double ns = 0;
        int64_t begin = kw_clock_ns();
        status = subject->alone(subject->context, calls, &ns, err);
        *wall = kw_clock_ns() - begin;
        *cpu = (int64_t)ns;
        return status;
    }
    int64_t cpu_start = kw_clock_thread_ns(), start = kw_clock_ns();
    for (int64_t i = 0; i < calls && !status; i++) {
        status = subject->call(subject->context, err);
    }
    *wall = kw_clock_ns() - start;
    *cpu = kw_clock_thread_ns() - cpu_start;
    return status;
}

/* --- sizes of batches ------------------------------------------------------------------------------------------------ */

/* The fastest known so far, by the clock of own_ns; 0 when none is. */
static double fastest_subject_ns(const timer *t) {
    double best = t->options->best_ns > 0 ? t->options->best_ns : 0;
    for (size_t i = 0; i < t->count; i++) {
        double own = t->lists[i].own_ns;
        best = own > 0 && (best == 0 || own < best) ? own : best;
    }
    return best;
}

/* Whether a look at so many calls is enough to drop the subject. Of a very short one it is not: reading the clocks takes as long. */
static bool is_hopeless(const timer *t, const sample_list *list, int64_t calls) {
    return t->options->drop_ratio > 0 && (double)calls * list->own_ns >= MEANS_SOMETHING_NS &&
           list->own_ns > t->options->drop_ratio * fastest_subject_ns(t);
}

/* So many calls, of which the best time each is kept. */
static kw_status look_once(timer *t, size_t which, sample_list *list, int64_t calls, kw_error *err) {
    int64_t wall = 0, cpu = 0;
    report_timer_turn(t, which);
    kw_status status = run_batch(&t->subjects[which], list->sized_alone, calls, &wall, &cpu, err);
    if (status) {
        return status;
    }
    double each = (double)kw_max(1, wall) / (double)calls, each_cpu = (double)kw_max(1, cpu) / (double)calls;
    list->seen_ns = list->looks == 0 || each < list->seen_ns ? each : list->seen_ns;
    list->seen_cpu_ns = list->looks == 0 || each_cpu < list->seen_cpu_ns ? each_cpu : list->seen_cpu_ns;
    list->own_ns = list->threads > 1 && !list->sized_alone ? list->seen_ns : list->seen_cpu_ns;
    list->warmups += (int32_t)calls;
    list->last_ns = (double)wall;
    list->spent_ns += (double)wall;
    list->looks++;
    return KW_OK;
}

/* Warms up and finds how many calls make a batch. The first call pays for page faults and cold caches; the best of what follows is the
 * guess. A control is never given up. */
static kw_status look_at_samples(timer *t, size_t which, sample_list *list, int64_t target, kw_error *err) {
    bool drops = t->options->drop_ratio > 0 && which < t->count;
    for (int64_t calls = 1; list->looks < 24;) {
        kw_status status = look_once(t, which, list, calls, err);
        if (status) {
            return status;
        }
        bool first = list->looks == 1;
        if (!first && ((double)calls * list->seen_ns >= (double)target / 2 || (drops && is_hopeless(t, list, calls)))) {
            break;
        }
        if (list->last_ns > SHORT_ABOVE_NS && (!first || !drops)) {
            break; /* a second warm-up would cost more than it tells */
        }
        calls = first ? 1 : kw_max(calls + 1, kw_min(8 * calls, (int64_t)((double)target / list->seen_ns)));
    }
    return KW_OK;
}

static kw_status size_batch(timer *t, size_t which, kw_error *err) {
    const kw_timing_options *options = t->options;
    sample_list *list = &t->lists[which];
    int64_t target = options->batch_ns > 0 ? options->batch_ns : BATCH_NS;
    const kw_subject *subject = &t->subjects[which];
    list->threads = subject->threads > 0 ? subject->threads : t->threads;
    list->alone = list->sized_alone = list->threads > 1 && subject->alone;
    kw_status status = look_at_samples(t, which, list, target, err);
    double best = list->own_ns;
    if (status) {
        return status;
    }
    list->calls = kw_max(1, (int64_t)((double)target / best));
    list->alone = list->alone && best >= ALONE_ABOVE_NS;
    /* Nothing is given up for having been preempted: the processor clock of a single thread does not count that. */
    list->gave_up = which < t->count && options->give_up_ns > 0 && list->own_ns > options->give_up_ns;
    int32_t most = options->batches > 0 ? options->batches : BATCHES;
    int32_t fit = best > SHORTEST_ABOVE_NS ? 2 : best > SHORT_ABOVE_NS ? 3 : best > SINGLE_ABOVE_NS ? 7 : most;
    list->wanted = fit < most ? fit : most;
    list->room = list->wanted * TRIES;
    return KW_OK;
}

/* --- rounds ---------------------------------------------------------------------------------------------------------- */

static bool is_slow(const timer *t, const sample_list *list, double times) {
    return !list->gave_up && t->options->drop_ratio > 0 && list->own_ns > times * t->options->drop_ratio * fastest_subject_ns(t);
}

/* Who was looked at first may have found cold caches or a busy neighbour: what would be dropped is looked at again, after all others were. What
 * is far beyond that is dropped at once. */
static kw_status drop_slow(timer *t, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < t->count && !status; i++) {
        if (is_slow(t, &t->lists[i], 1) && !is_slow(t, &t->lists[i], BEYOND_DOUBT)) {
            status = look_once(t, i, &t->lists[i], kw_max(1, (int64_t)(MEANS_SOMETHING_NS / t->lists[i].own_ns)), err);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        t->lists[i].slow = is_slow(t, &t->lists[i], 1) ? t->lists[i].own_ns / fastest_subject_ns(t) : 0;
    }
    return status;
}

static bool is_done(const sample_list *list) {
    return list->gave_up || list->slow > 0 || list->counting >= list->wanted || list->tried >= list->room;
}

/* The memory of the rounds, when it is known who takes part. A round that does not count is made again, but there are at most as many as
 * twice the longest list, and the control has a sample of each. */
static kw_status allocate_timer(timer *t, kw_error *err) {
    for (size_t i = 0; i < t->count; i++) {
        if (!is_done(&t->lists[i])) {
            t->rounds_most = (int32_t)kw_max(t->rounds_most, 2 * t->lists[i].room);
        }
    }
    for (size_t i = 0; i < t->all; i++) {
        sample_list *list = &t->lists[i];
        list->room = i < t->count ? list->room : t->rounds_most;
        list->samples = is_done(list) ? NULL : calloc((size_t)list->room, sizeof *list->samples);
        if (!list->samples && !is_done(list)) {
            return kw_fail_memory(err, "timing samples");
        }
    }
    size_t longest = (size_t)kw_max(1, t->rounds_most);
    t->order = calloc(t->all + 1, sizeof *t->order);
    t->drifted = calloc(longest, sizeof *t->drifted);
    t->scratch = calloc(longest, sizeof *t->scratch);
    t->room = calloc(longest, sizeof *t->room);
    t->levels = calloc(longest, sizeof *t->levels);
    t->present = calloc(longest, sizeof *t->present);
    t->kept = calloc(longest, sizeof *t->kept);
    return t->order && t->drifted && t->scratch && t->room && t->levels && t->present && t->kept ? KW_OK
                                                                                                 : kw_fail_memory(err, "timing samples");
}

/* Whether preemption leaves the second time of a sample alone. */
static bool has_own_clock(const sample_list *list) {
    return list->threads == 1 || list->alone;
}

/* Finds anew which batches of a team are clean: the least may be another one now. */
static void judge_team(const timer *t, sample_list *list) {
    double least = INFINITY;
    for (int32_t i = 0; i < list->tried; i++) {
        least = list->samples[i].kept ? fmin(least, list->samples[i].wall) : least;
    }
    list->counting = 0;
    for (int32_t i = 0; i < list->tried; i++) {
        sample *s = &list->samples[i];
        s->clean = s->kept && s->wall <= (list->alone ? team_limit * s->cpu + WAKING_NS : least_limit * least);
        list->counting += s->clean && !t->drifted[s->round];
    }
}

static kw_status add_sample(timer *t, size_t which, kw_error *err) {
    const kw_subject *subject = &t->subjects[which];
    sample_list *list = &t->lists[which];
    int64_t wall = 0, cpu = 0;
    kw_status status = KW_OK;
    report_timer_turn(t, which);
    if (list->own_ns < WARM_BELOW_NS) {
        status = subject->call(subject->context, err);
        list->spent_ns += list->seen_ns;
    }
    int64_t before = preemptions(list->threads);
    status = status ? status : run_batch(subject, list->alone, list->calls, &wall, &cpu, err);
    bool kept = subject->batch || preemptions(list->threads) == before;
    if (has_own_clock(list) && list->calls == 1 && (double)wall <= 1.02 * (double)cpu) {
        kept = true;
    }
    double calls = (double)list->calls;
    list->spent_ns += (double)wall;
    list->samples[list->tried++] = (sample){(double)wall / calls, (double)cpu / calls, t->rounds, kept, kept};
    if (list->threads > 1 && !subject->batch) {
        judge_team(t, list);
    } else {
        list->counting += kept;
    }
    return status;
}

/* The subjects' order of this round, the control among them. */
static void draw_order(timer *t) {
    for (size_t i = 0; i < t->all; i++) {
        t->order[i] = (i + (size_t)t->rounds) % t->all;
    }
    for (size_t i = t->all; t->options->order_seed && i > 1; i--) {
        size_t other = (size_t)(next_random(&t->random) % i), held = t->order[i - 1];
        t->order[i - 1] = t->order[other];
        t->order[other] = held;
    }
}

static kw_status run_round(timer *t, kw_error *err) {
    kw_status status = KW_OK;
    draw_order(t);
    for (size_t turn = 0; turn < t->all && !status; turn++) {
        size_t i = t->order[turn];
        if (i >= t->count || !is_done(&t->lists[i])) {
            status = add_sample(t, i, err);
        }
    }
    t->rounds++;
    return status;
}

static bool is_more_wanted(const timer *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (!is_done(&t->lists[i])) {
            return t->rounds < t->rounds_most;
        }
    }
    return false;
}

/* --- drift ----------------------------------------------------------------------------------------------------------- */

static bool is_sample_clean(const timer *t, const sample *s) {
    return s->clean && !t->drifted[s->round];
}

/* Wall times of the clean samples of the control from its sample first up to last, into scratch. */
static size_t control_times(timer *t, int32_t first, int32_t last) {
    const sample_list *control = &t->lists[t->count];
    size_t kept = 0;
    for (int32_t i = first; i < last; i++) {
        if (control->samples[i].clean) {
            t->scratch[kept++] = control->samples[i].wall;
        }
    }
    return kept;
}

/* Finds the rounds of drift anew and what counts without them. A preempted batch of the control tells nothing of its round; nor do too
 * few of them of anything. */
static void judge_rounds(timer *t) {
    const sample_list *own = &t->lists[t->count];
    size_t known = control_times(t, 0, own->tried);
    double usual = kw_median(t->scratch, known);
    usual = t->level > 0 && t->level < usual ? t->level : usual;
    for (int32_t i = 0; i < own->tried && known >= CONTROL_LEAST; i++) {
        const sample *s = &own->samples[i];
        t->drifted[s->round] = s->clean && fabs(s->wall - usual) > t->drift_limit * usual;
    }
    for (size_t i = 0; i < t->all; i++) {
        sample_list *list = &t->lists[i];
        list->counting = 0;
        for (int32_t j = 0; j < list->tried; j++) {
            list->counting += is_sample_clean(t, &list->samples[j]);
        }
    }
}

/* Whether the control's last batch shows a machine that is slower than it was in earlier calls. */
static bool is_slowed(const timer *t) {
    const sample_list *own = &t->lists[t->count];
    const sample *last = &own->samples[own->tried - 1];
    return t->level > 0 && last->clean && last->wall > (1 + t->drift_limit) * t->level;
}

/* Waits until the control is at its level again. Its batches meanwhile are of no round: each takes the place of the one before. When
 * patience is at its end, the machine has another level now. */
static kw_status await_rest(timer *t, kw_error *err) {
    sample_list *own = &t->lists[t->count];
    kw_status status = KW_OK;
    sample of_round = own->samples[own->tried - 1];
    int32_t counting = own->counting;
    while (is_slowed(t) && !status) {
        if (t->waited_ns >= PATIENCE_NS) {
            t->level = 0;
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        t->waited_ns += PAUSE_NS;
        own->tried--;
        status = add_sample(t, t->count, err);
    }
    own->samples[own->tried - 1] = of_round;
    own->counting = counting;
    return status;
}

/* The level for the next call: disturbances make the control slower, never faster. */
static void keep_level(timer *t) {
    kw_control *control = t->options->control;
    size_t known = control_times(t, 0, t->lists[t->count].tried);
    double median = kw_median(t->scratch, known);
    if (known >= CONTROL_LEAST) {
        control->level_ns = t->level > 0 && t->level < median ? t->level : median;
    }
}

static double find_drift(timer *t) {
    int32_t tried = t->lists[t->count].tried, third = tried / 3;
    size_t before = control_times(t, 0, third);
    double first = kw_median(t->scratch, before);
    size_t after = control_times(t, tried - third, tried);
    return before && after ? kw_median(t->scratch, after) / first - 1 : 0;
}

/* Rounds that turn out to be of drift are made again, as long as there is room. */
static kw_status run_rounds(timer *t, kw_error *err) {
    kw_status status = KW_OK;
    while (is_more_wanted(t) && !status) {
        while (is_more_wanted(t) && !status) {
            status = run_round(t, err);
            if (!status && t->all > t->count && is_slowed(t)) {
                status = await_rest(t, err);
            }
        }
        if (t->all > t->count) {
            judge_rounds(t);
        }
    }
    return status;
}

/* --- results --------------------------------------------------------------------------------------------------------- */

static bool has_enough_clean(const sample_list *list) {
    int64_t enough = kw_min(CONTROL_LEAST, kw_max(1, list->wanted / 2));
    for (int32_t i = 0; i < list->tried; i++) {
        enough -= list->samples[i].clean;
    }
    return enough <= 0;
}

/* Whether some subject that has a clock of its own needs it. */
static bool needs_own_clock(const timer *t) {
    for (size_t i = 0; i < t->count; i++) {
        const sample_list *list = &t->lists[i];
        if (list->tried && has_own_clock(list) && !t->subjects[i].batch && !has_enough_clean(list)) {
            return true;
        }
    }
    return false;
}

static double value_of(const timer *t, const sample_list *list, const sample *s) {
    return t->by_cpu && has_own_clock(list) ? s->cpu : s->wall;
}

/* With too little that counts, drift counts too; with too little that is clean, all does. */
static size_t keep_counting(const timer *t, const sample_list *list, const sample *kept[]) {
    int64_t enough = kw_min(CONTROL_LEAST, kw_max(1, list->wanted / 2));
    bool enough_clean = has_enough_clean(list);
    size_t count = 0;
    for (int32_t i = 0; i < list->tried; i++) {
        const sample *s = &list->samples[i];
        if (list->counting >= enough ? is_sample_clean(t, s) : !enough_clean || s->clean) {
            kept[count++] = s;
        }
    }
    return count;
}

/* The samples of a subject that count, to kept and their times to scratch. */
static size_t take_samples(timer *t, const sample_list *list) {
    size_t count = list->samples ? keep_counting(t, list, t->kept) : 0;
    for (size_t j = 0; j < count; j++) {
        t->scratch[j] = value_of(t, list, t->kept[j]);
    }
    return count;
}

/* Finds each round's level: how many times what they usually take all subjects took at least. One that took part alone says nothing of the
 * machine: 0. The lower quartile of the levels is the usual one. */
static void find_levels(timer *t) {
    size_t known = 0;
    double range;
    for (int32_t r = 0; r < t->rounds; r++) {
        t->levels[r] = INFINITY;
    }
    for (size_t i = 0; i < t->count; i++) {
        size_t count = take_samples(t, &t->lists[i]);
        double usual = kw_median(t->scratch, count);
        for (size_t j = 0; j < count && usual > 0; j++) { /* 0: by a clock that ticks too seldom */
            int32_t r = t->kept[j]->round;
            t->levels[r] = fmin(t->levels[r], value_of(t, &t->lists[i], t->kept[j]) / usual);
            t->present[r]++;
        }
    }
    for (int32_t r = 0; r < t->rounds; r++) {
        t->levels[r] = t->present[r] > 1 ? t->levels[r] : 0;
        t->scratch[known] = t->levels[r];
        known += t->levels[r] > 0;
    }
    kw_quartiles(t->scratch, known, &t->usual_level, &range);
}

/* Whether each subject was in enough rounds that have a level. */
static bool are_levels_enough(timer *t) {
    bool enough = t->usual_level > 0;
    for (size_t i = 0; i < t->count && enough; i++) {
        const sample_list *list = &t->lists[i];
        int64_t known = 0, count = (int64_t)take_samples(t, list);
        for (int64_t j = 0; j < count; j++) {
            known += t->levels[t->kept[j]->round] > 0;
        }
        enough = !count || known >= kw_min(CONTROL_LEAST, list->wanted);
    }
    return enough;
}

static kw_timed summarise_samples(timer *t, sample_list *list, bool levelled) {
    kw_timed result = {.time_ns = list->seen_ns, .calls = (int32_t)list->calls, .warmups = list->warmups, .spent_ns = list->spent_ns};
    if (list->gave_up) {
        return result;
    }
    if (list->slow > 0) {
        result.time_ns = result.least_ns = list->own_ns;
        result.samples = list->looks;
        result.slow = list->slow;
        return result;
    }
    size_t kept = 0, count = take_samples(t, list);
    for (size_t i = 0; i < count; i++) {
        double level = levelled ? t->levels[t->kept[i]->round] / t->usual_level : 1;
        t->scratch[kept] = level > 0 ? t->scratch[i] / level : 0;
        kept += level > 0;
    }
    kw_timed_fill(&result, t->scratch, kept, t->room);
    result.dropped = list->tried - list->counting;
    return result;
}

static void close_timer(timer *t) {
    for (size_t i = 0; i < t->all && t->lists; i++) {
        free(t->lists[i].samples);
    }
    free(t->lists);
    free(t->order);
    free(t->drifted);
    free(t->scratch);
    free(t->room);
    free(t->levels);
    free(t->present);
    free(t->kept);
}

kw_status kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads, kw_timed results[],
                           kw_error *err) {
    timer t = {.subjects = subjects, .options = options, .count = count, .threads = threads, .random = options->order_seed};
    t.all = count + (options->control ? 1 : 0);
    t.level = options->control ? options->control->level_ns : 0;
    t.drift_limit = options->control && options->control->drift_limit > 0 ? options->control->drift_limit : usual_drift_limit;
    t.lists = calloc(t.all + 1, sizeof *t.lists);
    kw_status status = t.lists ? KW_OK : kw_fail_memory(err, "timing samples");
    for (size_t i = 0; i < t.all && !status; i++) {
        status = size_batch(&t, i, err);
    }
    status = status ? status : drop_slow(&t, err);
    status = status ? status : allocate_timer(&t, err);
    status = status ? status : run_rounds(&t, err);
    t.by_cpu = !status && needs_own_clock(&t);
    bool levelled = false;
    if (!status && options->levelled) {
        find_levels(&t);
        levelled = are_levels_enough(&t);
    }
    for (size_t i = 0; i < t.all && !status; i++) {
        results[i] = summarise_samples(&t, &t.lists[i], levelled && i < t.count);
    }
    if (!status && options->control) {
        options->control->drift = find_drift(&t);
        keep_level(&t);
    }
    close_timer(&t);
    return status;
}

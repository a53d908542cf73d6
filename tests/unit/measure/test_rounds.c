/* test_rounds.c: rounds, preemption, the control and its drift, and the dropping of the slow, on a machine of our own. The program is
 * linked with --wrap: the library's clocks and its count of preemptions are those of this machine, on which a call takes exactly what it
 * is said to take, and other processes come exactly when told to. So every count below is exact. */

#include "measure/timing/timing.h"
#include "support/kw_test.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

enum { LOG = 8192, SIZING = 2, SLICE_NS = 3000000 }; /* SIZING: calls that size a batch of one */

/* A wrapped function has no argument to carry the machine. */
static struct machine {
    int64_t wall, cpu, switches, slept;
    char log[LOG]; /* names in the order of calls; 'c' is the control */
    size_t logged;
    int control_calls;
    double (*slowness)(int round); /* of all calls in the round, which the control's calls count */
    double rest_ns;                /* until this wall time a neighbour makes all calls take 1.2 times as long */
    int64_t reading_ns;            /* what it takes to read the processor clock */
    size_t cold_calls;             /* so many calls, the first of all, take five times as long */
} machine;

typedef struct spinner {
    char name;
    double ns;
    bool (*is_preempted)(int call); /* NULL: never */
    int calls;
    bool (*waits)(int call); /* for a thread of its team that has no processor, which no count of switches shows; NULL: never */
    bool has_clock;          /* its team's threads look at their own clocks */
} spinner;

int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    int64_t now = id == CLOCK_MONOTONIC ? machine.wall : machine.cpu;
    machine.wall += id == CLOCK_MONOTONIC ? 0 : machine.reading_ns;
    machine.cpu += id == CLOCK_MONOTONIC ? 0 : machine.reading_ns;
    *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

int __wrap_getrusage(int who, struct rusage *usage) {
    (void)who;
    *usage = (struct rusage){.ru_nivcsw = machine.switches};
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    (void)rest;
    int64_t ns = time->tv_sec * 1000000000 + time->tv_nsec;
    machine.slept += ns;
    machine.wall += ns;
    return 0;
}

static kw_status spin(void *context, kw_error *err) {
    (void)err;
    spinner *s = context;
    int round = machine.control_calls - SIZING;
    double ns = s->ns * (machine.slowness && round >= 0 ? machine.slowness(round) : 1);
    ns *= (double)machine.wall < machine.rest_ns ? 1.2 : 1;
    ns *= machine.logged < machine.cold_calls ? 5 : 1;
    machine.control_calls += s->name == 'c';
    if (machine.logged < LOG - 1) {
        machine.log[machine.logged++] = s->name;
    }
    machine.cpu += (int64_t)ns;
    machine.wall += (int64_t)ns;
    if (s->is_preempted && s->is_preempted(s->calls)) {
        machine.wall += SLICE_NS;
        machine.switches++;
    }
    if (s->waits && s->waits(s->calls)) {
        machine.wall += SLICE_NS;
        machine.cpu += SLICE_NS; /* the caller spins */
    }
    s->calls++;
    return KW_OK;
}

static kw_status spin_alone(void *context, int64_t calls, double *ns, kw_error *err) {
    const spinner *s = context;
    kw_status status = KW_OK;
    for (int64_t i = 0; i < calls && !status; i++) {
        status = spin(context, err);
    }
    *ns = s->ns * (double)calls;
    return status;
}

/* All spinners; the last one is the control where options has one. */
static void time_spinners(spinner spinners[], size_t count, const kw_timing_options *options, int threads, kw_timed times[]) {
    kw_subject subjects[8] = {{0}};
    machine = (struct machine){
        .slowness = machine.slowness, .rest_ns = machine.rest_ns, .reading_ns = machine.reading_ns, .cold_calls = machine.cold_calls};
    for (size_t i = 0; i < count; i++) {
        spinners[i].calls = 0;
        subjects[i] = (kw_subject){.call = spin, .context = &spinners[i], .alone = spinners[i].has_clock ? spin_alone : NULL};
    }
    assert_int_equal(kw_time_subjects(subjects, count - (options->control ? 1 : 0), options, threads, times, NULL), KW_OK);
    machine.slowness = NULL;
    machine.reading_ns = 0;
    machine.rest_ns = 0;
    machine.cold_calls = 0;
}

static void assert_near(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-6 * wanted)) {
        fail_msg("%.9g is not %.9g", got, wanted);
    }
}

/* --- order --- */

/* Single calls of more than 1 ms have no warm-up of their own before each batch, so the log is the order. */
static const char *log_rounds(uint64_t seed, size_t count) {
    spinner spinners[] = {{.name = 'a', .ns = 1.1e6}, {.name = 'b', .ns = 1.1e6}, {.name = 'd', .ns = 1.1e6}, {.name = 'c', .ns = 1.1e6}};
    kw_timed times[4];
    kw_control control = {0};
    time_spinners(spinners + 4 - count, count, &(kw_timing_options){.batches = 8, .order_seed = seed, .control = &control}, 1, times);
    assert_int_equal(machine.logged, count * (SIZING + 8));
    return machine.log + count * SIZING;
}

static void rounds_are_in_a_random_order_of_their_own(void **state) {
    (void)state;
    char first[32];
    memcpy(first, log_rounds(5, 4), sizeof first);
    assert_memory_equal(first, log_rounds(5, 4), sizeof first);
    assert_memory_not_equal(first, log_rounds(6, 4), sizeof first);
    int different = 0;
    size_t places = 0; /* that the control has had, as bits */
    for (size_t round = 0; round < 8; round++) {
        char names[5] = "";
        memcpy(names, first + 4 * round, 4);
        for (const char *name = "abcd"; *name; name++) {
            assert_non_null(strchr(names, *name)); /* each once */
        }
        places |= 1u << (strchr(names, 'c') - names);
        different += round > 0 && memcmp(names, first, 4) != 0;
    }
    assert_true(different >= 4);
    assert_true((places & (places - 1)) != 0);
}

static void without_a_seed_the_order_rotates(void **state) {
    (void)state;
    assert_memory_equal(log_rounds(0, 3), "bdcdcbcbdbdcdcbcbdbdcdcb", 24);
}

/* --- preemption --- */

static bool preempted_in_every_fourth(int call) {
    return call % 4 == 3;
}

static bool preempted_always(int call) {
    (void)call;
    return true;
}

static bool preempted_from_the_sixth(int call) {
    return call >= 6;
}

/* Batches of one call; samples and dropped are exact. */
static void preempted_batches_are_dropped(void **state) {
    (void)state;
    static const struct {
        bool (*is_preempted)(int call);
        double ns;
        int threads, batches;
        double time_ns;
        int samples, dropped;
    } cases[] = {
        {NULL, 1.5e6, 1, 21, 1.5e6, 21, 0},
        {preempted_in_every_fourth, 1.5e6, 1, 21, 1.5e6, 21, 7},
        {preempted_in_every_fourth, 1.5e6, 2, 21, 1.5e6, 21, 7},
        /* four clean ones are enough when no more come */
        {preempted_from_the_sixth, 1.5e6, 1, 21, 1.5e6, 4, 59},
        /* none is clean: the processor clock of one thread still tells; of several it would not */
        {preempted_always, 1.5e6, 1, 21, 1.5e6, 63, 63},
        {preempted_always, 1.5e6, 2, 21, 1.5e6 + SLICE_NS, 21, 21},
        /* a slice is less than 2 % of a long call */
        {preempted_always, 190e6, 1, 21, 193e6, 2, 0},
        {preempted_always, 190e6, 2, 21, 193e6, 6, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spinner s = {.name = 'a', .ns = cases[i].ns, .is_preempted = cases[i].is_preempted};
        kw_timed timed;
        time_spinners(&s, 1, &(kw_timing_options){.batches = cases[i].batches}, cases[i].threads, &timed);
        if (timed.samples != cases[i].samples || timed.dropped != cases[i].dropped) {
            fail_msg("case %zu: %d samples, %d dropped", i, timed.samples, timed.dropped);
        }
        assert_near(timed.time_ns, cases[i].time_ns);
        assert_near(timed.half_ns[0], cases[i].time_ns);
        assert_near(timed.median_ns, cases[i].time_ns);
    }
}

static bool but_every_seventh(int call) {
    return call % 7 != 6;
}

static bool from_the_third(int call) {
    return call >= 2;
}

static bool always(int call) {
    return call >= 0;
}

/* A team that waits for one of its threads without any switch being counted. */
static void a_team_that_waits_for_a_thread_is_seen(void **state) {
    (void)state;
    static const struct {
        const char *what;
        double ns;
        bool (*waits)(int call);
        bool has_clock;
        double time_ns;
        int samples, dropped;
    } cases[] = {
        {"nobody is in the way", 1.5e6, NULL, true, 1.5e6, 21, 0},
        {"the least tells", 1.5e6, but_every_seventh, false, 1.5e6, 3, 18},
        {"the clocks of its threads tell", 1.5e6, but_every_seventh, true, 1.5e6, 9, 54},
        {"and give the time where no batch is clean", 1.5e6, from_the_third, true, 1.5e6, 63, 63},
        {"of calls of microseconds as well, when a thread never comes", 2e4, always, true, 2e4, 63, 63},
        {"none is clean, and there is no clock: three of the same time are believed", 1.5e6, from_the_third, false, 4.5e6, 21, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spinner s = {.name = 'a', .ns = cases[i].ns, .waits = cases[i].waits, .has_clock = cases[i].has_clock};
        kw_timed timed;
        time_spinners(&s, 1, &(kw_timing_options){.batches = 21}, 2, &timed);
        if (timed.samples != cases[i].samples || timed.dropped != cases[i].dropped || fabs(timed.time_ns / cases[i].time_ns - 1) > 1e-6) {
            fail_msg("%s: %d samples, %d dropped, %.0f ns", cases[i].what, timed.samples, timed.dropped, timed.time_ns);
        }
    }
}

/* The processor clock compares all, where one of them needs it: of the others it differs by what waking takes. */
static void one_clock_compares_all(void **state) {
    (void)state;
    spinner spinners[] = {{.name = 'a', .ns = 1.5e6, .waits = from_the_third, .has_clock = true},
                          {.name = 'b', .ns = 1.4e6, .has_clock = true}};
    kw_timed times[2];
    machine.reading_ns = 0;
    time_spinners(spinners, 2, &(kw_timing_options){.batches = 9}, 2, times);
    assert_near(times[0].time_ns, 1.5e6);
    assert_near(times[1].time_ns, 1.4e6);
    assert_int_equal(times[1].dropped, 0);
}

/* A machine that no clock tells of is slow up to some time in the rounds: the ratio of two subjects is right whenever that is. */
static void what_rounds_have_in_common_is_taken_out(void **state) {
    (void)state;
    double worst[2] = {0};
    for (int levelled = 0; levelled < 2; levelled++) {
        for (int slow_ms = 0; slow_ms <= 70; slow_ms++) {
            spinner spinners[] = {{.name = 'a', .ns = 1.5e6}, {.name = 'b', .ns = 1.6e6, .is_preempted = preempted_in_every_fourth}};
            kw_timed times[2];
            machine.rest_ns = 1e6 * slow_ms;
            time_spinners(spinners, 2, &(kw_timing_options){.batches = 9, .levelled = levelled}, 1, times);
            assert_int_equal(times[1].dropped, 3);
            worst[levelled] = fmax(worst[levelled], fabs(times[1].time_ns / times[0].time_ns * 1.5 / 1.6 - 1));
            assert_true(times[0].time_ns >= 1.49e6 && times[0].time_ns <= 1.81e6);
        }
    }
    assert_true(worst[0] > 0.05);
    assert_true(worst[1] < 0.01); /* a round in which the machine changes between the two */
    spinner alone = {.name = 'a', .ns = 1.5e6};
    kw_timed timed;
    time_spinners(&alone, 1, &(kw_timing_options){.levelled = true}, 1, &timed);
    assert_near(timed.time_ns, 1.5e6);
    assert_int_equal(timed.samples, 21);
}

/* --- control --- */

static double boost(int round) {
    return round < 7 ? 0.7 : 1;
}

static double halting(int round) {
    return round % 3 == 1 ? 1.08 : 1;
}

/* No two rounds are alike. */
static double slowing(int round) {
    return 1 + 0.2 * round;
}

/* A round in which the control is off its median does not count, and is made again. */
static void rounds_of_drift_do_not_count(void **state) {
    (void)state;
    static const struct {
        double (*slowness)(int round);
        double limit;
        int batches;
        double time_ns;
        int samples, dropped, rounds;
        double drift;
    } cases[] = {
        {NULL, 0, 21, 1.5e6, 21, 0, 21, 0},
        {boost, 0, 21, 1.5e6, 21, 7, 28, 1 / 0.7 - 1}, /* a clock that was faster at first, as after idling */
        {halting, 0, 12, 1.5e6, 12, 6, 18, 0},
        {halting, 0.1, 12, 1.5e6, 12, 0, 12, 0}, /* within the limit */
        /* too little is left: all counts and dropped says so; at most three times the batches wanted */
        {slowing, 0.01, 4, 1.5e6 * 1.55, 12, 12, 12, 2.9 / 1.3 - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spinner spinners[] = {{.name = 'a', .ns = 1.5e6}, {.name = 'c', .ns = 1.2e6}};
        kw_control control = {.drift_limit = cases[i].limit};
        kw_timed times[2];
        machine.slowness = cases[i].slowness;
        time_spinners(spinners, 2, &(kw_timing_options){.batches = cases[i].batches, .control = &control}, 1, times);
        if (times[0].samples != cases[i].samples || times[0].dropped != cases[i].dropped || spinners[1].calls != SIZING + cases[i].rounds) {
            fail_msg("case %zu: %d samples, %d dropped, %d rounds", i, times[0].samples, times[0].dropped, spinners[1].calls - SIZING);
        }
        if (cases[i].slowness != slowing) { /* which slows within a round */
            assert_near(times[0].time_ns, cases[i].time_ns);
            assert_near(times[1].time_ns, 1.2e6);
        }
        assert_true(fabs(control.drift - cases[i].drift) < 1e-3 + 0.2 * fabs(cases[i].drift));
    }
}

static bool preempted_in_fast_rounds(int call) {
    return call >= SIZING && call < SIZING + 7;
}

static bool preempted_but_around_the_change(int call) {
    return call != SIZING + 6 && call != SIZING + 7;
}

/* A preempted batch of the control tells nothing of its round; here of the fast ones, which count then. */
static void a_preempted_control_discards_no_round(void **state) {
    (void)state;
    spinner spinners[] = {{.name = 'a', .ns = 1.5e6}, {.name = 'c', .ns = 1.2e6, .is_preempted = preempted_in_fast_rounds}};
    kw_control control = {0};
    kw_timed times[2];
    machine.slowness = boost;
    time_spinners(spinners, 2, &(kw_timing_options){.control = &control}, 1, times);
    assert_int_equal(times[0].samples, 21);
    assert_int_equal(times[0].dropped, 0);
    assert_near(times[0].least_ns, 0.7 * 1.5e6);
    assert_int_equal(times[1].dropped, 7);
    assert_near(times[1].time_ns, 1.2e6);
    spinners[1].is_preempted = preempted_always;
    machine.slowness = boost;
    time_spinners(spinners, 2, &(kw_timing_options){.control = &control}, 1, times);
    assert_int_equal(times[0].samples, 21);
    assert_near(control.drift, 0);
    spinners[1].is_preempted = preempted_but_around_the_change; /* two that differ tell nothing */
    machine.slowness = boost;
    time_spinners(spinners, 2, &(kw_timing_options){.control = &control}, 1, times);
    assert_int_equal(times[0].samples, 21);
    assert_int_equal(times[0].dropped, 0);
}

/* With the level of earlier calls a machine is waited for that is slow from the first round on; without, nothing tells it is. */
static void a_slowed_machine_is_waited_for(void **state) {
    (void)state;
    static const double base = 1.2e6, never = 1e18;
    static const struct {
        double level, rest_ns;
        double time_ns, level_after;
        int dropped;
        bool sleeps;
    } cases[] = {
        {0, 0, 1.5e6, base, 0, false},
        {base, 0, 1.5e6, base, 0, false},
        {base, 150e6, 1.5e6, base, 1, true}, /* one round is lost, then there is rest */
        {0, never, 1.2 * 1.5e6, 1.2 * base, 0, false},
        {base, never, 1.2 * 1.5e6, 1.2 * base, 0, true}, /* half a second later this is the level */
        {1.5 * base, 0, 1.5e6, base, 0, false},          /* a faster machine is welcome at once */
        {1.03 * base, 0, 1.5e6, base, 0, false},
        {0.97 * base, 0, 1.5e6, 0.97 * base, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spinner spinners[] = {{.name = 'a', .ns = 1.5e6}, {.name = 'c', .ns = base}};
        kw_control control = {.level_ns = cases[i].level};
        kw_timed times[2];
        machine.rest_ns = cases[i].rest_ns;
        time_spinners(spinners, 2, &(kw_timing_options){.control = &control}, 1, times);
        if (times[0].samples != 21 || times[0].dropped != cases[i].dropped || (machine.slept > 0) != cases[i].sleeps) {
            fail_msg("case %zu: %d samples, %d dropped, slept %lld ns", i, times[0].samples, times[0].dropped, (long long)machine.slept);
        }
        assert_near(times[0].time_ns, cases[i].time_ns);
        assert_near(control.level_ns, cases[i].level_after);
        assert_true(machine.slept <= 500000000);
        assert_int_equal(spinners[0].calls, SIZING + 21 + cases[i].dropped); /* nobody else runs while waiting */
        assert_int_equal(times[1].samples + times[1].dropped, 21 + cases[i].dropped);
    }
}

/* --- dropping --- */

/* Slower than so many times the fastest, after two launches or three; preemption drops nobody. */
static void slow_subjects_are_dropped_after_two_launches(void **state) {
    (void)state;
    static const struct {
        double ns[4], best_ns, ratio;
        bool slow[4];
        int64_t reading_ns;
    } cases[] = {
        {{2e6, 4e6, 7e6, 2.2e6}, 0, 3, {false, false, true, false}, 0},
        {{7e6, 2e6, 9e6, 4e6}, 0, 3, {true, false, true, false}, 0}, /* the fastest need not come first */
        {{2e6, 4e6, 7e6, 2.2e6}, 0, 0, {false, false, false, false}, 0},
        {{2e6, 4e6, 7e6, 2.2e6}, 5e5, 3, {true, true, true, true}, 0},
        {{300e6, 4e6, 11e6, 13e6}, 0, 3, {true, false, false, true}, 0},
        {{3e5, 2e5, 1e6, 5e5}, 0, 3, {false, false, true, false}, 0},
        {{30, 40, 100, 20}, 0, 3, {false, false, true, false}, 0},
        {{2e3, 6e4, 1e5, 3e3}, 0, 3, {false, true, true, false}, 0},
        {{20, 40, 100, 30}, 0, 3, {false, false, true, false}, 500}, /* a look at one call shows the clock's time, not the call's */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int disturbed = 0; disturbed < 2; disturbed++) {
            spinner spinners[4];
            kw_timed times[4];
            for (size_t j = 0; j < 4; j++) {
                spinners[j] = (spinner){.name = 'a', .ns = cases[i].ns[j], .is_preempted = disturbed ? preempted_in_every_fourth : NULL};
            }
            kw_timing_options options = {.batches = 3, .drop_ratio = cases[i].ratio, .best_ns = cases[i].best_ns};
            machine.reading_ns = cases[i].reading_ns;
            time_spinners(spinners, 4, &options, 1, times);
            for (size_t j = 0; j < 4; j++) {
                if ((times[j].slow > 0) != cases[i].slow[j]) {
                    fail_msg("case %zu: subject %zu was %s", i, j, times[j].slow > 0 ? "dropped" : "kept");
                }
                /* every call is in the time spent, those that do not count as well */
                assert_true(times[j].spent_ns >= 0.999 * cases[i].ns[j] * (double)spinners[j].calls);
                if (times[j].slow > 0) {
                    assert_true(fabs(times[j].time_ns / cases[i].ns[j] - 1) < (cases[i].reading_ns ? 0.1 : 1e-6));
                    assert_int_equal(times[j].warmups, spinners[j].calls); /* no call more */
                    assert_true(times[j].slow > cases[i].ratio && times[j].samples >= 2);
                }
                if (times[j].slow > 0 && cases[i].ns[j] >= 2e4) { /* what is not far beyond the ratio gets another look */
                    int looks = times[j].slow > 3 * cases[i].ratio ? 2 : 3;
                    assert_int_equal(spinners[j].calls, looks);
                    assert_int_equal(times[j].samples, looks);
                }
            }
        }
    }
}

/* The first of the subjects finds cold caches for its first two launches: the third, after all others', shows that it is none to be dropped. */
static void who_is_first_is_not_dropped_for_cold_caches(void **state) {
    (void)state;
    spinner spinners[] = {{.name = 'a', .ns = 2e5}, {.name = 'b', .ns = 2.2e5}, {.name = 'd', .ns = 8e5}};
    kw_timed times[3];
    machine.cold_calls = 2;
    time_spinners(spinners, 3, &(kw_timing_options){.batches = 3, .drop_ratio = 3}, 1, times);
    assert_true(times[0].slow == 0 && times[0].samples == 3);
    assert_near(times[0].time_ns, 2e5);
    assert_true(times[1].slow == 0 && times[2].slow > 3);
}

/* --- counts --- */

typedef struct turns {
    size_t list[LOG], count;
} turns;

static void note_turn(void *user, size_t index) {
    turns *t = user;
    if (t->count < LOG) {
        t->list[t->count++] = index;
    }
}

static void whose_turn_it_is_is_told_before_each_batch(void **state) {
    (void)state;
    static turns t;
    spinner spinners[] = {{.name = 'a', .ns = 1.1e6}, {.name = 'b', .ns = 1.1e6}, {.name = 'c', .ns = 1.1e6}};
    kw_control control = {0};
    kw_timed times[3];
    time_spinners(spinners, 3, &(kw_timing_options){.batches = 5, .order_seed = 9, .control = &control, .turn = note_turn, .user = &t}, 1,
                  times);
    assert_int_equal(t.count, machine.logged); /* batches of one call */
    for (size_t i = 0; i < t.count; i++) {
        assert_true(t.list[i] == SIZE_MAX || t.list[i] < 2);
        assert_int_equal(t.list[i] == SIZE_MAX ? 'c' : 'a' + (int)t.list[i], machine.log[i]);
    }
}

/* A call's length decides calls a batch, batches, and whether a call goes before each batch. */
static void counts_follow_from_the_length_of_a_call(void **state) {
    (void)state;
    static const struct {
        double ns;
        int calls, samples;
        bool warm;
    } cases[] = {
        {100, 3000, 21, true}, {1e5, 3, 21, true},  {9e5, 1, 21, true},   {1.1e6, 1, 21, false},
        {4e6, 1, 7, false},    {30e6, 1, 3, false}, {150e6, 1, 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spinner s = {.name = 'a', .ns = cases[i].ns};
        kw_timed timed;
        time_spinners(&s, 1, &(kw_timing_options){0}, 1, &timed);
        assert_int_equal(timed.calls, cases[i].calls);
        assert_int_equal(timed.samples, cases[i].samples);
        assert_int_equal(timed.dropped, 0);
        assert_int_equal(s.calls, timed.warmups + timed.samples * (timed.calls + cases[i].warm));
        assert_near(timed.time_ns, cases[i].ns);
        assert_near(timed.least_ns, cases[i].ns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_in_a_random_order_of_their_own),
        cmocka_unit_test(without_a_seed_the_order_rotates),
        cmocka_unit_test(preempted_batches_are_dropped),
        cmocka_unit_test(a_team_that_waits_for_a_thread_is_seen),
        cmocka_unit_test(one_clock_compares_all),
        cmocka_unit_test(what_rounds_have_in_common_is_taken_out),
        cmocka_unit_test(rounds_of_drift_do_not_count),
        cmocka_unit_test(a_preempted_control_discards_no_round),
        cmocka_unit_test(a_slowed_machine_is_waited_for),
        cmocka_unit_test(slow_subjects_are_dropped_after_two_launches),
        cmocka_unit_test(who_is_first_is_not_dropped_for_cold_caches),
        cmocka_unit_test(whose_turn_it_is_is_told_before_each_batch),
        cmocka_unit_test(counts_follow_from_the_length_of_a_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

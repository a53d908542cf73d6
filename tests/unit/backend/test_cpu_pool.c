/* test_cpu_pool.c: teams of threads: each share is done once, barriers hold, callers do not disturb each other, threads that cannot be made
 * make a smaller team. */

#include "backend/cpu/cpu_pool.h"
#include "support/kw_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that starts threads is what ThreadSanitizer cannot follow. */
#if defined __SANITIZE_THREAD__
#define UNDER_TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

enum { TEAM_MAX = 9, STAGES = 5, NOBODY = 65534 };

typedef struct round {
    _Atomic int done[STAGES][TEAM_MAX], pieces[STAGES][TEAM_MAX], busy[TEAM_MAX];
    _Atomic int team, early, shared; /* shared: pieces whose thread's number another one had at the same time */
} round_of_work;

/* In each stage every piece looks whether all of the one before are done, and whether another has its thread's number. */
static void do_piece(void *user, const kw_cpu_piece *p) {
    round_of_work *r = user;
    atomic_store(&r->team, p->shares);
    atomic_fetch_add(&r->shared, atomic_fetch_add(&r->busy[p->thread], 1));
    for (int other = 0; p->stage && other < p->shares; other++) {
        atomic_fetch_add(&r->early, atomic_load(&r->done[p->stage - 1][other]) != p->pieces);
    }
    atomic_fetch_add(&r->done[p->stage][p->share], 1);
    atomic_fetch_add(&r->pieces[p->stage][p->share], 1 << (4 * p->piece));
    atomic_fetch_sub(&r->busy[p->thread], 1);
}

static void run(kw_cpu_pool *pool, int threads, bool wake, int stages, kw_cpu_task *task, void *user) {
    kw_cpu_pool_run(pool, &(kw_cpu_job){.threads = threads, .stages = stages, .pieces = 1, .wake = wake, .task = task, .user = user});
}

/* The size of the team that did it. */
static int run_pieces(kw_cpu_pool *pool, int threads, int pieces) {
    static const int once[] = {0, 0x1, 0x11, 0x111, 0x1111};
    round_of_work r = {.team = 0};
    kw_cpu_pool_run(pool,
                    &(kw_cpu_job){.threads = threads, .stages = STAGES, .pieces = pieces, .wake = true, .task = do_piece, .user = &r});
    assert_int_equal(r.early, 0);
    assert_int_equal(r.shared, 0);
    for (int stage = 0; stage < STAGES; stage++) {
        for (int thread = 0; thread < TEAM_MAX; thread++) {
            assert_int_equal(r.pieces[stage][thread], thread < r.team ? once[r.team > 1 ? pieces : 1] : 0);
        }
    }
    return r.team;
}

static int run_round(kw_cpu_pool *pool, int threads) {
    return run_pieces(pool, threads, 1);
}

static void every_piece_is_done_once_whatever_the_team(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    for (int i = 0; i < 400; i++) {
        int threads = 1 + (i * 7) % TEAM_MAX; /* smaller and larger in turn */
        assert_int_equal(run_pieces(pool, threads, 1 + i % 4), threads);
    }
    kw_cpu_pool_destroy(&pool, false);
    assert_null(pool);
}

/* Long enough for threads, and for the caller, to go to sleep. */
static void do_sleepy_share(void *user, const kw_cpu_piece *p) {
    static const useconds_t rests[3][2] = {{0, 3000}, {1500, 0}, {0, 2000}};
    usleep(rests[p->stage][p->share % 2]);
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void who_sleeps_is_woken(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    for (int i = 0; i < 20; i++) {
        _Atomic int done = 0;
        run(pool, 4, true, 3, do_sleepy_share, &done);
        assert_int_equal(done, 12);
        usleep(1500);
    }
    kw_cpu_pool_destroy(&pool, false);
}

/* The caller's share has two pieces, of which the first is long: the second is done by the thread that has nothing to do meanwhile. */
static void note_thread_of_piece(void *user, const kw_cpu_piece *p) {
    pthread_t *by = user;
    usleep(p->share || p->piece ? 0 : 20000);
    by[2 * p->share + p->piece] = pthread_self();
}

static void pieces_of_a_share_under_way_are_done_by_others(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    int helped = 0;
    for (int i = 0; i < 10; i++) {
        pthread_t by[4];
        kw_cpu_pool_run(pool,
                        &(kw_cpu_job){.threads = 2, .stages = 1, .pieces = 2, .wake = true, .task = note_thread_of_piece, .user = by});
        helped += !pthread_equal(by[0], by[1]);
    }
    assert_true(helped > 0);
    kw_cpu_pool_destroy(&pool, false);
}

static void note_thread(void *user, const kw_cpu_piece *p) {
    pthread_t *by = user;
    by[p->share] = pthread_self();
}

/* A thread that sleeps takes microseconds to come, the caller's share none: in some rounds at least the caller does both. */
static void nobody_waits_for_a_thread_that_has_not_begun(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    int alone = 0;
    for (int i = 0; i < 100; i++) {
        pthread_t by[2];
        run(pool, 2, true, 1, note_thread, by);
        alone += pthread_equal(by[0], pthread_self()) && pthread_equal(by[1], pthread_self());
        usleep(500);
    }
    assert_true(alone > 0);
    kw_cpu_pool_destroy(&pool, false);
}

/* The caller's share takes long enough for a thread that is woken to come. */
static void note_thread_slowly(void *user, const kw_cpu_piece *p) {
    usleep(p->share ? 0 : 4000);
    note_thread(user, p);
}

/* Rounds of ten in which the caller did all, after rests in which threads go to sleep. */
static int rounds_alone(kw_cpu_pool *pool, bool wake) {
    int alone = 0;
    for (int i = 0; i < 10; i++) {
        pthread_t by[2];
        usleep(20000);
        run(pool, 2, wake, 1, note_thread_slowly, by);
        alone += pthread_equal(by[1], pthread_self()) != 0;
    }
    return alone;
}

static void little_work_goes_without_those_who_sleep(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    assert_in_range(rounds_alone(pool, true), 0, 9);
    assert_in_range(rounds_alone(pool, false), 1, 10);
    kw_cpu_pool_destroy(&pool, false);
}

/* Processor time of this process and all its threads. */
static int64_t used_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Five threads that looked on would use a second of processor time, or all that a busy machine lets them have. */
static void threads_without_work_use_no_core(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    assert_int_equal(run_round(pool, 6), 6);
    usleep(50000);
    int64_t before = used_ns();
    usleep(200000);
    assert_in_range(used_ns() - before, 0, 50000000);
    kw_cpu_pool_destroy(&pool, false);
}

static void *call_often(void *user) {
    for (int i = 0; i < 100; i++) {
        round_of_work r = {.team = 0};
        kw_cpu_pool_run(user, &(kw_cpu_job){.threads = 3, .stages = STAGES, .pieces = 2, .wake = true, .task = do_piece, .user = &r});
        if (r.team != 3 || r.early || r.shared) {
            return user;
        }
    }
    return NULL;
}

static void callers_at_the_same_time_have_a_team_each(void **state) {
    (void)state;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    pthread_t callers[6];
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, pool), 0);
    }
    for (size_t i = 0; i < 6; i++) {
        void *failed = NULL;
        pthread_join(callers[i], &failed);
        assert_null(failed);
    }
    kw_cpu_pool_destroy(&pool, false);
}

static void leave_fault(int number) {
    (void)number;
    _exit(44);
}

static void fault_beside_the_caller(void *user, const kw_cpu_piece *p) {
    (void)p;
    if (pthread_equal(*(pthread_t *)user, pthread_self())) {
        usleep(20000);
    } else {
        raise(SIGSEGV);
    }
}

static void faults_of_a_thread_reach_the_hosts_handler(void **state) {
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        pthread_t self = pthread_self();
        signal(SIGSEGV, leave_fault);
        kw_cpu_pool *pool = kw_cpu_pool_create();
        for (int i = 0; i < 100; i++) {
            run(pool, 2, true, 1, fault_beside_the_caller, &self);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 44);
}

/* Runs in a child whose user may have so many processes, threads included (0: as many as the host allows); its exit code is the team's size. */
static int team_under_limit(rlim_t limit, int wanted) {
    int status = 0;
    pid_t child = fork();
    if (!child) {
        if ((!geteuid() && setuid(NOBODY)) || (limit && setrlimit(RLIMIT_NPROC, &(struct rlimit){limit, limit}))) {
            _exit(99);
        }
        kw_cpu_pool *pool = kw_cpu_pool_create();
        int team = run_round(pool, wanted);
        for (int i = 0; i < 2000; i++) { /* and again, while it is tried anew now and then */
            team = run_round(pool, wanted);
        }
        kw_cpu_pool_destroy(&pool, false);
        _exit(team);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void threads_that_cannot_be_made_make_a_smaller_team(void **state) {
    (void)state;
    if (geteuid()) {
        print_message("only root can become a user without processes\n");
        skip();
    }
    assert_int_equal(team_under_limit(1, 4), 1);
    assert_in_range(team_under_limit(3, 8), 1, 3); /* others may run as that user */
    assert_int_equal(team_under_limit(0, 4), 4);
}

/* What was forked has no threads, may destroy the pool, and may make one of its own. */
static void a_forked_child_makes_its_own(void **state) {
    (void)state;
    int status = 0, wanted = UNDER_TSAN ? 1 : 4;
    kw_cpu_pool *pool = kw_cpu_pool_create();
    assert_int_equal(run_round(pool, 4), 4);
    pid_t child = fork();
    if (!child) {
        alarm(30);
        kw_cpu_pool_destroy(&pool, true);
        pool = kw_cpu_pool_create();
        int team = run_round(pool, wanted);
        kw_cpu_pool_destroy(&pool, false);
        _exit(team);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), wanted);
    kw_cpu_pool_destroy(&pool, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once_whatever_the_team),
        cmocka_unit_test(pieces_of_a_share_under_way_are_done_by_others),
        cmocka_unit_test(who_sleeps_is_woken),
        cmocka_unit_test(nobody_waits_for_a_thread_that_has_not_begun),
        cmocka_unit_test(little_work_goes_without_those_who_sleep),
        cmocka_unit_test(threads_without_work_use_no_core),
        cmocka_unit_test(callers_at_the_same_time_have_a_team_each),
        cmocka_unit_test(faults_of_a_thread_reach_the_hosts_handler),
        cmocka_unit_test(threads_that_cannot_be_made_make_a_smaller_team),
        cmocka_unit_test(a_forked_child_makes_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

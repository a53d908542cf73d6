/* test_stop.c: a stop that one thread requests and others see, also under the thread sanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/os/clock.h"
#include "base/os/process/process.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void a_zeroed_stop_and_none_request_nothing(void **state) {
    (void)state;
    kw_stop stop = {0};
    assert_false(kw_stop_requested(&stop) || kw_stop_requested(NULL));
    kw_stop_request(&stop);
    kw_stop_request(&stop);
    assert_true(kw_stop_requested(&stop));
}

typedef struct shared {
    kw_stop stop;
    int written; /* before the request */
} shared;

static void *request_soon(void *argument) {
    shared *s = argument;
    usleep(100000);
    s->written = 7;
    kw_stop_request(&s->stop);
    return NULL;
}

/* The process that is waited for looks at the request while another thread makes it. */
static void another_thread_ends_a_process(void **state) {
    (void)state;
    shared s = {0};
    pthread_t thread;
    kw_process_result result;
    int64_t begin = kw_clock_ns();
    assert_int_equal(pthread_create(&thread, NULL, request_soon, &s), 0);
    const char *const argv[] = {"sleep", "20", NULL};
    assert_int_equal(kw_process_run_job(&(kw_process_job){.argv = argv, .stop = &s.stop}, NULL, &result, NULL), KW_OK);
    assert_true(result.signal == SIGKILL && kw_clock_ns() - begin < 5000000000);
    assert_true(kw_stop_requested(&s.stop) && s.written == 7); /* what came before the request is seen */
    pthread_join(thread, NULL);
}

static kw_stop by_signal;

static void handle(int number) {
    (void)number;
    kw_stop_request(&by_signal);
}

static void a_signal_handler_may_request(void **state) {
    (void)state;
    struct sigaction action = {.sa_handler = handle}, before;
    sigaction(SIGUSR1, &action, &before);
    raise(SIGUSR1);
    assert_true(kw_stop_requested(&by_signal));
    sigaction(SIGUSR1, &before, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zeroed_stop_and_none_request_nothing),
        cmocka_unit_test(another_thread_ends_a_process),
        cmocka_unit_test(a_signal_handler_may_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sanitizers.c: what the sanitised builds and `make memcheck` look for, they find: a fault of each kind is planted in a child, which has to
 * end for it. Without this a flag that was lost would make all those runs pass. Built everywhere, a test of builds that look for something. */
#include "base/container/arena.h"
#include "support/kw_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* The compiler must not know what is there, or it warns, or leaves it out. */
static volatile int zero, sink;
static void *(*volatile take)(size_t bytes) = malloc;

static void read_behind_the_end(void) {
    char *bytes = take(16);
    sink = bytes[16 + zero];
    free(bytes);
}

static void read_behind_a_piece(void) {
    kw_arena arena = {0};
    int *words = kw_arena_array(&arena, 3, sizeof *words);
    const int *more = kw_arena_array(&arena, 3, sizeof *more);
    sink = more[zero] + words[3 + zero];
    kw_arena_drop(&arena);
}

static void read_what_was_freed(void) {
    char *bytes = take(16);
    char *volatile again = bytes;
    free(bytes);
    sink = again[zero];
}

static void overflow_a_sum(void) {
    sink = INT32_MAX - zero;
    sink += 1;
}

static void shift_too_far(void) {
    sink = 1 << (32 + zero);
}

static void index_by_what_was_never_set(void) {
    static const volatile int table[4] = {0};
    int *words = take(4 * sizeof *words);
    sink = table[words[2 + zero] & 3];
    free(words);
}

static int shared;
static atomic_bool begun;

static void *add_to_shared(void *unused) {
    atomic_store_explicit(&begun, true, memory_order_relaxed);
    for (int i = 0; i < 10000; i++) {
        shared++;
    }
    return unused;
}

static void race_for_a_word(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, add_to_shared, NULL);
    while (!atomic_load_explicit(&begun, memory_order_relaxed)) {
    }
    add_to_shared(NULL);
    pthread_join(thread, NULL);
}

typedef enum looks { ADDRESSES = 1, UNDEFINED = 2, RACES = 4, UNSET = 8 } looks;

static const struct {
    const char *name;
    void (*plant)(void);
    int found_by;
} faults[] = {
    {"a read behind the end", read_behind_the_end, ADDRESSES | UNSET},
    {"a read behind a piece of an arena", read_behind_a_piece, ADDRESSES},
    {"a read of freed memory", read_what_was_freed, ADDRESSES | UNSET},
    {"a sum that overflows", overflow_a_sum, UNDEFINED},
    {"a shift by the word's size", shift_too_far, UNDEFINED},
    {"an index that was never set", index_by_what_was_never_set, UNSET},
    {"two threads that add to one word", race_for_a_word, RACES},
};

static int looked_for(void) {
    int all = strstr(KW_SANITIZERS, "address") ? ADDRESSES : 0;
    all |= strstr(KW_SANITIZERS, "undefined") ? UNDEFINED : 0;
    all |= strstr(KW_SANITIZERS, "thread") ? RACES : 0;
    return all | (getenv("KW_VALGRIND") ? UNSET : 0);
}

/* Whether a child that does this ends badly. */
static bool ends_badly(void (*plant)(void)) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        /* cmocka's handlers would report the signal as the test's own failure. */
        signal(SIGABRT, SIG_DFL);
        close(2);
        plant();
        exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status);
}

static void nothing(void) {
}

static void planted_faults_end_the_program(void **state) {
    (void)state;
    int asked = looked_for();
    if (!asked) {
        print_message("neither sanitised nor under valgrind: nothing is looked for here\n");
        skip();
    }
    assert_false(ends_badly(nothing));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if ((faults[i].found_by & asked) && !ends_badly(faults[i].plant)) {
            fail_msg("%s is not found", faults[i].name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_faults_end_the_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

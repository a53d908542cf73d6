/* store_scale.c: how fast a store is with many rows. Not a test: a program to be run by hand, whose figures docs/measuring/store.md gives.
 * Usage: store_scale FILE [ROWS] [BATCH], with FILE on the disk that is to be measured; it is made anew. */
#include "base/os/clock.h"
#include "support/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 50 };

static double seconds(int64_t since) {
    return (double)(kw_clock_ns() - since) * 1e-9;
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int fail(const kw_error *err) {
    fprintf(stderr, "%s\n", err->text);
    return 1;
}

static bool count_row(void *user, const kw_row *row) {
    (void)row;
    ++*(int64_t *)user;
    return true;
}

static kw_status fill(kw_store *store, int64_t rows, int64_t batch, kw_error *err) {
    kw_row *memory = calloc((size_t)batch, sizeof *memory);
    kw_status status = memory ? KW_OK : KW_NO_MEMORY;
    for (int64_t i = 0; !status && i < rows; i += batch) {
        int64_t count = rows - i < batch ? rows - i : batch;
        for (int64_t j = 0; j < count; j++) {
            rows_make(&memory[j], i + j, KERNELS);
        }
        status = kw_store_add(store, memory, (size_t)count, NULL, err);
    }
    free(memory);
    return status;
}

static kw_status ask(kw_store *store, int64_t rows, kw_error *err) {
    enum { QUESTIONS = 20000 };
    int64_t found = 0, start = kw_clock_ns();
    kw_status status = KW_OK;
    for (int64_t i = 0; !status && i < QUESTIONS; i++) {
        kw_row row;
        bool has = false;
        rows_make(&row, i * 7919 % rows, KERNELS);
        status = kw_store_has(store, &has, row.target, row.problem, row.record.config, row.packed, row.record.cold, err);
        found += has;
    }
    printf("has: %.2f us each (%lld of %d found)\n", seconds(start) * 1e6 / QUESTIONS, (long long)found, QUESTIONS);
    return status;
}

static kw_status visit(kw_store *store, const kw_row_filter *filter, const char *what, kw_error *err) {
    int64_t count = 0, start = kw_clock_ns();
    kw_status status = kw_store_visit(store, filter, count_row, &count, err);
    printf("visit %s: %lld rows in %.4f s\n", what, (long long)count, seconds(start));
    return status;
}

int main(int count, char **words) {
    int64_t rows = count > 2 ? atoll(words[2]) : 50000, batch = count > 3 ? atoll(words[3]) : 50;
    kw_error err = {0};
    kw_store *store = NULL;
    kw_store_counts counts;
    if (count < 2 || rows < 1 || batch < 1) {
        fprintf(stderr, "usage: store_scale FILE [ROWS] [BATCH]\n");
        return 2;
    }
    unlink(words[1]);
    if (kw_store_open(&store, words[1], KW_STORE_WRITE, &err)) {
        return fail(&err);
    }
    int64_t start = kw_clock_ns();
    if (fill(store, rows, batch, &err)) {
        return fail(&err);
    }
    printf("add: %lld rows by %lld in %.2f s, %.2f s of processor time\n", (long long)rows, (long long)batch, seconds(start),
           processor_seconds());
    kw_row one;
    rows_make(&one, rows / 2, KERNELS);
    kw_row_filter all = {.size = sizeof(kw_row_filter)}, answers = {.size = sizeof(kw_row_filter), .answers = true},
                  problem = {.size = sizeof(kw_row_filter), .target = one.target, .problem = one.problem, .answers = true};
    kw_status status = ask(store, rows, &err);
    status = status ? status : visit(store, &problem, "answers of one problem", &err);
    status = status ? status : visit(store, &all, "all", &err);
    status = status ? status : visit(store, &answers, "all answers", &err);
    start = kw_clock_ns();
    status = status ? status : kw_store_count(store, &counts, &err);
    printf("count: %.3f s; %lld bytes, %.0f a row\n", seconds(start), (long long)counts.bytes, (double)counts.bytes / (double)counts.rows);
    start = kw_clock_ns();
    status = status ? status : kw_store_check(store, &err);
    printf("check: %.2f s\n", seconds(start));
    start = kw_clock_ns();
    kw_store_close(&store);
    printf("close: %.3f s\n", seconds(start));
    return status ? fail(&err) : 0;
}

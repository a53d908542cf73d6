/* sweep_fixture.h: a sweep whose pool has no process (fake_worker_client.c) and whose compiler makes no code, and what became of it. */
#ifndef KW_TESTS_SWEEP_FIXTURE_H
#define KW_TESTS_SWEEP_FIXTURE_H

#include "fake_worker_client.h"
#include "sweep/sweep_plan.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#if defined __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

enum { PROBLEMS = 6, CONFIGS_MAX = 16 };
/* The last two are of another operation and another type. */
extern const char *const problem_texts[PROBLEMS];

typedef struct fixture {
    char folder[SCRATCH_MAX], out[2 * SCRATCH_MAX], cache[2 * SCRATCH_MAX], compiler[2 * SCRATCH_MAX];
    char *texts[CONFIGS_MAX];
    const char *configs[2 * CONFIGS_MAX];
    size_t config_count;
    kw_problem problems[2 * PROBLEMS];
    kw_sweep_options options;
    kw_sweep_report report;
    kw_error err;
    int64_t told, last_done;
    double last_eta;
    bool went_back;
} fixture;

/* What a store holds. */
typedef struct contents {
    int64_t rows, answers, pairs, runs, sequence;
    bool ascends;
    char detail[256];
    kw_outcome wanted;
    int64_t matched, negative;
} contents;

int fixture_open(void **state);
int fixture_close(void **state);
bool fixture_add_config(void *user, const char *config);
/* A compiler that says that it is gcc and then does what body says: $2 is where the object goes. */
void fixture_write_compiler(fixture *f, const char *body);
kw_status fixture_run(fixture *f);
void fixture_run_well(fixture *f);
/* Of all outcomes. */
int64_t fixture_rows(const kw_sweep_report *report);
contents fixture_look(const fixture *f, const char *path, kw_outcome wanted);

#define WITH(test) cmocka_unit_test_setup_teardown(test, fixture_open, fixture_close)

#endif

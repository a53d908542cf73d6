/* fake_worker_client.h: a pool without a process: a test says what becomes of each kernel. It stands in for src/sweep/worker/worker_client.c, so that what a sweep
 * asks of its workers, and makes of their answers, can be seen without one. */
#ifndef KW_TESTS_FAKE_POOL_H
#define KW_TESTS_FAKE_POOL_H

#include "sweep/worker/worker_client.h"

#include <pthread.h>

enum { FAKE_ASKED_MAX = 4096 };

/* One kernel that was asked for, in the order of asking. */
typedef struct fake_asked {
    char problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
    double best_ns, drop_ratio;
    size_t batch; /* kernels of its batch */
    bool has_control, verify_only, pack_weights, cold;
    bool present; /* its blob was in the cache */
    char cpus[64];
} fake_asked;

typedef struct fake_pools {
    pthread_mutex_t lock;
    int opened;
    kw_status open_status;
    size_t count, limit; /* asked for; after limit (0: never) stop is set and nothing is measured */
    kw_stop stop;
    size_t fail_after; /* pools fail then; 0: never */
    fake_asked *asked;
    const kw_target *target;                                        /* of the device; NULL: this machine's CPU */
    kw_outcome (*outcome)(const char *problem, const char *config); /* NULL: KW_GOOD */
} fake_pools;

/* The one of the test that runs. */
extern fake_pools fake;

/* Forgets all; call it before each sweep. */
void fake_reset(void);
void fake_drop(void);

#endif

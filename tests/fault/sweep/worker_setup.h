/* worker_setup.h: evil and honest kernels in a cache, batches of them, and what is left of their processes. */
#ifndef KW_TESTS_FAULT_WORKER_SETUP_H
#define KW_TESTS_FAULT_WORKER_SETUP_H

#include "config/config.h"
#include "fault/sweep/evil.h"
#include "jit/toolchain/cc.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "sweep/worker/worker_client.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { HONEST_KERNELS = 4, SLOTS = EVILS + HONEST_KERNELS + 1 };
/* Of kernels that never end, and of all others: a shared machine may take the processor away for tenths of a second. */
static const int64_t short_limit_ns = SANITIZED ? 1500000000 : 400000000, patient_limit_ns = 10000000000;

typedef struct setup {
    char folder[SCRATCH_MAX], cache_folder[2 * SCRATCH_MAX], once[2 * SCRATCH_MAX];
    kw_compiler compiler;
    kw_cache *cache;
    kw_problem problem;
    kw_config config[HONEST_KERNELS + 1]; /* the last one is the evil kernels' */
    char key[HONEST_KERNELS + 1][KW_CACHE_KEY_MAX + 1];
    size_t configs;
    char evil_key[EVILS][KW_CACHE_KEY_MAX + 1];
    int descriptors;
} setup;

typedef struct batch {
    kw_worker_job_kernel kernels[SLOTS];
    kw_record records[SLOTS];
    kw_worker_job job;
    kw_worker_job_result result;
} batch;

/* Whether the kernel is one for this build: sanitizers end a program for some faults themselves. */
bool is_meant(int which);
int count_descriptors(void);
int open_setup(void **state);
int close_setup(void **state);
/* Reads a file of /proc/PID; what is between words is made blank. */
size_t read_process(char *text, size_t capacity, const char *pid, const char *name);
/* Workers of this test and what they have forked (both name the cache on their command line), and children of ours in any state. */
int count_processes(const setup *s);
bool are_gone(const setup *s, int64_t limit_ns);
kw_worker_client_options pool_options(const setup *s);
/* The honest kernels, with room for one more at place evil_at; evil_at -1: none. */
void fill_batch(batch *b, const setup *s, int evil_at, const char *evil_key);
bool is_measured(const kw_record *record);
bool honest_are_measured(const batch *b, int evil_at);
/* Prints what became of each kernel. */
void show(const batch *b);
int find_evil(const char *name);

#endif

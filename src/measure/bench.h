/* bench.h: the inside of a kw_bench, shared by bench.c (data), verify.c and clocking.c (timing). */
#ifndef KW_MEASURE_BENCH_H
#define KW_MEASURE_BENCH_H

#include "measure/data/rotation.h"
#include "measure/data/expected.h"
#include "measure/data/expected_bias.h"
#include "measure/measure.h"

/* Two sets of data: integers that must come out exactly, and real numbers. */
enum { KW_SET_EXACT = 0, KW_SET_REAL = 1, KW_SET_COUNT = 2 };

typedef struct kw_bench_set {
    kw_buffer tensor[KW_TENSOR_COUNT]; /* the two that are read; the result's is closed */
    uint64_t hash[KW_TENSOR_COUNT];    /* of what was filled in */
    kw_buffer extra[KW_EXTRA_MAX];     /* what the epilogue reads */
    uint64_t extra_hash[KW_EXTRA_MAX];
    kw_buffer ends; /* of a grouped product */
    uint64_t ends_hash;
    kw_fill fill;
    kw_expected expected;
    kw_expected_bias bias; /* of extra[0], which is written then */
} kw_bench_set;

struct kw_bench {
    const kw_backend *backend;
    kw_device *device;
    kw_problem problem;
    kw_bench_set set[KW_SET_COUNT];
    kw_buffer result;   /* both sets take turns in it */
    double kernel_ns;   /* spent inside kernels so far */
    kw_buffer poison_w; /* in place of w when a kernel runs on packed weights; opened when first needed */
    kw_rotation copies; /* of the real set, for cold timing; made when first needed */
};

/* As kw_bench_open with fills of the caller's. */
kw_status kw_bench_open_fills(kw_bench **bench, const kw_backend *backend, kw_device *device, const kw_problem *problem,
                              const kw_fill fills[KW_SET_COUNT], kw_error *err);

/* Bytes by which a tensor of a set lies off the 64-byte alignment. */
int kw_bench_shift(const kw_bench *bench, int set, kw_tensor tensor);
/* Fills a tensor that is read anew, after a kernel changed it. */
kw_status kw_bench_restore(kw_bench *bench, int set, kw_tensor tensor, kw_error *err);

/* A config made ready to run on a bench: bound, with workspace. */
typedef struct kw_prepared {
    kw_bench *bench;
    kw_launch launch;
    kw_bound *bound;
    kw_buffer packed, shared, threads;
    int64_t thread_step; /* from one thread's memory to the next one's; a guard lies between */
    double sum_error;    /* of the config's family */
    bool packs;          /* it has a pack stage */
} kw_prepared;

/* What cannot be made ready becomes record's outcome (KW_UNFIT, KW_UNLAUNCHED) with the reason; ready->bound is NULL then. team:
 * the threads of a CPU that it runs on; 0: as config/launch/team.h estimates; KW_TEAM_ALL: all, also for little work, so that what goes wrong
 * between threads shows on small problems. */
enum { KW_TEAM_ALL = -1 };
void kw_prepared_open(kw_prepared *ready, kw_bench *bench, const kw_kernel *kernel, const kw_config *config, int32_t team,
                      kw_record *record);
void kw_prepared_close(kw_prepared *ready);
/* The memory of a launch on one data set. with_w false: the poison_w stands for w. */
kw_launch_memory kw_prepared_memory(const kw_prepared *ready, int set, bool with_w);
/* Runs on that. */
kw_status kw_prepared_run(const kw_prepared *ready, int set, int parts, bool with_w, kw_error *err);
/* Bytes of workspace of a plan of this kernel, with packed weights in it or apart (config/launch/workspace.h). */
int64_t kw_prepared_workspace(const kw_prepared *ready, bool packed_apart);

/* One checked run: guards and poison are set to byte, then it runs and everything is looked at. KW_FAILED: the kernel is wrong, err says
 * how. seen (may be NULL) gets the comparison, which is zeroed when something was wrong before it. */
kw_status kw_prepared_check(kw_prepared *ready, int set, unsigned char byte, bool packed_apart, kw_comparison *seen, kw_error *err);

#endif

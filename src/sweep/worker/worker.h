/* worker.h: the inside of a worker, shared by worker.c (the conversation), worker_setup.c (its confinement), worker_job.c (a job) and
 * worker_answer.c. */
#ifndef KW_SWEEP_WORKER_WORKER_H
#define KW_SWEEP_WORKER_WORKER_H

#include "base/os/process/child.h"
#include "jit/open.h"
#include "sweep/worker/worker_status.h"
#include "sweep/worker/protocol.h"

#include <sys/types.h>

/* Exit codes. KW_WORKER_OUTPUT_LOST: a kernel closed or replaced the descriptor of the answers, so that nothing more can be said. */
enum { KW_WORKER_DONE = 0, KW_WORKER_BROKEN = 1, KW_WORKER_USAGE = 2, KW_WORKER_ENVIRONMENT = 3, KW_WORKER_OUTPUT_LOST = 94 };

/* What its command line says. */
typedef struct kw_worker_options {
    const char *device, *cpus, *cache; /* NULL: KW_DEFAULT_DEVICE, all, none */
    int64_t threads;                   /* 0: all cores */
    int64_t parent;                    /* process number that it dies with; 0: none */
    int64_t status_fd;                 /* descriptor; -1: none */
    int64_t memory;                    /* bytes; 0: as much as the machine has */
    int64_t limit_s;                   /* of a kernel, from which the processor time of a job follows; 0: none */
} kw_worker_options;

/* What runs beside the kernels; kept from job to job while it is the same. bench NULL: none. */
typedef struct kw_worker_control {
    kw_problem problem;
    kw_config config;
    char key[KW_CACHE_KEY_MAX + 1];
    kw_bench *bench;
    kw_kernel *kernel;
    kw_record record; /* of its verification */
    double level_ns;  /* its time when the machine is at rest, as far as the jobs so far know; 0: unknown */
} kw_worker_control;

typedef struct kw_worker {
    kw_worker_options options;
    int in, out;
    dev_t out_device; /* who out is */
    ino_t out_inode;
    size_t begin, end; /* of what was read and not used yet */
    char buffer[2 * KW_CHILD_LINE_MAX];
    kw_worker_status *status_page;
    const kw_backend *backend;
    kw_device *device;
    kw_jit_handle jit; /* its cache alone: what is missing there is not compiled here */
    kw_bench *bench;   /* of the last job; NULL: none */
    kw_problem problem;
    uint64_t seed;
    kw_worker_control control;
} kw_worker;

kw_status kw_worker_parse(kw_worker_options *options, int count, char *const *arguments, kw_error *err);
/* Ties the process to its parent, moves the descriptors out of the way of kernels, sets limits and affinity, and maps the status page. */
kw_status kw_worker_confine(kw_worker *w, kw_error *err);
/* Before each job: processor time for so many kernels, and no more. */
void kw_worker_allow_time(const kw_worker *w, size_t kernels);

/* Runs a job and answers. An error means that the device cannot be used any more: this process has to end. */
kw_status kw_worker_run(kw_worker *w, const kw_worker_job *job, kw_error *err);
void kw_worker_control_close(kw_worker *w);

/* Sends a line. An answer that cannot be sent ends the process. */
void kw_worker_answer(const kw_worker *w, const kw_answer *answer);
/* Ends the process when the descriptor of the answers is not what it was. To be asked after kernels ran. */
void kw_worker_check_output(const kw_worker *w);

#endif

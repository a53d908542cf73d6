/* worker_client.h: a worker process and the jobs it is given. The parent never touches a device: it hands a child a problem and up to a
 * batch of kernels, and gets a record for each, whatever the kernels do.
 *
 * The child says what it is about to do in a page that both sides map (worker_status.h), so that the parent knows which kernel was running
 * when the child died or stopped answering, and measuring is not disturbed by lines about itself. A child that is lost is replaced; its
 * suspect is tried once more alone, the others of the batch go on without it. */
#ifndef KW_SWEEP_WORKER_WORKER_CLIENT_H
#define KW_SWEEP_WORKER_WORKER_CLIENT_H

#include "measure/measure.h"

typedef struct kw_worker_client_options {
    const char *program;     /* its verb "worker" serves */
    const char *device;      /* "cpu" */
    const char *cpus;        /* "0,2-3": cores of the child; NULL: all of this process */
    const char *cache;       /* folder of the blobs that jobs name by key */
    int32_t threads;         /* of a kernel */
    int64_t kernel_limit_ns; /* that a kernel may stay in one step without getting on; 0: 30 s */
    int64_t batch_limit_ns;  /* of a batch; 0: kernel_limit_ns times its kernels */
    int64_t memory_limit;    /* bytes that the child may have; 0: as many as the machine has */
    const kw_stop *stop;     /* as in kw_sweep_options; may be NULL */
    void (*log)(void *user, const char *line);
    void *user;
} kw_worker_client_options;

/* One thread opens, uses and closes a client: the child dies with the thread that started it. Several clients may be used by several
 * threads. */
typedef struct kw_worker_client kw_worker_client;

/* Starts the child and waits for its greeting. The options' strings must outlive the client. */
kw_status kw_worker_client_open(kw_worker_client **client, const kw_worker_client_options *options, kw_error *err);
void kw_worker_client_close(kw_worker_client **client);
/* The facts of the child's device, and the device's name for people. */
const kw_target *kw_worker_client_target(const kw_worker_client *client);
const char *kw_worker_client_device(const kw_worker_client *client);
/* Children that were replaced so far. */
int64_t kw_worker_client_lost(const kw_worker_client *client);

typedef struct kw_worker_job_kernel {
    const kw_config *config;
    const char *key; /* of the blob in the cache; "" for compiled-in families */
} kw_worker_job_kernel;

typedef struct kw_worker_job {
    const kw_problem *problem;
    const kw_worker_job_kernel *kernels;
    size_t count;
    const kw_problem *control_problem; /* and the kernel that runs on it beside the others; kernels[].config NULL: none */
    kw_worker_job_kernel control;
    bool verify_only, pack_weights, cold;
    int32_t batches;
    double drop_ratio, best_ns; /* as in kw_timing_options */
    uint64_t seed;              /* of data and order */
} kw_worker_job;

typedef struct kw_worker_job_result {
    kw_record *records;       /* the caller's, one a kernel; KW_UNTRIED where stop came first */
    double control_ns, drift; /* 0 where there was no control, or it failed */
    double kernel_ns; /* time spent inside kernels: verification, packing, warm-ups, batches that count or not, the control. What ran in
                                 a child that was lost is not in it. */
} kw_worker_job_result;

/* A kernel that ends or blocks its child is KW_CRASHED or KW_TIMED_OUT when it does so again alone; detail says how, in which step, and
 * what the child wrote last. KW_UNLAUNCHED is asked once more alone, for it may be passing want of memory. One that is right the second time has its
 * record, and detail says what came before. A problem whose data end the child twice gives KW_CRASHED for all that is left. An error only
 * when no child can be started, or for want of memory here or of room on a disk there (KW_IO); the records that are there by then stand, the
 * others are KW_UNTRIED. */
kw_status kw_worker_client_measure(kw_worker_client *client, const kw_worker_job *job, kw_worker_job_result *result, kw_error *err);

#endif

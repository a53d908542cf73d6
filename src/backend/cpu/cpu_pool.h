/* cpu_pool.h: the threads of a device. A run takes a crew, whose threads wait for work, and gives it back; runs at the same time have a crew
 * each, as many as callers. Threads are started when a run first needs them and end with the pool. A thread that cannot be started is a
 * smaller team, never an error: whoever called is always the first of it. A thread that does not come in time, because others have the
 * cores, is not waited for: who is done with its own share does the pieces of the others that nobody began.
 *
 * Why not OpenMP: libgomp ends the process when a thread cannot be made, starts and ends threads whenever the size of a team changes, and
 * waits for ever in a child that forked after its threads were started. */
#ifndef KW_BACKEND_CPU_CPU_POOL_H
#define KW_BACKEND_CPU_CPU_POOL_H

#include <stdbool.h>

typedef struct kw_cpu_pool kw_cpu_pool;

/* A stage of the work is cut into as many shares as the team has threads, and a share into pieces; all of a stage are done before one of the
 * next begins. A piece is done once, by any thread: most often those of share i in all stages by thread i. */
typedef struct kw_cpu_piece {
    int stage, share, shares, piece, pieces;
    int thread; /* of the team, that does it: no other one has this number */
} kw_cpu_piece;
typedef void kw_cpu_task(void *user, const kw_cpu_piece *piece);

/* wake: the work is worth waking threads that sleep; else that is done only when runs follow each other closely. */
typedef struct kw_cpu_job {
    int threads; /* at most */
    int stages, pieces;
    bool wake;
    kw_cpu_task *task;
    void *user;
} kw_cpu_job;

/* NULL for want of memory. Starts no thread. */
kw_cpu_pool *kw_cpu_pool_create(void);
/* No run is under way. forked: this process is a child of the one that made the pool, and has none of its threads. */
void kw_cpu_pool_destroy(kw_cpu_pool **pool, bool forked);
/* Runs the stages and returns when all are done. Many threads may call it. */
void kw_cpu_pool_run(kw_cpu_pool *pool, const kw_cpu_job *job);
/* The same on the calling thread alone. */
void kw_cpu_run_alone(const kw_cpu_job *job);

#endif

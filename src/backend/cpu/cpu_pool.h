/* cpu_pool.h: the threads of a device. A run takes a crew, whose threads wait for work, and gives it back; runs at the same time have a crew
 * each, as many as callers. Threads are started when a run first needs them and end with the pool. A thread that cannot be started is a
 * smaller team, never an error: whoever called is always the first of it. A thread that does not come in time, because others have the
 * cores, is not waited for: who is done with its own share does those that nobody began.
 *
 * Why not OpenMP: libgomp ends the process when a thread cannot be made, starts and ends threads whenever the size of a team changes, and
 * waits for ever in a child that forked after its threads were started. */
#ifndef KW_BACKEND_CPU_CPU_POOL_H
#define KW_BACKEND_CPU_CPU_POOL_H

#include <stdbool.h>

typedef struct kw_cpu_pool kw_cpu_pool;

/* A stage of the work is cut into as many shares as the team has threads; all of a stage are done before one of the next begins. A share
 * is done once, by any thread: most often share i of all stages by the same one. */
typedef void kw_cpu_task(void *user, int stage, int share, int shares);

/* NULL for want of memory. Starts no thread. */
kw_cpu_pool *kw_cpu_pool_create(void);
/* No run is under way. forked: this process is a child of the one that made the pool, and has none of its threads. */
void kw_cpu_pool_destroy(kw_cpu_pool **pool, bool forked);
/* Runs the stages on at most so many threads, and returns when all are done. wake: the work is worth waking threads that sleep; else that
 * is done only when runs follow each other closely. Many threads may call it. */
void kw_cpu_pool_run(kw_cpu_pool *pool, int threads, bool wake, int stages, kw_cpu_task *task, void *user);

#endif

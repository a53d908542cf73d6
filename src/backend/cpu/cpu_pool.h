/* cpu_pool.h: the threads of a device. A run takes a crew, whose threads wait for work, and gives it back; runs at the same time have a crew
 * each, as many as callers. Threads are started when a run first needs them and end with the pool. A thread that cannot be started is a
 * smaller team, never an error: whoever called is always the first of it.
 *
 * Why not OpenMP: libgomp ends the process when a thread cannot be made, starts and ends threads whenever the size of a team changes, and
 * waits for ever in a child that forked after its threads were started. */
#ifndef KW_BACKEND_CPU_CPU_POOL_H
#define KW_BACKEND_CPU_CPU_POOL_H

#include <stdbool.h>

typedef struct kw_cpu_pool kw_cpu_pool;
typedef struct kw_cpu_crew kw_cpu_crew;

/* What a team does: thread is 0 (the caller) to team - 1. */
typedef void kw_cpu_task(kw_cpu_crew *crew, void *user, int thread, int team);

/* NULL for want of memory. Starts no thread. */
kw_cpu_pool *kw_cpu_pool_create(void);
/* No run is under way. forked: this process is a child of the one that made the pool, and has none of its threads. */
void kw_cpu_pool_destroy(kw_cpu_pool **pool, bool forked);
/* Runs the task on at most so many threads, and returns when all are done. Many threads may call it. */
void kw_cpu_pool_run(kw_cpu_pool *pool, int threads, kw_cpu_task *task, void *user);
/* All of the team come here before one goes on. */
void kw_cpu_crew_wait(kw_cpu_crew *crew, int team);

#endif

/* parallel.c: workers draw the next number from a counter and link finished numbers into a queue, which the caller empties. */
#include "base/os/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS_MAX = 256 };

typedef struct shift {
    const kw_parallel *team;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    size_t next;   /* the first number nobody has drawn */
    size_t *queue; /* finished numbers in order of finishing */
    size_t queued;
} shift;

static void *run_worker_thread(void *memory) {
    shift *s = memory;
    pthread_mutex_lock(&s->lock);
    while (s->next < s->team->count) {
        size_t index = s->next++;
        pthread_mutex_unlock(&s->lock);
        s->team->work(s->team->user, index);
        pthread_mutex_lock(&s->lock);
        s->queue[s->queued++] = index;
        pthread_cond_signal(&s->finished);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void report(shift *s) {
    for (size_t told = 0; told < s->team->count; told++) {
        pthread_mutex_lock(&s->lock);
        while (s->queued == told) {
            pthread_cond_wait(&s->finished, &s->lock);
        }
        size_t index = s->queue[told];
        pthread_mutex_unlock(&s->lock);
        if (s->team->done) {
            s->team->done(s->team->user, index);
        }
    }
}

/* The set grows until the kernel's mask fits. */
size_t kw_cores_list(int *cores, size_t capacity) {
    for (size_t cpus = 1024; cpus <= 1 << 18; cpus *= 4) {
        size_t size = CPU_ALLOC_SIZE(cpus), count = 0;
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (set && !sched_getaffinity(0, size, set)) {
            for (size_t i = 0; i < cpus; i++) {
                if (CPU_ISSET_S(i, size, set)) {
                    if (count < capacity) {
                        cores[count] = (int)i;
                    }
                    count++;
                }
            }
        }
        CPU_FREE(set);
        if (count) {
            return count;
        }
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = online > 0 ? (size_t)online : 1;
    for (size_t i = 0; i < count && i < capacity; i++) {
        cores[i] = (int)i;
    }
    return count;
}

static size_t worker_count(const kw_parallel *team) {
    size_t wanted = team->workers > 0 ? (size_t)team->workers : kw_cores_list(NULL, 0);
    wanted = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
    return wanted < team->count ? wanted : team->count;
}

static void run_alone(const kw_parallel *team) {
    for (size_t i = 0; i < team->count; i++) {
        team->work(team->user, i);
        if (team->done) {
            team->done(team->user, i);
        }
    }
}

void kw_parallel_run(const kw_parallel *team) {
    size_t wanted = worker_count(team), started = 0;
    shift s = {.team = team};
    pthread_t threads[WORKERS_MAX];
    s.queue = calloc(team->count + 1, sizeof *s.queue);
    if (!s.queue) {
        run_alone(team);
        return;
    }
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.finished, NULL);
    while (started < wanted && !pthread_create(&threads[started], NULL, run_worker_thread, &s)) {
        started++;
    }
    if (started) {
        report(&s);
    } else {
        run_alone(team);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&s.finished);
    pthread_mutex_destroy(&s.lock);
    free(s.queue);
}

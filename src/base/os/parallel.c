/* parallel.c: workers draw the next number from a counter and link finished numbers into a queue, which the caller empties. */
#include "base/os/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WORKERS_MAX = 256 };

typedef struct shift {
    const kw_parallel *crew;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    size_t next;   /* the first number nobody has drawn */
    size_t *queue; /* finished numbers in order of finishing */
    size_t queued;
} shift;

static void *run_worker_thread(void *memory) {
    shift *s = memory;
    pthread_mutex_lock(&s->lock);
    while (s->next < s->crew->count) {
        size_t index = s->next++;
        pthread_mutex_unlock(&s->lock);
        s->crew->work(s->crew->user, index);
        pthread_mutex_lock(&s->lock);
        s->queue[s->queued++] = index;
        pthread_cond_signal(&s->finished);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void report(shift *s) {
    for (size_t told = 0; told < s->crew->count; told++) {
        pthread_mutex_lock(&s->lock);
        while (s->queued == told) {
            pthread_cond_wait(&s->finished, &s->lock);
        }
        size_t index = s->queue[told];
        pthread_mutex_unlock(&s->lock);
        if (s->crew->done) {
            s->crew->done(s->crew->user, index);
        }
    }
}

static size_t worker_count(const kw_parallel *crew) {
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    size_t wanted = crew->workers > 0 ? (size_t)crew->workers : (size_t)cores;
    wanted = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
    return wanted < crew->count ? wanted : crew->count;
}

static void run_alone(const kw_parallel *crew) {
    for (size_t i = 0; i < crew->count; i++) {
        crew->work(crew->user, i);
        if (crew->done) {
            crew->done(crew->user, i);
        }
    }
}

void kw_parallel_run(const kw_parallel *crew) {
    size_t wanted = worker_count(crew), started = 0;
    shift s = {.crew = crew};
    pthread_t threads[WORKERS_MAX];
    s.queue = calloc(crew->count + 1, sizeof *s.queue);
    if (!s.queue) {
        run_alone(crew);
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
        run_alone(crew);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&s.finished);
    pthread_mutex_destroy(&s.lock);
    free(s.queue);
}

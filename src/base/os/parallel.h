/* parallel.h: numbered pieces of work shared out among a few threads, while the calling thread alone reports what is done. */
#ifndef KW_BASE_OS_PARALLEL_H
#define KW_BASE_OS_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct kw_parallel {
    size_t count;
    int32_t workers;                        /* threads; 0: one a core of the process */
    void (*work)(void *user, size_t index); /* called from the workers, each index once */
    void (*done)(void *user, size_t index); /* called from the thread that called kw_parallel_run; may be NULL */
    void *user;
} kw_parallel;

/* How many cores this process may run on; the numbers of the first of them, ascending, as far as capacity goes. */
size_t kw_cores_list(int *cores, size_t capacity);
/* Returns when all is done. Cannot fail: without threads the caller's thread does the work. */
void kw_parallel_run(const kw_parallel *crew);

#endif

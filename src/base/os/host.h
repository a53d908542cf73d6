/* host.h: what a program may lend to a context in place of the library's own (kw_context_options): its threads, its memory. */
#ifndef KW_BASE_OS_HOST_H
#define KW_BASE_OS_HOST_H

#include <kernelwright.h>

/* parallel_for is NULL where the library's own threads run kernels. */
typedef struct kw_host_threads {
    void (*parallel_for)(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work);
    void *pool;
} kw_host_threads;

/* allocate is NULL where the backend makes memory; else release is there, too. */
typedef struct kw_host_memory {
    void *(*allocate)(void *heap, size_t bytes, size_t alignment);
    void (*release)(void *heap, void *memory, size_t bytes);
    void *heap;
} kw_host_memory;

#endif

/* fake_cuda.h: how a test speaks with the stand-in for NVIDIA's library (fake_cuda.c). Look the functions up in the library that the backend
 * loaded: dlopen("libcuda.so.1", RTLD_NOW), dlsym. */
#ifndef KW_TESTS_FAKE_CUDA_H
#define KW_TESTS_FAKE_CUDA_H

/* What it has seen and holds. */
typedef struct fake_cuda_state {
    int held;            /* allocations, modules, streams, events, retained contexts that nobody gave back */
    int pushed;          /* contexts on the thread's stack */
    int outside;         /* calls that need a context and were made without one */
    int launches, waits; /* since the reset; synchronisations of streams, events and contexts */
    unsigned grid, block, lds;
    void *stream;  /* of the last launch */
    int attribute; /* shared memory that the kernel was allowed last */
} fake_cuda_state;

typedef fake_cuda_state *fake_cuda_call(void);
/* fake_cuda(): the state, to read and to reset. fake_cuda_break(error): the next wait gives it, and from then on every call does. */
typedef void fake_cuda_break_call(int error);

#endif

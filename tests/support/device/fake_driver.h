/* fake_driver.h: the stand-ins for the vendors' drivers, and how a test speaks with them: dlopen the library by the name that the backend
 * loads it by, dlsym "fake_driver_find", call it. What all drivers have is played by fake_driver.c, what one has alone by fake_cuda.c and
 * fake_hip.c. */
#ifndef KW_TESTS_FAKE_DRIVER_H
#define KW_TESTS_FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/* What it has seen since the reset, and holds; read by tests. Functions are named as in kw_gpu_calls, those of a vendor alone by their own
 * names. */
typedef struct fake_driver {
    int held;            /* allocations, modules, streams, events, contexts that nobody gave back */
    int entered;         /* contexts on the thread's stack; or that the device was set */
    int outside;         /* calls that need a device and were made without one */
    int launches, waits; /* queued; waits for streams and events */
    unsigned grid, block, lds;
    void *stream;    /* of the last launch */
    int early;       /* launches that may begin while the one before ends */
    int cluster;     /* blocks of a cluster, of the last launch that had any */
    int allowed_lds; /* that a kernel may ask for */
    char log[8192];  /* names of the functions called, each followed by a blank */
    /* Forgets what was called and asked for; what is held stays so. */
    void (*reset)(void);
    /* From the so-many-th call of a function on (1: the next), it gives this error; one that spoils the device is then given by all
     * calls. */
    void (*fail_at)(const char *function, int error, int nth);
} fake_driver;

typedef fake_driver *fake_driver_call(void);

/* --- for fake_cuda.c and fake_hip.c --- */

enum { FAKE_INVALID_VALUE = 1, FAKE_INVALID_DEVICE = 101, FAKE_INVALID_IMAGE = 200, FAKE_NOT_FOUND = 500, FAKE_ILLEGAL_ADDRESS = 700 };

typedef struct fake_fact {
    int attribute, value;
} fake_fact;

#define FAKE_EXPORT __attribute__((visibility("default")))

extern fake_driver fake_state;
/* Every function begins with it: the error that it must give. */
int fake_called(const char *function);
int fake_queue_copy(void *to, const void *from, size_t size, void *stream);
/* Finds an attribute of a device; false: unknown. */
bool fake_find_fact(int *value, int attribute, int device);

#endif

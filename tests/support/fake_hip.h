/* fake_hip.h: how a test speaks with the stand-in for ROCm's library (fake_hip.c). Look the functions up in the library that the backend
 * loaded: dlopen("libamdhip64.so.6", RTLD_NOLOAD | RTLD_NOW), dlsym. */
#ifndef KW_TESTS_FAKE_HIP_H
#define KW_TESTS_FAKE_HIP_H

/* Forgets what was called and asked for. */
typedef void fake_hip_reset_call(void);
/* From the so-many-th call of a function on (1: the next), it gives this error; one of the sticky kind is then given by all calls. */
typedef void fake_hip_fail_call(const char *function, int error, int nth);
/* The names of the functions called since the reset, each followed by a blank; of a launch also "[GRID x BLOCK on STREAM]", STREAM 0, 1, .. */
typedef const char *fake_hip_log_call(void);
/* How much is held by nobody's free: allocations, modules, streams, events. */
typedef int fake_hip_held_call(void);

#endif

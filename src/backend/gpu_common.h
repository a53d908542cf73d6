/* gpu_common.h: what the backends of real GPUs share: a driver that is loaded when it is first asked for, and launches. */
#ifndef KW_BACKEND_GPU_COMMON_H
#define KW_BACKEND_GPU_COMMON_H

#include "backend/backend.h"

/* A function of a driver's library: its name, and where the pointer to it goes in the backend's table of calls. spare: NULL goes there when the
 * driver has none. */
typedef struct kw_gpu_symbol {
    const char *name;
    size_t offset;
    bool spare;
} kw_gpu_symbol;

/* Loads the first of libraries (names, ended by NULL) that there is, and fills calls with the symbols (ended by a NULL name). false with the
 * reason in why: no such library, or one that lacks a function. The library stays with the process, as drivers start threads of their own. */
bool kw_gpu_driver_load(void *calls, const char *const libraries[], const kw_gpu_symbol symbols[], char why[256]);

/* "AMD Instinct MI300X" as the one word that a target's model is: what is neither letter, digit nor one of . _ becomes '-'. */
void kw_gpu_model(char model[48], const char *name);

/* A bound kernel, as far as it is the same for all drivers. */
typedef struct kw_gpu_launch {
    kw_cpu_args args; /* without its pointers */
    kw_stage shape[KW_STAGE_MAX];
    kw_map map[KW_MAP_MAX];
    int32_t stages;
} kw_gpu_launch;

/* exported: stages that the loaded kernel has. blocks, threads: the most that one launch may have of blocks, and of threads in all its blocks
 * together. */
typedef struct kw_gpu_limits {
    int32_t exported;
    int64_t blocks, threads;
} kw_gpu_limits;

/* KW_FAILED when family and text disagree about the stages, KW_NO_KERNEL when a stage is larger than a launch may be. */
kw_status kw_gpu_launch_bind(kw_gpu_launch *bound, const kw_problem *problem, const kw_launch *launch, kw_gpu_limits limits, kw_error *err);
/* Whether a stage is among the parts (KW_RUN_*) and has anything to do. */
bool kw_gpu_launch_has(const kw_gpu_launch *bound, int stage, int parts);
/* The kernel's only parameter. */
kw_cpu_args kw_gpu_launch_args(const kw_gpu_launch *bound, const kw_launch_memory *memory);

#endif

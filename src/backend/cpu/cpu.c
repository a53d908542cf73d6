/* cpu.c: the CPU as a device. Its memory is ordinary memory, its kernels are shared objects or compiled-in functions, and a launch returns
 * when it is done. All that can be worked out beforehand is, in bind; run copies the arguments, adds the pointers and calls.
 *
 * A process that forked after the device's threads were started has none of them: there kernels run on the calling thread alone. */
#include "backend/cpu/cpu.h"

#include "config/launch/team.h"
#include "config/launch/workspace.h"
#include "backend/cpu/cpu_run.h"
#include "base/math.h"
#include "base/os/process/fork.h"
#include "families/cpu/ahead.h"
#include "problem/epilogue/epilogue.h"

#include <stdlib.h>
#include <string.h>

struct kw_device {
    kw_target target;
    kw_cpu_threads threads;
    kw_fork_mark mark;
};

struct kw_kernel {
    void *handle; /* NULL for compiled-in families */
    kw_kernel_stage *stage[KW_STAGE_MAX];
};

struct kw_bound {
    kw_kernel_args args;
    kw_epilogue epilogue; /* that args points to */
    kw_kernel_stage *stage[KW_STAGE_MAX];
    kw_stage shape[KW_STAGE_MAX];
    kw_turning turning; /* copies of filters; no other ones */
    kw_cpu_filter filter_in, filter_back;
    kw_cpu_x_sums sums;
    int32_t sums_into; /* which of the epilogue's tensors they are */
    int32_t stages, threads;
    bool wake;   /* worth waking threads for */
    double work; /* in threads that have work enough */
    size_t thread_bytes;
    kw_fork_mark mark;
    const kw_cpu_threads *on;
};

static int cpu_probe(char why[256]) {
    (void)why;
    return 1;
}

static void cpu_close_device(kw_device **device) {
    if (*device) {
        kw_cpu_pool_destroy(&(*device)->threads.pool, kw_fork_mark_lost(&(*device)->mark));
        kw_fork_mark_close(&(*device)->mark);
    }
    free(*device);
    *device = NULL;
}

static kw_status cpu_open_device(kw_device **device, int index, int threads, kw_error *err) {
    if (index) {
        return kw_fail(err, KW_MISSING, "device cpu:%d: there is one CPU device, cpu:0", index);
    }
    if (threads < 0 || threads > KW_CPU_THREADS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "threads=%d; use 1 to %d, or 0 for all cores of the process", threads, KW_CPU_THREADS_MAX);
    }
    *device = calloc(1, sizeof **device);
    if (!*device || !((*device)->threads.pool = kw_cpu_pool_create())) {
        free(*device);
        *device = NULL;
        return kw_fail_memory(err, "a device");
    }
    kw_cpu_target(&(*device)->target, threads);
    const char *wanted = kw_cpu_wanted_arch();
    if (wanted && strcmp(wanted, (*device)->target.arch)) {
        kw_status status =
            kw_fail(err, KW_ENVIRONMENT, "KW_CPU_ARCH=%s: this CPU runs %s and what is weaker; unset it", wanted, (*device)->target.arch);
        kw_cpu_pool_destroy(&(*device)->threads.pool, false);
        free(*device);
        *device = NULL;
        return status;
    }
    if ((*device)->target.units > KW_CPU_THREADS_MAX) {
        (*device)->target.units = KW_CPU_THREADS_MAX;
    }
    (*device)->threads.most = (int)(*device)->target.units;
    kw_fork_mark_open(&(*device)->mark);
    return KW_OK;
}

static void cpu_use_threads(kw_device *device, const kw_host_threads *threads) {
    device->threads.host = *threads;
}

static const kw_target *cpu_device_target(const kw_device *device) {
    return &device->target;
}

static kw_status cpu_alloc_memory(kw_device *device, size_t size, void **memory, kw_error *err) {
    (void)device;
    return kw_cpu_alloc(memory, size, err);
}

static void cpu_release_memory(kw_device *device, void *memory) {
    (void)device;
    free(memory);
}

static kw_status cpu_copy_memory(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    (void)device;
    (void)err;
    memmove(to, from, size);
    return KW_OK;
}

static void cpu_unload_kernel(kw_device *device, kw_kernel **kernel) {
    (void)device;
    if (*kernel) {
        kw_cpu_unload(&(*kernel)->handle);
    }
    free(*kernel);
    *kernel = NULL;
}

static kw_status cpu_load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    *kernel = NULL;
    kw_status status = kw_config_runs(config, &device->target, err);
    if (status) {
        return status; /* such code would end the process */
    }
    *kernel = calloc(1, sizeof **kernel);
    if (!*kernel) {
        return kw_fail_memory(err, "a kernel");
    }
    if (config->family->builtin) {
        const kw_builtin *builtin = config->family->builtin(config);
        memcpy((*kernel)->stage, builtin->stage, sizeof(*kernel)->stage);
        return KW_OK;
    }
    status = kw_cpu_load(&(*kernel)->handle, (*kernel)->stage, blob, err);
    if (status) {
        cpu_unload_kernel(device, kernel);
    }
    return status;
}

static void cpu_unbind_kernel(kw_bound **bound) {
    free(*bound);
    *bound = NULL;
}

/* The kernel's own stages, and NULL for those that sum x or copy filters. */
static void place_stages(kw_bound *made, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch) {
    made->turning = launch->turning;
    if (made->turning.x_sums) {
        kw_cpu_x_sums_of(&made->sums, problem, launch->reorder.groups);
        made->sums_into = kw_epilogue_tensors(&problem->epilogue);
    }
    for (int i = made->turning.x_sums, own = 0; i < launch->stages; i++) {
        if (i == made->turning.filter_in - 1) {
            kw_cpu_filter_in(&made->filter_in, problem);
        } else if (i == made->turning.filter_back - 1) {
            kw_cpu_filter_back(&made->filter_back, problem);
        } else {
            made->stage[i] = kernel->stage[own++];
        }
    }
}

static kw_status cpu_bind_kernel(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch,
                                 kw_bound **bound, kw_error *err) {
    *bound = NULL;
    int own = launch->stages - launch->turning.x_sums - (launch->turning.filter_in > 0) - (launch->turning.filter_back > 0);
    for (int i = 0; i < own; i++) {
        if (i >= KW_STAGE_MAX || !kernel->stage[i]) {
            return kw_fail(err, KW_FAILED, "the launch has %d stages and the kernel exports %d; its family and its text disagree", own, i);
        }
    }
    kw_bound *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a bound kernel");
    }
    kw_args_fill(&made->args, problem, launch);
    made->epilogue = problem->epilogue;
    made->args.epilogue = &made->epilogue;
    made->args.ahead = &kw_cpu_ahead;
    made->stages = launch->stages;
    made->threads = (int32_t)kw_team_threads(launch, kw_problem_bytes(problem), device->target.units);
    made->wake = kw_team_wakes(launch, kw_problem_bytes(problem), made->threads);
    made->work = kw_team_work(launch, kw_problem_bytes(problem));
    made->thread_bytes = (size_t)kw_round_up(launch->thread_bytes, KW_WORKSPACE_ALIGN); /* as config/launch/workspace.h cuts it */
    made->mark = device->mark;
    made->on = &device->threads;
    place_stages(made, kernel, problem, launch);
    memcpy(made->shape, launch->stage, sizeof made->shape);
    *bound = made;
    return KW_OK;
}

static void *tensor_at(const kw_launch_memory *memory, int tensor) {
    return tensor < KW_TENSOR_COUNT ? memory->tensor[tensor] : (void *)(uintptr_t)memory->extra[tensor - KW_TENSOR_COUNT];
}

static void point_filter(kw_cpu_filter_run *run, const kw_cpu_filter *what, const kw_launch_memory *from, const kw_launch_memory *to) {
    run->what = what;
    for (int32_t i = 0; i < what->count; i++) {
        run->from[i] = tensor_at(from, what->tensor[i].tensor);
        run->to[i] = tensor_at(to, what->tensor[i].tensor);
    }
}

/* Runs the parts on at most so many threads; share_ns as of kw_cpu_work. */
static void run_parts(const kw_bound *bound, const kw_launch_memory *memory, int parts, int most, int64_t (*share_ns)[KW_CPU_THREADS_MAX]) {
    kw_cpu_work work;
    int64_t widest = 1;
    kw_launch_memory seen;
    kw_cpu_filter_run in, back;
    kw_cpu_x_sums_run sums;
    bool copies = bound->turning.filter_in || bound->turning.filter_back || bound->turning.x_sums;
    if (copies) {
        kw_stage_memory(&seen, &bound->turning, memory);
        point_filter(&in, &bound->filter_in, memory, &seen);
        point_filter(&back, &bound->filter_back, &seen, memory);
    }
    work.sums = &sums;
    work.sums_stages = parts & KW_RUN_REST ? bound->turning.x_sums : 0;
    if (work.sums_stages) {
        sums = (kw_cpu_x_sums_run){.what = &bound->sums, .x = memory->tensor[KW_X], .zero = memory->extra[0]};
        sums.rows = (int32_t *)(uintptr_t)seen.extra[bound->sums_into];
        sums.pixels = (int32_t *)(void *)((char *)memory->shared + bound->turning.x_sums_at);
    }
    work.args = bound->args;
    kw_args_point(&work.args, copies ? &seen : memory);
    work.thread_memory = memory->threads;
    work.thread_bytes = bound->thread_bytes;
    work.share_ns = share_ns;
    work.stages = 0;
    for (int i = 0; i < bound->stages; i++) {
        if ((parts & (bound->shape[i].packs ? KW_RUN_PACK : KW_RUN_REST)) && bound->shape[i].units > 0) {
            work.stage[work.stages] = bound->stage[i];
            work.filter[work.stages] = i == bound->turning.filter_in - 1 ? &in : &back;
            work.units[work.stages++] = bound->shape[i].units;
            widest = kw_max(widest, bound->shape[i].units);
        }
    }
    int64_t threads = kw_min(most, widest);
    kw_cpu_run(&work, bound->on, kw_fork_mark_lost(&bound->mark) ? 1 : (int)threads, bound->wake);
}

static kw_status cpu_run_kernel(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    (void)stream;
    (void)err;
    run_parts(bound, memory, parts, bound->threads, NULL);
    return KW_OK;
}

/* What a team gets done of what as many threads could that have nothing to do with each other: it meets behind each stage. */
#define TEAM_SHARE 0.8

typedef struct together {
    const kw_backend_call *calls;
    const int *item; /* those that one thread each runs */
} together;

static double work_of_item(void *user, int item) {
    const together *t = user;
    return t->calls[t->item[item]].bound->work;
}

static void run_item(void *user, int item) {
    const together *t = user;
    const kw_backend_call *call = &t->calls[t->item[item]];
    run_parts(call->bound, &call->memory, call->parts, 1, NULL);
}

static void run_by_team(const kw_backend_call *call) {
    run_parts(call->bound, &call->memory, call->parts, call->bound->threads, NULL);
}

/* A call that is more than a thread's part of all is run by its own team, one after the other. The others are run by a thread each, side by
 * side, unless their own teams would be done earlier: few calls do not share out evenly. */
static void run_all_together(const kw_backend_call calls[], int count) {
    enum { UNITS_OF_WAKE = 4 }; /* as kw_team_wakes */
    int item[KW_TOGETHER_MAX], items = 0, most = calls[0].bound->on->most;
    double all = 0, rest = 0, largest = 0, teams = 0;
    for (int i = 0; i < count; i++) {
        all += calls[i].bound->work;
    }
    for (int i = 0; i < count; i++) {
        const kw_bound *bound = calls[i].bound;
        if (bound->threads > 1 && bound->work > all / most) {
            run_by_team(&calls[i]);
            continue;
        }
        item[items++] = i;
        rest += bound->work;
        largest = bound->work > largest ? bound->work : largest;
        teams += bound->work / (bound->threads > 1 ? TEAM_SHARE * bound->threads : 1);
    }
    int threads = kw_fork_mark_lost(&calls[0].bound->mark) ? 1 : (int)kw_max(1, kw_min(kw_min(most, items), (int64_t)rest));
    if (teams < rest / threads + largest * (threads - 1) / threads) {
        for (int i = 0; i < items; i++) {
            run_by_team(&calls[item[i]]);
        }
        return;
    }
    together t = {calls, item};
    kw_cpu_run_list(&(kw_cpu_list){items, work_of_item, run_item, &t}, calls[0].bound->on, threads, rest >= UNITS_OF_WAKE * threads);
}

static kw_status cpu_run_together(const kw_backend_call calls[], size_t count, kw_error *err) {
    (void)err;
    run_all_together(calls, (int)count);
    return KW_OK;
}

static kw_status cpu_run_alone(const kw_bound *bound, const kw_launch_memory *memory, int parts, double *ns, kw_error *err) {
    int64_t share_ns[KW_STAGE_MAX][KW_CPU_THREADS_MAX] = {{0}};
    (void)err;
    run_parts(bound, memory, parts, bound->threads, share_ns);
    *ns = 0;
    for (int stage = 0; stage < KW_STAGE_MAX; stage++) {
        int64_t longest = 0;
        for (int share = 0; share < bound->threads; share++) {
            longest = kw_max(longest, share_ns[stage][share]);
        }
        *ns += (double)longest;
    }
    return KW_OK;
}

static int cpu_team(const kw_bound *bound) {
    int64_t widest = 1;
    for (int i = 0; i < bound->stages; i++) {
        widest = bound->shape[i].packs ? widest : kw_max(widest, bound->shape[i].units);
    }
    return (int)kw_min(bound->threads, widest);
}

const kw_backend kw_cpu_backend = {
    .id = KW_BACKEND_CPU,
    .probe = cpu_probe,
    .open = cpu_open_device,
    .close = cpu_close_device,
    .use_threads = cpu_use_threads,
    .target = cpu_device_target,
    .alloc = cpu_alloc_memory,
    .release = cpu_release_memory,
    .copy = cpu_copy_memory,
    .load = cpu_load_kernel,
    .unload = cpu_unload_kernel,
    .bind = cpu_bind_kernel,
    .unbind = cpu_unbind_kernel,
    .run = cpu_run_kernel,
    .run_together = cpu_run_together,
    .run_alone = cpu_run_alone,
    .team = cpu_team,
};

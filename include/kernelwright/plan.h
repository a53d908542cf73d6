/* plan.h: a problem and its kernel: made by a choice, run on tensors.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_PLAN_H
#define KERNELWRIGHT_PLAN_H

#include "registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In order of patience. What wisdom holds answers a request that is no more patient than the one that made it. */
typedef enum kw_mode {
    KW_MODE_DEFAULT = 0, /* KW_MODE in the environment, else KW_SHORTLIST */
    KW_FROZEN,           /* wisdom and cache only: no measuring, no compiling */
    KW_PREDICT,          /* the best by the model that serves, else by the analytic estimate; compiles it, measures nothing */
    KW_SHORTLIST,        /* verifies and measures the best few by the same once, and remembers the winner; one that was measured on a busy
                            machine (its samples spread by more than KW_SPREAD_MAX percent, 10) is measured again next time */
    KW_EXHAUSTIVE,       /* verifies and measures every kernel that serves the problem */
    KW_MODE_COUNT
} kw_mode;

enum { KW_WORKSPACE_NONE = -1 };

/* A zeroed member asks for its default: kernels are compared as they run with weights packed beforehand (kw_plan_pack_weights). */
typedef struct kw_plan_options {
    size_t size; /* sizeof(kw_plan_options) */
    kw_mode mode;
    int64_t workspace_max; /* bytes; 0: no limit, KW_WORKSPACE_NONE: no workspace at all */
    int32_t shortlist;     /* candidates that KW_SHORTLIST measures; 0: 8 */
    bool frozen_is_error;  /* a miss in KW_FROZEN is KW_NO_KERNEL; else the reference kernel answers */
    bool remeasure;        /* measure even when wisdom has an answer */
    bool fresh_weights;    /* w changes from run to run, as in training: choose by times that include packing it */
    kw_registry *registry; /* NULL: the context's default registry */
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_plan_options;

/* Immutable once made, except by kw_plan_pack_weights. Many threads may run one plan, each with its own workspace. */
typedef struct kw_plan kw_plan;

/* Never fails for want of a kernel on a legal problem, unless a condition of the options forbids every kernel. */
KW_API kw_status kw_plan_create(kw_plan **plan, kw_context *context, const kw_problem *problem, const kw_plan_options *options,
                                kw_error *err);
/* Runs that were queued must be done. */
KW_API void kw_plan_destroy(kw_plan **plan);

/* All memory is the caller's. x, w, y need the alignment of their type (64 bytes is faster), on a GPU 16 bytes. workspace:
 * kw_plan_workspace bytes, 64-byte aligned, contents of no meaning before and after. */
typedef struct kw_tensors {
    size_t size;     /* sizeof(kw_tensors) */
    void *x, *w, *y; /* the one that is written shares no element with the two others; one address for both is refused */
    void *workspace;
    /* Those of the epilogue, in the order of its steps; aligned as x is. One that has the result's shape and type may be the result itself:
     * each element is read before it is written. That of BIAS_GRADIENT is written. */
    const void *extra[KW_EXTRA_MAX];
    /* Of a grouped product (kw_gemm_dims.groups), one for each group: its rows are ends[g - 1] .. ends[g] - 1, of the first 0 .. ends[0] -
     * 1; none where the two are the same. Ascending, at most m. Rows behind the last end are not written. Memory of the device, read when the
     * kernel runs; on a CPU the call refuses ends that descend or are above m, on a GPU the kernel takes the nearest that are possible. */
    const int32_t *ends;
} kw_tensors;

/* Runs the kernel. Checks addresses, queues at most four launches (and packs weights among them, where they are not packed already); takes
 * no lock, and allocates nothing but, when more runs of the context are under way on a CPU than ever before, threads.
 *
 * stream: a CUstream or hipStream_t of the device. The launches are queued in it, behind what is there already, and the call returns at
 * once; an error of a kernel shows in what the caller calls next. All memory must stay, and the plan too, until they are done. The default
 * stream is one that frameworks use: name it by its documented handle, (void *)1 (CU_STREAM_LEGACY; hipStreamLegacy, where HIP has it) or
 * (void *)2 (per thread), as its usual name is NULL. Nothing is called that a stream which is captured into a graph forbids.
 *
 * With NULL, and always on the CPU, the call returns when the result is written. On a GPU the kernel then runs in a stream of the library's
 * own, which waits for no other: work of the caller's that it builds on must be done before.
 *
 * Infinities and NaNs. An element of the result that has one among the terms of its sum (padding gives none) is never a number: it is NaN
 * where IEEE 754 says so, and where that says infinity, this infinity or NaN. Any other element is its number, or NaN where a kernel
 * multiplies an infinity or NaN by zeros that stand for padding, or on a GPU and by tile registers (AMX) for other groups. That reaches no
 * further than the channels of the result whose weights hold it (backward weight: the channels of x and y that hold it), where groups are
 * multiplied so also the same pixel in other groups.
 * So which of these elements are NaN may differ from kernel to kernel, and with what wisdom holds; elements without one in reach do not.
 * A result beyond its type's range is an infinity; sums are formed in fp32, in any order. Denormals count as their value or as zero,
 * and the sign of a zero is not kept. int8 has none of this; its sums must fit 32 bits. */
KW_API kw_status kw_plan_run(const kw_plan *plan, const kw_tensors *tensors, void *stream, kw_error *err);
/* Runs plans of one context, plans[i] with tensors[i], that have nothing to do with each other: as kw_plan_run does, in any order and on a CPU
 * side by side, small ones on a thread each. So products whose m, n and k all differ share the cores (grouped GEMM of cuBLASLt, CK). What one
 * writes no other may read or write, workspaces included; that no two write the same memory is checked (docs/problems/grouped-products.md), as
 * everything else is, before anything runs. On a GPU those that join (kw_plans_join) are one launch, the others are queued one behind the other, and
 * with a stream NULL the call waits once. */
KW_API kw_status kw_plans_run(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err);
/* Makes ready that kw_plans_run takes the products among these plans, whatever their m, n and k, in one launch of a GPU: a kernel that reads the sizes
 * and addresses of each from a table is chosen by the estimate, compiled where it is not cached, and remembered by each plan of a problem and its copies,
 * wherever two of them meet in a later call. What would take longer so, or is served by no such kernel, stays as it is; so does all on a CPU. Where text
 * is not NULL, *text becomes a line for each launch and each plan that is left out, which the caller frees with kw_free; each plan's own explanation
 * (kw_plan_explain) says the same of it. */
KW_API kw_status kw_plans_join(char **text, const kw_plan *const plans[], size_t count, kw_error *err);
/* Runs the plan so many times, one after the other, and gives the time of one: by the clock that kw_context_clock names, the one that
 * measuring goes by too. One run should be made before it. Takes a moment of its own to set up; for work that is timed, not for work that
 * is done. */
KW_API kw_status kw_plan_time(double *ns, const kw_plan *plan, const kw_tensors *tensors, int32_t calls, kw_error *err);
/* Bytes of workspace that kw_plan_run needs. Smaller after kw_plan_pack_weights. */
KW_API int64_t kw_plan_workspace(const kw_plan *plan);
/* Copies w into the plan in the kernel's own order, once, for weights that stay the same; from then on tensors.w may be NULL. Call it again
 * after the weights changed. Not while the plan runs, queued runs included, and not before w is written: on a GPU it reads w in a stream of
 * its own, and it returns when that is done. A kernel that wants no packing leaves all as it is: then kw_plan_wants_packing is false and
 * tensors.w stays needed. */
KW_API kw_status kw_plan_pack_weights(kw_plan *plan, const void *w, kw_error *err);
KW_API bool kw_plan_wants_packing(const kw_plan *plan);

#ifdef __cplusplus
}
#endif
#endif

/* sweep_build.h: the kernels of a sweep are compiled before anything is measured, so that no compiler disturbs a timing. */
#ifndef KW_SWEEP_SWEEP_BUILD_H
#define KW_SWEEP_SWEEP_BUILD_H

#include "jit/open.h"
#include "sweep/sweep_plan.h"

/* Compiler, cache and log folder. */
typedef struct kw_sweep_toolchain {
    kw_arena arena;
    kw_jit_handle handle;
    const char *cache_folder;
    int64_t spill_limit; /* bytes, for kw_resources_check */
} kw_sweep_toolchain;

/* Where the user's cache cannot be written, OUT.kernels is used. toolchain must be zeroed; close it also after a failure. */
kw_status kw_sweep_toolchain_open(kw_sweep_toolchain *toolchain, const kw_sweep_options *options, kw_error *err);
/* Looks for the compiler of the target's kernels; that there is none is a note. */
kw_status kw_sweep_toolchain_find(kw_sweep_toolchain *toolchain, const kw_sweep_options *options, const kw_target *target, kw_error *err);
void kw_sweep_toolchain_close(kw_sweep_toolchain *toolchain);

/* Chooses the kernel that is timed beside all others: the first of set "tiny" that serves problem, which is filled. false: there is none.
 */
bool kw_sweep_control_find(kw_config *config, kw_problem *problem, const kw_target *target);

/* Builds the kernels that are wanted, and control (NULL: none). A kernel that the compiler refuses, or that needs more than it may, is
 * marked as refused; an error means that the environment fails. Sets report's built, cached and build_s. After options->stop, or when the
 * budget is spent, what is missing is left as it is. */
kw_status kw_sweep_build(kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain, kw_sweep_kernel *control,
                         const kw_sweep_options *options, kw_sweep_report *report, kw_error *err);

/* Makes sure that a kernel that was built is still in the cache: during a long sweep somebody may have cleared it. */
kw_status kw_sweep_rebuild_missing(const kw_sweep_toolchain *toolchain, const kw_sweep_kernel *kernel, kw_error *err);

#endif

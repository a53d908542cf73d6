/* evaluate_kernel.h: load, verify, time, classify: what becomes of a kernel on a problem. Autotuning, kw_measure and the workers of a sweep
 * all ask here, so that an outcome does not depend on who measured:
 *
 *     the config does not serve the problem, or not this device                        KW_UNFIT
 *     it cannot be had: the compiler refused it, it is not cached, its blob is broken  KW_UNCOMPILED
 *     there is no room on the disk to compile or load it: of the kernel that says       KW_UNTRIED
 *     nothing, so it gets no row; detail says what was wanting
 *     the device has less shared memory than a block wants                             KW_TOO_MUCH_LDS
 *     no memory to load, bind or run it                                                KW_UNLAUNCHED
 *     a launch fails and the device goes on                                            KW_UNLAUNCHED
 *     a launch fails and the device cannot be used any more                            KW_CRASHED
 *     the rest is verification's and timing's: KW_GOOD, KW_WRONG, KW_MISTRUSTED, KW_SLOW
 */
#ifndef KW_MEASURE_EVALUATE_KERNEL_H
#define KW_MEASURE_EVALUATE_KERNEL_H

#include "measure/measure.h"

/* A kernel to be had, and how: load gives what the caller keeps it as. */
typedef struct kw_kernel_load {
    const kw_config *config;
    const kw_problem *problem; /* that it is to serve; NULL: whether it does was asked before */
    const kw_target *target;
    kw_status (*load)(void *user, const kw_config *config, kw_error *err);
    void *user;
} kw_kernel_load;

/* Has the kernel loaded. KW_OK: it is. Any other status says why not, and record, with outcome and detail, what that means for the kernel.
 */
kw_status kw_evaluate_load(const kw_kernel_load *kernel, kw_record *record, kw_error *err);
/* What became of a kernel that could not be loaded, though the target runs its config. */
kw_outcome kw_load_outcome(kw_status status);

/* Verifies a loaded kernel and, where it is right and timing is not NULL, times it. What goes wrong is the record's; KW_ENVIRONMENT: the
 * device cannot be used any more, and the record is KW_CRASHED. */
kw_status kw_evaluate_run(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, const kw_timing_options *timing,
                          kw_record *record, kw_error *err);
/* Times one that was verified; the rest as above. */
kw_status kw_evaluate_time(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, const kw_timing_options *timing,
                           kw_record *record, kw_error *err);
/* What a launch that failed says of the kernel, where the caller launched: why becomes the record's. KW_ENVIRONMENT as above. */
kw_status kw_evaluate_fail_launch(kw_record *record, const kw_error *why, kw_error *err);

#endif

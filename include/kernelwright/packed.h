/* packed.h: packed weights as an object, for many plans, threads and processes.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_PACKED_H
#define KERNELWRIGHT_PACKED_H

#include "plan.h"
#include "record.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Packed weights as an object: bytes in memory of the caller's (on a GPU of the device's), of which a header says whose they are. They may be
 * used by any number of plans with that kernel and those weights, by many threads at once, and in other processes: written to a file and
 * mapped. kw_plan_pack_weights is the same in memory of the library's. Plans may differ in their batch (m of a product, n of a
 * convolution) and in pitches: most kernels pack in one order whatever these are. Kernels of tile registers may have two; then a plan of
 * the other one refuses the weights, and the error says so.
 *     int64_t bytes = kw_packed_bytes(plan);                                       0: the kernel wants no packing
 *     kw_packed_make(packed, plan, w, &err) || kw_plan_use_packed(plan, packed, bytes, &err)
 * Bytes of the whole, header included. */
KW_API int64_t kw_packed_bytes(const kw_plan *plan);
/* Packs w into kw_packed_bytes of memory, 64-byte aligned, and returns when it is done; on a GPU as kw_plan_pack_weights reads w. KW_NO_KERNEL:
 * the kernel wants no packing. */
KW_API kw_status kw_packed_make(void *packed, const kw_plan *plan, const void *w, kw_error *err);
/* From now on the plan reads these weights, which are not copied and must stay, and tensors.w may be NULL; not while the plan runs. Weights of
 * another kernel, of another shape or another release are KW_NO_KERNEL, and the plan stays as it was. Reads the header alone. packed NULL: the
 * plan reads w again. */
KW_API kw_status kw_plan_use_packed(kw_plan *plan, const void *packed, int64_t bytes, kw_error *err);
/* Reads all of it, on a device of the context's: KW_MALFORMED where it is not what was made. */
KW_API kw_status kw_packed_check(kw_context *context, const void *packed, int64_t bytes, kw_error *err);
/* The config they are for: a plan that is made from a registry with this one alone can use them, whatever its batch. */
KW_API kw_status kw_packed_config(char config[KW_CONFIG_TEXT_MAX], kw_context *context, const void *packed, int64_t bytes, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif

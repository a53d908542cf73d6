/* sweep_roofs.h: what the GPU of a sweep does at most. */
#ifndef KW_SWEEP_SWEEP_ROOFS_H
#define KW_SWEEP_SWEEP_ROOFS_H

#include "sweep/worker/worker_client.h"
#include "sweep/sweep_build.h"

/* What the line that the measuring process prints begins with: "roofs TYPE=RATE ... memory=RATE". */
#define KW_ROOFS_HEAD "roofs "

/* The types of the plan's pairs, and memory, as "bf16=959000000000000 memory=3956000000000"; "" with a remark where they cannot be had. */
void kw_sweep_roofs(char *text, size_t capacity, const kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain,
                    const kw_worker_client_options *device_worker);

#endif

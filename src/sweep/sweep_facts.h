/* sweep_facts.h: what a sweep says of itself. */
#ifndef KW_SWEEP_SWEEP_FACTS_H
#define KW_SWEEP_SWEEP_FACTS_H

#include "sweep/sweep_build.h"

/* Fills run; device is the device's name for people. Measures the roofs (some tenths of a second) where the plan has something to time. */
kw_status kw_sweep_fill_run(kw_run *run, const kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain, const kw_sweep_options *options,
                            const char *device, kw_error *err);

#endif

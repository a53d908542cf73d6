/* tensors.h: device memory for a problem's tensors with random data in it. */
#ifndef KW_CLI_TENSORS_H
#define KW_CLI_TENSORS_H

#include "cli.h"

/* Tensors of the problem and, if bytes > 0, a workspace. Inputs hold random values of magnitude up to 1 (int8: up to 8), never zeros alone. */
int cli_tensors(kw_tensors *tensors, kw_context *context, const kw_problem *problem, int64_t workspace, uint64_t seed);
/* Whether the device has memory for the problem's tensors, asked before kernels are compiled for a problem that cannot run. */
int cli_tensors_room(kw_context *context, const kw_problem *problem);
void cli_tensors_free(kw_tensors *tensors, kw_context *context);

#endif

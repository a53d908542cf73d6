/* run.h: what the files of the verb run share. */
#ifndef KWRIGHT_RUN_H
#define KWRIGHT_RUN_H

#include "cli.h"

/* A plan for the problem under the options; with kernels named on the command line only those are candidates. */
int cli_make_plan(kw_plan **plan, kw_context *context, kw_registry *registry, const kw_problem *problem, const cli_args *args);
/* --together: all problems of the list in one call, beside one call each. */
int cli_run_together(kw_context *context, kw_registry *registry, const cli_problem_list *list, const cli_args *args);

#endif

/* sweep.h: what the files of the verb sweep share. */
#ifndef KW_CLI_SWEEP_H
#define KW_CLI_SWEEP_H

#include "cli.h"

/* Progress on standard error: the bar on a terminal, JSON lines elsewhere, nothing with --quiet. */
typedef struct sweep_progress {
    cli_bar bar;
    char phase[16];
    kw_sweep_progress last;
} sweep_progress;

void sweep_progress_start(sweep_progress *progress, const cli_args *args);
/* The callback of kw_sweep_options; user is the sweep_progress, here and below. */
void sweep_progress_show(void *user, const kw_sweep_progress *now);
/* A remark, for the log of kw_sweep_options. */
void sweep_progress_log(void *user, const char *line);
/* Clears the line; elsewhere a last line says what the sweep came to. */
void sweep_progress_end(sweep_progress *progress, const kw_sweep_report *report);

/* The table on standard output, or JSON. */
typedef struct sweep_result {
    const kw_sweep_report *report;
    int devices;
    size_t kernels, problems; /* 0: unknown, the pairs come from a manifest */
    const char *out;          /* may be NULL when only counting */
    int32_t shard, shards;    /* shards 0: no shard, else the rows are in a segment beside out */
    bool counted;
} sweep_result;
void sweep_print(const sweep_result *result, bool json);

/* A sweep of what a model most needs to know (--where-model-errs): options has kernels, problems of lists, and how to measure. */
int sweep_plan_view(const cli_args *args, const kw_sweep_options *options);

#endif

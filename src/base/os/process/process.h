/* process.h: child processes without a shell. Each is a process group of its own, which ends when it is waited for, and with this process. */
#ifndef KW_BASE_OS_PROCESS_PROCESS_H
#define KW_BASE_OS_PROCESS_PROCESS_H

#include "base/status.h"
#include "base/text.h"

typedef struct kw_process_result {
    int exit_code;  /* -1 when a signal ended it */
    int signal;     /* 0, or the signal that ended it */
    bool timed_out; /* it ran past its limit, or was told to stop, and was killed */
    int64_t cpu_ns; /* user and system time of the child and what it waited for */
} kw_process_result;

/* Runs argv[0] (a path, or a name looked up on PATH), waits for it and collects what it prints on standard output and standard error
 * together, up to 1 MiB (the rest is read and dropped). Standard input is empty. LC_ALL is set to C so that messages can be read by programs.
 * A child that cannot be started is KW_ENVIRONMENT; a child that fails is KW_OK with its exit code. limit_ns: 0 for none. */
kw_status kw_process_run(const char *const argv[], int64_t limit_ns, kw_text *output, kw_process_result *result, kw_error *err);
/* The same for a program of which more is to be said. */
typedef struct kw_process_job {
    const char *const *argv;
    int64_t limit_ns;
    const kw_stop *stop;   /* when it is requested the child is killed within a tenth of a second, as at its limit; may be NULL */
    const char *temporary; /* its TMPDIR; NULL: this process's */
} kw_process_job;

kw_status kw_process_run_job(const kw_process_job *job, kw_text *output, kw_process_result *result, kw_error *err);

#endif

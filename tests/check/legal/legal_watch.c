/* legal_watch.c: signal handlers print with stdio, which is not allowed in general; here the process is lost anyway, and the kernel's name is
 * all that matters. */
#include "check/legal/legal_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { PROBLEM_SECONDS = 60 };

static struct {
    char arch[64], problem[KW_PROBLEM_TEXT_MAX];
    const kw_config *config;
} asked;

void legal_watch_tell(void) {
    char config[KW_CONFIG_TEXT_MAX] = "";
    if (asked.config) {
        kw_config_print(config, sizeof config, asked.config);
    }
    fprintf(stderr, "asked on %s: %s\n  %s\n", asked.arch, asked.problem, config);
}

static void end_by_signal(int signal) {
    fprintf(stderr, "signal %d%s\n", signal, signal == SIGPROF ? ": more than a minute of processor time for one problem" : "");
    legal_watch_tell();
    _exit(1);
}

/* UBSan calls it when it has found something. */
void __ubsan_on_report(void);
void __ubsan_on_report(void) {
    legal_watch_tell();
}

void legal_watch_start(void) {
    static const int signals[] = {SIGFPE, SIGSEGV, SIGABRT, SIGPROF};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], end_by_signal);
    }
}

void legal_watch_problem(const char *arch, const kw_problem *problem) {
    snprintf(asked.arch, sizeof asked.arch, "%s", arch);
    kw_problem_print(asked.problem, sizeof asked.problem, problem);
    /* Of the process alone, however busy the machine is. */
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = PROBLEM_SECONDS}, NULL);
}

void legal_watch_config(const kw_config *config) {
    asked.config = config;
}

int64_t legal_number(const char *variable, int64_t fallback) {
    const char *text = getenv(variable);
    return text && *text ? strtoll(text, NULL, 10) : fallback;
}

/* signals.c: Ctrl-C and SIGTERM. What a verb has begun decides what they do:
 *
 *     nothing that would be left behind      the process ends at once
 *     a context (compiles, measurings)       cli_stop_soon: the library is asked to stop; what goes on a second later is ended
 *     rows that are being written            cli_stop_in_order: the same without a limit, and a second signal sets that limit
 *
 * Compilers and workers end with this process in any case (src/base/os/process/lifeline.h). Handlers do what is allowed in handlers. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 1 };

static kw_stop stop;
static volatile sig_atomic_t terminal, soon, in_order;

static void leave_now(int signal_number) {
    static const char erase[] = "\r\033[K", words[] = "kwright: interrupted\n";
    (void)signal_number;
    (void)!(terminal && write(2, erase, sizeof erase - 1) < 0);
    (void)!write(2, words, sizeof words - 1);
    _Exit(CLI_STOPPED);
}

static void take_signal(int signal_number) {
    bool first = !kw_stop_requested(&stop);
    if (!soon && !in_order) {
        leave_now(signal_number);
    }
    kw_stop_request(&stop);
    if (soon ? first : !first) {
        alarm(LIMIT_S);
    }
}

void cli_watch_signals(void) {
    struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_RESTART}, last = {.sa_handler = leave_now};
    terminal = isatty(2) == 1;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &last, NULL);
}

const kw_stop *cli_stop_soon(void) {
    soon = !in_order;
    return &stop;
}

const kw_stop *cli_stop_in_order(void) {
    soon = 0;
    in_order = 1;
    return &stop;
}

bool cli_is_interrupted(void) {
    return soon && kw_stop_requested(&stop);
}

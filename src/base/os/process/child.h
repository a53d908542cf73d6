/* child.h: a child process that one talks to in lines, for work that may end its process. It leads a process group of its own, has one
 * socket as standard input and output, a pipe as standard error, and nothing else of this process but one descriptor that is handed over
 * (before glibc 2.34: and what the host program opened without close-on-exec).
 * Nothing here touches signal handlers: writing to a child that is gone is an ordinary failure. */
#ifndef KW_BASE_OS_PROCESS_CHILD_H
#define KW_BASE_OS_PROCESS_CHILD_H

#include "base/status.h"
#include "base/text.h"

enum { KW_CHILD_LINE_MAX = 4096, KW_CHILD_TAIL_MAX = 400, KW_CHILD_HANDED = 3 };

/* A zeroed kw_child is none. */
typedef struct kw_child {
    int pid; /* 0: none */
    int lines, errors;
    size_t begin, end; /* of what was read and not yet given out */
    size_t tail_size;
    char buffer[2 * KW_CHILD_LINE_MAX];
    char tail[KW_CHILD_TAIL_MAX]; /* the last that it wrote to standard error */
} kw_child;

/* How a child ended. */
typedef struct kw_child_end {
    bool killed; /* by kw_child_stop, since it had not ended by itself */
    bool known;  /* false: this program's host took the status (SIGCHLD ignored, or a wait for any child) */
    int exit_code, signal;
} kw_child_end;

typedef enum kw_child_event {
    KW_CHILD_LINE,  /* a line came */
    KW_CHILD_QUIET, /* none came in time */
    KW_CHILD_ENDED, /* it ended, or closed its output */
    KW_CHILD_LONG   /* it wrote more than a line can hold */
} kw_child_event;

/* argv[0]: a path, or a name looked up on PATH. handed: a descriptor that the child gets as number KW_CHILD_HANDED; -1: none. */
kw_status kw_child_start(kw_child *child, const char *const argv[], int handed, kw_error *err);
/* All bytes within limit_ns; false when the child does not take them. */
bool kw_child_send(kw_child *child, const char *bytes, size_t size, int64_t limit_ns);
/* Waits for a line until a time of the monotonic clock, or until a signal comes; the line lives until the next call. */
kw_child_event kw_child_read(kw_child *child, int64_t until_ns, kw_word *line);
/* Whether it has ended, reaped or not. */
bool kw_child_has_exited(const kw_child *child);
/* Closes its input, waits so long for it to end by itself, kills its process group and reaps it. child is none then, but its tail stays. */
kw_child_end kw_child_stop(kw_child *child, int64_t patience_ns);
/* The last line of the tail that is not empty; not terminated. */
kw_word kw_child_error_tail(const kw_child *child);

#endif

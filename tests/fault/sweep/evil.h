/* evil.h: kernels that do what no kernel should. Each is a real kernel whose first stage is called through kw_stage0 below, behind a piece
 * of C. `call` counts the launches in this process, from 1; honest() does what the kernel is for. */
#ifndef KW_TESTS_FAULT_EVIL_H
#define KW_TESTS_FAULT_EVIL_H

#include <kernelwright.h>

/* What a sanitizer changes: signals become reports, memory has other limits. Cases marked so are for builds without one. */
enum { ANYWHERE = 0, PLAIN_BUILD = 1 };

typedef struct evil {
    const char *name, *body;
    kw_outcome outcome;
    const char *detail; /* what it must say, besides "retried alone" for what crashed or timed out */
    int where;
} evil;

/* The C library is there when a kernel is loaded; its headers are not. */
static const char evil_head[] =
    "\n#undef kw_stage0\n"
    "typedef unsigned long evil_size;\n"
    "void abort(void); void exit(int); void _exit(int); int raise(int); int kill(int, int); int fork(void);\n"
    "int pause(void); int close(int); void *malloc(evil_size); void pthread_exit(void *); int unlink(const char *);\n"
    "long write(int, const void *, evil_size); int close_range(unsigned, unsigned, int);\n"
    "static int evil_deep(volatile char *above) {\n"
    "    volatile char room[4096]; room[0] = above[0]; return evil_deep(room) + room[1];\n"
    "}\n"
    "static char evil_block[1 << 20];\n"
    "static int call;\n";
static const char evil_frame[] =
    "__attribute__((visibility(\"default\"))) void kw_stage0(const kw_kernel_args *a, kw_i64 b, kw_i64 e, void *own) {\n"
    "    call++;\n"
    "%s\n"
    "}\n";
#define HONEST " kw_honest(a, b, e, own);"
/* Verifying takes two launches, one on integers and one on real data. The third is the first that is timed: how many follow it is up to the
 * machine, which may be so slow or so busy that two or three are enough. The check after timing is told by the result, poisoned once more. */
#define FIRST_TIMED "call == 3"
#define LATE_CHECK "call > 3 && *(unsigned char *)a->y == 0x7f && ((unsigned char *)a->y)[5] == 0x7f"

static const evil evils[] = {
    {"a wild pointer", "*(volatile int *)8 = 1;", KW_CRASHED, "signal 11 (SIGSEGV) while it was verified", PLAIN_BUILD},
    {"abort", "abort();", KW_CRASHED, "signal 6 (SIGABRT) while it was verified", ANYWHERE},
    {"an illegal instruction", "__builtin_trap();", KW_CRASHED, "signal 4 (SIGILL) while it was verified", PLAIN_BUILD},
    {"a division by zero", "volatile int zero = 0, number = 7; number = number / zero;", KW_CRASHED,
     "signal 8 (SIGFPE) while it was verified", PLAIN_BUILD},
    {"a stack without end", "evil_block[0] = (char)evil_deep(evil_block);", KW_CRASHED, "signal 11 (SIGSEGV) while it was verified",
     PLAIN_BUILD},
    {"a bus error", "raise(7);", KW_CRASHED, "signal 7 (SIGBUS) while it was verified", PLAIN_BUILD},
    {"a loop without end", "for (;;) __asm__ volatile(\"\");", KW_TIMED_OUT, "while it was verified", ANYWHERE},
    {"a pause without end", "for (;;) pause();", KW_TIMED_OUT, "while it was verified", ANYWHERE},
    {"stopping itself", "raise(19);", KW_TIMED_OUT, "while it was verified", ANYWHERE},
    {"1 GB on standard output", "if (call == 1) for (int i = 0; i < 1024; i++) write(1, evil_block, sizeof evil_block);" HONEST, KW_GOOD,
     "", ANYWHERE},
    {"100 MB on standard error", "if (call == 1) for (int i = 0; i < 100; i++) write(2, evil_block, sizeof evil_block);" HONEST, KW_GOOD,
     "", ANYWHERE},
    {"output without end", "for (;;) write(1, evil_block, sizeof evil_block);", KW_TIMED_OUT, "while it was verified", ANYWHERE},
    {"errors without end", "for (;;) write(2, \"again and again\\n\", 16);", KW_TIMED_OUT, "while it was verified", ANYWHERE},
    {"closed standard output", "close(1);" HONEST, KW_GOOD, "", ANYWHERE},
    {"closed standard input, output and error", "close(0); close(1); close(2);" HONEST, KW_GOOD, "", ANYWHERE},
    {"closed descriptors, all of them", "close_range(0, ~0u, 0);" HONEST, KW_CRASHED, "descriptors were closed while it was verified",
     ANYWHERE},
    {"closed descriptors, then a loop", "close_range(0, ~0u, 0); for (;;) __asm__ volatile(\"\");", KW_CRASHED,
     "descriptors were closed while it was verified", ANYWHERE},
    {"_exit(0) without an answer", "_exit(0);", KW_CRASHED, "exit code 0 while it was verified", ANYWHERE},
    {"exit(3)", "exit(3);", KW_CRASHED, "exit code 3 while it was verified", ANYWHERE},
    {"an end of its thread", "pthread_exit(0);", KW_CRASHED, "exit code 0 while it was verified", PLAIN_BUILD},
    {"last words", "write(2, \"beware of the\\ndog\\n\", 18); abort();", KW_CRASHED, "it said: dog", ANYWHERE},
    {"200 processes, then a loop", "for (int i = 0; i < 200; i++) if (!fork()) for (;;) pause(); for (;;) __asm__ volatile(\"\");",
     KW_TIMED_OUT, "while it was verified", PLAIN_BUILD},
    {"200 processes, then an end", "for (int i = 0; i < 200; i++) if (!fork()) for (;;) pause(); _exit(5);", KW_CRASHED,
     "exit code 5 while it was verified", PLAIN_BUILD},
    {"200 processes left behind", "if (call == 1) for (int i = 0; i < 200; i++) if (!fork()) for (;;) pause();" HONEST, KW_GOOD, "",
     PLAIN_BUILD},
    {"a fault on the first timed launch", "if (" FIRST_TIMED ") *(volatile int *)8 = 1;" HONEST, KW_CRASHED,
     "signal 11 (SIGSEGV) while it was timed", PLAIN_BUILD},
    {"an end on the first timed launch", "if (" FIRST_TIMED ") _exit(9);" HONEST, KW_CRASHED, "exit code 9 while it was timed", ANYWHERE},
    {"a loop on the first timed launch", "if (" FIRST_TIMED ") for (;;) __asm__ volatile(\"\");" HONEST, KW_TIMED_OUT, "while it was timed",
     ANYWHERE},
    {"closed descriptors on the first timed launch", "if (" FIRST_TIMED ") close_range(0, ~0u, 0);" HONEST, KW_CRASHED,
     "descriptors were closed while it was timed", ANYWHERE},
    {"a fault only in the check", "if (" LATE_CHECK ") *(volatile int *)8 = 1;" HONEST, KW_CRASHED,
     "signal 11 (SIGSEGV) while it was checked again", PLAIN_BUILD},
    {"an end only in the check", "if (" LATE_CHECK ") _exit(4);" HONEST, KW_CRASHED, "exit code 4 while it was checked again", ANYWHERE},
    {"a wrong result only in the check", "if (" LATE_CHECK ") return;" HONEST, KW_WRONG, "after timing", ANYWHERE},
    {"a wrong result", "", KW_WRONG, "integer data", ANYWHERE},
    {"memory without end", "for (;;) { volatile char *more = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) more[i] = 1; }",
     KW_CRASHED, "signal 11 (SIGSEGV) while it was verified", PLAIN_BUILD},
    {"a terabyte at once", "volatile char *more = malloc((evil_size)1 << 40); *more = 1;", KW_CRASHED, "signal 11 (SIGSEGV)", PLAIN_BUILD},
    {"SIGKILL to its group", "kill(0, 9);", KW_CRASHED, "signal 9 (SIGKILL) while it was verified", ANYWHERE},
    {"SIGTERM to its group", "kill(0, 15);", KW_CRASHED, "signal 15 (SIGTERM) while it was verified", ANYWHERE},
    {"nonsense in every descriptor", "for (int i = 0; i < 256; i++) write(i, \"nonsense\\n\", 9);" HONEST, KW_CRASHED,
     "no answer of a worker: nonsense", ANYWHERE},
    {"nonsense on the first timed launch", "if (" FIRST_TIMED ") for (int i = 0; i < 256; i++) write(i, \"\\1\\2\\3\\n\", 4);" HONEST,
     KW_CRASHED, "no answer of a worker", ANYWHERE},
    {"a line without end in every descriptor", "for (int i = 0; i < 256; i++) write(i, evil_block, 9000);" HONEST, KW_CRASHED,
     "a line without end", ANYWHERE},
    {"a false end of the batch", "for (int i = 3; i < 256; i++) write(i, \"done kernel_ns=1\\n\", 17);" HONEST, KW_CRASHED,
     "no answer of a worker: done", ANYWHERE},
    {"a fault while it is loaded", HONEST "} __attribute__((constructor)) void evil_start(void) { abort();", KW_CRASHED,
     "signal 6 (SIGABRT) while it was loaded", ANYWHERE},
    {"a fault while it is unloaded", HONEST "} __attribute__((destructor)) void evil_stop(void) { abort();", KW_CRASHED,
     "signal 6 (SIGABRT) while it was unloaded", ANYWHERE},
    {"a fault once", "if (!unlink(EVIL_FILE)) abort();" HONEST, KW_GOOD, "at first: signal 6 (SIGABRT) while it was verified", ANYWHERE},
};
enum { EVILS = sizeof evils / sizeof *evils };

#endif

/* made_up.h: rows of a sweep that never was, the same every time: a machine with known roofs, kernels whose efficiency depends on the
 * problem, failures of every kind, and a control kernel that drifts. */
#ifndef KW_TEST_MADE_UP_H
#define KW_TEST_MADE_UP_H

#include <kernelwright_tune.h>

typedef struct made_up {
    int problems;  /* of a cycle of operations, types and sizes */
    double speed;  /* 1; 1.1: everything a tenth faster, for a second store */
    bool roofless; /* the run has measured no roofs */
    bool hostile;  /* names that try to break out of a page or a terminal */
    bool only_failures;
    bool controlless; /* every ninth row and the one behind it have no control beside them, so the first has none */
    int targets;      /* among which the problems are dealt out; 0: one. Roofs are those of the first */
} made_up;

#define MADE_UP_FP32_PEAK 1.2e11
#define MADE_UP_MEMORY 2.4e10

/* Calls run for each run, then row for each row; both return false to stop, and so does this then. */
bool made_up_visit(const made_up *what, bool (*run)(void *user, const kw_run *run), bool (*row)(void *user, const kw_row *row), void *user);

#endif

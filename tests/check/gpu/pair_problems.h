/* pair_problems.h: the problems that gpu_pairs checks a config on, each of another kind. */
#ifndef KW_TESTS_CHECK_GPU_PAIR_PROBLEMS_H
#define KW_TESTS_CHECK_GPU_PAIR_PROBLEMS_H

#include "config/config.h"
#include "families/gpu/mma/mma.h"

enum { PROBLEMS_MIN = 4, PROBLEMS_MAX = 6 };

/* A config on its way to its problems. */
typedef struct pair_subject {
    const kw_config *config;
    const kw_target *target;
    kw_mma mma;
    int64_t unit[3]; /* what c and k of a group must be multiples of, or m, n, k */
    bool single;     /* one channel a group */
    bool given;      /* channels are what `unit` says, and no more */
    bool one[3];     /* rows, columns or depth are one tile at most */
    bool channels_first;
    bool tf32; /* it serves problems that permit tf32 alone */
    kw_problem problems[PROBLEMS_MAX];
    size_t count;
    bool ragged;
} pair_subject;

/* Fills in problems that the config serves, and whether one is above a tile and no multiple of it. */
void pair_problems_find(pair_subject *s);

#endif

/* team.h: how many threads a launch runs on. A thread that is woken costs about 10 us, and on a machine that others use too it may not come
 * for a time slice (3 to 8 ms) while the rest of the team waits at the barrier. So a thread more is taken only for work that is worth it:
 * KW_TEAM_INSTRUCTIONS vector instructions or KW_TEAM_BYTES bytes of tensors and copies each, 10 to 20 us of either. Measured on two cores
 * a product of 128 takes as long on one thread as on two that were at rest (docs/results/2026-11-22/noise.md); OpenBLAS has a floor of the
 * same kind, 2^18 multiply-adds a thread. A launch that does not say what it does gets all. Tuning measures whether fewer or more are
 * better (dispatch/choose/measured_team.h); what it found is the launch's team. */
#ifndef KW_CONFIG_LAUNCH_TEAM_H
#define KW_CONFIG_LAUNCH_TEAM_H

#include "base/math.h"
#include "config/family.h"

#define KW_TEAM_INSTRUCTIONS 65536.0
#define KW_TEAM_BYTES 262144.0

/* A thread's share of so many units is done in pieces, of which others take over what it did not begin: cores are not equally fast (other
 * guests of a machine, the other half of a core), and a team is as slow as the last of its threads. */
enum { KW_TEAM_UNITS = 4 };

/* How many threads' worth of work there is. A load costs half a multiply-add: cores have two ports for it. */
static inline double kw_team_work(const kw_launch *launch, int64_t tensor_bytes) {
    double instructions = launch->multiply_adds > launch->loads / 2 ? launch->multiply_adds : launch->loads / 2;
    double bytes = (double)tensor_bytes + launch->copied_bytes;
    double by_instructions = instructions / KW_TEAM_INSTRUCTIONS, by_bytes = bytes / KW_TEAM_BYTES;
    double work = by_instructions > by_bytes ? by_instructions : by_bytes;
    return instructions > 0 && work < INT32_MAX ? work : INT32_MAX;
}

/* The threads of which each has work enough; at least 1. */
static inline int64_t kw_team_worth(const kw_launch *launch, int64_t tensor_bytes) {
    return kw_max(1, (int64_t)kw_team_work(launch, tensor_bytes));
}

/* Of so many threads those that the launch runs on; each stage takes no more than it has units. */
static inline int64_t kw_team_threads(const kw_launch *launch, int64_t tensor_bytes, int64_t threads) {
    return kw_max(1, kw_min(threads, launch->team ? launch->team : kw_team_worth(launch, tensor_bytes)));
}

/* Whether it is worth waking that team: each has four times as much to do as it takes to ask a thread that is awake. */
static inline bool kw_team_wakes(const kw_launch *launch, int64_t tensor_bytes, int64_t team) {
    return kw_team_worth(launch, tensor_bytes) >= 4 * team;
}

#endif

/* random.h: the one source of random numbers: splitmix64 (Steele, Lea and Flood, 2014). Every state is a good one to start from, so any seed
 * will do, and a seed gives the same numbers on every machine. */
#ifndef KW_BASE_STATISTICS_RANDOM_H
#define KW_BASE_STATISTICS_RANDOM_H

#include <assert.h>
#include <stdint.h>

static inline uint64_t kw_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 to end - 1. The share by which small numbers are likelier is end / 2^64. */
static inline uint64_t kw_random_below(uint64_t *state, uint64_t end) {
    assert(end);
    return kw_random(state) % end;
}

/* 0 to 1, without 1. */
static inline double kw_random_unit(uint64_t *state) {
    return (double)(kw_random(state) >> 11) / 9007199254740992.0;
}

#endif

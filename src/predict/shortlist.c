/* shortlist.c: see shortlist.h. A pure function of expected times. */
#include "predict/shortlist.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A family is strong when its best is expected to take at most so many times as long as the best of all. */
static const double reach = 1.5;

static int compare_expected(const void *a, const void *b) {
    const kw_candidate *left = a, *right = b;
    int order = kw_order_real(left->expected_ns, right->expected_ns);
    order = order ? order : kw_order_real(left->estimate_ns, right->estimate_ns);
    order = order ? order : left->tailored - right->tailored;
    return order ? order : left->config < right->config ? -1 : left->config > right->config;
}

void kw_candidates_sort(kw_candidate list[], size_t count) {
    if (count) {
        qsort(list, count, sizeof *list, compare_expected);
    }
}

/* Moves the candidate at from to the earlier place to, keeping the order of the others. */
static void move_candidate_up(kw_candidate list[], size_t from, size_t to) {
    kw_candidate moved = list[from];
    memmove(&list[to + 1], &list[to], (from - to) * sizeof moved);
    list[to] = moved;
}

static bool has_family(const kw_candidate list[], size_t count, const kw_family *family) {
    for (size_t i = 0; i < count; i++) {
        if (list[i].config->family == family) {
            return true;
        }
    }
    return false;
}

/* Moves to the places from taken on the best of each family that is not there yet and expected within the limit. */
static size_t take_families(kw_candidate list[], size_t count, size_t taken, size_t wanted, double limit_ns) {
    for (size_t i = taken; i < count && taken < wanted; i++) {
        if (list[i].expected_ns <= limit_ns && !has_family(list, taken, list[i].config->family)) {
            move_candidate_up(list, i, taken++);
        }
    }
    return taken;
}

static size_t best_estimate(const kw_candidate list[], size_t from, size_t count) {
    size_t best = from;
    for (size_t i = from + 1; i < count; i++) {
        best = list[i].estimate_ns < list[best].estimate_ns ? i : best;
    }
    return best;
}

/* Moves the best by estimate to the places from taken on; the first of them has one already where it is the model's best too. */
static size_t take_estimated(kw_candidate list[], size_t count, size_t taken, size_t wanted, size_t places) {
    for (size_t place = 0; place < places && taken < wanted; place++) {
        size_t best = best_estimate(list, taken, count);
        if (place || list[best].estimate_ns < list[0].estimate_ns) {
            move_candidate_up(list, best, taken++);
        }
    }
    return taken;
}

/* The same for families that the model never saw: it has no time for them, so the estimates of both sides say what is within reach. */
static size_t take_unknown(kw_candidate list[], size_t count, size_t taken, size_t wanted, double limit_ns) {
    for (size_t i = taken; i < count && taken < wanted; i++) {
        if (isinf(list[i].expected_ns) && list[i].estimate_ns <= limit_ns && !has_family(list, taken, list[i].config->family)) {
            move_candidate_up(list, i, taken++);
        }
    }
    return taken;
}

size_t kw_shortlist_take(kw_candidate list[], size_t count, size_t wanted, bool by_model) {
    size_t chosen = wanted < count ? wanted : count;
    if (!chosen) {
        return 0;
    }
    if (!by_model) {
        take_families(list, count, 0, chosen, INFINITY);
        /* Best estimate first again, so that the likely winner is measured early. */
        kw_candidates_sort(list, chosen);
        return chosen;
    }
    double limit_ns = reach * list[0].expected_ns, least_ns = list[best_estimate(list, 0, count)].estimate_ns;
    size_t places = chosen >= 8 ? chosen / 4 : 1, taken = take_estimated(list, count, 1, chosen, places);
    size_t last = taken + places < chosen ? taken + places : chosen;
    taken = take_unknown(list, count, taken, last, reach * least_ns);
    take_families(list, count, taken, chosen, limit_ns);
    return chosen;
}

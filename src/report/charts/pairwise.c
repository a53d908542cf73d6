/* pairwise.c: pairs of times for one problem. A difference inside the noise of the two is a tie: twice the standard error of the difference
 * of two lower quartiles, for which the interquartile range over the root of the number of samples stands (as in choosing, dispatch/tie.c). */
#include "report/charts/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times of one machine differ by this much from one day to the next even when each is precise, so less is no difference. */
static const double noise_floor = 0.01;

static int compare_duel(const void *a, const void *b) {
    const kw_duel *x = a, *y = b;
    return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio)
                                : (x->contest->first > y->contest->first) - (x->contest->first < y->contest->first);
}

static double error_of(const kw_entry *entry) {
    return entry->spread_ns / sqrt(entry->samples > 0 ? entry->samples : 1);
}

static bool is_tie(double ratio, const kw_entry *a, const kw_entry *b) {
    double ea = error_of(a) / a->score_ns, eb = error_of(b) / b->score_ns;
    return fabs(ratio - 1) <= fmax(noise_floor, 2 * sqrt(ea * ea + eb * eb));
}

/* The fastest generic kernel of a contest that has a time. */
static const kw_entry *find_generic(const kw_ledger *ledger, const kw_contest *contest) {
    const kw_entry *found = NULL;
    for (size_t e = contest->first; e < contest->first + contest->count; e++) {
        const kw_entry *entry = &ledger->entries[e];
        if (ledger->configs[entry->config].generic && entry->score_ns > 0 && (!found || entry->score_ns < found->score_ns)) {
            found = entry;
        }
    }
    return found;
}

kw_duel *kw_duels_generic(const kw_ledger *ledger, kw_arena *arena, uint32_t target, size_t *count) {
    kw_duel *duels = kw_arena_array(arena, ledger->contest_count + 1, sizeof *duels);
    *count = 0;
    for (size_t i = 0; i < ledger->contest_count && duels; i++) {
        const kw_contest *contest = &ledger->contests[i];
        const kw_entry *generic = contest->target == target ? find_generic(ledger, contest) : NULL;
        if (generic && contest->best != KW_NOWHERE) {
            const kw_entry *best = &ledger->entries[contest->best];
            double ratio = generic == best ? 1 : generic->score_ns / contest->oracle_ns;
            duels[(*count)++] = (kw_duel){contest, ratio, is_tie(ratio, generic, best)};
        }
    }
    if (*count) {
        qsort(duels, *count, sizeof *duels, compare_duel);
    }
    return duels;
}

uint32_t kw_duel_target(const kw_ledger *ledger, const kw_ledger *baseline, uint32_t target) {
    uint32_t same = kw_names_find(&baseline->target_names, ledger->targets[target].text), most = UINT32_MAX;
    for (uint32_t i = 0; i < baseline->target_names.count; i++) {
        bool more = most == UINT32_MAX || baseline->targets[i].answers > baseline->targets[most].answers;
        most = baseline->targets[i].answers && more ? i : most;
    }
    return same != UINT32_MAX && baseline->targets[same].answers ? same : most;
}

/* The contest of a problem by its numbers in the baseline; contests are sorted by them. */
static const kw_contest *find_contest(const kw_ledger *ledger, const kw_contest *wanted) {
    size_t low = 0, high = ledger->contest_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const kw_contest *at = &ledger->contests[middle];
        int64_t order = (int64_t)at->target - wanted->target;
        order = order ? order : (int64_t)at->problem - wanted->problem;
        order = order ? order : at->packed - wanted->packed;
        order = order ? order : at->cold - wanted->cold;
        if (!order) {
            return at;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

kw_duel *kw_duels_baseline(const kw_ledger *ledger, const kw_ledger *baseline, kw_arena *arena, const uint32_t targets[2], size_t *count) {
    kw_duel *duels = kw_arena_array(arena, ledger->contest_count + 1, sizeof *duels);
    *count = 0;
    for (size_t i = 0; i < ledger->contest_count && duels; i++) {
        const kw_contest *contest = &ledger->contests[i];
        kw_contest wanted = {.target = targets[1], .packed = contest->packed, .cold = contest->cold};
        wanted.problem = kw_names_find(&baseline->problem_names, ledger->problems[contest->problem].text);
        if (contest->target != targets[0] || contest->best == KW_NOWHERE || wanted.problem == UINT32_MAX) {
            continue;
        }
        const kw_contest *other = find_contest(baseline, &wanted);
        if (other && other->best != KW_NOWHERE) {
            double ratio = other->oracle_ns / contest->oracle_ns;
            bool tie = is_tie(ratio, &baseline->entries[other->best], &ledger->entries[contest->best]);
            duels[(*count)++] = (kw_duel){contest, ratio, tie};
        }
    }
    if (*count) {
        qsort(duels, *count, sizeof *duels, compare_duel);
    }
    return duels;
}

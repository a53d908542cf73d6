/* search_domain.h: a family as what a search draws from. Where a set chooses from the product of the axes, any values do. Where it lists
 * its points, axes depend on each other so much that values taken one by one are hardly ever a kernel: draws then begin at a listed
 * point that serves the problem, and depart from it by one axis. */
#ifndef KW_SEARCH_SEARCH_DOMAIN_H
#define KW_SEARCH_SEARCH_DOMAIN_H

#include "config/catalog.h"
#include "space/rules/points.h"

typedef struct kw_search_domain {
    size_t number; /* of the points */
    kw_point_family axes;
    kw_catalog listed; /* what the set lists, the filter wants and the problem fits */
} kw_search_domain;

/* empty: the set lists points of the family, and none of them is wanted and serves the problem. Closed with kw_catalog_drop(&listed). */
kw_status kw_search_domain_open(kw_search_domain *source, bool *empty, kw_points *points, size_t number, const kw_problem *problem,
                                const kw_target *target, kw_error *err);
/* A random point; config has the family, the operation and the type. */
void kw_search_domain_draw(const kw_search_domain *source, kw_config *config, uint64_t *state);
/* A child of four points: the first crossed with the second moved by factor times what leads from the fourth to the third, rounded to
 * values that there are; at least one axis comes from the move. Of listed points it is the one nearest to that, with one axis of its
 * own; plain is that point without it, and the child itself where nothing is listed. */
kw_config kw_search_domain_crossover(const kw_search_domain *source, const kw_config *const with[4], uint64_t *state, kw_config *plain);

/* A tile changes with its instruction and its stages, so that what lies beside a point differs on up to so many axes. */
enum { KW_SEARCH_BESIDE_AXES = 4 };
/* Listed points that differ from `of` on one axis, then those on two and so on, without those that are in seen: at most `most`. They are
 * pointers into listed. */
size_t kw_search_domain_beside(const kw_search_domain *source, const kw_config *of, const kw_catalog *seen, const kw_config *beside[],
                               size_t most);

/* A random number below limit. */
size_t kw_search_random_below(uint64_t *state, size_t limit);

#endif

/* search_domain.c: axes are searched by the positions of their values in the rules' lists, which ascend where an order means anything. */
#include "search/search_domain.h"

#include "base/statistics/random.h"
#include "base/statistics/stats.h"

#include <math.h>

static const double factor = 0.6, crossover = 0.7;

size_t kw_search_random_below(uint64_t *state, size_t limit) {
    return (size_t)(kw_random_below(state, limit));
}

kw_status kw_search_domain_open(kw_search_domain *source, bool *empty, kw_points *points, size_t number, const kw_problem *problem,
                                const kw_target *target, kw_error *err) {
    *source = (kw_search_domain){.number = number, .axes = kw_points_family(points, number)};
    const kw_catalog *all = source->axes.listed;
    kw_status status = KW_OK;
    for (size_t i = 0; all && i < all->count && !status; i++) {
        kw_config special;
        bool wanted = !kw_config_serves(&special, &all->configs[i], problem, target, NULL);
        status = wanted ? kw_points_contains(&wanted, points, number, &all->configs[i], err) : KW_OK;
        status = status || !wanted ? status : kw_catalog_add(&source->listed, &all->configs[i], NULL, err);
    }
    *empty = all && !source->listed.count;
    return status;
}

static int32_t draw_axis_value(const kw_search_domain *source, int axis, uint64_t *state) {
    return source->axes.values[axis][kw_search_random_below(state, (size_t)source->axes.count[axis])];
}

void kw_search_domain_draw(const kw_search_domain *source, kw_config *config, uint64_t *state) {
    int axes = config->family->axis_count;
    if (source->listed.count) {
        *config = source->listed.configs[kw_search_random_below(state, source->listed.count)];
        if (axes && kw_search_random_below(state, 2)) {
            int axis = (int)kw_search_random_below(state, (size_t)axes);
            config->axis[axis] = draw_axis_value(source, axis, state);
        }
        return;
    }
    for (int a = 0; a < axes; a++) {
        config->axis[a] = draw_axis_value(source, a, state);
    }
}

static int32_t value_position(const kw_search_domain *source, int axis, int32_t value) {
    int32_t at = 0;
    while (at + 1 < source->axes.count[axis] && source->axes.values[axis][at] != value) {
        at++;
    }
    return at;
}

static int count_differing_axes(const kw_config *a, const kw_config *b) {
    int count = 0;
    for (int i = 0; i < a->family->axis_count; i++) {
        count += a->axis[i] != b->axis[i];
    }
    return count;
}

/* The listed point that differs on the fewest axes; of several, one at random. */
static const kw_config *find_nearest_listed(const kw_search_domain *source, const kw_config *to, uint64_t *state) {
    size_t first = kw_search_random_below(state, source->listed.count), best = first;
    int least = count_differing_axes(&source->listed.configs[first], to);
    for (size_t i = 1; i < source->listed.count && least; i++) {
        size_t place = (first + i) % source->listed.count;
        int count = count_differing_axes(&source->listed.configs[place], to);
        if (count < least) {
            least = count;
            best = place;
        }
    }
    return &source->listed.configs[best];
}

size_t kw_search_domain_beside(const kw_search_domain *source, const kw_config *of, const kw_catalog *seen, const kw_config *beside[],
                               size_t most) {
    size_t count = 0;
    for (int differing = 1; differing <= KW_SEARCH_BESIDE_AXES; differing++) {
        for (size_t i = 0; i < source->listed.count && count < most; i++) {
            const kw_config *listed = &source->listed.configs[i];
            if (count_differing_axes(listed, of) == differing && !kw_catalog_has(seen, listed)) {
                beside[count++] = listed;
            }
        }
    }
    return count;
}

static kw_config draw_near_listed(const kw_search_domain *source, const kw_config *moved, uint64_t *state, kw_config *plain) {
    kw_config child = *plain = *find_nearest_listed(source, moved, state);
    int count = count_differing_axes(plain, moved), chosen = count ? (int)kw_search_random_below(state, (size_t)count) : -1;
    for (int i = 0; i < moved->family->axis_count; i++) {
        if (plain->axis[i] != moved->axis[i] && chosen-- == 0) {
            child.axis[i] = moved->axis[i];
        }
    }
    return child;
}

kw_config kw_search_domain_crossover(const kw_search_domain *source, const kw_config *const with[4], uint64_t *state, kw_config *plain) {
    kw_config moved = *with[0];
    int axes = moved.family->axis_count, sure = axes ? (int)kw_search_random_below(state, (size_t)axes) : 0;
    for (int a = 0; a < axes; a++) {
        int32_t at[4];
        for (int i = 1; i < 4; i++) {
            at[i] = value_position(source, a, with[i]->axis[a]);
        }
        double dice = kw_random_unit(state);
        double place = round(at[1] + factor * (at[2] - at[3]));
        double last = source->axes.count[a] - 1;
        if (a == sure || dice < crossover) {
            moved.axis[a] = source->axes.values[a][(int32_t)(place < 0 ? 0 : place > last ? last : place)];
        }
    }
    if (source->listed.count) {
        return draw_near_listed(source, &moved, state, plain);
    }
    *plain = moved;
    return moved;
}

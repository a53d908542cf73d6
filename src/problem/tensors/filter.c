/* filter.c: see filter.h. */
#include "problem/tensors/filter.h"

static const char *const names[KW_FILTER_ORDER_COUNT] = {
    [KW_FILTER_OF_LAYOUT] = "", [KW_FILTER_KRSC] = "krsc", [KW_FILTER_KCRS] = "kcrs", [KW_FILTER_CRSK] = "crsk", [KW_FILTER_RSCK] = "rsck"};

const char kw_filter_order_words[] = "krsc, kcrs, crsk, rsck";

const char *kw_filter_order_name(kw_filter_order order) {
    return names[order];
}

bool kw_filter_order_of_word(kw_filter_order *order, kw_word word) {
    for (int i = KW_FILTER_OF_LAYOUT + 1; i < KW_FILTER_ORDER_COUNT; i++) {
        if (kw_word_is(word, names[i])) {
            *order = (kw_filter_order)i;
            return true;
        }
    }
    return false;
}

static kw_filter_order of_layout(kw_layout layout) {
    return layout == KW_CHANNELS_FIRST ? KW_FILTER_KCRS : KW_FILTER_KRSC;
}

kw_filter_order kw_filter_order_of(const kw_problem *problem) {
    return problem->filter_order ? problem->filter_order : of_layout(problem->layout);
}

/* Of sizes that nobody has checked too, whose products may be any. */
static int64_t product(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static void extents(int64_t extent[KW_FILTER_STEPS], const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    extent[KW_FILTER_STEP_K] = d->k;
    extent[KW_FILTER_STEP_C] = d->g > 0 ? d->c / d->g : d->c;
    extent[KW_FILTER_STEP_TAP] = product(product(d->filter[0], d->filter[1]), d->filter[2]);
}

void kw_filter_steps(int64_t step[KW_FILTER_STEPS], const kw_problem *problem, kw_filter_order order) {
    /* From the innermost on. */
    static const int inner[KW_FILTER_ORDER_COUNT][KW_FILTER_STEPS] = {
        [KW_FILTER_KRSC] = {KW_FILTER_STEP_C, KW_FILTER_STEP_TAP, KW_FILTER_STEP_K},
        [KW_FILTER_KCRS] = {KW_FILTER_STEP_TAP, KW_FILTER_STEP_C, KW_FILTER_STEP_K},
        [KW_FILTER_CRSK] = {KW_FILTER_STEP_K, KW_FILTER_STEP_TAP, KW_FILTER_STEP_C},
        [KW_FILTER_RSCK] = {KW_FILTER_STEP_K, KW_FILTER_STEP_C, KW_FILTER_STEP_TAP},
    };
    int64_t extent[KW_FILTER_STEPS], next = 1;
    extents(extent, problem);
    for (int i = 0; i < KW_FILTER_STEPS; i++) {
        int axis = inner[order ? order : of_layout(problem->layout)][i];
        step[axis] = next;
        next = product(next, extent[axis]);
    }
}

static bool same_places(const kw_problem *problem, kw_filter_order a, kw_filter_order b) {
    int64_t extent[KW_FILTER_STEPS], one[KW_FILTER_STEPS], other[KW_FILTER_STEPS];
    bool same = true;
    extents(extent, problem);
    kw_filter_steps(one, problem, a);
    kw_filter_steps(other, problem, b);
    for (int i = 0; i < KW_FILTER_STEPS; i++) {
        same &= extent[i] == 1 || one[i] == other[i];
    }
    return same;
}

kw_filter_order kw_filter_order_normal(const kw_problem *problem) {
    kw_filter_order said = problem->filter_order;
    if (problem->op == KW_GEMM || (unsigned)said >= KW_FILTER_ORDER_COUNT) {
        return said;
    }
    for (int i = KW_FILTER_OF_LAYOUT; i < (int)said; i++) {
        if (same_places(problem, (kw_filter_order)i, said)) {
            return (kw_filter_order)i;
        }
    }
    return said;
}

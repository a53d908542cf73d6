/* tailor.c: see tailor.h. Lists have few tiles of one vector of results, which may have as many pixels as there are registers, and none of five vectors,
 * which few problems have: these are made when a problem asks, of fp32. */
#include "families/cpu/tailor.h"

#include "base/math.h"
#include "problem/view.h"

enum {
    WIDTHS = 2,     /* of an isa */
    TILES_MOST = 6, /* in a row: with more of them it matters little how the last one ends */
    VECS = 5,       /* four or fewer are listed; six and seven leave too few pixels to share what is loaded of the weights */
    BLOCKS_MOST = 2 /* of so many vectors: of more, the vectors that the last block of a listed tile lacks are few */
};

typedef struct widths {
    int32_t width[WIDTHS];
    int64_t over[WIDTHS]; /* pixels that all tiles have more than the row */
    size_t count;
} widths;

/* Those that have the fewest pixels too many, the widest first. */
static void keep_width(widths *w, int64_t width, int64_t over) {
    size_t at = w->count;
    while (at > 0 && w->over[at - 1] > over) {
        at--;
    }
    if (at == WIDTHS) {
        return;
    }
    w->count += w->count < WIDTHS;
    for (size_t i = w->count - 1; i > at; i--) {
        w->width[i] = w->width[i - 1];
        w->over[i] = w->over[i - 1];
    }
    w->width[at] = (int32_t)width;
    w->over[at] = over;
}

/* Of one vector: the row's own pixels, or a half or a third of them and so on. A tile that ends with its row tests no pixel of its own, as one that is
 * wider must; and one that is at least half as wide as can be begins and ends seldom. */
static widths widths_of_row(int64_t row, int64_t most) {
    widths w = {.count = 0};
    int64_t last = 0;
    for (int64_t tiles = 1; tiles <= TILES_MOST; tiles++) {
        int64_t width = kw_ceil_div(row, tiles);
        if (2 * width < most) {
            break;
        }
        if (width <= most && width != last) {
            keep_width(&w, width, tiles * width - row);
        }
        last = width;
    }
    return w;
}

/* Of five vectors: as wide as can be and a pixel less, where that is nearly a square, for which the fewest loads are needed. */
static widths widths_of_square(int64_t most) {
    widths w = {.count = 0};
    for (int64_t width = most; width >= VECS - 1 && width >= most - 1; width--) {
        keep_width(&w, width, 0);
    }
    return w;
}

/* Whether vectors of an isa are to have tiles: the widest of the architecture; narrower ones where they leave fewer lanes idle; of as many lanes those with the most
 * registers. */
static bool isa_has_tiles(const kw_cpu_arch *arch, int32_t isa, int64_t results) {
    const kw_isa *own = kw_isa_at(isa);
    bool has = arch->isas >> isa & 1;
    for (int32_t i = 0; i < KW_ISA_COUNT; i++) {
        const kw_isa *other = kw_isa_at(i);
        bool there = arch->isas >> i & 1, wider = other->lanes > own->lanes;
        has &= !there || other->lanes != own->lanes || other->registers <= own->registers;
        has &= !there || !wider || kw_round_up(results, other->lanes) > kw_round_up(results, own->lanes);
    }
    return has;
}

size_t kw_tailor_tiles(const kw_tailor_rows *rows, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_cpu_arch *arch = kw_cpu_arch_find(target->arch);
    size_t count = 0;
    for (int32_t isa = 0; arch && rows->base.dtype == KW_FP32 && isa < KW_ISA_COUNT; isa++) {
        int64_t vectors = kw_ceil_div(rows->results, kw_isa_at(isa)->lanes), vecs = vectors % VECS ? 1 : VECS;
        if (!isa_has_tiles(arch, isa, rows->results) || vectors > vecs * (vecs > 1 ? BLOCKS_MOST : 1)) {
            continue;
        }
        int64_t most = kw_tile_most_pixels(isa, vecs);
        widths w = vecs > 1 ? widths_of_square(most) : widths_of_row(rows->pixels, most);
        for (size_t i = 0; i < w.count; i++) {
            kw_config *config = &configs[count++];
            *config = rows->base;
            config->axis[KW_AXIS_ISA] = isa;
            config->axis[KW_AXIS_MATH] = KW_MATH_FMA;
            config->axis[rows->cols_axis] = w.width[i];
            config->axis[rows->vecs_axis] = (int32_t)vecs;
        }
    }
    return count;
}

int64_t kw_tailor_row(const kw_problem *problem) {
    int64_t pixels = 0, walks = kw_problem_walks_are_few(problem) ? kw_problem_walks(problem, 2) : 0;
    for (int64_t i = 0; i < walks; i++) {
        kw_walk walk = kw_problem_walk(problem, 2, i);
        pixels = walk.taps ? kw_max(pixels, walk.pixels) : pixels;
    }
    return pixels;
}

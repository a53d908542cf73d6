/* grouped.h: what the depthwise and merged families are made of: the tile of result pixels and the window of filter taps that its code
 * handles at once, the rules, how a problem is cut into units, the emitted text. kernels/cpu/grouped/grouped.c is the kernel,
 * grouped_weight.c there that of the weight gradient. */
#ifndef KW_FAMILIES_CPU_GROUPED_H
#define KW_FAMILIES_CPU_GROUPED_H

#include "config/arch/isa.h"

/* src and dst: source and result channels of a group; the weight gradient counts x as source and y as result. Where reach is not 0 they are
 * what a launch fills in, and 0 in what is emitted. */
typedef struct kw_grouped {
    int32_t tile_h, tile_w, taps_h, taps_w, stride;
    int32_t src, dst;
    int32_t block; /* vectors of channels of a unit; 0: all */
    int32_t reach; /* groups of any width, src and dst being the problem's: vectors that hold a vector's groups on the other side; 0: no */
    bool lanes_c;  /* there: vectors are of x's channels, not y's */
    bool shared;   /* of a weight gradient: rows may be shared out, and a second stage adds the sums */
} kw_grouped;

/* The axes that all four families share, in this order behind isa and math. */
#define KW_GROUPED_AXES                                                                                                                    \
    {"tile_h", NULL, 1, 8, "rows of a tile of pixels"}, {"tile_w", NULL, 1, 30, "columns of a tile of pixels"},                            \
        {"taps_h", NULL, 1, 9, "filter rows that a tile's code handles at once; 1: any filter and stride"},                                \
        {"taps_w", NULL, 1, 9, "filter columns that a tile's code handles at once; 1: any filter and stride"}, {                           \
        "stride", NULL, 1, 4, "stride of the axes with more than one tap at once"                                                          \
    }
enum {
    KW_GROUPED_TILE_H = KW_ISA_AXIS_COUNT,
    KW_GROUPED_TILE_W,
    KW_GROUPED_TAPS_H,
    KW_GROUPED_TAPS_W,
    KW_GROUPED_STRIDE,
    KW_GROUPED_AXIS_COUNT
};

static inline bool kw_grouped_gradient(const kw_config *config) {
    return config->op == KW_CONV_BWD_WEIGHT;
}

/* For families whose decode() fills a kw_grouped. */
extern const kw_rule kw_grouped_valid_rules[], kw_grouped_takes_rules[], kw_grouped_fits_rules[];

/* Words of a tile in the indirection buffer: those of all its windows. */
int64_t kw_grouped_tile_words(const kw_config *config, const kw_grouped *grouped, const kw_problem *problem);
void kw_grouped_launch(const kw_config *config, const kw_grouped *grouped, const kw_problem *problem, const kw_target *target,
                       kw_launch *launch);
void kw_gradient_launch(const kw_config *config, const kw_grouped *grouped, const kw_problem *problem, const kw_target *target,
                        kw_launch *launch);
void kw_grouped_emit(kw_text *text, const kw_config *config, const kw_grouped *grouped);

#endif

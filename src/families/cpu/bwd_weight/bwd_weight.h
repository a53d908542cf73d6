/* bwd_weight.h: the launch that conv.direct_bwd_weight, conv.any_groups_weight and conv.interleaved_weight share; all run
 * kernels/cpu/bwd_weight/bwd_weight.c. */
#ifndef KW_FAMILIES_CPU_BWD_WEIGHT_H
#define KW_FAMILIES_CPU_BWD_WEIGHT_H

#include "config/arch/isa.h"

/* What of a box is copied in the order of its use, as the words of axis copy. */
enum { KW_COPY_NONE, KW_COPY_BOTH, KW_COPY_X };

typedef struct kw_bwd_weight {
    int32_t tile, vecs; /* spread channels and vectors of a tile */
    int32_t box_kib;    /* KiB of pixels worked on at a time; 0: all where the second-level cache holds them, else half of it */
    int32_t copy;
    bool lanes_c;  /* the channels of x fill the vectors, not those of y */
    int32_t merge; /* above 0: the taps of a filter row and the channels are worked on as channels, of so many rows in one tile */
    bool amx;      /* by tile registers */
    bool parted;   /* boxes may be shared out, where sums are few beside what is copied, and a second stage adds them */
    int32_t ways;  /* above 0: in place of a group, so many of them, whose channels go in turn in a vector; implies copy */
    bool own;      /* in place of a group, a vector of y's channels, whatever groups they are of; implies copy, vecs 1 and not lanes_c */
} kw_bwd_weight;

void kw_bwd_weight_launch(const kw_bwd_weight *how, const kw_config *config, const kw_problem *problem, const kw_target *target,
                          kw_launch *launch);
void kw_bwd_weight_emit(const kw_bwd_weight *how, kw_text *text);

#endif

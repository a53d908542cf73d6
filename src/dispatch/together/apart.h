/* apart.h: whether pieces of memory are apart. A piece is runs of bytes one distance apart, so that slices of one matrix, whose runs lie between
 * each other's, are told from pieces that share a byte. */
#ifndef KW_DISPATCH_TOGETHER_APART_H
#define KW_DISPATCH_TOGETHER_APART_H

#include "base/status.h"

typedef struct kw_piece {
    uintptr_t begin;
    int64_t length, step, count; /* bytes; step is at least length */
    int32_t owner, what;         /* the caller's, kept */
} kw_piece;

/* Two pieces of which some byte is both's, in pair; false where there are none. Exact for pieces of one run, and for those of several whose steps
 * are the same; of different steps they are taken for solid from their first byte to their last. Sorts the pieces; O(n log n).
 * KW_FAILED: no memory for it, which only pieces that lie between each other's runs need. */
kw_status kw_pieces_meet(bool *meet, kw_piece pair[2], kw_piece pieces[], size_t count, kw_error *err);

#endif

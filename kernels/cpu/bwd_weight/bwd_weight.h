/* weight.h: what the emitted kw_tile() of conv.direct_bwd_weight works on. A tile is KW_TILE broadcast channels (rows) by KW_VECS vectors of channels,
 * for one filter tap; it sums products over output pixels, which are four nested counts. The tensor whose channels fill the lanes is the
 * vector side, the other the broadcast side. An element is 4 bytes: an fp32 or, for math=dp, the bf16 of two neighbouring pixels.
 */
#define KW_VECTOR (4 * KW_LANES)          /* bytes */
#define KW_TILE_ROW (KW_VECS * KW_VECTOR) /* bytes of a row of sums */
#define KW_TILE_BYTES KW_BWD_WEIGHT_TILE_BYTES(KW_TILE, KW_VECS *KW_LANES)

typedef struct kw_weight_job {
    const char *v, *b;                     /* the first pixel's channels, vector side and broadcast side */
    kw_i64 count[4], v_step[4], b_step[4]; /* pixels and their distances in bytes, outermost first; count[0] may be 0, the others not */
    const char *from;                      /* sums so far, row by row; NULL: none */
    char *to;                              /* the sums */
    kw_i64 to_step;                        /* bytes from row to row of to */
    int narrow;                            /* to is of the tensors' type, not fp32 */
} kw_weight_job;

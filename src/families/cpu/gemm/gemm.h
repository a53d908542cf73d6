/* gemm.h: what gemm.tiled and conv.pointwise share; both run kernels/cpu/gemm/gemm.c, which sees C[rows, columns] = A[rows, depth] times
 * B[depth, columns], batches times. */
#ifndef KW_FAMILIES_CPU_GEMM_H
#define KW_FAMILIES_CPU_GEMM_H

#include "families/cpu/cpu_rules.h"
#include "families/cpu/emit/tile.h"

/* The axes after those of every CPU family, in both families. */
#define KW_GEMM_AXES                                                                                                                       \
    {"tile_m", NULL, 1, 96, "rows of A (pixels) of a tile"}, {"vecs", NULL, 1, 7, "vectors of columns of a tile"},                         \
        {"band", NULL, 0, 256, "tiles of rows that meet a block of weights; 0: as many as fit half of the second-level cache"}, {          \
        "ahead", NULL, 0, 1, "1: prefetch the next tile's rows of A"                                                                       \
    }
enum { KW_GEMM_AXIS_COUNT = KW_ISA_AXIS_COUNT + 4 };

/* Distances in bytes. a_row: from row to row of A, or from column to column where it lies so (a_columns). copies: rows of A cannot be read where
 * they are, or had better not be. groups: of rows, which are the batches; rows is then their mean, and all_rows what they have together. */
typedef struct kw_product {
    int64_t batches, rows, columns, depth;
    int64_t groups, all_rows;
    int64_t a_row;
    bool copies, a_columns, b_columns;
} kw_product;

kw_tile kw_gemm_tile(const kw_config *config);
/* A kw_tile. */
void kw_gemm_decode(const kw_config *config, const kw_target *target, void *decoded);
void kw_gemm_launch(const kw_product *product, const kw_config *config, const kw_target *target, kw_launch *launch);
/* Tiles made to the measure of so many rows and columns (kw_family.tailor). */
size_t kw_gemm_tailor(const kw_family *family, const kw_problem *problem, int64_t rows, int64_t columns, const kw_target *target,
                      kw_config configs[KW_TAILORED_MAX]);
void kw_gemm_emit(const kw_config *config, bool pointwise, kw_text *text);

#endif

/* gemm.c: matrix products C = A B in the four layouts, batched: family gemm.mma. A is rows x depth, B depth x columns, C row by row.
 *
 *   layout    A               B
 *   rcr       by rows         by columns     the depth is contiguous in both
 *   rrr       by rows         by rows
 *   crr       by columns      by rows        the depth is contiguous in neither
 *   ccr       by columns      by columns
 *
 * Without KW_PAD_M, _N, _K the sizes are multiples of the tile's, and nothing is tested. */
#include "gpu/fragment.h"

#define KW_A_BY_ROWS (KW_LAYOUT == KW_LAYOUT_CRR || KW_LAYOUT == KW_LAYOUT_CCR)
#define KW_B_BY_ROWS (KW_LAYOUT == KW_LAYOUT_RRR || KW_LAYOUT == KW_LAYOUT_CRR)
#define KW_A_VEC KW_VEC_A
#define KW_B_VEC KW_VEC_B
#define KW_TWO_STAGE 0

#if KW_INDEX == 32
typedef int kw_off;
#else
typedef kw_i64 kw_off;
#endif

typedef struct kw_spot {
    kw_off at;
} kw_spot;

typedef struct kw_view {
    const char *at[2];
    kw_i64 out;            /* offset of the result */
    int row, col;          /* of the tile's first element */
    int rows, cols, depth; /* of the product */
} kw_view;

KW_DEVICE kw_spot kw_spot_at(kw_off at) {
    kw_spot s;
    s.at = at;
    return s;
}

KW_DEVICE kw_spot kw_spot_row(const kw_view *v, int which, int row, int *ok) {
    int rows = which == KW_A ? v->rows : v->cols, by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS;
    if (which == KW_A ? KW_PAD_M : KW_PAD_N) *ok &= row < rows;
    return kw_spot_at(by_rows ? row : (kw_off)row * v->depth);
}

KW_DEVICE kw_spot kw_spot_depth(const kw_view *v, int which, int k, int *ok) {
    int rows = which == KW_A ? v->rows : v->cols, by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS;
    if (KW_PAD_K) *ok &= k < v->depth;
    return kw_spot_at(by_rows ? (kw_off)k * rows : k);
}

KW_DEVICE kw_off kw_spot_join(const kw_view *v, int which, kw_spot row, kw_spot depth, int *ok) { return row.at + depth.at; }

KW_DEVICE kw_spot kw_result_row(const kw_view *v, int row, int *ok) {
    if (KW_PAD_M) *ok &= row < v->rows;
    return kw_spot_at((kw_off)row * v->cols);
}

KW_DEVICE kw_spot kw_result_col(const kw_view *v, int col, int *ok) {
    if (KW_PAD_N) *ok &= col < v->cols;
    return kw_spot_at(col);
}

KW_DEVICE kw_off kw_result_join(const kw_view *v, kw_spot row, kw_spot col, int *ok) { return row.at + col.at; }

KW_DEVICE void kw_view_start(kw_view *v, const kw_gpu_args *a, int batch, int tile_row, int tile_col) {
    v->rows = (int)a->gm;
    v->cols = (int)a->gn;
    v->depth = (int)a->gk;
    v->row = tile_row * KW_TILE_M;
    v->col = tile_col * KW_TILE_N;
    v->at[KW_A] = a->x + batch * a->gm * a->gk * KW_BYTES;
    v->at[KW_B] = a->w + batch * a->gk * a->gn * KW_BYTES;
    v->out = batch * a->gm * a->gn;
}

#include "gpu/tile.h"
#include "gpu/pipeline.h"
#include "gpu/epilogue.h"
#include "gpu/work.h"

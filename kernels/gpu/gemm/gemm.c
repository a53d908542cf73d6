/* gemm.c: matrix products C = A B in the four layouts, batched: family gemm.mma. A is rows x depth, B depth x columns, C row by row.
 *
 *   layout    A               B
 *   rcr       by rows         by columns     the depth is contiguous in both
 *   rrr       by rows         by rows
 *   crr       by columns      by rows        the depth is contiguous in neither
 *   ccr       by columns      by columns
 *
 * Without KW_PAD_M, _N, _K the sizes are multiples of the tile's, and nothing is tested.
 *
 * KW_ROW_GROUPS: a grouped product. Rows are counted over all groups; a tile has rows of one, which it finds by the ends
 * (prelude/row_groups.h), and the last tile of a group stores those that are the group's. Blocks without a tile have nothing to do.
 *
 * KW_JOINED: products whose sizes all differ; a block finds the one that its tile is of (prelude/joined.h), and all else is as for that alone. */
#include "gpu/gemm/args.h"
#define KW_KERNEL_PARAMS kw_gemm_mma_params
#define KW_PLANES 0
#include "kw_config.h"
#include "gpu/matrix/fragment.h"

/* The operands change places: rows are columns of the result. */
#define KW_TURNED (KW_EPI == KW_EPI_TURNED)
#if KW_TURNED
#define KW_A_BY_ROWS KW_GEMM_B_BY_ROWS(KW_LAYOUT)
#define KW_B_BY_ROWS KW_GEMM_A_BY_ROWS(KW_LAYOUT)
#else
#define KW_A_BY_ROWS (KW_GEMM_A_BY_ROWS(KW_LAYOUT) && !KW_COPIES_TURN)
#define KW_B_BY_ROWS (KW_GEMM_B_BY_ROWS(KW_LAYOUT) && !KW_COPIES_TURN)
#endif
#define KW_TURNS_A KW_GEMM_A_BY_ROWS(KW_LAYOUT)
#define KW_TURNS_B KW_GEMM_B_BY_ROWS(KW_LAYOUT)
#define KW_A_VEC KW_VEC_A
#define KW_B_VEC KW_VEC_B
#define KW_TWO_STAGE 0
#define KW_PHASES 0

#if KW_OVERLAP
#include "gpu/lib/slices.h"
#include "gpu/pipeline/overlap_layout.h"
#include "gpu/gemm/feed.h"
#include "gpu/pipeline/overlap.h"
#else

#if KW_INDEX == 32
typedef int kw_off;
#else
typedef kw_i64 kw_off;
#endif

typedef struct kw_coord {
    kw_off at;
} kw_coord;

typedef struct kw_view {
    const char *at[2];
    kw_i64 out;            /* offset of the result */
#if KW_PITCHED
    kw_i64 slice;          /* and in a slice of the workspace */
    kw_off line[3];        /* from a line of an operand or the result to its next */
#endif
    int row, col;          /* of the tile's first element */
    int rows, cols, depth; /* of the product */
    const char *shuffled;  /* the second operand in the order of fragments */
#if KW_X_ZERO
    kw_u32 zero;           /* x's zero point, in each byte */
#endif
#if KW_HAS_CHANNELS
    const kw_gpu_args *args;
    kw_i64 first_row;            /* of the batch, in the result */
    kw_i64 first_channel;        /* of the group, in the tensors of the epilogue */
#endif
#if KW_BULK
    const kw_tensor_map *map[2]; /* of the operands: depth, row, batch */
    int batch;                   /* with KW_ROW_GROUPS of the second operand alone */
#if KW_PITCHED
    int batch_of[2];             /* 0 of an operand that all of the batch share */
#endif
#endif
} kw_view;

/* Elements from a line to the next. */
#if KW_PITCHED
#define KW_LINE(v, which, dense) v->line[which]
#else
#define KW_LINE(v, which, dense) dense
#endif

KW_DEVICE kw_coord kw_coord_at(kw_off at) {
    kw_coord s;
    s.at = at;
    return s;
}

KW_DEVICE kw_coord kw_coord_row(const kw_view *v, int which, int row, int *ok) {
    int rows = which == KW_A ? v->rows : v->cols, by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS;
    if (which == KW_A ? KW_PAD_M : KW_PAD_N) *ok &= row < rows;
    return kw_coord_at(by_rows ? row : (kw_off)row * KW_LINE(v, which, v->depth));
}

/* A depth that goes on from step to step. */
typedef struct kw_cursor {
    int k;
} kw_cursor;

KW_DEVICE kw_cursor kw_cursor_at(const kw_view *v, int which, int k) {
    kw_cursor c;
    c.k = k;
    return c;
}

KW_DEVICE void kw_cursor_add(const kw_view *v, int which, kw_cursor *c, const kw_cursor *more) { c->k += more->k; }

KW_DEVICE kw_coord kw_coord_depth(const kw_view *v, int which, const kw_cursor *depth, int *ok) {
    int rows = which == KW_A ? v->rows : v->cols, by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS;
    if (KW_PAD_K) *ok &= depth->k < v->depth;
    return kw_coord_at(by_rows ? (kw_off)depth->k * KW_LINE(v, which, rows) : depth->k);
}

KW_DEVICE kw_off kw_coord_join(const kw_view *v, int which, kw_coord row, kw_coord depth, int *ok) { return row.at + depth.at; }

KW_DEVICE kw_coord kw_result_row(const kw_view *v, int row, int *ok) {
    if (KW_PAD_M) *ok &= row < v->rows;
    return kw_coord_at((kw_off)row * KW_LINE(v, 2, v->cols));
}

KW_DEVICE kw_coord kw_result_col(const kw_view *v, int col, int *ok) {
    if (KW_PAD_N) *ok &= col < v->cols;
    return kw_coord_at(col);
}

KW_DEVICE kw_off kw_result_join(const kw_view *v, kw_coord row, kw_coord col, int *ok) { return row.at + col.at; }

#if KW_PITCHED
KW_DEVICE kw_i64 kw_slice_at(const kw_view *v, int row, int col) { return (kw_i64)row * v->cols + col; }
#endif

#if KW_HAS_CHANNELS
KW_DEVICE kw_i64 kw_result_channel(const kw_view *v, int col) { return v->first_channel + col; }
#endif

#if KW_EPILOGUE
KW_DEVICE kw_place kw_result_place(const kw_view *v, int row, int col, kw_i64 at) {
    kw_place p = {v->out + at, kw_result_channel(v, col), v->first_row + row, 0};
    return p;
}
#endif

KW_DEVICE void kw_view_start(kw_view *v, const kw_gpu_args *a, int batch, int tile_row, int tile_col) {
    v->rows = (int)a->gm;
    v->cols = (int)a->gn;
    v->depth = (int)a->gk;
    v->row = tile_row * KW_TILE_M;
    v->col = tile_col * KW_TILE_N;
#if KW_X_ZERO
    v->zero = kw_zero_word(a);
#endif
#if KW_PITCHED
    v->at[KW_A] = a->x + batch * a->batch_step[0] * KW_BYTES;
    v->at[KW_B] = a->w + batch * a->batch_step[1] * KW_BYTES;
    v->out = batch * a->batch_step[2];
    v->slice = batch * a->gm * a->gn;
    for (int i = 0; i < 3; i++)
        v->line[i] = (kw_off)a->line_step[i];
#else
    v->at[KW_A] = a->x + batch * a->gm * a->gk * KW_BYTES;
    v->at[KW_B] = a->w + batch * a->gk * a->gn * KW_BYTES;
    v->out = batch * a->gm * a->gn;
#endif
#if KW_HAS_CHANNELS
    v->args = a;
    v->first_row = batch * a->gm;
    v->first_channel = 0;
#endif
#if KW_BULK
    v->map[KW_A] = &a->map[KW_A];
    v->map[KW_B] = &a->map[KW_B];
    v->batch = batch;
#if KW_PITCHED
    v->batch_of[KW_A] = a->batch_step[0] ? batch : 0;
    v->batch_of[KW_B] = a->batch_step[1] ? batch : 0;
#endif
#endif
#if KW_PRESHUFFLE
    v->shuffled = a->packed + batch * (KW_CEIL(a->gn, KW_TILE_N) * KW_TILE_N) * (KW_CEIL(a->gk, KW_TILE_K) * KW_TILE_K) * KW_BYTES;
#endif
}

#if KW_ROW_GROUPS
/* Row tile number `number` of all groups; 0: there is none. */
KW_DEVICE int kw_view_find(kw_view *v, const kw_gpu_args *a, int number, int tile_col) {
    kw_group_chunk rows;
    kw_group_place place = {0, 0, 0};
    if (!kw_group_find(&rows, &place, a->ends, (int)a->groups, (int)a->gm, KW_TILE_M, number)) return 0;
    kw_view_start(v, a, 0, 0, tile_col);
    v->row = rows.first;
    v->rows = rows.end;
    v->at[KW_B] += rows.group * a->gk * a->gn * KW_BYTES;
#if KW_HAS_CHANNELS
    v->first_channel = rows.group * a->gn;
#endif
#if KW_BULK
    v->batch = rows.group;
#endif
    return 1;
}
#endif

#if KW_BULK
#include "gpu/pipeline/bulk.h"
#else
#include "gpu/lib/tile.h"
#if KW_WGMMA
#include "gpu/pipeline/gather.h"
#else
#include "gpu/pipeline/pipeline.h"
#endif
#endif
#include "gpu/lib/epilogue.h"
#include "gpu/lib/work.h"

#if KW_PRESHUFFLE
/* The element at a row (here: column) and depth of the second operand; zero beside the matrix. */
KW_DEVICE kw_u32 kw_pack_element(const kw_view *v, int col, int k) {
    int ok = col < v->cols && k < v->depth;
    kw_cursor at = kw_cursor_at(v, KW_B, k);
    kw_coord row = kw_coord_row(v, KW_B, col, &ok), depth = kw_coord_depth(v, KW_B, &at, &ok);
    kw_u32 element = 0;
    if (ok) kw_load_run(&element, kw_element_at(v->at[KW_B], kw_coord_join(v, KW_B, row, depth, &ok)), KW_BYTES);
    return element;
}

/* A thread packs a lane's fragments of one step and KW_INST_N columns. */
KW_KERNEL(kw_stage0, KW_PACK_THREADS) {
    kw_i64 at = kw_block() * KW_PACK_THREADS + kw_thread(), steps = KW_CEIL(args.gk, KW_TILE_K);
    kw_i64 frags = KW_CEIL(args.gn, KW_TILE_N) * (KW_TILE_N / KW_INST_N), rest = at / KW_WAVE;
    int lane = (int)(at % KW_WAVE), step = (int)(rest % steps), frag = (int)(rest / steps % frags);
    kw_view view;
    if (rest / steps / frags >= args.batch) return;
    kw_view_start(&view, &args, (int)(rest / steps / frags), 0, 0);
    kw_u32 *to = (kw_u32 *)args.packed + at * KW_SHUFFLED_WORDS;
    for (int word = 0; word < KW_REPEAT_K * KW_B_ROWS * KW_ROW_WORDS; word++) {
        int j = word % KW_ROW_WORDS, i = word / KW_ROW_WORDS % KW_B_ROWS, kk = word / (KW_ROW_WORDS * KW_B_ROWS);
        int col = frag * KW_INST_N + kw_frag_row_b(lane, i),
            k = step * KW_TILE_K + kk * KW_INST_K + kw_frag_group(lane) * KW_KPL + j * KW_EPW;
        kw_u32 packed = 0;
        for (int e = 0; e < KW_EPW; e++)
            packed |= kw_pack_element(&view, col, k + e) << e * KW_BYTES * 8 % 32;
        to[kk * KW_B_WORDS + kw_frag_word(KW_B_ROWS, i, j)] = packed;
    }
}
#endif
#endif

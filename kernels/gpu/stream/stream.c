/* stream.c: products with few rows or few columns: family gemm.stream. The long operand is read once, straight from memory into the
 * registers that a matrix instruction wants; the few rows of the other one stay in caches.
 *
 * A block has KW_LONG_TILE rows of the long operand, and its waves share the depth: each takes KW_AHEAD runs of it, then the next that no
 * other wave has. What a wave multiplies at a time it has asked for together, and nothing stands between a launch and its first load but
 * addresses: no shared memory is filled, no barrier made. At the end the waves' sums are added in their order, always the same.
 *
 * Where in an instruction's depth a product stands does not matter, so a lane reads 16 bytes of a row, which are its share of two
 * instructions. Where rows of the few are contiguous, it reads their elements one by one.
 *
 * Rows beyond a side's last are read as its last ones: their sums are stored nowhere. Depths beyond the last are zeros in both operands. */
#include "gpu/stream/args.h"
#define KW_KERNEL_PARAMS kw_stream_params
#include "kw_config.h"
#include "gpu/matrix/fragment.h"
#if KW_PTX
#include "gpu/matrix/mma_ptx.h"
#else
#include "gpu/matrix/mma_emu.h"
#endif

enum { KW_LANE_DEPTH = KW_RUN_DEPTH / 4, KW_LONG_READS = 2 * KW_LONG_FRAGS };
enum { KW_STEP_DEPTH = KW_AHEAD * KW_RUN_DEPTH, KW_WAVES_DEPTH = KW_WAVES * KW_STEP_DEPTH };

/* Of each run what was read of the long operand, 16 bytes at a time, and words of the few. */
typedef struct kw_step {
    kw_u32 at[KW_AHEAD][KW_LONG_READS][4], few[KW_AHEAD][KW_FEW_FRAGS][4];
} kw_step;

/* The lane's reads of the first run. */
typedef struct kw_rows {
    const char *at[KW_LONG_READS], *few[KW_FEW_FRAGS];
    kw_i64 line; /* KW_FEW_BY_ROWS: bytes from a depth of the few to the next */
} kw_rows;

typedef struct kw_sums {
    kw_acc at[KW_LONG_FRAGS][KW_FEW_FRAGS];
} kw_sums;

KW_DEVICE void kw_rows_start(kw_rows *rows, const kw_gpu_args *a, kw_i64 matrix, int first) {
    int lane = kw_lane(), lines = (int)(KW_FEW_ROWS ? a->gn : a->gm), few = (int)(KW_FEW_ROWS ? a->gm : a->gn);
    const char *line = KW_FEW_ROWS ? a->w : a->x, *other = KW_FEW_ROWS ? a->x : a->w;
    kw_i64 depth = a->gk * KW_BYTES, own = kw_frag_group(lane) * KW_LANE_DEPTH;
    line += matrix * lines * depth;
    other += matrix * few * depth;
    rows->line = (kw_i64)few * KW_BYTES;
    KW_UNROLL
    for (int i = 0; i < KW_LONG_READS; i++)
        rows->at[i] = line + kw_min(first + i / 2 * KW_INST_M + kw_frag_row_a(lane, i % 2), lines - 1) * depth + own * KW_BYTES;
    KW_UNROLL
    for (int i = 0; i < KW_FEW_FRAGS; i++) {
        int row = kw_min(i * KW_INST_N + kw_frag_row_b(lane, 0), few - 1);
        rows->few[i] = other + (KW_FEW_BY_ROWS ? own * rows->line + row * KW_BYTES : row * depth + own * KW_BYTES);
    }
}

/* Fragment i's words of a run; there: so many of the lane's depths. */
KW_DEVICE void kw_few_read(kw_u32 *to, const kw_rows *rows, int i, kw_i64 k, int there) {
    KW_UNROLL
    for (int j = 0; j < 4; j++)
        to[j] = 0;
#if KW_FEW_BY_ROWS
    KW_UNROLL
    for (int j = 0; j < KW_LANE_DEPTH; j++) {
        kw_u32 element = 0;
        if (j < there) kw_load_run(&element, rows->few[i] + (k + j) * rows->line, KW_BYTES);
        to[j / 2] |= element << j % 2 * 16;
    }
#else
    if (there > 0) kw_load_run(to, rows->few[i] + k * KW_BYTES, 16);
#endif
}

/* All runs of a step are asked for before the first is multiplied. whole: the depth has all of them. */
KW_DEVICE void kw_step_load(kw_step *step, const kw_rows *rows, int k, int depth, const int whole) {
    int left = depth - k - kw_frag_group(kw_lane()) * KW_LANE_DEPTH;
    KW_UNROLL
    for (int run = 0; run < KW_AHEAD; run++) {
        KW_UNROLL
        for (int i = 0; i < KW_LONG_READS; i++) {
            KW_UNROLL
            for (int j = 0; j < 4; j++)
                step->at[run][i][j] = 0;
            if (whole || left > run * KW_RUN_DEPTH)
                kw_load_once(step->at[run][i], rows->at[i] + ((kw_i64)k + run * KW_RUN_DEPTH) * KW_BYTES);
        }
    }
    KW_UNROLL
    for (int run = 0; run < KW_AHEAD; run++) {
        KW_UNROLL
        for (int i = 0; i < KW_FEW_FRAGS; i++)
            kw_few_read(step->few[run][i], rows, i, (kw_i64)k + run * KW_RUN_DEPTH, whole ? KW_LANE_DEPTH : left - run * KW_RUN_DEPTH);
    }
}

KW_DEVICE void kw_step_multiply(kw_sums *sums, const kw_step *step) {
    KW_UNROLL
    for (int run = 0; run < KW_AHEAD; run++) {
        KW_UNROLL
        for (int half = 0; half < 2; half++) {
            KW_UNROLL
            for (int i = 0; i < KW_LONG_FRAGS; i++) {
                kw_frag_a a;
                KW_UNROLL
                for (int w = 0; w < KW_A_WORDS; w++)
                    a.w[kw_frag_word(KW_A_ROWS, w % 2, w / 2)] = step->at[run][2 * i + w % 2][2 * half + w / 2];
                KW_UNROLL
                for (int j = 0; j < KW_FEW_FRAGS; j++) {
                    kw_frag_b b;
                    KW_UNROLL
                    for (int w = 0; w < KW_B_WORDS; w++)
                        b.w[kw_frag_word(KW_B_ROWS, 0, w)] = step->few[run][j][2 * half + w];
                    kw_mma(&sums->at[i][j], &a, &b);
                }
            }
        }
    }
}

/* Where a wave's sum of a row of the tile and one of the few stands among those of all its lanes: the other way round than kw_acc_row and
 * kw_acc_col say it. */
KW_DEVICE int kw_sum_at(int line, int few) {
    int frag = line / KW_INST_M * KW_FEW_FRAGS + few / KW_INST_N, row = line % KW_INST_M, col = few % KW_INST_N;
    return ((frag * KW_ACC_N + row / 8 * 2 + col % 2) * 8 + row % 8) * 4 + col / 2;
}

/* Element of the result at a row of the long side and one of the few. */
KW_DEVICE void kw_sum_store(const kw_gpu_args *a, kw_i64 matrix, int line, int few, float sum) {
    int row = KW_FEW_ROWS ? few : line, col = KW_FEW_ROWS ? line : few;
    if (row >= a->gm || col >= a->gn) return;
    kw_i64 at = (matrix * a->gm + row) * a->gn + col;
#if KW_EPILOGUE
    kw_place place = {at, col, matrix * a->gm + row, 0};
    kw_finish_run(a->y + at * KW_OUT_BYTES, a, place, &sum, 1);
#else
    kw_store(a->y, at, sum);
#endif
}

KW_KERNEL(kw_stage0, KW_BLOCK_THREADS) {
    KW_LDS(KW_PARTS_LDS_BYTES);
    float *parts = (float *)kw_lds;
    int tiles = (int)args.params.tiles, matrix = tiles == (int)kw_blocks() ? 0 : (int)kw_block() / tiles, depth = (int)args.gk;
    int first = ((int)kw_block() - matrix * tiles) * KW_LONG_TILE;
    kw_rows rows;
    kw_sums sums;
    kw_step step;
    kw_rows_start(&rows, &args, matrix, first);
    KW_UNROLL
    for (int i = 0; i < KW_LONG_FRAGS * KW_FEW_FRAGS * KW_ACC_N; i++)
        sums.at[i / KW_ACC_N / KW_FEW_FRAGS][i / KW_ACC_N % KW_FEW_FRAGS].e[i % KW_ACC_N] = 0;
    kw_begin();
    /* The branch keeps the assembler from reading piece by piece, each where it is multiplied, which would save registers and wait for
     * memory as often. */
    KW_ROLLED
    for (int k = kw_wave() * KW_STEP_DEPTH; k < depth; k += KW_WAVES_DEPTH) {
        if (k + KW_STEP_DEPTH <= depth)
            kw_step_load(&step, &rows, k, depth, 1);
        else
            kw_step_load(&step, &rows, k, depth, 0);
        kw_step_multiply(&sums, &step);
    }
    KW_UNROLL
    for (int i = 0; i < KW_SUM_WORDS; i++)
        parts[(kw_wave() * KW_SUM_WORDS + i) * KW_WAVE + kw_lane()] =
            sums.at[i / KW_ACC_N / KW_FEW_FRAGS][i / KW_ACC_N % KW_FEW_FRAGS].e[i % KW_ACC_N];
    kw_barrier();
    /* Threads follow each other as elements of the result do. */
    for (int i = kw_thread(); i < KW_LONG_TILE * KW_FEW_TILE; i += KW_BLOCK_THREADS) {
        int line = KW_FEW_ROWS ? i % KW_LONG_TILE : i / KW_FEW_TILE, few = KW_FEW_ROWS ? i / KW_LONG_TILE : i % KW_FEW_TILE;
        int at = kw_sum_at(line, few);
        float sum = parts[at];
        KW_UNROLL
        for (int wave = 1; wave < KW_WAVES; wave++)
            sum += parts[wave * KW_SUM_WORDS * KW_WAVE + at];
        kw_sum_store(&args, matrix, first + line, few, sum);
    }
}

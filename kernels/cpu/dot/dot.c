/* dot.c: matrix products of which both factors lie along the depth (layout rcr), each result a dot product; family gemm.dot. B is read where
 * it lies, so nothing is packed: for few rows, which read weights about once, that is all the time there is; for few columns, whose blocks
 * would leave lanes idle.
 *
 * Nothing is asked for ahead: a tile's columns are as many streams, which the core reads ahead by itself. To ask for them a page ahead took 5 to
 * 15 % longer, in the second level, beyond it and in memory.
 *
 * A unit is a matrix of the batch and some columns. Few columns go over a block of rows together, a chunk of the depth after the other, so that a
 * chunk of B stays in the first level of cache and A is read once; the sums of the block wait in between. kw_tile() sums KW_ROWS x KW_COLUMNS results, each in the lanes of a vector, which are
 * added up behind the depth. The last tile of a side is moved back so that it is whole, and stores only what is its own. The rest of a depth
 * that no vector divides is read together with elements before it, which a mask makes zeros in both factors.
 *
 * int8: sums are whole numbers. math=dp multiplies 128 + each signed value of A, math=wide both factors as int16. What is added to A, or its
 * zero point taken off, is what a column's sum over the depth, kept beside the results, is multiplied by at the end.
 *
 * kw_config.h unrolls what goes over the sums, which are named variables a<row>_<column>:
 *   KW_EACH_ROW(DO)           DO(row, distance) for each row; distances are multiples of that of neighbours
 *   KW_EACH_COLUMN(DO)        DO(column, distance) for each column
 *   KW_EACH_SUM(DO, column)   DO(row, column) for each row */
#include "cpu/dot/args.h"
#define KW_KERNEL_PARAMS kw_dot_params
#include "kw_config.h"

#define KW_VECTOR (4 * KW_LANES)
#define KW_STEP (KW_PAIR * KW_LANES) /* elements of a vector */
#define KW_COLUMN_SUMS (KW_RAISED || KW_X_ZERO)
#if KW_STORAGE == 3
typedef kw_u32 kw_sum;
#else
typedef float kw_sum;
#endif

/* Distances in bytes. */
typedef struct kw_dot_job {
    const char *a, *b;
    kw_i64 a_row, b_column, steps, rest; /* whole vectors of the depth, elements behind them */
    kw_sum shift;                        /* of int8, what is to be taken off each element of A as it is multiplied */
    kw_sum *sums;                        /* row by row */
    char *waiting;                       /* vectors of sums of a depth that goes on */
    int begun, goes_on;                  /* whether it began before, and goes on behind, these steps */
} kw_dot_job;

#if KW_STORAGE == 3 && KW_MATH == 2
KW_INLINE kw_vf kw_wide_bytes(const char *p) {
    kw_vf v;
    __asm__("vpmovsxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
    return v;
}
KW_INLINE kw_vf kw_wide_row(const char *p) {
#if KW_X_UNSIGNED
    kw_vf v;
    __asm__("vpmovzxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
    return v;
#else
    return kw_wide_bytes(p);
#endif
}
#define KW_LOAD(p) kw_wide_bytes(p)
#define KW_LOAD_A(p) kw_wide_row(p)
#define KW_ADD(sum, x, w) sum = kw_dot_wide(sum, x, w);
#define KW_ONE 0x10001
#elif KW_QUADS
#define KW_LOAD(p) kw_load(p)
#if KW_RAISED
#define KW_LOAD_A(p) (kw_vf)((kw_vu)kw_load(p) ^ raise)
#else
#define KW_LOAD_A(p) kw_load(p)
#endif
#define KW_ADD(sum, x, w) sum = kw_dot_quads(sum, x, w);
#define KW_ONE 0x1010101
#elif KW_DP
#define KW_LOAD(p) kw_load(p)
#define KW_LOAD_A(p) kw_load(p)
#define KW_ADD(sum, x, w) sum = kw_dp(sum, x, w);
#else
#define KW_LOAD(p) kw_load_x(p)
#define KW_LOAD_A(p) kw_load_x(p)
#define KW_ADD(sum, x, w) sum += x * w;
#endif
#define KW_MULTIPLY(row, column) KW_ADD(a##row##_##column, x##row, w)
#if KW_COLUMN_SUMS
#define KW_DECLARE_COLUMN_SUM(column) kw_va of##column = {0};
#define KW_ADD_COLUMN(column) KW_ADD(of##column, one, w)
#else
#define KW_DECLARE_COLUMN_SUM(column)
#define KW_ADD_COLUMN(column)
#endif
#define KW_DECLARE(row, column) kw_va a##row##_##column = {0};
#define KW_DECLARE_COLUMN(column, distance) KW_EACH_SUM(KW_DECLARE, column) KW_DECLARE_COLUMN_SUM(column)
#define KW_SUM_WAITS(row, column) (job->waiting + ((row)*KW_COLUMNS + (column)) * KW_VECTOR)
#define KW_TAKE(row, column) a##row##_##column = (kw_va)kw_load(KW_SUM_WAITS(row, column));
#define KW_LEAVE(row, column) kw_put(KW_SUM_WAITS(row, column), (kw_vf)a##row##_##column);
#if KW_COLUMN_SUMS
#define KW_TAKE_COLUMN(column, distance) KW_EACH_SUM(KW_TAKE, column) of##column = (kw_va)kw_load(KW_SUM_WAITS(KW_ROWS, column));
#define KW_LEAVE_COLUMN(column, distance) KW_EACH_SUM(KW_LEAVE, column) kw_put(KW_SUM_WAITS(KW_ROWS, column), (kw_vf)of##column);
#else
#define KW_TAKE_COLUMN(column, distance) KW_EACH_SUM(KW_TAKE, column)
#define KW_LEAVE_COLUMN(column, distance) KW_EACH_SUM(KW_LEAVE, column)
#endif
#define KW_LOAD_ROW(row, distance) kw_vf x##row = KW_LOAD_A(a + (distance));
#define KW_MULTIPLY_COLUMN(column, distance)                                                                                               \
    w = KW_LOAD(b + (distance));                                                                                                           \
    KW_KEEP(w);                                                                                                                            \
    KW_EACH_SUM(KW_MULTIPLY, column)                                                                                                       \
    KW_ADD_COLUMN(column)
#define KW_MASK(v) ((kw_vf)((kw_vu)(v)&mask))
#define KW_LOAD_ROW_REST(row, distance) kw_vf x##row = KW_MASK(KW_LOAD_A(a + (distance)));
#define KW_MULTIPLY_COLUMN_REST(column, distance)                                                                                          \
    w = KW_MASK(KW_LOAD(b + (distance)));                                                                                                  \
    KW_EACH_SUM(KW_MULTIPLY, column)                                                                                                       \
    KW_ADD_COLUMN(column)
#if KW_COLUMN_SUMS
#define KW_TOTAL(row, column) job->sums[(row)*KW_COLUMNS + (column)] = kw_total((kw_vf)a##row##_##column) - shifted##column;
#define KW_TOTAL_COLUMN(column, distance)                                                                                                  \
    kw_sum shifted##column = job->shift * kw_total((kw_vf)of##column);                                                                     \
    KW_EACH_SUM(KW_TOTAL, column)
#else
#define KW_TOTAL(row, column) job->sums[(row)*KW_COLUMNS + (column)] = kw_total((kw_vf)a##row##_##column);
#define KW_TOTAL_COLUMN(column, distance) KW_EACH_SUM(KW_TOTAL, column)
#endif

/* The sum of all lanes. */
KW_INLINE kw_sum kw_total(kw_vf v) {
    kw_sum lane[KW_LANES] __attribute__((aligned(KW_VECTOR)));
    typedef kw_sum half __attribute__((vector_size(2 * KW_LANES)));
    typedef kw_sum quarter __attribute__((vector_size(KW_LANES)));
    kw_put(lane, v);
    half h = *(const half *)lane + *(const half *)(lane + KW_LANES / 2);
    *(half *)lane = h;
    quarter q = *(const quarter *)lane + *(const quarter *)(lane + KW_LANES / 4);
    kw_sum sum = 0;
    for (int i = 0; i < KW_LANES / 4; i++)
        sum += q[i];
    return sum;
}

static __attribute__((noinline)) void kw_tile(const kw_dot_job *job) {
    const char *a = job->a, *b = job->b;
    kw_i64 a1 = job->a_row, a3 = 3 * a1, a5 = 5 * a1, b1 = job->b_column, b3 = 3 * b1, b5 = 5 * b1, b7 = 7 * b1;
    (void)a3, (void)a5, (void)b3, (void)b5, (void)b7;
#if KW_RAISED
    const kw_vu raise = (kw_vu){0} + 0x80808080u;
#endif
#if KW_COLUMN_SUMS
    const kw_vf one = (kw_vf)((kw_vi){0} + KW_ONE);
#endif
    KW_EACH_COLUMN(KW_DECLARE_COLUMN)
    if (job->begun) {
        KW_EACH_COLUMN(KW_TAKE_COLUMN)
    }
    kw_vf w;
    for (kw_i64 i = job->steps; i; i--, a += KW_STEP * KW_BYTES, b += KW_STEP * KW_BYTES) {
        __asm__("" : "+r"(a1), "+r"(b1), "+r"(b3), "+r"(b5), "+r"(b7));
        KW_EACH_ROW(KW_LOAD_ROW)
        KW_EACH_COLUMN(KW_MULTIPLY_COLUMN)
    }
    if (job->goes_on) {
        KW_EACH_COLUMN(KW_LEAVE_COLUMN)
        return;
    }
    if (job->rest) {
        static const unsigned char ones[2 * KW_VECTOR] __attribute__((aligned(KW_VECTOR))) = {KW_ONES};
        kw_vu mask = *(const kw_vu_u *)(ones + job->rest * (KW_VECTOR / KW_STEP));
        a += (job->rest - KW_STEP) * KW_BYTES, b += (job->rest - KW_STEP) * KW_BYTES;
        KW_EACH_ROW(KW_LOAD_ROW_REST)
        KW_EACH_COLUMN(KW_MULTIPLY_COLUMN_REST)
    }
    KW_EACH_COLUMN(KW_TOTAL_COLUMN)
}

/* Columns first..end-1 of one row, of which sums[0] is column first. */
static void store_row(const kw_kernel_args *a, kw_i64 batch, kw_i64 row, kw_i64 first, kw_i64 end, const kw_sum *sums) {
    char *to = a->y + (batch * a->batch_step[2] + row * a->line_step[2] + first) * KW_OUT_BYTES;
#if KW_EPILOGUE
    kw_sum lane[KW_LANES] __attribute__((aligned(KW_VECTOR))) = {0};
    for (kw_i64 i = 0; i < end - first; i++)
        lane[i] = sums[i];
    kw_place at = kw_place_at(a, a->y, first, batch * a->gm + row);
    kw_result_lanes(to, kw_load(lane), kw_place_lanes(at, 0, end - first));
#elif KW_STORAGE == 3
    for (kw_i64 i = 0; i < end - first; i++)
        ((kw_i32_u *)to)[i] = (int)sums[i];
#else
    for (kw_i64 i = 0; i < end - first; i++)
        kw_store_1(to + i * KW_OUT_BYTES, sums[i]);
#endif
}

/* The tile of columns from `column` to `last` at a row, from depth vector `step` on, and its results where the depth ends. */
static void sum_tile(const kw_kernel_args *a, kw_dot_job *job, kw_i64 batch, kw_i64 row, kw_i64 column, kw_i64 last, kw_i64 step) {
    kw_i64 from = kw_min(column, a->gn - KW_COLUMNS), behind = kw_min(column + KW_COLUMNS, last), top = kw_min(row, a->gm - KW_ROWS);
    job->a = a->x + (batch * a->batch_step[0] + step * KW_STEP) * KW_BYTES + top * job->a_row;
    job->b = a->w + (batch * a->batch_step[1] + step * KW_STEP) * KW_BYTES + from * job->b_column;
    kw_tile(job);
    for (kw_i64 r = row; r < kw_min(row + KW_ROWS, a->gm) && !job->goes_on; r++)
        store_row(a, batch, r, column, behind, job->sums + (r - top) * KW_COLUMNS + (column - from));
}

/* So many rows from `top` on, a chunk of the depth after the other. */
static void sum_rows(const kw_kernel_args *a, kw_dot_job *job, kw_i64 batch, kw_i64 top, kw_i64 rows, kw_i64 begin, kw_i64 last) {
    char *waiting = job->waiting;
    for (kw_i64 step = 0, steps = a->gk / KW_STEP; step < steps; step += job->steps) {
        job->steps = kw_min(a->params.chunk, steps - step);
        job->begun = step > 0, job->goes_on = step + job->steps < steps;
        job->waiting = waiting;
        for (kw_i64 row = top; row < top + rows; row += KW_ROWS) {
            for (kw_i64 column = begin; column < last;
                 column += KW_COLUMNS, job->waiting += KW_DOT_WAITING(KW_ROWS, KW_COLUMNS) * KW_VECTOR)
                sum_tile(a, job, batch, row, column, last, step);
        }
    }
    job->waiting = waiting;
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 parts = (a->gn + a->params.columns - 1) / a->params.columns, block = a->params.down * KW_ROWS;
    kw_dot_job job = {.a_row = a->line_step[0] * KW_BYTES, .b_column = a->line_step[1] * KW_BYTES, .sums = memory};
    job.waiting = (char *)memory + (4 * KW_ROWS * KW_COLUMNS + KW_LINE - 1) / KW_LINE * KW_LINE;
    job.steps = a->gk / KW_STEP, job.rest = a->gk % KW_STEP;
    job.shift = KW_RAISED ? 128 : 0;
#if KW_X_ZERO
    job.shift += (kw_sum)KW_X_ZERO_OF(a);
#endif
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 batch = unit / parts, first = unit % parts * a->params.columns, last = kw_min(first + a->params.columns, a->gn);
        for (kw_i64 row = 0; block && row < a->gm; row += block)
            sum_rows(a, &job, batch, row, kw_min(block, a->gm - row), first, last);
        for (kw_i64 column = first; !block && column < last; column += KW_COLUMNS) {
            for (kw_i64 row = 0; row < a->gm; row += KW_ROWS)
                sum_tile(a, &job, batch, row, column, last, 0);
        }
    }
}

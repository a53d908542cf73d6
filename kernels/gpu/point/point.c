/* point.c: 1x1 convolution with strides of 1, forward and backward data, where one block has room for all weights: family
 * conv.point_block.
 *
 * Pixels are rows of both tensors, as long as there are channels. Of channels that no vector divides a row begins anywhere, but KW_ROWS of
 * them together, a strip, are one range of bytes that begins at a multiple of 16, in the source and in the result. So a wave copies a
 * strip's range as it lies, reads the elements of its fragments from shared memory, wherever rows begin there, rounds sums to where they
 * lie in the result's range, and stores that range 16 bytes at a time. A block brings the weights once, into lines that matrix reads can
 * take (kw_matrix_read); then its waves go from strip to strip without meeting each other.
 *
 * Depths beyond the last are zeros in both operands; pixels and channels of the result beyond the last are multiplied and stored
 * nowhere. */
#include "gpu/point/args.h"
#define KW_KERNEL_PARAMS kw_point_params
#include "kw_config.h"
#include "gpu/matrix/fragment.h"
#if KW_PTX
#include "gpu/matrix/mma_ptx.h"
#else
#include "gpu/matrix/mma_emu.h"
#endif

enum { KW_REPEAT_M = KW_ROWS / KW_INST_M, KW_REPEAT_N = KW_COLS / KW_INST_N };
enum { KW_PIECE = 16 / KW_BYTES }; /* elements that are moved together */

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
} kw_sums;

/* A wave's part of shared memory, and the sizes that all strips have. */
typedef struct kw_strips {
    const char *source; /* the tensor */
    char *result;
    char *weights, *strip, *out; /* shared memory */
    int depth, cols, pixels, pitch;
} kw_strips;

/* --- ranges of bytes --- */

/* Asks for whole pieces of 16 bytes of a range of elements, by a wave each so many copies; behind them are zeros. */
KW_DEVICE void kw_range_ask(char *to, const char *from, int elements, int wave, int waves) {
    for (int at = wave * KW_WAVE_COPY; at < KW_POINT_COPIES(elements); at += waves * KW_WAVE_COPY) {
        int own = at + 16 * kw_lane(), there = own + 16 <= elements * KW_BYTES;
        kw_async16(to + at, from + (there ? own : 0), there);
    }
    kw_async_commit();
}

/* And what it has besides, less than a piece, when its copies are there. */
KW_DEVICE void kw_range_end(char *to, const char *from, int elements) {
    int own = elements / KW_PIECE * KW_PIECE + kw_lane();
    if (own < elements) ((kw_u16 *)to)[own] = ((const kw_u16 *)from)[own];
}

/* --- weights --- */

/* Lines begin at any element of w: a piece is cut out of the words that it lies in. raw: w as it lies. */
KW_DEVICE void kw_weights_line_up(const kw_strips *s, const char *raw) {
    int lines = KW_POINT_DATA ? s->depth : s->cols, length = KW_POINT_DATA ? s->cols : s->depth, whole = s->pitch - KW_PIECE;
    int line = kw_thread() / (whole / KW_PIECE), at = kw_thread() * KW_PIECE - line * whole;
    int more_lines = KW_BLOCK_THREADS / (whole / KW_PIECE), more = KW_BLOCK_THREADS * KW_PIECE - more_lines * whole;
    for (; line < KW_POINT_LINES(s->depth, s->cols); line += more_lines) {
        int element = line * length + at, left = line < lines ? length - at : 0, shift = element % 2 * 16;
        const kw_u32 *from = (const kw_u32 *)raw + (left > 0 ? element / 2 : 0);
        kw_u32 words[KW_PIECE / 2 + 1], out[KW_PIECE / 2];
        KW_UNROLL
        for (int w = 0; w <= KW_PIECE / 2; w++)
            words[w] = from[w];
        KW_UNROLL
        for (int w = 0; w < KW_PIECE / 2; w++) {
            out[w] = shift ? words[w] >> 16 | words[w + 1] << 16 : words[w];
            out[w] = 2 * w + 1 < left ? out[w] : 2 * w < left ? out[w] & 0xffffu : 0;
        }
        kw_store_run(s->weights + (line * s->pitch + at) * KW_BYTES, out, 16);
        at += more;
        if (at >= whole) at -= whole, line++;
    }
}

/* --- strips --- */

/* Pixels of a strip, and where its range begins in a tensor of so many channels. */
KW_DEVICE int kw_strip_rows(const kw_strips *s, int strip) { return kw_min(KW_ROWS, s->pixels - strip * KW_ROWS); }
KW_DEVICE kw_i64 kw_strip_at(int strip, int channels) { return (kw_i64)strip * (KW_ROWS * KW_BYTES) * channels; }

KW_DEVICE void kw_strip_ask(const kw_strips *s, int strip) {
    kw_range_ask(s->strip, s->source + kw_strip_at(strip, s->depth), kw_strip_rows(s, strip) * s->depth, 0, 1);
}

/* Until it is there, with what the last strip has besides whole pieces. */
KW_DEVICE void kw_strip_await(const kw_strips *s, int strip) {
    int elements = kw_strip_rows(s, strip) * s->depth;
    kw_async_wait(0, 1);
    kw_wave_barrier();
    if (elements % KW_PIECE == 0) return;
    kw_range_end(s->strip, s->source + kw_strip_at(strip, s->depth), elements);
    kw_wave_barrier();
}

/* The lane's words of all instructions' rows at depth k. Each is read, whatever it is, and what is behind the last depth is taken for
 * zero: a branch an element would wait for one after the other. */
KW_DEVICE void kw_read_source(kw_frag_a frag[KW_REPEAT_M], const kw_strips *s, int k) {
    int first = k + 2 * kw_frag_group(kw_lane());
    const kw_u16 *from = (const kw_u16 *)s->strip + kw_frag_row_a(kw_lane(), 0) * s->depth + first;
    if (s->depth % 2 == 0) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M * KW_A_WORDS; i++)
            frag[i / KW_A_WORDS].w[i % KW_A_WORDS] = *(const kw_u32 *)(from + (i / KW_A_WORDS * 16 + i % 2 * 8) * s->depth + i / 2 % 2 * 8);
    } else {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M * KW_A_WORDS; i++) {
            const kw_u16 *at = from + (i / KW_A_WORDS * 16 + i % 2 * 8) * s->depth + i / 2 % 2 * 8;
            frag[i / KW_A_WORDS].w[i % KW_A_WORDS] = (kw_u32)at[0] | (kw_u32)at[1] << 16;
        }
    }
    if (k + KW_INST_K <= s->depth) return;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_A_WORDS; i++) {
        int left = s->depth - first - i / 2 % 2 * 8;
        frag[i / KW_A_WORDS].w[i % KW_A_WORDS] &= left > 1 ? ~0u : left == 1 ? 0xffffu : 0;
    }
}

/* Words of two instructions' columns, from channel col of the result on. */
KW_DEVICE void kw_read_weights(kw_u32 words[4], const kw_strips *s, int col, int k) {
    int lane = kw_lane();
#if KW_POINT_DATA
    int at = (k + lane % 16) * s->pitch + col + lane / 16 * 8;
#else
    int at = (col + lane / 16 * 8 + lane % 8) * s->pitch + k + lane / 8 % 2 * 8;
#endif
    kw_matrix_read(words, s->weights + at * KW_BYTES, 4, KW_POINT_DATA);
}

/* Sums of KW_COLS channels of the result from `first` on, or as many as there are, in pairs of instructions. */
KW_DEVICE void kw_strip_multiply(kw_sums *sums, const kw_strips *s, int first) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++)
        sums->at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
    kw_frag_a a[KW_REPEAT_M], next[KW_REPEAT_M];
    kw_read_source(next, s, 0);
    KW_ROLLED
    for (int k = 0; k < s->depth; k += KW_INST_K) {
        KW_UNROLL
        for (int m = 0; m < KW_REPEAT_M; m++)
            a[m] = next[m];
        if (k + KW_INST_K < s->depth) kw_read_source(next, s, k + KW_INST_K);
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n += 2) {
            if (first + n * KW_INST_N < s->cols) {
                kw_u32 words[2 * KW_B_WORDS];
                kw_read_weights(words, s, first + n * KW_INST_N, k);
                KW_UNROLL
                for (int half = 0; half < 2; half++) {
                    kw_frag_b b;
                    KW_UNROLL
                    for (int w = 0; w < KW_B_WORDS; w++)
                        b.w[kw_frag_word(KW_B_ROWS, 0, w)] = words[half * KW_B_WORDS + w];
                    KW_UNROLL
                    for (int m = 0; m < KW_REPEAT_M; m++)
                        kw_mma(&sums->at[m][n + half], &a[m], &b);
                }
            }
        }
    }
}

/* --- results --- */

/* A wave's sums to their places in the strip's result: pairs of channels, as words where all pixels begin at such. One question of a
 * whole strip, as a branch for each pair takes longer than what is stored. */
KW_DEVICE void kw_strip_put(const kw_strips *s, const kw_gpu_args *a, int strip, const kw_sums *sums, int first) {
    int row = kw_acc_row(kw_lane(), 0), col = first + kw_acc_col(kw_lane(), 0), left = s->cols - col;
    kw_u16 *to = (kw_u16 *)s->out + row * s->cols + col;
#if KW_EPILOGUE
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++) {
        int n = i / KW_ACC_N % KW_REPEAT_N, e = i % KW_ACC_N, over = i / KW_ACC_N / KW_REPEAT_N * KW_INST_M + e / 2 * 8;
        kw_i64 pixel = (kw_i64)strip * KW_ROWS + row + over;
        kw_place place = {pixel * s->cols + col + n * KW_INST_N + e % 2, col + n * KW_INST_N + e % 2, pixel, 0};
        if (pixel < s->pixels && n * KW_INST_N + e % 2 < left)
            kw_finish_run((char *)(to + over * s->cols + n * KW_INST_N + e % 2), a, place, &sums->at[i / KW_ACC_N / KW_REPEAT_N][n].e[e],
                          1);
    }
#else
    (void)a, (void)strip;
    if (s->cols % 2 == 0) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * 2; i++) {
            int n = i / 2 % KW_REPEAT_N, m = i / 2 / KW_REPEAT_N;
            const kw_sum *pair = &sums->at[m][n].e[i % 2 * 2];
            kw_u32 word = kw_out_pair(pair[0], pair[1]);
            if (n * KW_INST_N < left) *(kw_u32 *)(to + (m * KW_INST_M + i % 2 * 8) * s->cols + n * KW_INST_N) = word;
        }
    } else {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * 2; i++) {
            int n = i / 2 % KW_REPEAT_N, m = i / 2 / KW_REPEAT_N;
            const kw_sum *pair = &sums->at[m][n].e[i % 2 * 2];
            kw_u32 word = kw_out_pair(pair[0], pair[1]);
            kw_u16 *at = to + (m * KW_INST_M + i % 2 * 8) * s->cols + n * KW_INST_N;
            if (n * KW_INST_N < left) at[0] = (kw_u16)word;
            if (n * KW_INST_N + 1 < left) at[1] = (kw_u16)(word >> 16);
        }
    }
#endif
}

#define KW_RESULT_LOADS 4 /* pieces of a lane that are under way together */

KW_DEVICE void kw_strip_store(const kw_strips *s, int strip) {
    char *to = s->result + kw_strip_at(strip, s->cols);
    int elements = kw_strip_rows(s, strip) * s->cols, pieces = elements / KW_PIECE, own = pieces * KW_PIECE + kw_lane();
    for (int first = kw_lane(); first < pieces; first += KW_RESULT_LOADS * KW_WAVE) {
        kw_u32 words[KW_RESULT_LOADS][4];
        KW_UNROLL
        for (int i = 0; i < KW_RESULT_LOADS; i++)
            kw_load_run(words[i], s->out + kw_min(first + i * KW_WAVE, pieces - 1) * 16, 16);
        KW_UNROLL
        for (int i = 0; i < KW_RESULT_LOADS; i++)
            if (first + i * KW_WAVE < pieces) kw_store_run(to + (first + i * KW_WAVE) * 16, words[i], 16);
    }
    if (own < elements) ((kw_u16 *)to)[own] = ((const kw_u16 *)s->out)[own];
}

KW_KERNEL(kw_stage0, KW_BLOCK_THREADS) {
    KW_LDS(KW_ROOM_BYTES);
    kw_strips s;
    s.depth = (int)args.params.depth, s.cols = (int)args.params.cols, s.pixels = (int)args.params.pixels;
    s.pitch = KW_POINT_PITCH(s.depth, s.cols);
    s.source = KW_POINT_DATA ? args.y : args.x, s.result = KW_POINT_DATA ? args.x : args.y;
    s.weights = kw_lds;
    char *strips_at = kw_lds + KW_POINT_WEIGHT_BYTES(s.depth, s.cols), *results = strips_at + KW_WAVES * KW_POINT_SOURCE_BYTES(s.depth);
    s.strip = strips_at + kw_wave() * KW_POINT_SOURCE_BYTES(s.depth);
    s.out = results + kw_wave() * KW_POINT_RESULT_BYTES(s.cols);
    /* Strips that follow each other belong to different blocks, so that few of them meet all multiprocessors. */
    int strips = (int)args.params.strips, blocks = (int)kw_blocks(), strip = kw_wave() * blocks + (int)kw_block();
    kw_begin();
    kw_range_ask(results, args.w, s.depth * s.cols, kw_wave(), KW_WAVES);
    if (strip < strips)
        kw_strip_ask(&s, strip);
    else
        kw_async_commit();
    kw_async_wait(1, 1);
    kw_barrier();
    if (kw_wave() == 0) kw_range_end(results, args.w, s.depth * s.cols);
    kw_barrier();
    kw_weights_line_up(&s, results);
    kw_barrier();
    for (; strip < strips; strip += KW_WAVES * blocks) {
        kw_sums sums;
        kw_strip_await(&s, strip);
        for (int first = 0; first < s.cols; first += KW_COLS) {
            kw_strip_multiply(&sums, &s, first);
            kw_strip_put(&s, &args, strip, &sums, first);
        }
        kw_wave_barrier();
        if (strip + KW_WAVES * blocks < strips) kw_strip_ask(&s, strip + KW_WAVES * blocks);
        kw_strip_store(&s, strip);
        kw_wave_barrier();
    }
}

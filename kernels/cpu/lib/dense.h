/* dense.h: what the emitted kw_tile() works on, and the small parts that all dense kernels share: packing of weights, copying of channels,
 * the store of a tile that is not whole. The generated part in front defines KW_TILE_ROWS, KW_TILE_COLS, KW_TILE_VECS.
 *
 * A step is KW_PAIR source channels, which take 4 bytes a pixel. Packed weights are runs of steps, each step KW_TILE_VECS vectors: the
 * words of KW_BLOCK output channels side by side. A run's source elements lie side by side as well.
 *
 * KW_RAISED: the instruction multiplies unsigned bytes by signed ones, and the pixels are signed. Copied ones are 128 + value, zeros outside
 * the image too, and each run of packed weights begins with a step of -128 times the run's sums, by which the tile's sums begin. (A tile
 * that raises what it reads takes a quarter longer with two vectors of weights: the instruction takes the multipliers' slots. That is less than
 * a copy of what is read once, KW_IN_PLACE.)
 * KW_X_ZERO: the same with any number: runs begin with their sums, a tile's sums by these times -(zero point + 128), or without the 128
 * where pixels are as they were; padding is the zero point. So packed weights are the same for all zero points. */
#include "cpu/ahead/call.h"

#ifndef KW_TILE_APART
#define KW_TILE_APART 0
#endif
#ifndef KW_TILE_REPEATS
#define KW_TILE_REPEATS 0
#endif
#define KW_TILE_ZIPS (KW_TILE_APART && KW_DP && KW_LANES == 16)
#define KW_TILE_PIXELS (KW_TILE_ROWS * KW_TILE_COLS)
#define KW_BLOCK (KW_TILE_VECS * KW_LANES)
#define KW_VECTOR (4 * KW_LANES)
#define KW_STEP_BYTES KW_TILE_STEP_BYTES(KW_BLOCK)
#define KW_CONVERTS (KW_WORD != KW_BYTES || KW_RAISED)
#define KW_HEADED (KW_RAISED || KW_X_ZERO)
#define KW_HEAD_BYTES (KW_HEADED ? KW_STEP_BYTES : 0) /* before the steps of a run */
#define KW_SPILL_BYTES KW_TILE_SPILL_BYTES(KW_TILE_PIXELS, KW_BLOCK)

/* src, w: bytes from the tile's first source pixel, from the block's first weight. at, at_row (where KW_TILE_SKIP): the source column and
 * row that the walk's first pixel reads. */
typedef struct kw_run {
    kw_i64 src, w;
#if KW_TILE_SKIP
    kw_i64 at, at_row;
#endif
} kw_run;

/* What one call of kw_tile() does. Distances in bytes. Only the first rows, cols and channels of the tile are written; where it is not
 * whole, by way of spill (KW_SPILL_BYTES). ahead: what a prefetching tile asks for, and how far on a step later. odd: the runs end with half a pair. Where
 * KW_TILE_SKIP: the tile's first pixel reads column run->at + col of width columns and row run->at_row + row of height rows, its neighbours
 * col_step and row_step further. */
typedef struct kw_tile_job {
    const kw_run *runs;
    kw_i64 run_count, steps, run_step; /* run_step: where KW_TILE_JOINS */
    const char *src, *w;
    kw_i64 src_pixel, src_row, src_step; /* src_step: where KW_TILE_STRIDES */
    char *out;
    kw_i64 out_pixel, out_row;
    kw_place at; /* of the first result, with the steps from pixel to pixel and from row to row */
    kw_i64 rows, cols, channels;
#if KW_TILE_REPEATS
    kw_i64 tiles, ahead_tile, far_again; /* ahead_tile: how far on a tile later ahead is; far_again: far of all but the first */
#endif
    int odd;
#if KW_TILE_SKIP
    kw_i64 col, col_step, width, row, row_step, height;
#endif
    char *spill;
    const char *ahead;
    kw_i64 ahead_step;
    const char *soon; /* KW_TILE_SOON, into the second level */
    kw_i64 soon_step;
    kw_i64 far; /* bytes ahead of where it multiplies that a tile of vectors asks for weights; 0 where the core does so by itself */
#if KW_X_ZERO
    int times; /* that the sums in front of runs are taken */
#endif
#if KW_TILE_APART
    kw_i64 w_step, apart;
#endif
    int keep;         /* math=amx: the pixels are read again soon */
    const char *next; /* math=amx: weights that come next, of which next_lines are asked for with each chunk */
    kw_i64 next_lines;
    kw_i64 back;    /* KW_TILE_BACK */
    int more, rest; /* math=amx, KW_TILE_RESUMES: sums begin with what is in spill; they are left there for more to come */
    kw_i64 lead;    /* where KW_IN_PLACE: pixels in front that are summed again and not written */
    int unraised;   /* and pixels are as they lie in the tensor */
} kw_tile_job;

/* far of a tile where the kernel's is so many bytes, less than none: only the first tile of a block of weights asks, with which they come. */
KW_INLINE kw_i64 kw_far_of_tile(kw_i64 far, int is_first) { return far >= 0 ? far : is_first ? -far : 0; }

/* Steps of a run of so many source elements, with those that math=amx adds as zeros. */
KW_INLINE kw_i64 kw_run_steps(kw_i64 elements) {
    kw_i64 steps = (elements + KW_PAIR - 1) / KW_PAIR;
    return KW_MATH == 3 ? KW_AMX_CHUNKS(steps) * KW_AMX_CHUNK(steps) : steps;
}

/* The pixels of a tile as bits, row by row. */
#define KW_ALL_PIXELS (~(kw_u32)0 >> (32 - KW_TILE_PIXELS))
#if KW_TILE_SKIP
/* Which of the positions first, first + step, ..., of which there are count, lie in 0..size-1. */
KW_INLINE kw_u32 kw_positions_inside(kw_i64 first, kw_i64 step, kw_i64 count, kw_i64 size) {
    kw_i64 low = 0, high = count;
    if (first < 0) low = step == 1 ? -first : (step - 1 - first) / step;
    if (first + (count - 1) * step >= size) high = step == 1 ? size - first : (size - first + step - 1) / step;
    return low < high ? (2u << (high - 1)) - (1u << low) : 0;
}

/* The pixels of a tile that are written and read no padding by this run; where KW_HEADED all that are written, if one reads none in its
 * columns. */
KW_INLINE kw_u32 kw_pixels_inside(const kw_tile_job *job, const kw_run *run) {
    kw_u32 cols = kw_positions_inside(run->at + job->col, job->col_step, job->cols, job->width), rows = ~0u >> (32 - job->rows);
    if (KW_HEADED && cols) cols = ~0u >> (32 - job->cols);
    if (KW_TILE_ROWS == 1) return cols;
    if (!KW_HEADED) rows = kw_positions_inside(run->at_row + job->row, job->row_step, job->rows, job->height);
    kw_u32 pixels = 0;
    for (int r = 0; r < KW_TILE_ROWS; r++)
        pixels |= (rows >> r & 1 ? cols : 0) << r * KW_TILE_COLS;
    return pixels;
}
#endif

/* Whether all channels of the tile exist, and all pixels, but where KW_TILE_SKIP leaves out any and KW_TILE_FEWER the last column. */
#ifndef KW_TILE_FEWER
#define KW_TILE_FEWER 0
#endif
#define KW_ROWS_LEAST (KW_TILE_SKIP ? 0 : KW_TILE_ROWS)
#define KW_COLS_LEAST (KW_TILE_SKIP ? 0 : KW_TILE_COLS - KW_TILE_FEWER)
#ifndef KW_IN_PLACE
#define KW_IN_PLACE 0
#endif
#define KW_LEAD(job) (KW_IN_PLACE ? (job)->lead : 0)
KW_INLINE int kw_tile_whole(const kw_tile_job *job) {
    return job->rows >= KW_ROWS_LEAST && job->cols >= KW_COLS_LEAST && job->channels >= KW_BLOCK && !KW_LEAD(job);
}

/* All channels of a pixel. */
KW_INLINE void kw_store_whole(char *out, const char *pixel) {
    for (kw_i64 v = 0; v + 1 < KW_TILE_VECS; v += 2)
        kw_store_two(out + v * KW_LANES * KW_OUT_BYTES, kw_load(pixel + v * KW_VECTOR), kw_load(pixel + (v + 1) * KW_VECTOR));
    for (kw_i64 v = KW_TILE_VECS & ~1; v < KW_TILE_VECS; v++)
        kw_store_x(out + v * KW_LANES * KW_OUT_BYTES, kw_load(pixel + v * KW_VECTOR));
}

#if KW_EPILOGUE
/* The last channels of a tile's pixels, rest of them behind whole ones, which fill no vector. A function of its own, so that the loop over whole
 * vectors has all registers. */
static __attribute__((noinline, unused)) void kw_tile_rest(const kw_tile_job *job, kw_i64 whole, kw_i64 rest) {
    kw_place at = kw_place_lanes(kw_place_moved(job->at, whole, 0, 0), 0, rest);
    kw_tables tables = kw_tables_of();
    kw_held held = kw_held_of_lanes(at);
    for (kw_i64 row = 0; row < job->rows; row++) {
        const char *pixel = job->spill + row * KW_TILE_COLS * KW_STEP_BYTES + 4 * whole;
        char *out = job->out + row * job->out_row + whole * KW_OUT_BYTES;
        for (kw_i64 col = KW_LEAD(job); col < job->cols; col++)
            kw_result_held_lanes(&tables, &held, out + col * job->out_pixel, kw_load(pixel + col * KW_STEP_BYTES),
                                 kw_place_moved(at, 0, col, row));
    }
}

/* Writes what exists of a tile, from spill: whole vectors, and then those that are not. */
static __attribute__((unused)) void kw_tile_part(const kw_tile_job *job) {
    kw_i64 whole = kw_min(job->channels, KW_BLOCK) / KW_LANES * KW_LANES, rest = kw_min(job->channels, KW_BLOCK) - whole;
    kw_tables tables = kw_tables_of();
    kw_place at = job->at;
    for (kw_i64 row = 0; row < job->rows; row++) {
        const char *pixel = job->spill + (row * KW_TILE_COLS + KW_LEAD(job)) * KW_STEP_BYTES;
        char *out = job->out + row * job->out_row + KW_LEAD(job) * job->out_pixel;
        for (kw_i64 col = KW_LEAD(job); col < job->cols; col++, pixel += KW_STEP_BYTES, out += job->out_pixel) {
            for (kw_i64 v = 0; v < whole; v += KW_LANES)
                kw_result_by(&tables, out + v * KW_OUT_BYTES, kw_load(pixel + 4 * v), kw_place_moved(at, v, col, row));
        }
    }
    if (rest) kw_tile_rest(job, whole, rest);
}
#else
/* Writes what exists of a tile, from spill. A vector that is not whole is written by a mask, or by its halves, quarters and so on. */
static __attribute__((unused)) void kw_tile_part(const kw_tile_job *job) {
    kw_i64 channels = kw_min(job->channels, KW_BLOCK);
    for (kw_i64 row = 0; row < job->rows; row++) {
        const char *pixel = job->spill + (row * KW_TILE_COLS + KW_LEAD(job)) * KW_STEP_BYTES;
        char *out = job->out + row * job->out_row + KW_LEAD(job) * job->out_pixel;
        for (kw_i64 col = KW_LEAD(job); col < job->cols; col++, pixel += KW_STEP_BYTES, out += job->out_pixel) {
            if (KW_MATH == 3 && channels == KW_BLOCK) {
                kw_store_whole(out, pixel);
                continue;
            }
            kw_i64 left = channels;
            const char *from = pixel;
            char *to = out;
            for (; left >= 2 * KW_LANES; left -= 2 * KW_LANES, from += 2 * KW_VECTOR, to += 2 * KW_LANES * KW_OUT_BYTES)
                kw_store_two(to, kw_load(from), kw_load(from + KW_VECTOR));
            for (; left >= KW_LANES; left -= KW_LANES, from += KW_VECTOR, to += KW_LANES * KW_OUT_BYTES)
                kw_store_x(to, kw_load(from));
#if KW_MASKS
            if (left > 0) kw_store_tail(to, kw_load(from), left);
#else
            char bytes[KW_LANES * KW_OUT_BYTES];
            if (left > 0) kw_store_x(bytes, kw_load(from));
            from = bytes;
            if (left & 4) __builtin_memcpy(to, from, 4 * KW_OUT_BYTES), to += 4 * KW_OUT_BYTES, from += 4 * KW_OUT_BYTES;
            if (left & 2) __builtin_memcpy(to, from, 2 * KW_OUT_BYTES), to += 2 * KW_OUT_BYTES, from += 2 * KW_OUT_BYTES;
            if (left & 1) __builtin_memcpy(to, from, KW_OUT_BYTES);
#endif
        }
    }
}
#endif

static void kw_fill(char *to, kw_i64 bytes, kw_u32 word) {
    kw_vf words = kw_spread_word(&word);
    kw_i64 i = 0;
    for (; i + KW_VECTOR <= bytes; i += KW_VECTOR)
        kw_put(to + i, words);
#if KW_MASKS
    unsigned long long rest = (1ull << (bytes - i)) - 1;
    if (rest) __asm__("vmovdqu8 %1, %0%{%2%}" : "+m"(*(kw_vf_u *)(to + i)) : "v"(words), "Yk"(rest));
#else
    for (; i + 4 <= bytes; i += 4)
        *(kw_i32_u *)(to + i) = (int)word;
    for (; i < bytes; i++)
        to[i] = (char)(word >> 8 * (i % 4));
#endif
}

/* Zeros as a tile reads them. */
static void kw_zero(char *to, kw_i64 bytes) { kw_fill(to, bytes, KW_ZERO_BYTE * 0x01010101u); }

#if KW_X_ZERO
KW_INLINE int kw_head_times(const kw_kernel_args *a) { return -(KW_X_ZERO_OF(a) + (KW_RAISED ? 128 : 0)); }
/* What lies outside the image. */
KW_INLINE void kw_pad(const kw_kernel_args *a, char *to, kw_i64 bytes) {
    kw_u32 zero = (kw_u32)KW_X_ZERO_OF(a);
    kw_fill(to, bytes, KW_WORD == 1 ? (zero & 0xffu) * 0x01010101u ^ KW_ZERO_BYTE * 0x01010101u : (zero & 0xffffu) * 0x00010001u);
}
#else
KW_INLINE void kw_pad(const kw_kernel_args *a, char *to, kw_i64 bytes) {
    (void)a;
    kw_zero(to, bytes);
}
#endif

/* The steps that math=amx adds to a run of weights. */
static void kw_zero_steps(char *to, kw_i64 elements) {
    kw_i64 added = kw_run_steps(elements) - (elements + KW_PAIR - 1) / KW_PAIR;
    if (added) kw_zero(to, added * KW_STEP_BYTES);
}

/* What is behind count copied channels of a run, zeros where the pixel has room: numbers that are not could spoil its sums. A run of math=amx may
 * have steps to the end of a line. */
KW_INLINE void kw_fill_run(char *to, kw_i64 count, kw_i64 room) {
    kw_i64 at = count * KW_WORD, end = kw_min(room, KW_MATH == 3 ? (at + KW_LINE - 1) / KW_LINE * KW_LINE : 4 * kw_run_steps(count));
    if (at < end) kw_zero(to + at, end - at);
}

#if KW_HEADED
/* Of each word's elements. */
KW_INLINE kw_vi kw_sum_of_word(kw_vf word) {
    kw_vi w = (kw_vi)word;
    if (KW_WORD == 2) return (w << 16 >> 16) + (w >> 16);
    return (w << 24 >> 24) + (w << 16 >> 24) + (w << 8 >> 24) + (w >> 24);
}

/* The step in front of a run whose steps end at end. */
static void kw_pack_head(char *head, const char *end) {
    for (kw_i64 v = 0; v < KW_BLOCK; v += KW_LANES, head += KW_VECTOR) {
        kw_vi sums = {0};
        for (const char *step = head + KW_STEP_BYTES; step < end; step += KW_STEP_BYTES)
            sums += kw_sum_of_word(kw_load(step));
        kw_put(head, (kw_vf)(KW_X_ZERO ? sums : sums * -128));
    }
}
#endif

/* One run of weights for one block (kw_ahead_pack), with the step in front where there is one and the steps that math=amx adds. */
KW_INLINE void kw_pack_run(const kw_kernel_args *a, char *to, const char *w, kw_i64 elements, kw_i64 element, kw_i64 channels,
                           kw_i64 channel) {
    kw_i64 steps = (elements + KW_PAIR - 1) / KW_PAIR;
    char *first = to + KW_HEAD_BYTES, *end = first + steps * KW_STEP_BYTES;
    KW_AHEAD(a, KW_AHEAD_KIND)->pack(first, w, elements, element, channels, channel, KW_BLOCK);
    kw_zero_steps(end, elements);
#if KW_HEADED
    kw_pack_head(to, first + kw_run_steps(elements) * KW_STEP_BYTES);
#endif
}

#if KW_STORAGE == 3 && KW_WORD == 1
typedef kw_u32 kw_quarter __attribute__((vector_size(16), aligned(1), may_alias));

/* Copies bytes, raised where they are. What is left behind the last whole vector, 16 bytes or word is taken once more with what stands before
 * it. */
static void kw_copy_bytes(char *to, const char *from, kw_i64 bytes) {
    const kw_u32 word = KW_ZERO_BYTE * 0x01010101u;
    const kw_vu flip = (kw_vu)kw_spread_word(&word);
    const kw_quarter flip_quarter = {word, word, word, word};
    kw_i64 i = 0;
    for (; i + KW_VECTOR <= bytes; i += KW_VECTOR)
        *(kw_vu_u *)(to + i) = *(const kw_vu_u *)(from + i) ^ flip;
    if (i == bytes) return;
    if (bytes >= KW_VECTOR) {
        *(kw_vu_u *)(to + bytes - KW_VECTOR) = *(const kw_vu_u *)(from + bytes - KW_VECTOR) ^ flip;
    } else if (bytes >= 16) {
        for (; i + 16 < bytes; i += 16)
            *(kw_quarter *)(to + i) = *(const kw_quarter *)(from + i) ^ flip_quarter;
        *(kw_quarter *)(to + bytes - 16) = *(const kw_quarter *)(from + bytes - 16) ^ flip_quarter;
    } else if (bytes >= 4) {
        for (; i + 4 < bytes; i += 4)
            *(kw_i32_u *)(to + i) = *(const kw_i32_u *)(from + i) ^ (int)word;
        *(kw_i32_u *)(to + bytes - 4) = *(const kw_i32_u *)(from + bytes - 4) ^ (int)word;
    } else {
        for (; i < bytes; i++)
            to[i] = (char)(from[i] ^ KW_ZERO_BYTE);
    }
}

typedef kw_u32 kw_half __attribute__((vector_size(32), aligned(1), may_alias));

/* Copies pixels of at most a vector of bytes by one move each: what a move writes behind its pixel is the next one's place, or bytes of
 * another group that meet weights of zero. Gives how many; the last ones, behind which something else stands, are left. */
static __attribute__((unused)) kw_i64 kw_copy_narrow(char *to, kw_i64 pixel, const char *from, kw_i64 pitch, kw_i64 bytes, kw_i64 pixels) {
    const kw_u32 word = KW_ZERO_BYTE * 0x01010101u;
    kw_i64 width = bytes <= 16 ? 16 : bytes <= 32 ? 32 : KW_VECTOR, step = kw_min(pixel, pitch);
    kw_i64 moved = bytes > KW_VECTOR || (KW_MATH == 3 && pixel > width) ? 0 : pixels - (width + step - 1) / step;
    if (width == 16) {
        const kw_quarter flip = (kw_quarter){0} + word;
        for (kw_i64 i = 0; i < moved; i++)
            *(kw_quarter *)(to + i * pixel) = *(const kw_quarter *)(from + i * pitch) ^ flip;
    } else if (width == 32) {
        const kw_half flip = (kw_half){0} + word;
        for (kw_i64 i = 0; i < moved; i++)
            *(kw_half *)(to + i * pixel) = *(const kw_half *)(from + i * pitch) ^ flip;
    } else {
        const kw_vu flip = (kw_vu)kw_spread_word(&word);
        for (kw_i64 i = 0; i < moved; i++)
            *(kw_vu_u *)(to + i * pixel) = *(const kw_vu_u *)(from + i * pitch) ^ flip;
    }
    return kw_max(moved, 0);
}

/* Copies count channels that lie side by side, as the tile reads them. */
static void kw_copy(char *to, const char *from, kw_i64 count, kw_i64 room) {
    kw_i64 end = (count + KW_PAIR - 1) / KW_PAIR * 4;
    if (KW_MATH != 3 && count % KW_PAIR && end <= room) {
        const kw_u32 zero = KW_ZERO_BYTE * 0x01010101u; /* the last step, of which the channels take a part */
        *(kw_i32_u *)(to + end - 4) = (int)zero;
        kw_copy_bytes(to, from, count);
        return;
    }
    kw_copy_bytes(to, from, count);
    kw_fill_run(to, count, room);
}
#elif KW_STORAGE == 3
typedef char kw_bytes4 __attribute__((vector_size(4), aligned(1), may_alias));
typedef char kw_bytes8 __attribute__((vector_size(8), aligned(1), may_alias));
typedef char kw_bytes16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef short kw_shorts8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef short kw_shorts16 __attribute__((vector_size(32), aligned(1), may_alias));

/* 16, 8 or 4 bytes, widened. gcc 12 would widen them by halves. */
#if KW_X_UNSIGNED
#define KW_WIDEN_BYTES "vpmovzxbw"
#else
#define KW_WIDEN_BYTES "vpmovsxbw"
#endif
KW_INLINE void kw_widen16(char *to, const char *from) {
    kw_shorts16 words;
    __asm__(KW_WIDEN_BYTES " %1, %0" : "=v"(words) : "m"(*(const kw_bytes16 *)from));
    *(kw_shorts16 *)to = words;
}
KW_INLINE void kw_widen8(char *to, const char *from) {
    kw_shorts8 words;
    __asm__(KW_WIDEN_BYTES " %1, %0" : "=v"(words) : "m"(*(const kw_bytes8 *)from));
    *(kw_shorts8 *)to = words;
}
KW_INLINE void kw_widen4(char *to, const char *from) {
    kw_shorts8 words = {0};
    __builtin_memcpy(&words, from, 4);
    __asm__(KW_WIDEN_BYTES " %0, %0" : "+v"(words));
    __builtin_memcpy(to, &words, 8);
}

/* Copies pixels of at most 16 bytes by one move each: what a move writes behind its pixel is the next one's place, or meets weights of zero.
 * Gives how many; the last ones, behind which something else stands, are left. */
static __attribute__((unused)) kw_i64 kw_copy_narrow(char *to, kw_i64 pixel, const char *from, kw_i64 pitch, kw_i64 bytes, kw_i64 pixels) {
    kw_i64 width = bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16, step = kw_min(pixel / 2, pitch);
    kw_i64 moved = bytes > 16 ? 0 : pixels - (width + step - 1) / step;
    if (width == 4) {
        for (kw_i64 i = 0; i < moved; i++)
            kw_widen4(to + i * pixel, from + i * pitch);
    } else if (width == 8) {
        for (kw_i64 i = 0; i < moved; i++)
            kw_widen8(to + i * pixel, from + i * pitch);
    } else {
        for (kw_i64 i = 0; i < moved; i++)
            kw_widen16(to + i * pixel, from + i * pitch);
    }
    return kw_max(moved, 0);
}

/* Copies count channels that lie side by side, as the tile reads them. What is left behind the last whole piece is taken once more with what
 * stands before it. */
static void kw_copy(char *to, const char *from, kw_i64 count, kw_i64 room) {
    kw_i64 i = 0;
    for (; i + 16 <= count; i += 16)
        kw_widen16(to + 2 * i, from + i);
    if (i < count && count >= 16) {
        kw_widen16(to + 2 * (count - 16), from + count - 16);
    } else if (i < count && count >= 8) {
        kw_widen8(to, from);
        kw_widen8(to + 2 * (count - 8), from + count - 8);
    } else if (count >= 4 && i < count) {
        kw_widen4(to, from);
        kw_widen4(to + 2 * (count - 4), from + count - 4);
    } else {
        for (; i < count; i++)
            *(kw_u16_u *)(to + 2 * i) = (kw_u16) * (const kw_x8 *)(from + i);
    }
    kw_fill_run(to, count, room);
}
#else
/* A vector of channels. */
KW_INLINE void kw_copy_lanes(char *to, const char *from) {
#if KW_CONVERTS
    kw_put(to, kw_load_x(from));
#else
    __builtin_memcpy(to, from, KW_BYTES * KW_LANES);
#endif
}

/* Copies count channels that lie side by side, as the tile reads them. */
static void kw_copy(char *to, const char *from, kw_i64 count, kw_i64 room) {
    kw_i64 i = 0;
    for (; i + KW_LANES <= count; i += KW_LANES)
        kw_copy_lanes(to + KW_WORD * i, from + KW_BYTES * i);
#if KW_MASKS && KW_STORAGE <= 2
    if (i < count) {
        kw_lanes_mask rest = kw_first_lanes(count - i);
#if KW_WORD == 4
        kw_vf v = kw_load_tail(from + KW_BYTES * i, count - i);
        if (KW_WORD * (i + KW_LANES) <= room)
            kw_put(to + KW_WORD * i, v);
        else
            kw_put_lanes(to + KW_WORD * i, v, rest);
#else
        kw_vh h = kw_get_halves(from + KW_BYTES * i, rest);
        if (KW_WORD * (i + KW_LANES) <= room)
            *(kw_vh_u *)(to + KW_WORD * i) = h;
        else
            kw_put_halves(to + KW_WORD * i, h, rest);
#endif
    }
#else
    if (i < count && count >= KW_LANES) { /* a last vector, that begins before the end of the one before it */
        kw_copy_lanes(to + KW_WORD * (count - KW_LANES), from + KW_BYTES * (count - KW_LANES));
        i = count;
    }
    for (; i < count; i++) {
#if KW_CONVERTS
        *(kw_f32_u *)(to + KW_WORD * i) = kw_load_1(from + KW_BYTES * i);
#else
        __builtin_memcpy(to + KW_WORD * i, from + KW_BYTES * i, KW_BYTES);
#endif
    }
#endif
    kw_fill_run(to, count, room);
}

#define KW_COPIES_NARROW (KW_MASKS && KW_STORAGE <= 2 && !KW_CONVERTS)
#if KW_COPIES_NARROW
/* Copies pixels of so many channels, which lie pitch apart, by whole vectors: what the last one of a pixel writes behind it are zeros in
 * the next one's place, or that of what is written later. */
static __attribute__((unused)) void kw_copy_vectors(char *to, kw_i64 pixel, const char *from, kw_i64 pitch, kw_i64 count, kw_i64 pixels) {
    kw_i64 before = (count * KW_BYTES - 1) / KW_VECTOR * KW_VECTOR; /* bytes before the last vector */
    unsigned long long rest = ~0ull >> (64 - (count * KW_BYTES - before));
    for (kw_i64 i = 0; i < pixels; i++, to += pixel, from += pitch) {
        kw_vf last;
        __asm__("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(last) : "m"(*(const kw_vf_u *)(from + before)), "Yk"(rest));
        for (kw_i64 b = 0; b < before; b += KW_VECTOR)
            kw_put(to + b, kw_load(from + b));
        kw_put(to + before, last);
    }
}
#endif

/* The same of pixels behind which something else stands. Gives how many; the last ones are left. A pixel by itself takes longer to
 * begin and end than to copy. */
static __attribute__((unused)) kw_i64 kw_copy_narrow(char *to, kw_i64 pixel, const char *from, kw_i64 pitch, kw_i64 count, kw_i64 pixels) {
#if KW_COPIES_NARROW
    kw_i64 vectors = (count * KW_BYTES - 1) / KW_VECTOR + 1, moved = pixels - (vectors * KW_VECTOR + pixel - 1) / pixel + 1;
    kw_copy_vectors(to, pixel, from, pitch, count, moved);
    return kw_max(moved, 0);
#else
    return (void)to, (void)pixel, (void)from, (void)pitch, (void)count, (void)pixels, 0;
#endif
}
#endif
#ifndef KW_COPIES_NARROW
#define KW_COPIES_NARROW 0
#endif

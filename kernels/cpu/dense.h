/* dense.h: what the emitted kw_tile() works on, and the small parts that all dense kernels share: packing of weights, copying of channels,
 * the store of a tile that is not whole. The generated part in front defines KW_TILE_ROWS, KW_TILE_COLS, KW_TILE_VECS.
 *
 * A step is one source channel, or for KW_DP one pair of them; both take 4 bytes a pixel. Packed weights are runs of steps, each step
 * KW_TILE_VECS vectors: the words of KW_BLOCK output channels side by side. A run's source elements lie side by side as well. */
#define KW_TILE_PIXELS (KW_TILE_ROWS * KW_TILE_COLS)
#define KW_BLOCK (KW_TILE_VECS * KW_LANES)
#define KW_VECTOR (4 * KW_LANES)
#define KW_STEP_BYTES (4 * KW_BLOCK)
#define KW_PAIR (1 + KW_DP)
#define KW_WORD (4 / KW_PAIR) /* bytes of a source element as the tile reads it */
#define KW_CONVERTS (!KW_DP && KW_STORAGE != 0)
#define KW_SPILL_BYTES (KW_TILE_PIXELS * KW_STEP_BYTES)

typedef struct kw_run {
    kw_i64 src, w; /* bytes from the tile's first source pixel, from the block's first weight */
} kw_run;

/* Distances in bytes. whole: all pixels and channels of the tile exist; else only the first rows, cols and channels are written, by way
 * of spill (KW_SPILL_BYTES). ahead: what a prefetching tile asks for. odd: the runs end with half a pair. */
typedef struct kw_tile_job {
    const kw_run *runs;
    kw_i64 run_count, steps;
    const char *src, *w;
    kw_i64 src_pixel, src_row;
    char *out;
    kw_i64 out_pixel, out_row;
    kw_i64 rows, cols, channels;
    int whole, odd;
    char *spill;
    const char *ahead;
} kw_tile_job;

static void kw_tile_part(const kw_tile_job *job) {
    for (kw_i64 r = 0; r < job->rows; r++) {
        for (kw_i64 c = 0; c < job->cols; c++) {
            for (kw_i64 v = 0; v < KW_TILE_VECS && v * KW_LANES < job->channels; v++) {
                kw_store_tail(job->out + r * job->out_row + c * job->out_pixel + v * KW_LANES * KW_BYTES,
                              kw_load(job->spill + ((r * KW_TILE_COLS + c) * KW_TILE_VECS + v) * KW_VECTOR), job->channels - v * KW_LANES);
            }
        }
    }
}

/* One run of weights for one block: element e of output channel k is w[e * element + k * channel]. What is beyond elements or channels
 * becomes zero. */
static void kw_pack_run(char *to, const char *w, kw_i64 elements, kw_i64 element, kw_i64 channels, kw_i64 channel) {
    for (kw_i64 e = 0; e < elements; e += KW_PAIR) {
        for (kw_i64 k = 0; k < KW_BLOCK; k++, to += 4) {
            const char *from = w + (e * element + k * channel) * KW_BYTES;
#if KW_DP
            kw_u32 low = k < channels ? *(const kw_u16_u *)from : 0;
            kw_u32 high = k < channels && e + 1 < elements ? *(const kw_u16_u *)(from + element * KW_BYTES) : 0;
            *(kw_u32 *)to = low | high << 16;
#else
            *(float *)to = k < channels ? kw_load_1(from) : 0.0f;
#endif
        }
    }
}

KW_INLINE void kw_zero(char *to, kw_i64 bytes) {
    kw_i64 i = 0;
    for (; i + KW_VECTOR <= bytes; i += KW_VECTOR) kw_put(to + i, (kw_vf){0});
    for (; i + 4 <= bytes; i += 4) *(kw_f32_u *)(to + i) = 0;
    for (; i < bytes; i++) to[i] = 0;
}

/* Copies count elements that lie side by side, as the tile reads them. */
KW_INLINE void kw_copy(char *to, const char *from, kw_i64 count) {
    kw_i64 i = 0;
#if KW_CONVERTS
    for (; i + KW_LANES <= count; i += KW_LANES) kw_put(to + 4 * i, kw_load_x(from + KW_BYTES * i));
    for (; i < count; i++) *(kw_f32_u *)(to + 4 * i) = kw_load_1(from + KW_BYTES * i);
#else
    kw_i64 bytes = count * KW_BYTES;
    for (; i + KW_VECTOR <= bytes; i += KW_VECTOR) kw_put(to + i, kw_load(from + i));
    for (; i + 4 <= bytes; i += 4) *(kw_f32_u *)(to + i) = *(const kw_f32_u *)(from + i);
    if (i < bytes) *(kw_u16_u *)(to + i) = *(const kw_u16_u *)(from + i);
#endif
}

/* One pixel's channels; an odd one gets a zero as its partner. */
KW_INLINE void kw_copy_pixel(char *to, const char *from, kw_i64 channels) {
    kw_copy(to, from, channels);
    if (KW_DP && (channels & 1)) *(kw_u16_u *)(to + channels * KW_BYTES) = 0;
}

/* brought.h: pack=lds of grouped.h. A block brings its weights with its source, as they lie in w, and its waves read them from shared memory:
 * no stage before, and no wave waits for weights slab by slab, which takes longer than all products of a small image. */
#ifndef KW_DIRECT_BROUGHT_H
#define KW_DIRECT_BROUGHT_H

#define KW_BROUGHT_AT (KW_OUT_AT + KW_GROUPED_OUT_BYTES) /* in shared memory */

/* Pieces of 16 bytes of the weights between a block's channels, which lie together in w; a thread's, of which so many are under way together. */
#define KW_PIECE_ELEMENTS (16 / KW_BYTES)
#define KW_BROUGHT_PIECES (KW_SRC_CHANNELS * KW_TAPS * KW_CHANNELS / KW_PIECE_ELEMENTS)
#define KW_THREAD_PIECES KW_CEIL(KW_BROUGHT_PIECES, KW_THREADS)
#define KW_BROUGHT_LOADS (KW_THREAD_PIECES < 6 ? KW_THREAD_PIECES : 6)

typedef struct kw_brought {
    kw_u32 words[KW_BROUGHT_LOADS][4];
} kw_brought;

/* Pieces number first, first + threads, ...; zeros behind the last channel. channel: the block's first. */
KW_DEVICE void kw_brought_load(kw_brought *f, const kw_gpu_args *a, int channel, int first) {
    const char *from = a->w + (kw_i64)channel * (KW_TAPS * KW_CHANNELS * KW_BYTES);
    int pieces = ((int)a->groups * KW_CHANNELS - channel) * KW_TAPS * KW_CHANNELS / KW_PIECE_ELEMENTS;
    KW_UNROLL
    for (int i = 0; i < KW_BROUGHT_LOADS; i++) {
        int piece = first + i * KW_THREADS, ok = piece < KW_BROUGHT_PIECES && piece < pieces;
        kw_load_run(f->words[i], from + (ok ? piece : 0) * 16, 16);
        KW_UNROLL
        for (int w = 0; w < 4; w++)
            f->words[i][w] = ok ? f->words[i][w] : 0;
    }
}

/* Backward data: w has a row for each channel of the source, so elements of a piece belong to rows that follow each other. */
KW_DEVICE void kw_brought_store(char *weights, const kw_brought *f, int first) {
    KW_UNROLL
    for (int i = 0; i < KW_BROUGHT_LOADS; i++) {
        int piece = first + i * KW_THREADS, element = piece * KW_PIECE_ELEMENTS;
        if (piece >= KW_BROUGHT_PIECES) continue;
#if KW_DATA
        const int run = KW_CHANNELS < KW_PIECE_ELEMENTS ? KW_CHANNELS : KW_PIECE_ELEMENTS;
        KW_UNROLL
        for (int e = 0; e < KW_PIECE_ELEMENTS; e++) {
            int at = element + e / run * run, from = at / (KW_TAPS * KW_CHANNELS), tap = at / KW_CHANNELS % KW_TAPS;
            int to = from / KW_CHANNELS * KW_CHANNELS + at % KW_CHANNELS + e % run;
            ((kw_u16 *)weights)[to * KW_BROUGHT_ROW + tap * KW_CHANNELS + from % KW_CHANNELS] = (kw_u16)(f->words[i][e / 2] >> e % 2 * 16);
        }
#else
        int row = element / (KW_TAPS * KW_CHANNELS), more = KW_BROUGHT_ROW - KW_TAPS * KW_CHANNELS;
        kw_store_run(weights + (element + row * more) * KW_BYTES, f->words[i], 16);
#endif
    }
}

#if !KW_STAYS
/* A block's source and weights, what a thread loads first of both under way together. */
KW_DEVICE void kw_tile_load(char *lds, const kw_gpu_args *a, const kw_image *v, kw_position at) {
    kw_prefetch source;
    kw_brought brought;
    kw_prefetch_load(&source, v, v->top, at.channel, kw_thread());
    kw_brought_load(&brought, a, at.channel, kw_thread());
    kw_prefetch_store(lds, &source, kw_thread());
    kw_brought_store(lds + KW_BROUGHT_AT, &brought, kw_thread());
    if (KW_LANE_RUNS > KW_PREFETCH_LOADS) kw_source_load(lds, v, v->top, at.channel, kw_thread() + KW_PREFETCH_LOADS * KW_THREADS);
    if (KW_THREAD_PIECES == KW_BROUGHT_LOADS) return;
    for (int first = kw_thread() + KW_BROUGHT_LOADS * KW_THREADS; first < KW_BROUGHT_PIECES; first += KW_BROUGHT_LOADS * KW_THREADS) {
        kw_brought_load(&brought, a, at.channel, first);
        kw_brought_store(lds + KW_BROUGHT_AT, &brought, first);
    }
}
#endif

/* The rows of a slab. */
typedef const char *kw_slab_weights;

/* Where a phase's tap lies in a row; across: its taps along a row of the filter. */
KW_DEVICE int kw_brought_tap(int phase, int tap, int across) {
    return KW_SIDE == 1 ? (KW_DATA ? KW_TAPS - 1 - tap : tap)
                        : kw_phase_filter(phase / KW_SIDE, tap / across) * KW_EXTENT + kw_phase_filter(phase % KW_SIDE, tap % across);
}

/* Elements of an instruction's depth that a lane takes together, from which on: of NVIDIA's as the instruction has them, since kw_matrix_read brings
 * the first operand so; elsewhere as fragment.h says, as far as they lie in a tap's channels of one group. */
#if KW_HAS_MMA
#define KW_TAKEN 2
#define KW_TAKEN_AT(lane, j) ((j) / 2 * 8 + 2 * kw_frag_group(lane))
#else
#define KW_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define KW_TAKEN KW_LEAST(KW_KPL, KW_LEAST(KW_CHANNELS, 8))
#define KW_TAKEN_AT(lane, j) (kw_frag_group(lane) * KW_KPL + (j))
#endif

/* Of two instructions, where all their depth is of one tap and one group: four matrices. */
#define KW_READS_PAIRS (KW_STAYS && KW_CHANNELS >= 16 && KW_INST_K == 16)
#if KW_READS_PAIRS
KW_DEVICE void kw_read_weights_pair(kw_frag_b two[2], kw_slab_weights weights, int n, int phase, int step) {
    int tap = step * KW_INST_K / KW_SLAB, across = kw_phase_taps(phase % KW_SIDE), lane = kw_lane();
    int to = n * KW_INST_N + lane / 16 * 8 + lane % 8, from = step * KW_INST_K % KW_SLAB + lane / 8 % 2 * 8;
    kw_u32 words[4];
    kw_matrix_read(words, weights + (to * KW_BROUGHT_ROW + kw_brought_tap(phase, tap, across) * KW_CHANNELS + from) * KW_BYTES, 4, 0);
    KW_UNROLL
    for (int i = 0; i < 4; i++)
        two[i / 2].w[i % 2] = words[i];
}
#endif

/* The lane's words of an instruction; zeros between two groups, and behind the last tap. */
KW_DEVICE void kw_read_weights(kw_frag_b *frag, kw_slab_weights weights, int n, int phase, int step) {
    int taps = kw_taps_of(phase), across = kw_phase_taps(phase % KW_SIDE);
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        int to = n * KW_INST_N + kw_frag_row_b(kw_lane(), i);
        KW_UNROLL
        for (int j = 0; j < KW_KPL; j += KW_TAKEN) {
            int k = step * KW_INST_K + KW_TAKEN_AT(kw_lane(), j), from = k % KW_SLAB, tap = kw_min(k / KW_SLAB, taps - 1);
            int there = k / KW_SLAB < taps && from / KW_CHANNELS == to / KW_CHANNELS;
            int at = kw_brought_tap(phase, tap, across);
            kw_u32 words[KW_TAKEN / 2];
            kw_load_run(words, weights + (to * KW_BROUGHT_ROW + at * KW_CHANNELS + from % KW_CHANNELS) * KW_BYTES, KW_TAKEN * KW_BYTES);
            KW_UNROLL
            for (int w = 0; w < KW_TAKEN / 2; w++)
                frag->w[kw_frag_word(KW_B_ROWS, i, j / 2 + w)] = there ? words[w] : 0;
        }
    }
}

#endif

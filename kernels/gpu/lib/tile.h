/* tile.h: tiles of the operands on their way from global memory through registers into shared memory and from there into fragments.
 *
 * A tile has rows (of the first operand; columns of the second) and a depth of KW_TILE_K. Shared memory holds it row by row, the depth
 * contiguous. Pieces of 16 bytes are swapped inside a row by a number that the row gives (kw_swizzle), so that lanes that read the same
 * depth of different rows, or different depths of a few rows, meet different banks; no byte is spent on padding. An operand whose rows are
 * contiguous and whose copies pass no registers that could turn it stays as it is, in slabs of 128 bytes of rows: slab by slab, in it depth
 * by depth.
 *
 * A thread moves chunks, the same ones in every step. Where the operand's depth is contiguous in memory, a chunk is a run of KW_A_VEC
 * elements along the depth, or as many such runs as fill a word. Where its rows are contiguous, a chunk is a patch of KW_A_VEC rows by one
 * word along the depth: as many runs along the rows as a word has elements, turned round on the way into shared memory.
 *
 * The text that includes this says where elements lie. An element's offset is the sum of what its row gives and what its depth gives:
 *   KW_A_BY_ROWS, KW_B_BY_ROWS     1: rows are contiguous in memory, 0: the depth is
 *   KW_PRESHUFFLE                  1: the second operand lies in the order of fragments and is not brought to shared memory
 *   KW_A_VEC, KW_B_VEC           elements that lie together, as far as an access may reach
 *   kw_coord, kw_off                what a row or a depth gives; an offset in elements
 *   kw_view                        all that is the same in the whole block; has the base pointers at[2]
 *   kw_cursor                      a depth that goes on: its number k and what of it is not worked out anew in every step;
 *                                  kw_cursor_at(view, which, k), kw_cursor_add(view, which, &cursor, &more)
 *   kw_coord_row(view, which, row, &ok), kw_coord_depth(view, which, &cursor, &ok), kw_coord_join(view, which, row_spot, depth_spot, &ok)
 *                                  each clears ok for what reads as zero */
#ifndef KW_TILE_H
#define KW_TILE_H

/* Counts that are made of others are enumerators: as macros they would be spelled out at every use, hundreds of kilobytes of them. Those
 * that #if asks are macros. */

/* --- threads and their roles --- */

enum { KW_MATH_THREADS = KW_MATH_WAVES * KW_WAVE };
enum { KW_THREADS = KW_BLOCK_WAVES * KW_WAVE };
enum { KW_LOAD_THREADS = KW_TILE_THREADS };

/* --- the two operands; which is always a compile-time constant --- */

KW_DEVICE int kw_tile_rows(int which) { return which == KW_A ? KW_TILE_M : KW_TILE_N; }
KW_DEVICE int kw_by_rows(int which) { return which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS; }

/* Elements of a run, which one access loads. */
enum { KW_RUN_A = KW_RUN(KW_TILE_M, KW_A_VEC) };
enum { KW_RUN_B = KW_RUN(KW_TILE_N, KW_B_VEC) };
KW_DEVICE int kw_run(int which) { return which == KW_A ? KW_RUN_A : KW_RUN_B; }

/* Runs of a chunk. */
enum { KW_RUNS_A = KW_RUNS(KW_A_BY_ROWS, KW_RUN_A) };
enum { KW_RUNS_B = KW_RUNS(KW_B_BY_ROWS, KW_RUN_B) };
KW_DEVICE int kw_runs(int which) { return which == KW_A ? KW_RUNS_A : KW_RUNS_B; }

/* Chunks of a tile, and of a thread. */
enum { KW_TILE_CHUNKS_A = KW_TILE_CHUNKS(KW_TILE_M, KW_RUN_A, KW_RUNS_A) };
enum { KW_TILE_CHUNKS_B = KW_PRESHUFFLE ? 0 : KW_TILE_CHUNKS(KW_TILE_N, KW_RUN_B, KW_RUNS_B) };
enum { KW_CHUNKS_A = KW_CEIL(KW_TILE_CHUNKS_A, KW_LOAD_THREADS) };
enum { KW_CHUNKS_B = KW_CEIL(KW_TILE_CHUNKS_B, KW_LOAD_THREADS) };
#define KW_ROOM(count) ((count) > 0 ? (count) : 1) /* of an array, which has at least one element */
KW_DEVICE int kw_tile_chunks(int which) { return which == KW_A ? KW_TILE_CHUNKS_A : KW_TILE_CHUNKS_B; }
KW_DEVICE int kw_chunks(int which) { return which == KW_A ? KW_CHUNKS_A : KW_CHUNKS_B; }

/* Words of registers of a run, and of all chunks of a thread. */
enum { KW_RUN_WORDS_A = KW_WORDS_OF_RUN(KW_RUN_A) };
enum { KW_RUN_WORDS_B = KW_WORDS_OF_RUN(KW_RUN_B) };
KW_DEVICE int kw_run_words(int which) { return which == KW_A ? KW_RUN_WORDS_A : KW_RUN_WORDS_B; }
enum { KW_RAW_WORDS_A = KW_CHUNKS_A * KW_RUNS_A * KW_RUN_WORDS_A };
enum { KW_RAW_WORDS_B = KW_CHUNKS_B * KW_RUNS_B * KW_RUN_WORDS_B };

/* --- shared memory --- */

enum { KW_TILE_BYTES_A = KW_TILE_BYTES(KW_TILE_M) };
enum { KW_TILE_BYTES_B = KW_PRESHUFFLE ? 0 : KW_TILE_BYTES(KW_TILE_N) };
enum { KW_STAGE_BYTES = KW_TILE_BYTES_A + KW_TILE_BYTES_B };
#define KW_CELLS (KW_DEPTH_BYTES / 16) /* pieces of 16 bytes of a row */
#define KW_SWIZZLED (KW_DEPTH_BYTES % 16 == 0 && KW_CELLS > 1 && (KW_CELLS & (KW_CELLS - 1)) == 0)
KW_DEVICE int kw_keeps_rows(int which) { return KW_ASYNC && kw_by_rows(which); }

/* Bytes of rows of a slab: 128, or the most of 16, 32, 64 that divides the tile's. */
#define KW_SLAB_OF(rows) (((rows)*KW_BYTES & -((rows)*KW_BYTES)) < 128 ? (rows)*KW_BYTES & -((rows)*KW_BYTES) : 128)
enum { KW_KEPT_BYTES_A = KW_SLAB_OF(KW_TILE_M) };
enum { KW_KEPT_BYTES_B = KW_SLAB_OF(KW_TILE_N) };
KW_DEVICE int kw_kept_bytes(int which) { return which == KW_A ? KW_KEPT_BYTES_A : KW_KEPT_BYTES_B; }

/* Rows that together fill all banks share a number; the numbers of the next ones count with their bits turned round. */
KW_DEVICE int kw_swizzle(int row) {
#if !KW_SWIZZLED
    return 0;
#elif KW_WGMMA /* as the instruction has it */
    return row & 7;
#elif KW_CELLS == 2
    return row >> 2 & 1;
#elif KW_CELLS == 4
    return (row >> 1 & 1) << 1 | (row >> 2 & 1);
#else
    return (row & 1) << 2 | (row & 2) | (row >> 2 & 1);
#endif
}

/* Byte of a row's tile where byte `byte` of its depth lies. */
KW_DEVICE int kw_lds_at(int row, int byte) { return row * KW_DEPTH_BYTES + (((byte >> 4) ^ kw_swizzle(row)) << 4) + (byte & 15); }

/* The same for a depth of a slab: 8 depths that follow each other meet different banks. */
KW_DEVICE int kw_kept_swizzle(int which, int k) {
    int cells = kw_kept_bytes(which) / 16;
    return k / (8 / cells) & (cells - 1);
}

/* Byte of a slabs' tile where an element lies. */
KW_DEVICE int kw_kept_at(int which, int row, int k) {
    int slab = kw_kept_bytes(which), byte = row * KW_BYTES % slab;
    return (row * KW_BYTES / slab * KW_TILE_K + k) * slab + (((byte >> 4) ^ kw_kept_swizzle(which, k)) << 4) + (byte & 15);
}

/* --- chunks of a thread --- */

/* Where chunk number c of loader thread t stands in the tile. */
typedef struct kw_chunk {
    int there;  /* false: the tile has fewer */
    int row, k; /* of its first element */
    int byte;   /* of the tile in shared memory, where its words follow each other */
} kw_chunk;

KW_DEVICE kw_chunk kw_chunk_of(int which, int t, int c) {
    kw_chunk chunk;
    int at = t + c * KW_LOAD_THREADS;
    chunk.there = kw_tile_chunks(which) % KW_LOAD_THREADS == 0 || at < kw_tile_chunks(which);
    if (kw_keeps_rows(which)) { /* in the order of shared memory; which row that is, the depth says */
        int slab = kw_kept_bytes(which), bytes = kw_run(which) * KW_BYTES, place = at * bytes % slab;
        chunk.k = at * bytes / slab % KW_TILE_K;
        chunk.row =
            (at * bytes / slab / KW_TILE_K * slab + ((place >> 4) ^ kw_kept_swizzle(which, chunk.k)) * 16 + (place & 15)) / KW_BYTES;
        chunk.byte = at * bytes;
    } else if (kw_by_rows(which)) { /* patches, those along the depth first: the words of a row are stored together */
        int words = KW_TILE_K / KW_EPW;
        chunk.k = at % words * KW_EPW;
        chunk.row = at / words * kw_run(which);
        chunk.byte = 0;
    } else { /* in the order of shared memory; which depth that is, the row says */
        int elements = kw_run(which) * kw_runs(which), bytes = elements * KW_BYTES, place = at % (KW_TILE_K / elements) * bytes;
        chunk.row = at / (KW_TILE_K / elements);
        chunk.k = ((place >> 4 ^ kw_swizzle(chunk.row)) * 16 + (place & 15)) / KW_BYTES;
        chunk.byte = at * bytes;
    }
    return chunk;
}

/* Depths of a thread's chunks: after so many chunks they come again. What decides on a chunk's depth is its number mod `along`: with the
 * swizzle 8 rows have each their own order. */
#define KW_PERIOD(along, chunks)                                                                                                           \
    (KW_LOAD_THREADS % (along) == 0                                           ? 1                                                          \
     : (along) % KW_LOAD_THREADS == 0 && (along) / KW_LOAD_THREADS < (chunks) ? (along) / KW_LOAD_THREADS                                  \
                                                                              : (chunks))
#define KW_ALONG(by_rows, run, runs, slab)                                                                                                 \
    ((by_rows) ? KW_ASYNC ? KW_TILE_K * (slab) / ((run)*KW_BYTES) : KW_TILE_K / KW_EPW                                                     \
               : KW_TILE_K / ((run) * (runs)) * (KW_SWIZZLED ? 8 : 1))
enum { KW_ALONG_A = KW_ALONG(KW_A_BY_ROWS, KW_RUN_A, KW_RUNS_A, KW_KEPT_BYTES_A) };
enum { KW_ALONG_B = KW_ALONG(KW_B_BY_ROWS, KW_RUN_B, KW_RUNS_B, KW_KEPT_BYTES_B) };
enum { KW_DEPTHS_A = KW_PERIOD(KW_ALONG_A, KW_CHUNKS_A) };
enum { KW_DEPTHS_B = KW_PERIOD(KW_ALONG_B, KW_ROOM(KW_CHUNKS_B)) };
KW_DEVICE int kw_depths(int which) { return which == KW_A ? KW_DEPTHS_A : KW_DEPTHS_B; }

/* Cursors that a thread keeps from step to step, one for each run of its different depths. More than a few would not be worth their
 * registers; those are made anew in each step. */
#define KW_CURSORS_MOST 4
#define KW_CURSORS(depths, runs) ((depths) * (runs) <= KW_CURSORS_MOST ? (depths) * (runs) : 0)
enum { KW_CURSORS_A = KW_CURSORS(KW_DEPTHS_A, KW_RUNS_A) };
enum { KW_CURSORS_B = KW_CURSORS(KW_DEPTHS_B, KW_RUNS_B) };
KW_DEVICE int kw_cursors(int which) { return which == KW_A ? KW_CURSORS_A : KW_CURSORS_B; }

/* What a thread knows of its chunks of an operand; step: from one of its steps to the next. */
enum { KW_CHUNKS_MOST = KW_CHUNKS_A > KW_CHUNKS_B ? KW_CHUNKS_A : KW_CHUNKS_B };
typedef struct kw_lines {
    kw_coord coord[KW_CHUNKS_MOST];
    int ok[KW_CHUNKS_MOST];
    kw_cursor depth[KW_CURSORS_MOST], step;
} kw_lines;

typedef struct kw_loader {
    int thread; /* among those that load */
#if KW_X_ZERO
    kw_u32 zero; /* what x has beside its image, in each byte */
#endif
    kw_lines of[2];
} kw_loader;

#if KW_X_ZERO
#define KW_LOADER_ZERO(l) (l)->zero
#else
#define KW_LOADER_ZERO(l) 0
#endif

/* Depth of run j of the chunk that begins at k. */
KW_DEVICE int kw_run_depth(int which, int k, int j) { return k + j * (kw_by_rows(which) ? 1 : kw_run(which)); }

KW_DEVICE void kw_lines_start(kw_lines *l, const kw_view *view, int which, int thread, int k0) {
    KW_UNROLL
    for (int c = 0; c < kw_chunks(which); c++) {
        kw_chunk chunk = kw_chunk_of(which, thread, c);
        l->ok[c] = chunk.there;
        l->coord[c] = kw_coord_row(view, which, (which == KW_A ? view->row : view->col) + chunk.row, &l->ok[c]);
    }
    KW_UNROLL
    for (int i = 0; i < kw_cursors(which); i++) {
        int k = kw_chunk_of(which, thread, i / kw_runs(which)).k;
        l->depth[i] = kw_cursor_at(view, which, kw_run_depth(which, k0 + k, i % kw_runs(which)));
    }
    l->step = kw_cursor_at(view, which, KW_TILE_K * KW_WAVE_GROUPS);
}

/* k0: depth of the first step that this thread loads. */
KW_DEVICE void kw_loader_start(kw_loader *l, const kw_view *view, int thread, int k0) {
    l->thread = thread;
#if KW_X_ZERO
    l->zero = view->zero;
#endif
    kw_lines_start(&l->of[KW_A], view, KW_A, thread, k0);
    if (KW_CHUNKS_B > 0) kw_lines_start(&l->of[KW_B], view, KW_B, thread, k0);
}

/* --- global memory -> registers --- */

/* A thread's share of a tile. ok has a bit for each run, in order; what it says is zero is not zero in w yet, so that nothing waits for a
 * load before its step. */
typedef struct kw_raw {
    kw_u32 a[KW_RAW_WORDS_A], b[KW_ROOM(KW_RAW_WORDS_B)];
    kw_u32 ok_a[KW_CEIL(KW_CHUNKS_A * KW_RUNS_A, 32)], ok_b[KW_ROOM(KW_CEIL(KW_CHUNKS_B * KW_RUNS_B, 32))];
} kw_raw;

/* Depths of the runs of a chunk. */
typedef struct kw_depth_coords {
    kw_coord coord[4];
    int ok[4];
} kw_depth_coords;

/* Of chunk number c in the step at depth k0, which is where the cursors stand. */
KW_DEVICE void kw_depths_of(kw_depth_coords *d, const kw_view *view, int which, const kw_loader *l, int c, int k0) {
    KW_UNROLL
    for (int j = 0; j < kw_runs(which); j++) {
        kw_cursor depth;
        if (kw_cursors(which))
            depth = l->of[which].depth[c * kw_runs(which) + j];
        else
            depth = kw_cursor_at(view, which, kw_run_depth(which, k0 + kw_chunk_of(which, l->thread, c).k, j));
        d->ok[j] = 1;
        d->coord[j] = kw_coord_depth(view, which, &depth, &d->ok[j]);
    }
}

KW_DEVICE void kw_cursors_go_on(kw_loader *l, const kw_view *view, int which) {
    KW_UNROLL
    for (int i = 0; i < kw_cursors(which); i++)
        kw_cursor_add(view, which, &l->of[which].depth[i], &l->of[which].step);
}

/* Offset of run j of a chunk, 0 where it reads as zero: the tensor's first element is always there to be read. */
KW_DEVICE kw_off kw_run_offset(const kw_view *view, int which, kw_coord row, int row_ok, const kw_depth_coords *d, int j, int *ok) {
    *ok = row_ok & d->ok[j];
    kw_off at = kw_coord_join(view, which, row, d->coord[j], ok);
    return *ok ? at : 0;
}

/* The offset in 32 bits where it has as many, so that the address is a base that all lanes share and a small number. */
KW_DEVICE const char *kw_element_at(const char *base, kw_off at) {
#if KW_INDEX == 32
    return base + (kw_u32)at * KW_BYTES;
#else
    return base + at * KW_BYTES;
#endif
}

KW_DEVICE void kw_load_operand(const kw_view *view, int which, kw_loader *l, int k0, kw_u32 *words, kw_u32 *ok_bits) {
    kw_depth_coords depths[KW_CHUNKS_MOST];
    KW_UNROLL
    for (int c = 0; c < kw_chunks(which); c++) {
        int again = c % kw_depths(which);
        if (again == c) kw_depths_of(&depths[c], view, which, l, c, k0);
        KW_UNROLL
        for (int j = 0; j < kw_runs(which); j++) {
            int run = c * kw_runs(which) + j, ok;
            kw_off at = kw_run_offset(view, which, l->of[which].coord[c], l->of[which].ok[c], &depths[again], j, &ok);
            if (run % 32 == 0) ok_bits[run / 32] = 0;
            ok_bits[run / 32] |= (kw_u32)ok << run % 32;
            kw_load_run(words + run * kw_run_words(which), kw_element_at(view->at[which], at), kw_run(which) * KW_BYTES);
        }
    }
    kw_cursors_go_on(l, view, which);
}

/* Steps come one after the other, each once. k0: the depth of this one. */
KW_DEVICE void kw_load(kw_raw *raw, const kw_view *view, kw_loader *l, int k0) {
    kw_load_operand(view, KW_A, l, k0, raw->a, raw->ok_a);
    if (KW_CHUNKS_B > 0) kw_load_operand(view, KW_B, l, k0, raw->b, raw->ok_b);
}

/* --- registers -> shared memory --- */

/* A chunk of one or several runs along the depth. */
KW_DEVICE void kw_put_along(char *to, const kw_u32 *w, int which) {
    int bytes = kw_run(which) * KW_BYTES;
    if (bytes == 16) {
        kw_b16 v;
        v.e[0] = w[0], v.e[1] = w[1], v.e[2] = w[2], v.e[3] = w[3];
        *(kw_b16 *)to = v;
    } else if (bytes == 8) {
        *(kw_u64 *)to = (kw_u64)w[1] << 32 | w[0];
    } else {
        kw_u32 word = w[0];
        KW_UNROLL
        for (int j = 1; j < kw_runs(which); j++)
            word |= w[j] << j * bytes * 8;
        *(kw_u32 *)to = word;
    }
}

/* Element e of a run. */
KW_DEVICE kw_u32 kw_run_element(const kw_u32 *run, int e) {
    return run[e / KW_EPW] >> e % KW_EPW * KW_BYTES * 8 & (KW_BYTES == 4 ? 0xffffffffu : (1u << KW_BYTES * 8 % 32) - 1);
}

/* A patch: run j has depth k + j, element e of each is row + e. */
KW_DEVICE void kw_put_across(char *tile, kw_chunk chunk, const kw_u32 *w, int which) {
    KW_UNROLL
    for (int e = 0; e < kw_run(which); e++) {
        kw_u32 word = kw_run_element(w, e);
        KW_UNROLL
        for (int j = 1; j < kw_runs(which); j++)
            word |= kw_run_element(w + j * kw_run_words(which), e) << j * KW_BYTES * 8 % 32;
        *(kw_u32 *)(tile + kw_lds_at(chunk.row + e, chunk.k * KW_BYTES)) = word;
    }
}

/* absent: what stands, byte by byte, in what is not there. */
KW_DEVICE void kw_put_operand(char *tile, int which, int thread, const kw_u32 *words, const kw_u32 *ok_bits, kw_u32 absent) {
    int bytes = kw_run(which) * KW_BYTES; /* of a run's words, the others are 0 */
    if (bytes < 4) absent &= (1u << bytes * 8 % 32) - 1;
    KW_UNROLL
    for (int c = 0; c < kw_chunks(which); c++) {
        kw_chunk chunk = kw_chunk_of(which, thread, c);
        kw_u32 w[4 * 4]; /* most runs of a chunk, most words of a run */
        KW_UNROLL
        for (int i = 0; i < kw_runs(which) * kw_run_words(which); i++) {
            int run = c * kw_runs(which) + i / kw_run_words(which);
            w[i] = ok_bits[run / 32] >> run % 32 & 1 ? words[c * kw_runs(which) * kw_run_words(which) + i] : absent;
        }
        if (chunk.there) {
            if (kw_by_rows(which))
                kw_put_across(tile, chunk, w, which);
            else
                kw_put_along(tile + chunk.byte, w, which);
        }
    }
}

KW_DEVICE void kw_put(char *stage, const kw_loader *l, const kw_raw *raw) {
    kw_put_operand(stage, KW_A, l->thread, raw->a, raw->ok_a, KW_LOADER_ZERO(l));
    kw_put_operand(stage + KW_TILE_BYTES_A, KW_B, l->thread, raw->b, raw->ok_b, 0);
}

/* --- global -> shared memory without registers --- */
#if KW_ASYNC

KW_DEVICE void kw_copy_operand(char *tile, const kw_view *view, int which, kw_loader *l, int k0) {
    kw_depth_coords depths[KW_CHUNKS_MOST];
    KW_UNROLL
    for (int c = 0; c < kw_chunks(which); c++) {
        int first = c * KW_LOAD_THREADS + l->thread / KW_WAVE * KW_WAVE; /* the wave's: either all of its chunks are there or none */
        int again = c % kw_depths(which);
        if (again == c) kw_depths_of(&depths[c], view, which, l, c, k0);
        if (kw_chunk_of(which, l->thread, c).there) {
            int ok;
            kw_off at = kw_run_offset(view, which, l->of[which].coord[c], l->of[which].ok[c], &depths[again], 0, &ok);
            const char *from = kw_element_at(view->at[which], at);
            char *to = tile + first * kw_run(which) * KW_BYTES;
#if KW_HAS_ASYNC16
            if (kw_run(which) * KW_BYTES == 16)
                kw_async16(to, from, ok);
            else
#endif
                kw_async4(to, from, ok);
        }
    }
    kw_cursors_go_on(l, view, which);
}

/* Copies that every wave has in a tile, at least. */
enum { KW_TILE_COPIES = KW_TILE_CHUNKS_A / KW_LOAD_THREADS + KW_TILE_CHUNKS_B / KW_LOAD_THREADS };

KW_DEVICE void kw_copy(char *stage, const kw_view *view, kw_loader *l, int k0) {
    kw_copy_operand(stage, view, KW_A, l, k0);
    kw_copy_operand(stage + KW_TILE_BYTES_A, view, KW_B, l, k0);
}
#endif

/* --- shared memory -> fragments --- */
#if !KW_WGMMA

/* Fragments by kw_matrix_read, which gives the depth's elements the instruction's own places, in both operands. Rows that are kept can be
 * turned only with 16-bit elements. A word of a row is then 16 bytes of its depth, shared among four lanes. */
#define KW_MATRIX_READS                                                                                                                    \
    (KW_NVIDIA && KW_HAS_MMA && !KW_PRESHUFFLE && (KW_BYTES == 2 || (KW_BYTES == 1 && !(KW_ASYNC && (KW_A_BY_ROWS || KW_B_BY_ROWS)))))
/* Fragments of the second operand that are read together; from one's rows to the other's. */
enum { KW_B_TOGETHER = KW_MATRIX_READS && KW_TILE_N / (KW_WAVE_N * KW_INST_N) % 2 == 0 ? 2 : 1 };
enum { KW_B_APART = KW_WAVE_N * KW_INST_N };

#if KW_MATRIX_READS
/* The address that a lane gives for 8 rows from row on and 16 bytes of the depth from k on. */
KW_DEVICE const char *kw_matrix_at(const char *tile, int which, int row, int k) {
    int lane = kw_lane() % 8;
    return tile + (kw_keeps_rows(which) ? kw_kept_at(which, row, k + lane) : kw_lds_at(row + lane, k * KW_BYTES));
}

/* Matrices: 8 rows, 8 more, the same further along the depth. */
KW_DEVICE void kw_read_a(kw_frag_a *frag, const char *stage, int row, int k) {
    int matrix = kw_lane() / 8 % KW_A_WORDS;
    const char *at = kw_matrix_at(stage, KW_A, row + matrix % 2 * 8, k + matrix / 2 * (16 / KW_BYTES));
    kw_matrix_read(frag->w, at, KW_A_WORDS, KW_A_BY_ROWS && KW_ASYNC);
}

/* Matrices: 8 rows, the same further along the depth, then those of the fragment beside. */
KW_DEVICE void kw_read_b(kw_frag_b *frag, const char *stage, int row, int k) {
    kw_u32 words[KW_B_TOGETHER * KW_B_WORDS];
    int matrix = kw_lane() / 8 % (KW_B_TOGETHER * KW_B_WORDS);
    const char *at =
        kw_matrix_at(stage + KW_TILE_BYTES_A, KW_B, row + matrix / KW_B_WORDS * KW_B_APART, k + matrix % KW_B_WORDS * (16 / KW_BYTES));
    kw_matrix_read(words, at, KW_B_TOGETHER * KW_B_WORDS, KW_B_BY_ROWS && KW_ASYNC);
    KW_UNROLL
    for (int i = 0; i < KW_B_TOGETHER * KW_B_WORDS; i++)
        frag[i / KW_B_WORDS].w[i % KW_B_WORDS] = words[i];
}

#else

/* The words of one row of a fragment: KW_KPL elements at depth k of the tile. */
KW_DEVICE void kw_read_row(kw_u32 *to, const char *tile, int which, int row, int k) {
    if (kw_keeps_rows(which)) {
        KW_UNROLL
        for (int j = 0; j < KW_KPL; j++) {
            kw_u32 element;
            kw_load_run(&element, tile + kw_kept_at(which, row, k + j), KW_BYTES);
            to[j / KW_EPW] = (j % KW_EPW ? to[j / KW_EPW] : 0) | element << j % KW_EPW * KW_BYTES * 8 % 32;
        }
    } else {
        int bytes = KW_KPL * KW_BYTES < 16 ? KW_KPL * KW_BYTES : 16;
        KW_UNROLL
        for (int at = 0; at < KW_KPL * KW_BYTES; at += bytes)
            kw_load_run(to + at / 4, tile + kw_lds_at(row, k * KW_BYTES + at), bytes);
    }
}

/* Fragments whose first row and first depth in the tile are row and k. */
KW_DEVICE void kw_read_a(kw_frag_a *frag, const char *stage, int row, int k) {
    KW_UNROLL
    for (int i = 0; i < KW_A_ROWS; i++) {
        kw_u32 words[KW_ROW_WORDS];
        kw_read_row(words, stage, KW_A, row + kw_frag_row_a(kw_lane(), i), k + kw_frag_group(kw_lane()) * KW_KPL);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++)
            frag->w[kw_frag_word(KW_A_ROWS, i, j)] = words[j];
    }
}

KW_DEVICE void kw_read_b(kw_frag_b *frag, const char *stage, int row, int k) {
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        kw_u32 words[KW_ROW_WORDS];
        kw_read_row(words, stage + KW_TILE_BYTES_A, KW_B, row + kw_frag_row_b(kw_lane(), i), k + kw_frag_group(kw_lane()) * KW_KPL);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++)
            frag->w[kw_frag_word(KW_B_ROWS, i, j)] = words[j];
    }
}
#endif
#endif

#endif

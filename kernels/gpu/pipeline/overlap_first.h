/* overlap_first.h: how gpu/pipeline/overlap_store.h stores a piece of a channels-first result (KW_STORES_FIRST): its rows are channels, its columns pixels.
 * Runs are as wide as channels begin at, and neighbours from lane to lane. A thread reads several of them before it stores the first, since each
 * reading takes longer than to ask for all. */
#ifndef KW_OVERLAP_FIRST_H
#define KW_OVERLAP_FIRST_H

/* Where a lane's run of pixels lies in an image's first channel, and how far it is to the next one. */
typedef struct kw_first_run {
    char *to;
    kw_i64 line;
    int at, run, ok; /* at: of the piece's 64 pixels */
} kw_first_run;

KW_DEVICE kw_first_run kw_first_run_of(int pixels) {
    kw_first_run f;
    f.line = (kw_i64)pixels * 2;
    f.run = (pixels | 8) & -(pixels | 8);
    f.at = kw_thread() * f.run % KW_PIECE;
    return f;
}

enum { KW_FIRST_BATCH = 8 }; /* runs of a thread that are read before the first of them is stored */

KW_DEVICE void kw_first_store(const char *piece, const kw_first_run *f, kw_i64 channel, int channels, const int run) {
    const int lanes = KW_PIECE / run, step = KW_GROUP_THREADS / lanes, count = KW_PIECE / step;
    const int batch = count < KW_FIRST_BATCH ? count : KW_FIRST_BATCH;
    int row = kw_thread() % KW_GROUP_THREADS / lanes;
    char *to = f->to + (channel + row) * f->line;
    channels = f->ok ? kw_min(channels, KW_PIECE) : 0;
    KW_ROLLED
    for (int first = 0; first < count; first += batch) {
        kw_u32 w[KW_FIRST_BATCH][4];
        KW_UNROLL
        for (int i = 0; i < batch; i++)
            kw_load_run(w[i], piece + kw_piece_at(row + i * step, f->at / 8) + f->at % 8 * 2, run * 2);
        KW_UNROLL
        for (int i = 0; i < batch; i++) {
            if (row + i * step < channels) kw_store_run(to, w[i], run * 2);
            to += step * f->line;
        }
        row += batch * step;
    }
}

/* A piece whose rows are channels, from `channel` on, of which there are so many. */
KW_DEVICE void kw_piece_store_first(const char *piece, const kw_first_run *f, kw_i64 channel, int channels) {
    if (f->run == 8)
        kw_first_store(piece, f, channel, channels, 8);
    else if (f->run == 4)
        kw_first_store(piece, f, channel, channels, 4);
    else if (f->run == 2)
        kw_first_store(piece, f, channel, channels, 2);
    else
        kw_first_store(piece, f, channel, channels, 1);
}

/* Of a piece whose pixels begin at a row of the tile. */
KW_DEVICE kw_first_run kw_first_start(const kw_gpu_args *a, const kw_work *work, int first_row) {
    const kw_i64 *extent = KW_OP == KW_OP_CONV_FWD ? a->out : a->in;
    int positions = (int)(extent[0] * extent[1] * extent[2]);
    kw_first_run f = kw_first_run_of(positions);
    int pixel = work->row + first_row + f.at, image = pixel / positions;
    kw_i64 channels = a->groups * (KW_OP == KW_OP_CONV_FWD ? a->k : a->c);
    f.ok = image < (int)a->n;
    f.to = kw_result(a) + (image * (channels - 1) * positions + pixel) * 2;
    return f;
}

#endif

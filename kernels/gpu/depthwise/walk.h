/* walk.h: path=registers of weight.h. A lane walks down the rows of its columns, straight from the tensors to registers: nothing passes
 * shared memory, and no pixel's place is worked out anew. A step brings a row of y and the KW_STRIDE_H rows of x that begin with its first
 * tap's. Rows of y stay for as many steps as there are taps that meet them, KW_RING, and rows of x for one: a row of x meets a tap of each
 * row of y that is there. The next step's rows are under way while one's are multiplied. */
#ifndef KW_DEPTHWISE_WALK_H
#define KW_DEPTHWISE_WALK_H

enum { KW_RING = KW_CEIL(KW_FILTER_H, KW_STRIDE_H), KW_WORDS = KW_RUN_WORDS(KW_LANE_PLANES), KW_PLANES_BYTES = KW_LANE_PLANES * KW_BYTES };

typedef struct kw_descent {
    const char *x, *y;            /* the lane's planes of its first columns in the next step's rows, which may lie beside the image */
    int pixel;                    /* bytes from column to column */
    kw_u32 x_cols, y_cols;        /* bit i: the column is in the image */
    int row, rows, x_row, x_rows; /* the next step's row of y in the tile, whose rows; of x in its image, whose rows */
    kw_i64 x_step, y_step;        /* bytes from row to row */
} kw_descent;

typedef struct kw_step {
    kw_u32 y[KW_SUB_W][KW_WORDS], x[KW_STRIDE_H][KW_SPAN_W][KW_WORDS];
} kw_step;

/* cols: those that there are, of an image w wide. */
KW_DEVICE kw_u32 kw_columns_there(int first, const int cols, int w) {
    kw_u32 bits = 0;
    KW_UNROLL
    for (int i = 0; i < cols; i++)
        bits |= (kw_u32)((kw_u32)(first + i) < (kw_u32)w) << i;
    return bits;
}

KW_DEVICE kw_descent kw_descent_from(const kw_gpu_args *a, const kw_tile *tile, kw_wave_coord wave_coord) {
    kw_image in = kw_image_in(a), out = kw_image_out(a);
    int channel = (int)tile->at.channel + wave_coord.plane, c = (int)a->groups, row = tile->at.row, col = tile->at.col + wave_coord.col;
    int left = KW_MOVED(col) + KW_LOW, there = wave_coord.there && channel < c;
    kw_descent walk;
    walk.row = 0;
    walk.x_row = KW_MOVED_H(row) + KW_LOW_H;
    walk.pixel = c * KW_BYTES;
    walk.x_step = (kw_i64)in.w * walk.pixel;
    walk.y_step = (kw_i64)out.w * walk.pixel;
    walk.x_rows = in.h;
    walk.rows = (int)kw_min64(a->params.rows, out.h - row);
    walk.x_cols = there ? kw_columns_there(left, KW_SPAN_W, in.w) : 0;
    walk.y_cols = there ? kw_columns_there(col, KW_SUB_W, out.w) : 0;
    walk.x = a->x + (tile->at.image * in.d + tile->depth) * in.h * walk.x_step + walk.x_row * walk.x_step + left * walk.pixel +
             channel * KW_BYTES;
    walk.y =
        a->y + (tile->at.image * out.d + tile->at.depth) * out.h * walk.y_step + row * walk.y_step + col * walk.pixel + channel * KW_BYTES;
    return walk;
}

KW_DEVICE void kw_pixel_load(kw_u32 *words, const char *from, int ok) {
    KW_UNROLL
    for (int w = 0; w < KW_WORDS; w++)
        words[w] = 0;
    if (ok) kw_load_run(words, from, KW_PLANES_BYTES);
}

/* Asks for the next step's rows. */
KW_DEVICE void kw_step_load(kw_step *step, kw_descent *walk) {
    kw_u32 y_cols = walk->row < walk->rows ? walk->y_cols : 0;
    KW_UNROLL
    for (int i = 0; i < KW_SUB_W; i++)
        kw_pixel_load(step->y[i], walk->y + i * walk->pixel, y_cols >> i & 1);
    walk->y += walk->y_step;
    walk->row++;
    KW_UNROLL
    for (int s = 0; s < KW_STRIDE_H; s++) {
        kw_u32 x_cols = (kw_u32)walk->x_row < (kw_u32)walk->x_rows ? walk->x_cols : 0;
        KW_UNROLL
        for (int i = 0; i < KW_SPAN_W; i++)
            kw_pixel_load(step->x[s][i], walk->x + i * walk->pixel, x_cols >> i & 1);
        walk->x += walk->x_step;
        walk->x_row++;
    }
}

/* Adds a tile's products to the filter's sums: rows of y in the ring's places in turn, and behind the last one zeros. */
KW_DEVICE void kw_tile_walk(kw_filter *filter, const kw_gpu_args *a, const kw_tile *tile, kw_wave_coord wave_coord) {
    kw_descent walk = kw_descent_from(a, tile, wave_coord);
    float ring[KW_RING][KW_SUB_W][KW_LANE_PLANES];
    kw_step step;
    KW_UNROLL
    for (int i = 0; i < KW_RING * KW_SUB_W * KW_LANE_PLANES; i++)
        ring[i / KW_LANE_PLANES / KW_SUB_W][i / KW_LANE_PLANES % KW_SUB_W][i % KW_LANE_PLANES] = 0;
    kw_step_load(&step, &walk);
    KW_ROLLED
    for (int turns = KW_CEIL(walk.rows + KW_RING - 1, KW_RING); turns > 0; turns--) {
        KW_UNROLL
        for (int turn = 0; turn < KW_RING; turn++) {
            float x[KW_STRIDE_H][KW_SPAN_W][KW_LANE_PLANES];
            KW_UNROLL
            for (int p = 0; p < KW_LANE_PLANES; p++) {
                KW_UNROLL
                for (int i = 0; i < KW_SUB_W; i++)
                    ring[turn][i][p] = kw_value(step.y[i], p);
                KW_UNROLL
                for (int i = 0; i < KW_STRIDE_H * KW_SPAN_W; i++)
                    x[i / KW_SPAN_W][i % KW_SPAN_W][p] = kw_value(step.x[i / KW_SPAN_W][i % KW_SPAN_W], p);
            }
            kw_step_load(&step, &walk);
            KW_UNROLL
            for (int tap = 0; tap < KW_TAPS; tap++) {
                int row = tap / KW_FILTER, col = tap % KW_FILTER, old = (turn + KW_RING - row / KW_STRIDE_H) % KW_RING;
                KW_UNROLL
                for (int i = 0; i < KW_SUB_W * KW_LANE_PLANES; i++) {
                    int at = i / KW_LANE_PLANES, p = i % KW_LANE_PLANES;
                    filter->at[row][col][p] += x[row % KW_STRIDE_H][at * KW_STRIDE + col][p] * ring[old][at][p];
                }
            }
        }
    }
}

#endif

/* planes.h: conv.pointwise, and by planes_taps.h conv.direct_1st, on channels-first tensors. There a channel's pixels lie side by side, so they fill the vectors, and it is the
 * filters whose values are spread: C[channels, pixels] = A[channels, depth] B[depth, pixels], where A is the filters, packed once as the
 * rows of a tile, and B the tensor that is read.
 *
 * Places of results have pixels for channels and channels for rows (KW_LANES_ARE_PIXELS).
 *
 * Pixels are counted over all images and cut into panels of KW_BLOCK. A unit is a group, some panels, which are copied (in the element type
 * of the tile, or as pairs), and part of the rows. A panel may reach from one image into the next ones: its runs are what it has of each.
 *
 * Few tiles of rows (params.copy is 0) read a panel that is one run where it lies, its vectors a plane apart (KW_TILE_APART), and of bf16 make
 * the pairs themselves (KW_TILE_ZIPS). */

/* Of dense tensors distances follow from sizes; those of parts of larger ones are the arguments'. Of the tensor that is read: elements from a
 * channel and an image to the next, to behind its last, in front of a pixel; of the one that is written, from a channel and an image to the next. */
#ifdef KW_PITCHED
#define FROM_STEP(a) (KW_BACKWARD ? (a)->y_step : (a)->x_step)
#define TO_STEP(a) (KW_BACKWARD ? (a)->x_step : (a)->y_step)
#define FROM_SIZE(a) (KW_BACKWARD ? (a)->out : (a)->in)
#define FROM_PLANE(a, pixels) FROM_STEP(a)[4]
#define FROM_IMAGE(a, p) FROM_STEP(a)[0]
#define FROM_PIXEL(a, d, h, w) (d * FROM_STEP(a)[1] + h * FROM_STEP(a)[2] + w)
#define FROM_SPAN(a, p)                                                                                                                    \
    ((a->n - 1) * FROM_STEP(a)[0] + (a->groups * p.planes - 1) * FROM_STEP(a)[4] +                                                         \
     FROM_PIXEL(a, (FROM_SIZE(a)[0] - 1), (FROM_SIZE(a)[1] - 1), FROM_SIZE(a)[2]))
#define TO_PLANE(a, p) TO_STEP(a)[4]
#define TO_IMAGE(a, p, plane) (TO_STEP(a)[0] * KW_OUT_BYTES)
#else
#define FROM_PLANE(a, pixels) pixels
#define FROM_IMAGE(a, p) a->groups * p->planes * p->from_plane
#define FROM_PIXEL(a, d, h, w) ((d * a->in[1] + h) * a->in[2] + w)
#define FROM_SPAN(a, p) a->n * a->groups *p.planes *p.from_plane
#define TO_PLANE(a, p) p->pixels
#define TO_IMAGE(a, p, plane) a->groups * p->rows *plane
#endif

#ifndef KW_PLANE_TAPS
#define KW_PLANE_TAPS 0 /* 1: the depth is channels by taps (planes_taps.h) */
#endif

typedef struct plane_product {
    const char *w, *from, *end; /* the filters; the tensor that is read, and its end */
    char *to;
    kw_i64 rows, depth, pixels, columns; /* of a group and an image; columns: pixels of all images */
    kw_i64 planes, from_plane, steps;    /* channels that are read, pixels of each */
    kw_i64 w_row, w_deep;                /* bytes */
} plane_product;

static plane_product plane_product_of(const kw_kernel_args *a) {
    kw_i64 out = a->out[0] * a->out[1] * a->out[2], in = a->in[0] * a->in[1] * a->in[2];
    plane_product p = {.w = a->w, .pixels = out, .columns = a->n * out};
#if KW_BACKWARD
    p.from = a->y, p.to = a->x, p.rows = a->c, p.depth = p.planes = a->k, p.from_plane = FROM_PLANE(a, out), p.w_row = KW_BYTES,
    p.w_deep = a->c * KW_BYTES;
#else
    p.from = a->x, p.to = a->y, p.rows = a->k, p.planes = a->c, p.from_plane = FROM_PLANE(a, in), p.w_deep = KW_BYTES;
    p.depth = KW_PLANE_TAPS ? a->c * a->filter[0] * a->filter[1] * a->filter[2] : a->c, p.w_row = p.depth * KW_BYTES;
#endif
    p.end = p.from + FROM_SPAN(a, p) * KW_BYTES;
    p.steps = (p.depth + KW_PAIR - 1) / KW_PAIR;
    return p;
}

/* Packed order: group, tile of rows, row, depth. */
static void pack_rows(const kw_kernel_args *a, kw_i64 begin, kw_i64 end) {
    plane_product p = plane_product_of(a);
    kw_i64 tiles = (p.rows + KW_TILE_COLS - 1) / KW_TILE_COLS, pitch = a->params.pitch;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 first = unit % tiles * KW_TILE_COLS, rows = kw_min(KW_TILE_COLS, p.rows - first);
        const char *from = p.w + (unit / tiles * p.rows * p.depth) * KW_BYTES + first * p.w_row;
        char *to = a->packed + unit * KW_TILE_COLS * pitch;
        kw_zero(to, KW_TILE_COLS * pitch);
        if (p.w_deep == KW_BYTES) {
            for (kw_i64 row = 0; row < rows; row++)
                kw_copy(to + row * pitch, from + row * p.w_row, p.depth, pitch);
        } else if (KW_CONVERTS) {
            kw_transpose_widened(a, to, pitch, from, p.w_deep, p.depth, rows);
        } else {
            kw_transpose(a, to, pitch, from, p.w_deep, p.depth, rows);
        }
    }
}

/* Pixels at..at+count-1 of a panel are those from pixel on of an image. */
typedef struct plane_run {
    kw_i64 image, pixel, at, count;
} plane_run;

KW_STATIC_ASSERT(sizeof(plane_run) == KW_PLANE_RUN_BYTES, "launch() counts on it");

/* The runs of a panel that begins at a column; gives their number. */
static kw_i64 list_plane_runs(const plane_product *p, kw_i64 column, plane_run *run) {
    kw_i64 count = 0, end = kw_min(column + KW_BLOCK, p->columns);
    for (kw_i64 at = column; at < end; at += run[count++].count)
        run[count] = (plane_run){at / p->pixels, at % p->pixels, at - column, kw_min(end - at, p->pixels - at % p->pixels)};
    return count;
}

/* One word of a panel: a pixel's value of a channel, or of two. */
KW_INLINE void put_word(char *to, const char *p, kw_i64 plane, int partner) {
#if KW_DP
    *(kw_u32 *)to = *(const kw_u16_u *)p | (partner ? (kw_u32) * (const kw_u16_u *)(p + plane) << 16 : 0);
#else
    (void)plane, (void)partner;
    *(float *)to = kw_load_1(p);
#endif
}

/* Panels of a unit: run numbers first[i]..first[i + 1]-1 are panel i's. */
typedef struct plane_chunk {
    const char *from; /* the group's first plane */
    kw_i64 image;     /* bytes from one image's to the next one's */
    kw_i64 panels, *first;
    plane_run *run;
    int lies; /* panels that are one run are read where they lie */
} plane_chunk;

KW_INLINE int panel_lies(const plane_chunk *chunk, kw_i64 number) {
    return KW_TILE_APART && chunk->lies && chunk->run[chunk->first[number]].count == KW_BLOCK;
}

/* Channel by channel, so that memory is read in long pieces. A vector that reaches beyond a run holds other pixels there: the next run's
 * come after it, or nobody reads them. */
static __attribute__((unused)) void copy_panels(char *to, const plane_product *p, const plane_chunk *chunk) {
    kw_i64 plane = p->from_plane * KW_BYTES, panel = KW_PLANE_PANEL_BYTES(p->steps, KW_BLOCK);
    const char *from = chunk->from;
    for (kw_i64 step = 0; step < p->steps; step++, from += KW_PAIR * plane, to += KW_STEP_BYTES) {
        int partner = KW_PAIR * step + 1 < p->depth;
        char *row = to;
        for (kw_i64 i = 0; i < chunk->panels; i++, row += panel) {
            if (panel_lies(chunk, i)) continue;
            for (const plane_run *r = chunk->run + chunk->first[i], *end = chunk->run + chunk->first[i + 1]; r < end; r++) {
                const char *at = from + r->image * chunk->image + r->pixel * KW_BYTES;
                const char *last = at + (KW_DP && partner ? plane : 0) + (r->count + KW_LANES - 1) / KW_LANES * KW_LANES * KW_BYTES;
                kw_i64 j = 0;
                if (last <= p->end && (!KW_DP || partner)) {
                    for (; j < r->count; j += KW_LANES) {
#if KW_DP
                        kw_put(row + (r->at + j) * 4, kw_zip_pixels(at + j * KW_BYTES, at + plane + j * KW_BYTES));
#else
                        kw_put(row + (r->at + j) * 4, kw_load_x(at + j * KW_BYTES));
#endif
                    }
                }
                for (; j < r->count; j++)
                    put_word(row + (r->at + j) * 4, at + j * KW_BYTES, plane, partner);
            }
        }
    }
}

/* The same of a tensor that is read with a stride, a panel at a time. */
static __attribute__((unused)) void gather_panel(char *to, const kw_kernel_args *a, const plane_product *p, const plane_chunk *chunk,
                                                 kw_i64 number) {
    kw_i64 plane = p->from_plane * KW_BYTES, place[KW_BLOCK], count = 0;
    const char *from = chunk->from;
    for (const plane_run *r = chunk->run + chunk->first[number]; r < chunk->run + chunk->first[number + 1]; r++) {
        for (kw_i64 pixel = r->pixel; pixel < r->pixel + r->count; pixel++) {
            kw_i64 w = pixel % a->out[2] * a->stride[2], h = pixel / a->out[2] % a->out[1] * a->stride[1];
            kw_i64 d = pixel / (a->out[2] * a->out[1]) * a->stride[0];
            place[count++] = r->image * chunk->image + FROM_PIXEL(a, d, h, w) * KW_BYTES;
        }
    }
    for (kw_i64 step = 0; step < p->steps; step++, from += KW_PAIR * plane, to += KW_STEP_BYTES) {
        for (kw_i64 i = 0; i < count; i++)
            put_word(to + i * 4, from + place[i], plane, KW_PAIR * step + 1 < p->depth);
    }
}

/* Elements of a row of a tile to where they belong, a vector or what is left of it at a time. */
KW_INLINE void move_run(char *to, const char *from, kw_i64 count) {
    for (; count >= KW_LANES; count -= KW_LANES, to += KW_LANES * KW_OUT_BYTES, from += KW_LANES * KW_OUT_BYTES)
        __builtin_memcpy(to, from, KW_LANES * KW_OUT_BYTES);
    for (; count >= 4; count -= 4, to += 4 * KW_OUT_BYTES, from += 4 * KW_OUT_BYTES)
        __builtin_memcpy(to, from, 4 * KW_OUT_BYTES);
    for (; count > 0; count--, to += KW_OUT_BYTES, from += KW_OUT_BYTES)
        __builtin_memcpy(to, from, KW_OUT_BYTES);
}

/* The tensor of an epilogue that has the result's shape (rule first_channels leaves one, of elements as large): what a waiting tile reads of it
 * waits in the tile's place, where each element is read before it is written. */
#if KW_EPILOGUE
#define KW_PLANE_FUNCTION(name) KW_PLANE_STEP
#define KW_PLANE_STEP(v, ...) (v)
#define KW_PLANE_NOTHING(type, number) 0
#define KW_PLANE_LIKE(type, number) (like = a->extra[number], a->extra[number] = held, 0)
KW_INLINE const char *like_result(kw_kernel_args *a, const char *held) {
    const char *like = 0;
    float v = 0;
    (void)a, (void)held;
    KW_EPILOGUE_STEPS(v, KW_PLANE_FUNCTION, KW_PLANE_NOTHING, KW_PLANE_NOTHING, KW_PLANE_NOTHING, KW_PLANE_LIKE)
    (void)v;
    return like;
}
#else
#define like_result(a, held) ((void)(a), (const char *)0)
#endif

/* A tile of rows times the panels of a unit, so that what is written lies in long pieces, too. held: where a tile waits whose panel is not
 * one whole run. */
static void multiply_row(const kw_kernel_args *a, const plane_product *p, const plane_chunk *chunk, kw_i64 group, kw_i64 tile,
                         const char *copies, const char *next, char *memory) {
    static const kw_run whole_depth = {0, 0};
    kw_i64 tiles = (p->rows + KW_TILE_COLS - 1) / KW_TILE_COLS, plane = TO_PLANE(a, p) * KW_OUT_BYTES, image = TO_IMAGE(a, p, plane);
    char *held = memory + KW_SPILL_BYTES, *row = p->to + (group * p->rows + tile * KW_TILE_COLS) * plane;
    kw_kernel_args waiting = *a;
    const char *like = like_result(&waiting, held);
    like = like ? like + (row - p->to) : like;
    kw_tile_job job = {.runs = &whole_depth,
                       .run_count = 1,
                       .steps = p->steps,
                       .src_pixel = a->params.pitch,
                       .rows = 1,
                       .spill = memory,
                       .channels = KW_BLOCK};
    job.src = a->packed + (group * tiles + tile) * KW_TILE_COLS * a->params.pitch;
    job.cols = kw_min(KW_TILE_COLS, p->rows - tile * KW_TILE_COLS);
    for (kw_i64 i = 0; i < chunk->panels; i++) {
        const plane_run *run = chunk->run + chunk->first[i], *end = chunk->run + chunk->first[i + 1];
        int whole = run->count == KW_BLOCK;
        kw_i64 line = tile * chunk->panels + i;
        int comes = next && line < KW_PAIR * chunk->panels * KW_BLOCK * KW_BYTES / KW_LINE;
        job.ahead =
            comes ? next + line % KW_PAIR * p->from_plane * KW_BYTES + line / KW_PAIR * KW_LINE : job.src + KW_TILE_COLS * job.src_pixel;
        job.ahead_step = comes ? KW_PAIR * p->from_plane * KW_BYTES : KW_TILE_PIXELS * 4;
        job.w = copies + i * KW_PLANE_PANEL_BYTES(p->steps, KW_BLOCK);
        job.far = a->params.far;
#if KW_TILE_APART
        job.w_step = KW_STEP_BYTES, job.apart = 0;
        if (panel_lies(chunk, i)) {
            job.w = chunk->from + run->image * chunk->image + run->pixel * KW_BYTES;
            job.w_step = KW_PAIR * p->from_plane * KW_BYTES;
            job.apart = (KW_PAIR - 1) * p->from_plane * KW_BYTES;
            job.far = KW_BLOCK * KW_BYTES; /* the next panel */
        }
#endif
        job.out = whole ? row + run->image * image + run->pixel * KW_OUT_BYTES : held;
        job.out_pixel = whole ? plane : KW_BLOCK * KW_OUT_BYTES;
        for (kw_i64 m = 0; like && m < job.cols && !whole; m++) {
            for (const plane_run *r = run; r < end; r++)
                move_run(held + (m * KW_BLOCK + r->at) * KW_OUT_BYTES, like + m * plane + r->image * image + r->pixel * KW_OUT_BYTES,
                         r->count);
        }
        job.at = kw_place_steps(kw_place_at(!like || whole ? a : &waiting, !like || whole ? p->to : held,
                                            run->image * p->pixels + run->pixel, group * p->rows + tile * KW_TILE_COLS),
                                1, 0);
        kw_tile(&job);
        for (kw_i64 m = 0; m < job.cols && !whole; m++) {
            for (const plane_run *r = run; r < end; r++)
                move_run(row + m * plane + r->image * image + r->pixel * KW_OUT_BYTES, held + (m * KW_BLOCK + r->at) * KW_OUT_BYTES,
                         r->count);
        }
    }
}

/* Whether each pixel of a channel is read, and lies beside the one before it. */
#ifdef KW_PITCHED
static int ARE_TOGETHER(const kw_kernel_args *a, const plane_product *p) {
    const kw_i64 *step = FROM_STEP(a), *size = FROM_SIZE(a);
    int rows = size[1] == 1 || step[2] == size[2], planes = size[0] == 1 || step[1] == size[1] * size[2];
    return rows && planes && p->pixels == size[0] * size[1] * size[2];
}
#else
#define ARE_TOGETHER(a, p) (KW_BACKWARD || p->from_plane == p->pixels)
#endif

#if KW_PLANE_TAPS
#include "cpu/gemm/planes_taps.h"
#else
typedef struct tap_rows tap_rows;
#endif

/* Fills a unit's panels. */
static void open_chunk(const kw_kernel_args *a, const plane_product *p, plane_chunk *chunk, kw_i64 group, kw_i64 block, char *copies,
                       const tap_rows *rows) {
    chunk->image = FROM_IMAGE(a, p) * KW_BYTES;
    chunk->from = p->from + group * p->planes * p->from_plane * KW_BYTES;
    chunk->lies = KW_TILE_APART && !a->params.copy && ARE_TOGETHER(a, p);
    chunk->first[0] = 0;
    for (kw_i64 i = 0; i < chunk->panels; i++)
        chunk->first[i + 1] = chunk->first[i] + list_plane_runs(p, (block + i) * KW_BLOCK, chunk->run + chunk->first[i]);
    (void)rows;
#if KW_PLANE_TAPS
    open_taps(a, p, chunk, block, copies, rows);
#else
    if (ARE_TOGETHER(a, p)) {
        copy_panels(copies, p, chunk);
        return;
    }
    for (kw_i64 i = 0; i < chunk->panels; i++)
        gather_panel(copies + i * KW_PLANE_PANEL_BYTES(p->steps, KW_BLOCK), a, p, chunk, i);
#endif
}

static void multiply_planes(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, char *memory) {
    plane_product p = plane_product_of(a);
    kw_i64 blocks = (p.columns + KW_BLOCK - 1) / KW_BLOCK, panels = a->params.chunk_rows, parts = a->params.parts;
    kw_i64 chunks = (blocks + panels - 1) / panels, tiles = (p.rows + KW_TILE_COLS - 1) / KW_TILE_COLS, open = -1;
    char *copies = memory + a->params.copy_at;
#if KW_PLANE_TAPS
    const tap_rows taps = tap_rows_of(a, memory + a->params.rows_at), *rows = &taps;
#else
    const tap_rows *rows = 0;
#endif
    plane_chunk chunk = {.first = (kw_i64 *)(memory + 2 * KW_SPILL_BYTES)};
    chunk.run = (plane_run *)(chunk.first + panels + 1);
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 part = unit % parts, number = unit / parts, group = number / chunks, block = number % chunks * panels;
        chunk.panels = kw_min(panels, blocks - block);
        if (number != open) open_chunk(a, &p, &chunk, group, block, copies, rows);
        open = number;
        const char *next = 0;
        if (!KW_PLANE_TAPS && !chunk.lies && number % chunks + 1 < chunks && p.from_plane >= panels * KW_BLOCK) {
            kw_i64 column = (block + panels) * KW_BLOCK;
            next = chunk.from + column / p.pixels * chunk.image + column % p.pixels * KW_BYTES;
        }
        for (kw_i64 tile = part * tiles / parts; tile < (part + 1) * tiles / parts; tile++)
            multiply_row(a, &p, &chunk, group, tile, copies, next, memory);
    }
}

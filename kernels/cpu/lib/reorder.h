/* reorder.h: the stages of a kernel of channels-last tensors. A text that includes it at its end names its own stages own_stage0 (and
 * own_stage1, where stage 0 packs weights) and gets kw_stage0, kw_stage1, ... from here. A text for channels-first tensors
 * (KW_CHANNELS_FIRST) turns them; what each of its stages does, the launch says in args->reorder.roles (src/families/cpu/reorder.c).
 *
 * A turn is some images of some groups: they are turned into a copy that stays in the thread's cache, the kernel runs on the copy as on a
 * problem of its own, and what it wrote is turned back, a band of rows at a time where the whole would not stay there. Where there are too few turns for the threads, whole tensors are turned in stages
 * of their own. Weights are turned once, when they are packed. KW_GRADIENT: the text makes weight gradients; where KW_GRADIENT_SUMS, in two
 * stages if tensors are channels last. */
#if !KW_CHANNELS_FIRST

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { own_stage0(a, begin, end, memory); }
#if !defined(KW_GRADIENT) || defined(KW_GRADIENT_SUMS)
void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { own_stage1(a, begin, end, memory); }
#endif

#else

#include "cpu/ahead/call.h"

#ifdef KW_GRADIENT
#define KW_OWN_COMPUTE own_stage0
#else
#define KW_GRADIENT 0
#define KW_OWN_COMPUTE own_stage1
#endif

KW_INLINE kw_i64 kw_volume(const kw_i64 extent[3]) { return extent[0] * extent[1] * extent[2]; }

/* Bytes of an element of x, of y. */
#define KW_X_BYTES (KW_BACKWARD ? KW_OUT_BYTES : KW_BYTES)
#define KW_Y_BYTES (KW_BACKWARD || KW_GRADIENT ? KW_BYTES : KW_OUT_BYTES)

/* Tensors of an epilogue that have the result's shape, with elements as large (rule first_channels): the first is turned into the result's own copy,
 * where each element is read before it is written, the others into copies behind that. */
#if KW_EPILOGUE
#define KW_TURN_FUNCTION(name) KW_TURN_STEP
#define KW_TURN_STEP(v, ...) (v)
#define KW_TURN_NOTHING(type, number) 0
#endif
typedef struct kw_likes {
    const char *tensor[KW_EXTRAS];
    int count;
} kw_likes;
#if KW_EPILOGUE && !KW_GRADIENT
#define KW_TURN_FOUND(type, number) (likes.tensor[likes.count++] = a->extra[number], 0)
#else
#define KW_TURN_FOUND(type, number) 0
#endif
KW_INLINE kw_likes kw_likes_of(const kw_kernel_args *a) {
    kw_likes likes = {{0}, 0};
    (void)a;
#if KW_EPILOGUE
    float v = 0;
    KW_EPILOGUE_STEPS(v, KW_TURN_FUNCTION, KW_TURN_NOTHING, KW_TURN_NOTHING, KW_TURN_NOTHING, KW_TURN_FOUND)
    (void)v;
#endif
    return likes;
}
/* Bytes from one's copy to the next one's. */
KW_INLINE kw_i64 kw_likes_apart(const kw_kernel_args *a, int count) {
    const kw_reorder *r = &a->reorder;
    return (KW_BACKWARD ? r->y_at - r->x_at : r->shared_at - r->y_at) / (count > 1 ? count : 1);
}

/* Pixels first..last-1 of the channels of some groups of an image, to and from their place in a copy. */
typedef struct kw_reordered {
    char *tensor, *copy; /* the first channel's first pixel */
    kw_i64 channels, pixels;
#ifdef KW_PITCHED
    const kw_i64 *step, *size;
#endif
} kw_reordered;

#ifdef KW_PITCHED
/* Of parts of larger tensors pixels are turned by runs of those that lie side by side in a channel: all, those of a plane, or of a row. */
typedef struct kw_pixel_run {
    kw_i64 place, count; /* of its first pixel in the channel */
} kw_pixel_run;

KW_INLINE kw_pixel_run kw_pixel_run_of(const kw_reordered *r, kw_i64 pixel, kw_i64 end) {
    const kw_i64 *step = r->step, *size = r->size;
    kw_i64 row = pixel / size[2], plane = row / size[1], last = end;
    if (size[0] > 1 && step[1] != size[1] * size[2]) last = kw_min(end, (plane + 1) * size[1] * size[2]);
    if (size[1] > 1 && step[2] != size[2]) last = kw_min(end, (row + 1) * size[2]);
    return (kw_pixel_run){plane * step[1] + (row - plane * size[1]) * step[2] + pixel - row * size[2], last - pixel};
}

static void kw_turn_to_last(const kw_kernel_args *a, const kw_reordered *r, kw_i64 first, kw_i64 last) {
    kw_i64 pixel = r->channels * KW_BYTES, channel = r->step[4] * KW_BYTES;
    for (kw_pixel_run run; first < last; first += run.count) {
        run = kw_pixel_run_of(r, first, last);
        kw_transpose(a, r->copy + first * pixel, pixel, r->tensor + run.place * KW_BYTES, channel, r->channels, run.count);
    }
}

static void kw_turn_to_first(const kw_kernel_args *a, const kw_reordered *r, kw_i64 first, kw_i64 last) {
    kw_i64 pixel = r->channels * KW_OUT_BYTES, channel = r->step[4] * KW_OUT_BYTES;
    for (kw_pixel_run run; first < last; first += run.count) {
        run = kw_pixel_run_of(r, first, last);
        kw_transpose_out(a, r->tensor + run.place * KW_OUT_BYTES, channel, r->copy + first * pixel, pixel, run.count, r->channels);
    }
}
#else
static void kw_turn_to_last(const kw_kernel_args *a, const kw_reordered *r, kw_i64 first, kw_i64 last) {
    kw_i64 pixel = r->channels * KW_BYTES;
    kw_transpose(a, r->copy + first * pixel, pixel, r->tensor + first * KW_BYTES, r->pixels * KW_BYTES, r->channels, last - first);
}

static void kw_turn_to_first(const kw_kernel_args *a, const kw_reordered *r, kw_i64 first, kw_i64 last) {
    kw_i64 pixel = r->channels * KW_OUT_BYTES;
    kw_transpose_out(a, r->tensor + first * KW_OUT_BYTES, r->pixels * KW_OUT_BYTES, r->copy + first * pixel, pixel, last - first,
                     r->channels);
}
#endif

/* The result's channels of the tensors like it. */
static void kw_turn_likes(const kw_kernel_args *a, const kw_likes *likes, const kw_reordered *r, kw_i64 first, kw_i64 last) {
    kw_i64 pixel = r->channels * KW_OUT_BYTES, apart = kw_likes_apart(a, likes->count);
    for (int i = 0; i < likes->count; i++) {
        const char *from = likes->tensor[i] + (r->tensor - (KW_BACKWARD ? a->x : a->y));
#ifdef KW_PITCHED
        kw_pixel_run run;
        for (kw_i64 at = first; at < last; at += run.count) {
            run = kw_pixel_run_of(r, at, last);
            kw_transpose_out(a, r->copy + i * apart + at * pixel, pixel, from + run.place * KW_OUT_BYTES, r->step[4] * KW_OUT_BYTES,
                             r->channels, run.count);
        }
        continue;
#endif
        kw_transpose_out(a, r->copy + i * apart + first * pixel, pixel, from + first * KW_OUT_BYTES, r->pixels * KW_OUT_BYTES, r->channels,
                         last - first);
    }
}

/* All groups of an image, or those of a turn whose first image is this one. */
static kw_reordered kw_reordered_x(const kw_kernel_args *a, char *copy, kw_i64 image, kw_i64 group, kw_i64 groups) {
    kw_i64 pixels = kw_volume(a->in);
#ifdef KW_PITCHED
    const kw_i64 *step = a->x_step;
    return (kw_reordered){a->x + (image * step[0] + group * a->c * step[4]) * KW_X_BYTES, copy, groups * a->c, pixels, step, a->in};
#endif
    return (kw_reordered){a->x + (image * a->groups + group) * a->c * pixels * KW_X_BYTES, copy, groups * a->c, pixels};
}

static kw_reordered kw_reordered_y(const kw_kernel_args *a, char *copy, kw_i64 image, kw_i64 group, kw_i64 groups) {
    kw_i64 pixels = kw_volume(a->out);
#ifdef KW_PITCHED
    const kw_i64 *step = a->y_step;
    return (kw_reordered){a->y + (image * step[0] + group * a->k * step[4]) * KW_Y_BYTES, copy, groups * a->k, pixels, step, a->out};
#endif
    return (kw_reordered){a->y + (image * a->groups + group) * a->k * pixels * KW_Y_BYTES, copy, groups * a->k, pixels};
}

/* Filters begin..end-1 of all groups: channel by tap becomes tap by channel; of a gradient, whose type is the result's, back. */
static void kw_turn_filters(const kw_kernel_args *a, char *to, const char *from, kw_i64 begin, kw_i64 end) {
    kw_i64 taps = kw_volume(a->filter), size = KW_GRADIENT ? KW_OUT_BYTES : KW_BYTES, bytes = taps * a->c * size;
    kw_i64 rows = KW_GRADIENT ? taps : a->c, cols = KW_GRADIENT ? a->c : taps;
    for (kw_i64 k = begin; k < end; k++) {
        if (KW_GRADIENT)
            kw_transpose_out(a, to + k * bytes, rows * size, from + k * bytes, cols * size, rows, cols);
        else
            kw_transpose(a, to + k * bytes, rows * size, from + k * bytes, cols * size, rows, cols);
    }
}

/* --- turns --- */

/* rows: pixels of all images. A turn's channels are counted from its first group on, and its pixels from its first image's: an epilogue's values of channels and of pixels begin
 * there, too. Tensors of the result's shape stand in their copies. */
#if KW_EPILOGUE
#define KW_TURN_CHANNELS(type, number) (part->extra[number] += channel * KW_BYTES_OF_##type, 0)
#define KW_TURN_ROWS(type, number) (part->extra[number] += row * KW_BYTES_OF_##type, 0)
#define KW_TURN_RESULT(type, number) (part->extra[number] = copy + like++ * apart, 0)
static void kw_turn_extras(kw_kernel_args *part, kw_i64 channel, kw_i64 row, kw_i64 rows) {
    float v = 0;
    const char *copy = KW_BACKWARD ? part->x : part->y;
    kw_i64 apart = kw_likes_apart(part, kw_likes_of(part).count), like = 0;
    (void)part, (void)channel, (void)row, (void)rows, (void)copy, (void)apart, (void)like;
    KW_EPILOGUE_STEPS(v, KW_TURN_FUNCTION, KW_TURN_NOTHING, KW_TURN_CHANNELS, KW_TURN_ROWS, KW_TURN_RESULT)
#if KW_W_ZERO
    /* Sums of x: all rows of a turn's groups, then those of the next groups (backend/cpu/cpu_x_sums.h). */
    part->extra[KW_X_SUMS_AT] += (channel / part->k * rows + row * part->groups) * 4;
    if (!KW_W_ZERO_ONE) part->extra[KW_W_ZERO_AT] += channel * KW_W_ZERO_WORD(KW_BYTES_OF_);
#endif
    (void)v;
}
#endif

static char *kw_turned_weights(const kw_kernel_args *a) { return a->reorder.w_at < 0 ? a->w : a->packed + a->reorder.w_at; }

static void kw_pack_turns(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    const kw_reorder *r = &a->reorder;
    kw_i64 units = r->units[0], weights = r->groups * a->k * a->c * kw_volume(a->filter) * KW_BYTES;
    for (kw_i64 unit = begin, last; unit < end; unit = last) {
        kw_i64 block = unit / units;
        kw_kernel_args part = *a;
        last = kw_min(end, (block + 1) * units);
        part.groups = r->groups;
        part.w = kw_turned_weights(a) + block * weights;
        part.packed = a->packed + block * r->packed;
        own_stage0(&part, unit - block * units, last - block * units, memory);
    }
}

/* A band of result rows after the other, each into the same copy, from which it is turned back while it is near. */
KW_INLINE void kw_run_bands(kw_kernel_args *part, kw_reordered y, void *memory) {
    const kw_reorder *r = &part->reorder;
    char *copy = part->y;
    kw_i64 columns = part->out[2], band_pixels = r->band_rows * columns, units = r->units[1];
    for (kw_i64 unit = 0, first = 0; unit < units; unit += r->band_units, first += band_pixels) {
        y.copy = part->y = copy - first * y.channels * KW_OUT_BYTES;
        KW_OWN_COMPUTE(part, unit, kw_min(unit + r->band_units, units), memory);
        kw_turn_to_first(part, &y, first, kw_min(first + band_pixels, y.pixels));
    }
}

static void kw_run_turns(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, char *memory) {
    const kw_reorder *r = &a->reorder;
    kw_i64 blocks = a->groups / r->groups, x_bytes = r->groups * a->c * kw_volume(a->in) * KW_X_BYTES;
    const kw_likes likes = kw_likes_of(a);
    kw_i64 y_bytes = r->groups * a->k * kw_volume(a->out) * KW_Y_BYTES,
           w_bytes = r->groups * a->k * a->c * kw_volume(a->filter) * KW_OUT_BYTES;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 block = unit % blocks, group = block * r->groups, image = unit / blocks * r->images;
        kw_kernel_args part = *a;
        part.n = r->images;
        part.groups = r->groups;
        part.x = memory + r->x_at;
        part.y = memory + r->y_at;
        part.shared = memory + r->shared_at;
        part.packed = a->packed + block * r->packed;
#if KW_EPILOGUE
        kw_i64 pixels = kw_volume(KW_BACKWARD ? a->in : a->out);
        kw_turn_extras(&part, group * (KW_BACKWARD ? a->c : a->k), image * pixels, a->n * pixels);
#endif
        if (KW_GRADIENT) part.w = r->w_at < 0 ? a->w + block * w_bytes : memory + r->w_at;
        for (kw_i64 i = 0; i < r->images; i++) {
            kw_reordered x = kw_reordered_x(a, part.x + i * x_bytes, image + i, group, r->groups);
            kw_reordered y = kw_reordered_y(a, part.y + i * y_bytes, image + i, group, r->groups);
            if (!KW_BACKWARD) kw_turn_to_last(a, &x, 0, x.pixels);
            if (KW_BACKWARD || KW_GRADIENT) kw_turn_to_last(a, &y, 0, y.pixels);
            kw_turn_likes(a, &likes, KW_BACKWARD ? &x : &y, 0, KW_BACKWARD ? x.pixels : y.pixels);
        }
        if (!KW_GRADIENT && !KW_BACKWARD && r->band_rows) {
            kw_run_bands(&part, kw_reordered_y(a, part.y, image, group, r->groups), memory);
            continue;
        }
        KW_OWN_COMPUTE(&part, 0, r->units[!KW_GRADIENT], memory);
        if (KW_GRADIENT) {
            if (r->w_at >= 0) kw_turn_filters(a, a->w + block * w_bytes, part.w, 0, r->groups * a->k);
            continue;
        }
        for (kw_i64 i = 0; i < r->images; i++) {
            kw_reordered x = kw_reordered_x(a, part.x + i * x_bytes, image + i, group, r->groups);
            kw_reordered y = kw_reordered_y(a, part.y + i * y_bytes, image + i, group, r->groups);
            if (KW_BACKWARD)
                kw_turn_to_first(a, &x, 0, x.pixels);
            else
                kw_turn_to_first(a, &y, 0, y.pixels);
        }
    }
}

/* --- whole tensors --- */

/* Units are images and pieces of KW_REORDER_PIXELS pixels of the larger of x and y. */
static void kw_turn_tensors(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, int back) {
    const kw_likes likes = kw_likes_of(a);
    kw_i64 in = kw_volume(a->in), out = kw_volume(a->out), pieces = (kw_max(in, out) + KW_REORDER_PIXELS - 1) / KW_REORDER_PIXELS;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 image = unit / pieces, first = unit % pieces * KW_REORDER_PIXELS;
        char *x_copy = a->shared + a->reorder.x_at + image * a->groups * a->c * in * KW_X_BYTES;
        char *y_copy = a->shared + a->reorder.y_at + image * a->groups * a->k * out * KW_Y_BYTES;
        kw_reordered x = kw_reordered_x(a, x_copy, image, 0, a->groups), y = kw_reordered_y(a, y_copy, image, 0, a->groups);
        kw_i64 x_last = kw_min(in, first + KW_REORDER_PIXELS), y_last = kw_min(out, first + KW_REORDER_PIXELS);
        if (back && KW_BACKWARD && first < in) kw_turn_to_first(a, &x, first, x_last);
        if (back && !KW_BACKWARD && first < out) kw_turn_to_first(a, &y, first, y_last);
        if (!back && !KW_BACKWARD && first < in) kw_turn_to_last(a, &x, first, x_last);
        if (!back && (KW_BACKWARD || KW_GRADIENT) && first < out) kw_turn_to_last(a, &y, first, y_last);
        if (!back && first < (KW_BACKWARD ? in : out))
            kw_turn_likes(a, &likes, KW_BACKWARD ? &x : &y, first, KW_BACKWARD ? x_last : y_last);
    }
}

static void kw_run_copies(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_kernel_args whole = *a;
    whole.x = a->shared + a->reorder.x_at;
    whole.y = a->shared + a->reorder.y_at;
    if (KW_GRADIENT && a->reorder.w_at >= 0) whole.w = a->shared + a->reorder.w_at;
#if KW_EPILOGUE
    if (!KW_GRADIENT) kw_turn_extras(&whole, 0, 0, 0);
#endif
    KW_OWN_COMPUTE(&whole, begin, end, memory);
}

static void kw_play_role(const kw_kernel_args *a, int stage, kw_i64 begin, kw_i64 end, void *memory) {
    switch (a->reorder.roles >> 4 * stage & 15) {
    case KW_ROLE_WEIGHTS:
        kw_turn_filters(a, kw_turned_weights(a), a->w, begin, end);
        break;
    case KW_ROLE_PACK:
        kw_pack_turns(a, begin, end, memory);
        break;
    case KW_ROLE_TURNS:
        kw_run_turns(a, begin, end, memory);
        break;
    case KW_ROLE_IN:
        kw_turn_tensors(a, begin, end, 0);
        break;
    case KW_ROLE_COPIES:
        kw_run_copies(a, begin, end, memory);
        break;
    case KW_ROLE_OUT:
        kw_turn_tensors(a, begin, end, 1);
        break;
    case KW_ROLE_GRADIENT:
        kw_turn_filters(a, a->w, a->shared + a->reorder.w_at, begin, end);
        break;
    }
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { kw_play_role(a, 0, begin, end, memory); }
void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { kw_play_role(a, 1, begin, end, memory); }
void KW_EXPORT kw_stage2(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { kw_play_role(a, 2, begin, end, memory); }
void KW_EXPORT kw_stage3(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { kw_play_role(a, 3, begin, end, memory); }
void KW_EXPORT kw_stage4(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { kw_play_role(a, 4, begin, end, memory); }

#endif

/* reference_conv.c: convolution of every direction, type, layout, group count and geometry.
 *
 * Forward and backward data are one walk (kw_walk of the prelude): a unit is 64 output pixels of one stride phase by 64 output channels
 * of a group; each tap gathers the pixels' source channels and adds its product. Backward weight turns this round: a unit is 64 (tap,
 * channel) rows by 64 channels of y, summed over all pixels. With one channel in and out a group, channels of 64 groups stand side by
 * side and are multiplied element by element. */
#include "reference.h"

#include "prelude/bias_gradient.h"

#include <stdint.h>

#define KW_LANES 4
#define KW_STORAGE 0
#define KW_MATH 0
#define KW_BACKWARD 0
#include "prelude/cpu.h"

/* Index of a tensor's element: each step times its number; channels are counted over all groups. */
typedef struct steps {
    kw_i64 image, at[3], channel;
} steps;

static kw_i64 volume(const kw_i64 extent[3]) { return extent[0] * extent[1] * extent[2]; }

static steps tensor_steps(const kw_i64 step[5]) { return (steps){step[0], {step[1], step[2], step[3]}, step[4]}; }

/* Of sums that wait for an epilogue, which have no gaps. */
static steps sum_steps(const kw_kernel_args *args, const kw_i64 extent[3], kw_i64 channels) {
    kw_i64 pixels = volume(extent);
    bool last = kw_reference_params_of(args)->layout == KW_CHANNELS_LAST;
    kw_i64 pixel = last ? channels : 1;
    return (steps){pixels * channels, {extent[1] * extent[2] * pixel, extent[2] * pixel, pixel}, last ? 1 : pixels};
}

/* Of the filter: index (group * k + k) * c * taps + tap * this.tap + c * this.channel. */
typedef struct filter_step {
    kw_i64 image, tap, channel;
} filter_step;

static filter_step filter_steps(const kw_kernel_args *args) {
    kw_i64 taps = volume(args->filter);
    bool last = kw_reference_params_of(args)->layout == KW_CHANNELS_LAST;
    return (filter_step){args->c * taps, last ? args->c : 1, last ? 1 : taps};
}

/* One output pixel of a unit: where it is written, and where its tap 0 reads. */
typedef struct pixel {
    kw_i64 image, to, at[3];
} pixel;

/* A forward or backward-data convolution as one thing. */
typedef struct job {
    const kw_kernel_args *args;
    bool backward, depthwise;
    kw_dtype source_dtype, from, to;
    float zero; /* of the source */
    const char *source;
    char *result;
    const kw_i64 *source_extent, *result_extent;
    steps source_steps, result_steps;
    kw_i64 depth, cols;                       /* channels of a group that are read, that are written */
    kw_i64 tap_step, depth_step, column_step; /* in the filter */
    kw_i64 group_blocks, blocks;              /* column blocks: of a group; of all groups */
} job;

static job make_job(const kw_kernel_args *args, bool backward) {
    filter_step filter = filter_steps(args);
    job j = {
        .args = args,
        .backward = backward,
        .depthwise = kw_reference_is_depthwise(args),
        .source_dtype = (kw_dtype)(backward ? kw_reference_params_of(args)->from : kw_reference_params_of(args)->x),
        .from = (kw_dtype)kw_reference_params_of(args)->from,
        .to = (kw_dtype)kw_reference_params_of(args)->to,
        .zero = backward ? 0 : kw_reference_kernel_zero(args),
        .source = backward ? args->y : args->x,
        .result = kw_reference_kernel_result(args, backward ? args->x : args->y),
        .source_extent = backward ? args->out : args->in,
        .result_extent = backward ? args->in : args->out,
        .depth = backward ? args->k : args->c,
        .cols = backward ? args->c : args->k,
        .tap_step = filter.tap,
        .depth_step = backward ? filter.image : filter.channel,
        .column_step = backward ? filter.channel : filter.image,
    };
    j.source_steps = tensor_steps(backward ? args->y_step : args->x_step);
    j.result_steps = kw_reference_params_of(args)->elements ? sum_steps(args, j.result_extent, args->groups * j.cols)
                                                            : tensor_steps(backward ? args->x_step : args->y_step);
    j.group_blocks = (j.cols + KW_REFERENCE_COLS - 1) / KW_REFERENCE_COLS;
    j.blocks = j.depthwise ? (args->groups + KW_REFERENCE_COLS - 1) / KW_REFERENCE_COLS : args->groups * j.group_blocks;
    return j;
}

/* The stride phases in order, one walk an axis. Forward has one phase. */
typedef struct phases {
    kw_i64 number[3], count[3];
    kw_walk walk[3];
    kw_i64 pixels; /* of this phase, over all images */
} phases;

static void enter_phase(phases *p, const job *j) {
    const kw_kernel_args *args = j->args;
    p->pixels = args->n;
    for (int axis = 0; axis < 3; axis++) {
        p->walk[axis] = j->backward ? kw_walk_backward(args, axis, p->number[axis]) : kw_walk_forward(args, axis);
        p->pixels *= p->walk[axis].pixels;
    }
}

static phases first_phase(const job *j) {
    phases p = {0};
    for (int axis = 0; axis < 3; axis++) {
        p.count[axis] = j->backward ? kw_walks_backward(j->args, axis) : 1;
    }
    enter_phase(&p, j);
    return p;
}

static void next_phase(phases *p, const job *j) {
    for (int axis = 2; axis >= 0; axis--) {
        if (++p->number[axis] < p->count[axis] || axis == 0) {
            break;
        }
        p->number[axis] = 0;
    }
    enter_phase(p, j);
}

static void list_pixels(pixel list[], kw_i64 first, kw_i64 count, const phases *p, const job *j) {
    for (kw_i64 i = 0; i < count; i++) {
        kw_i64 rest = first + i, to = 0;
        for (int axis = 2; axis >= 0; axis--) {
            const kw_walk *walk = &p->walk[axis];
            kw_i64 number = rest % walk->pixels;
            rest /= walk->pixels;
            to += j->result_steps.at[axis] * (walk->out_start + number * walk->out_step);
            list[i].at[axis] = walk->src_start + number * walk->src_step;
        }
        list[i].to = rest * j->result_steps.image + to;
        list[i].image = rest * j->source_steps.image;
    }
}

/* Element index of each pixel's source at a tap, -1 where it is in the padding; false when all are. */
static bool locate(kw_i64 source[], const pixel list[], kw_i64 count, const kw_i64 tap[3], const phases *p, const job *j) {
    const kw_i64 *extent = j->source_extent, *step = j->source_steps.at;
    bool any = false;
    for (kw_i64 i = 0; i < count; i++) {
        kw_i64 d = list[i].at[0] + tap[0] * p->walk[0].tap_src_step;
        kw_i64 h = list[i].at[1] + tap[1] * p->walk[1].tap_src_step;
        kw_i64 w = list[i].at[2] + tap[2] * p->walk[2].tap_src_step;
        bool inside = d >= 0 && d < extent[0] && h >= 0 && h < extent[1] && w >= 0 && w < extent[2];
        source[i] = inside ? list[i].image + d * step[0] + h * step[1] + w * step[2] : -1;
        any |= inside;
    }
    return any;
}

static kw_i64 tap_number(const kw_i64 tap[3], const phases *p, const kw_i64 filter[3]) {
    kw_i64 number = 0;
    for (int axis = 0; axis < 3; axis++) {
        number = number * filter[axis] + p->walk[axis].tap_start + tap[axis] * p->walk[axis].tap_step;
    }
    return number;
}

/* Rows of factor a: count channels from channel on of each pixel; zeros in the padding and up to a multiple of 4 rows. */
static void gather(kw_reference_kernel_block *block, const kw_i64 source[], kw_i64 rows, const kw_reference_kernel_run *channels,
                   kw_i64 pitch, float zero) {
    for (kw_i64 r = 0; r < (rows + 3) / 4 * 4; r++) {
        float *to = block->a + r * pitch;
        if (r < rows && source[r] >= 0) {
            kw_reference_kernel_run run = *channels;
            run.first += source[r];
            kw_reference_kernel_load_less(to, &run, zero);
        } else {
            for (kw_i64 q = 0; q < channels->count; q++) {
                to[q] = 0;
            }
        }
    }
}

/* One tap of a block within a group. */
static void add_tap(kw_reference_kernel_block *block, const job *j, const kw_i64 source[], kw_i64 rows, kw_i64 block_number, kw_i64 tap) {
    kw_i64 group = block_number / j->group_blocks, col = block_number % j->group_blocks * KW_REFERENCE_COLS;
    kw_reference_kernel_extent extent = {
        .rows = rows,
        .cols = kw_min(j->cols - col, KW_REFERENCE_COLS),
        .row_step = KW_REFERENCE_DEPTH,
        .depth_step = 1,
        .whole = j->to == KW_INT32,
    };
    kw_i64 filter = group * j->args->k * filter_steps(j->args).image + tap * j->tap_step + col * j->column_step;
    for (kw_i64 q = 0; q < j->depth; q += KW_REFERENCE_DEPTH) {
        extent.depth = kw_min(j->depth - q, KW_REFERENCE_DEPTH);
        kw_i64 step = j->source_steps.channel;
        kw_reference_kernel_run channels = {j->source_dtype, j->source, (group * j->depth + q) * step, step, extent.depth};
        kw_reference_kernel_run weights = {j->from, j->args->w, filter + q * j->depth_step, j->column_step, extent.cols};
        gather(block, source, rows, &channels, KW_REFERENCE_DEPTH, j->zero);
        kw_reference_kernel_load_b(block, &weights, j->depth_step, extent.depth);
        if (!j->backward) kw_reference_kernel_less_zero_w(block, j->args, group * j->cols + col, extent.cols, extent.depth);
        kw_reference_kernel_multiply(block, &extent);
    }
}

/* One tap of a block of groups of one channel. */
static void add_tap_depthwise(kw_reference_kernel_block *block, const job *j, const kw_i64 source[], kw_i64 rows, kw_i64 block_number,
                              kw_i64 tap) {
    kw_i64 group = block_number * KW_REFERENCE_COLS, count = kw_min(j->args->groups - group, KW_REFERENCE_COLS),
           taps = volume(j->args->filter);
    kw_i64 step = j->source_steps.channel;
    kw_reference_kernel_run channels = {j->source_dtype, j->source, group * step, step, count};
    kw_reference_kernel_run weights = {j->from, j->args->w, group * taps + tap, taps, count};
    gather(block, source, rows, &channels, KW_REFERENCE_COLS, j->zero);
    kw_reference_kernel_load(block->b, &weights);
    if (!j->backward) kw_reference_kernel_less_zero_w(block, j->args, group, count, 1);
    kw_reference_kernel_multiply_rows(block, rows, count, j->to == KW_INT32);
}

static void store_rows(const kw_reference_kernel_block *block, const job *j, const pixel list[], kw_i64 rows, kw_i64 block_number) {
    kw_i64 channel = block_number * KW_REFERENCE_COLS, count = kw_min(j->args->groups - channel, KW_REFERENCE_COLS);
    if (!j->depthwise) {
        kw_i64 col = block_number % j->group_blocks * KW_REFERENCE_COLS;
        channel = block_number / j->group_blocks * j->cols + col;
        count = kw_min(j->cols - col, KW_REFERENCE_COLS);
    }
    kw_i64 step = j->result_steps.channel;
    for (kw_i64 r = 0; r < rows; r++) {
        kw_reference_kernel_run run = {j->to, j->result, list[r].to + channel * step, step, count};
        kw_reference_kernel_store(&run, block, r * KW_REFERENCE_COLS, 1);
    }
}

static void work_unit(kw_reference_kernel_block *block, const job *j, const phases *p, const pixel list[], kw_i64 rows,
                      kw_i64 block_number) {
    kw_i64 source[KW_REFERENCE_ROWS], tap[3];
    kw_reference_kernel_clear(block);
    for (tap[0] = 0; tap[0] < p->walk[0].taps; tap[0]++) {
        for (tap[1] = 0; tap[1] < p->walk[1].taps; tap[1]++) {
            for (tap[2] = 0; tap[2] < p->walk[2].taps; tap[2]++) {
                if (!locate(source, list, rows, tap, p, j)) {
                    continue;
                }
                kw_i64 number = tap_number(tap, p, j->args->filter);
                if (j->depthwise) {
                    add_tap_depthwise(block, j, source, rows, block_number, number);
                } else {
                    add_tap(block, j, source, rows, block_number, number);
                }
            }
        }
    }
    store_rows(block, j, list, rows, block_number);
}

/* Units run over phases, then blocks of 64 pixels, then groups and their column blocks. */
static void convolve(const job *j, kw_i64 begin, kw_i64 end, kw_reference_kernel_block *block) {
    pixel list[KW_REFERENCE_ROWS];
    phases p = first_phase(j);
    kw_i64 start = 0, listed = -1; /* the phase's first unit; the pixel block in list */
    for (kw_i64 unit = begin; unit < end; unit++) {
        for (kw_i64 units; unit >= start + (units = (p.pixels + KW_REFERENCE_ROWS - 1) / KW_REFERENCE_ROWS * j->blocks);) {
            start += units;
            listed = -1;
            next_phase(&p, j);
        }
        kw_i64 number = (unit - start) / j->blocks;
        kw_i64 rows = kw_min(p.pixels - number * KW_REFERENCE_ROWS, KW_REFERENCE_ROWS);
        if (number != listed) {
            list_pixels(list, number * KW_REFERENCE_ROWS, rows, &p, j);
            listed = number;
        }
        work_unit(block, j, &p, list, rows, (unit - start) % j->blocks);
    }
}

void kw_reference_kernel_conv_fwd(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_reference_kernel_block block; /* on the stack: the reference kernels need no workspace */
    (void)thread_memory;
    job j = make_job(args, false);
    convolve(&j, begin, end, &block);
}

void kw_reference_kernel_conv_bwd_data(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_reference_kernel_block block; /* on the stack: the reference kernels need no workspace */
    (void)thread_memory;
    job j = make_job(args, true);
    convolve(&j, begin, end, &block);
}

/* --- backward weight --- */

/* Sums over all pixels for rows row .. row + rows of (tap, channel) and some channels of y. */
typedef struct weight_job {
    const kw_kernel_args *args;
    kw_dtype from;
    steps x, y;
    kw_i64 row, rows;               /* row = tap * channels a tap + channel */
    kw_i64 tap_channels;            /* rows of a tap */
    kw_i64 x_channel;               /* first channel of x, over all groups */
    kw_reference_kernel_run y_part; /* channels of y at pixel 0 */
} weight_job;

/* The rows of factor a for output pixel (image, at), in which each tap's channels are one run; false when all taps are in the padding. */
static bool gather_taps(float *to, const weight_job *j, kw_i64 image, const kw_i64 at[3]) {
    const kw_kernel_args *args = j->args;
    const kw_i64 *extent = args->in;
    bool any = false;
    for (kw_i64 r = 0; r < j->rows;) {
        kw_i64 rest = (j->row + r) / j->tap_channels, channel = (j->row + r) % j->tap_channels, position = 0;
        kw_i64 count = kw_min(j->tap_channels - channel, j->rows - r);
        bool inside = true;
        for (int axis = 2; axis >= 0; axis--) {
            kw_i64 in = at[axis] * args->stride[axis] - args->pad[axis] + rest % args->filter[axis] * args->dilation[axis];
            rest /= args->filter[axis];
            inside = inside && in >= 0 && in < extent[axis];
            position += in * j->x.at[axis];
        }
        if (inside) {
            kw_i64 first = image * j->x.image + position + (j->x_channel + channel) * j->x.channel;
            kw_reference_kernel_run run = {j->from, args->x, first, j->x.channel, count};
            kw_reference_kernel_load(to + r, &run);
        } else {
            for (kw_i64 i = 0; i < count; i++) {
                to[r + i] = 0;
            }
        }
        any |= inside;
        r += count;
    }
    for (kw_i64 r = j->rows; r % 4; r++) {
        to[r] = 0;
    }
    return any;
}

static bool next_pixel(kw_i64 *image, kw_i64 at[3], const kw_kernel_args *args) {
    for (int axis = 2; axis >= 0; axis--) {
        if (++at[axis] < args->out[axis]) {
            return true;
        }
        at[axis] = 0;
    }
    return ++*image < args->n;
}

/* Factors for up to KW_REFERENCE_DEPTH further pixels that have a tap inside; returns how many, 0 at the end. */
static kw_i64 gather_pixels(kw_reference_kernel_block *block, const weight_job *j, kw_i64 *image, kw_i64 at[3]) {
    const kw_kernel_args *args = j->args;
    kw_i64 depth = 0;
    bool more = *image < args->n;
    while (more && depth < KW_REFERENCE_DEPTH) {
        if (gather_taps(block->a + depth * KW_REFERENCE_ROWS, j, *image, at)) {
            kw_reference_kernel_run y = j->y_part;
            y.first += *image * j->y.image + at[0] * j->y.at[0] + at[1] * j->y.at[1] + at[2] * j->y.at[2];
            kw_reference_kernel_load(block->b + depth * KW_REFERENCE_COLS, &y);
            for (kw_i64 c = y.count; c % 8; c++) {
                block->b[depth * KW_REFERENCE_COLS + c] = 0;
            }
            depth++;
        }
        more = next_pixel(image, at, args);
    }
    return depth;
}

static void weight_unit(kw_reference_kernel_block *block, const weight_job *j, bool whole, bool depthwise) {
    kw_i64 image = 0, at[3] = {0};
    kw_reference_kernel_extent extent = {
        .rows = j->rows, .cols = j->y_part.count, .row_step = 1, .depth_step = KW_REFERENCE_ROWS, .whole = whole};
    kw_reference_kernel_clear(block);
    while ((extent.depth = gather_pixels(block, j, &image, at)) > 0) {
        if (!depthwise) {
            kw_reference_kernel_multiply(block, &extent);
            continue;
        }
        for (kw_i64 q = 0; q < extent.depth; q++) { /* into row 0: its channels are one pixel's */
            for (kw_i64 c = 0; c < extent.cols; c++) {
                float product = block->a[q * KW_REFERENCE_ROWS + c] * block->b[q * KW_REFERENCE_COLS + c];
                if (whole) {
                    block->sum.whole[c] += (kw_u32)(int)product;
                } else {
                    block->sum.real[c] += product;
                }
            }
        }
    }
}

/* Rows and columns of w: channel runs of each tap, one column after the other. */
static void store_weights(const kw_reference_kernel_block *block, const weight_job *j, kw_i64 first_k) {
    filter_step filter = filter_steps(j->args);
    kw_dtype to = (kw_dtype)kw_reference_params_of(j->args)->to;
    for (kw_i64 col = 0; col < j->y_part.count; col++) {
        for (kw_i64 r = 0, count; r < j->rows; r += count) {
            kw_i64 tap = (j->row + r) / j->tap_channels, channel = (j->row + r) % j->tap_channels;
            count = kw_min(j->tap_channels - channel, j->rows - r);
            kw_i64 first = (first_k + col) * filter.image + tap * filter.tap + channel * filter.channel;
            kw_reference_kernel_run run = {to, kw_reference_kernel_result(j->args, j->args->w), first, filter.channel, count};
            kw_reference_kernel_store(&run, block, r * KW_REFERENCE_COLS + col, KW_REFERENCE_COLS);
        }
    }
}

/* Units run over groups, then blocks of rows, then blocks of y's channels. */
static void backward_weight(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, kw_reference_kernel_block *block) {
    kw_i64 all_rows = args->c * volume(args->filter);
    kw_i64 row_blocks = (all_rows + KW_REFERENCE_ROWS - 1) / KW_REFERENCE_ROWS,
           col_blocks = (args->k + KW_REFERENCE_COLS - 1) / KW_REFERENCE_COLS;
    weight_job j = {
        .args = args,
        .from = (kw_dtype)kw_reference_params_of(args)->from,
        .x = tensor_steps(args->x_step),
        .y = tensor_steps(args->y_step),
        .tap_channels = args->c,
    };
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 k = unit % col_blocks * KW_REFERENCE_COLS, group = unit / col_blocks / row_blocks;
        j.row = unit / col_blocks % row_blocks * KW_REFERENCE_ROWS;
        j.rows = kw_min(all_rows - j.row, KW_REFERENCE_ROWS);
        j.x_channel = group * args->c;
        k += group * args->k;
        j.y_part =
            (kw_reference_kernel_run){j.from, args->y, k * j.y.channel, j.y.channel, kw_min((group + 1) * args->k - k, KW_REFERENCE_COLS)};
        weight_unit(block, &j, kw_reference_params_of(args)->to == KW_INT32, false);
        store_weights(block, &j, k);
    }
}

/* Units run over taps, then blocks of 64 groups of one channel. */
static void backward_weight_depthwise(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, kw_reference_kernel_block *block) {
    kw_i64 blocks = (args->groups + KW_REFERENCE_COLS - 1) / KW_REFERENCE_COLS, taps = volume(args->filter);
    weight_job j = {
        .args = args,
        .from = (kw_dtype)kw_reference_params_of(args)->from,
        .x = tensor_steps(args->x_step),
        .y = tensor_steps(args->y_step),
        .tap_channels = KW_REFERENCE_ROWS,
    };
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 group = unit % blocks * KW_REFERENCE_COLS, tap = unit / blocks;
        j.x_channel = group;
        j.row = tap * j.tap_channels;
        j.rows = kw_min(args->groups - group, KW_REFERENCE_COLS);
        j.y_part = (kw_reference_kernel_run){j.from, args->y, group * j.y.channel, j.y.channel, j.rows};
        weight_unit(block, &j, kw_reference_params_of(args)->to == KW_INT32, true);
        kw_reference_kernel_run run = {(kw_dtype)kw_reference_params_of(args)->to, kw_reference_kernel_result(args, args->w),
                                       group * taps + tap, taps, j.rows};
        kw_reference_kernel_store(&run, block, 0, 1);
    }
}

/* Sums of y over all pixels for a unit's channels, in double, so that no order matters. */
static void bias_unit(const kw_kernel_args *args, kw_i64 unit) {
    kw_i64 channel = unit * KW_BIAS_CHANNELS, pixels = volume(args->out);
    steps y = tensor_steps(args->y_step);
    kw_reference_kernel_run run = {
        .dtype = (kw_dtype)kw_reference_params_of(args)->from,
        .tensor = args->y,
        .step = y.channel,
        .count = kw_min(KW_BIAS_CHANNELS, args->groups * args->k - channel),
    };
    double sums[KW_BIAS_CHANNELS] = {0};
    for (kw_i64 i = 0; i < args->n * pixels; i++) {
        float values[KW_BIAS_CHANNELS];
        kw_i64 w = i % args->out[2], h = i / args->out[2] % args->out[1], d = i % pixels / (args->out[1] * args->out[2]);
        run.first = i / pixels * y.image + d * y.at[0] + h * y.at[1] + w * y.at[2] + channel * y.channel;
        kw_reference_kernel_load(values, &run);
        for (kw_i64 c = 0; c < run.count; c++) {
            sums[c] += (double)values[c];
        }
    }
    for (kw_i64 c = 0; c < run.count; c++) {
        kw_reference_kernel_round(args->epilogue->step[0].dtype, (char *)(uintptr_t)args->extra[0], channel + c, (float)sums[c]);
    }
}

void kw_reference_kernel_conv_bwd_weight(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_reference_kernel_block block; /* on the stack: the reference kernels need no workspace */
    (void)thread_memory;
    bool with_bias = args->epilogue && args->epilogue->count && args->epilogue->step[0].op == KW_EPILOGUE_BIAS_GRADIENT;
    kw_i64 own = with_bias ? kw_min(end, KW_BIAS_WORD(args)) : end;
    if (kw_reference_is_depthwise(args)) {
        backward_weight_depthwise(args, begin, own, &block);
    } else {
        backward_weight(args, begin, own, &block);
    }
    for (kw_i64 unit = kw_max(begin, own); unit < end; unit++) {
        bias_unit(args, unit - KW_BIAS_WORD(args));
    }
}

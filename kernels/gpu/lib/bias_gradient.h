/* bias_gradient.h: the gradient of the bias beside that of weights: db[k] = sum over all pixels of y[pixel][k]. Two kernels, the first ones of a
 * text, whose own stand behind them: kw_stage0 sums chunks of pixels, fp32 in the workspace, kw_stage1 the chunks' sums. They see the
 * problem's own y, in either order and with pitches; src/config/launch/launch.c launches them last. */
#ifndef KW_GPU_BIAS_GRADIENT_H
#define KW_GPU_BIAS_GRADIENT_H

#include "prelude/bias_gradient.h"

KW_DEVICE kw_i64 kw_bias_pixels(const kw_gpu_args *a) { return a->n * a->out[0] * a->out[1] * a->out[2]; }

/* How many pixels are evenly spaced: all, those of an image, or those of a row. */
KW_DEVICE kw_i64 kw_bias_run(const kw_gpu_args *a) {
    kw_i64 image = a->out[0] * a->out[1] * a->out[2];
    int even = a->y_step[2] == a->out[2] * a->y_step[3] && a->y_step[1] == a->out[1] * a->y_step[2];
    return !even ? a->out[2] : a->y_step[0] == image * a->y_step[3] ? a->n * image : image;
}

KW_DEVICE kw_i64 kw_bias_offset(const kw_gpu_args *a, kw_i64 pixel, kw_i64 run) {
    if (run == kw_bias_pixels(a)) return pixel * a->y_step[3];
    kw_i64 rest = pixel / run, at = (pixel - rest * run) * a->y_step[3];
    if (run == a->out[0] * a->out[1] * a->out[2]) return at + rest * a->y_step[0];
    kw_i64 row = rest % a->out[1], plane = rest / a->out[1];
    return at + row * a->y_step[2] + plane % a->out[0] * a->y_step[1] + plane / a->out[0] * a->y_step[0];
}

/* The sum of those of all threads that have the thread's column, of so many columns; for the threads below that number. */
KW_DEVICE float kw_bias_add_rows(char *lds, float sum, int columns) {
    float *sums = (float *)lds, total = 0.0f;
    kw_barrier(); /* who reads those of the block before is done */
    sums[kw_thread()] = sum;
    kw_barrier();
    for (int i = kw_thread(); kw_thread() < columns && i < KW_BIAS_THREADS; i += columns)
        total += sums[i];
    return total;
}

KW_KERNEL_AT(kw_stage0, KW_BIAS_THREADS) {
    KW_LDS(KW_BIAS_THREADS * 4);
    kw_i64 pixels = kw_bias_pixels(&args), channels = args.groups * args.k, run = kw_bias_run(&args);
    kw_i64 chunk = KW_BIAS_CHUNK(pixels, channels), chunks = KW_BIAS_CHUNKS(pixels, channels);
    int columns = args.y_step[4] == 1 ? KW_BIAS_CHANNELS : 1, rows = KW_BIAS_THREADS / columns;
    float *to = (float *)(args.shared + KW_BIAS_WORD(&args));
    for (kw_i64 block = kw_block(); block < chunks * KW_CEIL(channels, columns); block += kw_blocks()) {
        kw_i64 number = block % chunks, channel = block / chunks * columns + kw_thread() % columns;
        kw_i64 end = kw_min64((number + 1) * chunk, pixels);
        float sum = 0.0f;
        for (kw_i64 i = number * chunk + kw_thread() / columns; channel < channels && i < end; i += rows)
            sum += kw_element(args.y, kw_bias_offset(&args, i, run) + channel * args.y_step[4]);
        sum = kw_bias_add_rows(kw_lds, sum, columns);
        if (kw_thread() < columns && channel < channels) to[number * channels + channel] = sum;
    }
}

KW_KERNEL_AT(kw_stage1, KW_BIAS_THREADS) {
    KW_LDS(KW_BIAS_THREADS * 4);
    kw_i64 channels = args.groups * args.k, chunks = KW_BIAS_CHUNKS(kw_bias_pixels(&args), channels);
    const float *from = (const float *)(args.shared + KW_BIAS_WORD(&args));
    char *to = (char *)args.extra[0];
    for (kw_i64 block = kw_block(); block < KW_CEIL(channels, KW_BIAS_CHANNELS); block += kw_blocks()) {
        kw_i64 channel = block * KW_BIAS_CHANNELS + kw_thread() % KW_BIAS_CHANNELS;
        float sum = 0.0f;
        for (kw_i64 i = kw_thread() / KW_BIAS_CHANNELS; channel < channels && i < chunks; i += KW_BIAS_THREADS / KW_BIAS_CHANNELS)
            sum += from[i * channels + channel];
        sum = kw_bias_add_rows(kw_lds, sum, KW_BIAS_CHANNELS);
        if (kw_thread() >= KW_BIAS_CHANNELS || channel >= channels) continue;
#if KW_BIAS_FP32
        ((float *)to)[channel] = sum;
#elif KW_IN == KW_BF16
        ((kw_u16 *)to)[channel] = (kw_u16)kw_to_bf16(sum);
#else
        ((kw_u16 *)to)[channel] = (kw_u16)kw_to_fp16(sum);
#endif
    }
}

/* The heads of the text's other kernels. */
#undef KW_KERNEL
#if KW_TURNS
#define KW_TURN_STAGE kw_stage2
#define KW_BIAS_BEHIND_kw_stage0 kw_stage3
#define KW_BIAS_BEHIND_kw_stage1 kw_stage4
#define KW_BIAS_BEHIND_kw_stage2 kw_stage5
#else
#define KW_BIAS_BEHIND_kw_stage0 kw_stage2
#define KW_BIAS_BEHIND_kw_stage1 kw_stage3
#define KW_BIAS_BEHIND_kw_stage2 kw_stage4
#endif
#define KW_KERNEL(name, threads) KW_KERNEL_AT(KW_BIAS_BEHIND_##name, threads)

#endif

/* bias_gradient.h: how the sums of y for each channel are divided, which the library's launch (src/config/launch/launch.c) and the kernels both
 * count by. On a CPU they are units behind those of the kernel's first stage; on a GPU two stages of their own: sums of chunks of pixels,
 * fp32 in the workspace, and the sums of these. KW_BIAS_WORD of the arguments says on a CPU how many units are the kernel's own, on a GPU
 * at which byte of the workspace the chunks' sums begin. */
#ifndef KW_PRELUDE_BIAS_GRADIENT_H
#define KW_PRELUDE_BIAS_GRADIENT_H

/* The last word of the arguments, behind whatever params a kernel has. */
#define KW_BIAS_WORD(args) ((args)->rest[sizeof(args)->rest / sizeof(args)->rest[0] - 1])

#define KW_BIAS_CHANNELS 32 /* of a unit, of a block where channels lie side by side; else a block has one */
#define KW_BIAS_THREADS 256
#define KW_BIAS_STAGES 2
#define KW_BIAS_BLOCKS_MOST (1 << 22) /* of a launch, which goes over the rest again */
/* Pixels of a chunk, and chunks; one chunk has so many that 2^24 hold all of y's. */
#define KW_BIAS_CHUNK(pixels, channels) (1024 + ((pixels) * (channels) >> 24))
#define KW_BIAS_CHUNKS(pixels, channels) (((pixels) + KW_BIAS_CHUNK(pixels, channels) - 1) / KW_BIAS_CHUNK(pixels, channels))

#endif

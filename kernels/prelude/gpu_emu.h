/* gpu_emu.h: the vocabulary of prelude/gpu.h for a C compiler: the text plays a GPU on a CPU. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
typedef struct kw_b16 {
    kw_u32 e[4];
} __attribute__((aligned(16))) kw_b16;
typedef kw_cpu_args kw_gpu_args;

#define KW_DEVICE static inline __attribute__((unused))

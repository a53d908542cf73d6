/* gpu_ptx.h: the vocabulary of prelude/gpu.h for NVRTC. What the language has no word for is inline PTX, so that no header of a toolkit is
 * needed. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
typedef struct __align__(16) kw_b16 {
    kw_u32 e[4];
}
kw_b16;
typedef kw_cpu_args kw_gpu_args;

#define KW_DEVICE static __device__ __forceinline__
#define KW_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ kw_gpu_args args)
/* All of it is dynamic, because static shared memory ends at 48 KiB: the launch asks for it. How much stands in a constant of the kernel, which
 * the loader finds by its name (src/jit/cubin.c); the assembly, which is empty, keeps it from being left out. */
#define KW_LDS(bytes)                                                                                                                      \
    extern __shared__ __align__(128) char kw_lds[];                                                                                        \
    static __device__ const kw_u32 kw_lds_bytes = (bytes);                                                                                 \
    asm volatile("" ::"l"(&kw_lds_bytes))

KW_DEVICE int kw_thread() { return (int)threadIdx.x; }
KW_DEVICE int kw_lane() { return (int)(threadIdx.x % 32); }
KW_DEVICE int kw_wave() { return __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0); }
KW_DEVICE kw_i64 kw_block() { return blockIdx.x; }
KW_DEVICE kw_i64 kw_blocks() { return gridDim.x; }
#define kw_barrier() __syncthreads()
#define kw_wave_barrier() __syncwarp()
KW_DEVICE float kw_add(float *p, float v) { return atomicAdd(p, v); }

/* --- copies that pass no registers: with 0 bytes to read, zeros are written and the source is not looked at --- */
#if KW_HAS_ASYNC4
KW_DEVICE kw_u32 kw_shared_address(const void *p) { return (kw_u32)__cvta_generic_to_shared(p); }

KW_DEVICE void kw_async4(void *base, const void *from, int ok) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(kw_shared_address(base) + 4 * (kw_u32)kw_lane()),
                 "l"(__cvta_generic_to_global(from)), "r"(ok ? 4 : 0)
                 : "memory");
}
#if KW_HAS_ASYNC16
KW_DEVICE void kw_async16(void *base, const void *from, int ok) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(kw_shared_address(base) + 16 * (kw_u32)kw_lane()),
                 "l"(__cvta_generic_to_global(from)), "r"(ok ? 16 : 0)
                 : "memory");
}
#endif
#define kw_async_commit() asm volatile("cp.async.commit_group;" ::: "memory")
#define kw_async_wait(groups, n) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#endif

/* --- hints: ptxas schedules by itself --- */
#define KW_SCHED_MMA 0
#define KW_SCHED_LDS_READ 1
#define KW_SCHED_LDS_WRITE 2
#define KW_SCHED_LOAD 3
#define KW_SCHED_STORE 4
#define kw_sched(kind, count) (void)0
#define kw_sched_fence() asm volatile("" ::: "memory")
#define kw_priority(level) (void)0

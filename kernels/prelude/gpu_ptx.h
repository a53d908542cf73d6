/* gpu_ptx.h: the vocabulary of prelude/gpu.h for NVRTC. Warp operations are inline PTX, so that no header of a toolkit is needed. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
typedef struct __align__(16) kw_b16 { kw_u32 e[4]; } kw_b16;
typedef kw_cpu_args kw_gpu_args;

#define KW_DEVICE static __device__ __forceinline__
#define KW_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ kw_gpu_args args)
/* All of it is dynamic: static shared memory ends at 48 KiB. The launch asks for kw_lds_bytes, a constant that the loader reads. */
#define KW_LDS(bytes) extern __shared__ __align__(128) char kw_lds[]

KW_DEVICE int kw_thread() { return (int)threadIdx.x; }
KW_DEVICE int kw_lane() { return (int)(threadIdx.x % 32); }
KW_DEVICE int kw_wave() { return __shfl_sync(0xffffffffu, (int)(threadIdx.x / 32), 0); }
KW_DEVICE kw_i64 kw_block() { return blockIdx.x; }
KW_DEVICE kw_i64 kw_blocks() { return gridDim.x; }
#define kw_barrier() __syncthreads()
#define kw_wave_barrier() __syncwarp()
KW_DEVICE float kw_add(float *p, float v) { return atomicAdd(p, v); }
#define kw_sched(kind, count) (void)0
#define kw_sched_fence() (void)0
#define kw_priority(level) (void)0

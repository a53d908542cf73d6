/* gpu_amd.h: the vocabulary of prelude/gpu.h for clang -x hip by its builtins, without ROCm's headers. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
typedef struct __attribute__((aligned(16))) kw_b16 { kw_u32 e[4]; } kw_b16;
typedef kw_cpu_args kw_gpu_args;

#define KW_DEVICE static __attribute__((device, always_inline))
#define KW_KERNEL(name, threads)                                                                                                           \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void name(const kw_gpu_args args)
#define KW_LDS(bytes) __attribute__((shared, aligned(128))) static char kw_lds[bytes]

KW_DEVICE int kw_thread() { return (int)__builtin_amdgcn_workitem_id_x(); }
KW_DEVICE int kw_lane() { return kw_thread() % KW_WAVE; }
KW_DEVICE int kw_wave() { return __builtin_amdgcn_readfirstlane(kw_thread() / KW_WAVE); }
KW_DEVICE kw_i64 kw_block() { return __builtin_amdgcn_workgroup_id_x(); }
KW_DEVICE kw_i64 kw_blocks() { return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(); }
KW_DEVICE void kw_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define kw_wave_barrier() __builtin_amdgcn_wave_barrier()
KW_DEVICE float kw_add(float *p, float v) { return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }

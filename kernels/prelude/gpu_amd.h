/* gpu_amd.h: the vocabulary of prelude/gpu.h for clang -x hip by its builtins, without ROCm's headers.
 *
 * A kernel needs no hidden arguments: the size of a block is known to the text, the number of blocks is worked out of the dispatch packet.
 * The struct of arguments is read where the launch put it, by scalar loads; the pointers in it are known to be global. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
/* A vector inside, since an array that is copied as a whole stays in memory, and that would be scratch memory. */
typedef kw_u32 kw_u32x4 __attribute__((ext_vector_type(4)));
typedef struct __attribute__((aligned(16))) kw_b16 {
    kw_u32x4 e;
} kw_b16;
typedef kw_kernel_args kw_gpu_args;

#define KW_DEVICE static __attribute__((device, always_inline))
#define KW_PARAMETER kw_gpu_args /* but where prelude/joined.h says otherwise */
#define KW_KERNEL_AT(name, threads)                                                                                                        \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(threads, threads))) void name(const KW_PARAMETER args)
#define KW_LDS(bytes) __attribute__((shared, aligned(128))) static char kw_lds[bytes]

#define KW_GLOBAL __attribute__((address_space(1)))
#define KW_LOCAL __attribute__((address_space(3)))
#define KW_CONSTANT __attribute__((address_space(4)))

KW_DEVICE int kw_thread() { return (int)__builtin_amdgcn_workitem_id_x(); }
KW_DEVICE int kw_lane() { return kw_thread() % KW_WAVE; }
KW_DEVICE int kw_wave() { return __builtin_amdgcn_readfirstlane(kw_thread() / KW_WAVE); }
KW_DEVICE kw_i64 kw_block() { return __builtin_amdgcn_workgroup_id_x(); }

/* The dispatch packet has the threads of a block along x at byte 4, 16 bits, and those of the whole grid at byte 12, 32 bits. */
KW_DEVICE kw_i64 kw_blocks() {
    const KW_CONSTANT char *packet = (const KW_CONSTANT char *)__builtin_amdgcn_dispatch_ptr();
    return *(const KW_CONSTANT kw_u32 *)(packet + 12) / *(const KW_CONSTANT kw_u16 *)(packet + 4);
}

/* What is ordered is named, so that a barrier does not wait for loads that go to registers: the next tile may be on its way across it. */
KW_DEVICE void kw_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

KW_DEVICE void kw_wave_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront", "local");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront", "local");
}

KW_DEVICE float kw_add(float *p, float v) {
    return __scoped_atomic_fetch_add((KW_GLOBAL float *)p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

/* --- copies that pass no registers ---
 * They are written as assembly: of the builtin the compiler knows that it writes shared memory, but not where, and so it would wait for all
 * of them before any read. It counts its own loads and stores as it must, since what it does not know of only makes it wait longer. Lanes
 * that are not ok copy zeros from kw_zeros, so that every copy is issued by the whole wave and the count of those under way is exact. */
#if KW_HAS_ASYNC4
__attribute__((device, aligned(16))) const kw_u32 kw_zeros[4] = {0, 0, 0, 0};

#define KW_ASYNC_COPY(instruction, base, from, ok)                                                                                         \
    do {                                                                                                                                   \
        const char *kw_at = (ok) ? (const char *)(from) : (const char *)kw_zeros;                                                          \
        kw_u32 kw_to = (kw_u32)__builtin_amdgcn_readfirstlane((int)(kw_u32)(KW_LOCAL char *)(char *)(base));                               \
        asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\t" instruction " %1, off" : : "s"(kw_to), "v"(kw_at) : "m0", "memory");                \
    } while (0)

KW_DEVICE void kw_async4(void *base, const void *from, int ok) { KW_ASYNC_COPY("global_load_lds_dword", base, from, ok); }
#if KW_HAS_ASYNC16
KW_DEVICE void kw_async16(void *base, const void *from, int ok) { KW_ASYNC_COPY("global_load_lds_dwordx4", base, from, ok); }
#endif
#define kw_async_commit() (void)0
/* Loads come back in order, so those under way are the youngest. The counter has 6 bits. */
#define kw_async_wait(groups, n) asm volatile("s_waitcnt vmcnt(%0)" : : "n"((groups) * (n) < 63 ? (groups) * (n) : 63) : "memory")
#endif

/* --- hints --- */
#define KW_SCHED_MMA 0x008
#define KW_SCHED_LDS_READ 0x100
#define KW_SCHED_LDS_WRITE 0x200
#define KW_SCHED_LOAD 0x020
#define KW_SCHED_STORE 0x040
#define kw_sched(kind, count) __builtin_amdgcn_sched_group_barrier(kind, count, 0)
#define kw_sched_fence() __builtin_amdgcn_sched_barrier(0)
#define kw_priority(level) __builtin_amdgcn_s_setprio(level)
#define kw_pointer_keep(p) (p)

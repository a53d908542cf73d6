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
#if KW_HAS_TMA
typedef struct __align__(64) kw_tensor_map {
    kw_u32 word[32];
}
kw_tensor_map;
struct kw_gpu_args : kw_kernel_args {
    kw_tensor_map map[KW_MAPS];
};
#else
typedef kw_kernel_args kw_gpu_args;
#endif

#define KW_DEVICE static __device__ __forceinline__
/* Blocks that a multiprocessor shall hold at a time. 0 leaves it to ptxas, which spills a few registers where that makes room for one block
 * more; src/jit/toolchain/nvrtc.c compiles what spills once more with 1. */
#ifndef KW_LEAST_BLOCKS
#define KW_LEAST_BLOCKS 0
#endif
#define KW_PARAMETER kw_gpu_args /* but where prelude/joined.h says otherwise */
#define KW_KERNEL_AT(name, threads)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(threads, KW_LEAST_BLOCKS) name(const __grid_constant__ KW_PARAMETER args)
/* All of it is dynamic, because static shared memory ends at 48 KiB: the launch asks for it. How much stands in a constant of the kernel,
 * which the loader finds by its name (src/jit/object/cubin.c); the assembly, which is empty, keeps it from being left out. */
#define KW_LDS(bytes)                                                                                                                      \
    extern __shared__ __align__(1024) char kw_lds[];                                                                                       \
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

/* The compiler works an address out again behind each condition that it is used behind. p: of global memory. */
KW_DEVICE const char *kw_pointer_keep(const char *p) {
    unsigned long long at = __cvta_generic_to_global(p);
    asm("" : "+l"(at));
    return (const char *)__cvta_global_to_generic(at);
}

/* --- elements of 16 bits <-> fp32, as gpu.h says; NaN becomes one NaN. In words throughout: NVRTC 13.0 swapped the first and third of four
 * registers of 16 bits that one store of 8 bytes put together (seen on an H200; nvcc 13.0 does not). --- */
KW_DEVICE float kw_from_fp16(kw_u32 h) {
    float value;
    asm("{\n"
        "    .reg .b16 low, high;\n"
        "    mov.b32 {low, high}, %1;\n"
        "    cvt.f32.f16 %0, low;\n"
        "}"
        : "=f"(value)
        : "r"(h));
    return value;
}
/* Where elements are bytes gpu.h's: tiles of 128 x 128 have 255 registers with these, and 24 bytes more with the instructions. */
#define KW_PTX_HALVES (KW_IN < 3 || KW_IN > 5)
#if KW_PTX_HALVES
KW_DEVICE kw_u32 kw_to_bf16(float value) {
    kw_u32 word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(0.0f), "f"(value));
    return word;
}
KW_DEVICE kw_u32 kw_to_fp16(float value) {
    kw_u32 word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(0.0f), "f"(value));
    return word;
}
#endif

KW_DEVICE kw_u32 kw_out_pair(float low, float high) {
    kw_u32 word;
#if KW_OUT == 1
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
    return word;
}

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

/* --- matrices from shared memory to the lanes that multiply them --- */
#if KW_HAS_MMA
KW_DEVICE void kw_matrix_read(kw_u32 *to, const char *at, int count, int turned) {
    kw_u32 from = (kw_u32)__cvta_generic_to_shared(at);
#define KW_PTX_MATRIX(shape) "ldmatrix.sync.aligned.m8n8." shape ".shared.b16 "
    if (count == 4 && turned)
        asm volatile(KW_PTX_MATRIX("x4.trans") "{%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else if (count == 4)
        asm volatile(KW_PTX_MATRIX("x4") "{%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else if (count == 2 && turned)
        asm volatile(KW_PTX_MATRIX("x2.trans") "{%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(from) : "memory");
    else if (count == 2)
        asm volatile(KW_PTX_MATRIX("x2") "{%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(from) : "memory");
    else if (turned)
        asm volatile(KW_PTX_MATRIX("x1.trans") "{%0}, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
    else
        asm volatile(KW_PTX_MATRIX("x1") "{%0}, [%1];" : "=r"(to[0]) : "r"(from) : "memory");
}
#endif

/* --- barriers in shared memory and bulk copies that complete on them --- */
#if KW_HAS_TMA
KW_DEVICE void kw_mbar_init(char *bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(kw_shared_address(bar)), "r"(count) : "memory");
}

KW_DEVICE void kw_mbar_end(char *bar) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(kw_shared_address(bar)) : "memory"); }
#define kw_map_prefetch(map) asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory")
#define kw_launch_wait() asm volatile("griddepcontrol.wait;" ::: "memory")
#define kw_launch_next() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define kw_proxy_fence() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

KW_DEVICE void kw_mbar_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    kw_proxy_fence();
}

KW_DEVICE void kw_mbar_arrive(char *bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(kw_shared_address(bar)) : "memory");
}

KW_DEVICE void kw_mbar_arrive_at(char *bar, int rank) {
    asm volatile("{\n"
                 "    .reg .b32 peer;\n"
                 "    mapa.shared::cluster.u32 peer, %0, %1;\n"
                 "    mbarrier.arrive.shared::cluster.b64 _, [peer];\n"
                 "}" ::"r"(kw_shared_address(bar)),
                 "r"(rank)
                 : "memory");
}

KW_DEVICE void kw_mbar_expect(char *bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(kw_shared_address(bar)), "r"(bytes) : "memory");
}

KW_DEVICE void kw_mbar_wait(char *bar, int parity) {
    kw_u32 done = 0;
    while (!done)
        asm volatile("{\n"
                     "    .reg .pred p;\n"
                     "    mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "    selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(done)
                     : "r"(kw_shared_address(bar)), "r"(parity)
                     : "memory");
}

#define KW_PTX_LOAD(rank) "cp.async.bulk.tensor." rank ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {"
#define KW_PTX_LOADED(to, map, bar) "r"(kw_shared_address(to)), "l"(map), "r"(kw_shared_address(bar))

KW_DEVICE void kw_tensor_load2(char *to, const kw_tensor_map *map, char *bar, int c0, int c1) {
    asm volatile(KW_PTX_LOAD("2d") "%3, %4}], [%2];" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1) : "memory");
}

KW_DEVICE void kw_tensor_load3(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2) {
    asm volatile(KW_PTX_LOAD("3d") "%3, %4, %5}], [%2];" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2) : "memory");
}

KW_DEVICE void kw_tensor_share3(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int blocks) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, "
                 "%5}], [%2], %6;" ::KW_PTX_LOADED(to, map, bar),
                 "r"(c0), "r"(c1), "r"(c2), "h"((kw_u16)blocks)
                 : "memory");
}

KW_DEVICE void kw_tensor_load4(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int c3) {
    asm volatile(KW_PTX_LOAD("4d") "%3, %4, %5, %6}], [%2];" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3) : "memory");
}

KW_DEVICE void kw_tensor_load5(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int c3, int c4) {
    asm volatile(KW_PTX_LOAD("5d") "%3, %4, %5, %6, %7}], [%2];" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
                 : "memory");
}

#define KW_PTX_PIXELS(rank) "cp.async.bulk.tensor." rank ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {"
#define KW_PTX_OFFSET(o) "h"((kw_u16)(o))

KW_DEVICE void kw_tensor_pixels3(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int o1) {
    asm volatile(KW_PTX_PIXELS("3d") "%3, %4, %5}], [%2], {%6};" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2), KW_PTX_OFFSET(o1)
                 : "memory");
}

KW_DEVICE void kw_tensor_pixels4(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int c3, int o1, int o2) {
    asm volatile(KW_PTX_PIXELS("4d") "%3, %4, %5, %6}], [%2], {%7, %8};" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3),
                 KW_PTX_OFFSET(o1), KW_PTX_OFFSET(o2)
                 : "memory");
}

KW_DEVICE void kw_tensor_pixels5(char *to, const kw_tensor_map *map, char *bar, int c0, int c1, int c2, int c3, int c4, int o1, int o2,
                                 int o3) {
    asm volatile(KW_PTX_PIXELS("5d") "%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};" ::KW_PTX_LOADED(to, map, bar), "r"(c0), "r"(c1), "r"(c2),
                 "r"(c3), "r"(c4), KW_PTX_OFFSET(o1), KW_PTX_OFFSET(o2), KW_PTX_OFFSET(o3)
                 : "memory");
}

/* --- bulk stores, barriers of some waves, matrices to shared memory --- */
KW_DEVICE void kw_tensor_store3(const kw_tensor_map *map, const char *from, int c0, int c1, int c2) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                 "r"(kw_shared_address(from)), "r"(c0), "r"(c1), "r"(c2)
                 : "memory");
}
#define kw_store_commit() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define kw_store_wait_read(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define kw_store_wait(groups) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory")
KW_DEVICE void kw_waves_barrier(int number, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory"); }
KW_DEVICE void kw_waves_arrive(int number, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory"); }

KW_DEVICE void kw_matrix_write(char *to, const kw_u32 *from) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(kw_shared_address(to)), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

KW_DEVICE void kw_matrix_write_turned(char *to, const kw_u32 *from) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(kw_shared_address(to)), "r"(from[0]),
                 "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

/* --- blocks of a cluster --- */
KW_DEVICE int kw_cluster_rank() {
    kw_u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return (int)rank;
}
#define kw_cluster_barrier()                                                                                                               \
    asm volatile("barrier.cluster.arrive.release;\n"                                                                                       \
                 "barrier.cluster.wait.acquire;" ::                                                                                        \
                     : "memory")
#define kw_cluster_arrive() asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory")
#define kw_cluster_wait() asm volatile("barrier.cluster.wait;" ::: "memory")
KW_DEVICE void kw_peer_write(char *at, int rank, const kw_u32 *words) {
    asm volatile("{\n"
                 "    .reg .b32 peer;\n"
                 "    mapa.shared::cluster.u32 peer, %0, %1;\n"
                 "    st.shared::cluster.v4.b32 [peer], {%2, %3, %4, %5};\n"
                 "}" ::"r"(kw_shared_address(at)),
                 "r"(rank), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
}
#endif

/* --- matrix instructions of four waves: gpu/matrix/wgmma.h has the instruction itself --- */
#if KW_HAS_WGMMA
#define kw_wgmma_fence() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define kw_wgmma_commit() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define kw_wgmma_wait(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")
#define kw_registers_give(count) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count))
#define kw_registers_take(count) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count))
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

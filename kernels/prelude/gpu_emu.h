/* gpu_emu.h: the vocabulary of prelude/gpu.h for a C compiler: the text plays a GPU on a CPU. What a thread does by itself is compiled as
 * it stands; what it does with others is asked of the machine (emu_abi.h).
 *
 * Each access to memory is told to the machine first: the text is compiled with -fsanitize=thread, whose calls end here instead of in the
 * sanitizer. What lies on the own stack is not worth telling. What is not told: a call whose result is a struct and goes straight to
 * memory, *p = f(); kernel text keeps it in a variable first. */
typedef unsigned int kw_u32;
typedef unsigned short kw_u16;
typedef unsigned char kw_u8;
typedef signed char kw_i8;
typedef struct kw_b16 {
    kw_u32 e[4];
} __attribute__((aligned(16))) kw_b16;
typedef kw_emu_map kw_tensor_map;
/* The fields of kw_kernel_args are its own: the compiler is told -fms-extensions. */
typedef struct kw_gpu_args {
    struct kw_kernel_args;
    kw_tensor_map map[KW_MAPS];
    const struct kw_joined *joined; /* prelude/joined.h */
} kw_gpu_args;

#ifdef __OPTIMIZE__
__attribute__((visibility("default"))) const int kw_emu_optimised = 1;
#else
__attribute__((visibility("default"))) const int kw_emu_optimised = 0;
#endif

#define KW_DEVICE static inline __attribute__((unused))
#define KW_EMU_OWN static inline __attribute__((always_inline, unused, no_sanitize("thread")))
/* Called most often, so optimised by itself; clang knows no such wish. */
#define KW_EMU_HOOK __attribute__((no_sanitize("thread"), optimize("O1"))) void
#define KW_KERNEL_AT(name, threads) KW_EMU_KERNEL(name, threads) /* name may be a macro */
#define KW_EMU_KERNEL(name, threads)                                                                                                       \
    __attribute__((visibility("default"))) const int name##_threads = (threads);                                                           \
    __attribute__((visibility("default"))) void name(const kw_gpu_args args)
#define KW_LDS(bytes) char *const kw_lds = kw_emu_self()->calls.lds(kw_emu_self(), bytes)

KW_EMU_OWN kw_emu_thread *kw_emu_self(void) {
    return (kw_emu_thread *)(((unsigned long)__builtin_frame_address(0) | (KW_EMU_STACK - 1)) + 1 - sizeof(kw_emu_thread));
}

KW_EMU_OWN int kw_thread(void) { return kw_emu_self()->thread; }
KW_EMU_OWN int kw_lane(void) { return kw_emu_self()->thread % KW_WAVE; }
/* NVIDIA asks the wave's first lane (shfl.sync), so that all must ask: they are counted, and place is where the last did. */
KW_EMU_OWN int kw_emu_wave(const char *place) {
    kw_emu_self()->wave_asked++;
    kw_emu_self()->wave_asked_at = place;
    return kw_emu_self()->thread / KW_WAVE;
}
#define KW_EMU_PLACE_(line) __FILE__ ":" #line
#define KW_EMU_PLACE(line) KW_EMU_PLACE_(line)
#define kw_wave() kw_emu_wave(KW_EMU_PLACE(__LINE__))
KW_EMU_OWN kw_i64 kw_block(void) { return kw_emu_self()->block; }
KW_EMU_OWN kw_i64 kw_blocks(void) { return kw_emu_self()->blocks; }
#define kw_barrier() kw_emu_self()->calls.barrier(kw_emu_self())
#define kw_wave_barrier() kw_emu_self()->calls.wave_barrier(kw_emu_self())
#define kw_add(p, v) kw_emu_self()->calls.add(kw_emu_self(), p, v)
#define kw_async16(base, from, ok) kw_emu_self()->calls.copy(kw_emu_self(), (char *)(base), (const char *)(from), 16, ok)
#define kw_async4(base, from, ok) kw_emu_self()->calls.copy(kw_emu_self(), (char *)(base), (const char *)(from), 4, ok)
#define kw_async_commit() kw_emu_self()->calls.commit(kw_emu_self())
#define kw_async_wait(groups, n) kw_emu_self()->calls.wait(kw_emu_self(), groups, n)
#if KW_HAS_MMA
#define kw_matrix_read(to, at, count, turned) kw_emu_self()->calls.matrix_read(kw_emu_self(), to, at, count, turned)
#endif
#if KW_HAS_TMA
#define kw_mbar_init(bar, count) kw_emu_self()->calls.mbar_init(kw_emu_self(), bar, count)
#define kw_mbar_end(bar) kw_emu_self()->calls.mbar_end(kw_emu_self(), bar)
#define kw_mbar_fence() kw_emu_self()->calls.mbar_fence(kw_emu_self())
#define kw_mbar_arrive(bar) kw_emu_self()->calls.mbar_arrive(kw_emu_self(), bar, 0)
#define kw_mbar_expect(bar, bytes) kw_emu_self()->calls.mbar_arrive(kw_emu_self(), bar, bytes)
#define kw_mbar_wait(bar, parity) kw_emu_self()->calls.mbar_wait(kw_emu_self(), bar, parity)
#define kw_tensor_load(to, map, bar, ...)                                                                                                  \
    kw_emu_self()->calls.tensor_load(kw_emu_self(), to, map, bar, (const int[6]){sizeof((int[]){__VA_ARGS__}) / sizeof(int), __VA_ARGS__})
#define kw_tensor_load2(to, map, bar, c0, c1) kw_tensor_load(to, map, bar, c0, c1)
#define kw_tensor_load3(to, map, bar, c0, c1, c2) kw_tensor_load(to, map, bar, c0, c1, c2)
#define kw_tensor_load4(to, map, bar, c0, c1, c2, c3) kw_tensor_load(to, map, bar, c0, c1, c2, c3)
#define kw_tensor_load5(to, map, bar, c0, c1, c2, c3, c4) kw_tensor_load(to, map, bar, c0, c1, c2, c3, c4)
#define kw_map_prefetch(map) (void)(map)
#define kw_launch_wait() (void)(kw_emu_self()->waited = 1)
#define kw_launch_next() (void)0
#define kw_proxy_fence() kw_emu_self()->calls.proxy_fence(kw_emu_self())
#define kw_tensor_pixels(to, map, bar, offsets, ...)                                                                                       \
    kw_emu_self()->calls.tensor_pixels(kw_emu_self(), to, map, bar,                                                                        \
                                       (const int[6]){sizeof((int[]){__VA_ARGS__}) / sizeof(int), __VA_ARGS__}, offsets)
#define kw_tensor_pixels3(to, map, bar, c0, c1, c2, o1) kw_tensor_pixels(to, map, bar, ((const int[3]){o1, 0, 0}), c0, c1, c2)
#define kw_tensor_pixels4(to, map, bar, c0, c1, c2, c3, o1, o2) kw_tensor_pixels(to, map, bar, ((const int[3]){o1, o2, 0}), c0, c1, c2, c3)
#define kw_tensor_pixels5(to, map, bar, c0, c1, c2, c3, c4, o1, o2, o3)                                                                    \
    kw_tensor_pixels(to, map, bar, ((const int[3]){o1, o2, o3}), c0, c1, c2, c3, c4)
#define kw_tensor_store3(map, from, c0, c1, c2) kw_emu_self()->calls.tensor_store(kw_emu_self(), map, from, (const int[6]){3, c0, c1, c2})
#define kw_store_commit() kw_emu_self()->calls.store_commit(kw_emu_self())
#define kw_store_wait_read(groups) kw_emu_self()->calls.store_wait(kw_emu_self(), groups)
#define kw_store_wait(groups) kw_emu_self()->calls.store_wait(kw_emu_self(), groups)
#define kw_waves_barrier(number, threads) kw_emu_self()->calls.waves_barrier(kw_emu_self(), number, threads, 1)
#define kw_waves_arrive(number, threads) kw_emu_self()->calls.waves_barrier(kw_emu_self(), number, threads, 0)
#define kw_matrix_write(to, from) kw_emu_self()->calls.matrix_write(kw_emu_self(), to, from, 0)
#define kw_matrix_write_turned(to, from) kw_emu_self()->calls.matrix_write(kw_emu_self(), to, from, 1)
#define kw_cluster_rank() kw_emu_self()->rank
#define kw_cluster_barrier() kw_emu_self()->calls.cluster_barrier(kw_emu_self())
#define kw_cluster_arrive() ((void)0) /* the barrier's other half stands for both */
#define kw_cluster_wait() kw_cluster_barrier()
#define kw_mbar_arrive_at(bar, rank) kw_emu_self()->calls.mbar_arrive_at(kw_emu_self(), bar, rank)
#define kw_tensor_share3(to, map, bar, c0, c1, c2, blocks)                                                                                 \
    kw_emu_self()->calls.tensor_share(kw_emu_self(), to, map, bar, (const int[6]){3, c0, c1, c2}, blocks)
#define kw_peer_write(at, rank, words) kw_emu_self()->calls.peer_write(kw_emu_self(), at, rank, words)
#endif
#if KW_HAS_WGMMA
#define kw_shared_address(at) kw_emu_self()->calls.shared_address(kw_emu_self(), at)
#define kw_wgmma_fence() kw_emu_self()->calls.wgmma_step(kw_emu_self(), 0)
#define kw_wgmma_commit() kw_emu_self()->calls.wgmma_step(kw_emu_self(), 1)
#define kw_wgmma_wait(groups) kw_emu_self()->calls.wgmma_wait(kw_emu_self(), groups)
#ifndef KW_LEAST_BLOCKS
#define KW_LEAST_BLOCKS 0
#endif
#define kw_registers_give(count) kw_emu_self()->calls.registers(kw_emu_self(), count, 0, KW_LEAST_BLOCKS)
#define kw_registers_take(count) kw_emu_self()->calls.registers(kw_emu_self(), count, 1, KW_LEAST_BLOCKS)
#endif
#define kw_sched(kind, count) (void)0
#define kw_sched_fence() (void)0
#define kw_priority(level) (void)0
#define kw_pointer_keep(p) (p)

/* --- what the compiler calls before an access --- */

KW_EMU_OWN int kw_emu_on_stack(const void *at) {
    return (((unsigned long)at ^ (unsigned long)__builtin_frame_address(0)) & -(unsigned long)KW_EMU_STACK) == 0;
}

KW_EMU_OWN void kw_emu_read(const void *at, kw_i64 size, int aligned, void *const *frame) {
    if (!kw_emu_on_stack(at)) kw_emu_self()->calls.read(kw_emu_self(), at, size, aligned, frame);
}

KW_EMU_OWN void kw_emu_write(const void *at, kw_i64 size, int aligned, void *const *frame) {
    if (!kw_emu_on_stack(at)) kw_emu_self()->calls.write(kw_emu_self(), at, size, aligned, frame);
}

KW_EMU_HOOK __tsan_init(void) {}
KW_EMU_HOOK __tsan_func_entry(void *at) { (void)at; }
KW_EMU_HOOK __tsan_func_exit(void) {}
KW_EMU_HOOK __tsan_read1(void *at) { kw_emu_read(at, 1, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_read2(void *at) { kw_emu_read(at, 2, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_read4(void *at) { kw_emu_read(at, 4, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_read8(void *at) { kw_emu_read(at, 8, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_read16(void *at) { kw_emu_read(at, 16, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write1(void *at) { kw_emu_write(at, 1, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write2(void *at) { kw_emu_write(at, 2, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write4(void *at) { kw_emu_write(at, 4, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write8(void *at) { kw_emu_write(at, 8, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write16(void *at) { kw_emu_write(at, 16, 1, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_read2(void *at) { kw_emu_read(at, 2, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_read4(void *at) { kw_emu_read(at, 4, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_read8(void *at) { kw_emu_read(at, 8, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_read16(void *at) { kw_emu_read(at, 16, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_write2(void *at) { kw_emu_write(at, 2, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_write4(void *at) { kw_emu_write(at, 4, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_write8(void *at) { kw_emu_write(at, 8, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_unaligned_write16(void *at) { kw_emu_write(at, 16, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_read_range(void *at, long size) { kw_emu_read(at, size, 0, (void *const *)__builtin_frame_address(0)); }
KW_EMU_HOOK __tsan_write_range(void *at, long size) { kw_emu_write(at, size, 0, (void *const *)__builtin_frame_address(0)); }

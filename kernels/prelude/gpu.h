/* gpu.h: the vocabulary of GPU kernel text, as far as it is plain C. It stands after one of the three dialects' preludes, which give the
 * rest:
 *
 *   gpu_ptx.h  for NVRTC, by inline PTX        gpu_amd.h  for clang -x hip, by builtins        gpu_emu.h  for a C compiler: an emulated GPU
 *
 * Kernel text is the common part of C and C++: no header, no template, no designated initialiser, casts written out. All sizes of blocks,
 * tiles and shared memory are compile-time constants; sizes of the problem come with the arguments.
 *
 * #defines that stand before the prelude (src/families/gpu/defines.c):
 *   KW_PTX KW_AMD KW_EMU       1 for the dialect in use, else 0
 *   KW_NVIDIA                  1 for an NVIDIA architecture, 0 for one of AMD; KW_SM 90 or 0; KW_GFX 0x942 or 0
 *   KW_WAVE                    threads of a wave, 32 or 64
 *   KW_HAS_MFMA ...            1 for each feature of the architecture (src/config/arch/gpu_arch.h), else 0
 *   KW_OP                      one of KW_OP_GEMM, KW_OP_CONV_FWD, KW_OP_CONV_BWD_DATA, KW_OP_CONV_BWD_WEIGHT
 *   KW_IN, KW_OUT              types in memory: 0 fp32, 1 bf16, 2 fp16, 3 fp8 (e4m3), 4 bf8 (e5m2), 5 int8, 6 int32
 *   KW_CHANNELS_FIRST          1: tensors have their channels first, and the text gets copies (gpu/lib/turn.h), else 0
 *   KW_TURNS                   1: that text is there, for these or for a filter in another order than its layout's; else 0
 *   KW_TILE_M ...              the config's axes by name; of a word axis also KW_PIPE_COMPV3 ..., its words numbered
 *
 * What each dialect's prelude gives:
 *   KW_DEVICE                  in front of every function that is not a kernel
 *   KW_KERNEL_AT(name, threads)               head of a kernel of just this name; texts say KW_KERNEL
 *   KW_KERNEL(name, threads)   head of a kernel: KW_KERNEL(kw_stage0, 256) { ... }. Its only parameter is `args`, a kw_gpu_args, read-only.
 *                              A family's launch() says how many blocks of how many threads a stage has; kw_stage0, kw_stage1, ... run in
 *                              order
 *   KW_LDS(bytes)              declares `char *kw_lds`, shared memory of the block, 128-byte aligned (NVIDIA: 1024), once in a kernel at
 *                              its top
 *   int kw_thread(), kw_lane(), kw_wave()     0 .. threads-1, 0 .. KW_WAVE-1, thread / KW_WAVE (the same in all lanes, and known to be so)
 *   kw_i64 kw_block(), kw_blocks()            number of this block, count of blocks
 *   kw_barrier()               all threads of the block; orders shared memory among them. What they write to global memory is for later
 *                              stages
 *   kw_wave_barrier()          the threads of a wave
 *   float kw_add(float *p, float v)           atomic, device-wide; returns what was there
 *   kw_async16(base, from, ok) a copy that does not pass registers, where KW_HAS_ASYNC16: each lane of a wave has 16 bytes copied from its
 *                              own `from` in global memory (16-byte aligned) to base + 16 * lane in shared memory; base is the same in all
 *                              lanes, 16-byte aligned (1 KiB on AMD reaches). ok false: 16 zero bytes instead, `from` is not touched.
 *                              Called by all lanes of a wave together. Not there before a kw_async_wait, then for the same thread, and
 *                              after a kw_barrier for all.
 *   kw_async4(base, from, ok)  the same with 4 bytes, where KW_HAS_ASYNC4
 *   kw_async_commit()          ends a group of copies
 *   kw_async_wait(groups, n)   until at most so many groups, the youngest, are still under way; n: copies that a wave has in each of them.
 *                              Both are compile-time constants
 *   kw_matrix_read(to, at, count, turned)  where KW_HAS_MMA: a wave reads 1, 2 or 4 matrices of 8 rows of 16 bytes from shared memory. Lane
 *                              l has the address of row l % 8 of matrix l / 8, and gets of matrix i, as to[i], 4 bytes of row l / 4 from
 *                              byte 4 (l % 4) on; turned, of 16-bit elements: element l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1. count and
 *                              turned are compile-time constants; addresses of lanes beyond the matrices are not looked at
 * Where KW_HAS_TMA, barriers in shared memory (8 bytes each, 8-byte aligned, named by a char *) and bulk copies that complete on them:
 *   kw_mbar_init(bar, count)   count arrivals make a phase; for others after kw_mbar_fence() of the same thread and a kw_barrier
 *   kw_mbar_end(bar)           the memory is an ordinary one again; nobody may be waiting
 *   kw_mbar_arrive(bar)        what this thread did comes before what those do who wait for the phase
 *   kw_mbar_expect(bar, n)     arrives; the phase is over only when bulk copies have brought n more bytes
 *   kw_mbar_wait(bar, parity)  until the phase of this parity is over; phases are numbered from 0
 *   kw_tensor_load2(to, map, bar, c0, c1) .. 5   the box at these coordinates (innermost first, in elements; may lie outside, and is zero
 *                              there) of args.map[i], which launch() describes (config/family.h), to shared memory, 128-byte aligned; tells
 *                              bar its bytes. By one thread. With 128-byte swizzle the 16-byte pieces of each 128 bytes are exchanged: bits
 *                              4-6 of an address are combined with its bits 7-9 by exclusive or.
 *   kw_tensor_pixels3(to, map, bar, c0, c1, c2, o1) .. 5   pixels of an image: the map's box[1] of them, each with box[0] channels, from
 *                              the coordinates (channel, along the axes from the innermost on, image) on, which lie inside what the map
 *                              bounds; as pixels follow each other there, the map's steps apart, through all images. Each is read (o1,
 *                              ...) further on, and is zero where that lies beside its image, or after the last one
 *   kw_tensor_store3(map, from, c0, c1, c2)   a box from shared memory, 128-byte aligned, to the tensor; what lies outside is not stored.
 *                              By one thread, which may not have it read by others before kw_store_commit() ends a group of stores and
 *   kw_store_wait_read(n)      until at most n groups, the youngest, have still to be read from shared memory; n is a constant
 *   kw_store_wait(n)           until at most n groups have still to be stored
 *   kw_map_prefetch(map)       a map that is needed soon
 *   kw_launch_wait()           until the launch before is done and what it wrote is seen: of a launch that may begin early (kw_launch.early)
 *                              by each thread, before it touches memory
 *   kw_launch_next()           the launch behind may begin: its blocks take what room this one's leave
 *   kw_proxy_fence()           orders what this thread wrote by ordinary stores before what bulk copies and kw_wgmma do
 *   kw_waves_barrier(number, threads)   of whole waves, so many threads together, under a number from 1 to 15
 *   kw_waves_arrive(number, threads)    counts for such a barrier and goes on
 *   kw_matrix_write(to, from)  of a wave: four matrices of 8 rows of 16 bytes to shared memory, as kw_matrix_read has them; lane l has the
 *                              address of row l % 8 of matrix l / 8
 *   kw_matrix_write_turned(to, from)    the same of 16-bit elements, each matrix turned
 *   kw_cluster_rank()          number of the block in its cluster, where the launch has such (kw_launch.cluster)
 *   kw_cluster_barrier()       all threads of a cluster's blocks; orders their shared memory among them
 *   kw_cluster_arrive(), kw_cluster_wait()    the same in two halves that order nothing: behind the second all blocks of the cluster have
 *                              begun, so that their shared memory is there. By all threads, with no kw_cluster_barrier() between them
 *   kw_peer_write(at, rank, words)   16 bytes to where `at`, 16-byte aligned, lies in the shared memory of the cluster's block of this rank;
 *                              only after a kw_cluster_barrier() or kw_cluster_wait(), and there behind the next kw_cluster_barrier()
 *   kw_mbar_arrive_at(bar, rank)     kw_mbar_arrive() at the barrier that lies at the same place in that block
 *   kw_tensor_share3(to, map, bar, c0, c1, c2, blocks)   kw_tensor_load3() for the blocks whose bits are set: to the same place in each, whose
 *                              own barrier there counts the bytes; a block must know that the others are done with what lay there
 * Where KW_HAS_WGMMA, by the 128 threads of four waves together, the first a multiple of four:
 *   kw_wgmma(acc, a, b)        acc += a b, KW_INST_M x KW_INST_N x KW_INST_K, operands from shared memory by descriptors (gpu/matrix/wgmma.h);
 *                              under way until it is waited for: till then acc may not be touched and shared memory not be written
 *   kw_wgmma_fence()           before the first of a group
 *   kw_wgmma_commit()          ends a group
 *   kw_wgmma_wait(groups)      until at most so many groups, the youngest, are under way; a constant
 *   kw_shared_address(p)       of shared memory, in 32 bits, as descriptors want it
 *   kw_registers_give(n), kw_registers_take(n)   a hint: from now on n registers a thread are enough, are wanted
 *   kw_mma(acc, a, b)          acc += a b, the tile KW_INST_M x KW_INST_N x KW_INST_K by all lanes of a wave together; acc is a kw_acc *, a
 *                              and b const kw_frag_a *, const kw_frag_b * (gpu/matrix/fragment.h says who holds what)
 *   kw_sched(kind, count)      a hint to the compiler's scheduler: next come so many instructions of a kind, KW_SCHED_MMA,
 *                              KW_SCHED_LDS_READ, KW_SCHED_LDS_WRITE, KW_SCHED_LOAD, KW_SCHED_STORE; nothing where there is no such hint
 *   kw_sched_fence()           the compiler moves nothing across
 *   kw_priority(level)         of this wave among those of its multiprocessor, 0..3; a hint
 *   kw_pointer_keep(p)         p, which the compiler works out once; a hint
 * Ordinary loads and stores through pointers do for the rest, in all dialects. A vector of 16 bytes is a kw_b16. */
#ifndef KW_GPU_H
#define KW_GPU_H

#define KW_FP32 0
#define KW_BF16 1
#define KW_FP16 2
#define KW_FP8 3
#define KW_BF8 4
#define KW_INT8 5
#define KW_INT32 6
#define KW_UINT8 7

#define KW_BYTES_OF(type) ((type) == KW_FP32 || (type) == KW_INT32 ? 4 : (type) >= KW_FP8 ? 1 : 2)
#define KW_BYTES KW_BYTES_OF(KW_IN)
#define KW_OUT_BYTES KW_BYTES_OF(KW_OUT)

/* The heads of a text's kernels. Where tensors are turned (gpu/lib/turn.h), its stages stand behind that of the turning. */
#if KW_TURNS
#define KW_BEHIND_kw_stage0 kw_stage1
#define KW_BEHIND_kw_stage1 kw_stage2
#define KW_BEHIND_kw_stage2 kw_stage3
#define KW_KERNEL(name, threads) KW_KERNEL_AT(KW_BEHIND_##name, threads)
#else
#define KW_KERNEL(name, threads) KW_KERNEL_AT(name, threads)
#endif

KW_DEVICE int kw_min(int a, int b) { return a < b ? a : b; }
KW_DEVICE int kw_max(int a, int b) { return a > b ? a : b; }
KW_DEVICE kw_i64 kw_min64(kw_i64 a, kw_i64 b) { return a < b ? a : b; }
#define KW_CEIL(a, b) (((a) + (b)-1) / (b))
/* value / by, for what is mostly 1, as strides are: a division takes some hundred cycles, which count where a block has loaded nothing yet. */
KW_DEVICE int kw_over(int value, int by) { return by == 1 ? value : value / by; }

#ifndef KW_PLANES /* only of gpu/igemm/igemm.c, and so is KW_BORDER */
#define KW_PLANES 0
#endif
#ifndef KW_BORDER
#define KW_BORDER 0
#endif

KW_DEVICE kw_u32 kw_bits(float value) {
    union {
        float f;
        kw_u32 u;
    } b;
    b.f = value;
    return b.u;
}

KW_DEVICE float kw_from_bits(kw_u32 bits) {
    union {
        float f;
        kw_u32 u;
    } b;
    b.u = bits;
    return b.f;
}

/* --- elements of memory <-> fp32. Widening is exact, narrowing rounds to nearest even; NaN stays NaN. --- */

KW_DEVICE float kw_from_bf16(kw_u32 h) { return kw_from_bits(h << 16); }

#if !KW_PTX /* which has instructions for these */
/* Exponent and fraction go to fp32's place; a multiply by a power of two mends the exponent of normal and subnormal values alike. */
KW_DEVICE float kw_from_fp16(kw_u32 h) {
    kw_u32 magnitude = h & 0x7fffu;
    float value =
        magnitude >= 0x7c00u ? kw_from_bits(magnitude << 13 | 0x7f800000u) : kw_from_bits(magnitude << 13) * 5.192296858534828e33f;
    return kw_from_bits(kw_bits(value) | (h & 0x8000u) << 16);
}

#endif

KW_DEVICE float kw_from_fp8(kw_u32 b) {
    kw_u32 magnitude = b & 0x7fu;
    float value = magnitude == 0x7fu ? kw_from_bits(0x7fc00000u) : kw_from_bits(magnitude << 20) * 1.329227995784916e36f;
    return kw_from_bits(kw_bits(value) | (b & 0x80u) << 24);
}

#if !KW_PTX || !KW_PTX_HALVES
KW_DEVICE kw_u32 kw_to_bf16(float value) {
    kw_u32 u = kw_bits(value);
    return value != value ? u >> 16 | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
}

KW_DEVICE kw_u32 kw_to_fp16(float value) {
    kw_u32 sign = kw_bits(value) >> 16 & 0x8000u, u = kw_bits(value) & 0x7fffffffu;
    if (u > 0x7f800000u) return sign | 0x7e00u;
    if (u >= 0x477ff000u) return sign | 0x7c00u; /* 65520, halfway to the first value that is not there */
    if (u < 0x38800000u) return sign | (kw_bits(kw_from_bits(u) + 0.5f) - kw_bits(0.5f)); /* subnormal: 0.5's last place is 2^-24 */
    return sign | (u - (112u << 23) + 0xfffu + (u >> 13 & 1u)) >> 13;
}
#endif

#if !KW_PTX
/* Two elements of a result of 16 bits in a word. */
KW_DEVICE kw_u32 kw_out_pair(float low, float high) {
    return KW_OUT == 1 ? kw_to_bf16(low) | kw_to_bf16(high) << 16 : kw_to_fp16(low) | kw_to_fp16(high) << 16;
}
#endif

/* The value of element number i; int8 as a whole number. */
KW_DEVICE float kw_element(const char *tensor, kw_i64 i) {
#if KW_IN == KW_FP32
    return ((const float *)tensor)[i];
#elif KW_IN == KW_BF16
    return kw_from_bf16(((const kw_u16 *)tensor)[i]);
#elif KW_IN == KW_FP16
    return kw_from_fp16(((const kw_u16 *)tensor)[i]);
#elif KW_IN == KW_FP8
    return kw_from_fp8(((const kw_u8 *)tensor)[i]);
#elif KW_IN == KW_BF8
    return kw_from_fp16((kw_u32)((const kw_u8 *)tensor)[i] << 8);
#else
    return (float)((const kw_i8 *)tensor)[i];
#endif
}

/* x's zero point, from its tensor of one element (KW_X_ZERO_OF). */
#define KW_ZERO_OF_int32(p) (*(const int *)(p))
#define KW_ZERO_OF_int8(p) (*(const kw_i8 *)(p))
#define KW_ZERO_OF_uint8(p) (*(const kw_u8 *)(p))

/* What sums are kept in. */
#if KW_IN == KW_INT8
typedef int kw_sum;
#else
typedef float kw_sum;
#endif

KW_DEVICE void kw_store(char *tensor, kw_i64 i, kw_sum value) {
#if KW_OUT == KW_BF16
    ((kw_u16 *)tensor)[i] = (kw_u16)kw_to_bf16(value);
#elif KW_OUT == KW_FP16
    ((kw_u16 *)tensor)[i] = (kw_u16)kw_to_fp16(value);
#else
    ((kw_sum *)tensor)[i] = value;
#endif
}

/* By each thread of a kernel that has nothing to do before: where architectures can, launches begin while the one before them ends
 * (kw_launch.early). */
KW_DEVICE void kw_begin() {
#if KW_HAS_TMA
    kw_launch_wait();
    kw_launch_next();
#endif
}

/* --- walks: how the output pixels of an axis move over source pixels and taps; the rule is src/problem/view.h's kw_walk --- */
typedef struct kw_walk {
    int pixels, out_start, out_step, src_start, src_step, taps, tap_src_step, tap_start, tap_step;
} kw_walk;

KW_DEVICE kw_walk kw_walk_forward(const kw_gpu_args *a, int axis) {
    kw_walk w = {(int)a->out[axis], 0, 1, -(int)a->pad[axis], (int)a->stride[axis], (int)a->filter[axis], (int)a->dilation[axis], 0, 1};
    return w;
}

/* Backward data has one walk for each residue of the input position mod stride: walk number phase writes positions phase, phase + stride,
 * ... Its taps are those for which out = (in + pad - tap dilation) / stride is whole: every (stride / gcd(stride, dilation))th. A division
 * takes some hundred cycles, before a block loads anything: none where the stride is 1, and few where the dilation is. */
KW_DEVICE int kw_walks_backward(const kw_gpu_args *a, int axis) { return (int)kw_min64(a->stride[axis], a->in[axis]); }

KW_DEVICE kw_walk kw_walk_backward(const kw_gpu_args *a, int axis, int phase) {
    int s = (int)a->stride[axis], d = (int)a->dilation[axis], f = (int)a->filter[axis], p = (int)a->pad[axis], in = (int)a->in[axis];
    kw_walk w = {in, 0, 1, p, 1, f, -d, 0, 1};
    if (s == 1) return w;
    int step = s, tap; /* the first tap that serves, if any, is below step */
    if (d == 1) {
        tap = (phase + p) % s;
    } else {
        int g = s, rest = d;
        while (rest) {
            int next = g % rest;
            g = rest;
            rest = next;
        }
        step = s / g;
        tap = 0;
        while (tap < step && (phase + p - tap * d) % s != 0)
            tap++;
        w.tap_src_step = -(d / g);
    }
    w.pixels = phase < in ? (in - phase + s - 1) / s : 0;
    w.out_start = phase;
    w.out_step = s;
    w.taps = tap < kw_min(step, f) ? (f - tap + step - 1) / step : 0;
    w.src_start = w.taps ? (phase + p - tap * d) / s : 0; /* exact; may be negative */
    w.tap_start = tap;
    w.tap_step = step;
    return w;
}

#endif

/* cpu.h: the vocabulary of CPU kernel text: vectors of KW_LANES floats, loads and stores of every storage type, tails, walks. Compiles with
 * gcc and clang, without headers. kw_config.h (generated) comes before it and defines:
 *   KW_LANES    8 or 16 fp32 lanes
 *   KW_MASKS    1: AVX-512's masks, of 16 lanes or of 8
 *   KW_STORAGE  0 fp32, 1 bf16, 2 fp16, 3 int8, 4 fp8 (e4m3), 5 bf8 (e5m2): the type of the tensors that are read; the one written has it
 *               too, but of int8 it is int32, of fp8 and bf8 fp16, unless the epilogue says another
 *   KW_MATH     0 fma, 1 dp, 2 wide, 3 amx: the words of the axis math (config/arch/isa.h)
 *   KW_PAIR     source elements that a 32-bit lane holds when they are multiplied
 *   KW_X_UNSIGNED 1: of int8 problems, x is uint8
 *   KW_X_ZERO   1: x has a zero point, KW_X_ZERO_OF(args)
 *   KW_CHANNELS_FIRST 1: tensors have their channels first (cpu/lib/reorder.h, cpu/gemm/planes.h)
 *   KW_PITCHED  defined: tensors are parts of larger ones, and lie as args->x_step and y_step say
 *   KW_EPILOGUE 1: sums pass through an epilogue, and are written as KW_OUT says (prelude/epilogue_cpu.h)
 */
#define KW_EXPORT __attribute__((visibility("default")))
#define KW_INLINE static inline __attribute__((always_inline, unused))

/* Of a function: registers are given out by regions, where elsewhere one for the whole function does as well in less of a compile
 * (jit/toolchain/cc.c). */
#if defined __GNUC__ && !defined __clang__
#define KW_BY_REGIONS __attribute__((optimize("ira-region=mixed")))
#else
#define KW_BY_REGIONS
#endif

#define KW_DP (KW_MATH == 1 && KW_STORAGE == 1)    /* pairs of bf16 */
#define KW_QUADS (KW_MATH == 1 && KW_STORAGE == 3) /* unsigned times signed bytes */
#define KW_RAISED (KW_QUADS && !KW_X_UNSIGNED)     /* of the tensor that is spread, 128 + each value is multiplied */

#define KW_WORD (4 / KW_PAIR)               /* bytes of a source element as tiles read it */
#define KW_ZERO_BYTE (KW_RAISED ? 0x80 : 0) /* zero where they are bytes */

/* Whether a kernel's own stages meet channels-last tensors of which that is so. Of channels-first ones they see dense copies. */
#if defined KW_PITCHED && !KW_CHANNELS_FIRST
#define KW_APART 1
#else
#define KW_APART 0
#endif

typedef signed char kw_i8;
typedef unsigned short kw_u16;
typedef unsigned int kw_u32;
typedef float kw_vf __attribute__((vector_size(4 * KW_LANES)));
typedef float kw_vf_u __attribute__((vector_size(4 * KW_LANES), aligned(1), may_alias));
typedef int kw_vi __attribute__((vector_size(4 * KW_LANES)));
typedef kw_u32 kw_vu __attribute__((vector_size(4 * KW_LANES)));
typedef kw_u32 kw_vu_u __attribute__((vector_size(4 * KW_LANES), aligned(1), may_alias));
typedef kw_u16 kw_vh __attribute__((vector_size(2 * KW_LANES)));
typedef kw_u16 kw_vh_u __attribute__((vector_size(2 * KW_LANES), aligned(1), may_alias));
typedef float kw_f32_u __attribute__((aligned(1), may_alias));
typedef int kw_i32_u __attribute__((aligned(1), may_alias));
typedef kw_u16 kw_u16_u __attribute__((aligned(1), may_alias));
typedef unsigned char kw_vc __attribute__((vector_size(KW_LANES)));
typedef unsigned char kw_vc_u __attribute__((vector_size(KW_LANES), aligned(1), may_alias));
#if KW_STORAGE == 3
typedef kw_i8 kw_vb __attribute__((vector_size(KW_LANES)));
typedef kw_i8 kw_vb_u __attribute__((vector_size(KW_LANES), aligned(1), may_alias));
typedef kw_vi kw_va; /* what sums are kept in */
#if KW_X_UNSIGNED    /* an element of what is spread */
typedef unsigned char kw_x8;
typedef kw_vc_u kw_vx_u;
#else
typedef kw_i8 kw_x8;
typedef kw_vb_u kw_vx_u;
#endif
#else
typedef kw_vf kw_va;
#endif

/* Bytes in memory of an element that is read, that is written. */
#if KW_STORAGE == 0
#define KW_BYTES 4
#elif KW_STORAGE >= 3
#define KW_BYTES 1
#else
#define KW_BYTES 2
#endif
#if KW_EPILOGUE
#define KW_OUT_BYTES (KW_OUT == 0 || KW_OUT == 6 ? 4 : KW_OUT <= 2 ? 2 : 1)
#else
#define KW_OUT_BYTES (KW_STORAGE == 3 ? 4 : KW_STORAGE > 3 ? 2 : KW_BYTES)
#endif

#define KW_ZERO_OF_int32(p) (*(const kw_i32_u *)(p))
#define KW_ZERO_OF_int8(p) (*(const kw_i8 *)(p))
#define KW_ZERO_OF_uint8(p) (*(const unsigned char *)(p))

KW_INLINE kw_i64 kw_min(kw_i64 a, kw_i64 b) { return a < b ? a : b; }
KW_INLINE kw_i64 kw_max(kw_i64 a, kw_i64 b) { return a > b ? a : b; }

KW_INLINE kw_vf kw_load(const void *p) { return *(const kw_vf_u *)p; }
KW_INLINE void kw_put(void *p, kw_vf v) { *(kw_vf_u *)p = v; }
KW_INLINE kw_vf kw_spread(const void *p) { return *(const kw_f32_u *)p - (kw_vf){0}; }               /* one fp32 to all lanes */
KW_INLINE kw_vf kw_spread_word(const void *p) { return (kw_vf)(*(const kw_i32_u *)p + (kw_vi){0}); } /* 4 bytes, whatever they are */

/* gcc folds a weight load into every multiply that uses it, which makes tiles of few pixels load bound; this keeps it in a register. */
#ifdef __clang__
#define KW_KEEP(v) (void)0
#else
#define KW_KEEP(v) __asm__("" : "+v"(v))
#endif

/* gcc 12 would widen a vector by halves, five instructions for one. */
KW_INLINE kw_vu kw_words_of_halves(kw_vh h) {
    kw_vu words;
    __asm__("vpmovzxwd %1, %0" : "=v"(words) : "v"(h));
    return words;
}

#if KW_DP
/* Sums of products of bf16 pairs: a + low x low w + high x high w in every 32-bit lane. The builtins' names and types differ between
 * compiler versions; the instruction's does not. */
KW_INLINE kw_vf kw_dp(kw_vf a, kw_vf x, kw_vf w) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(a) : "v"(x), "v"(w));
    return a;
}
/* One bf16 to all lanes, with zero as its partner. */
KW_INLINE kw_vf kw_spread_half(const void *p) { return (kw_vf)((int)*(const kw_u16_u *)p + (kw_vi){0}); }
#endif

#if KW_STORAGE == 3
/* Sums of products of bytes, in every 32-bit lane: a + sum of 4 unsigned bytes of x times signed bytes of w. */
#if KW_QUADS
KW_INLINE kw_vi kw_dot_quads(kw_vi a, kw_vf x, kw_vf w) {
#if KW_LANES == 16
    __asm__("vpdpbusd %2, %1, %0" : "+v"(a) : "v"(x), "v"(w));
#else
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(a) : "x"(x), "x"(w));
#endif
    return a;
}
#endif
/* Of int16: low x low w + high x high w. Products of int8 stay far below where the instruction's sum would wrap. */
KW_INLINE kw_vi kw_wide_products(kw_vf x, kw_vf w) {
    kw_vi sums;
    __asm__("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(x), "v"(w));
    return sums;
}
KW_INLINE kw_vi kw_dot_wide(kw_vi a, kw_vf x, kw_vf w) { return a + kw_wide_products(x, w); }
/* The same by one instruction of VNNI, for texts whose int8 are pairs under math=dp as well. */
#if KW_QUADS
KW_INLINE kw_vi kw_dot_pairs(kw_vi a, kw_vf x, kw_vf w) {
#if KW_LANES == 16
    __asm__("vpdpwssd %2, %1, %0" : "+v"(a) : "v"(x), "v"(w));
#else
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(a) : "x"(x), "x"(w));
#endif
    return a;
}
#else
KW_INLINE kw_vi kw_dot_pairs(kw_vi a, kw_vf x, kw_vf w) { return kw_dot_wide(a, x, w); }
#endif
#endif

#if KW_STORAGE == 3
/* The word of KW_PAIR bytes that lie step apart; what is beyond count of them is zero. */
KW_INLINE kw_u32 kw_word_of(const char *from, kw_i64 step, kw_i64 count) {
    kw_u32 word = 0;
    for (kw_i64 e = 0; e < KW_PAIR && e < count; e++) {
        kw_u32 value = (kw_u32) * (const kw_i8 *)(from + e * step);
        word |= (KW_WORD == 1 ? value & 0xffu : value & 0xffffu) << 8 * KW_WORD * e;
    }
    return word;
}
#endif

/* --- storage types: 1 vector of KW_LANES elements <-> floats --- */
#if KW_STORAGE == 0
KW_INLINE kw_vf kw_load_x(const void *p) { return kw_load(p); }
KW_INLINE float kw_load_1(const void *p) { return *(const kw_f32_u *)p; }
KW_INLINE void kw_store_x(void *p, kw_vf v) { kw_put(p, v); }
KW_INLINE void kw_store_1(void *p, float f) { *(kw_f32_u *)p = f; }
#elif KW_STORAGE == 1
KW_INLINE kw_vf kw_widen(kw_vh h) { return (kw_vf)(kw_words_of_halves(h) << 16); }
KW_INLINE kw_vf kw_load_x(const void *p) {
    kw_vu words;
    __asm__("vpmovzxwd %1, %0" : "=v"(words) : "m"(*(const kw_vh_u *)p));
    return (kw_vf)(words << 16);
}
KW_INLINE float kw_load_1(const void *p) {
    union {
        kw_u32 u;
        float f;
    } b = {(kw_u32) * (const kw_u16_u *)p << 16};
    return b.f;
}
#if KW_MATH != 0
KW_INLINE void kw_store_x(void *p, kw_vf v) {
    kw_vh h;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(h) : "v"(v));
    *(kw_vh_u *)p = h;
}
/* Two vectors side by side, by one store. */
KW_INLINE void kw_store_two(void *p, kw_vf v, kw_vf next) {
    kw_vf both;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(v), "v"(next));
    kw_put(p, both);
}
#define KW_STORES_TWO 1
#else
/* Of words below 2^16. */
KW_INLINE kw_vh kw_low_halves(kw_vu words) {
#if KW_LANES == 8 /* gcc 12 would clear the upper halves first */
    kw_vu packed;
    kw_vh low;
    __asm__("vpackusdw %1, %1, %0" : "=v"(packed) : "v"(words));
    __asm__("vpermq $8, %1, %0" : "=v"(packed) : "v"(packed));
    __builtin_memcpy(&low, &packed, sizeof low);
    return low;
#else
    return __builtin_convertvector(words, kw_vh);
#endif
}
/* Round to nearest even; a NaN keeps its sign and becomes quiet. */
KW_INLINE void kw_store_x(void *p, kw_vf v) {
    kw_vu u = (kw_vu)v;
    kw_vu r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    kw_vu nan = (kw_vu)(v != v);
    r = (r & ~nan) | (((u >> 16) | 0x40u) & nan);
    *(kw_vh_u *)p = kw_low_halves(r);
}
#endif
KW_INLINE void kw_store_1(void *p, float f) {
    union {
        float f;
        kw_u32 u;
    } b = {f};
    kw_u32 r = (b.u + 0x7fffu + ((b.u >> 16) & 1u)) >> 16;
    *(kw_u16_u *)p = (kw_u16)(f != f ? (b.u >> 16) | 0x40u : r);
}
#elif KW_STORAGE != 3
#ifdef __clang__
typedef __fp16 kw_f16; /* clang 14 knows _Float16 on machines with fp16 arithmetic only */
#else
typedef _Float16 kw_f16;
#endif
typedef kw_f16 kw_f16_u __attribute__((aligned(1), may_alias));
KW_INLINE void kw_store_1(void *p, float f) { *(kw_f16_u *)p = (kw_f16)f; }
KW_INLINE kw_vf kw_widen(kw_vh h) {
    kw_vf v;
    __asm__("vcvtph2ps %1, %0" : "=v"(v) : "v"(h));
    return v;
}
#if KW_STORAGE == 2
KW_INLINE float kw_load_1(const void *p) { return (float)*(const kw_f16_u *)p; }
KW_INLINE kw_vf kw_load_x(const void *p) { return kw_widen(*(const kw_vh_u *)p); }
#elif KW_STORAGE == 4
/* As the bits of an fp16 of the same sign, exponent and mantissa, whose bias is larger by 8; a NaN has the bits that would be 480. A byte that was
 * widened with its sign and shifted has the sign in both upper bits. */
KW_INLINE kw_vf kw_load_x(const void *p) {
    kw_vh h;
    __asm__("vpmovsxbw %1, %0" : "=v"(h) : "m"(*(const kw_vc_u *)p));
    kw_vf v = kw_widen(h << 7 & 0xbfff) * 256.0f;
    return (kw_vf)((kw_vi)v | ((kw_vi)(v * v == 230400.0f) & 0x7fc00000));
}
KW_INLINE float kw_load_1(const void *p) {
    kw_u32 bits = *(const unsigned char *)p;
    kw_u16 h = (kw_u16)((bits & 0x80) << 8 | (bits & 0x7f) << 7);
    return (bits & 0x7f) == 0x7f ? __builtin_nanf("") : (float)*(const kw_f16_u *)&h * 256.0f;
}
#else
/* The upper half of an fp16. */
KW_INLINE kw_vf kw_load_x(const void *p) {
    kw_vh h;
    __asm__("vpmovzxbw %1, %0" : "=v"(h) : "m"(*(const kw_vc_u *)p));
    return kw_widen(h << 8);
}
KW_INLINE float kw_load_1(const void *p) {
    kw_u16 h = (kw_u16)(*(const unsigned char *)p << 8);
    return (float)*(const kw_f16_u *)&h;
}
#endif
KW_INLINE void kw_store_x(void *p, kw_vf v) {
    kw_vh h;
    __asm__("vcvtps2ph $0, %1, %0" : "=v"(h) : "v"(v));
    *(kw_vh_u *)p = h;
}
#elif KW_MATH == 0
/* As fp32, which holds the sums exactly: of what is spread, x; one weight. gcc 12 would widen the bytes piece by piece. */
KW_INLINE kw_vf kw_load_x(const void *p) {
    kw_vi i;
#if KW_X_UNSIGNED
    __asm__("vpmovzxbd %1, %0" : "=v"(i) : "m"(*(const kw_vx_u *)p));
#else
    __asm__("vpmovsxbd %1, %0" : "=v"(i) : "m"(*(const kw_vx_u *)p));
#endif
    return __builtin_convertvector(i, kw_vf);
}
KW_INLINE float kw_load_1(const void *p) { return (float)*(const kw_i8 *)p; }
KW_INLINE void kw_store_x(void *p, kw_vf v) { kw_put(p, (kw_vf) __builtin_convertvector(v, kw_vi)); }
#else
/* Whole numbers of 32 bits, in lanes that are named floats. */
KW_INLINE kw_vf kw_load_x(const void *p) {
    kw_vi i;
    __asm__("vpmovsxbd %1, %0" : "=v"(i) : "m"(*(const kw_vc_u *)p));
    return (kw_vf)i;
}
KW_INLINE float kw_load_1(const void *p) {
    union {
        int i;
        float f;
    } b = {*(const kw_i8 *)p};
    return b.f;
}
KW_INLINE void kw_store_x(void *p, kw_vf v) { kw_put(p, v); }
KW_INLINE void kw_store_1(void *p, float f) { *(kw_f32_u *)p = f; }
#endif

/* An element of each of two vectors as they were loaded, side by side in 32 bits: bf16 or int16. */
KW_INLINE kw_vf kw_zip(kw_vf first, kw_vf second) {
    return KW_STORAGE == 3 ? (kw_vf)(((kw_vu)first & 0xffffu) | (kw_vu)second << 16) : (kw_vf)((kw_vu)first >> 16 | (kw_vu)second);
}

#ifndef KW_STORES_TWO
KW_INLINE void kw_store_two(void *p, kw_vf v, kw_vf next) {
    kw_store_x(p, v);
    kw_store_x((char *)p + KW_LANES * KW_OUT_BYTES, next);
}
#endif

/* --- tails: the first so many elements of a vector --- */
#if KW_MASKS /* lanes that are left out are neither read nor written */
typedef kw_u16 kw_lanes_mask;
KW_INLINE kw_lanes_mask kw_first_lanes(kw_i64 count) { return (kw_lanes_mask)(count >= KW_LANES ? (1 << KW_LANES) - 1 : (1 << count) - 1); }
KW_INLINE void kw_put_lanes(void *p, kw_vf v, kw_lanes_mask mask) {
    __asm__("vmovups %1, %0%{%2%}" : "+m"(*(kw_vf_u *)p) : "v"(v), "Yk"(mask));
}
KW_INLINE kw_vf kw_get_lanes(const void *p, kw_lanes_mask mask) {
    kw_vf v;
    __asm__("vmovups %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const kw_vf_u *)p), "Yk"(mask));
    return v;
}
/* The same of 16-bit elements. */
KW_INLINE void kw_put_halves(void *p, kw_vh h, kw_lanes_mask mask) {
    __asm__("vmovdqu16 %1, %0%{%2%}" : "+m"(*(kw_vh_u *)p) : "v"(h), "Yk"(mask));
}
KW_INLINE kw_vh kw_get_halves(const void *p, kw_lanes_mask mask) {
    kw_vh h;
    __asm__("vmovdqu16 %1, %0%{%2%}%{z%}" : "=v"(h) : "m"(*(const kw_vh_u *)p), "Yk"(mask));
    return h;
}
#endif

#if KW_STORAGE != 3 || KW_MATH != 0
/* The first count (0..KW_LANES) elements; the other lanes load as zero and are not stored. */
KW_INLINE kw_vf kw_load_tail(const void *p, kw_i64 count) {
#if KW_MASKS && KW_STORAGE == 0
    return kw_get_lanes(p, kw_first_lanes(count));
#elif KW_MASKS && KW_STORAGE <= 2
    return kw_widen(kw_get_halves(p, kw_first_lanes(count)));
#else
    kw_vf v = {0};
    if (count >= KW_LANES) return kw_load_x(p);
    for (kw_i64 i = 0; i < count; i++)
        v[i] = kw_load_1((const char *)p + KW_BYTES * i);
    return v;
#endif
}
#endif
#if KW_MASKS && !KW_EPILOGUE
KW_INLINE void kw_store_tail(void *p, kw_vf v, kw_i64 count) {
#if KW_OUT_BYTES == 4
    kw_store_x(&v, v);
    kw_put_lanes(p, v, kw_first_lanes(count));
#else
    kw_vh h;
    kw_store_x(&h, v);
    kw_put_halves(p, h, kw_first_lanes(count));
#endif
}
#elif KW_STORAGE != 3 || KW_MATH != 0
KW_INLINE void kw_store_tail(void *p, kw_vf v, kw_i64 count) {
    if (count >= KW_LANES) {
        kw_store_x(p, v);
        return;
    }
    for (kw_i64 i = 0; i < count; i++)
        kw_store_1((char *)p + KW_OUT_BYTES * i, v[i]);
}
#endif

/* --- results: what is stored where a config has no epilogue; else these words stand in epilogue_cpu.h, and mean more. Here a place is
 * nothing, so that no instruction is spent on it. --- */
#if !KW_EPILOGUE
typedef struct kw_place {
    char nothing[0];
} kw_place;
#define kw_place_at(args, result, channel, row) ((void)(args), (kw_place){})
#define kw_place_steps(at, right, down) ((kw_place){})
#define kw_place_moved(at, channels, right, down) ((kw_place){})
KW_INLINE void kw_result_x(void *p, kw_vf v, kw_place at) {
    (void)at;
    kw_store_x(p, v);
}
#endif

/* --- walks: how the output pixels of an axis move over source pixels and taps; the rule is src/problem/view.h's kw_walk --- */
typedef struct kw_walk {
    kw_i64 pixels, out_start, out_step, src_start, src_step, taps, tap_src_step, tap_start, tap_step;
} kw_walk;

KW_INLINE kw_walk kw_walk_forward(const kw_kernel_args *a, int axis) {
    return (kw_walk){a->out[axis], 0, 1, -a->pad[axis], a->stride[axis], a->filter[axis], a->dilation[axis], 0, 1};
}

/* Backward data has one walk for each residue of the input position mod stride: walk number phase writes positions phase,
 * phase + stride, ... Its taps are those for which out = (in + pad - tap dilation) / stride is whole: every (stride / gcd(stride, dilation))th. */
KW_INLINE kw_i64 kw_walks_backward(const kw_kernel_args *a, int axis) { return kw_min(a->stride[axis], a->in[axis]); }

static kw_walk __attribute__((unused)) kw_walk_backward(const kw_kernel_args *a, int axis, kw_i64 phase) {
    kw_i64 s = a->stride[axis], d = a->dilation[axis], f = a->filter[axis], p = a->pad[axis];
    kw_i64 g = s, rest = d;
    while (rest) {
        kw_i64 next = g % rest;
        g = rest;
        rest = next;
    }
    kw_i64 step = s / g, first = kw_min(step, f), tap = 0; /* the first tap that serves, if any, is below first */
    while (tap < first && (phase + p - tap * d) % s != 0)
        tap++;
    kw_walk w = {0};
    w.pixels = phase < a->in[axis] ? (a->in[axis] - phase + s - 1) / s : 0;
    w.out_start = phase;
    w.out_step = s;
    w.src_step = 1;
    w.taps = tap < first ? (f - tap + step - 1) / step : 0;
    w.tap_start = tap;
    w.tap_step = step;
    w.tap_src_step = -(d / g);
    w.src_start = w.taps ? (phase + p - tap * d) / s : 0; /* exact; may be negative */
    return w;
}

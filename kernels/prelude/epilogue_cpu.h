/* epilogue_cpu.h: what becomes of a kernel's sums where its config has an epilogue: what the words of KW_EPILOGUE_STEPS
 * (src/families/epilogue_text.h) mean for vectors of a CPU, and stores in the result's type. It stands behind cpu.h, which has the same
 * names for kernels without one, and works in registers on a vector that is about to be stored.
 *
 *   KW_OUT           the result's type: 0 fp32, 1 bf16, 2 fp16, 3 fp8, 4 bf8, 5 int8, 6 int32, 7 uint8
 *   kw_place         where a vector of results stands; a kernel makes it by kw_place_at()
 *   kw_result_x      stores a whole vector whose lanes are channels      kw_pixels_x      one whose lanes are pixels of one channel
 *   kw_result_by     the same in a loop behind kw_tables_of()            kw_pixels_by
 *   kw_result_held   the same with what kw_held_of() took for many pixels of the same channels
 *   kw_result_of_tile  the same of a register tile's sums, whose channels are of one group
 *   kw_result_lanes  some of its lanes                                   kw_pixels_lanes
 *   kw_result_held_lanes  some of its lanes, with what kw_held_of_lanes() took of the same lanes
 *   kw_result_ahead  asks for what a vector of channels will read
 *
 * Minima and maxima are instructions, not comparisons: vmaxps and vminps give their last operand where one is NaN, so NaN passes. */

/* --- places --- */

#if KW_OUT == 0 || KW_OUT == 6
typedef kw_i32_u kw_out; /* its bits */
#elif KW_OUT == 1 || KW_OUT == 2
typedef kw_u16_u kw_out;
#else
typedef kw_i8 kw_out;
#endif

/* Lanes first..end-1 of a vector exist. */
typedef struct kw_lanes {
    int first, end;
} kw_lanes;

/* channel: of the vector's first lane, counted over all groups. row: its pixel over all images, or row over all batches. A tile's pixels
 * are right and down rows apart. Elements follow from addresses, so p has to be the result's own. */
typedef struct kw_place {
    const kw_kernel_args *args;
    const char *result;
    kw_i64 channel, row, right, down;
    kw_lanes lanes;
} kw_place;

KW_INLINE kw_place kw_place_at(const kw_kernel_args *a, const char *result, kw_i64 channel, kw_i64 row) {
    return (kw_place){a, result, channel, row, 0, 0, {0, KW_LANES}};
}
/* The rows of the result from one pixel of a tile to those beside and below it. */
KW_INLINE kw_place kw_place_steps(kw_place at, kw_i64 right, kw_i64 down) {
    at.right = right;
    at.down = down;
    return at;
}
KW_INLINE kw_place kw_place_moved(kw_place at, kw_i64 channels, kw_i64 right, kw_i64 down) {
    at.channel += channels;
    at.row += right * at.right + down * at.down;
    return at;
}
KW_INLINE kw_place kw_place_lanes(kw_place at, kw_i64 first, kw_i64 end) {
    at.lanes = (kw_lanes){(int)kw_max(first, 0), (int)kw_min(end, KW_LANES)};
    return at;
}
KW_INLINE kw_i64 kw_place_element(kw_place at, const void *p) { return (const kw_out *)p - (const kw_out *)at.result; }

/* --- lanes of memory: of elements of 4, 2 and 1 bytes; what is not there becomes zero and is not touched --- */

#if KW_STORAGE != 3
typedef kw_i8 kw_vb __attribute__((vector_size(KW_LANES)));
typedef kw_i8 kw_vb_u __attribute__((vector_size(KW_LANES), aligned(1), may_alias));
#endif
typedef kw_i8 kw_i8_u __attribute__((may_alias));

/* Count elements of so many bytes, by eights, fours, twos and one: no call, and no loop. */
KW_INLINE void kw_copy_elements(char *to, const char *from, int count, int bytes) {
#if KW_LANES == 16
    if (count & 16) {
        __builtin_memcpy(to, from, 16 * bytes);
        return;
    }
#endif
    if (count & 8) __builtin_memcpy(to, from, 8 * bytes), to += 8 * bytes, from += 8 * bytes;
    if (count & 4) __builtin_memcpy(to, from, 4 * bytes), to += 4 * bytes, from += 4 * bytes;
    if (count & 2) __builtin_memcpy(to, from, 2 * bytes), to += 2 * bytes, from += 2 * bytes;
    if (count & 1) __builtin_memcpy(to, from, bytes);
}

#if KW_LANES == 16
KW_INLINE kw_lanes_mask kw_mask(kw_lanes lanes) { return (kw_lanes_mask)(0xffffu >> (16 - (lanes.end - lanes.first)) << lanes.first); }
KW_INLINE kw_vf kw_load_words(const char *p, kw_lanes lanes) { return kw_get_lanes(p, kw_mask(lanes)); }
KW_INLINE kw_vh kw_load_halves(const char *p, kw_lanes lanes) { return kw_get_halves(p, kw_mask(lanes)); }
KW_INLINE kw_vb kw_load_bytes(const char *p, kw_lanes lanes) {
    kw_vb v;
    __asm__("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const kw_vb_u *)p), "Yk"(kw_mask(lanes)));
    return v;
}
KW_INLINE void kw_store_words(char *p, kw_vf v, kw_lanes lanes) { kw_put_lanes(p, v, kw_mask(lanes)); }
KW_INLINE void kw_store_halves(char *p, kw_vh v, kw_lanes lanes) { kw_put_halves(p, v, kw_mask(lanes)); }
KW_INLINE void kw_store_bytes(char *p, kw_vb v, kw_lanes lanes) {
    __asm__("vmovdqu8 %1, %0%{%2%}" : "+m"(*(kw_vb_u *)p) : "v"(v), "Yk"(kw_mask(lanes)));
}
#else
#define KW_LOAD_LANES(type, p, lanes)                                                                                                      \
    type v = {0};                                                                                                                          \
    kw_copy_elements((char *)&v + lanes.first * (int)sizeof v[0], p + lanes.first * (int)sizeof v[0], lanes.end - lanes.first,             \
                     (int)sizeof v[0]);                                                                                                    \
    return v
#define KW_STORE_LANES(p, v, lanes)                                                                                                        \
    kw_copy_elements(p + lanes.first * (int)sizeof v[0], (const char *)&v + lanes.first * (int)sizeof v[0], lanes.end - lanes.first,       \
                     (int)sizeof v[0])
KW_INLINE kw_vf kw_load_words(const char *p, kw_lanes lanes) { KW_LOAD_LANES(kw_vf, p, lanes); }
KW_INLINE kw_vh kw_load_halves(const char *p, kw_lanes lanes) { KW_LOAD_LANES(kw_vh, p, lanes); }
KW_INLINE kw_vb kw_load_bytes(const char *p, kw_lanes lanes) { KW_LOAD_LANES(kw_vb, p, lanes); }
KW_INLINE void kw_store_words(char *p, kw_vf v, kw_lanes lanes) { KW_STORE_LANES(p, v, lanes); }
KW_INLINE void kw_store_halves(char *p, kw_vh v, kw_lanes lanes) { KW_STORE_LANES(p, v, lanes); }
KW_INLINE void kw_store_bytes(char *p, kw_vb v, kw_lanes lanes) { KW_STORE_LANES(p, v, lanes); }
#endif

KW_INLINE int kw_all_lanes(kw_lanes lanes) { return lanes.first == 0 && lanes.end == KW_LANES; }

/* --- the steps' tensors: lanes from element number at on, or one element in all lanes --- */

KW_INLINE kw_vf kw_from_bf16(kw_vh h) { return (kw_vf)(kw_words_of_halves(h) << 16); }
KW_INLINE kw_vf kw_from_fp16(kw_vh h) {
    kw_vf v;
    __asm__("vcvtph2ps %1, %0" : "=v"(v) : "v"(h));
    return v;
}
KW_INLINE kw_vf kw_from_int32(kw_vi i) { return __builtin_convertvector(i, kw_vf); }
KW_INLINE kw_vf kw_from_int8(kw_vb b) { return kw_from_int32(__builtin_convertvector(b, kw_vi)); }
KW_INLINE kw_vf kw_words(const char *p, kw_lanes lanes) { return kw_all_lanes(lanes) ? kw_load(p) : kw_load_words(p, lanes); }
KW_INLINE kw_vh kw_halves(const char *p, kw_lanes lanes) {
    kw_vh whole;
    if (!kw_all_lanes(lanes)) return kw_load_halves(p, lanes);
    whole = *(const kw_vh_u *)p;
    return whole;
}
KW_INLINE kw_vb kw_bytes(const char *p, kw_lanes lanes) {
    kw_vb whole;
    if (!kw_all_lanes(lanes)) return kw_load_bytes(p, lanes);
    whole = *(const kw_vb_u *)p;
    return whole;
}

KW_INLINE kw_vf kw_lanes_fp32(const char *tensor, kw_i64 at, kw_lanes lanes) { return kw_words(tensor + 4 * at, lanes); }
KW_INLINE kw_vf kw_lanes_int32(const char *tensor, kw_i64 at, kw_lanes lanes) {
    return kw_from_int32((kw_vi)kw_words(tensor + 4 * at, lanes));
}
KW_INLINE kw_vf kw_lanes_bf16(const char *tensor, kw_i64 at, kw_lanes lanes) { return kw_from_bf16(kw_halves(tensor + 2 * at, lanes)); }
KW_INLINE kw_vf kw_lanes_fp16(const char *tensor, kw_i64 at, kw_lanes lanes) { return kw_from_fp16(kw_halves(tensor + 2 * at, lanes)); }
KW_INLINE kw_vf kw_lanes_int8(const char *tensor, kw_i64 at, kw_lanes lanes) { return kw_from_int8(kw_bytes(tensor + at, lanes)); }
KW_INLINE kw_vf kw_lanes_uint8(const char *tensor, kw_i64 at, kw_lanes lanes) {
    return kw_from_int32(__builtin_convertvector((kw_vc)kw_bytes(tensor + at, lanes), kw_vi));
}

KW_INLINE kw_vf kw_one_fp32(const char *tensor, kw_i64 at) { return kw_spread(tensor + 4 * at); }
KW_INLINE kw_vf kw_one_int32(const char *tensor, kw_i64 at) { return (float)*(const kw_i32_u *)(tensor + 4 * at) - (kw_vf){0}; }
KW_INLINE kw_vf kw_one_bf16(const char *tensor, kw_i64 at) { return kw_from_bf16(*(const kw_u16_u *)(tensor + 2 * at) - (kw_vh){0}); }
KW_INLINE kw_vf kw_one_fp16(const char *tensor, kw_i64 at) { return kw_from_fp16(*(const kw_u16_u *)(tensor + 2 * at) - (kw_vh){0}); }
KW_INLINE kw_vf kw_one_int8(const char *tensor, kw_i64 at) { return (float)*(const kw_i8_u *)(tensor + at) - (kw_vf){0}; }
KW_INLINE kw_vf kw_one_uint8(const char *tensor, kw_i64 at) { return (float)*(const unsigned char *)(tensor + at) - (kw_vf){0}; }

#define KW_BYTES_OF_fp32 4
#define KW_BYTES_OF_int32 4
#define KW_BYTES_OF_bf16 2
#define KW_BYTES_OF_fp16 2
#define KW_BYTES_OF_int8 1
#define KW_BYTES_OF_uint8 1

/* --- activations --- */

KW_INLINE kw_vf kw_vmax(kw_vf a, kw_vf b) {
    kw_vf v;
    __asm__("vmaxps %2, %1, %0" : "=v"(v) : "v"(a), "v"(b));
    return v;
}
KW_INLINE kw_vf kw_vmin(kw_vf a, kw_vf b) {
    kw_vf v;
    __asm__("vminps %2, %1, %0" : "=v"(v) : "v"(a), "v"(b));
    return v;
}
KW_INLINE kw_vf kw_all(float f) { return f - (kw_vf){0}; }
KW_INLINE kw_vf kw_magnitude(kw_vf v) { return (kw_vf)((kw_vu)v & 0x7fffffffu); }
KW_INLINE kw_vf kw_pick(kw_vi mask, kw_vf yes, kw_vf no) { return (kw_vf)(((kw_vi)yes & mask) | ((kw_vi)no & ~mask)); }

#define KW_TO_WHOLE 0x1.8p23f /* the sum of it and a small number is rounded to a whole one, which stands in its low bits */

/* exp(v) = scale (1 + rest): scale is 2^n, n = round(v / log 2); rest by a polynomial that fits exp at Chebyshev's points of the half
 * interval, to 2^-26. v is within -86.5 .. 88.3. */
typedef struct kw_exp_parts {
    kw_vf scale, rest;
} kw_exp_parts;
KW_INLINE kw_exp_parts kw_exp_split(kw_vf v) {
    kw_vf whole = v * 1.44269504f + KW_TO_WHOLE, n = whole - KW_TO_WHOLE;
    kw_vf r = v - n * 0.693145752f - n * 1.42860677e-6f; /* log 2 in two parts, so that n times the first is exact */
    kw_vf q = ((0.00139269268f * r + 0.00836377405f) * r + 0.0416665487f) * r + 0.166665733f;
    q = q * r + 0.5f;
    return (kw_exp_parts){(kw_vf)(((kw_vu)whole << 23) + 0x3f800000u), q * (r * r) + r};
}
KW_INLINE kw_vf kw_exp(kw_vf v) {
    kw_exp_parts e = kw_exp_split(kw_vmin(kw_all(88.3f), kw_vmax(kw_all(-86.5f), v)));
    return e.scale * e.rest + e.scale;
}

KW_INLINE kw_vf kw_step_relu(kw_vf v) { return kw_vmax((kw_vf){0}, v); }
KW_INLINE kw_vf kw_step_clamp(kw_vf v, float a, float b) { return kw_vmin(kw_all(b), kw_vmax(kw_all(a), v)); }
KW_INLINE kw_vf kw_step_leaky_relu(kw_vf v, float a) { return kw_pick(v > 0, v, a * v); }
KW_INLINE kw_vf kw_step_hardswish(kw_vf v) { return v * (kw_step_clamp(v + 3.0f, 0.0f, 6.0f) * 0.166666667f); }
KW_INLINE kw_vf kw_step_sigmoid(kw_vf v) { return 1.0f / (1.0f + kw_exp(-v)); }
/* Below -88 the product with what is left of the sigmoid is as good as zero, but for -infinity's, which is NaN. */
KW_INLINE kw_vf kw_step_silu(kw_vf v) {
    v = kw_vmax(kw_all(-88.0f), v);
    return v / (1.0f + kw_exp(-v));
}
/* With e = exp(2|v|) - 1: e / (e + 2), which is as exact near 0. */
KW_INLINE kw_vf kw_step_tanh(kw_vf v) {
    kw_exp_parts x = kw_exp_split(kw_vmin(kw_all(20.0f), 2.0f * kw_magnitude(v)));
    kw_vf e = x.scale * x.rest + (x.scale - 1.0f);
    return (kw_vf)((kw_vu)(e / (e + 2.0f)) | ((kw_vu)v & 0x80000000u));
}
/* (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)) */
KW_INLINE kw_vf kw_step_gelu_tanh(kw_vf v) {
    v = kw_vmax(kw_all(-16.0f), v);
    return v / (1.0f + kw_exp(-1.59576912f * (v + 0.044715f * (v * v) * v)));
}

/* What a loop over vectors keeps in registers for the steps, where there are so many: kw_tables_of() stands before it. */
typedef struct kw_tables {
#if KW_LANES == 16
    kw_vf gelu[8];
#else
    char nothing[0];
#endif
} kw_tables;

/* gelu(v) = max(v, 0) - x Q(x), x = |v|, Q the normal distribution's upper tail, erfc(x / sqrt 2) / 2. Beyond 5 x Q(x) counts as 0. */
#if KW_LANES == 16
/* Q by cubics through Chebyshev's points of intervals of 1/6, off by at most 2^-22. Tables of their coefficients fit pairs of registers. */
static const float kw_gelu_table[4][32] __attribute__((aligned(64))) = {
    {0.5f,          0.500003815f,  0.500143945f,   0.501042366f,   0.503952622f,   0.510403395f,   0.521443546f,    0.536812842f,
     0.554430366f,  0.570479274f,  0.580125511f,   0.578655183f,   0.562659502f,   0.530889988f,   0.484543979f,    0.426944524f,
     0.36276716f,   0.297076166f,  0.234437332f,   0.178299546f,   0.130722702f,   0.0924231932f,  0.0630394369f,   0.041497834f,
     0.0263755266f, 0.0161925759f, 0.00960592553f, 0.00550848059f, 0.00305453525f, 0.00163840433f, 0.000850339187f, 0},
    {-0.39894253f,   -0.399042487f,  -0.400625467f,   -0.406959414f,   -0.421790153f,   -0.447490156f,    -0.483577669f,    -0.526165068f,
     -0.568539083f,  -0.602664828f,  -0.621104062f,   -0.61874187f,    -0.593837857f,   -0.548183441f,    -0.48643899f,     -0.414946347f,
     -0.340396523f,  -0.268691689f,  -0.20421119f,    -0.149537235f,   -0.10557127f,    -0.071901314f,    -0.0472686402f,   -0.0300114099f,
     -0.0184115246f, -0.0109188845f, -0.00626224931f, -0.00347463344f, -0.00186579127f, -0.000969903835f, -0.000488236721f, 0},
    {1.29702357e-05f, 0.000886643946f, 0.00693472428f, 0.0219118707f,   0.0471879244f,   0.0813872591f,   0.120761499f,    0.160136044f,
     0.194134027f,    0.218335465f,    0.230089232f,   0.228829429f,    0.215901285f,    0.194026336f,    0.166600451f,    0.137015656f,
     0.10814441f,     0.0820506886f,   0.0599222556f,  0.0421706811f,   0.0286261607f,   0.0187585168f,   0.0118746404f,   0.0072659445f,
     0.00429974589f,  0.00246192073f,  0.00136446836f, 0.000732265471f, 0.000380653393f, 0.000191722225f, 9.35857242e-05f, 0},
    {0.0663001165f,    0.0636873245f,    0.0558574311f,    0.0439763442f,
     0.0295687001f,    0.0143677667f,    2.79734795e-05f,  -0.0121186236f,
     -0.0212178268f,   -0.0269421004f,   -0.0294404645f,   -0.0292175803f,
     -0.0269798562f,   -0.0234852061f,   -0.0194235723f,   -0.0153418798f,
     -0.0116142035f,   -0.00844851136f,  -0.00591682177f,  -0.00399539201f,
     -0.00260436209f,  -0.0016402991f,   -0.000998983276f, -0.000588685798f,
     -0.000335839053f, -0.000185565776f, -9.93463909e-05f, -5.15512693e-05f,
     -2.59349963e-05f, -1.26532886e-05f, -5.98809538e-06f, 0}};
/* gcc would load them anew for each vector. */
KW_INLINE kw_tables kw_tables_of(void) {
    kw_tables tables;
#define KW_GELU_LOAD(i)                                                                                                                    \
    tables.gelu[i] = kw_load(&kw_gelu_table[(i) / 2][(i) % 2 * 16]);                                                                       \
    KW_KEEP(tables.gelu[i])
    KW_GELU_LOAD(0);
    KW_GELU_LOAD(1);
    KW_GELU_LOAD(2);
    KW_GELU_LOAD(3);
    KW_GELU_LOAD(4);
    KW_GELU_LOAD(5);
    KW_GELU_LOAD(6);
    KW_GELU_LOAD(7);
    return tables;
}
/* One of the 32 values of table number i for each lane, by the low bits of index. */
KW_INLINE kw_vf kw_table_at(const kw_tables *tables, int i, kw_vf index) {
    kw_vf v = tables->gelu[2 * i];
    __asm__("vpermt2ps %2, %1, %0" : "+v"(v) : "v"(index), "v"(tables->gelu[2 * i + 1]));
    return v;
}
KW_INLINE kw_vf kw_step_gelu(const kw_tables *tables, kw_vf v) {
    kw_vf x;
    __asm__("vrangeps $10, %2, %1, %0" : "=v"(x) : "v"(v), "v"(kw_all(31 / 6.0f))); /* the lesser by magnitude, without its sign */
    kw_vf at = x * 6.0f + KW_TO_WHOLE, q = kw_table_at(tables, 3, at) * x + kw_table_at(tables, 2, at);
    q = (q * x + kw_table_at(tables, 1, at)) * x + kw_table_at(tables, 0, at);
    return kw_vmax((kw_vf){0}, v) - x * q;
}
#else
/* Q = 1/2 - x p(s), s running from -1 to 1 as x^2 does from 0 to 25: p through Chebyshev's points, with x Q(x) brought down to 0 at 5; off
 * by at most 2^-21. */
KW_INLINE kw_tables kw_tables_of(void) { return (kw_tables){}; }
KW_INLINE kw_vf kw_step_gelu(const kw_tables *tables, kw_vf v) {
    (void)tables;
    kw_vf x = kw_vmin(kw_all(5.0f), kw_magnitude(v)), s = x * x * 0.08f - 1.0f;
    kw_vf q = s * -0.000292241893f + 0.000734437257f;
    q = (q * s - 0.000726867293f) * s + 0.00137740734f;
    q = (q * s - 0.00371436216f) * s + 0.00676337304f;
    q = (q * s - 0.0105945729f) * s + 0.016237719f;
    q = (q * s - 0.0234209858f) * s + 0.0314763859f;
    q = (q * s - 0.0404252782f) * s + 0.051517982f;
    q = (q * s - 0.070296824f) * s + 0.141363814f;
    return kw_vmax((kw_vf){0}, v) - x * (0.5f - x * q);
}
#endif

/* --- the result's type: nearest even; whole numbers to the ends of their range, NaN to 0 --- */

KW_INLINE kw_vi kw_nearest(kw_vf v) {
    kw_vi i;
    __asm__("vcvtps2dq %1, %0" : "=v"(i) : "v"(v));
    return i & (v == v);
}

#if KW_OUT == 0
typedef kw_vf kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) { return v; }
#elif KW_OUT == 1
typedef kw_vh kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) {
#if KW_STORAGE == 1 && KW_MATH != 0
    kw_vh h;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(h) : "v"(v));
    return h;
#else
    kw_vu u = (kw_vu)v, r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16, nan = (kw_vu)(v != v);
    return __builtin_convertvector((r & ~nan) | (((u >> 16) | 0x40u) & nan), kw_vh);
#endif
}
#elif KW_OUT == 2
typedef kw_vh kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) {
    kw_vh h;
    __asm__("vcvtps2ph $0, %1, %0" : "=v"(h) : "v"(v));
    return h;
}
#elif KW_OUT == 3 || KW_OUT == 4
/* A small value is rounded by adding a float whose last place is the smallest value; a larger one by adding half a unit to its bits. From
 * 61440 on bf8 is infinity, above 464 fp8 is NaN. */
#define KW_BF8 (KW_OUT == 4)
#define KW_CUT (KW_BF8 ? 21 : 20) /* bits of a float's fraction that are rounded away */
typedef kw_vb kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) {
    const float unit = KW_BF8 ? 0x1p7f : 0x1p14f;
    kw_vi u = (kw_vi)kw_magnitude(v), small = (kw_vi)((kw_vf)u + unit) - (kw_vi)kw_all(unit);
    kw_vi r = (u - ((KW_BF8 ? 112 : 120) << 23) + ((1 << (KW_CUT - 1)) - 1) + (u >> KW_CUT & 1)) >> KW_CUT;
    kw_vi most = KW_BF8 ? 0x7c - 2 * (u > 0x7f800000) : 0x7f + (kw_vi){0};
    r = (kw_vi)kw_pick(u < (KW_BF8 ? 0x38800000 : 0x3c800000), (kw_vf)small, (kw_vf)r);
    r = (kw_vi)kw_pick(u > (KW_BF8 ? 0x476fffff : 0x43e80000), (kw_vf)most, (kw_vf)r);
    return __builtin_convertvector(r | ((kw_vi)v >> 24 & 0x80), kw_vb);
}
#elif KW_OUT == 5
typedef kw_vb kw_rounded;
#if KW_LANES == 16
/* What is too small to be converted becomes the least int32, and that saturates as it should; what is too large would become it too. */
KW_INLINE kw_vi kw_whole_out(kw_vf v) {
    kw_u16 number;
    kw_vi i;
    v = kw_vmin(kw_all(127.0f), v);
    __asm__("vcmpordps %1, %1, %0" : "=Yk"(number) : "v"(v));
    __asm__("vcvtps2dq %1, %0%{%2%}%{z%}" : "=v"(i) : "v"(v), "Yk"(number));
    return i;
}
KW_INLINE kw_rounded kw_round_out(kw_vf v) {
    kw_vi i = kw_whole_out(v);
    kw_vb b;
    __asm__("vpmovsdb %1, %0" : "=v"(b) : "v"(i));
    return b;
}
#else
KW_INLINE kw_rounded kw_round_out(kw_vf v) { return __builtin_convertvector(kw_nearest(kw_step_clamp(v, -128.0f, 127.0f)), kw_vb); }
#endif
#elif KW_OUT == 7
typedef kw_vb kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) { return (kw_vb) __builtin_convertvector(kw_nearest(kw_step_clamp(v, 0.0f, 255.0f)), kw_vc); }
#else
typedef kw_vi kw_rounded;
KW_INLINE kw_rounded kw_round_out(kw_vf v) {
    if (KW_EPILOGUE_WHOLE) return (kw_vi)v; /* no step has made it a float */
    return kw_nearest(v) ^ (v >= 0x1p31f);  /* what is too large becomes 0x80000000 first */
}
#endif

KW_INLINE void kw_put_rounded(char *p, kw_rounded r, kw_lanes lanes) {
    if (kw_all_lanes(lanes)) {
        typedef kw_rounded anywhere __attribute__((aligned(1), may_alias));
        *(anywhere *)p = r;
        return;
    }
#if KW_OUT == 0 || KW_OUT == 6
    kw_store_words(p, (kw_vf)r, lanes);
#elif KW_OUT == 1 || KW_OUT == 2
    kw_store_halves(p, r, lanes);
#else
    kw_store_bytes(p, r, lanes);
#endif
}

/* --- results --- */

#define KW_STEP_FUNCTION(name) KW_STEP_##name
#define KW_STEP_relu kw_step_relu
#define KW_STEP_clamp kw_step_clamp
#define KW_STEP_leaky_relu kw_step_leaky_relu
#define KW_STEP_sigmoid kw_step_sigmoid
#define KW_STEP_tanh kw_step_tanh
#define KW_STEP_silu kw_step_silu
#define KW_STEP_gelu(v) kw_step_gelu(tables, v)
#define KW_STEP_gelu_tanh kw_step_gelu_tanh
#define KW_STEP_hardswish kw_step_hardswish
/* What a step adds whose tensor another one multiplies. Where steps are said for the sake of what they read alone, it is a number. */
KW_INLINE kw_vf kw_beta(kw_vf beta, kw_vf t) { return kw_pick(beta == 0.0f, kw_all(0.0f), beta * t); }
KW_INLINE float kw_beta_read(kw_vf beta, float t) {
    (void)beta;
    return t;
}
#define KW_BETA(beta, t) _Generic((t), kw_vf : kw_beta, default : kw_beta_read)((beta) - (kw_vf){0}, t)
#define KW_ONE_VALUE(type, number) kw_one_##type(at.args->extra[number], 0)
#define KW_ALONG_CHANNELS(type, number) kw_lanes_##type(at.args->extra[number], at.channel, at.lanes)
#define KW_OF_CHANNEL(type, number) kw_one_##type(at.args->extra[number], at.channel)
#define KW_ALONG_ROWS(type, number) kw_lanes_##type(at.args->extra[number], at.row, at.lanes)
#define KW_OF_ROW(type, number) kw_one_##type(at.args->extra[number], at.row)
#define KW_ALONG_ELEMENTS(type, number) kw_lanes_##type(at.args->extra[number], element, at.lanes)

/* What a vector has side by side, and what changes from one to the next: the channels of a pixel, or where a text says
 * KW_LANES_ARE_PIXELS the pixels of a channel. Such a text counts pixels as a place's channel, and channels as its row. */
#if defined(KW_LANES_ARE_PIXELS) && KW_LANES_ARE_PIXELS
#define KW_CHANNEL_AND_ROW(along, across) across, along
#else
#define KW_CHANNEL_AND_ROW(along, across) along, across
#endif
#define KW_TILE_STEPS(...) KW_EPILOGUE_STEPS(__VA_ARGS__) /* of which one argument is two */

#include "prelude/sums_cpu.h"

/* A vector on its way to p, whose lanes are channels; pixels. */
KW_INLINE kw_vf kw_result_of(const kw_tables *tables, const void *p, kw_vf v, kw_place at) {
    kw_i64 element __attribute__((unused)) = kw_place_element(at, p);
    (void)tables;
    v = kw_sums_of_channels(v, at);
    KW_TILE_STEPS(v, KW_STEP_FUNCTION, KW_ONE_VALUE, KW_CHANNEL_AND_ROW(KW_ALONG_CHANNELS, KW_OF_ROW), KW_ALONG_ELEMENTS)
    return v;
}
KW_INLINE kw_vf kw_pixels_of(const kw_tables *tables, const void *p, kw_vf v, kw_place at) {
    kw_i64 element __attribute__((unused)) = kw_place_element(at, p);
    (void)tables;
    v = kw_sums_of_pixels(v, at);
    KW_EPILOGUE_STEPS(v, KW_STEP_FUNCTION, KW_ONE_VALUE, KW_OF_CHANNEL, KW_ALONG_ROWS, KW_ALONG_ELEMENTS)
    return v;
}

KW_INLINE void kw_result_by(const kw_tables *tables, void *p, kw_vf v, kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    kw_put_rounded(p, kw_round_out(kw_result_of(tables, p, v, at)), at.lanes);
}
KW_INLINE void kw_pixels_by(const kw_tables *tables, void *p, kw_vf v, kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    kw_put_rounded(p, kw_round_out(kw_pixels_of(tables, p, v, at)), at.lanes);
}
/* What vectors of the same channels have in common: tensors of one element or along channels as vectors, where the others begin, from an
 * element of the result if theirs are as large. The compiler cannot keep these itself, for each store could change them. */
typedef struct kw_held {
    kw_vf vector[KW_EXTRAS];
    const char *tensor[KW_EXTRAS], *result;
    kw_i64 from_result[KW_EXTRAS];
#if KW_W_ZERO
    kw_vi zeros;        /* w's zero points of the channels */
    const char *x_sums; /* of the first channel's group */
    kw_i64 x_step;      /* bytes from a row's to the next one's */
#endif
} kw_held;

#define KW_HOLD_FUNCTION(name) KW_HOLD_STEP
#define KW_HOLD_STEP(v, ...) (v)
#define KW_HOLD_ONE(type, number) (held.vector[number] = kw_one_##type(at.args->extra[number], 0))
#define KW_HOLD_CHANNELS(type, number) (held.vector[number] = kw_lanes_##type(at.args->extra[number], at.channel, at.lanes))
#define KW_HOLD_ROW(type, number) (held.tensor[number] = at.args->extra[number], 0.0f)
#define KW_HOLD_ELEMENTS(type, number)                                                                                                     \
    (held.tensor[number] = at.args->extra[number], held.from_result[number] = at.args->extra[number] - at.result, 0.0f)
KW_INLINE kw_held kw_held_of_lanes(kw_place at) {
    kw_held held;
    kw_vf v = {0};
    held.result = at.result;
#if KW_W_ZERO
    held.zeros = KW_W_ZERO_ONE ? kw_w_zero(at) - (kw_vi){0} : KW_W_ZERO_WORD(kw_whole_)(at.args->extra[KW_W_ZERO_AT], at.channel, at.lanes);
    kw_i64 groups = kw_x_sum_groups(at);
    held.x_sums = at.args->extra[KW_X_SUMS_AT] + 4 * (groups > 1 ? at.channel / at.args->k : 0);
    held.x_step = 4 * groups;
#endif
    KW_TILE_STEPS(v, KW_HOLD_FUNCTION, KW_HOLD_ONE, KW_CHANNEL_AND_ROW(KW_HOLD_CHANNELS, KW_HOLD_ROW), KW_HOLD_ELEMENTS)
    (void)v;
    return held;
}
KW_INLINE kw_held kw_held_of(kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    return kw_held_of_lanes(at);
}

#define KW_HELD_VECTOR(type, number) (held->vector[number])
#define KW_HELD_ROW(type, number) kw_one_##type(held->tensor[number], at.row)
#define KW_HELD_ELEMENTS(type, number)                                                                                                     \
    (KW_BYTES_OF_##type == KW_OUT_BYTES                                                                                                    \
         ? kw_lanes_##type((const char *)p + held->from_result[number], 0, at.lanes)                                                       \
         : kw_lanes_##type(held->tensor[number], (const kw_out *)p - (const kw_out *)held->result, at.lanes))
/* sums: kw_sums_of_channels or another; a place that is handed on to a function is copied in memory, and that takes long. */
#define KW_STORE_HELD_SUMS(sums)                                                                                                           \
    (void)tables, (void)held;                                                                                                              \
    v = sums;                                                                                                                              \
    KW_TILE_STEPS(v, KW_STEP_FUNCTION, KW_HELD_VECTOR, KW_CHANNEL_AND_ROW(KW_HELD_VECTOR, KW_HELD_ROW), KW_HELD_ELEMENTS)                  \
    kw_put_rounded(p, kw_round_out(v), at.lanes)
KW_INLINE void kw_result_held_lanes(const kw_tables *tables, const kw_held *held, void *p, kw_vf v, kw_place at) {
    KW_STORE_HELD_SUMS(kw_sums_of_channels(v, at));
}
KW_INLINE void kw_result_held(const kw_tables *tables, const kw_held *held, void *p, kw_vf v, kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    KW_STORE_HELD_SUMS(kw_sums_of_channels(v, at));
}
/* For tiles, whose own sums fill the registers. Channels are of one group, which kw_one_group() tells of so many: where w has zero points that takes a
 * fifth of the time of kw_result_held, which knows both. */
#if KW_W_ZERO
#define kw_one_group(at, channels) (kw_x_sum_groups(at) == 1 || ((at).channel + (channels)-1) / (at).args->k == (at).channel / (at).args->k)
#define kw_sums_held(held, v, at)                                                                                                          \
    kw_sums_less(v, (held)->zeros *(kw_whole_one_int32((held)->x_sums + (at).row * (held)->x_step, 0) - (kw_vi){0}))
#else
#define kw_one_group(at, channels) 1
#define kw_sums_held(held, v, at) kw_sums(v)
#endif
KW_INLINE void kw_result_of_tile(const kw_tables *tables, const kw_held *held, void *p, kw_vf v, kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    KW_STORE_HELD_SUMS(kw_sums_held(held, v, at));
}
#if KW_W_ZERO
/* The same where each lane may be of a group of its own, which is so many bytes behind the first one's. What a loop puts together passes memory. */
KW_INLINE kw_vi kw_groups_of(kw_place at) {
    kw_vi groups;
    for (int lane = 0; lane < KW_LANES; lane++)
        groups[lane] = 4 * (int)((at.channel + lane) / at.args->k - at.channel / at.args->k);
    return groups;
}
KW_INLINE kw_vi kw_gathered(const char *from, kw_vi bytes) {
    kw_vi words;
#if KW_LANES == 16
    kw_u16 all = 0xffff;
    __asm__("vpgatherdd (%2,%3,1), %0%{%1%}" : "=&v"(words), "+Yk"(all) : "r"(from), "v"(bytes) : "memory");
#else
    kw_vi all = ~(kw_vi){0};
    __asm__("vpgatherdd %1, (%2,%3,1), %0" : "=&x"(words), "+x"(all) : "r"(from), "x"(bytes) : "memory");
#endif
    return words;
}
KW_INLINE void kw_result_of_groups(const kw_tables *tables, const kw_held *held, const kw_vi *groups, void *p, kw_vf v, kw_place at) {
    at.lanes = (kw_lanes){0, KW_LANES};
    KW_STORE_HELD_SUMS(kw_sums_less(v, held->zeros * kw_gathered(held->x_sums + at.row * held->x_step, *groups)));
}
#endif
KW_INLINE void kw_result_x(void *p, kw_vf v, kw_place at) {
    kw_tables tables = kw_tables_of();
    kw_result_by(&tables, p, v, at);
}
KW_INLINE void kw_pixels_x(void *p, kw_vf v, kw_place at) {
    kw_tables tables = kw_tables_of();
    kw_pixels_by(&tables, p, v, at);
}
/* p is that of lane 0, whether it is one of at.lanes or not. Apart, because they are long and rare. */
static __attribute__((noinline, unused)) void kw_result_lanes(void *p, kw_vf v, kw_place at) {
    kw_tables tables = kw_tables_of();
    if (at.lanes.first < at.lanes.end) kw_put_rounded(p, kw_round_out(kw_result_of(&tables, p, v, at)), at.lanes);
}
static __attribute__((noinline, unused)) void kw_pixels_lanes(void *p, kw_vf v, kw_place at) {
    kw_tables tables = kw_tables_of();
    if (at.lanes.first < at.lanes.end) kw_put_rounded(p, kw_round_out(kw_pixels_of(&tables, p, v, at)), at.lanes);
}

/* Asks for the elements that a vector stored to p will read. */
#define KW_AHEAD_FUNCTION(name) KW_NO_STEP
#define KW_NO_STEP(v, ...) (v)
#define KW_AHEAD_NOTHING(type, number) 0
#define KW_AHEAD_ELEMENTS(type, number) (__builtin_prefetch(at.args->extra[number] + KW_BYTES_OF_##type * element), 0)
KW_INLINE void kw_result_ahead(const void *p, kw_place at) {
    kw_i64 element __attribute__((unused)) = kw_place_element(at, p);
    float v = 0;
    KW_EPILOGUE_STEPS(v, KW_AHEAD_FUNCTION, KW_AHEAD_NOTHING, KW_AHEAD_NOTHING, KW_AHEAD_NOTHING, KW_AHEAD_ELEMENTS)
    (void)v;
}

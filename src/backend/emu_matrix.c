/* emu_matrix.c: matrix instructions as the vendors document them: which lane's register holds which element. Written from NVIDIA's PTX manual
 * (mma fragments) and AMD's instruction set manuals (MFMA, WMMA), not from the fragments of the kernel text, so that a wrong lane is seen.
 *
 * A tile whose k is deeper than the hardware's instruction is several instructions; both operands are divided alike, so that which of them
 * takes which k does not matter to the result. Products are summed in the order of k, from the accumulator on; hardware has its own order. */
#include "backend/emu.h"

#include <string.h>

enum { FP32, BF16, FP16, FP8, BF8, INT8 };

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float as_float(int32_t value) {
    return from_bits((uint32_t)value);
}

static uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exponent and fraction are put into fp32's place and the exponent is mended by a product; both types keep infinity and NaN. */
static float from_fp16(uint32_t h) {
    uint32_t magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
    float value = magnitude >= 0x7c00 ? from_bits(magnitude << 13 | 0x7f800000) : from_bits(magnitude << 13) * 0x1p112f;
    return from_bits(to_bits(value) | sign);
}

static float from_fp8(uint32_t b) {
    uint32_t magnitude = b & 0x7f, sign = (b & 0x80) << 24;
    float value = magnitude == 0x7f ? from_bits(0x7fc00000) : from_bits(magnitude << 20) * 0x1p120f;
    return from_bits(to_bits(value) | sign);
}

/* Element number e of a lane's registers, lowest bits first. */
static inline __attribute__((always_inline)) float element(int type, const uint32_t *w, int e) {
    switch (type) {
    case BF16:
        return from_bits(e % 2 ? w[e / 2] & 0xffff0000 : w[e / 2] << 16);
    case FP16:
        return from_fp16(w[e / 2] >> e % 2 * 16 & 0xffff);
    case FP8:
        return from_fp8(w[e / 4] >> e % 4 * 8 & 0xff);
    case BF8:
        return from_fp16((w[e / 4] >> e % 4 * 8 & 0xff) << 8);
    case INT8:
        return as_float((int8_t)(w[e / 4] >> e % 4 * 8 & 0xff));
    default:
        return from_bits(w[e]);
    }
}

static int per_word(int type) {
    return type == FP32 ? 1 : type == BF16 || type == FP16 ? 2 : 4;
}

/* --- who holds what: element e of lane l is row (A) or column (B) and k --- */

typedef struct spot {
    int line, k;
} spot;

/* A lane has k elements one after the other of one line; lines go round the lanes. */
static inline spot mfma_spot(const kw_emu_inst *inst, int lines, int l, int e) {
    int each = inst->k * lines / 64;
    return (spot){l % lines, l / lines * each + e};
}

/* PTX, "Matrix Fragments for mma.m16n8k16" and its kin: groupID = l / 4, threadID_in_group = l % 4. A's registers go first down by 8 rows, then
 * along half of k; B's along half of k. */
static inline spot mma_spot(const kw_emu_inst *inst, bool is_a, int l, int e, int words) {
    int each = per_word(inst->type), word = e / each, group = l / 4, member = l % 4;
    int half = is_a ? word / 2 : word, halves = is_a ? words / 2 : words;
    return (spot){is_a ? group + word % 2 * 8 : group, member * each + e % each + half * (inst->k / halves)};
}

static inline spot wmma12_spot(const kw_emu_inst *inst, int l, int e) {
    return (spot){l % 16, l / 16 * (inst->k / 2) + e};
}

/* A into a[line][k], B into b[k][line]. */
static inline __attribute__((always_inline)) void gather(int type, float *to, const kw_emu_inst *inst, const kw_emu_lane *lanes,
                                                         bool is_a) {
    int lines = is_a ? inst->m : inst->n, count = inst->kind == KW_EMU_MFMA || inst->kind == KW_EMU_WMMA12
                                                      ? inst->k * lines / (inst->kind == KW_EMU_MFMA ? 64 : 32)
                                                  : inst->kind == KW_EMU_WMMA11 ? inst->k
                                                                                : inst->k * lines / 32;
    int wave = inst->kind == KW_EMU_MFMA ? 64 : 32, words = count / per_word(type);
    for (int l = 0; l < wave; l++) {
        const uint32_t *w = is_a ? lanes[l].a : lanes[l].b;
        for (int e = 0; e < count; e++) {
            spot s = inst->kind == KW_EMU_MFMA     ? mfma_spot(inst, lines, l, e)
                     : inst->kind == KW_EMU_MMA    ? mma_spot(inst, is_a, l, e, words)
                     : inst->kind == KW_EMU_WMMA12 ? wmma12_spot(inst, l, e)
                                                   : (spot){l % 16, e};
            to[is_a ? s.line * inst->k + s.k : s.k * inst->n + s.line] = element(type, w, e);
        }
    }
}

static void gather_type(float *to, const kw_emu_inst *inst, const kw_emu_lane *lanes, bool is_a) {
    switch (inst->type) {
    case BF16:
        gather(BF16, to, inst, lanes, is_a);
        break;
    case FP16:
        gather(FP16, to, inst, lanes, is_a);
        break;
    case FP8:
        gather(FP8, to, inst, lanes, is_a);
        break;
    case BF8:
        gather(BF8, to, inst, lanes, is_a);
        break;
    case INT8:
        gather(INT8, to, inst, lanes, is_a);
        break;
    default:
        gather(FP32, to, inst, lanes, is_a);
    }
}

/* Row and column of value e of lane l of the accumulator, as an index of c[m][n]. */
static int acc_spot(const kw_emu_inst *inst, int l, int e) {
    switch (inst->kind) {
    case KW_EMU_MFMA:
        return inst->m == 32 ? (8 * (e / 4) + 4 * (l / 32) + e % 4) * inst->n + l % 32 : (4 * (l / 16) + e) * inst->n + l % 16;
    case KW_EMU_MMA:
        return (l / 4 + 8 * (e / 2)) * inst->n + l % 4 * 2 + e % 2;
    case KW_EMU_WMMA11:
        return (2 * e + l / 16) * inst->n + l % 16;
    default:
        return (8 * (l / 16) + e) * inst->n + l % 16;
    }
}

static void move_acc(kw_emu_tile *tile, const kw_emu_inst *inst, const kw_emu_lane *lanes, bool in) {
    int wave = inst->kind == KW_EMU_MFMA ? 64 : 32, count = inst->m * inst->n / wave;
    for (int l = 0; l < wave; l++) {
        float *acc = lanes[l].acc;
        for (int e = 0; e < count; e++) {
            float *c = &tile->c[acc_spot(inst, l, e)];
            memcpy(in ? c : acc + e, in ? acc + e : c, sizeof *c);
        }
    }
}

typedef float floats __attribute__((vector_size(32), may_alias));
typedef int32_t ints __attribute__((vector_size(32), may_alias));

/* c += a b, n = 8 vectors. */
static inline __attribute__((always_inline)) void multiply_floats(kw_emu_tile *tile, const kw_emu_inst *inst, int vectors) {
    for (int i = 0; i < inst->m; i++) {
        floats *row = (floats *)(tile->c + i * 8 * vectors), sum[4];
        for (int v = 0; v < vectors; v++) {
            sum[v] = row[v];
        }
        for (int k = 0; k < inst->k; k++) {
            const floats *b = (const floats *)(tile->b + k * 8 * vectors);
            for (int v = 0; v < vectors; v++) {
                sum[v] += tile->a[i * inst->k + k] * b[v];
            }
        }
        for (int v = 0; v < vectors; v++) {
            row[v] = sum[v];
        }
    }
}

static inline __attribute__((always_inline)) void multiply_ints(kw_emu_tile *tile, const kw_emu_inst *inst, int vectors) {
    const ints *b = (const ints *)tile->b;
    for (int i = 0; i < inst->m; i++) {
        ints *row = (ints *)(tile->c + i * 8 * vectors);
        for (int k = 0; k < inst->k; k++) {
            int32_t a;
            memcpy(&a, &tile->a[i * inst->k + k], sizeof a);
            for (int v = 0; v < vectors; v++) {
                row[v] += a * b[k * vectors + v];
            }
        }
    }
}

static inline __attribute__((always_inline)) void multiply(kw_emu_tile *tile, const kw_emu_inst *inst, int vectors) {
    if (inst->type == INT8) {
        multiply_ints(tile, inst, vectors);
    } else {
        multiply_floats(tile, inst, vectors);
    }
}

static bool known(const kw_emu_inst *inst) {
    bool deep = inst->k >= 1 && inst->k <= 256 && inst->type >= FP32 && inst->type <= INT8;
    switch (inst->kind) {
    case KW_EMU_MFMA:
        return deep && inst->m == inst->n && (inst->m == 32 || inst->m == 16);
    case KW_EMU_MMA:
        return deep && inst->m == 16 && inst->n == 8 && inst->type != FP32;
    case KW_EMU_WMMA11:
    case KW_EMU_WMMA12:
        return deep && inst->m == 16 && inst->n == 16;
    default:
        return false;
    }
}

bool kw_emu_matrix(kw_emu_tile *tile, const kw_emu_inst *inst, const kw_emu_lane lanes[]) {
    if (!known(inst)) {
        return false;
    }
    gather_type(tile->a, inst, lanes, true);
    gather_type(tile->b, inst, lanes, false);
    move_acc(tile, inst, lanes, true);
    switch (inst->n) {
    case 8:
        multiply(tile, inst, 1);
        break;
    case 16:
        multiply(tile, inst, 2);
        break;
    default:
        multiply(tile, inst, 4);
    }
    move_acc(tile, inst, lanes, false);
    return true;
}

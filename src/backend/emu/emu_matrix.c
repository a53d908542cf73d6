/* emu_matrix.c: matrix instructions as the vendors document them: which lane's register holds which element. Written from NVIDIA's PTX
 * manual (mma fragments) and AMD's instruction set manuals (MFMA, WMMA), not from the fragments of the kernel text, so that a wrong lane
 * is seen.
 *
 * A tile whose k is deeper than the hardware's instruction is several instructions; both operands are divided alike, so that which of them
 * takes which k does not matter to the result. Products are summed in the order of k, from the accumulator on; hardware has its own
 * order. */
#include "backend/emu/emu.h"
#include "backend/emu/emu_element.h"

#include <string.h>

static inline int per_word(int type) {
    return type == FP32 || type == TF32 ? 1 : type == BF16 || type == FP16 ? 2 : 4;
}

/* --- who holds what: element e of lane l is row (A) or column (B) and k --- */

typedef struct coord {
    int line, k;
} coord;

/* A lane has k elements one after the other of one line; lines go round the lanes. */
static inline coord mfma_coord(const kw_emu_inst *inst, int lines, int l, int e) {
    int each = inst->k * lines / 64;
    return (coord){l % lines, l / lines * each + e};
}

/* PTX, "Matrix Fragments for mma.m16n8k16" and its kin: groupID = l / 4, threadID_in_group = l % 4. A's registers go first down by 8
 * rows, then along half of k; B's along half of k. */
static inline coord mma_coord(const kw_emu_inst *inst, bool is_a, int l, int e, int words) {
    int each = per_word(inst->type), word = e / each, group = l / 4, member = l % 4;
    int half = is_a ? word / 2 : word, halves = is_a ? words / 2 : words;
    return (coord){is_a ? group + word % 2 * 8 : group, member * each + e % each + half * (inst->k / halves)};
}

static inline coord wmma12_coord(const kw_emu_inst *inst, int l, int e) {
    return (coord){l % 16, l / 16 * (inst->k / 2) + e};
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

static coord element_coord(const kw_emu_inst *inst, bool is_a, int l, int e, int words) {
    switch (inst->kind) {
    case KW_EMU_MFMA:
        return mfma_coord(inst, is_a ? inst->m : inst->n, l, e);
    case KW_EMU_MMA:
        return mma_coord(inst, is_a, l, e, words);
    case KW_EMU_WMMA12:
        return wmma12_coord(inst, l, e);
    default:
        return (coord){l % 16, e};
    }
}

static bool known_instruction(const kw_emu_inst *inst) {
    bool tf32 = inst->type == TF32, mixed = inst->type == UINT8;
    bool deep = inst->k >= 1 && ((inst->type >= FP32 && inst->type <= INT8) || mixed || tf32);
    switch (inst->kind) {
    case KW_EMU_MFMA:
        return deep && !tf32 && !mixed && inst->m == inst->n && (inst->m == 32 || inst->m == 16);
    case KW_EMU_MMA:
        return deep && inst->m == 16 && inst->n == 8 && inst->type != FP32 && (!tf32 || inst->k == 4 || inst->k == 8);
    case KW_EMU_WMMA11:
    case KW_EMU_WMMA12:
        return deep && !tf32 && inst->m == 16 && inst->n == 16;
    default:
        return false;
    }
}

/* Where each word of each lane goes: A into a[line][k], B into b[k][line]. Elements of a word follow each other along k. */
static bool fill_map(uint16_t map[KW_EMU_WORDS][64], const kw_emu_inst *inst, bool is_a, int wave, int words) {
    int each = per_word(inst->type);
    if (words < 1 || words > KW_EMU_WORDS) {
        return false;
    }
    for (int w = 0; w < words; w++) {
        for (int l = 0; l < wave; l++) {
            coord s = element_coord(inst, is_a, l, w * each, words);
            map[w][l] = (uint16_t)(is_a ? s.line * inst->k + s.k : s.k * inst->n + s.line);
        }
    }
    return true;
}

/* The maps of an instruction, which a kernel uses again and again. false: there is no such instruction. */
static bool fill_tile_maps(kw_emu_tile *tile, const kw_emu_inst *inst) {
    int wave = inst->kind == KW_EMU_MFMA ? 64 : 32, halves = inst->kind == KW_EMU_WMMA11 ? 2 : 1;
    tile->inst = NULL;
    if (!known_instruction(inst) || inst->m * inst->k > KW_EMU_TILE_MAX) {
        return false;
    }
    tile->wave = wave;
    tile->a_words = inst->m * inst->k * halves / wave / per_word(inst->type);
    tile->b_words = inst->n * inst->k * halves / wave / per_word(inst->type);
    tile->sums = inst->m * inst->n / wave;
    if (!fill_map(tile->a_map, inst, true, wave, tile->a_words) || !fill_map(tile->b_map, inst, false, wave, tile->b_words)) {
        return false;
    }
    for (int e = 0; e < tile->sums; e++) {
        for (int l = 0; l < wave; l++) {
            tile->c_map[e][l] = (uint16_t)acc_spot(inst, l, e);
        }
    }
    tile->inst = inst;
    return true;
}

/* --- moving registers --- */

static inline __attribute__((always_inline)) void spread(int type, float *to, uint32_t w, int step) {
    int count = per_word(type), bits = 32 / count;
    for (int e = 0; e < count; e++) {
        to[e * step] = kw_emu_element(type, count == 1 ? w : w >> bits * e & ((1u << bits) - 1));
    }
}

static inline __attribute__((always_inline)) void gather(int type, kw_emu_tile *tile, const kw_emu_lane *lanes) {
    for (int l = 0; l < tile->wave; l++) {
        const uint32_t *a = lanes[l].a, *b = lanes[l].b;
        for (int w = 0; w < tile->a_words; w++) {
            spread(type, tile->a + tile->a_map[w][l], a[w], 1);
        }
        for (int w = 0; w < tile->b_words; w++) {
            spread(type == UINT8 ? INT8 : type, tile->b + tile->b_map[w][l], b[w], tile->inst->n);
        }
    }
}

static void gather_type(kw_emu_tile *tile, const kw_emu_lane *lanes) {
    switch (tile->inst->type) {
    case BF16:
        gather(BF16, tile, lanes);
        break;
    case FP16:
        gather(FP16, tile, lanes);
        break;
    case FP8:
        gather(FP8, tile, lanes);
        break;
    case BF8:
        gather(BF8, tile, lanes);
        break;
    case INT8:
        gather(INT8, tile, lanes);
        break;
    case UINT8:
        gather(UINT8, tile, lanes);
        break;
    case TF32:
        gather(TF32, tile, lanes);
        break;
    default:
        gather(FP32, tile, lanes);
    }
}

static void gather_acc(kw_emu_tile *tile, const kw_emu_lane *lanes) {
    for (int l = 0; l < tile->wave; l++) {
        const float *acc = lanes[l].acc;
        for (int e = 0; e < tile->sums; e++) {
            tile->c[tile->c_map[e][l]] = acc[e];
        }
    }
}

static void scatter_acc(const kw_emu_tile *tile, const kw_emu_lane *lanes) {
    for (int l = 0; l < tile->wave; l++) {
        float *acc = lanes[l].acc;
        for (int e = 0; e < tile->sums; e++) {
            acc[e] = tile->c[tile->c_map[e][l]];
        }
    }
}

/* --- the product --- */

typedef float floats __attribute__((vector_size(32), may_alias));
typedef int32_t ints __attribute__((vector_size(32), may_alias));

/* c += a b, n = 8 vectors. */
static inline __attribute__((always_inline)) void multiply_floats(kw_emu_tile *tile, int vectors) {
    const kw_emu_inst *inst = tile->inst;
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

static inline __attribute__((always_inline)) void multiply_ints(kw_emu_tile *tile, int vectors) {
    const kw_emu_inst *inst = tile->inst;
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

static inline __attribute__((always_inline)) void multiply(kw_emu_tile *tile) {
    bool whole = tile->inst->type == INT8 || tile->inst->type == UINT8;
    switch (tile->inst->n) {
    case 8:
        whole ? multiply_ints(tile, 1) : multiply_floats(tile, 1);
        break;
    case 16:
        whole ? multiply_ints(tile, 2) : multiply_floats(tile, 2);
        break;
    default:
        whole ? multiply_ints(tile, 4) : multiply_floats(tile, 4);
    }
}

/* The same operations in the same order, and so the same result, eight at a time. */
#ifdef __x86_64__
__attribute__((target("avx2"))) static void multiply_wide(kw_emu_tile *tile) {
    multiply(tile);
}

static bool is_wide(void) {
    return __builtin_cpu_supports("avx2");
}
#else
static void multiply_wide(kw_emu_tile *tile) {
    multiply(tile);
}

static bool is_wide(void) {
    return true;
}
#endif

static void multiply_narrow(kw_emu_tile *tile) {
    multiply(tile);
}

/* PTX, "ldmatrix". */
void kw_emu_matrix_read(int count, bool turned, const kw_emu_lane lanes[]) {
    enum { LANES = 32, ROWS = 8 };
    for (int lane = 0; lane < LANES; lane++) {
        for (int i = 0; i < count; i++) {
            uint16_t pair[2];
            for (int e = 0; e < 2; e++) {
                int row = turned ? 2 * (lane % 4) + e : lane / 4, element = turned ? lane / 4 : 2 * (lane % 4) + e;
                memcpy(&pair[e], (const char *)lanes[i * ROWS + row].a + 2 * element, sizeof *pair);
            }
            memcpy((char *)lanes[lane].acc + sizeof pair * (size_t)i, pair, sizeof pair);
        }
    }
}

/* "stmatrix". */
void kw_emu_matrix_write(bool turned, const kw_emu_lane lanes[]) {
    enum { MATRICES = 4, ROWS = 8, WORDS = 4, WORD = 4, HALF = 2 };
    for (int i = 0; i < MATRICES; i++) {
        for (int row = 0; row < ROWS; row++) {
            for (int word = 0; word < WORDS; word++) {
                const char *from = (const char *)lanes[row * WORDS + word].a + WORD * i;
                for (int e = 0; e < 2; e++) {
                    int to_row = turned ? 2 * word + e : row, element = turned ? row : 2 * word + e;
                    memcpy((char *)lanes[i * ROWS + to_row].acc + HALF * element, from + HALF * e, HALF);
                }
            }
        }
    }
}

bool kw_emu_matrix(kw_emu_tile *tile, const kw_emu_inst *inst, const kw_emu_lane lanes[]) {
    if (tile->inst != inst && !fill_tile_maps(tile, inst)) {
        return false;
    }
    gather_type(tile, lanes);
    gather_acc(tile, lanes);
    if (is_wide()) {
        multiply_wide(tile);
    } else {
        multiply_narrow(tile);
    }
    scatter_acc(tile, lanes);
    return true;
}

/* fragment.h: who holds what of a matrix instruction's operands and result. A lane holds, of each of its rows (columns of the second
 * operand), KW_KPL elements that follow each other along the depth. Where a share of the depth lies in the instruction does not matter as
 * long as both operands agree, because products are summed over it: lane group 0 takes the first KW_KPL elements, group 1 the next, and so
 * on. Registers are 32-bit words, elements packed low to high.
 *
 *   kw_frag_group(lane)            its share of the depth
 *   kw_frag_row_a, _b(lane, i)     its i-th row (column) of KW_A_ROWS (KW_B_ROWS)
 *   kw_frag_word(rows, i, j)       the register of word j of the i-th of so many rows
 *   kw_acc_row, _col(lane, e)      where sum e of the lane stands in the result
 * kw_mma itself is in mma_ptx.h, mma_amd.h, mma_emu.h. */
#ifndef KW_FRAGMENT_H
#define KW_FRAGMENT_H

#include "gpu/lib/access.h"
#include "gpu/lib/resources.h"

/* The operands, wherever a function serves both. */
#define KW_A 0
#define KW_B 1

#define KW_BULK (KW_PIPE == KW_PIPE_TMA)

/* A thread's number among those that share an instruction. */
KW_DEVICE int kw_acc_lane(void) { return KW_WGMMA ? kw_thread() % 128 : kw_lane(); }

#if KW_WGMMA /* NVIDIA, four waves with 16 rows each; operands stay in shared memory */
KW_DEVICE int kw_acc_row(int lane, int e) { return 16 * (lane / 32) + lane % 32 / 4 + 8 * (e / 2 % 2); }
KW_DEVICE int kw_acc_col(int lane, int e) { return 8 * (e / 4) + 2 * (lane % 4) + e % 2; }

#elif KW_HAS_MFMA /* AMD, a wave of 64: a lane's row is l % M; sums come in blocks of 4 rows */
KW_DEVICE int kw_frag_group(int lane) { return lane / KW_INST_M; }
KW_DEVICE int kw_frag_row_a(int lane, int i) { return lane % KW_INST_M; }
KW_DEVICE int kw_frag_row_b(int lane, int i) { return lane % KW_INST_N; }
KW_DEVICE int kw_frag_word(int rows, int i, int j) { return j; }
KW_DEVICE int kw_acc_row(int lane, int e) { return KW_INST_M == 32 ? 8 * (e / 4) + 4 * (lane / 32) + e % 4 : 4 * (lane / 16) + e; }
KW_DEVICE int kw_acc_col(int lane, int e) { return lane % KW_INST_N; }

#elif KW_HAS_WMMA11 /* AMD, a wave of 32: both halves hold the same */
KW_DEVICE int kw_frag_group(int lane) { return 0; }
KW_DEVICE int kw_frag_row_a(int lane, int i) { return lane % 16; }
KW_DEVICE int kw_frag_row_b(int lane, int i) { return lane % 16; }
KW_DEVICE int kw_frag_word(int rows, int i, int j) { return j; }
KW_DEVICE int kw_acc_row(int lane, int e) { return 2 * e + lane / 16; }
KW_DEVICE int kw_acc_col(int lane, int e) { return lane % 16; }

#elif KW_HAS_WMMA12 || KW_HAS_WMMA1250 /* AMD, a wave of 32: the halves hold one half of the depth each */
KW_DEVICE int kw_frag_group(int lane) { return lane / 16; }
KW_DEVICE int kw_frag_row_a(int lane, int i) { return lane % 16; }
KW_DEVICE int kw_frag_row_b(int lane, int i) { return lane % 16; }
KW_DEVICE int kw_frag_word(int rows, int i, int j) { return j; }
KW_DEVICE int kw_acc_row(int lane, int e) { return 8 * (lane / 16) + e; }
KW_DEVICE int kw_acc_col(int lane, int e) { return lane % 16; }

#elif KW_SCALAR /* NVIDIA without a tensor core: each lane multiplies two rows by two columns, all of the depth */
KW_DEVICE int kw_frag_group(int lane) { return 0; }
KW_DEVICE int kw_frag_row_a(int lane, int i) { return lane / 4 + 8 * i; }
KW_DEVICE int kw_frag_row_b(int lane, int i) { return 2 * (lane % 4) + i; }
KW_DEVICE int kw_frag_word(int rows, int i, int j) { return i * KW_INST_K + j; }
KW_DEVICE int kw_acc_row(int lane, int e) { return lane / 4 + 8 * (e / 2); }
KW_DEVICE int kw_acc_col(int lane, int e) { return 2 * (lane % 4) + e % 2; }

#else /* NVIDIA mma.sync 16x8xK: four lanes share a row; the words of a lane's two rows alternate */
KW_DEVICE int kw_frag_group(int lane) { return lane % 4; }
KW_DEVICE int kw_frag_row_a(int lane, int i) { return lane / 4 + 8 * i; }
KW_DEVICE int kw_frag_row_b(int lane, int i) { return lane / 4; }
KW_DEVICE int kw_frag_word(int rows, int i, int j) { return i + rows * j; }
KW_DEVICE int kw_acc_row(int lane, int e) { return lane / 4 + 8 * (e / 2); }
KW_DEVICE int kw_acc_col(int lane, int e) { return 2 * (lane % 4) + e % 2; }
#endif

typedef struct kw_acc {
    kw_sum e[KW_ACC_N];
} kw_acc;

#if !KW_WGMMA
typedef struct kw_frag_a {
    kw_u32 w[KW_A_WORDS];
} kw_frag_a;

typedef struct kw_frag_b {
    kw_u32 w[KW_B_WORDS];
} kw_frag_b;
#endif

#endif

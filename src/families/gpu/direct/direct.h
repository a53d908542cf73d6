/* direct.h: a config of conv.direct_block read, and what an architecture makes of it, by the counts of kernels/gpu/direct/args.h. */
#ifndef KW_FAMILIES_GPU_DIRECT_H
#define KW_FAMILIES_GPU_DIRECT_H

#include "config/family.h"
#include "config/arch/gpu_arch.h"

#define KW_DIRECT_AXES(X)                                                                                                                  \
    X(channels, NULL, 4, 32, "grouped: channels of a group, in and out; dense: source channels of a slice")                                \
    X(impl, "grouped dense", 0, 1, "grouped: whole groups side by side; dense: one group, its source channels in slices")                  \
    X(tile_h, NULL, 1, 128, "rows of the result that a block computes")                                                                    \
    X(tile_w, NULL, 1, 128, "columns of the result that a block computes")                                                                 \
    X(stride, NULL, 1, 2, "stride along both axes")                                                                                        \
    X(waves_c, NULL, 1, 16, "waves of a block along the channels: of the result (grouped), of the source (dense)")                         \
    X(waves_q, NULL, 1, 16, "waves of a block that share its pixels")                                                                      \
    X(slices, NULL, 1, 16,                                                                                                                 \
      "dense: slices of the source's channels that a wave has; grouped: 1; conv_bwd_weight: tiles that a block holds")                     \
    X(cols, NULL, 8, 64, "channels of the result that a wave computes; grouped: 64, of conv_bwd_weight 16")                                \
    X(inst_k, NULL, 8, 32, "depth of the matrix instruction, which has 16 pixels and 16 channels (NVIDIA: 8)")                             \
    X(swizzle, "none xor cyclic", 0, 2, "how pieces of a pixel change places in shared memory, so that pixels meet different banks")       \
    X(store, "registers lds", 0, 1, "lds: results pass shared memory and are stored in vectors; registers: each thread stores its own")    \
    X(vec, NULL, 1, 16, "channels that a thread moves together")                                                                           \
    X(pack, "stage lds", 0, 1,                                                                                                             \
      "stage: a first stage brings weights into lanes' order; lds: a block brings its own to shared memory as they lie")                   \
    X(peers, NULL, 1, 8,                                                                                                                   \
      "conv_bwd_weight: blocks of a cluster, which add their sums through each other's shared memory; 1: a second stage adds all blocks'")

/* side: phases of the result along an axis, those of backward data with a stride; coords: pixels of a phase; step, reach: source pixels
 * from coord to coord, and read by the taps of one. */
typedef struct kw_direct_block {
    kw_op op;
    kw_dtype dtype, output; /* of the operands, of the result */
    int64_t channels, tile_h, tile_w, stride, waves_c, waves_q, slices, cols, inst_k, vec, peers;
    int64_t swizzle;
    bool dense, through_lds, brings, lies, stays;        /* brings: pack=lds; lies: conv_bwd_weight with swizzle=xor; stays: KW_STAYS */
    int64_t side, step, reach, coords_h, coords_w, open; /* open: dense's rows whose sums are open */
    int64_t source_channels, block_cols;                 /* of a block: channels of the source, of the result */
    int64_t lds_bytes, stay_registers;                   /* of a thread whose block stays */
    const kw_gpu_arch *arch;                             /* NULL where none is asked; then the rest is 0 */
    int64_t lanes, lds, threads, thread_registers;       /* of the target; thread_registers: those that a thread of such a block may have */
    int64_t inst_n, slab, steps; /* columns of the instruction; grouped: channels of a slab, instructions of its depth */
    int64_t words, shares, sums; /* words of weights of an instruction and lane; instructions whose weights a slab
                                                        * (dense: a wave) has; sums of a lane */
} kw_direct_block;

/* target may be NULL. */
kw_direct_block kw_direct_block_read(const kw_config *config, const kw_target *target);
/* The same as kw_family.decode. */
void kw_direct_block_decode(const kw_config *config, const kw_target *target, void *decoded);

/* Rules that hold whatever the architecture, and rules that ask it. */
extern const kw_rule kw_direct_block_valid_rules[], kw_direct_block_runs_rules[];

#endif

/* resources.h: threads, shared memory and registers of kernels that work on tiles, counted once for the text and for the library. Counts
 * are macros over what the text is told of its config and architecture (KW_TILE_M, KW_BYTES, KW_HAS_MFMA, ...; prelude/gpu.h lists them).
 * The library includes this where it has defined the same names as expressions over a config: src/families/gpu/mma/mma_resources.c and
 * src/families/gpu/direct/direct_rules.c. */
#ifndef KW_RESOURCES_H
#define KW_RESOURCES_H

/* --- blocks of the stages beside the main one --- */

#define KW_PACK_THREADS 256                                            /* of a block that packs weights */
#define KW_ADD_THREADS 256                                             /* of a block that adds sums of the workspace */
#define KW_PARTS_SHARES(parts) ((parts) > 8 ? 8 : 1)                   /* gpu/lib/parts.h: threads that share the parts of an element, */
#define KW_PARTS_SUMS(parts) (KW_ADD_THREADS / KW_PARTS_SHARES(parts)) /* elements of a block, */
#define KW_PARTS_BYTES (KW_ADD_THREADS * 4)                            /* and its shared memory */
#define KW_SUM_BYTES 4                                                 /* of a sum in the workspace */

/* --- the stage that turns tensors (gpu/lib/turn.h): squares of so many bytes a row, or where matrices have few rows, long rows; blocks
 * of a matrix --- */

#define KW_TURN_THREADS 256
#define KW_TURN_LINE 128
#define KW_TURN_FEW_ROWS 16
#define KW_TURN_FEW_LINE 1024
/* line: elements from a line to the next, as it is read and as it is written; long rows are written as one run. */
#define KW_TURN_IS_FEW(rows, cols, line_in, line_out) ((rows) <= KW_TURN_FEW_ROWS && (line_in) == (cols) && (line_out) == (rows))
#define KW_TURN_UNITS(rows, cols, bytes, few)                                                                                              \
    ((few) ? KW_CEIL((cols) * (bytes), KW_TURN_FEW_LINE)                                                                                   \
           : KW_CEIL((rows) * (bytes), KW_TURN_LINE) * KW_CEIL((cols) * (bytes), KW_TURN_LINE))

/* --- waves and their roles --- */

#define KW_WGMMA (KW_INST_M == 64) /* four waves share an instruction, and operands stay in shared memory */
#define KW_GROUP_WAVES 4           /* waves that share one */
#define KW_LOAD_WAVES 4            /* more waves that only load, where a pipe has such */
#define KW_MATH_WAVES (KW_WAVE_M * KW_WAVE_N * KW_WAVE_K)
/* Whether a tile's result leaves while the next tile comes in. */
#define KW_OVERLAP (KW_PIPE == KW_PIPE_COOPERATIVE || KW_PIPE == KW_PIPE_PINGPONG)
#define KW_EXTRA_WAVES (KW_PIPE == KW_PIPE_WAVELET || KW_PIPE == KW_PIPE_TMA || KW_OVERLAP ? KW_LOAD_WAVES : 0)
#define KW_BLOCK_WAVES (KW_MATH_WAVES * KW_WAVE_GROUPS + KW_EXTRA_WAVES)
#define KW_WAVE_COORDS_M (KW_WGMMA ? KW_WAVE_M / KW_GROUP_WAVES : KW_WAVE_M) /* places of waves along the rows */

/* Instructions of a wave along the rows, the columns and the depth of a step. */
#define KW_WAVE_REPEATS_M (KW_TILE_M / (KW_WAVE_COORDS_M * KW_INST_M))
#define KW_WAVE_REPEATS_N (KW_TILE_N / (KW_WAVE_N * KW_INST_N))
#define KW_WAVE_REPEATS_K (KW_TILE_K / (KW_WAVE_K * KW_INST_K))
/* Clusters that an interwave step is cut into: whole instructions, at most four. */
#define KW_STEP_CLUSTERS(repeats) (KW_SCHED != KW_SCHED_INTERWAVE ? 1 : (repeats) % 4 == 0 ? 4 : (repeats) % 2 == 0 ? 2 : 1)

/* --- a lane's share of an instruction: rows (columns of the second operand), elements of each that follow each other along the depth,
 * sums. NVIDIA multiplies fp32 without a tensor core, each lane two rows by two columns, unless KW_TF32. gpu/matrix/fragment.h says
 * which they are. --- */

#define KW_EPW (4 / KW_BYTES) /* elements of a word */
#define KW_SCALAR (KW_HAS_MMA && KW_IN == KW_FP32 && !(KW_TF32))
#define KW_A_ROWS (KW_HAS_MMA ? 2 : 1)
#define KW_B_ROWS (KW_SCALAR ? 2 : 1)
#define KW_KPL                                                                                                                             \
    (KW_HAS_MFMA ? KW_INST_K * KW_INST_M / 64 : KW_HAS_WMMA11 || KW_SCALAR ? KW_INST_K : KW_HAS_MMA ? KW_INST_K / 4 : KW_INST_K / 2)
#define KW_ACC_N (KW_INST_M * KW_INST_N / (KW_WGMMA ? KW_GROUP_WAVES * KW_WAVE : KW_WAVE))
#define KW_ROW_WORDS (KW_KPL / KW_EPW) /* of a row in a fragment */
#define KW_A_WORDS (KW_A_ROWS * KW_ROW_WORDS)
#define KW_B_WORDS (KW_B_ROWS * KW_ROW_WORDS)

/* --- a thread's share of a tile of so many rows; vec: elements that an access may reach, by_rows: rows are contiguous in memory --- */

#define KW_ASYNC (KW_PIPE == KW_PIPE_COMP_ASYNC || KW_PIPE == KW_PIPE_BASIC_ASYNC_V1 || KW_PIPE == KW_PIPE_GATHER)
#define KW_ACCESS_BYTES 16                       /* of the widest access */
#define KW_LOAD_MAX (KW_ACCESS_BYTES / KW_BYTES) /* its elements */
#define KW_DEPTH_BYTES (KW_TILE_K * KW_BYTES)
#define KW_TILE_THREADS ((KW_EXTRA_WAVES ? KW_EXTRA_WAVES : KW_MATH_WAVES) * KW_WAVE) /* that share the loads of a tile */
/* Bytes of an asynchronous copy: whole waves copy, so a tile must be whole waves of copies. */
#define KW_ASYNC_BYTES(rows, vec) (KW_HAS_ASYNC16 && (vec)*KW_BYTES >= 16 && (rows)*KW_DEPTH_BYTES % (16 * KW_WAVE) == 0 ? 16 : 4)
/* Elements of a run, which one access loads, and words of it; runs of a chunk, which are stored together. */
#define KW_RUN(rows, vec) (KW_ASYNC ? KW_ASYNC_BYTES(rows, vec) / KW_BYTES : (vec) < KW_LOAD_MAX ? (vec) : KW_LOAD_MAX)
#define KW_WORDS_OF_RUN(run) KW_CEIL((run)*KW_BYTES, 4)
#define KW_RUNS(by_rows, run) (KW_ASYNC ? 1 : (by_rows) ? KW_EPW : (run) < KW_EPW ? KW_EPW / (run) : 1)
/* Chunks of a tile. */
#define KW_TILE_CHUNKS(rows, run, runs) ((rows)*KW_TILE_K / ((run) * (runs)))

/* Steps under way in registers. pipe=mem: as many as fill half of 64 KiB among the blocks that share a multiprocessor, and so many
 * registers; 2 to 8. */
#define KW_V6_STEPS 3
#define KW_MEM_WORDS (KW_NVIDIA ? 64 : 128)
#define KW_MEM_BYTES 32768
#define KW_MEM_SHARERS(threads) (4 * KW_WAVE / (threads) > 1 ? 4 * KW_WAVE / (threads) : 1)
#define KW_MEM_STEPS_OF(wanted) ((wanted) < 2 ? 2 : (wanted) > 8 ? 8 : (wanted))

/* --- shared memory --- */

#define KW_TILE_BYTES(rows) ((rows)*KW_DEPTH_BYTES)
/* Barriers of a tile that bulk copies fill: `full` and `empty`, 8 bytes each. */
#define KW_STAGE_BARRIER_BYTES (KW_PIPE == KW_PIPE_TMA || KW_OVERLAP ? 16 : 0)
/* What lies together where wgmma reads it: 128 bytes, and so many elements of 16 bits; and rows that one bulk copy brings at most. */
#define KW_SLAB_ROW_BYTES 128
#define KW_SLAB_ELEMENTS 64
#define KW_BOX_ROWS 256
#define KW_GATHER_STAGES 3 /* tiles that pipe=gather needs: one is filled, one multiplied, one has been */

/* --- KW_OVERLAP: stages, and pieces of 64 x 64 results on their way out, of each of two groups of waves one or two; two where they leave
 * room for as many blocks as one does, and registers of a multiprocessor are dealt out accordingly --- */

#define KW_PIECE_BYTES (KW_SLAB_ELEMENTS * KW_SLAB_ROW_BYTES)
/* Rows of the second operand that a stage holds: where rows are contiguous they come in slabs. */
#define KW_HELD_N (KW_B_BY_ROWS ? KW_CEIL(KW_TILE_N, KW_SLAB_ELEMENTS) * KW_SLAB_ELEMENTS : KW_TILE_N)
/* streamk=stationary: the second operand lies in shared memory whole, for all tiles of a block; stages have the first alone. */
#define KW_STATIONARY (KW_STREAMK == KW_STREAMK_STATIONARY)
#define KW_STAGES_BYTES                                                                                                                    \
    (KW_STAGES * ((KW_BORDER ? 0 : KW_TILE_BYTES(KW_TILE_M)) + (KW_STATIONARY ? 0 : KW_TILE_BYTES(KW_HELD_N)) + KW_STAGE_BARRIER_BYTES))
/* Strided backward data of a 1x1 filter stores whole cells of pixels (gpu/igemm/backward.h), where a problem asks no more of it. */
#define KW_CELLS_STORED                                                                                                                    \
    (KW_PASSES && KW_BYTES == 2 && KW_OUT_BYTES == 2 && KW_MERGE == 1 && KW_SPLIT_K == 1 && KW_TEAM == 1 && !KW_EPILOGUE)
#define KW_PHASES_MAX 16       /* of strided backward data */
#define KW_BORDER_TAPS_MAX 128 /* of KW_BORDER, that share their pixels */
#define KW_FACTS_BYTES                                                                                                                     \
    (KW_BORDER                                    ? 80 + 4 * KW_BORDER_TAPS_MAX                                                            \
     : KW_OP == KW_OP_CONV_BWD_DATA && !KW_PLANES ? 40 + 52 * KW_PHASES_MAX                                                                \
                                                  : 0) /* kw_facts of gpu/igemm/border.h, backward.h */
/* KW_BORDER: stages have the second operand alone, and what they leave is for the pixels of two borders or more, 128 bytes of each:
 * of two so many, a multiple of 8. */
#define KW_BORDERS (KW_BORDER ? 6 : 0) /* places at most */
#define KW_BORDER_ROWS                                                                                                                     \
    ((KW_BLOCK_LDS - KW_STAGES_BYTES - KW_FACTS_BYTES - 2 * KW_PIECE_BYTES - KW_BORDERS * KW_STAGE_BARRIER_BYTES) /                        \
     (2 * 8 * KW_SLAB_ROW_BYTES) * 8)
#define KW_BORDERS_BYTES (KW_BORDER ? 2 * KW_BORDER_ROWS * KW_SLAB_ROW_BYTES + KW_BORDERS * KW_STAGE_BARRIER_BYTES : 0)
/* KW_STATIONARY: steps of the second operand that what stages leave has room for, beside as many pieces of a group as a tile's columns make. */
#define KW_STATIONARY_STEPS                                                                                                                \
    ((KW_BLOCK_LDS - KW_STAGES_BYTES - 2 * (KW_TILE_N > KW_SLAB_ELEMENTS ? 2 : 1) * KW_PIECE_BYTES) / KW_TILE_BYTES(KW_HELD_N))
#define KW_STATIONARY_BYTES (KW_STATIONARY ? KW_STATIONARY_STEPS * KW_TILE_BYTES(KW_HELD_N) : 0)
#define KW_OVERLAP_BYTES(pieces) (KW_STAGES_BYTES + KW_BORDERS_BYTES + KW_STATIONARY_BYTES + 2 * (pieces)*KW_PIECE_BYTES + KW_FACTS_BYTES)
/* Blocks of a cluster, which share a tile's depth and add their sums through each other's shared memory, where the stages were. */
#define KW_TEAM (KW_STREAMK == KW_STREAMK_CLUSTER ? KW_SPLIT_K : 1)
/* Blocks of a cluster that have neighbouring rows of tiles in turn and bring the second operand together, each a part of it for both. */
#define KW_PAIR (KW_STREAMK == KW_STREAMK_PAIR ? 2 : KW_STREAMK == KW_STREAMK_QUAD ? 4 : 1)
#define KW_BLOCK_LDS 232448 /* that a block has at most, and each of two blocks of a multiprocessor */
#define KW_HALF_LDS 115712
/* Results pass shared memory, turned ones where they are stored in runs; else they leave from the registers. */
#define KW_PASSES (KW_EPI == KW_EPI_CSHUFFLE || KW_PASSES_TURNED)
#define KW_PASSES_TURNED (KW_EPI == KW_EPI_TURNED && KW_VEC_C > 1)
/* Whether the last rows of tiles, a tail, may be divided in depth alone: rows of tiles are rows of the result, one after the other. */
#define KW_TAILS                                                                                                                           \
    (KW_OVERLAP && KW_EPI == KW_EPI_CSHUFFLE && KW_SPLIT_K == 0 && KW_PAIR == 1 && !KW_PLANES && !KW_BORDER &&                             \
     KW_OP != KW_OP_CONV_BWD_WEIGHT && !KW_SPOTS)
#define KW_BLOCKS_HELD (KW_OVERLAP_BYTES(KW_PASSES) <= KW_HALF_LDS ? 2 : 1)
#define KW_PIECES (!KW_PASSES ? 0 : KW_OVERLAP_BYTES(2) <= (KW_BLOCKS_HELD == 2 ? KW_HALF_LDS : KW_BLOCK_LDS) ? 2 : 1)
#define KW_BRING_REGISTERS (KW_BLOCKS_HELD == 2 ? 24 : 40) /* of a thread that brings tiles */
#define KW_MULTIPLY_REGISTERS (KW_BLOCKS_HELD == 2 ? 104 : 232)
/* With one element an access of the second operand: operands whose rows are no multiple of 16 bytes are copied first (gpu/lib/align.h), each copy at a
 * multiple of 128 bytes, and with vec_c=1 results leave element by element. */
#define KW_ALIGNS (KW_OVERLAP && KW_VEC_B == 1)
/* Elements of one or four bytes are multiplied where the depth is contiguous: an operand whose rows are is turned as it is copied, through shared
 * memory. A block turns 128 depths of as many rows as lie in 128 bytes, so that what it reads and what it writes are whole lines of 128 bytes.
 * pieces: of 16 bytes of a row of the copy. */
#define KW_COPIES_TURN (KW_ALIGNS && KW_BYTES != 2)
#define KW_COPY_DEPTHS 128
#define KW_COPY_SIDE (KW_TURN_LINE / KW_BYTES)
#define KW_COPY_BLOCKS(rows, pieces) (KW_CEIL(rows, KW_COPY_SIDE) * KW_CEIL(pieces, KW_COPY_DEPTHS / KW_COPY_RUN))
/* Gradients of weights of fp32: lanes pick the first operand from shared memory (gpu/pipeline/overlap_picked.h). */
#define KW_PICKS (KW_OP == KW_OP_CONV_BWD_WEIGHT && KW_COPIES_TURN)
/* Of backward data by spots: gpu/igemm/feed.h. */
#define KW_SPOTS (KW_OP == KW_OP_CONV_BWD_DATA && KW_ALIGNS && !KW_BORDER && KW_BYTES == 2)
/* Of channels-first problems: results of 16 bits that pass shared memory leave with their channels first. Of KW_PLANES (gpu/igemm/planes.h) those that
 * have pixels as columns. */
#define KW_STORES_FIRST                                                                                                                    \
    (KW_CHANNELS_FIRST && KW_OVERLAP && KW_PASSES && !KW_ALIGNS && !KW_PLANES && !KW_BORDER && KW_OUT_BYTES == 2 &&                        \
     KW_OP != KW_OP_CONV_BWD_WEIGHT)
#define KW_PLANES_RESULT (KW_PLANES && KW_OP != KW_OP_CONV_BWD_WEIGHT)
#define KW_COPY_RUN (KW_ACCESS_BYTES / KW_BYTES)
#define KW_COPIES_AT(bytes) (KW_CEIL(bytes, 128) * 128)
/* Of a thread: the tile's, and where the instruction's are short of bits a step's, but where a problem permits such sums. A tile of 256 by 128
 * has no room for both, and serves those alone. */
#ifndef KW_FAST_ACCUM
#define KW_FAST_ACCUM 0
#endif
#define KW_SUM_SETS (KW_BYTES == 1 && !(KW_FAST_ACCUM) && KW_TILE_M * KW_TILE_N < 256 * 128 ? 2 : 1)

#endif

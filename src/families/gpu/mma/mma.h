/* mma.h: the axes of the two families of tiled matrix-instruction kernels, conv.igemm and gemm.mma, and a config of either read once.
 *
 * A block computes a tile of the result: tile_m x tile_n, tile_k deep a step. Its waves stand wave_m x wave_n x wave_k over the tile; each
 * multiplies with instructions of inst_m x inst_n x inst_k. docs/kernels/gpu-kernels.md says what each axis does in the text. */
#ifndef KW_FAMILIES_GPU_MMA_MMA_H
#define KW_FAMILIES_GPU_MMA_MMA_H

#include "config/config.h"
#include "config/arch/gpu_arch.h"

/* Word axes: name of the enumerator, which is also the kernel text's (KW_PIPE_MEM), and the word. The order is that of the values. */
#define KW_PIPES(X)                                                                                                                        \
    X(PIPE_BASIC_V1, "basic_v1")                                                                                                           \
    X(PIPE_MEM, "mem")                                                                                                                     \
    X(PIPE_COMPV3, "compv3")                                                                                                               \
    X(PIPE_COMPV4, "compv4")                                                                                                               \
    X(PIPE_COMPV5, "compv5")                                                                                                               \
    X(PIPE_COMPV6, "compv6")                                                                                                               \
    X(PIPE_COMP_ASYNC, "comp_async")                                                                                                       \
    X(PIPE_BASIC_ASYNC_V1, "basic_async_v1")                                                                                               \
    X(PIPE_WAVELET, "wavelet")                                                                                                             \
    X(PIPE_TMA, "tma")                                                                                                                     \
    X(PIPE_GATHER, "gather")                                                                                                               \
    X(PIPE_COOPERATIVE, "cooperative")                                                                                                     \
    X(PIPE_PINGPONG, "pingpong")
#define KW_SCHEDS(X) X(SCHED_INTRAWAVE, "intrawave") X(SCHED_INTERWAVE, "interwave")
#define KW_EPIS(X) X(EPI_CSHUFFLE, "cshuffle") X(EPI_DEFAULT, "default") X(EPI_TURNED, "turned")
#define KW_SPECS(X)                                                                                                                        \
    X(SPEC_DEFAULT, "default")                                                                                                             \
    X(SPEC_FILTER1X1_PAD0, "filter1x1_pad0")                                                                                               \
    X(SPEC_FILTER1X1_STRIDE1_PAD0, "filter1x1_stride1_pad0")                                                                               \
    X(SPEC_FILTER3X3, "filter3x3")                                                                                                         \
    X(SPEC_STRIDE1, "stride1")
#define KW_STREAMKS(X)                                                                                                                     \
    X(STREAMK_OFF, "off")                                                                                                                  \
    X(STREAMK_TREE, "tree")                                                                                                                \
    X(STREAMK_LINEAR, "linear")                                                                                                            \
    X(STREAMK_CLUSTER, "cluster") X(STREAMK_PAIR, "pair") X(STREAMK_QUAD, "quad") X(STREAMK_STATIONARY, "stationary")

#define KW_LAYOUTS(X) X(LAYOUT_RCR, "rcr") X(LAYOUT_RRR, "rrr") X(LAYOUT_CRR, "crr") X(LAYOUT_CCR, "ccr")

#define KW_WORD_VALUE(name, word) KW_##name,
#define KW_WORD_TEXT(name, word) " " word
#define KW_WORDS_OF(list) (&(list(KW_WORD_TEXT))[1]) /* for kw_axis.words: without the first blank */

typedef enum kw_pipe { KW_PIPES(KW_WORD_VALUE) } kw_pipe;
typedef enum kw_sched { KW_SCHEDS(KW_WORD_VALUE) } kw_sched;
typedef enum kw_epi { KW_EPIS(KW_WORD_VALUE) } kw_epi;
typedef enum kw_spec { KW_SPECS(KW_WORD_VALUE) } kw_spec;
typedef enum kw_layout_word { KW_LAYOUTS(KW_WORD_VALUE) } kw_layout_word;
typedef enum kw_streamk { KW_STREAMKS(KW_WORD_VALUE) } kw_streamk;
_Static_assert((int)KW_LAYOUT_RCR == KW_RCR && (int)KW_LAYOUT_RRR == KW_RRR && (int)KW_LAYOUT_CRR == KW_CRR && (int)KW_LAYOUT_CCR == KW_CCR,
               "a layout's word is at the place of its kw_layout");

/* Name, words, lowest, highest, meaning: one list for a family's table and for the places of its axes. */
#define KW_MMA_TILE_AXES(X)                                                                                                                \
    X(tile_m, NULL, 1, 1024, "rows of the result that a block computes")                                                                   \
    X(tile_n, NULL, 1, 1024, "columns of the result that a block computes")                                                                \
    X(tile_k, NULL, 1, 1024, "depth of a step")                                                                                            \
    X(wave_m, NULL, 1, 16, "waves of a block along the rows")                                                                              \
    X(wave_n, NULL, 1, 16, "waves of a block along the columns")                                                                           \
    X(wave_k, NULL, 1, 16, "waves of a block that share a result and divide the depth")                                                    \
    X(inst_m, NULL, 1, 256, "rows of a matrix instruction")                                                                                \
    X(inst_n, NULL, 1, 256, "columns of a matrix instruction")                                                                             \
    X(inst_k, NULL, 1, 256, "depth of a matrix instruction, or of several that are taken together")                                        \
    X(pipe, KW_WORDS_OF(KW_PIPES), 0, 0, "how tiles come from memory: docs/kernels/gpu-kernels.md")                                        \
    X(sched, KW_WORDS_OF(KW_SCHEDS), 0, 0, "interwave: a step is cut into clusters, and waves take turns at loading and multiplying")      \
    X(epi, KW_WORDS_OF(KW_EPIS), 0, 0,                                                                                                     \
      "cshuffle: results pass shared memory and are stored in whole rows; default: from the registers; turned: the same, and operands "    \
      "have changed places, so that the rows of an instruction are columns of the result")

#define KW_MMA_VECTOR_AXES(X)                                                                                                              \
    X(vec_a, NULL, 1, 16, "elements of the first operand that a thread loads together")                                                    \
    X(vec_b, NULL, 1, 16, "elements of the second operand that a thread loads together")                                                   \
    X(vec_c, NULL, 1, 16, "elements of the result that a thread stores together")                                                          \
    X(stages, NULL, 1, 32, "tiles that shared memory holds")

#define KW_IGEMM_AXES(X)                                                                                                                   \
    X(ndim, NULL, 1, 3, "spatial axes")                                                                                                    \
    KW_MMA_TILE_AXES(X)                                                                                                                    \
    KW_MMA_VECTOR_AXES(X)                                                                                                                  \
    X(merge, NULL, 1, 64, "groups that one product computes together")                                                                     \
    X(wave_groups, NULL, 1, 2, "groups of waves that alternate between loading and multiplying")                                           \
    X(split_image, NULL, 0, 1, "the image is cut into pieces that 32-bit offsets reach")                                                   \
    X(explicit, NULL, 0, 1, "pixels are the rows of a plain matrix product; 1x1 filters with stride 1 and no padding")                     \
    X(two_stage, NULL, 0, 1, "sums go to an fp32 workspace and are converted by a second stage")                                           \
    X(spec, KW_WORDS_OF(KW_SPECS), 0, 0, "filters that the text is cut down to")                                                           \
    X(streamk, KW_WORDS_OF(KW_STREAMKS), 0, 0,                                                                                             \
      "blocks share all steps of all tiles evenly; partial tiles are added in tree or linear order; cluster: split_k blocks share a "      \
      "tile's depth and add their sums through each other's shared memory; pair, quad: blocks bring the second operand together; "         \
      "stationary: a block brings it once, whole")                                                                                         \
    X(persistent, NULL, 0, 1, "as many blocks as the device holds at once; each takes tile after tile")                                    \
    X(split_k, NULL, 0, 128, "parts that the depth is cut into, each with its own blocks; 0: as many as fill the device")                  \
    X(index, NULL, 32, 64, "bits of an offset inside a tensor")

#define KW_GEMM_AXES(X)                                                                                                                    \
    X(layout, KW_WORDS_OF(KW_LAYOUTS), 0, 0, "order of the operands and the result in memory")                                             \
    KW_MMA_TILE_AXES(X)                                                                                                                    \
    X(pad_m, NULL, 0, 1, "serves any count of rows, not only multiples of tile_m")                                                         \
    X(pad_n, NULL, 0, 1, "serves any count of columns, not only multiples of tile_n")                                                      \
    X(pad_k, NULL, 0, 1, "serves any depth, not only multiples of tile_k")                                                                 \
    KW_MMA_VECTOR_AXES(X)                                                                                                                  \
    X(preshuffle, NULL, 0, 1, "a first stage brings the second operand into the order of the instructions, which load it from there")      \
    X(wave_groups, NULL, 1, 2, "groups of waves that alternate between loading and multiplying")                                           \
    X(persistent, NULL, 0, 1, "as many blocks as the device holds at once; each takes tile after tile")                                    \
    X(split_k, NULL, 0, 128, "parts that the depth is cut into, each with its own blocks; 0: as many as fill the device")                  \
    X(streamk, KW_WORDS_OF(KW_STREAMKS), 0, 0,                                                                                             \
      "blocks share all steps of all tiles evenly; partial tiles are added in tree or linear order; cluster: split_k blocks share a "      \
      "tile's depth and add their sums through each other's shared memory; pair, quad: blocks bring the second operand together; "         \
      "stationary: a block brings it once, whole")                                                                                         \
    X(index, NULL, 32, 64, "bits of an offset inside a tensor")

/* A config of either family, read. Triples are m, n, k of a product, or the operands a, b and the result c. What a family has no axis for
 * has the value that means nothing special. With epi=turned, m and n of the tile are those of the turned product, as the text has them. */
typedef struct kw_mma {
    kw_op op;
    kw_dtype dtype, output; /* of the operands, of the result */
    bool fused;             /* it has an epilogue */
    bool mixed, shifted;    /* x is uint8; x has a zero point */
    bool weights_shifted;   /* w has */
    bool tf32;              /* elements of fp32 may be rounded */
    bool fast;              /* sums of fp8 may stay in the instructions for the whole depth */
    bool row_groups;        /* it is for grouped products */
    bool one_part;          /* its depth is never divided */
    bool in_order;          /* rows of tiles may be rows of the result as the problem has it, without gaps */
    int32_t ndim, layout;   /* of a convolution; of a GEMM, else 0 */
    int32_t bytes;          /* of an element of the operands */
    int32_t tile[3], wave[3], inst[3];
    kw_pipe pipe;
    kw_sched sched;
    kw_epi epi;
    int32_t pad[3]; /* 1 for a convolution */
    int32_t vec[3];
    int32_t stages, merge, wave_groups, split_image, explicit_gemm, two_stage, preshuffle, persistent, split_k, index;
    kw_spec spec;
    kw_streamk streamk;
    const kw_gpu_arch *arch; /* of the target; NULL where none is given or known, then the rest is 0 */
    int64_t lanes, lds;      /* threads of a wave; bytes of shared memory that a block may have */
} kw_mma;

/* target may be NULL. */
kw_mma kw_mma_read(const kw_config *config, const kw_target *target);
/* The plain config of which kw_mma_read() makes this. */
kw_config kw_mma_write(const kw_mma *mma, const kw_family *family);
/* The same as kw_family.decode. */
void kw_mma_decode(const kw_config *config, const kw_target *target, void *decoded);

/* kw_family.sum_error. Two elements that are rounded to tf32's 11 significant bits are off by 2^-11 of their magnitude each, cut by less than
 * 2^-10; tensor cores cut a sum below fp32's last place besides. */
double kw_mma_sum_error(const kw_config *config);

/* Whether fp32 is multiplied by an instruction that passes over the last 13 bits of what lies in shared memory; and the rule for that. */
bool kw_mma_cuts_to_tf32(const kw_mma *mma);
bool kw_mma_permits(const kw_rule_case *c);
#define KW_MMA_PERMITS_RULE                                                                                                                \
    { "permits_tf32", "pipe=tma multiplies fp32 as tf32; the problem must permit it by fpmath=tf32", kw_mma_permits }
/* Whether four waves share an instruction and its operands stay in shared memory (wgmma). */
bool kw_mma_shares_instruction(const kw_mma *mma);
/* Whether a tile's result leaves while the next tile comes in (kernels/gpu/pipeline/overlap.h): pipe=cooperative or pingpong. */
bool kw_mma_overlaps(const kw_mma *mma);
/* Blocks of a cluster, at most. */
enum { KW_MMA_CLUSTER_MAX = 8 };
/* Blocks that share a tile's depth and each other's shared memory (streamk=cluster); 1: none do. */
int32_t kw_mma_cluster(const kw_mma *mma);
/* Columns whose sums one of them adds up. */
int64_t kw_mma_cluster_share(const kw_mma *mma);
/* Bytes of the sums that they give each other, for each block; 0: none do. They meet where the operands were. */
int64_t kw_mma_cluster_bytes(const kw_mma *mma);
/* Blocks that bring the second operand together (streamk=pair, quad); 1: each its own. */
int32_t kw_mma_pair(const kw_mma *mma);
/* Clusters of so many blocks that run at a time where a device has room for so many blocks alone. */
int64_t kw_mma_clusters_held(int32_t size, int64_t blocks);
/* Whether a block brings the second operand whole before its first tile (streamk=stationary), and of how many steps there is room for it. */
bool kw_mma_is_stationary(const kw_mma *mma);
int64_t kw_mma_stationary_steps(const kw_mma *mma);
/* With kw_mma_overlaps(), whether results leave through shared memory; else from the registers. */
bool kw_mma_passes(const kw_mma *mma);
/* Whether a tile has the last columns of its result in a piece that is not full, which threads store where a tile stands beside it. */
bool kw_mma_cuts_piece(const kw_mma *mma);
/* Whether blocks take an equal share of all steps each: streamk=tree or linear. */
bool kw_mma_streams(const kw_mma *mma);
/* Whether results leave by bulk stores, for which there is a map: 16 bits each, in rows of whole 16 bytes. Others leave by threads. */
bool kw_mma_stores_boxes(const kw_mma *mma);
/* Whether channels-first tensors of a 1x1 filter are read and written as they are (kernels/gpu/igemm/planes.h). */
bool kw_mma_planes(const kw_mma *mma);
/* Whether the pixels that a tile reads lie in shared memory once for many taps (kernels/gpu/igemm/border.h); how many have room in each of two
 * borders, and borders in places at most. */
bool kw_mma_has_border(const kw_mma *mma);
int64_t kw_mma_border_rows(const kw_mma *mma);
int64_t kw_mma_borders(const kw_mma *mma);
/* Of channels-first problems: whether a kernel writes results with their channels first, where they are neither parts nor a stride apart. */
bool kw_mma_stores_first(const kw_mma *mma);
/* Waves that multiply, and all waves of a block: some pipes add waves that only load. */
int32_t kw_mma_math_waves(const kw_mma *mma);
int32_t kw_mma_waves(const kw_mma *mma);
/* Bytes of shared memory of one step's tiles of both operands, the barriers of bulk copies apart. */
int64_t kw_mma_tile_bytes(const kw_mma *mma);
/* The same of all stages, barriers and all; with kw_mma_overlaps() of the results on their way besides. */
int64_t kw_mma_stages_bytes(const kw_mma *mma);
/* Whether the last rows of tiles may be divided in depth alone, where their grid has them in order. */
bool kw_mma_has_tails(const kw_mma *mma);
/* With kw_mma_overlaps(), blocks that a multiprocessor holds, and of a thread that multiplies sets of sums and registers. */
int32_t kw_mma_blocks_held(const kw_mma *mma);
int32_t kw_mma_sum_sets(const kw_mma *mma);
/* Whether operands are copied first where their rows are no multiple of 16 bytes (kernels/gpu/lib/align.h), and bytes from row to row of an
 * operand with so many elements in a row, copied or not. */
bool kw_mma_aligns(const kw_mma *mma);
/* Whether those copies are turned whose rows are contiguous; the blocks that turn a matrix to so many rows of so many pieces. Whether lanes pick the
 * first operand from shared memory (KW_PICKS). */
bool kw_mma_picks(const kw_mma *mma);
bool kw_mma_copies_turn(const kw_mma *mma);
int64_t kw_mma_turning_blocks(const kw_mma *mma, int64_t rows, int64_t pieces);
int64_t kw_mma_row_bytes(const kw_mma *mma, int64_t row);
int32_t kw_mma_multiply_registers(const kw_mma *mma);
/* Registers that a thread of an mma.sync kernel cannot do without, addresses not counted. For a config whose valid rules hold, read with an
 * architecture. */
int64_t kw_mma_thread_registers(const kw_mma *mma);
/* The same as kw_family.estimate_resources: coarser than the count above, for any architecture. */
kw_resource_estimate kw_mma_estimate_resources(const kw_config *config, const kw_target *target, double threads);

/* Bytes from line to line, and from matrix to matrix, are fewer in a tensor map. */
#define KW_BULK_STEP_MAX ((int64_t)1 << 40)

/* Elements that 32-bit offsets reach: sums of a place in a tensor and one beside it must not overflow. */
enum { KW_OFFSET_MAX = INT32_MAX / 2 };

/* The product of a problem as it is cut into tiles. */
typedef struct kw_mma_grid {
    int64_t tile_rows, tile_cols, batches; /* tiles of the result along its rows and columns; products */
    int64_t steps;                         /* of a tile, the most that one has */
    int64_t elements;                      /* of the result */
    int64_t row;                           /* elements of a row of it, where rows of tiles are such rows in their order; else 0 */
    bool uneven;                           /* tiles have other steps than others, or other operands (groups of planes) */
    double drawn;                          /* bytes of a step, where its operands are not brought whole; else 0 */
    double multiplied;                     /* share of the steps' depths, where some are left out; else 0 */
} kw_mma_grid;

/* Whether counts of tiles are within what the text counts with; and the rule's reason. */
bool kw_mma_grid_is_counted(const kw_mma_grid *grid);
#define KW_TILES_COUNTED_WHY "tiles of the result, times 128 parts of the depth, are counted in 31 bits"
/* A tensor of 16-bit elements as bulk copies and stores see it: boxes of 64 elements innermost; stride: bytes of the two outer axes. */
kw_map kw_mma_box_map(kw_tensor tensor, kw_dtype dtype, const int64_t extent[3], const int64_t stride[2], const int32_t box[3]);
/* For pipe=tma, an operand as bulk copies see it: depth, rows, batches, in boxes of tile rows. row, batch: bytes from
 * one to the next. */
kw_map kw_mma_bulk_map(kw_tensor tensor, kw_dtype dtype, const int64_t extent[3], int64_t row, int64_t batch, int32_t tile);
/* Whether rows of backward data are spots of pixels (kernels/gpu/igemm/backward.h). */
bool kw_mma_has_spots(const kw_mma *mma);
/* Whether tiles of backward data may store whole cells of pixels (KW_STORES_CELLS of the same file). */
bool kw_mma_stores_cells(const kw_mma *mma);
/* For pipe=cooperative and pingpong, the maps of a convolution (kernels/gpu/igemm/feed.h), and how many tiles and steps it has. */
void kw_mma_image_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch);
kw_mma_grid kw_mma_image_grid(const kw_mma *mma, const kw_problem *problem);
/* Whether bulk copies can walk over the problem's image: groups, strides, and the bits of what bounds it and of taps' offsets. */
bool kw_mma_walks_image(const kw_mma *mma, const kw_problem *problem);
/* The same with kw_mma_has_border(), behind kw_mma_launch(); and whether bulk copies can walk over the padded image, and what a tile reads
 * of it has room. */
bool kw_mma_border_fits(const kw_mma *mma, const kw_problem *problem);
kw_mma_grid kw_mma_border_grid(const kw_mma *mma, const kw_problem *problem);
void kw_mma_border_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch);
/* The same with kw_mma_planes(), behind kw_mma_launch(). */
void kw_mma_plane_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch);
kw_mma_grid kw_mma_plane_grid(const kw_mma *mma, const kw_problem *problem);
/* Whether its groups are whole blocks of channels; and whether its maps can describe images of so many pixels. */
bool kw_mma_planes_have_groups(const kw_problem *problem);
bool kw_mma_planes_are_aligned(const kw_problem *problem);
/* Whether maps can describe a convolution's tensors with pitches, and the text the result's addresses. */
bool kw_mma_image_pitches(const kw_mma *mma, const kw_problem *problem);
/* Stages, blocks, workspace and the params of kernels/gpu/lib/work_params.h. */
/* With kw_mma_aligns(), behind kw_mma_launch() and with the maps of both operands: the stage that copies them, so many rows of each, and
 * maps of the copies. Of a product the maps say what is copied. */
void kw_mma_align_operands(const kw_mma *mma, int64_t first_rows, int64_t second_rows, kw_launch *launch);
void kw_mma_launch(const kw_mma *mma, const kw_mma_grid *grid, const kw_target *target, kw_launch *launch);

#endif

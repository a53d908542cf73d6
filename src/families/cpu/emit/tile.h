/* tile.h: the register tile (micro-kernel) of the dense families: rows x cols output pixels times vecs vectors of output channels, summed
 * over runs of source channels. Its accumulators stay in registers over all taps and channels. kernels/cpu/lib/register_tile.h is its
 * text: straight-line C with named accumulators, because that compiles three times faster than unrolled loops and leaves register
 * allocation no freedom to spill. */
#ifndef KW_FAMILIES_CPU_EMIT_TILE_H
#define KW_FAMILIES_CPU_EMIT_TILE_H

#include "config/arch/isa.h"

/* Lanes that are multiplied before a sum is there again. */
enum { KW_LANES_UNDER_WAY = 64 };

typedef struct kw_tile {
    int32_t rows, cols, vecs;
    bool ahead;   /* prefetches the next tile's pixels */
    bool skip;    /* runs in which all pixels read padding are left out, and of others the groups of pixels that do */
    bool sums;    /* the tile is left in spill, as fp32, for the caller to add up; nothing is written to out */
    bool own;     /* a pixel's step is a vector, each lane's own value */
    int32_t ways; /* not 0: a pixel's step is a value of each of so many ways, whose lanes go in turn (fp32) */
    bool odd;     /* the last element of a run may lack its partner of a bf16 pair */
} kw_tile;

/* KW_VALID, for families whose decode() fills a struct that begins with a kw_tile: its registers and address registers. */
extern const kw_rule kw_tile_valid_rules[];
/* Pixels by so many vectors whose sums the registers hold beside the weights and a pixel. */
int64_t kw_tile_most_pixels(int32_t isa, int64_t vecs);
/* KW_TAKES, for families that take the columns of a filter row and the channels as one run: they lie side by side, and are so few that a
 * run is better than its parts. */
extern const kw_rule kw_run_takes_rules[];
/* Appends the #defines that kernels/cpu/lib/register_tile.h is made of. */
void kw_tile_emit(kw_text *text, const kw_tile *tile, const kw_config *config);
/* Pixels that edge=skip leaves out together, of a tile of so many output channels: a test for each would take as long as its products. */
int32_t kw_tile_group(const kw_tile *tile, int64_t block);
/* Of math=amx what goes over registers alone, KW_EACH_SUM and KW_CHUNK of kernels/cpu/lib/amx_tile.h: tile->cols rows by tile->vecs. And of each
 * part of the tile, the first r registers of rows by the first v vectors, KW_EACH_r_v_SUM and KW_r_v_CHUNK; KW_EACH_PART(DO) is DO(r, v) for each. Six
 * sums fit as well, of sides that are not kept (kw_tile_fits_amx). */
void kw_tile_emit_parts(kw_text *text, const kw_tile *tile);
/* Whether the registers of math=amx hold such a tile with one of its sides; or, of kw_tile_emit_parts, with one register of each. */
bool kw_tile_fits_amx(const kw_tile *tile);
bool kw_tile_parts_fit_amx(const kw_tile *tile);

/* What launch() of every dense family needs to know of its packed weights and steps. */
typedef struct kw_tile_work {
    int64_t block;        /* output channels of a tile */
    int64_t pair;         /* source channels of a step */
    int64_t word;         /* bytes of a source element as the tile reads it */
    int64_t head;         /* bytes of packed weights before the steps of a run */
    int64_t instructions; /* a multiplication and its addition take */
    bool amx, lacks;      /* lacks: the last block does not sum a last vector that it has no channels of (KW_TILE_MAY_LACK) */
    bool converts;        /* what the tile reads is not what the tensor holds */
} kw_tile_work;

kw_tile_work kw_tile_work_of(const kw_config *config, const kw_tile *tile);
/* Steps of a run of so many source elements: kw_run_steps() of kernels/cpu/lib/dense.h. */
int64_t kw_tile_steps(const kw_tile_work *work, int64_t elements);
/* Loads of 64 bytes, or of one pixel's step, for a step of a tile. */
double kw_tile_step_loads(const kw_tile_work *work, const kw_tile *tile);
/* Vectors of weights in all blocks of so many channels, and how many a pixel's products take as long as: fewer sums than the units have under
 * way at a time are waited for. */
int64_t kw_tile_vectors(const kw_tile_work *work, const kw_tile *tile, int64_t channels);
double kw_tile_products(const kw_tile_work *work, const kw_tile *tile, int64_t channels);
/* A distance between the pixels of a tile (bytes, at least pitch) under which count of them do not evict each other from a first-level
 * cache of 8 ways of 4 KiB. */
int64_t kw_tile_pitch(int64_t pitch, int64_t distance, int64_t count);

/* How many bytes ahead of where it multiplies a kernel asks for weights: a page, with whose end a core's own prefetching ends, where the last
 * level of cache is so far from the core that this is waited for: by its rates, or, where they were not measured, by its size, which it has
 * in slices beside as many cores. 0 elsewhere, where asking takes slots of what it would save. */
int kw_tile_far(const kw_target *target);
/* The same for packed weights that all tiles of a block go through, so many bytes: less than none where they stay in the first-level cache, so that
 * the first tile alone asks (kw_far_of_tile() of kernels/cpu/lib/dense.h). */
int kw_tile_far_of_block(const kw_target *target, int64_t bytes);
/* Into how many parts the blocks of output channels of every unit are cut, so that threads are idle for at most a twentieth of the time
 * where blocks allow it, and each thread has so many units (KW_TEAM_UNITS, or 1 where a part costs much). */
int64_t kw_tile_parts(int64_t units, int64_t blocks, int64_t threads, int64_t each);
/* How many threads do parts of one unit, and so have a copy of their own of what it copies. */
int64_t kw_tile_sharers(int64_t units, int64_t parts, int64_t threads);

#endif

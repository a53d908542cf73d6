/* features_native.h: our features of a config on a problem on a target. Columns come in three parts, so that a choice among many configs
 * computes each once: of problem and target (once a problem), of the config (once a config), of both (once a pair).
 *
 * Geometry is each direction's own (problem/view.h); channels are those of a group, groups are counted; a fill is the share of a tiling
 * that holds work, extent / (tiles * tile). The axes of all families are columns by their names, NaN where a family does not have one: an
 * axis that is added becomes a column without a change here. Sizes are normalised by facts of the target, so that one model can serve
 * several.
 *
 * What a GPU kernel needs of a multiprocessor is known once it is compiled, and a model is asked before: rows of sweeps have what the
 * compiler said, anything else what its family estimates, in the same columns. On a CPU these columns are 0. */
#ifndef KW_PREDICT_FEATURES_FEATURES_NATIVE_H
#define KW_PREDICT_FEATURES_FEATURES_NATIVE_H

#include "config/config.h"
#include "predict/estimate.h"
#include "predict/features/features.h"

typedef struct kw_native_features kw_native_features;

/* Builds the table from the families there are. */
kw_status kw_native_features_open(kw_native_features **own, kw_error *err);
void kw_native_features_close(kw_native_features **own);
const kw_feature_table *kw_native_features_table(const kw_native_features *own);
/* Where the parts begin: problem and target at 0, config, pair. */
size_t kw_native_features_config_start(const kw_native_features *own);
size_t kw_native_features_pair_start(const kw_native_features *own);

/* What the features of a problem are made from; a value, computed once. */
typedef struct kw_native_features_problem {
    const kw_problem *problem;
    const kw_target *target;
    double n, g, cg, kg;             /* images, groups, channels of a group */
    double in[3], out[3], filter[3]; /* GEMM: m pixels in width, no filter */
    double taps, in_pixels, out_pixels;
    double batch, gm, gn, gk, phases; /* of the view */
    double flops, dense_flops, bytes, x_bytes, w_bytes, y_bytes;
} kw_native_features_problem;

void kw_native_problem_read(kw_native_features_problem *sight, const kw_problem *problem, const kw_target *target);
/* Each fills its part of a whole row. */
void kw_native_features_fill_problem(const kw_native_features *own, double *row, const kw_native_features_problem *sight);
void kw_native_features_fill_config(const kw_native_features *own, double *row, const kw_config *config);

/* What the compiled kernel of a GPU needs, where a row says it. registers 0: nobody has compiled it, and it is estimated from the axes. */
typedef struct kw_native_resources {
    double registers, spilled_bytes; /* of a thread */
    double shared_bytes;             /* of a block */
} kw_native_resources;

/* The axes that columns of pairs are made from, 0 where the family does not have one; looked up once for a config that is paired often. */
typedef struct kw_native_features_tiles {
    const kw_config *config; /* must live as long */
    double tile_w, tile_h, tile_m, vecs;
    kw_native_resources need; /* for the caller to fill in what is known */
} kw_native_features_tiles;
kw_native_features_tiles kw_native_features_tiles_of(const kw_config *config);
/* Of the config with these tiles, only for a pair that fits; estimate_ns is kw_predict_ns of the pair, parts what it
 * is the sum of (kw_estimate_of). */
void kw_native_features_fill_pair(const kw_native_features *own, double *row, const kw_native_features_problem *sight,
                                  const kw_native_features_tiles *tiles, const kw_launch *launch, double estimate_ns,
                                  const kw_estimate *parts);
/* The same, for callers that have no parts: they are worked out here. */
void kw_native_features_fill_tiled(const kw_native_features *own, double *row, const kw_native_features_problem *sight,
                                   const kw_native_features_tiles *tiles, const kw_launch *launch, double estimate_ns);

#endif

/* ck_rows.h: rows of the published features, for kernels of CK Tile (ck_kernels.h) and, so that their models can choose among ours, for our GPU
 * kernels with tiles: a name's tile_m x tile_n x tile_k is what their reader calls block_size, gemm_m_per_block and gemm_n_per_block, and
 * ours are given to it the same way. */
#ifndef KW_PREDICT_CK_CK_ROWS_H
#define KW_PREDICT_CK_CK_ROWS_H

#include "predict/ck/features_ck.h"

#include "config/config.h"
#include "predict/forest/forest.h"

enum { KW_CK_FEATURES_MAX = KW_CK_FEATURES_CONV };

/* All columns for an operation: 72 or 97. */
const kw_feature_table *kw_ck_table(kw_op op);
/* Whether a config has the tiles and the pipeline that the columns are made of. */
bool kw_ck_describes(const kw_config *config);
/* Fills a whole row. The problem is of the config's operation; hardware gives the constants (kw_ck_features_hardware_of). Only for a config
 * that is described. */
void kw_ck_row(double *row, const kw_config *config, const kw_problem *problem, const kw_ck_features_hardware *hardware);
/* What a column depends on. */
kw_forest_role kw_ck_role(const kw_feature_table *table, size_t column);

#endif

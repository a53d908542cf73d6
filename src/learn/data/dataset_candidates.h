/* dataset_candidates.h: candidates without a row. A data set holds what was measured; what dispatch chooses from may be more, and a
 * selection that was never measured must count against its selector. */
#ifndef KW_LEARN_DATA_DATASET_CANDIDATES_H
#define KW_LEARN_DATA_DATASET_CANDIDATES_H

#include "config/catalog.h"
#include "learn/data/dataset.h"

/* Reads a catalog file. */
kw_status kw_dataset_candidates_read(kw_catalog *candidates, const char *path, kw_error *err);
/* Gives every problem group a pair with outcome KW_UNTRIED for each generated config of the catalog that fits and has no row there;
 * pairs of a problem group stay in the order of their texts. *added (may be NULL): how many. */
kw_status kw_dataset_candidates_add(kw_dataset *dataset, const kw_catalog *candidates, size_t *added, kw_error *err);

#endif

/* catalog_json.h: configs as JSON. The form is
 *     {"kernelwright": 1, "configs": [{"family": "conv.direct", "op": "conv_fwd", "dtype": "fp32", "isa": "avx512", "tile_w": 14, ...}, ...]}
 * with every axis of the family: integers, or strings for word axes. Reading is strict: an unknown or missing key, a duplicate
 * key, a wrong type or a value outside its axis is an error that names the config and the key. */
#ifndef KW_SPACE_CATALOG_JSON_H
#define KW_SPACE_CATALOG_JSON_H

#include "config/catalog.h"

/* Adds the configs of the text to the catalog; after an error the catalog holds some of them. name begins error messages. Lists of CK's
 * dispatcher are read, too (space/ck/instances.h); remark (may be NULL) is then filled where some of their kernels cannot be made here. */
enum { KW_CATALOG_REMARK_MAX = 480 };
kw_status kw_catalog_json_read(kw_catalog *catalog, char remark[KW_CATALOG_REMARK_MAX], const char *name, const char *text, size_t size,
                               kw_error *err);
/* Appends the catalog's JSON, one config a line. */
kw_status kw_catalog_json_print(kw_text *out, const kw_catalog *catalog, kw_error *err);

#endif

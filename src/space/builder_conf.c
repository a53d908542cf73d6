#include "space/builder_conf.h"

kw_status kw_builder_read(kw_catalog *out, const kw_builder_lists *lists, const kw_config *base, kw_error *err) {
    (void)out, (void)base;
    return kw_fail(err, KW_MISSING, "%s: no lists of %s", lists->folder, lists->subset);
}

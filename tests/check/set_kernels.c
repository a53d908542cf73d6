/* set_kernels.c: see the header. */
#include "check/set_kernels.h"

#include "space/enumerate.h"

#include <stdlib.h>

static bool add_config(void *user, const kw_config *config) {
    return !config->family->emit || kw_catalog_add(user, config, NULL, NULL) == KW_OK;
}

kw_status set_kernels(kw_catalog *catalog, const char *set, const char *arch, kw_error *err) {
    const char *other = getenv("KW_CHECK_SET");
    kw_space_options options = {.size = sizeof options, .set = other ? other : set, .arch = arch, .filter = getenv("KW_CHECK_FILTER")};
    return kw_enumerate(&options, add_config, catalog, err);
}

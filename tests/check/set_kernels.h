/* set_kernels.h: the generated kernels of a rule set. Apart, because space/ and measure/bench.h do not go into one file. */
#ifndef KW_TESTS_SET_KERNELS_H
#define KW_TESTS_SET_KERNELS_H

#include "config/catalog.h"

/* KW_CHECK_SET and KW_CHECK_FILTER in the environment have others than set's. */
kw_status set_kernels(kw_catalog *catalog, const char *set, const char *arch, kw_error *err);

#endif

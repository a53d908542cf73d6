/* no_kernels.c: what make_catalogs, which emits no kernel, has in place of the kernel texts; so it is not linked anew when one
 * is edited. */
#include "base/embedded.h"

extern const kw_embedded kw_kernel_files[];
const kw_embedded kw_kernel_files[] = {{0}};

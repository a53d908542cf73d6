/* no_models.c: what a build without compiled-in models has in their place. */
#include "base/embedded.h"

extern const kw_embedded kw_builtin_models[];
const kw_embedded kw_builtin_models[] = {{0}};

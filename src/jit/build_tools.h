/* build_tools.h: the compiler and the blob cache of a context, found and opened on first need, once. Looking for a compiler starts child
 * processes, so a context whose kernels are all cached never does it. All functions may be called from many threads. */
#ifndef KW_JIT_BUILD_TOOLS_H
#define KW_JIT_BUILD_TOOLS_H

#include "base/os/settings.h"
#include "jit/open.h"

#include <pthread.h>

typedef struct kw_build_tools {
    const kw_settings *settings;
    pthread_mutex_t lock; /* of what follows; what was found stays as it is */
    bool compiler_sought, cache_opened;
    kw_jit_handle handle;
    char compiler_name[64]; /* "gcc 12.2.0", or "" */
} kw_build_tools;

/* settings outlive it. */
kw_status kw_build_tools_open(kw_build_tools **build_tools, const kw_settings *settings, const kw_target *target, kw_error *err);
void kw_build_tools_close(kw_build_tools **build_tools);

/* What kw_jit_blob needs. With compile false only the cache answers and no compiler is looked for. */
kw_jit kw_build_tools_jit(kw_build_tools *build_tools, bool compile);
/* "gcc 12.2.0", or "" with the reason in *note (may be NULL). */
const char *kw_build_tools_compiler(kw_build_tools *build_tools, const char **note);
/* NULL when the cache is off; *note (may be NULL) says why. */
kw_cache *kw_build_tools_cache(kw_build_tools *build_tools, const char **note);

#endif

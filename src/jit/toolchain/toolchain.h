/* toolchain.h: source -> blob, one const struct a toolchain: cc.c, nvrtc.c, hip.c; the table is in toolchain.c. A toolchain knows nothing
 * of configs or of the cache; jit.c puts the three together. */
#ifndef KW_JIT_TOOLCHAIN_TOOLCHAIN_H
#define KW_JIT_TOOLCHAIN_TOOLCHAIN_H

#include "jit/jit.h"

typedef struct kw_compile {
    const kw_compiler *compiler;
    const char *source;
    size_t size;
    const char *machine; /* of kw_source_options */
    const char *name;    /* of the source file; stands in the compiler's messages */
} kw_compile;

typedef struct kw_compile_result {
    kw_blob blob;
    kw_text command, messages; /* the command line as a person would type it; all that the compiler printed */
    int64_t cpu_ns;
} kw_compile_result;

void kw_compile_result_drop(kw_compile_result *result);

struct kw_toolchain {
    const char *name; /* "cc", "nvrtc", "hip" */
    /* Looks for wanted (a path or a name), or for the usual ones when wanted is NULL, and asks it who it is. KW_ENVIRONMENT when none works
     * for the code's architecture. */
    kw_status (*find)(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err);
    /* The options every kernel is compiled with, ended by NULL; part of the cache key. */
    const char *const *(*options)(const kw_compiler *compiler);
    /* KW_FAILED: the compiler refused, crashed, ran too long or left no object. KW_ENVIRONMENT: it could not be run. The result is
     * filled as far as things went, also then; drop it in any case. */
    kw_status (*compile)(const kw_compile *compile, kw_compile_result *result, kw_error *err);
    /* KW_OK when the bytes are a whole object of this toolchain, so that reading or loading them cannot run past their end. */
    kw_status (*check)(const kw_blob *blob, kw_error *err);
    /* What a checked blob says of itself. NULL: nothing. */
    kw_status (*facts)(kw_blob_facts *facts, const kw_blob *blob, kw_error *err);
};

#endif

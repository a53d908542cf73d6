/* cc.h: one run of a C compiler. Knows nothing of configs or of the cache; jit.c puts the three together. */
#ifndef KW_JIT_CC_H
#define KW_JIT_CC_H

#include "jit/jit.h"

typedef struct kw_compile {
    const kw_compiler *compiler;
    const char *source;
    size_t size;
    const char *machine; /* blank-separated options of kw_codegen_options */
    const char *name;    /* of the source file; stands in the compiler's messages */
} kw_compile;

typedef struct kw_compile_result {
    kw_blob blob;
    kw_text command, messages; /* the command line as a person would type it; all that the compiler printed */
    int64_t cpu_ns;
} kw_compile_result;

/* KW_FAILED: the compiler refused, crashed, ran too long or left no shared object. KW_ENVIRONMENT: it could not be run. The result is
 * filled as far as things went, also then; drop it in any case. */
kw_status kw_compile_run(const kw_compile *compile, kw_compile_result *result, kw_error *err);
void kw_compile_result_drop(kw_compile_result *result);

/* The options every kernel is compiled with, ended by NULL; part of the cache key. */
const char *const *kw_compiler_options(const kw_compiler *compiler);

/* KW_OK when the bytes are a whole shared object for this machine, so that loading them cannot run past their end. */
kw_status kw_blob_check(const kw_blob *blob, kw_error *err);

#endif

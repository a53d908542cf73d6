/* compile_result.c: ends of what a toolchain gives. Apart from toolchain.c, which knows the toolchains that call this. */
#include "jit/toolchain/toolchain.h"

#include <stdlib.h>

void kw_blob_drop(kw_blob *blob) {
    free(blob->data);
    *blob = (kw_blob){0};
}

void kw_compile_result_drop(kw_compile_result *result) {
    kw_blob_drop(&result->blob);
    kw_text_drop(&result->command);
    kw_text_drop(&result->messages);
}

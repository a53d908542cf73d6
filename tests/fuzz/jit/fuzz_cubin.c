/* fuzz_cubin.c: bytes as a CUBIN. What is accepted can be read again after a note was appended, and says the same. */
#include "jit/toolchain/nvrtc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_cubin first, second;
    kw_blob blob = {malloc(size ? size : 1), size};
    if (!blob.data) {
        return 0;
    }
    memcpy(blob.data, data, size);
    if (!kw_cubin_read(&first, &blob, NULL) && !kw_cubin_note_spills(&blob, 77, NULL)) {
        if (kw_cubin_read(&second, &blob, NULL) || second.spill_bytes != 77 || memcmp(first.stage, second.stage, sizeof first.stage)) {
            abort();
        }
    }
    kw_blob_drop(&blob);
    return 0;
}

/* fuzz.h: what every fuzz target includes: the function that libFuzzer calls, and require(), whose breach is a crash, which is how
 * a fuzzer hears of it. */
#ifndef KW_FUZZ_FUZZ_H
#define KW_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int holds) {
    if (!holds) {
        abort();
    }
}

#endif

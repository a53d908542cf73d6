/* fuzz_code_object.c: any bytes as an AMD code object, and as the metadata of one that is sound otherwise: refused in one line, or read without
 * going past the end, and then no count is negative. */
#include "fuzz/fuzz.h"
#include "jit/toolchain/hip.h"
#include "support/device/code_object.h"

static void read_blob(const kw_blob *blob) {
    kw_blob_facts facts;
    kw_error err = {0};
    kw_status status = kw_blob_facts_read(&facts, blob, (kw_code){KW_DIALECT_AMD, NULL}, &err);
    require(status == err.status && (!status || (*err.text && !strchr(err.text, '\n'))));
    if (!status) {
        require(facts.registers >= 0 && facts.acc_registers >= 0 && facts.scalar_registers >= 0 && facts.lds >= 0);
        require(facts.scratch >= 0 && facts.spill_bytes >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_blob whole = {malloc(size ? size : 1), size};
    if (!whole.data) {
        return 0;
    }
    memcpy(whole.data, data, size);
    read_blob(&whole);
    kw_blob_drop(&whole);
    kw_blob framed = code_object_make(data, size, "kw_stage0");
    read_blob(&framed);
    kw_blob_drop(&framed);
    return 0;
}

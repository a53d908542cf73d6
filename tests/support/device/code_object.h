/* code_object.h: AMD code objects made by hand, for tests that shall not need a compiler. */
#ifndef KW_TESTS_CODE_OBJECT_H
#define KW_TESTS_CODE_OBJECT_H

#include "jit/jit.h"

/* MessagePack under construction. */
typedef struct pack_text {
    unsigned char data[1024];
    size_t size;
} pack_text;

void pack_byte(pack_text *pack, unsigned byte);
void pack_string(pack_text *pack, const char *string); /* below 32 letters, or below 256 */
void pack_number(pack_text *pack, unsigned long long number);

/* A kernel's map with these counts: registers, accumulators, scalar registers, shared bytes, scratch bytes, spilled vector registers. */
void pack_kernel(pack_text *pack, const char *name, const unsigned counts[6]);

/* The whole object: a header, a part that holds one note of these bytes and then the names (for who looks for them). On the heap. */
kw_blob code_object_make(const void *note, size_t note_size, const char *names);
/* One kernel, kw_stage0, with these counts. */
kw_blob code_object_of(const unsigned counts[6]);
/* Two kernels, kw_stage0 and kw_stage1, as sound as need be. */
kw_blob code_object_sample(void);

#endif

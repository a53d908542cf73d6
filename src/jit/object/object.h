/* object.h: what the toolchains' check() share: is this a whole ELF file? */
#ifndef KW_JIT_OBJECT_OBJECT_H
#define KW_JIT_OBJECT_OBJECT_H

#include "jit/jit.h"

/* KW_OK when the bytes are a 64-bit little-endian ELF file of that type (ET_DYN, ET_EXEC) and machine (EM_*) whose program headers, the
 * parts that they name, its section headers and sections all lie inside the bytes. */
kw_status kw_object_check(const kw_blob *blob, int type, int machine, kw_error *err);

#endif

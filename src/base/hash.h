/* hash.h: names from contents. Hashes only make identity fast; what is persisted is text. */
#ifndef KW_BASE_HASH_H
#define KW_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { KW_HASH_TEXT = 33 };

uint64_t kw_hash64(const void *bytes, size_t size);
/* 128 bits as 32 hexadecimal digits, terminated. */
void kw_hash_text(char text[KW_HASH_TEXT], const void *bytes, size_t size);

#endif

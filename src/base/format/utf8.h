/* utf8.h: the one decoder of UTF-8, for bytes that nobody vouches for (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF). */
#ifndef KW_BASE_FORMAT_UTF8_H
#define KW_BASE_FORMAT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The character at the front of a terminated text: its length in bytes, or 0 when they are not UTF-8. code (may be NULL) gets its number.
 * The terminator is a character of length 1. Nothing behind it is read. */
size_t kw_utf8_decode(const char *text, uint32_t *code);

#endif

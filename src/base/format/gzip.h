/* gzip.h: gzip in memory, by zlib. What is unpacked is bounded by the caller, so that a small input cannot claim much memory or time. */
#ifndef KW_BASE_FORMAT_GZIP_H
#define KW_BASE_FORMAT_GZIP_H

#include "base/status.h"
#include "base/text.h"

/* Whether the bytes begin as gzip does. */
bool kw_gzip_is(const void *data, size_t size);
/* Appends size bytes as one gzip member; the same bytes give the same member (no time, no name). */
kw_status kw_gzip_pack(kw_text *out, const void *data, size_t size, kw_error *err);
/* Appends what one gzip member holds. KW_ILLEGAL: more than limit bytes; KW_MALFORMED: damaged, cut short, or bytes follow it. After a
 * failure out holds what came before it. */
kw_status kw_gzip_unpack(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err);
/* The same of a file that may be gzip or not; what is not is appended as it is. */
kw_status kw_gzip_unpack_any(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err);

#endif

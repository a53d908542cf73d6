/* embedded.c: finding and unpacking what was compiled in. */
#include "base/embedded.h"

#include "base/format/gzip.h"

#include <string.h>

enum { TEXT_LIMIT = 1 << 30 };

const kw_embedded *kw_embedded_find(const kw_embedded table[], const char *name) {
    for (const kw_embedded *file = table; file->name; file++) {
        if (!strcmp(file->name, name)) {
            return file;
        }
    }
    return NULL;
}

kw_status kw_embedded_text(kw_text *out, const kw_embedded *file, kw_error *err) {
    return kw_gzip_unpack_any(out, file->text, kw_embedded_size(file), TEXT_LIMIT, err);
}

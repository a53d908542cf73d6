/* forest_file.c: a model's bytes: a regular file, told by its first two bytes to be gzip or text. A gzip file is one member; its text may
 * not outgrow KW_FOREST_MAX_TEXT nor KW_FOREST_MAX_RATIO, so that a small file cannot claim much memory or time. */
#include "predict/forest/forest.h"

#include "base/os/file.h"
#include "base/format/gzip.h"
#include "predict/forest/read/forest_read.h"

static kw_status parse_gzip(kw_forest **out, const char *name, const void *data, size_t size, kw_error *err) {
    kw_text text = {0};
    kw_error why = {0};
    size_t limit = ((size_t)1 << 20) + size * KW_FOREST_MAX_RATIO;
    kw_status status = kw_gzip_unpack(&text, data, size, limit < KW_FOREST_MAX_TEXT ? limit : KW_FOREST_MAX_TEXT, &why);
    if (status) {
        kw_fail(err, status, "model %.80s: %s%s", name, why.text, status == KW_ILLEGAL ? ", the most for a file of its size" : "");
    } else {
        status = kw_forest_read_text(out, name, (kw_scan){kw_text_string(&text), kw_text_string(&text) + text.size}, err);
    }
    kw_text_drop(&text);
    return status;
}

kw_status kw_forest_parse(kw_forest **out, const char *name, const void *data, size_t size, kw_error *err) {
    const char *text = data ? data : "";
    const unsigned char *bytes = data;
    *out = NULL;
    if (size > KW_FOREST_MAX_FILE && size >= 2 && bytes[0] == 0x1f) {
        return kw_fail(err, KW_ILLEGAL, "model %.80s has %zu bytes; at most %d are read of a gzip file", name, size, KW_FOREST_MAX_FILE);
    }
    if (size > KW_FOREST_MAX_TEXT) {
        return kw_fail(err, KW_ILLEGAL, "model %.80s has %zu bytes; at most %d are read", name, size, KW_FOREST_MAX_TEXT);
    }
    if (kw_gzip_is(data, size)) {
        return parse_gzip(out, name, data, size, err);
    }
    return kw_forest_read_text(out, name, (kw_scan){text, text + size}, err);
}

kw_status kw_forest_load(kw_forest **out, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *data = NULL;
    size_t size = 0;
    *out = NULL;
    kw_status status = kw_file_read(&arena, path, KW_FOREST_MAX_TEXT, &data, &size, err);
    status = status ? status : kw_forest_parse(out, path, data, size, err);
    kw_arena_drop(&arena);
    return status;
}

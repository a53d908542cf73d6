/* forest_file.c: a model's bytes: a regular file, told by its first two bytes to be gzip or text. A gzip file is one member; its text may
 * not outgrow KW_FOREST_MAX_TEXT nor KW_FOREST_MAX_RATIO, so that a small file cannot claim much memory or time. */
#include "predict/forest/forest.h"

#include "base/os/file.h"
#include "predict/forest/forest_read.h"

#include <stdlib.h>
#include <zlib.h>

typedef struct inflated {
    char *text;
    size_t size, capacity;
} inflated;

static kw_status fail_zlib(const char *name, int code, kw_error *err) {
    if (code == Z_MEM_ERROR) {
        return kw_fail_memory(err, name);
    }
    return kw_fail(err, KW_MALFORMED, "model %.80s: gzip data is %s", name, code == Z_BUF_ERROR ? "cut short" : "damaged");
}

/* Text of size bytes of gzip: grows by doubling up to the limit. */
static kw_status inflate_all(inflated *out, z_stream *stream, size_t limit, const char *name, kw_error *err) {
    int code = Z_OK;
    while (code == Z_OK) {
        if (out->size == out->capacity) {
            if (out->capacity == limit) {
                return kw_fail(err, KW_ILLEGAL, "model %.80s: gzip data holds more than %zu bytes, the most for a file of its size", name,
                               limit);
            }
            size_t wanted = out->capacity ? 2 * out->capacity : (size_t)1 << 16;
            wanted = wanted < limit ? wanted : limit;
            char *memory = realloc(out->text, wanted);
            if (!memory) {
                return kw_fail_memory(err, name);
            }
            out->text = memory;
            out->capacity = wanted;
        }
        stream->next_out = (unsigned char *)out->text + out->size;
        stream->avail_out = (unsigned)(out->capacity - out->size);
        code = inflate(stream, Z_NO_FLUSH);
        out->size = out->capacity - stream->avail_out;
        if (code == Z_BUF_ERROR && !stream->avail_out) {
            code = Z_OK;
        }
    }
    if (code != Z_STREAM_END) {
        return fail_zlib(name, code, err);
    }
    return stream->avail_in ? kw_fail(err, KW_MALFORMED, "model %.80s: %u bytes follow the gzip data", name, stream->avail_in) : KW_OK;
}

static kw_status parse_gzip(kw_forest **out, const char *name, const void *data, size_t size, kw_error *err) {
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)size};
    inflated text = {0};
    size_t limit = ((size_t)1 << 20) + size * KW_FOREST_MAX_RATIO;
    int code = inflateInit2(&stream, 15 + 16); /* the largest window, gzip frame only */
    if (code != Z_OK) {
        return fail_zlib(name, code, err);
    }
    kw_status status = inflate_all(&text, &stream, limit < KW_FOREST_MAX_TEXT ? limit : KW_FOREST_MAX_TEXT, name, err);
    inflateEnd(&stream);
    if (!status) {
        status = kw_forest_read_text(out, name, (kw_scan){text.text, text.text + text.size}, err);
    }
    free(text.text);
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
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
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

/* gzip.c: zlib reads and writes the text's own memory, piece by piece. */
#include "base/format/gzip.h"

#include <limits.h>
#include <zlib.h>

enum { WINDOW = 15 + 16 /* the largest, and a gzip frame */, LEVEL = 9, MEMORY = 9, PIECE = 1 << 16 };

bool kw_gzip_is(const void *data, size_t size) {
    const unsigned char *bytes = data;
    return size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

typedef struct gzip_run {
    z_stream stream;
    const unsigned char *at; /* what the stream was not given yet */
    size_t left;
    kw_text *out;
} gzip_run;

/* The stream's next piece of input, and room for up to room bytes of output. false: no memory. */
static bool feed(gzip_run *run, size_t room) {
    if (!run->stream.avail_in) {
        run->stream.avail_in = run->left < UINT_MAX ? (uInt)run->left : UINT_MAX;
        run->stream.next_in = (Bytef *)(uintptr_t)run->at;
        run->at += run->stream.avail_in;
        run->left -= run->stream.avail_in;
    }
    run->stream.avail_out = room < PIECE ? (uInt)room : PIECE;
    if (!kw_text_reserve(run->out, run->stream.avail_out)) {
        return false;
    }
    run->stream.next_out = (Bytef *)run->out->data + run->out->size;
    return true;
}

static void take_output(gzip_run *run) {
    run->out->size = (size_t)((char *)run->stream.next_out - run->out->data);
    run->out->data[run->out->size] = 0;
}

kw_status kw_gzip_pack(kw_text *out, const void *data, size_t size, kw_error *err) {
    gzip_run run = {.at = data, .left = size, .out = out};
    int code = deflateInit2(&run.stream, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY);
    if (code != Z_OK) {
        return kw_fail_memory(err, "compressing");
    }
    while (code == Z_OK) {
        if (!feed(&run, PIECE)) {
            code = Z_MEM_ERROR;
            break;
        }
        code = deflate(&run.stream, run.left ? Z_NO_FLUSH : Z_FINISH);
        take_output(&run);
    }
    deflateEnd(&run.stream);
    return code == Z_STREAM_END ? KW_OK : kw_fail_memory(err, "compressing");
}

static kw_status fail_zlib(int code, kw_error *err) {
    if (code == Z_MEM_ERROR) {
        return kw_fail_memory(err, "uncompressing");
    }
    return kw_fail(err, KW_MALFORMED, "gzip data is %s", code == Z_BUF_ERROR ? "cut short" : "damaged");
}

kw_status kw_gzip_unpack(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err) {
    gzip_run run = {.at = data, .left = size, .out = out};
    size_t start = out->size;
    int code = inflateInit2(&run.stream, WINDOW);
    if (code != Z_OK) {
        return fail_zlib(code, err);
    }
    while (code == Z_OK && out->size - start <= limit) {
        if (!feed(&run, limit - (out->size - start) + 1)) { /* one byte more shows that there is more */
            code = Z_MEM_ERROR;
            break;
        }
        code = inflate(&run.stream, Z_NO_FLUSH); /* there is room, so Z_BUF_ERROR means want of input */
        take_output(&run);
    }
    size_t behind = run.stream.avail_in + run.left;
    inflateEnd(&run.stream);
    if (out->size - start > limit) {
        return kw_fail(err, KW_ILLEGAL, "gzip data holds more than %zu bytes", limit);
    }
    if (code != Z_STREAM_END) {
        return fail_zlib(code, err);
    }
    return behind ? kw_fail(err, KW_MALFORMED, "%zu bytes follow the gzip data", behind) : KW_OK;
}

kw_status kw_gzip_unpack_any(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err) {
    if (kw_gzip_is(data, size)) {
        return kw_gzip_unpack(out, data, size, limit, err);
    }
    kw_text_add_bytes(out, data, size);
    return out->failed ? kw_fail_memory(err, "a file") : KW_OK;
}

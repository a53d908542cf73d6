/* writer.c: see writer.h. */
#include "store/io/writer.h"

#include "base/os/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct kw_writer {
    kw_output output; /* its descriptor is that of standard output where path is "-" */
    gzFile zip;       /* NULL: not compressed; it has a descriptor of its own */
    char *path;
    bool standard;
};

static bool ends_in_gz(const char *path) {
    size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".gz");
}

static kw_status open_zip(kw_writer *writer, kw_error *err) {
    int copy = fcntl(writer->output.fd, F_DUPFD_CLOEXEC, 0);
    writer->zip = copy < 0 ? NULL : gzdopen(copy, "wb");
    if (!writer->zip) {
        if (copy >= 0) {
            close(copy);
        }
        return kw_fail_memory(err, writer->path);
    }
    return KW_OK;
}

kw_status kw_writer_open(kw_writer **out, const char *path, kw_error *err) {
    *out = NULL;
    kw_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return kw_fail_memory(err, path);
    }
    writer->output.fd = -1;
    writer->path = strdup(path);
    writer->standard = !strcmp(path, "-");
    kw_status status = KW_OK;
    if (!writer->path) {
        status = kw_fail_memory(err, path);
    } else if (writer->standard) {
        writer->output.fd = STDOUT_FILENO;
    } else {
        status = kw_output_open(&writer->output, path, 0666, err);
        status = status || !ends_in_gz(path) ? status : open_zip(writer, err);
    }
    *out = writer;
    return status ? kw_writer_close(out, status, err) : KW_OK;
}

kw_status kw_writer_put(kw_writer *writer, kw_text *text, kw_error *err) {
    kw_status status = KW_OK;
    if (text->failed) {
        status = kw_fail_memory(err, writer->path);
    } else if (writer->zip && text->size) {
        if (gzwrite(writer->zip, text->data, (unsigned)text->size) != (int)text->size) {
            int code = Z_OK;
            const char *why = gzerror(writer->zip, &code);
            status =
                code == Z_ERRNO ? kw_fail_file(err, "write", writer->path) : kw_fail(err, KW_IO, "cannot write %s: %s", writer->path, why);
        }
    } else if (!kw_file_write(writer->output.fd, text->data, text->size)) {
        status = kw_fail_file(err, "write", writer->path);
    }
    text->size = 0;
    return status;
}

kw_status kw_writer_close(kw_writer **handle, kw_status status, kw_error *err) {
    kw_writer *writer = *handle;
    *handle = NULL;
    if (!writer) {
        return status;
    }
    if (writer->zip && gzclose(writer->zip) != Z_OK && !status) {
        status = kw_fail_file(err, "write", writer->path);
    }
    if (!writer->standard) {
        status = kw_output_close(&writer->output, status, err);
    }
    free(writer->path);
    free(writer);
    return status;
}

/* writer.c: see writer.h. */
#include "store/io/writer.h"

#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct kw_writer {
    int fd;
    gzFile zip;             /* NULL: not compressed; it has a descriptor of its own */
    char *path, *temporary; /* temporary NULL: written in place: standard output, a pipe */
};

static bool ends_in_gz(const char *path) {
    size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".gz");
}

static kw_status open_output(kw_writer *writer, kw_error *err) {
    struct stat info;
    if (!stat(writer->path, &info) && !S_ISREG(info.st_mode)) { /* a pipe or device: nothing to rename */
        writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
        if (writer->fd < 0) {
            return kw_fail_file(err, "write", writer->path);
        }
    } else {
        kw_text name = {0};
        kw_text_addf(&name, "%s.%lld.part", writer->path, (long long)getpid());
        writer->temporary = kw_text_take(&name);
        if (!writer->temporary) {
            return kw_fail_memory(err, writer->path);
        }
        writer->fd = open(writer->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (writer->fd < 0) {
            kw_status status = kw_fail_file(err, "write", writer->path);
            free(writer->temporary);
            writer->temporary = NULL;
            return status;
        }
    }
    if (ends_in_gz(writer->path)) {
        int copy = fcntl(writer->fd, F_DUPFD_CLOEXEC, 0);
        writer->zip = copy < 0 ? NULL : gzdopen(copy, "wb");
        if (!writer->zip) {
            if (copy >= 0) {
                close(copy);
            }
            return kw_fail_memory(err, writer->path);
        }
    }
    return KW_OK;
}

kw_status kw_writer_open(kw_writer **out, const char *path, kw_error *err) {
    *out = NULL;
    kw_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return kw_fail_memory(err, path);
    }
    writer->fd = -1;
    writer->path = strdup(path);
    kw_status status = KW_OK;
    if (!writer->path) {
        status = kw_fail_memory(err, path);
    } else if (!strcmp(path, "-")) {
        writer->fd = STDOUT_FILENO;
    } else {
        status = open_output(writer, err);
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
    } else if (!kw_file_write(writer->fd, text->data, text->size)) {
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
    if (writer->temporary && !status && fsync(writer->fd)) {
        status = kw_fail_file(err, "write", writer->path);
    }
    if (writer->fd >= 0 && writer->fd != STDOUT_FILENO && close(writer->fd) && !status) {
        status = kw_fail_file(err, "write", writer->path);
    }
    if (writer->temporary && !status && rename(writer->temporary, writer->path)) {
        status = kw_fail_file(err, "write", writer->path);
    }
    if (writer->temporary && status) {
        unlink(writer->temporary);
    }
    free(writer->temporary);
    free(writer->path);
    free(writer);
    return status;
}

/* reader.c: lines out of a window of bytes. zlib reads files that are not compressed as they are, so there is one way in. */
#include "store/io/reader.h"

#include "base/os/file.h"
#include "store/line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* A file of lines like ours shrinks to a tenth, equal refusals to a fiftieth. One that shrinks to less than a two-hundredth was made to fill
 * memory or disk. */
enum { WINDOW = KW_LINE_MAX + 2, BOMB_RATIO = 200, BOMB_FREE = 16 << 20, PIPE_WAIT_MS = 3000 };

struct kw_reader {
    gzFile file;
    kw_scan bytes;   /* where file is NULL */
    char *window;    /* WINDOW bytes */
    size_t at, size; /* what is left of it: at <= size */
    int64_t number, inflated;
    bool ended;
    char path[256];
};

static kw_status create(kw_reader **out, const char *path, kw_error *err) {
    kw_reader *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->window = malloc(WINDOW);
        size_t length = strlen(path);
        memcpy(reader->path, path, length < sizeof reader->path ? length : sizeof reader->path - 1);
    }
    if (!reader || !reader->window) {
        kw_reader_close(&reader);
        return kw_fail_memory(err, path);
    }
    *out = reader;
    return KW_OK;
}

kw_status kw_reader_open_bytes(kw_reader **out, const void *bytes, size_t size, kw_error *err) {
    *out = NULL;
    kw_status status = create(out, "memory", err);
    if (!status) {
        (*out)->bytes = (kw_scan){bytes, (const char *)bytes + size};
    }
    return status;
}

/* A file, or a pipe that somebody writes: one that nobody opens in time is told; a device, which may never end, is refused. */
static kw_status open_input(int *fd, const char *path, kw_error *err) {
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0 || fstat(*fd, &info)) {
        return kw_fail_file(err, "read", path);
    }
    if (S_ISREG(info.st_mode)) {
        return KW_OK;
    }
    if (!S_ISFIFO(info.st_mode)) {
        return kw_fail(err, KW_IO, "cannot read %s: it is neither a file nor a pipe", path);
    }
    struct pollfd ready = {*fd, POLLIN, 0};
    int heard = 0;
    do {
        heard = poll(&ready, 1, PIPE_WAIT_MS);
    } while (heard < 0 && errno == EINTR);
    char first;
    if (heard <= 0 && (read(*fd, &first, 1) >= 0 || errno != EAGAIN)) { /* EAGAIN: somebody has it open and takes his time */
        return kw_fail(err, KW_IO, "cannot read %s: nobody has opened this pipe to write for %d s", path, PIPE_WAIT_MS / 1000);
    }
    return fcntl(*fd, F_SETFL, O_RDONLY) ? kw_fail_file(err, "read", path) : KW_OK;
}

kw_status kw_reader_open(kw_reader **out, const char *path, kw_error *err) {
    *out = NULL;
    int fd = -1;
    kw_status status = KW_OK;
    if (strcmp(path, "-") != 0) {
        status = open_input(&fd, path, err);
    } else if ((fd = dup(0)) < 0) {
        status = kw_fail_file(err, "read", path);
    }
    status = status ? status : create(out, path, err);
    if (!status) {
        (*out)->file = gzdopen(fd, "rb");
        if (!(*out)->file) {
            status = kw_fail_memory(err, path);
        }
    }
    if (status) {
        if (fd >= 0) {
            close(fd);
        }
        kw_reader_close(out);
    }
    return status;
}

void kw_reader_close(kw_reader **handle) {
    kw_reader *reader = *handle;
    *handle = NULL;
    if (reader) {
        if (reader->file) {
            gzclose(reader->file);
        }
        free(reader->window);
        free(reader);
    }
}

static kw_status fill_from_file(kw_reader *reader, size_t room, size_t *got, kw_error *err) {
    int count = gzread(reader->file, reader->window + reader->size, (unsigned)room);
    if (count <= 0) {
        int code = Z_OK;
        const char *why = gzerror(reader->file, &code);
        if (code == Z_MEM_ERROR) {
            return kw_fail_memory(err, reader->path);
        }
        if (code == Z_ERRNO) {
            return kw_fail(err, KW_IO, "cannot read %s: %s", reader->path, why);
        }
        if (code != Z_OK && code != Z_STREAM_END) {
            return kw_fail(err, KW_MALFORMED, "%s is damaged or cut off: %s", reader->path,
                           code == Z_BUF_ERROR ? "it ends too early" : why);
        }
        *got = 0;
        return KW_OK;
    }
    *got = (size_t)count;
    reader->inflated += count;
    int64_t packed = gzdirect(reader->file) ? reader->inflated : (int64_t)gzoffset(reader->file);
    if (reader->inflated > BOMB_FREE && reader->inflated / BOMB_RATIO > packed) {
        return kw_fail(err, KW_ILLEGAL, "%s grows to more than %d times its size when it is unpacked; it is not read further", reader->path,
                       BOMB_RATIO);
    }
    return KW_OK;
}

/* Moves what is left to the window's front and fills the rest once. */
static kw_status fill_buffer(kw_reader *reader, kw_error *err) {
    size_t left = reader->size - reader->at, got = 0;
    memmove(reader->window, reader->window + reader->at, left);
    reader->at = 0;
    reader->size = left;
    size_t room = WINDOW - left;
    kw_status status = KW_OK;
    if (reader->file) {
        status = fill_from_file(reader, room, &got, err);
    } else {
        size_t rest = (size_t)(reader->bytes.end - reader->bytes.at);
        got = rest < room ? rest : room;
        if (got) {
            memcpy(reader->window + left, reader->bytes.at, got);
        }
        reader->bytes.at += got;
    }
    reader->size += got;
    reader->ended = !status && !got;
    return status;
}

/* Drops the rest of a line that does not fit into the window. */
static kw_status skip_line(kw_reader *reader, kw_error *err) {
    for (;;) {
        char *end = memchr(reader->window + reader->at, '\n', reader->size - reader->at);
        reader->at = end ? (size_t)(end - reader->window) + 1 : reader->size;
        if (end || reader->ended) {
            return KW_OK;
        }
        kw_status status = fill_buffer(reader, err);
        if (status) {
            return status;
        }
    }
}

kw_status kw_reader_next(kw_reader *reader, kw_reader_line *line, bool *more, kw_error *err) {
    char *end = NULL;
    *more = false;
    for (;;) {
        end = memchr(reader->window + reader->at, '\n', reader->size - reader->at);
        if (end || reader->ended || (reader->at == 0 && reader->size == WINDOW)) {
            break;
        }
        kw_status status = fill_buffer(reader, err);
        if (status) {
            return status;
        }
    }
    if (!end && reader->at == reader->size) {
        return KW_OK;
    }
    *more = true;
    line->number = ++reader->number;
    line->whole = end != NULL;
    if (!end && !reader->ended) { /* too long */
        line->text = (kw_word){"", 0};
        return skip_line(reader, err);
    }
    char *start = reader->window + reader->at;
    size_t size = end ? (size_t)(end - start) : reader->size - reader->at;
    reader->at += size + (end != NULL);
    line->text = (kw_word){start, size};
    return KW_OK;
}

kw_status kw_reader_peek(kw_reader *reader, char *first, kw_error *err) {
    *first = 0;
    for (;;) {
        if (reader->at == reader->size) {
            kw_status status = reader->ended ? KW_OK : fill_buffer(reader, err);
            if (status || reader->ended) {
                return status;
            }
        }
        char next = reader->window[reader->at];
        if (next != '\n' && next != '\r') {
            *first = next;
            return KW_OK;
        }
        reader->number += next == '\n';
        reader->at++;
    }
}

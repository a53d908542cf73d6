/* segment.c: see segment.h. */
#include "store/segment.h"

#include "base/os/file.h"
#include "base/container/hash_map.h"
#include "store/line.h"
#include "store/io/reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kw_segment {
    int fd;
    bool torn;               /* the file ends within a line */
    kw_hash_map pairs, runs; /* sets of 64-bit keys */
    char *path;
};

static bool set_has(const kw_hash_map *set, uint64_t key) {
    return kw_hash_map_find(set, &(kw_hash_map_key){.hash = key});
}

static bool set_add(kw_hash_map *set, uint64_t key) {
    if (set_has(set, key)) {
        return true;
    }
    if (!kw_hash_map_reserve(set, set->count + 1)) {
        return false;
    }
    kw_hash_map_put(set, key, 0);
    return true;
}

/* 64 bits: among a million pairs two share a key with a probability of 3 in 100 million; then one is not measured by this process. */
static uint64_t pair_key(const char *target, const char *problem, const char *config, bool packed, bool cold) {
    uint64_t parts[5] = {kw_hash64(target, strlen(target)), kw_hash64(problem, strlen(problem)), kw_hash64(config, strlen(config)), packed,
                         cold};
    return kw_hash64(parts, sizeof parts);
}

static uint64_t run_key(const kw_run *run) {
    return kw_hash64(run->id, strlen(run->id));
}

bool kw_segment_has(const kw_segment *segment, const char *target, const char *problem, const char *config, bool packed, bool cold) {
    return set_has(&segment->pairs, pair_key(target, problem, config, packed, cold));
}

static kw_status note_run(void *user, const kw_run *run, kw_error *err) {
    kw_segment *segment = user;
    return set_add(&segment->runs, run_key(run)) ? KW_OK : kw_fail_memory(err, segment->path);
}

static kw_status note_row(void *user, const kw_row *row, kw_error *err) {
    kw_segment *segment = user;
    if (row->record.outcome == KW_UNTRIED) {
        return KW_OK;
    }
    uint64_t key = pair_key(row->target, row->problem, row->record.config, row->packed, row->record.cold);
    return set_add(&segment->pairs, key) ? KW_OK : kw_fail_memory(err, segment->path);
}

/* Whether the file's last byte is no line end. */
static kw_status find_torn(kw_segment *segment, kw_error *err) {
    struct stat info;
    char last = '\n';
    if (fstat(segment->fd, &info)) {
        return kw_fail_file(err, "read", segment->path);
    }
    if (!S_ISREG(info.st_mode)) {
        return kw_fail(err, KW_IO, "cannot write %s: it is not a regular file", segment->path);
    }
    if (info.st_size && pread(segment->fd, &last, 1, info.st_size - 1) != 1) {
        return kw_fail_file(err, "read", segment->path);
    }
    segment->torn = last != '\n';
    return KW_OK;
}

kw_status kw_segment_open(kw_segment **out, const char *path, kw_error *err) {
    *out = NULL;
    kw_segment *segment = calloc(1, sizeof *segment);
    if (!segment) {
        return kw_fail_memory(err, path);
    }
    kw_status status = KW_OK;
    kw_segment_visitor visitor = {note_run, note_row, segment};
    kw_segment_counts counts;
    segment->fd = -1;
    segment->path = strdup(path);
    if (!segment->path) {
        status = kw_fail_memory(err, path);
        goto out;
    }
    segment->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (segment->fd < 0) {
        status = kw_fail_file(err, "write", path);
        goto out;
    }
    status = find_torn(segment, err);
    status = status ? status : kw_segment_read(path, &visitor, &counts, err);
out:
    if (status) {
        kw_segment_close(&segment);
    }
    *out = segment;
    return status;
}

void kw_segment_close(kw_segment **handle) {
    kw_segment *segment = *handle;
    *handle = NULL;
    if (segment) {
        if (segment->fd >= 0) {
            close(segment->fd);
        }
        kw_hash_map_drop(&segment->pairs);
        kw_hash_map_drop(&segment->runs);
        free(segment->path);
        free(segment);
    }
}

/* One write of whole lines, and on to the disk. text is dropped. */
static kw_status append_segment_text(kw_segment *segment, kw_text *text, kw_error *err) {
    kw_status status = KW_OK;
    if (text->failed) {
        status = kw_fail_memory(err, segment->path);
    } else if (text->size) {
        bool torn = segment->torn;
        segment->torn = true; /* until all of it is written */
        if ((torn && !kw_file_write(segment->fd, "\n", 1)) || !kw_file_write(segment->fd, text->data, text->size) ||
            fdatasync(segment->fd)) {
            status = kw_fail_file(err, "write", segment->path);
        } else {
            segment->torn = false;
        }
    }
    kw_text_drop(text);
    return status;
}

kw_status kw_segment_add_run(kw_segment *segment, const kw_run *given, kw_error *err) {
    kw_run run;
    kw_text text = {0};
    kw_status status = kw_run_normalize(&run, given, err);
    if (status || set_has(&segment->runs, run_key(&run))) {
        return status;
    }
    kw_line_add_run(&text, &run);
    status = append_segment_text(segment, &text, err);
    return status ? status : note_run(segment, &run, err);
}

kw_status kw_segment_add(kw_segment *segment, const kw_row rows[], size_t count, kw_error *err) {
    kw_row row;
    kw_text text = {0};
    for (size_t i = 0; i < count; i++) {
        kw_status status = kw_row_normalize(&row, &rows[i], err);
        if (status) {
            kw_text_drop(&text);
            return status;
        }
        kw_line_add_row(&text, &row);
    }
    kw_status status = append_segment_text(segment, &text, err);
    for (size_t i = 0; !status && i < count; i++) {
        status = note_row(segment, &rows[i], err);
    }
    return status;
}

static kw_status visit_line(kw_word line, const kw_segment_visitor *visitor, kw_segment_counts *counts, bool *damaged, kw_error *err) {
    kw_row row;
    kw_run run;
    kw_status status = KW_OK;
    switch (kw_line_kind_of(line)) {
    case KW_LINE_ROW:
        *damaged = kw_row_parse(&row, line.at, line.size, NULL) != KW_OK;
        if (!*damaged) {
            counts->rows++;
            status = visitor->row ? visitor->row(visitor->user, &row, err) : KW_OK;
        }
        return status;
    case KW_LINE_RUN:
        *damaged = kw_run_parse(&run, line.at, line.size, NULL) != KW_OK;
        if (!*damaged) {
            counts->runs++;
            status = visitor->run ? visitor->run(visitor->user, &run, err) : KW_OK;
        }
        return status;
    default:
        *damaged = line.size != 0; /* a blank line is what a repair leaves at worst */
        return KW_OK;
    }
}

static kw_status read_segment_lines(kw_reader *reader, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err) {
    kw_reader_line line;
    bool more = true;
    *counts = (kw_segment_counts){0};
    for (;;) {
        kw_error why = {0};
        bool damaged = false;
        kw_status status = kw_reader_next(reader, &line, &more, &why);
        if (status == KW_MALFORMED) { /* a compressed file that is cut off: what came before it stands */
            counts->damaged++;
            counts->first_damaged = counts->first_damaged ? counts->first_damaged : line.number + 1;
            return KW_OK;
        }
        if (status) {
            return kw_fail(err, status, "%s", why.text);
        }
        if (!more) {
            return KW_OK;
        }
        line.text.size -= line.text.size && line.text.at[line.text.size - 1] == '\r';
        status = visit_line(line.text, visitor, counts, &damaged, err);
        if (status) {
            return status;
        }
        damaged = damaged || (!line.whole && !line.text.size);
        counts->damaged += damaged;
        if (damaged && !counts->first_damaged) {
            counts->first_damaged = line.number;
        }
    }
}

kw_status kw_segment_read(const char *path, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err) {
    kw_reader *reader;
    kw_status status = kw_reader_open(&reader, path, err);
    status = status ? status : read_segment_lines(reader, visitor, counts, err);
    kw_reader_close(&reader);
    return status;
}

kw_status kw_segment_read_bytes(const void *bytes, size_t size, const kw_segment_visitor *visitor, kw_segment_counts *counts,
                                kw_error *err) {
    kw_reader *reader;
    kw_status status = kw_reader_open_bytes(&reader, bytes, size, err);
    status = status ? status : read_segment_lines(reader, visitor, counts, err);
    kw_reader_close(&reader);
    return status;
}

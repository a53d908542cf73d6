/* segment.c: see segment.h. */
#include "store/segment.h"

#include "base/os/file.h"
#include "base/container/hash_map.h"
#include "store/line.h"
#include "store/io/plausible.h"
#include "store/io/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* Until the process ends, however that happens. Where the file system has no such locks, two writers each measure everything, as documented. */
static kw_status lock_segment(kw_segment *segment, kw_error *err) {
    if (flock(segment->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        return kw_fail(err, KW_IO, "%s is being written by another process; give each a file of its own", segment->path);
    }
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
    status = lock_segment(segment, err);
    status = status ? status : find_torn(segment, err);
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

static void note_fault(kw_segment_counts *counts, int64_t number, const char *why) {
    if (!*counts->first_fault) {
        snprintf(counts->first_fault, sizeof counts->first_fault, "line %lld: %.220s", (long long)number, why);
    }
}

/* Sets *why, and leaves err alone, where the line is passed over. */
static kw_status visit_row_line(kw_word line, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *why, kw_error *err) {
    kw_row row;
    kw_status status = kw_row_parse(&row, line.at, line.size, why);
    counts->damaged += status && status != KW_NO_MEMORY;
    if (!status) {
        status = kw_row_plausible(&row, why);
        counts->refused += status && status != KW_NO_MEMORY;
    }
    if (status) {
        return status == KW_NO_MEMORY ? kw_fail(err, status, "%s", why->text) : KW_OK;
    }
    counts->rows++;
    return visitor->row ? visitor->row(visitor->user, &row, err) : KW_OK;
}

static kw_status visit_run_line(kw_word line, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *why, kw_error *err) {
    kw_run run;
    kw_status status = kw_run_parse(&run, line.at, line.size, why);
    counts->damaged += status && status != KW_NO_MEMORY;
    if (!status && visitor->run) {
        status = visitor->run(visitor->user, &run, why);
        counts->refused += status == KW_ILLEGAL;
        if (status && status != KW_ILLEGAL) {
            return kw_fail(err, status, "%s", why->text);
        }
    }
    counts->runs += !status;
    return status == KW_NO_MEMORY ? kw_fail(err, status, "%s", why->text) : KW_OK;
}

static kw_status visit_line(const kw_reader_line *line, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err) {
    kw_word text = line->text;
    kw_error why = {0};
    kw_status status = KW_OK;
    text.size -= text.size && text.at[text.size - 1] == '\r';
    switch (kw_line_kind_of(text)) {
    case KW_LINE_ROW:
        status = visit_row_line(text, visitor, counts, &why, err);
        break;
    case KW_LINE_RUN:
        status = visit_run_line(text, visitor, counts, &why, err);
        break;
    default:
        if (text.size || !line->whole) { /* a blank line is what a repair leaves at worst */
            kw_fail(&why, KW_MALFORMED, text.size ? "line: it is neither a row nor a run of ours" : "line: it has more than %d bytes",
                    KW_LINE_MAX);
            counts->damaged++;
        }
    }
    if (!status && why.status) {
        note_fault(counts, line->number, why.text);
    }
    return status;
}

kw_status kw_segment_read_lines(kw_reader *reader, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err) {
    kw_reader_line line = {0};
    bool more = true;
    kw_status status = KW_OK;
    *counts = (kw_segment_counts){0};
    while (!status) {
        kw_error why = {0};
        status = kw_reader_next(reader, &line, &more, &why);
        if (status == KW_MALFORMED) { /* a compressed file that is cut off */
            counts->damaged++;
            counts->cut = true;
            note_fault(counts, line.number + 1, why.text);
            return KW_OK;
        }
        if (status) {
            return kw_fail(err, status, "%s", why.text);
        }
        if (!more) {
            return KW_OK;
        }
        status = visit_line(&line, visitor, counts, err);
    }
    return status;
}

kw_status kw_segment_read(const char *path, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err) {
    kw_reader *reader;
    kw_status status = kw_reader_open(&reader, path, err);
    status = status ? status : kw_segment_read_lines(reader, visitor, counts, err);
    kw_reader_close(&reader);
    return status;
}

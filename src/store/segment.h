/* segment.h: rows in a file that only grows: JSON lines (line.h), the run first. For folders that several hosts share (NFS): nothing is
 * renamed, every process has a file of its own, and a second writer of one is refused where the file system has flock. A batch of rows is one write at the file's end, then fdatasync, so what was added is on
 * the disk. A write that was cut off (kill, full disk) leaves a line whose checksum does not match; it is passed over when the file is
 * read, and the next batch begins on a line of its own. */
#ifndef KW_STORE_SEGMENT_H
#define KW_STORE_SEGMENT_H

#include "store/row.h"

/* A handle belongs to one thread at a time. */
typedef struct kw_segment kw_segment;

/* Opens for adding, made if missing; what is there is read, so that kw_segment_has knows it. Give each process a file of its own: KW_IO
 * where another has this one. */
kw_status kw_segment_open(kw_segment **segment, const char *path, kw_error *err);
void kw_segment_close(kw_segment **segment);
/* The run is written once, however often it is said. */
kw_status kw_segment_add_run(kw_segment *segment, const kw_run *run, kw_error *err);
/* After a failure some of the rows may be there, each of them whole. */
kw_status kw_segment_add(kw_segment *segment, const kw_row rows[], size_t count, kw_error *err);
/* Whether there is a row for it in any outcome but KW_UNTRIED. */
bool kw_segment_has(const kw_segment *segment, const char *target, const char *problem, const char *config, bool packed, bool cold);

typedef struct kw_segment_counts {
    int64_t rows, runs;       /* that the visitor was told and took */
    int64_t damaged, refused; /* lines passed over: not whole, above all a last one that is cut off; whole, but it cannot be true */
    bool cut;                 /* a compressed file ends too early; what came before it stands */
    char first_fault[256];    /* of a line passed over, with its number */
} kw_segment_counts;

/* What a reader is told: rows that can be true (io/plausible.h), so that nobody has to look again. Each function returns a status that ends the
 * reading when it is not KW_OK, but KW_ILLEGAL of run refuses that line alone: it contradicts a run that is known. Either may be NULL. */
typedef struct kw_segment_visitor {
    kw_status (*run)(void *user, const kw_run *run, kw_error *err);
    kw_status (*row)(void *user, const kw_row *row, kw_error *err);
    void *user;
} kw_segment_visitor;

/* Reads a file, also a compressed one (.gz). Lines passed over are counted, no error. KW_NO_MEMORY is one, and never a line's fault. */
kw_status kw_segment_read(const char *path, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err);
/* The same of what a reader still has. */
struct kw_reader;
kw_status kw_segment_read_lines(struct kw_reader *reader, const kw_segment_visitor *visitor, kw_segment_counts *counts, kw_error *err);

#endif

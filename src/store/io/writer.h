/* writer.h: a file that is there whole or not at all: written beside its place, compressed when the name ends in .gz, put on the disk
 * and renamed at the end. Internal to this folder. */
#ifndef KW_STORE_IO_WRITER_H
#define KW_STORE_IO_WRITER_H

#include "base/status.h"
#include "base/text.h"

typedef struct kw_writer kw_writer;

/* path "-": standard output, as it comes. */
kw_status kw_writer_open(kw_writer **writer, const char *path, kw_error *err);
/* Takes the text's bytes and empties it. */
kw_status kw_writer_put(kw_writer *writer, kw_text *text, kw_error *err);
/* Puts the file in its place when status is KW_OK, else removes it; returns what came of it. *writer becomes NULL. */
kw_status kw_writer_close(kw_writer **writer, kw_status status, kw_error *err);

#endif

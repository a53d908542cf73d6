/* sink.h: where a sweep puts its rows: a store, or a segment when the name ends in .jsonl. */
#ifndef KW_STORE_SINK_H
#define KW_STORE_SINK_H

#include "store/row.h"

/* The same words as the store's own functions. Added rows are on the disk when add returns. */
typedef struct kw_sink {
    const struct kw_sink_kind *kind;
    void *handle;
} kw_sink;

typedef struct kw_sink_kind {
    const char *name; /* "store" or "segment" */
    kw_status (*add_run)(void *handle, const kw_run *run, kw_error *err);
    kw_status (*add)(void *handle, const kw_row rows[], size_t count, kw_error *err);
    /* Whether there is a row in any outcome but KW_UNTRIED. */
    kw_status (*has)(void *handle, bool *has, const kw_row *key, kw_error *err);
    /* Drops what there is of a key. A segment only grows and refuses with KW_ILLEGAL. */
    kw_status (*drop)(void *handle, const kw_row *key, kw_error *err);
    void (*close)(void *handle);
} kw_sink_kind;

/* Whether a name is that of a segment. */
bool kw_sink_is_segment(const char *path);
kw_status kw_sink_open(kw_sink *sink, const char *path, kw_error *err);
void kw_sink_close(kw_sink *sink);
kw_status kw_sink_add_run(const kw_sink *sink, const kw_run *run, kw_error *err);
kw_status kw_sink_add(const kw_sink *sink, const kw_row rows[], size_t count, kw_error *err);
/* key: its target, problem, record.config, packed and record.cold count. */
kw_status kw_sink_has(const kw_sink *sink, bool *has, const kw_row *key, kw_error *err);
kw_status kw_sink_drop(const kw_sink *sink, const kw_row *key, kw_error *err);

#endif

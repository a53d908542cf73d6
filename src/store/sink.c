/* sink.c: the two kinds of sink as tables of functions. */
#include "store/sink.h"

#include "store/segment.h"

#include <string.h>

static kw_status store_add_run(void *handle, const kw_run *run, kw_error *err) {
    return kw_store_add_run(handle, run, err);
}

static kw_status store_add(void *handle, const kw_row rows[], size_t count, kw_error *err) {
    return kw_store_add(handle, rows, count, NULL, err);
}

static kw_status store_has(void *handle, bool *has, const kw_row *key, kw_error *err) {
    return kw_store_has(handle, has, key->target, key->problem, key->record.config, key->packed, key->record.cold, err);
}

static kw_status store_drop(void *handle, const kw_row *key, kw_error *err) {
    kw_row_filter filter = {.size = sizeof(kw_row_filter),
                            .target = key->target,
                            .problem = key->problem,
                            .config = key->record.config,
                            .by_timing = true,
                            .packed = key->packed,
                            .cold = key->record.cold};
    return kw_store_drop(handle, &filter, NULL, err);
}

static void store_close(void *handle) {
    kw_store *store = handle;
    kw_store_close(&store);
}

static kw_status segment_add_run(void *handle, const kw_run *run, kw_error *err) {
    return kw_segment_add_run(handle, run, err);
}

static kw_status segment_add(void *handle, const kw_row rows[], size_t count, kw_error *err) {
    return kw_segment_add(handle, rows, count, err);
}

static kw_status segment_has(void *handle, bool *has, const kw_row *key, kw_error *err) {
    (void)err;
    *has = kw_segment_has(handle, key->target, key->problem, key->record.config, key->packed, key->record.cold);
    return KW_OK;
}

static kw_status segment_drop(void *handle, const kw_row *key, kw_error *err) {
    (void)handle;
    (void)key;
    return kw_fail(err, KW_ILLEGAL, "a segment (.jsonl) only grows, so nothing in it can be overwritten; write to another file");
}

static void segment_close(void *handle) {
    kw_segment *segment = handle;
    kw_segment_close(&segment);
}

static const kw_sink_kind store_kind = {"store", store_add_run, store_add, store_has, store_drop, store_close};
static const kw_sink_kind segment_kind = {"segment", segment_add_run, segment_add, segment_has, segment_drop, segment_close};

bool kw_sink_is_segment(const char *path) {
    static const char ending[] = ".jsonl";
    size_t length = strlen(path);
    return length >= sizeof ending - 1 && !strcmp(path + length - (sizeof ending - 1), ending);
}

kw_status kw_sink_open(kw_sink *sink, const char *path, kw_error *err) {
    *sink = (kw_sink){0};
    kw_store *store = NULL;
    kw_segment *segment = NULL;
    bool appends = kw_sink_is_segment(path);
    kw_status status = appends ? kw_segment_open(&segment, path, err) : kw_store_open(&store, path, KW_STORE_WRITE, err);
    if (!status) {
        *sink = appends ? (kw_sink){&segment_kind, segment} : (kw_sink){&store_kind, store};
    }
    return status;
}

void kw_sink_close(kw_sink *sink) {
    if (sink->kind) {
        sink->kind->close(sink->handle);
    }
    *sink = (kw_sink){0};
}

kw_status kw_sink_add_run(const kw_sink *sink, const kw_run *run, kw_error *err) {
    return sink->kind->add_run(sink->handle, run, err);
}

kw_status kw_sink_add(const kw_sink *sink, const kw_row rows[], size_t count, kw_error *err) {
    return sink->kind->add(sink->handle, rows, count, err);
}

kw_status kw_sink_has(const kw_sink *sink, bool *has, const kw_row *key, kw_error *err) {
    return sink->kind->has(sink->handle, has, key, err);
}

kw_status kw_sink_drop(const kw_sink *sink, const kw_row *key, kw_error *err) {
    return sink->kind->drop(sink->handle, key, err);
}

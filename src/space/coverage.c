/* coverage.c: whether a set has every config of a reference list, all axes compared. Lists are catalogs, one config a line, gzip or not. A line that
 * is no config any more counts as missing, since what a rule refuses today a reference list may have had. */
#include "base/sized.h"
#include "base/format/gzip.h"
#include "base/os/file.h"
#include "config/catalog.h"
#include "space/enumerate.h"

#include <stdlib.h>
#include <string.h>

enum { REFERENCE_LIMIT = 1 << 30 };

typedef struct reference {
    kw_catalog catalog;
    bool *seen;
    kw_coverage_options options;
    kw_coverage_count count;
} reference;

static void report_missing(reference *r, const char *config, const char *why) {
    r->count.missing++;
    if (r->options.missing) {
        r->options.missing(r->options.user, config, why);
    }
}

static kw_status read_reference_line(reference *r, char *line, kw_error *err) {
    kw_config config;
    line[strcspn(line, "#\r\n")] = 0;
    if (!line[strspn(line, " \t")]) {
        return KW_OK;
    }
    kw_error why = {0};
    kw_status status = kw_config_parse(&config, line, &why);
    if (status == KW_NO_MEMORY) {
        return kw_fail(err, status, "%s", why.text);
    }
    r->count.reference++;
    if (status) {
        report_missing(r, line, why.text);
        return KW_OK;
    }
    return kw_catalog_add(&r->catalog, &config, NULL, err);
}

static kw_status read_reference(reference *r, const char *path, kw_error *err) {
    char copy[2 * KW_CONFIG_TEXT_MAX], *data = NULL;
    kw_arena arena = {0};
    kw_text text = {0};
    kw_error why = {0};
    size_t size = 0;
    kw_status status = kw_file_read(&arena, path, REFERENCE_LIMIT, &data, &size, err);
    if (!status && kw_gzip_unpack_any(&text, data, size, REFERENCE_LIMIT, &why)) {
        status = kw_fail(err, why.status, "%s: %s", path, why.text);
    }
    kw_arena_drop(&arena);
    kw_scan scan = {kw_text_string(&text), kw_text_string(&text) + text.size};
    kw_word line;
    while (!status && kw_scan_line(&scan, &line)) {
        status = kw_word_copy(copy, sizeof copy, line) ? read_reference_line(r, copy, err)
                                                       : kw_fail(err, KW_MALFORMED, "%s: a line is too long for a config", path);
    }
    kw_text_drop(&text);
    return status;
}

static bool mark_config(void *user, const kw_config *config) {
    reference *r = user;
    size_t place = kw_catalog_find(&r->catalog, config);
    r->count.set++;
    if (place != SIZE_MAX) {
        r->seen[place] = true;
    } else {
        r->count.more++;
    }
    return true;
}

kw_status kw_space_coverage(kw_coverage_count *count, const kw_space_options *space, const kw_coverage_options *options, kw_error *err) {
    if (!count || !space || !options || !options->reference) {
        return kw_fail(err, KW_ILLEGAL, "kw_space_coverage: count, space, options or its reference is NULL");
    }
    kw_target target;
    kw_space_options whole;
    reference r = {0};
    kw_status status = KW_SIZED_READ(&r.options, kw_coverage_options, user, options, err);
    status = status ? status : kw_space_settle(&whole, space, &target, err);
    status = status ? status : read_reference(&r, options->reference, err);
    r.seen = status ? NULL : calloc(r.catalog.count + 1, sizeof *r.seen);
    if (!status && !r.seen) {
        status = kw_fail_memory(err, "a reference list");
    }
    status = status ? status : kw_enumerate(&whole, mark_config, &r, err);
    for (size_t i = 0; !status && i < r.catalog.count; i++) {
        if (!r.seen[i]) {
            char text[KW_CONFIG_TEXT_MAX];
            kw_config_print(text, sizeof text, &r.catalog.configs[i]);
            report_missing(&r, text, "the set does not have it");
        }
    }
    *count = r.count;
    free(r.seen);
    kw_catalog_drop(&r.catalog);
    return status;
}

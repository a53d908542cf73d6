/* manifest_read.c: the text of a manifest, line by line. Nothing is believed before the checksum agrees, and what is kept is bounded by the
 * file's size: a file is at most FILE_LIMIT bytes, and configs times problems stay below PAIRS_MAX. */
#include "sweep/shards/manifest.h"

#include "base/container/arena.h"
#include "base/os/file.h"
#include "base/hash.h"

#include <string.h>

enum { FILE_LIMIT = 256 << 20 };
static const uint64_t PAIRS_MAX = (uint64_t)1 << 32;

typedef struct reading {
    kw_manifest *m;
    const char *name; /* for messages */
    int64_t line;
    kw_error *err;
} reading;

/* The rest of a line behind its first word, terminated, in text. */
static kw_status copy_rest(char *text, size_t capacity, kw_scan *scan, const reading *r) {
    while (scan->at < scan->end && *scan->at == ' ') {
        scan->at++;
    }
    size_t size = (size_t)(scan->end - scan->at);
    if (size >= capacity || memchr(scan->at, 0, size)) {
        return kw_fail(r->err, KW_MALFORMED, "%s:%lld: longer than any text of its kind", r->name, (long long)r->line);
    }
    memcpy(text, scan->at, size);
    text[size] = 0;
    return KW_OK;
}

static kw_status check_size(const reading *r) {
    if ((uint64_t)r->m->configs.count * r->m->problems.count > PAIRS_MAX) {
        return kw_fail(r->err, KW_ILLEGAL, "%s:%lld: more than %llu pairs; split the manifest", r->name, (long long)r->line,
                       (unsigned long long)PAIRS_MAX);
    }
    return KW_OK;
}

static kw_status read_config_line(reading *r, kw_scan *scan) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config config;
    kw_error why = {0};
    bool added;
    kw_status status = copy_rest(text, sizeof text, scan, r);
    if (status) {
        return status;
    }
    status = kw_config_parse(&config, text, &why);
    if (status) {
        return kw_fail(r->err, status, "%s:%lld: %s", r->name, (long long)r->line, why.text);
    }
    status = kw_catalog_add(&r->m->configs, &config, &added, r->err);
    if (!status && !added) {
        status =
            kw_fail(r->err, KW_MALFORMED, "%s:%lld: this config is there already; a manifest has each once", r->name, (long long)r->line);
    }
    return status ? status : check_size(r);
}

static kw_status read_problem(reading *r, kw_scan *scan) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem problem;
    kw_error why = {0};
    size_t position, count = r->m->problems.count;
    kw_status status = copy_rest(text, sizeof text, scan, r);
    if (status) {
        return status;
    }
    status = kw_problem_parse(&problem, text, &why);
    if (status) {
        return kw_fail(r->err, status, "%s:%lld: %s", r->name, (long long)r->line, why.text);
    }
    if (!kw_distinct_add(&r->m->problems, &problem, &position)) {
        return kw_fail_memory(r->err, r->name);
    }
    if (position != count) {
        return kw_fail(r->err, KW_MALFORMED, "%s:%lld: this problem is problem %zu already; a manifest has each once", r->name,
                       (long long)r->line, position + 1);
    }
    return check_size(r);
}

/* "7" or "2-7". */
static bool read_range(kw_word word, int64_t *first, int64_t *last) {
    kw_scan scan = {word.at, word.at + word.size};
    if (!kw_scan_int(&scan, 1, INT32_MAX, first)) {
        return false;
    }
    *last = *first;
    return (!kw_scan_char(&scan, '-') || kw_scan_int(&scan, *first, INT32_MAX, last)) && scan.at == scan.end;
}

static kw_status read_pair(reading *r, kw_scan *scan) {
    kw_word configs = {0}, problem = {0}, more;
    kw_error why = {0};
    int64_t first, last, number;
    bool one = kw_scan_word(scan, &configs), two = kw_scan_word(scan, &problem);
    if (one && !two && kw_word_is(configs, "none") && !r->m->listed) {
        r->m->listed = true;
        return KW_OK;
    }
    if (!one || !two || kw_scan_word(scan, &more) || !read_range(configs, &first, &last) || !kw_word_int(problem, 1, INT32_MAX, &number)) {
        return kw_fail(r->err, KW_MALFORMED, "%s:%lld: not \"pair I J\" or \"pair A-B J\" with numbers of configs and of a problem",
                       r->name, (long long)r->line);
    }
    kw_manifest_run run = {(uint32_t)number - 1, (uint32_t)first - 1, (uint32_t)last - 1};
    kw_status status = kw_manifest_add_run(r->m, run, &why);
    return status ? kw_fail(r->err, status, "%s:%lld: %s", r->name, (long long)r->line, why.text) : KW_OK;
}

static kw_status read_timing(reading *r, kw_scan *scan) {
    kw_word cache = {0}, weights = {0}, more;
    bool good = kw_scan_word(scan, &cache) && kw_scan_word(scan, &weights) && !kw_scan_word(scan, &more);
    r->m->cold = kw_word_is(cache, "cold");
    r->m->fresh_weights = kw_word_is(weights, "fresh");
    if (!good || (!r->m->cold && !kw_word_is(cache, "hot")) || (!r->m->fresh_weights && !kw_word_is(weights, "packed"))) {
        return kw_fail(r->err, KW_MALFORMED, "%s:%lld: not \"timing hot|cold packed|fresh\"", r->name, (long long)r->line);
    }
    return KW_OK;
}

static kw_status read_manifest_line(reading *r, kw_word line) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word = {0};
    kw_scan_word(&scan, &word);
    if (kw_word_is(word, "config")) {
        return read_config_line(r, &scan);
    }
    if (kw_word_is(word, "problem")) {
        return read_problem(r, &scan);
    }
    if (kw_word_is(word, "pair")) {
        return read_pair(r, &scan);
    }
    if (kw_word_is(word, "timing")) {
        return read_timing(r, &scan);
    }
    return kw_fail(r->err, KW_MALFORMED, "%s:%lld: a line begins with timing, config, problem, pair or checksum, not '%.*s'", r->name,
                   (long long)r->line, KW_WORD(word));
}

/* The first line, and the last one over all bytes before it. On success the scan is left at the lines between. */
static kw_status check_frame(reading *r, kw_scan *scan, const char *text, size_t size) {
    char hash[KW_HASH_TEXT], said[KW_HASH_TEXT] = "";
    kw_word first = {0};
    if (!kw_scan_line(scan, &first) || !kw_word_is(first, "kernelwright-manifest 1")) {
        return kw_fail(r->err, KW_MALFORMED, "%s: not a manifest; its first line would be \"kernelwright-manifest 1\"", r->name);
    }
    const size_t length = strlen("checksum ") + KW_HASH_TEXT; /* with the line's end in place of the hash's */
    const char *last = size > length ? text + size - length : text;
    if (last <= text || last[-1] != '\n' || memcmp(last, "checksum ", strlen("checksum ")) || text[size - 1] != '\n' || scan->at > last) {
        return kw_fail(r->err, KW_MALFORMED, "%s: does not end with a checksum line; it was cut off, or is still being written", r->name);
    }
    memcpy(said, last + strlen("checksum "), KW_HASH_TEXT - 1);
    kw_hash_text(hash, text, (size_t)(last - text));
    if (strcmp(hash, said)) {
        return kw_fail(r->err, KW_MALFORMED, "%s: damaged or edited: its checksum is not %s, which its lines have", r->name, hash);
    }
    scan->end = last;
    return KW_OK;
}

kw_status kw_manifest_parse(kw_manifest *m, const char *name, const char *text, size_t size, kw_error *err) {
    reading r = {m, name, 1, err};
    kw_scan scan = {text, text + size};
    kw_word line;
    kw_status status = check_frame(&r, &scan, text, size);
    while (!status && kw_scan_line(&scan, &line)) {
        r.line++;
        status = read_manifest_line(&r, line);
    }
    if (status) {
        kw_manifest_drop(m);
    }
    return status;
}

kw_status kw_manifest_read(kw_manifest *m, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *text = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&arena, path, FILE_LIMIT, &text, &size, err);
    status = status ? status : kw_manifest_parse(m, path, text, size, err);
    kw_arena_drop(&arena);
    return status;
}

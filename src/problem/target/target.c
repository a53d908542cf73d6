/* target.c: a target's canonical text and its parser. Every fact is written and every fact must be read exactly once: a text with an
 * unknown or a missing fact is of another version and is refused by name. */
#include "problem/target/target.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef struct fact {
    const char *name;
    kw_fact_scope scope;
    size_t offset;
} fact;

static const fact facts[] = {
#define KW_FACT(name, scope, meaning) {#name, scope, offsetof(kw_target, name)},
    KW_TARGET_FACTS(KW_FACT)
#undef KW_FACT
};

enum { FACT_COUNT = sizeof facts / sizeof *facts };

bool kw_target_is_gpu(const kw_target *target) {
    return kw_backends[target->backend].kind == KW_KIND_GPU;
}

bool kw_target_is_same(const kw_target *a, const kw_target *b) {
    kw_target other = *b;
    other.rates = a->rates;
    return !memcmp(a, &other, sizeof other);
}

static bool has_fact(const kw_target *target, const fact *f) {
    return f->scope == KW_OF_ALL || (f->scope == KW_OF_GPU) == kw_target_is_gpu(target);
}

size_t kw_target_print(char *text, size_t capacity, const kw_target *target) {
    kw_line line = {text, capacity, 0};
    kw_line_addf(&line, "%s:%s model=%s", kw_backends[target->backend].name, target->arch, target->model);
    for (int i = 0; i < FACT_COUNT; i++) {
        if (!has_fact(target, &facts[i])) {
            continue;
        }
        int64_t value;
        memcpy(&value, (const char *)target + facts[i].offset, sizeof value);
        kw_line_addf(&line, " %s=%" PRId64, facts[i].name, value);
    }
    return line.size;
}

static kw_status take_quoted(char *string, size_t capacity, kw_word word, const char *what, kw_error *err) {
    if (word.size == 0 || word.size >= capacity) {
        return kw_fail(err, KW_MALFORMED, "target: %s \"%.*s\" has %zu characters; it takes 1 to %zu", what, KW_WORD(word), word.size,
                       capacity - 1);
    }
    memcpy(string, word.at, word.size);
    string[word.size] = 0;
    return KW_OK;
}

static kw_status take_fact(kw_target *target, kw_word word, bool seen[FACT_COUNT], kw_error *err) {
    kw_scan scan = {word.at, word.at + word.size};
    kw_word name = {0}, value = {0};
    kw_scan_field(&scan, '=', &name);
    if (!scan.at) {
        return kw_fail(err, KW_MALFORMED, "target: \"%.*s\" is no fact; facts are written name=value", KW_WORD(word));
    }
    value = (kw_word){scan.at, (size_t)(scan.end - scan.at)};
    if (kw_word_is(name, "model")) {
        return target->model[0] ? kw_fail(err, KW_MALFORMED, "target: model is given twice; keep one")
                                : take_quoted(target->model, sizeof target->model, value, "model", err);
    }
    int i = 0;
    while (i < FACT_COUNT && (!has_fact(target, &facts[i]) || !kw_word_is(name, facts[i].name))) {
        i++;
    }
    if (i == FACT_COUNT) {
        return kw_fail(err, KW_MISSING, "target: fact \"%.*s\" is not known; the text is of another version, so make it anew",
                       KW_WORD(name));
    }
    if (seen[i]) {
        return kw_fail(err, KW_MALFORMED, "target: %s is given twice; keep one", facts[i].name);
    }
    int64_t number = 0;
    if (!kw_word_int(value, 0, INT64_MAX, &number)) {
        return kw_fail(err, KW_MALFORMED, "target: \"%.*s\": %s takes a whole number of at least 0", KW_WORD(word), facts[i].name);
    }
    memcpy((char *)target + facts[i].offset, &number, sizeof number);
    seen[i] = true;
    return KW_OK;
}

kw_status kw_target_parse(kw_target *target, const char *text, kw_error *err) {
    kw_target result = {0};
    kw_scan scan = kw_scan_string(text);
    kw_word word, part;
    if (!kw_scan_word(&scan, &word)) {
        return kw_fail(err, KW_MALFORMED, "target: the text is empty; it begins with BACKEND:ARCH, e.g. cpu:x86-64-v3");
    }
    kw_scan head = {word.at, word.at + word.size};
    kw_scan_field(&head, ':', &part);
    if (!head.at) {
        return kw_fail(err, KW_MALFORMED, "target: \"%.*s\" is not BACKEND:ARCH, e.g. cpu:x86-64-v3", KW_WORD(word));
    }
    kw_word arch = {head.at, (size_t)(head.end - head.at)};
    if (!kw_backend_id_find(&result.backend, part)) {
        return kw_fail(err, KW_MISSING, "target: backend \"%.*s\" is not known; known:%s", KW_WORD(part), kw_backend_names);
    }
    kw_status status = take_quoted(result.arch, sizeof result.arch, arch, "arch", err);
    bool seen[FACT_COUNT] = {0};
    while (!status && kw_scan_word(&scan, &word)) {
        status = take_fact(&result, word, seen, err);
    }
    if (status) {
        return status;
    }
    if (!result.model[0]) {
        return kw_fail(err, KW_MALFORMED, "target: model is missing; every fact must be named, e.g. model=unknown");
    }
    for (int i = 0; i < FACT_COUNT; i++) {
        if (!seen[i] && has_fact(&result, &facts[i])) {
            return kw_fail(err, KW_MALFORMED, "target: fact %s is missing; every fact must be named", facts[i].name);
        }
    }
    *target = result;
    return KW_OK;
}

void kw_target_add_options(kw_text *text, const char *target) {
    kw_target parsed;
    if (kw_target_parse(&parsed, target, NULL)) {
        return;
    }
    const kw_backend_info *backend = &kw_backends[parsed.backend];
    if (backend->kind == KW_KIND_CPU) {
        kw_text_addf(text, " --threads %lld", (long long)parsed.units);
    } else if (backend->emulated) {
        kw_text_addf(text, " --device %s:%s", backend->name, parsed.arch);
    } else {
        kw_text_addf(text, " --device %s", backend->name);
    }
}

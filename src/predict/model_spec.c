/* model_spec.c: a model's text, line by line. Every line is checked by itself, then what must be there at all is asked for; nothing is
 * guessed and nothing is passed over, so that a spec of another version is refused by the line that makes it so. */
#include "predict/model_spec.h"

#include "base/container/array.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "base/os/file.h"
#include "base/text.h"
#include "predict/ck/ck_rows.h"
#include "problem/names/names.h"

#include <string.h>

static const char *const quantity_names[] = {
    [KW_PREDICTS_RATIO] = "ratio",
    [KW_PREDICTS_RELATIVE] = "relative",
    [KW_PREDICTS_TFLOPS] = "tflops",
    [KW_PREDICTS_TIME] = "time",
    [KW_PREDICTS_RANK] = "rank",
    [KW_PREDICTS_LATENCY] = "latency",
    [KW_PREDICTS_BANDWIDTH] = "bandwidth",
    [KW_PREDICTS_PLAIN_TFLOPS] = "plain_tflops",
    [KW_PREDICTS_PLAIN_BANDWIDTH] = "plain_bandwidth",
};
_Static_assert(sizeof quantity_names / sizeof *quantity_names == KW_PREDICTS_COUNT, "each quantity has a name");

const char *kw_model_quantity_name(kw_model_quantity quantity) {
    return (size_t)quantity < KW_PREDICTS_COUNT ? quantity_names[quantity] : "unknown";
}

typedef struct reader {
    kw_model_spec *spec;
    const char *name;
    int64_t line;
    size_t capacity[6]; /* of targets, families, features, categories, their codes, families' operations */
    bool has_quantity, has_rows;
    kw_error *err;
} reader;

#define FAIL(r, status, format, ...) kw_fail((r)->err, status, "%.200s:%lld: " format, (r)->name, (long long)(r)->line, __VA_ARGS__)

void kw_model_spec_drop(kw_model_spec *spec) {
    kw_arena_drop(&spec->arena);
    *spec = (kw_model_spec){0};
}

static bool is_spec_word(kw_word word, const char *text) {
    return kw_word_is(word, text);
}

/* --- lists ---------------------------------------------------------------------------------------------------------- */

/* Appends a copy of the word to a list of names that has room for one more and its end. */
static kw_status add_spec_name(reader *r, const char ***names, size_t *count, size_t *capacity, kw_word word) {
    if (!KW_ARENA_RESERVE(&r->spec->arena, *names, *capacity, *count + 2)) {
        return kw_fail_memory(r->err, "a model");
    }
    char *copy = kw_arena_copy(&r->spec->arena, word.at, word.size);
    if (!copy) {
        return kw_fail_memory(r->err, "a model");
    }
    (*names)[(*count)++] = copy;
    (*names)[*count] = NULL;
    return KW_OK;
}

/* Families and features: one word, not twice, and no more than most. */
static kw_status read_name(reader *r, const char *what, kw_word value, const char ***names, size_t *count, size_t *capacity, size_t most) {
    if (!value.size || memchr(value.at, ' ', value.size) || value.size > KW_FOREST_MAX_NAME) {
        return FAIL(r, KW_MALFORMED, "%s \"%.*s\" is not one word of at most %d bytes", what, KW_WORD(value), KW_FOREST_MAX_NAME);
    }
    for (size_t i = 0; i < *count; i++) {
        if (is_spec_word(value, (*names)[i])) {
            return FAIL(r, KW_MALFORMED, "%s %.*s is named twice", what, KW_WORD(value));
        }
    }
    if (*count == most) {
        return FAIL(r, KW_ILLEGAL, "%s %.*s is one too many; a model has at most %zu", what, KW_WORD(value), most);
    }
    return add_spec_name(r, names, count, capacity, value);
}

/* A name and the operations of which it was seen. */
static kw_status read_family(reader *r, kw_word value) {
    kw_model_spec *s = r->spec;
    kw_scan scan = {value.at, value.at + value.size};
    kw_word name = {value.at, 0}, word;
    uint32_t ops = 0;
    kw_op op = 0;
    kw_scan_word(&scan, &name);
    while (kw_scan_word(&scan, &word)) {
        if (!kw_op_of_word(&op, word)) {
            return FAIL(r, KW_MISSING, "family %.*s: operation %.*s is not known", KW_WORD(name), KW_WORD(word));
        }
        ops |= 1u << op;
    }
    kw_status status = read_name(r, "family", name, &s->families, &s->family_count, &r->capacity[1], KW_MODEL_MAX_FAMILIES);
    if (!status && !KW_ARENA_RESERVE(&s->arena, s->family_ops, r->capacity[5], s->family_count)) {
        status = kw_fail_memory(r->err, "a model");
    }
    if (!status) {
        s->family_ops[s->family_count - 1] = ops;
    }
    return status;
}

static kw_status read_feature(reader *r, kw_word value) {
    kw_model_spec *s = r->spec;
    return read_name(r, "feature", value, &s->features, &s->feature_count, &r->capacity[2], KW_FOREST_MAX_FEATURES);
}

/* A category and the names of its codes. */
static kw_status read_codes(reader *r, kw_word value) {
    kw_model_spec *s = r->spec;
    const char *blank = memchr(value.at, ' ', value.size);
    kw_word feature = {value.at, blank ? (size_t)(blank - value.at) : value.size};
    kw_word words = {value.at + feature.size + (blank != NULL), value.size - feature.size - (blank != NULL)};
    if (!words.size) {
        return FAIL(r, KW_MALFORMED, "codes \"%.*s\" is not a feature and the names of its codes, e.g. codes isa avx2 avx512",
                    KW_WORD(value));
    }
    size_t count = s->coded_count;
    kw_status status = read_name(r, "codes of", feature, &s->coded, &s->coded_count, &r->capacity[3], KW_FOREST_MAX_FEATURES);
    return status ? status : add_spec_name(r, &s->codes, &count, &r->capacity[4], words);
}

static kw_status read_spec_target(reader *r, kw_word value) {
    kw_model_spec *s = r->spec;
    char canonical[KW_TARGET_TEXT_MAX];
    kw_error why = {0};
    if (!s->targets) {
        s->targets = kw_arena_array(&s->arena, KW_MODEL_MAX_TARGETS, sizeof *s->targets);
    }
    if (!s->targets) {
        return kw_fail_memory(r->err, "a model");
    }
    if (s->target_count == KW_MODEL_MAX_TARGETS) {
        return FAIL(r, KW_ILLEGAL, "target %.*s is one too many; a model has at most %d", KW_WORD(value), KW_MODEL_MAX_TARGETS);
    }
    size_t count = s->target_count;
    kw_status status = add_spec_name(r, &s->target_texts, &count, &r->capacity[0], value);
    if (status) {
        return status;
    }
    kw_target *target = &s->targets[s->target_count];
    if (kw_target_parse(target, s->target_texts[s->target_count], &why)) {
        return FAIL(r, why.status, "%.300s", why.text);
    }
    kw_target_print(canonical, sizeof canonical, target);
    if (!is_spec_word(value, canonical)) {
        return FAIL(r, KW_MALFORMED, "target %.*s is not in canonical form, which is %.200s", KW_WORD(value), canonical);
    }
    for (size_t i = 0; i < s->target_count; i++) {
        if (is_spec_word(value, s->target_texts[i])) {
            return FAIL(r, KW_MALFORMED, "target %.*s is named twice", KW_WORD(value));
        }
    }
    s->target_count = count;
    return KW_OK;
}

/* --- single facts --------------------------------------------------------------------------------------------------- */

static kw_status read_serves(reader *r, kw_word value) {
    kw_scan scan = {value.at, value.at + value.size};
    kw_word op_word = {0}, dtype_word = {0}, rest;
    kw_op op = 0;
    kw_dtype dtype = 0;
    if (!kw_scan_word(&scan, &op_word) || !kw_scan_word(&scan, &dtype_word) || kw_scan_word(&scan, &rest)) {
        return FAIL(r, KW_MALFORMED, "serves \"%.*s\" is not an operation and a type, e.g. serves conv_fwd fp32", KW_WORD(value));
    }
    if (!kw_op_of_word(&op, op_word)) {
        return FAIL(r, KW_MISSING, "operation %.*s is not known", KW_WORD(op_word));
    }
    if (!kw_dtype_of_word(&dtype, dtype_word)) {
        return FAIL(r, KW_MISSING, "type %.*s is not known", KW_WORD(dtype_word));
    }
    if (r->spec->serves[op] >> dtype & 1) {
        return FAIL(r, KW_MALFORMED, "serves %.*s is said twice", KW_WORD(value));
    }
    r->spec->serves[op] |= 1u << dtype;
    return KW_OK;
}

static kw_status read_spec_quantity(reader *r, kw_word value) {
    if (r->has_quantity) {
        return FAIL(r, KW_MALFORMED, "predicts %.*s: it was said before what the model predicts", KW_WORD(value));
    }
    for (int i = 0; i < KW_PREDICTS_COUNT; i++) {
        if (is_spec_word(value, quantity_names[i])) {
            r->spec->quantity = (kw_model_quantity)i;
            r->has_quantity = true;
            return KW_OK;
        }
    }
    return FAIL(r, KW_MISSING, "predicts %.*s is not known; known: " KW_MODEL_QUANTITIES, KW_WORD(value));
}

static kw_status read_spec_table(reader *r, kw_word value) {
    const kw_feature_table *const tables[] = {&kw_ck_features_gemm_table, &kw_ck_features_conv_table};
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !r->spec->ck; i++) {
        if (is_spec_word(value, tables[i]->name)) {
            r->spec->ck = tables[i];
            return KW_OK;
        }
    }
    return FAIL(r, r->spec->ck ? KW_MALFORMED : KW_MISSING, "table %.*s: %s", KW_WORD(value),
                r->spec->ck ? "it was said before" : "it is not known; without such a line the features are ours");
}

static kw_status read_spec_rows(reader *r, kw_word value) {
    kw_scan scan = {value.at, value.at + value.size};
    kw_word rows = {0}, word = {0}, problems = {0}, rest;
    bool good = kw_scan_word(&scan, &rows) && kw_scan_word(&scan, &word) && kw_scan_word(&scan, &problems) && !kw_scan_word(&scan, &rest);
    good = good && is_spec_word(word, "problems") && kw_word_int(rows, 0, INT64_MAX, &r->spec->rows) &&
           kw_word_int(problems, 0, INT64_MAX, &r->spec->problems);
    if (!good || r->has_rows) {
        return FAIL(r, KW_MALFORMED, "rows %.*s: %s", KW_WORD(value), good ? "it was said before" : "it reads rows COUNT problems COUNT");
    }
    r->has_rows = true;
    return KW_OK;
}

static kw_status take_digest(reader *r, char digest[33], kw_word value) {
    bool good = value.size == 32;
    for (size_t i = 0; good && i < value.size; i++) {
        good = (value.at[i] >= '0' && value.at[i] <= '9') || (value.at[i] >= 'a' && value.at[i] <= 'f');
    }
    if (!good || *digest) {
        return FAIL(r, KW_MALFORMED, "digest %.*s: %s", KW_WORD(value),
                    good ? "it was said before" : "it has 32 hexadecimal digits in lower case");
    }
    memcpy(digest, value.at, value.size);
    return KW_OK;
}

static kw_status read_digest(reader *r, kw_word value) {
    return take_digest(r, r->spec->digest, value);
}

static kw_status read_unpacked(reader *r, kw_word value) {
    return take_digest(r, r->spec->unpacked, value);
}

static kw_status read_forest_name(reader *r, kw_word value) {
    char *name = kw_arena_copy(&r->spec->arena, value.at, value.size);
    if (!name) {
        return kw_fail_memory(r->err, "a model");
    }
    if (r->spec->forest || !value.size || value.size > KW_FOREST_MAX_NAME || *name == '.' || strpbrk(name, "/ ")) {
        return FAIL(r, KW_MALFORMED, "forest %.*s: %s", KW_WORD(value),
                    r->spec->forest ? "it was said before" : "it is not the name of a file in the model's folder");
    }
    r->spec->forest = name;
    return KW_OK;
}

/* The eleven constants in the order of their columns; there are twelve of these, but one is a product. */
static kw_status read_spec_hardware(reader *r, kw_word value) {
    kw_ck_features_hardware *h = &r->spec->hardware;
    int64_t *const facts[] = {&h->cus,       &h->simds_per_cu, &h->shader_engines, &h->clock_mhz, &h->waves_per_cu, &h->wave_size,
                              &h->lds_bytes, &h->l1_kb,        &h->l2_kb,          &h->l3_kb,     &h->dies};
    kw_scan scan = {value.at, value.at + value.size};
    kw_word word = {"", 0};
    bool good = !h->arch;
    for (size_t i = 0; i < sizeof facts / sizeof *facts && good; i++) {
        good = kw_scan_word(&scan, &word) && kw_word_int(word, 1, INT32_MAX, facts[i]);
    }
    if (!good || kw_scan_word(&scan, &word)) {
        return FAIL(r, KW_MALFORMED, "hardware %.*s: %s", KW_WORD(value),
                    h->arch ? "it was said before" : "it has eleven numbers, from compute units to dies");
    }
    h->arch = "as the model's spec says";
    return KW_OK;
}

static kw_status read_units(reader *r, kw_word value) {
    return take_digest(r, r->spec->units, value);
}

/* --- the text ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *key;
    kw_status (*read)(reader *r, kw_word value);
} keys[] = {
    {"target", read_spec_target}, {"serves", read_serves},      {"predicts", read_spec_quantity}, {"family", read_family},
    {"feature", read_feature},    {"rows", read_spec_rows},     {"digest", read_digest},          {"table", read_spec_table},
    {"unpacked", read_unpacked},  {"forest", read_forest_name}, {"hardware", read_spec_hardware}, {"units", read_units},
    {"codes", read_codes},
};

static kw_status read_spec_line(reader *r, kw_word line) {
    const char *blank = memchr(line.at, ' ', line.size);
    kw_word key = {line.at, blank ? (size_t)(blank - line.at) : line.size};
    kw_word value = {line.at + key.size + (blank != NULL), line.size - key.size - (blank != NULL)};
    if (memchr(line.at, 0, line.size)) {
        return FAIL(r, KW_MALFORMED, "%s", "the line has a zero byte");
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (is_spec_word(key, keys[i].key)) {
            return keys[i].read(r, value);
        }
    }
    return FAIL(
        r, KW_MALFORMED,
        "\"%.*s\" is not known; known: target serves predicts table hardware family feature codes units rows forest digest unpacked",
        KW_WORD(key));
}

/* The category that has names of codes and is no feature; NULL: there is none. */
static const char *find_stray_codes(const kw_model_spec *s) {
    for (size_t i = 0; i < s->coded_count; i++) {
        bool known = false;
        for (size_t j = 0; j < s->feature_count && !known; j++) {
            known = !strcmp(s->coded[i], s->features[j]);
        }
        if (!known) {
            return s->coded[i];
        }
    }
    return NULL;
}

/* What is missing when all lines were read; NULL when nothing is. */
static const char *find_gap(const reader *r) {
    const kw_model_spec *s = r->spec;
    uint32_t serves = 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        serves |= s->serves[op];
    }
    return !s->target_count    ? "target"
           : !serves           ? "serves"
           : !r->has_quantity  ? "predicts"
           : !s->feature_count ? "feature"
           : !r->has_rows      ? "rows"
           : !*s->digest       ? "digest"
                               : NULL;
}

kw_status kw_model_spec_read(kw_model_spec *spec, const char *name, const char *text, size_t size, kw_error *err) {
    reader r = {.spec = spec, .name = name, .line = 1, .err = err};
    kw_scan scan = {text, text + size};
    kw_word line = {"", 0};
    kw_status status = KW_OK;
    *spec = (kw_model_spec){0};
    if (size > KW_MODEL_MAX_SPEC) {
        return kw_fail(err, KW_ILLEGAL, "%.200s has %zu bytes; a model's text has at most %d", name, size, KW_MODEL_MAX_SPEC);
    }
    if (!size || !kw_scan_line(&scan, &line) || !is_spec_word(line, KW_MODEL_SPEC_HEADER)) {
        return FAIL(&r, KW_MALFORMED, "\"%.*s\" is not " KW_MODEL_SPEC_HEADER ", the first line of what this library reads", KW_WORD(line));
    }
    while (!status && kw_scan_line(&scan, &line)) {
        r.line++;
        status = read_spec_line(&r, line);
    }
    for (int op = 0; op < KW_OP_COUNT && !status; op++) {
        if (spec->ck && spec->serves[op] && spec->ck != kw_ck_table((kw_op)op)) {
            status = kw_fail(err, KW_ILLEGAL, "%.200s: table %s has no features of %s", name, spec->ck->name, kw_op_name((kw_op)op));
        }
    }
    const char *gap = status ? NULL : find_gap(&r), *stray = status ? NULL : find_stray_codes(spec);
    if (stray) {
        status = kw_fail(err, KW_MALFORMED, "%.200s: codes of %.80s are named, and no line says feature %.80s", name, stray, stray);
    }
    if (gap) {
        status = kw_fail(err, KW_MALFORMED, "%.200s: no line says %s; the text is cut off or of another version", name, gap);
    }
    if (status) {
        kw_model_spec_drop(spec);
    }
    return status;
}

/* --- its forest ----------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size > tail && !strcmp(text + size - tail, end);
}

const char *kw_model_spec_path(kw_arena *arena, const char *model) {
    return ends_with(model, ".spec") ? kw_arena_copy(arena, model, strlen(model)) : kw_arena_format(arena, "%s/model.spec", model);
}

const char *kw_model_folder(kw_arena *arena, const char *model) {
    const char *slash = strrchr(model, '/');
    if (!ends_with(model, ".spec")) {
        return kw_arena_copy(arena, model, strlen(model));
    }
    return slash ? kw_arena_copy(arena, model, (size_t)(slash - model) + (slash == model)) : kw_arena_copy(arena, ".", 1);
}

/* Whoever packs a forest again makes other bytes of the same text. */
static bool is_repacked(const kw_model_spec *spec, const void *forest, size_t size) {
    char digest[KW_HASH_TEXT] = "";
    kw_text text = {0};
    if (*spec->unpacked && !kw_gzip_unpack(&text, forest, size, KW_FOREST_MAX_TEXT, NULL)) {
        kw_hash_text(digest, text.data, text.size);
    }
    kw_text_drop(&text);
    return *digest && !strcmp(digest, spec->unpacked);
}

kw_status kw_model_spec_check(const kw_model_spec *spec, const char *name, const void *forest, size_t size, kw_error *err) {
    char digest[KW_HASH_TEXT];
    kw_hash_text(digest, forest, size);
    if (strcmp(digest, spec->digest) && strcmp(digest, spec->unpacked) && !is_repacked(spec, forest, size)) {
        return kw_fail(err, KW_MALFORMED, "%.200s: the digest is %s but the forest's is %s; the two files are not of one model", name,
                       spec->digest, digest);
    }
    return KW_OK;
}

kw_status kw_model_spec_forest(kw_arena *arena, const char **name, char **data, size_t *size, const kw_model_spec *spec, const char *model,
                               kw_error *err) {
    const char *folder = kw_model_folder(arena, model), *spec_name = kw_model_spec_path(arena, model);
    const char *file = spec->forest ? spec->forest : "model.lgbm.gz";
    const char *said = folder ? kw_arena_format(arena, "%s/%s", folder, file) : NULL;
    const char *other = !said                    ? NULL
                        : ends_with(said, ".gz") ? kw_arena_copy(arena, said, strlen(said) - 3)
                                                 : kw_arena_format(arena, "%s.gz", said);
    kw_error why = {0};
    if (!other || !spec_name) {
        return kw_fail_memory(err, "a model");
    }
    *name = said;
    kw_status status = kw_file_read(arena, said, KW_FOREST_MAX_TEXT, data, size, &why);
    if (status == KW_MISSING && !kw_file_read(arena, other, KW_FOREST_MAX_TEXT, data, size, NULL)) {
        *name = other;
        status = KW_OK;
    }
    return status ? kw_fail(err, status, "%s", why.text) : kw_model_spec_check(spec, spec_name, *data, *size, err);
}

/* --- what it is for ------------------------------------------------------------------------------------------------- */

bool kw_model_spec_serves(const kw_model_spec *spec, kw_op op, kw_dtype dtype) {
    return op >= 0 && op < KW_OP_COUNT && dtype >= 0 && dtype < KW_DTYPE_COUNT && spec->serves[op] >> dtype & 1;
}

const char *kw_model_spec_codes(const kw_model_spec *spec, const char *feature) {
    for (size_t i = 0; i < spec->coded_count; i++) {
        if (!strcmp(spec->coded[i], feature)) {
            return spec->codes[i];
        }
    }
    return NULL;
}

bool kw_model_spec_saw(const kw_model_spec *spec, const char *family, kw_op op) {
    bool seen = spec->ck || !spec->family_count;
    for (size_t i = 0; i < spec->family_count && !seen; i++) {
        seen = (!spec->family_ops[i] || spec->family_ops[i] >> op & 1) && !strcmp(spec->families[i], family);
    }
    return seen;
}

/* Published features know nothing of a target but its architecture: there one that is played is as good, and any other is none. */
static int target_distance(const kw_target *a, const kw_target *b, bool by_arch) {
    char texts[2][KW_TARGET_TEXT_MAX];
    if (by_arch ? strcmp(a->arch, b->arch) != 0 : a->backend != b->backend) {
        return -1;
    }
    kw_target_print(texts[0], sizeof texts[0], a);
    kw_target_print(texts[1], sizeof texts[1], b);
    return !strcmp(texts[0], texts[1]) ? 0 : !strcmp(a->arch, b->arch) ? 1 : a->lanes == b->lanes ? 2 : 3;
}

int kw_model_spec_distance(const kw_model_spec *spec, const kw_target *target) {
    int least = -1;
    for (size_t i = 0; i < spec->target_count; i++) {
        int one = target_distance(&spec->targets[i], target, spec->ck != NULL);
        least = one >= 0 && (least < 0 || one < least) ? one : least;
    }
    return least;
}

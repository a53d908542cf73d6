/* adopt.c: kw_model_adopt: models of CK Tile's heuristics. Their folder says in feature_spec.json what the forests stand on; what is
 * written beside it is a model.spec a target, which is all that the run-time library reads. Whatever is not said is asked for or refused:
 * without the names of the features nobody knows what a column is, without log_targets whether a score is a logarithm. */
#include "base/sized.h"
#include "base/container/arena.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "base/os/file.h"
#include "config/arch/gpu_arch.h"
#include "json/json_read.h"
#include "predict/ck/ck_rows.h"
#include "predict/model_spec.h"
#include "problem/names/names.h"

#include <kernelwright_tune.h>
#include <stdio.h>
#include <string.h>

enum { JSON_MOST = 1 << 20, ENCODING = 1 };

/* Their targets, the first one for choosing, and what a score of each is with and without its logarithm. */
static const struct {
    const char *name;
    kw_model_quantity plain, logarithm;
} known_targets[] = {
    {"tflops", KW_PREDICTS_PLAIN_TFLOPS, KW_PREDICTS_TFLOPS},
    {"latency", KW_PREDICTS_LATENCY, KW_PREDICTS_COUNT},
    {"bandwidth", KW_PREDICTS_PLAIN_BANDWIDTH, KW_PREDICTS_BANDWIDTH},
};
enum { TARGETS = sizeof known_targets / sizeof *known_targets };

typedef struct adoption {
    const kw_adopt_options *options;
    kw_adopt_report *report;
    kw_arena arena;
    json_t *spec, *manifest;
    const char *spec_name;
    kw_op op;
    kw_dtype dtype;
    kw_target target;
    bool any; /* a spec was written */
    kw_error *err;
} adoption;

static void remark(const adoption *a, const char *line) {
    if (a->options->log) {
        a->options->log(a->options->user, line);
    }
}

static kw_status read_json(adoption *a, json_t **root, const char **path, const char *name) {
    char *text = NULL;
    size_t size = 0;
    *path = kw_arena_format(&a->arena, "%s/%s", a->options->folder, name);
    kw_status status = *path ? kw_file_read(&a->arena, *path, JSON_MOST, &text, &size, a->err) : kw_fail_memory(a->err, name);
    status = status ? status : kw_json_read(root, *path, text, size, a->err);
    if (!status && !json_is_object(*root)) {
        status = kw_fail(a->err, KW_MALFORMED, "%.200s is no object", *path);
    }
    return status;
}

/* --- what the folder says --------------------------------------------------------------------------------------------- */

static const char *said(const adoption *a, const char *key) {
    const char *text = json_string_value(json_object_get(a->spec, key));
    return text ? text : "";
}

static bool has_text(const json_t *list, const char *text) {
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) {
        if (json_is_string(item) && !strcmp(json_string_value(item), text)) {
            return true;
        }
    }
    return false;
}

/* The direction of a convolution is in no key; the published folders have it in their names. */
static kw_status find_adopted_op(adoption *a) {
    static const struct {
        const char *word;
        kw_op op;
    } words[] = {{"bwd_data", KW_CONV_BWD_DATA}, {"bwd_weight", KW_CONV_BWD_WEIGHT}, {"forward", KW_CONV_FWD}};
    const char *type = said(a, "op_type"), *slash = strrchr(a->options->folder, '/');
    const char *name = slash && slash[1] ? slash + 1 : a->options->folder;
    bool gemm = kw_word_starts((kw_word){type, strlen(type)}, "gemm"), conv = !strcmp(type, "grouped_conv");
    if (!gemm && !conv) {
        return kw_fail(a->err, KW_MISSING, "%.200s: op_type \"%.40s\" is neither gemm_universal nor grouped_conv", a->spec_name, type);
    }
    if (a->options->by_op) {
        a->op = a->options->op;
        return (a->op == KW_GEMM) == gemm
                   ? KW_OK
                   : kw_fail(a->err, KW_ILLEGAL, "%.200s is of %.40s, not of %s", a->spec_name, type, kw_op_name(a->op));
    }
    if (gemm) {
        a->op = KW_GEMM;
        return KW_OK;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(name, words[i].word)) {
            a->op = words[i].op;
            return KW_OK;
        }
    }
    return kw_fail(a->err, KW_MISSING,
                   "%.200s does not say its direction, nor does the folder's name as grouped_conv_bwd_data_... does; give it (--op)",
                   a->spec_name);
}

static kw_status read_identity(adoption *a) {
    const char *dtype = said(a, "dtype");
    char arch[32];
    kw_word word = {said(a, "arch"), strcspn(said(a, "arch"), ":")}; /* without features, as ":sramecc+" */
    json_int_t encoding = ENCODING;
    json_t *said_encoding = json_object_get(a->spec, "feature_encoding_version");
    kw_status status = find_adopted_op(a);
    if (!status && !kw_dtype_find(&a->dtype, dtype)) {
        status = kw_fail(a->err, KW_MISSING, "%.200s: dtype \"%.40s\" is not one of " KW_DTYPE_WORDS(" "), a->spec_name, dtype);
    }
    if (!status && !kw_word_copy(arch, sizeof arch, word)) {
        status = kw_fail(a->err, KW_MALFORMED, "%.200s: arch \"%.60s\" is no architecture", a->spec_name, said(a, "arch"));
    }
    status = status ? status : kw_gpu_arch_target(&a->target, arch, a->err);
    encoding = json_is_integer(said_encoding) ? json_integer_value(said_encoding) : encoding;
    if (!status && encoding != ENCODING) {
        status = kw_fail(a->err, KW_MISSING, "%.200s: the codes of its words are of version %lld; known is %d", a->spec_name,
                         (long long)encoding, ENCODING);
    }
    return status;
}

/* --- a target's spec -------------------------------------------------------------------------------------------------- */

/* Their loader takes scores of a spec without log_targets as they are, so that is what is reproduced. */
static kw_status find_quantity(const adoption *a, size_t target, kw_model_quantity *quantity) {
    const json_t *logs = json_object_get(a->spec, "log_targets");
    const char *asked = a->options->quantity;
    bool logarithm = has_text(logs, known_targets[target].name);
    *quantity = known_targets[target].plain;
    if (logarithm && known_targets[target].logarithm == KW_PREDICTS_COUNT) {
        return kw_fail(a->err, KW_MISSING, "%.200s: a logarithm of %s is not known here", a->spec_name, known_targets[target].name);
    }
    *quantity = logarithm ? known_targets[target].logarithm : *quantity;
    if (asked && !strcmp(asked, kw_model_quantity_name(known_targets[target].logarithm))) {
        *quantity = known_targets[target].logarithm;
    } else if (!logs && known_targets[target].logarithm != KW_PREDICTS_COUNT) {
        char line[320];
        snprintf(
            line, sizeof line,
            "no log_targets: scores of %s count as they are, as the published loader takes them; --quantity %s where they are logarithms",
            known_targets[target].name, kw_model_quantity_name(known_targets[target].logarithm));
        remark(a, line);
    }
    return KW_OK;
}

static kw_status add_hardware(kw_text *text, adoption *a) {
    static const char *const keys[] = {"num_cus",          "simds_per_cu",   "shader_engines", "max_clock_mhz",
                                       "max_waves_per_cu", "wavefront_size", "lds_capacity",   "l1_cache_kb",
                                       "l2_cache_kb",      "l3_cache_kb",    "num_xcd"};
    const json_t *hardware = json_object_get(a->spec, "hardware");
    if (!hardware) {
        return KW_OK;
    }
    kw_text_add(text, "hardware");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *prefixed = kw_arena_format(&a->arena, "hw_%s", keys[i]);
        const json_t *value = json_object_get(hardware, keys[i]);
        value = value || !prefixed ? value : json_object_get(hardware, prefixed);
        if (!json_is_number(value) || !(json_number_value(value) >= 1)) {
            return kw_fail(a->err, KW_MALFORMED, "%.200s: hardware does not say %s", a->spec_name, keys[i]);
        }
        kw_text_addf(text, " %lld", (long long)json_number_value(value));
    }
    kw_text_add(text, "\n");
    return KW_OK;
}

static int64_t manifest_count(const adoption *a, const char *key) {
    json_int_t value = json_integer_value(json_object_get(a->manifest, key));
    return value > 0 ? value : 0;
}

static kw_status print_adopted(kw_text *text, adoption *a, kw_model_quantity quantity, const char *file,
                               const char digests[2][KW_HASH_TEXT]) {
    const json_t *names = json_object_get(a->spec, "feature_names"), *name;
    char target[KW_TARGET_TEXT_MAX];
    size_t i;
    kw_target_print(target, sizeof target, &a->target);
    kw_text_addf(text, KW_MODEL_SPEC_HEADER "\ntarget %s\nserves %s %s\npredicts %s\ntable %s\n", target, kw_op_name(a->op),
                 kw_dtype_name(a->dtype), kw_model_quantity_name(quantity), kw_ck_table(a->op)->name);
    kw_status status = add_hardware(text, a);
    if (!json_array_size(names)) {
        return kw_fail(a->err, KW_MALFORMED, "%.200s has no feature_names: nobody knows what a column of the forest is", a->spec_name);
    }
    json_array_foreach(names, i, name) {
        if (!json_is_string(name) || kw_feature_find(kw_ck_table(a->op), json_string_value(name)) < 0) {
            return kw_fail(
                a->err, KW_MISSING,
                "%.200s: feature %.60s is none of the %zu published ones of %s that are known here, so its scores cannot be reproduced",
                a->spec_name, json_is_string(name) ? json_string_value(name) : "(no text)", kw_ck_table(a->op)->count, kw_op_name(a->op));
        }
        kw_text_addf(text, "feature %s\n", json_string_value(name));
    }
    kw_text_addf(text, "rows %lld problems %lld\nforest %s\ndigest %s\nunpacked %s\n", (long long)manifest_count(a, "valid_rows"),
                 (long long)manifest_count(a, "unique_shapes"), file, digests[0], digests[1]);
    return status ? status : text->failed ? kw_fail_memory(a->err, "a model's spec") : KW_OK;
}

/* The spec is written when the model that it makes with the forest can be opened. */
static kw_status write_adopted(adoption *a, size_t target, const char *file, const void *forest, size_t size) {
    kw_text text = {0}, unpacked = {0};
    kw_model_quantity quantity;
    kw_model *model = NULL;
    char digests[2][KW_HASH_TEXT];
    const char *out = a->options->out ? a->options->out : a->options->folder;
    const char *path = a->any ? kw_arena_format(&a->arena, "%s/model_%s.spec", out, known_targets[target].name)
                              : kw_arena_format(&a->arena, "%s/model.spec", out);
    const char *copy = kw_arena_format(&a->arena, "%s/%s", out, file);
    kw_status status =
        path && copy ? kw_gzip_unpack_any(&unpacked, forest, size, KW_FOREST_MAX_TEXT, a->err) : kw_fail_memory(a->err, file);
    status = status ? status : find_quantity(a, target, &quantity);
    if (!status) {
        kw_hash_text(digests[0], forest, size);
        kw_hash_text(digests[1], unpacked.data, unpacked.size);
        status = print_adopted(&text, a, quantity, file, (const char(*)[KW_HASH_TEXT])digests);
    }
    status = status ? status : kw_model_parse(&model, kw_text_string(&text), text.size, forest, size, a->err);
    status = status || !a->options->out ? status : kw_folder_make(out, a->err);
    status = status || !a->options->out ? status : kw_file_replace(copy, forest, size, 0644, a->err);
    status = status ? status : kw_file_replace(path, kw_text_string(&text), text.size, 0644, a->err);
    if (!status) {
        kw_line line = {.data = a->report->quantities, .capacity = sizeof a->report->quantities, .size = strlen(a->report->quantities)};
        kw_line_addf(&line, "%s%s", a->any ? " " : "", kw_model_quantity_name(quantity));
        a->report->features = a->any ? a->report->features : (int64_t)kw_model_describe(model)->features;
        a->report->trees += (int64_t)kw_model_describe(model)->trees;
        a->any = true;
    }
    kw_model_close(&model);
    kw_text_drop(&text);
    kw_text_drop(&unpacked);
    return status;
}

static kw_status adopt_target(adoption *a, size_t target) {
    static const char *const ends[] = {".lgbm.gz", ".lgbm"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *data = NULL;
        size_t size = 0;
        kw_error why = {0};
        const char *file = kw_arena_format(&a->arena, "model_%s%s", known_targets[target].name, ends[i]);
        const char *path = file ? kw_arena_format(&a->arena, "%s/%s", a->options->folder, file) : NULL;
        kw_status status = path ? kw_file_read(&a->arena, path, KW_FOREST_MAX_TEXT, &data, &size, &why) : kw_fail_memory(&why, "a model");
        if (status != KW_MISSING) {
            return status ? kw_fail(a->err, status, "%s", why.text) : write_adopted(a, target, file, data, size);
        }
    }
    return KW_OK;
}

kw_status kw_model_adopt(const kw_adopt_options *options, kw_adopt_report *report, kw_error *err) {
    kw_adopt_report unused = {0};
    const char *manifest = NULL;
    kw_adopt_options own;
    adoption a = {.options = &own, .report = report ? report : &unused, .err = err};
    *a.report = (kw_adopt_report){0};
    kw_status status = KW_SIZED_READ(&own, kw_adopt_options, user, options, err);
    if (status) {
        return status;
    }
    if (!options || !options->folder || !*options->folder) {
        return kw_fail(err, KW_ILLEGAL, "kw_model_adopt: no folder is given");
    }
    status = read_json(&a, &a.spec, &a.spec_name, "feature_spec.json");
    status = status ? status : read_identity(&a);
    kw_error why = {0};
    a.err = &why; /* a folder without a manifest does not say its rows */
    kw_status read = status ? status : read_json(&a, &a.manifest, &manifest, "train_manifest.json");
    a.err = err;
    if (!status && read == KW_NO_MEMORY) {
        status = kw_fail_memory(err, "a model's manifest");
    }
    for (size_t i = 0; i < TARGETS && !status; i++) {
        status = adopt_target(&a, i);
    }
    if (!status && !a.any) {
        status = kw_fail(err, KW_MISSING, "%.300s has no forest: model_tflops, model_latency or model_bandwidth, each .lgbm or .lgbm.gz",
                         options->folder);
    }
    a.report->op = a.op;
    a.report->dtype = a.dtype;
    snprintf(a.report->arch, sizeof a.report->arch, "%s", a.target.arch);
    json_decref(a.spec);
    json_decref(a.manifest);
    kw_arena_drop(&a.arena);
    return status;
}

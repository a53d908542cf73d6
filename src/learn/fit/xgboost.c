/* xgboost.c: the functions of XGBoost's C API that training needs, declared here by their documented signatures (c_api.h, versions 1.6 to
 * 3.x; its header is not needed to build). All return 0, or -1 with the reason in XGBGetLastError. */
#include "learn/fit/xgboost.h"

#include "base/number.h"
#include "learn/fit/xgboost_text.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

typedef void *handle;
typedef unsigned long long count64; /* bst_ulong */

#define FUNCTIONS(X)                                                                                                                       \
    X(XGDMatrixCreateFromMat, int (*)(const float *data, count64 rows, count64 columns, float missing, handle *out))                       \
    X(XGDMatrixSetFloatInfo, int (*)(handle data, const char *name, const float *values, count64 count))                                   \
    X(XGDMatrixFree, int (*)(handle data))                                                                                                 \
    X(XGBoosterCreate, int (*)(const handle data[], count64 count, handle *out))                                                           \
    X(XGBoosterSetParam, int (*)(handle booster, const char *name, const char *value))                                                     \
    X(XGBoosterUpdateOneIter, int (*)(handle booster, int iteration, handle data))                                                         \
    X(XGBoosterEvalOneIter, int (*)(handle booster, int iteration, handle data[], const char *names[], count64 count, const char **out))   \
    X(XGBoosterSaveModelToBuffer, int (*)(handle booster, const char *config, count64 *size, const char **out))                            \
    X(XGBoosterFree, int (*)(handle booster))                                                                                              \
    X(XGBoostVersion, void (*)(int *major, int *minor, int *patch))                                                                        \
    X(XGBGetLastError, const char *(*)(void))

struct kw_xgboost {
#define MEMBER(name, type) __typeof__(type) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    char version[32];
};

struct kw_xgboost_table {
    const kw_xgboost *library;
    const kw_feature_table *features;
    float *rows;
    size_t columns;
};

/* --- the library -------------------------------------------------------------------------------------------------- */

static void *load_library(const char *path) {
    static const char *const usual[] = {"libxgboost.so.0", "libxgboost.so"};
    const char *named = path ? path : getenv("KW_XGBOOST");
    if (named && *named) {
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    }
    void *loaded = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !loaded; i++) {
        loaded = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
    }
    return loaded;
}

kw_status kw_xgboost_open(kw_xgboost **library, const char *path, kw_error *err) {
    *library = NULL;
    kw_xgboost *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "XGBoost's functions");
    }
    void *loaded = load_library(path), *found;
    const char *missing = loaded ? NULL : "library";
#define FIND(name, type)                                                                                                                   \
    found = loaded ? dlsym(loaded, #name) : NULL;                                                                                          \
    memcpy(&made->name, &found, sizeof found);                                                                                             \
    missing = found || !loaded ? missing : #name;
    FUNCTIONS(FIND)
#undef FIND
    if (missing) {
        free(made);
        return loaded ? kw_fail(err, KW_ENVIRONMENT, "XGBoost's library has no %s; version 1.6 or later is needed", missing)
                      : kw_fail(err, KW_ENVIRONMENT, "XGBoost is not there: %.200s; apt install libxgboost0, or set KW_XGBOOST", dlerror());
    }
    int major = 0, minor = 0, patch = 0;
    made->XGBoostVersion(&major, &minor, &patch);
    snprintf(made->version, sizeof made->version, "%d.%d.%d", major, minor, patch);
    *library = made;
    return KW_OK;
}

void kw_xgboost_close(kw_xgboost **library) {
    free(*library);
    *library = NULL;
}

const char *kw_xgboost_version(const kw_xgboost *library) {
    return library->version;
}

static kw_status fail_xgboost(const kw_xgboost *library, const char *what, kw_error *err) {
    const char *reason = library->XGBGetLastError();
    const char *end = strchr(reason, '\n'); /* a stack trace follows */
    int size = end ? (int)(end - reason) : (int)strlen(reason);
    return kw_fail(err, KW_FAILED, "XGBoost, %s: %.*s", what, size < 300 ? size : 300, reason);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

kw_status kw_xgboost_table_make(kw_xgboost_table **table, kw_xgboost *library, const double *rows, size_t count,
                                const kw_feature_table *features, kw_error *err) {
    kw_xgboost_table *made = calloc(1, sizeof *made);
    size_t cells = count * features->count;
    *table = made;
    if (made) {
        *made = (kw_xgboost_table){library, features, calloc(cells + 1, sizeof *made->rows), features->count};
    }
    if (!made || !made->rows) {
        kw_xgboost_table_free(table);
        return kw_fail_memory(err, "the table of rows");
    }
    for (size_t i = 0; i < cells; i++) {
        made->rows[i] = (float)rows[i];
    }
    return KW_OK;
}

void kw_xgboost_table_free(kw_xgboost_table **table) {
    if (*table) {
        free((*table)->rows);
    }
    free(*table);
    *table = NULL;
}

static kw_status make_xgboost_subset(handle *out, const kw_xgboost_table *table, const kw_gbm_subset *part, kw_error *err) {
    const kw_xgboost *library = table->library;
    float *rows = calloc(part->count * table->columns + 1, sizeof *rows), *start = calloc(part->count + 1, sizeof *start);
    kw_status status = rows && start ? KW_OK : kw_fail_memory(err, "a part of the rows");
    for (size_t i = 0; i < part->count && !status; i++) {
        memcpy(rows + i * table->columns, table->rows + (size_t)part->row[i] * table->columns, table->columns * sizeof *rows);
        start[i] = part->start ? (float)part->start[i] : 0;
    }
    if (!status && (library->XGDMatrixCreateFromMat(rows, part->count, table->columns, NAN, out) ||
                    library->XGDMatrixSetFloatInfo(*out, "label", part->label, part->count) ||
                    (part->weight && library->XGDMatrixSetFloatInfo(*out, "weight", part->weight, part->count)) ||
                    (part->start && library->XGDMatrixSetFloatInfo(*out, "base_margin", start, part->count)))) {
        status = fail_xgboost(library, "reading the rows", err);
    }
    free(rows);
    free(start);
    return status;
}

/* --- training ----------------------------------------------------------------------------------------------------- */

/* What the first tree starts from, as the float that XGBoost makes of it: the mean label. */
static float base_of(const kw_gbm_subset *part) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < part->count; i++) {
        double weight = part->weight ? (double)part->weight[i] : 1;
        sum += weight * (double)part->label[i];
        weights += weight;
    }
    return part->start || !(weights > 0) ? 0 : (float)(sum / weights);
}

/* Parameters "key=value ..."; the threads of the job are passed over. */
static kw_status set_parameters(const kw_xgboost *library, handle booster, const char *parameters, float base, kw_error *err) {
    kw_scan scan = kw_scan_string(parameters);
    kw_word word;
    char key[64], value[4096];
    while (kw_scan_word(&scan, &word)) {
        const char *equals = memchr(word.at, '=', word.size);
        size_t size = equals ? (size_t)(equals - word.at) : word.size;
        if (!equals || size >= sizeof key || word.size - size > sizeof value) {
            continue;
        }
        snprintf(key, sizeof key, "%.*s", (int)size, word.at);
        snprintf(value, sizeof value, "%.*s", (int)(word.size - size - 1), equals + 1);
        if (library->XGBoosterSetParam(booster, key, value)) {
            return fail_xgboost(library, key, err);
        }
    }
    kw_line line = {.data = value, .capacity = sizeof value};
    char digits[KW_NUMBER_TEXT];
    kw_number_print(digits, (double)base);
    kw_line_addf(&line, "%s", digits);
    return library->XGBoosterSetParam(booster, "base_score", value) ? fail_xgboost(library, "base_score", err) : KW_OK;
}

/* The number behind the last colon of "[7]\tjudge-rmse:0.123". */
static bool read_metric(const char *text, double *value) {
    const char *colon = strrchr(text, ':');
    kw_scan scan = kw_scan_string(colon ? colon + 1 : "");
    kw_word word;
    return kw_scan_word(&scan, &word) && kw_number_read(word, value);
}

/* Adds trees until the judge sees no progress; *best is how many to keep. */
static kw_status boost_xgboost(handle booster, handle train, handle valid, const kw_xgboost *library, const kw_gbm_job *job, int32_t *best,
                               kw_error *err) {
    double record = 0;
    const char *names[] = {"judge"}, *text = "";
    *best = 0;
    for (int32_t made = 1; made <= job->trees; made++) {
        double result;
        if (kw_stop_requested(job->stop)) {
            return kw_fail(err, KW_FAILED, "stopped; nothing was written");
        }
        if (library->XGBoosterUpdateOneIter(booster, made - 1, train)) {
            return fail_xgboost(library, "adding a tree", err);
        }
        if (!valid) {
            *best = made;
            continue;
        }
        if (library->XGBoosterEvalOneIter(booster, made - 1, &valid, names, 1, &text) || !read_metric(text, &result)) {
            return fail_xgboost(library, "judging a tree", err);
        }
        if (!*best || (job->more_is_better ? result > record : result < record)) {
            *best = made;
            record = result;
        } else if (made - *best >= job->patience) {
            break;
        }
    }
    return KW_OK;
}

static kw_status save_xgboost(char **text, handle booster, const kw_xgboost_table *table, const kw_gbm_job *job, int32_t trees,
                              kw_error *err) {
    const kw_xgboost *library = table->library;
    kw_xgboost_model model = {.trees = trees, .features = table->features, .base = (double)base_of(job->train), .before = job->before};
    count64 size = 0;
    int64_t splits = 0;
    kw_text made = {0};
    if (library->XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &size, &model.json)) {
        return fail_xgboost(library, "writing the model", err);
    }
    model.size = (size_t)size;
    kw_status status = kw_xgboost_text(&made, &model, &splits, err);
    if (!status && !splits && !job->before) {
        status = kw_fail(err, KW_FAILED, "XGBoost finds nothing to split on: %zu rows are too few, or all alike", job->train->count);
    }
    *text = status ? NULL : kw_text_take(&made);
    kw_text_drop(&made);
    return status || *text ? status : kw_fail_memory(err, "the model");
}

kw_status kw_xgboost_train(char **text, int32_t *trees, kw_xgboost_table *table, const kw_gbm_job *job, kw_error *err) {
    const kw_xgboost *library = table->library;
    handle train = NULL, valid = NULL, booster = NULL;
    *text = NULL;
    *trees = 0;
    kw_status status = make_xgboost_subset(&train, table, job->train, err);
    if (!status && job->valid) {
        status = make_xgboost_subset(&valid, table, job->valid, err);
    }
    handle known[] = {train, valid};
    if (!status && library->XGBoosterCreate(known, valid ? 2 : 1, &booster)) {
        status = fail_xgboost(library, "beginning", err);
    }
    status = status ? status : set_parameters(library, booster, job->parameters, base_of(job->train), err);
    status = status ? status : boost_xgboost(booster, train, valid, library, job, trees, err);
    status = status ? status : save_xgboost(text, booster, table, job, *trees, err);
    if (booster) {
        library->XGBoosterFree(booster);
    }
    if (valid) {
        library->XGDMatrixFree(valid);
    }
    if (train) {
        library->XGDMatrixFree(train);
    }
    return status;
}

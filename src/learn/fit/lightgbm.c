/* lightgbm.c: the functions of LightGBM's C API that training needs, declared here by their documented signatures (c_api.h, versions 3.3
 * to 4.x; its header is not needed to build). All return 0, or -1 with the reason in LGBM_GetLastError. */
#include "learn/fit/lightgbm.h"

#include "base/os/file.h"
#include "base/text.h"

#include <assert.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLOAT32 = 0, FLOAT64 = 1, INT32 = 2, RESULTS_MAX = 16, PATH_SIZE = 4096 };

typedef void *handle;

#define FUNCTIONS(X)                                                                                                                       \
    X(DatasetCreateFromMat,                                                                                                                \
      int (*)(const void *data, int type, int32_t rows, int32_t columns, int row_major, const char *parameters, handle like, handle *out)) \
    X(DatasetGetSubset, int (*)(handle data, const int32_t *rows, int32_t count, const char *parameters, handle *out))                     \
    X(DatasetSetFeatureNames, int (*)(handle data, const char **names, int count))                                                         \
    X(DatasetSetField, int (*)(handle data, const char *name, const void *values, int count, int type))                                    \
    X(DatasetFree, int (*)(handle data))                                                                                                   \
    X(BoosterCreate, int (*)(handle data, const char *parameters, handle *out))                                                            \
    X(BoosterLoadModelFromString, int (*)(const char *text, int *iterations, handle *out))                                                 \
    X(BoosterMerge, int (*)(handle booster, handle other))                                                                                 \
    X(BoosterAddValidData, int (*)(handle booster, handle data))                                                                           \
    X(BoosterUpdateOneIter, int (*)(handle booster, int *finished))                                                                        \
    X(BoosterGetEval, int (*)(handle booster, int data, int *count, double *results))                                                      \
    X(BoosterSaveModelToString,                                                                                                            \
      int (*)(handle booster, int start, int iterations, int importance, int64_t room, int64_t *size, char *text))                         \
    X(BoosterFree, int (*)(handle booster))                                                                                                \
    X(GetLastError, const char *(*)(void))

struct kw_lightgbm {
    void *loaded;
#define MEMBER(name, type) __typeof__(type) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    char path[PATH_SIZE], version[32];
};

struct kw_lightgbm_table {
    kw_lightgbm *library;
    handle data;
};

/* --- the library -------------------------------------------------------------------------------------------------- */

/* In the Python environment beside the running program that tools/lightgbm.sh makes. */
static bool beside_program(char path[PATH_SIZE]) {
    ssize_t size = readlink("/proc/self/exe", path, PATH_SIZE - 128);
    if (size <= 0) {
        return false;
    }
    path[size] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) {
        return false;
    }
    snprintf(slash, PATH_SIZE - (size_t)(slash - path), "/lightgbm/lib/python3*/site-packages/lightgbm/lib/lib_lightgbm.so");
    glob_t found;
    bool there = !glob(path, 0, NULL, &found);
    if (there) {
        snprintf(path, PATH_SIZE, "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return there;
}

/* Where pip puts it: the environment in use, the user's own, the system's. */
static bool in_python(char path[PATH_SIZE]) {
    const char *const roots[] = {getenv("VIRTUAL_ENV"), getenv("HOME"), "/usr/local", "/usr"};
    static const char *const folders[] = {"lib/python3*/site-packages", ".local/lib/python3*/site-packages", "lib/python3*/dist-packages",
                                          "lib/python3/dist-packages"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        glob_t found;
        char pattern[PATH_SIZE];
        snprintf(pattern, sizeof pattern, "%s/%s/lightgbm/lib/lib_lightgbm.so", roots[i] ? roots[i] : "", folders[i]);
        if (roots[i] && *roots[i] && !glob(pattern, 0, NULL, &found)) {
            snprintf(path, PATH_SIZE, "%s", found.gl_pathv[0]);
            globfree(&found);
            return true;
        }
    }
    return false;
}

static void find_library(char path[PATH_SIZE], const char *given) {
    const char *named = given ? given : getenv("KW_LIGHTGBM");
    if (named && *named) {
        snprintf(path, PATH_SIZE, "%s", named);
    } else if (!beside_program(path) && !in_python(path)) {
        snprintf(path, PATH_SIZE, "lib_lightgbm.so");
    }
}

/* The Python package has VERSION.txt in the folder above lib/. */
static void find_version(kw_lightgbm *library) {
    char path[PATH_SIZE + 16];
    snprintf(path, sizeof path, "%s", library->path);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) {
            return;
        }
        *slash = 0;
    }
    snprintf(path + strlen(path), 16, "/VERSION.txt");
    FILE *file = fopen(path, "re");
    if (file) {
        size_t size = fread(library->version, 1, sizeof library->version - 1, file);
        library->version[size] = 0;
        library->version[strcspn(library->version, " \r\n")] = 0;
        fclose(file);
    }
}

kw_status kw_lightgbm_open(kw_lightgbm **library, const char *path, kw_error *err) {
    *library = NULL;
    kw_lightgbm *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "LightGBM's functions");
    }
    find_library(made->path, path);
    made->loaded = dlopen(made->path, RTLD_NOW | RTLD_LOCAL);
    if (!made->loaded) {
        kw_status status = kw_fail(err, KW_ENVIRONMENT,
                                   "training needs LightGBM: %.200s; `pip install lightgbm` (`make lightgbm` in the source tree), or name "
                                   "its lib_lightgbm.so by --lightgbm",
                                   dlerror());
        free(made);
        return status;
    }
    const char *missing = NULL;
    void *found;
#define FIND(name, type)                                                                                                                   \
    found = dlsym(made->loaded, "LGBM_" #name);                                                                                            \
    memcpy(&made->name, &found, sizeof found);                                                                                             \
    missing = found ? missing : #name;
    FUNCTIONS(FIND)
#undef FIND
    if (missing) {
        kw_status status =
            kw_fail(err, KW_ENVIRONMENT,
                    "%.200s has no LGBM_%s; LightGBM 3.3 or later is needed: `pip install lightgbm`, or `make lightgbm` in the source tree",
                    made->path, missing);
        free(made);
        return status;
    }
    find_version(made);
    *library = made;
    return KW_OK;
}

void kw_lightgbm_close(kw_lightgbm **library) {
    free(*library);
    *library = NULL;
}

const char *kw_lightgbm_path(const kw_lightgbm *library) {
    return library->path;
}

const char *kw_lightgbm_version(const kw_lightgbm *library) {
    return library->version;
}

static kw_status fail_lightgbm(const kw_lightgbm *library, const char *what, kw_error *err) {
    return kw_fail(err, KW_FAILED, "LightGBM, %s: %.300s", what, library->GetLastError());
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* What decides how values are cut into bins; the same for every job. */
static char *table_parameters(const kw_feature_table *features) {
    kw_text text = {0};
    const char *comma = "";
    kw_text_add(&text, "max_bin=255 min_data_in_bin=3 feature_pre_filter=false deterministic=true force_row_wise=true verbosity=-1 "
                       "categorical_feature=");
    for (size_t i = 0; i < features->count; i++) {
        if (kw_feature_is_code(&features->features[i])) {
            kw_text_addf(&text, "%s%zu", comma, i);
            comma = ",";
        }
    }
    return kw_text_take(&text);
}

kw_status kw_lightgbm_table_make(kw_lightgbm_table **table, kw_lightgbm *library, const double *rows, size_t count,
                                 const kw_feature_table *features, kw_error *err) {
    *table = NULL;
    if (count > INT32_MAX || features->count > INT32_MAX) {
        return kw_fail(err, KW_ILLEGAL, "%zu rows are too many; LightGBM takes 2^31 - 1: train by operation or type", count);
    }
    kw_lightgbm_table *made = calloc(1, sizeof *made);
    char *parameters = table_parameters(features);
    const char **names = calloc(features->count + 1, sizeof *names);
    kw_status status = KW_OK;
    if (!made || !parameters || !names) {
        status = kw_fail_memory(err, "the table of rows");
        goto out;
    }
    made->library = library;
    for (size_t i = 0; i < features->count; i++) {
        names[i] = features->features[i].name;
    }
    if (library->DatasetCreateFromMat(rows, FLOAT64, (int32_t)count, (int32_t)features->count, 1, parameters, NULL, &made->data) ||
        library->DatasetSetFeatureNames(made->data, names, (int)features->count)) {
        status = fail_lightgbm(library, "reading the rows", err);
    }
out:
    free(parameters);
    free(names);
    if (status) {
        kw_lightgbm_table_free(&made);
    }
    *table = made;
    return status;
}

void kw_lightgbm_table_free(kw_lightgbm_table **table) {
    if (*table && (*table)->data) {
        (*table)->library->DatasetFree((*table)->data);
    }
    free(*table);
    *table = NULL;
}

static kw_status make_lightgbm_subset(handle *out, kw_lightgbm_table *table, const kw_lightgbm_subset *part, const char *parameters,
                                      kw_error *err) {
    kw_lightgbm *library = table->library;
    int count = (int)part->count;
    assert(part->count <= INT32_MAX); /* kw_lightgbm_table_make refuses more */
    if (library->DatasetGetSubset(table->data, part->row, count, parameters, out) ||
        library->DatasetSetField(*out, "label", part->label, count, FLOAT32) ||
        (part->weight && library->DatasetSetField(*out, "weight", part->weight, count, FLOAT32)) ||
        (part->start && library->DatasetSetField(*out, "init_score", part->start, count, FLOAT64)) ||
        (part->group && library->DatasetSetField(*out, "group", part->group, (int)part->group_count, INT32))) {
        return fail_lightgbm(library, "choosing rows", err);
    }
    return KW_OK;
}

/* --- training ----------------------------------------------------------------------------------------------------- */

/* Adds trees until the validation rows show no progress; *best is how many to keep. */
static kw_status boost_lightgbm(handle booster, const kw_lightgbm *library, const kw_lightgbm_job *job, int32_t *best, kw_error *err) {
    double record = 0;
    *best = 0;
    for (int32_t made = 1; made <= job->trees; made++) {
        int finished = 0;
        if (kw_stop_requested(job->stop)) {
            return kw_fail(err, KW_FAILED, "stopped; nothing was written");
        }
        if (library->BoosterUpdateOneIter(booster, &finished)) {
            return fail_lightgbm(library, "adding a tree", err);
        }
        if (finished) {
            break;
        }
        if (!job->valid) {
            *best = made;
            continue;
        }
        int count = 0;
        double results[RESULTS_MAX] = {0};
        if (library->BoosterGetEval(booster, 1, &count, results) || count < 1 || count > RESULTS_MAX) {
            return fail_lightgbm(library, "evaluating a tree", err);
        }
        if (!*best || (job->more_is_better ? results[0] > record : results[0] < record)) {
            *best = made;
            record = results[0];
        } else if (made - *best >= job->patience) {
            break;
        }
    }
    return KW_OK;
}

static kw_status save_lightgbm(char **text, handle booster, const kw_lightgbm *library, int iterations, kw_error *err) {
    int64_t size = 0;
    if (library->BoosterSaveModelToString(booster, 0, iterations, 0, 0, &size, NULL)) {
        return fail_lightgbm(library, "writing the model", err);
    }
    char *made = malloc((size_t)size + 1);
    if (!made) {
        return kw_fail_memory(err, "the model");
    }
    if (library->BoosterSaveModelToString(booster, 0, iterations, 0, size + 1, &size, made)) {
        free(made);
        return fail_lightgbm(library, "writing the model", err);
    }
    *text = made;
    return KW_OK;
}

kw_status kw_lightgbm_train(char **text, int32_t *trees, kw_lightgbm_table *table, const kw_lightgbm_job *job, kw_error *err) {
    kw_lightgbm *library = table->library;
    handle train = NULL, valid = NULL, booster = NULL, before = NULL;
    int had = 0;
    *text = NULL;
    *trees = 0;
    kw_status status = make_lightgbm_subset(&train, table, job->train, job->parameters, err);
    if (!status && job->valid) {
        status = make_lightgbm_subset(&valid, table, job->valid, job->parameters, err);
    }
    if (!status && library->BoosterCreate(train, job->parameters, &booster)) {
        status = fail_lightgbm(library, "beginning", err);
    }
    if (!status && job->before &&
        (library->BoosterLoadModelFromString(job->before, &had, &before) || library->BoosterMerge(booster, before))) {
        status = fail_lightgbm(library, "going on from a model", err);
    }
    if (!status && valid && library->BoosterAddValidData(booster, valid)) {
        status = fail_lightgbm(library, "adding the validation rows", err);
    }
    status = status ? status : boost_lightgbm(booster, library, job, trees, err);
    if (!status && !*trees && !had) {
        status = kw_fail(err, KW_FAILED, "LightGBM finds nothing to split on: %zu rows are too few, or all alike", job->train->count);
    }
    status = status ? status : save_lightgbm(text, booster, library, had + *trees, err);
    if (booster) {
        library->BoosterFree(booster);
    }
    if (before) {
        library->BoosterFree(before);
    }
    if (valid) {
        library->DatasetFree(valid);
    }
    if (train) {
        library->DatasetFree(train);
    }
    return status;
}

/* train_command.c: kw_train. Reads rows, holds out, mines what was hard, makes the final model, cuts it to size and writes the folder.
 * Everything that is chosen (quantity, rounds) is chosen by held-out selections alone. */
#include "learn/model/artifacts.h"
#include "learn/model/forest_text.h"
#include "learn/data/split/holdout.h"
#include "learn/fit/quantities.h"
#include "learn/fit/warm_start.h"

#include "base/sized.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "base/os/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDS = 5, TREES = 1000, WARM_TREES = 100, LEAVES = 48, PATIENCE = 30, ROUNDS = 2, MAX_BYTES = 1000000, MAX_MEMORY = 8 << 20 };
static const double learning_rate = 0.06, least_gain = 1e-3, hardest = 3;

typedef struct session {
    const kw_train_options *options;
    kw_train_report *report;
    const char *quantity; /* one of the options', or NULL */
    const char *targets;  /* all of them, with blanks between; NULL: this one */
    bool beside;          /* not the first */
    kw_holdout holdout;
    kw_lightgbm *library;
    kw_dataset dataset;
    kw_native_features *native;
    double *rows, *times, *emphasis;
    kw_group_oracle *oracles;
    int32_t *fold[KW_GROUPINGS];
    kw_lightgbm_table *table;
    kw_trainer trainer;
    kw_hyperparameters hyperparameters;
    kw_cross_validation cv;
    kw_forest *forest;
    kw_text packed; /* model.lgbm.gz */
    kw_warm_start_model warm;
    kw_error *err;
} session;

static void log_train_remark(const session *s, const char *line) {
    if (s->options->log) {
        s->options->log(s->options->user, line);
    }
}

static void report_train_progress(const session *s, const char *phase, int64_t done, int64_t total) {
    if (s->options->progress) {
        s->options->progress(s->options->user, &(kw_train_progress){phase, done, total, 0});
    }
}

/* --- reading ---------------------------------------------------------------------------------------------------------- */

/* A row of a held-out problem is a leak, and one is enough to refuse. */
static kw_status refuse_holdout_rows(const session *s) {
    int64_t leaks = 0;
    const kw_problem_group *first = NULL;
    for (size_t i = 0; i < s->dataset.problem_group_count; i++) {
        leaks += s->dataset.problem_groups[i].holdout;
        first = !first && s->dataset.problem_groups[i].holdout ? &s->dataset.problem_groups[i] : first;
    }
    if (!first) {
        return KW_OK;
    }
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, &first->problem);
    return kw_fail(s->err, KW_FAILED, "%lld problem groups are of held-out problems, the first of %.200s; train on rows without them",
                   (long long)leaks, text);
}

static kw_status read_training_rows(session *s) {
    const kw_train_options *o = s->options;
    kw_train_report *r = s->report;
    kw_dataset_filter filter = {.by_op = o->by_op,
                                .by_dtype = o->by_dtype,
                                .op = o->op,
                                .dtype = o->dtype,
                                .holdout = s->holdout.problems,
                                .holdout_count = s->holdout.count,
                                .ck = true};
    report_train_progress(s, "read", 0, 1);
    kw_status status = kw_dataset_open(&s->dataset, o->stores, o->store_count, &filter, s->err);
    status = status ? status : refuse_holdout_rows(s);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < s->dataset.pair_count; i++) {
        kw_outcome outcome = s->dataset.pairs[i].outcome;
        r->good += outcome == KW_GOOD;
        r->slow += outcome == KW_SLOW;
        r->failed += outcome != KW_GOOD && outcome != KW_SLOW;
    }
    r->pairs = (int64_t)s->dataset.pair_count;
    r->problem_groups = (int64_t)s->dataset.problem_group_count;
    r->foreign = s->dataset.foreign;
    r->untimed = s->dataset.untimed;
    if (!r->good) {
        return kw_fail(s->err, KW_FAILED,
                       "there is no good, timed row to learn from: %lld rows are of kernels or problems not known here, %lld have "
                       "no time; kwright sweep makes rows",
                       (long long)r->foreign, (long long)r->untimed);
    }
    return kw_dataset_spread(&r->problems, &r->families, &s->dataset, s->err);
}

/* Ours, unless they were asked for otherwise or all kernels are CK Tile's. */
static kw_status make_features(session *s, const kw_feature_table **features) {
    const char *asked = s->options->features;
    bool ck = asked ? !strcmp(asked, "ck") : s->dataset.ck == s->dataset.pair_count;
    if (asked && !ck && strcmp(asked, "native")) {
        return kw_fail(s->err, KW_MISSING, "features %.40s are not known; known: native ck", asked);
    }
    s->dataset.published = ck;
    if (ck) {
        s->hyperparameters.quantity = s->quantity ? s->hyperparameters.quantity : KW_PREDICTS_TFLOPS; /* as published */
        return kw_dataset_ck_features(&s->rows, features, &s->dataset, s->err);
    }
    kw_status status = kw_native_features_open(&s->native, s->err);
    status = status ? status : kw_dataset_features(&s->rows, &s->dataset, s->native, s->err);
    *features = status ? NULL : kw_native_features_table(s->native);
    return status;
}

static kw_status prepare_training(session *s) {
    const kw_train_options *o = s->options;
    size_t problem_groups = s->dataset.problem_group_count;
    const kw_feature_table *features = NULL;
    kw_status status = make_features(s, &features);
    status = status ? status : kw_group_oracles_create(&s->oracles, &s->dataset, s->err);
    s->times = calloc(s->dataset.pair_count + 1, sizeof *s->times);
    s->emphasis = calloc(problem_groups + 1, sizeof *s->emphasis);
    if (!status && (!s->times || !s->emphasis)) {
        status = kw_fail_memory(s->err, "the labels");
    }
    if (status) {
        return status;
    }
    kw_label_times(s->times, &s->dataset);
    status = kw_lightgbm_table_make(&s->table, s->library, s->rows, s->dataset.pair_count, features, s->err);
    s->trainer = (kw_trainer){.table = s->table,
                              .dataset = &s->dataset,
                              .features = features,
                              .rows = s->rows,
                              .times = s->times,
                              .oracles = s->oracles,
                              .stop = o->stop,
                              .progress = o->progress,
                              .user = o->user};
    for (int g = 0; g < KW_GROUPINGS && !status; g++) {
        s->fold[g] = calloc(problem_groups + 1, sizeof *s->fold[g]);
        if (!s->fold[g]) {
            return kw_fail_memory(s->err, "the folds");
        }
        s->trainer.fold[g] = s->fold[g];
        if (o->folds != 1) {
            status =
                kw_folds_draw(s->fold[g], &s->trainer.folds[g], &s->dataset, (kw_grouping)g, o->folds ? o->folds : FOLDS, o->seed, s->err);
        }
        if (!status && s->trainer.folds[g] < 2 && o->folds != 1) {
            char line[128];
            snprintf(line, sizeof line, "all rows are of one %s: nothing of that kind can be held out", kw_grouping_name((kw_grouping)g));
            log_train_remark(s, line);
        }
    }
    return status;
}

/* --- choosing --------------------------------------------------------------------------------------------------------- */

static void log_round(const session *s, const char *what, const kw_cross_validation *cv) {
    char line[256];
    const kw_train_metrics *shapes = &cv->total[KW_BY_SHAPE], *families = &cv->total[KW_BY_FAMILY];
    snprintf(line, sizeof line,
             "%s: mean %.2f %%, P10 %.2f %%, regret %.2f %% by shape; mean %.2f %%, P10 %.2f %%, regret %.2f %% by family", what,
             100 * shapes->mean, 100 * shapes->p10, 100 * shapes->regret, 100 * families->mean, 100 * families->p10,
             100 * families->regret);
    log_train_remark(s, line);
}

static kw_status choose_quantity(session *s) {
    const char *asked = s->quantity;
    bool any = asked && !strcmp(asked, "choose");
    double best = -1;
    for (int q = 0; q <= KW_PREDICTS_RANK && any; q++) { /* the rest orders as these do */
        kw_hyperparameters hyperparameters = s->hyperparameters;
        kw_cross_validation cv;
        hyperparameters.quantity = (kw_model_quantity)q;
        kw_status status = kw_cross_validate(&cv, &s->trainer, &hyperparameters, s->err);
        if (status) {
            return status;
        }
        log_round(s, kw_model_quantity_name(hyperparameters.quantity), &cv);
        bool better = kw_cross_validation_score(&cv) > best;
        if (better) {
            best = kw_cross_validation_score(&cv);
            s->hyperparameters.quantity = hyperparameters.quantity;
            kw_cross_validation old = s->cv;
            s->cv = cv;
            cv = old;
        }
        kw_cross_validation_drop(&cv);
    }
    if (any) {
        return KW_OK;
    }
    kw_status status = kw_cross_validate(&s->cv, &s->trainer, &s->hyperparameters, s->err);
    if (!status && s->trainer.folds[KW_BY_SHAPE] > 1) {
        log_round(s, kw_model_quantity_name(s->hyperparameters.quantity), &s->cv);
    }
    return status;
}

/* Problem groups count by what was lost in them when they were held out: up to so many times the others at a loss of 20 % and more. */
static void weight_hard_groups(session *s) {
    const double *ns = s->cv.ns[KW_BY_SHAPE];
    for (size_t c = 0; c < s->dataset.problem_group_count; c++) {
        kw_selection selection;
        double loss = kw_selection_make(&selection, &s->dataset, c, &s->oracles[c], ns) ? 1 - selection.efficiency : 0;
        double before = s->emphasis[c] > 0 ? s->emphasis[c] : 1;
        s->emphasis[c] = fmin(hardest, before * (1 + (hardest - 1) * fmin(1, loss / 0.2)));
    }
}

/* Rounds in which hard problems count more; one is kept when what it holds out is better, and the first that is not ends it. */
static kw_status mine_hard_groups(session *s) {
    int32_t rounds = s->options->rounds ? s->options->rounds : ROUNDS;
    for (int32_t round = 0; round < rounds && s->trainer.folds[KW_BY_SHAPE] > 1; round++) {
        kw_hyperparameters hyperparameters = s->hyperparameters;
        kw_cross_validation cv;
        char what[64];
        double *before = calloc(s->dataset.problem_group_count + 1, sizeof *before);
        if (!before) {
            return kw_fail_memory(s->err, "the hard problems");
        }
        memcpy(before, s->emphasis, s->dataset.problem_group_count * sizeof *before);
        weight_hard_groups(s);
        hyperparameters.emphasis = s->emphasis;
        kw_status status = kw_cross_validate(&cv, &s->trainer, &hyperparameters, s->err);
        if (!status) {
            snprintf(what, sizeof what, "hard problems, round %d", (int)round + 1);
            log_round(s, what, &cv);
        }
        bool better = !status && kw_cross_validation_score(&cv) > kw_cross_validation_score(&s->cv) + least_gain;
        if (better) {
            kw_cross_validation_drop(&s->cv);
            s->cv = cv;
            s->hyperparameters = hyperparameters;
            s->report->rounds++;
        } else if (!status) {
            memcpy(s->emphasis, before, s->dataset.problem_group_count * sizeof *before);
            kw_cross_validation_drop(&cv);
        }
        free(before);
        if (status || !better) {
            return status;
        }
    }
    return KW_OK;
}

/* --- the model -------------------------------------------------------------------------------------------------------- */

static kw_status pack_forest(session *s, const char *text, int64_t trees) {
    kw_text slim = {0};
    kw_text_drop(&s->packed);
    kw_forest_drop(&s->forest);
    kw_status status = kw_forest_text_compact(&slim, text, trees, s->err);
    status = status ? status : kw_gzip_pack(&s->packed, slim.data, slim.size, s->err);
    status = status ? status : kw_forest_parse(&s->forest, "the model", slim.data, slim.size, s->err);
    kw_text_drop(&slim);
    return status;
}

/* Leaves later trees away until the model is small enough on disk and in memory. */
static kw_status fit_forest_to_size(session *s, const char *text) {
    int64_t all = kw_forest_text_trees(text), trees = all, most = s->options->max_bytes > 0 ? s->options->max_bytes : MAX_BYTES;
    for (;;) {
        kw_status status = pack_forest(s, text, trees);
        if (status) {
            return status;
        }
        double share = fmin((double)most / (double)s->packed.size, (double)MAX_MEMORY / (double)kw_forest_describe(s->forest).bytes);
        if (share >= 1) {
            break;
        }
        if (trees == 1) {
            return kw_fail(s->err, KW_FAILED, "one tree alone takes more than %lld bytes; allow more, or use fewer leaves",
                           (long long)most);
        }
        int64_t fewer = (int64_t)((double)trees * share * 0.99);
        trees = fewer < 1 ? 1 : fewer < trees ? fewer : trees - 1;
    }
    if (trees < all) {
        char line[160];
        snprintf(line, sizeof line, "%lld of %lld trees are left away to stay within %lld bytes", (long long)(all - trees), (long long)all,
                 (long long)most);
        log_train_remark(s, line);
    }
    return KW_OK;
}

static kw_status make_model(session *s) {
    const kw_train_options *o = s->options;
    char *text = NULL;
    int32_t trees = kw_cross_validation_trees(&s->cv, &s->trainer, &s->hyperparameters);
    kw_status status = KW_OK;
    kw_warm_start warm = {s->warm.text.data, s->warm.start};
    report_train_progress(s, "model", 0, 1);
    if (o->warm_start) {
        trees = o->trees ? o->trees : WARM_TREES;
        status = kw_warm_start_score(&s->warm, s->rows, s->dataset.pair_count, s->err);
        warm.start = s->warm.start;
    }
    status = status ? status : kw_train_final_model(&text, &s->trainer, &s->hyperparameters, trees, o->warm_start ? &warm : NULL, s->err);
    status = status ? status : fit_forest_to_size(s, text);
    free(text);
    if (!status) {
        kw_forest_facts facts = kw_forest_describe(s->forest);
        kw_train_report *r = s->report;
        r->trees = (int64_t)facts.trees;
        r->leaves = (int64_t)facts.leaves;
        r->memory_bytes = (int64_t)facts.bytes;
        r->bytes = (int64_t)s->packed.size;
        kw_hash_text(r->digest, s->packed.data, s->packed.size);
    }
    return status;
}

static kw_status cross_validate_model(session *s) {
    double *estimates = calloc(s->dataset.pair_count + 1, sizeof *estimates);
    if (!estimates) {
        return kw_fail_memory(s->err, "the figures");
    }
    for (size_t i = 0; i < s->dataset.pair_count; i++) {
        estimates[i] = s->dataset.pairs[i].estimate_ns;
    }
    kw_status status = kw_metrics_compute(&s->report->estimate, &s->dataset, s->oracles, estimates, NULL, 0, s->err);
    s->report->shapes = s->cv.total[KW_BY_SHAPE];
    s->report->unseen_families = s->cv.total[KW_BY_FAMILY];
    snprintf(s->report->quantity, sizeof s->report->quantity, "%s", kw_model_quantity_name(s->hyperparameters.quantity));
    free(estimates);
    return status;
}

/* --- options ---------------------------------------------------------------------------------------------------------- */

static kw_status set_quantity(session *s) {
    const char *asked = s->quantity;
    s->hyperparameters.quantity = KW_PREDICTS_RATIO;
    return !asked || !strcmp(asked, "choose") ? KW_OK
                                              : kw_quantity_find(&s->hyperparameters.quantity, (kw_word){asked, strlen(asked)}, s->err);
}

/* A folder that cannot be made must not be found out behind the training: the nearest one above it that is there is asked in front. */
static kw_status check_place(const char *out, kw_error *err) {
    struct stat there = {0};
    char *path = strdup(out);
    if (!path) {
        return kw_fail_memory(err, out);
    }
    for (char *slash = path; stat(path, &there) && slash;) {
        slash = strrchr(path + 1, '/');
        if (slash) {
            *slash = 0;
        } else {
            path[*path == '/'] = 0;
            stat(*path ? path : ".", &there);
        }
    }
    kw_status status = KW_OK;
    if (!S_ISDIR(there.st_mode)) {
        status = kw_fail(err, KW_ILLEGAL, "%.300s is no folder; a model is written as one", path);
    } else if (access(*path ? path : ".", W_OK | X_OK)) {
        status = kw_fail_file(err, "write a model into", *path ? path : ".");
    }
    free(path);
    return status;
}

static kw_status read_train_options(session *s) {
    const kw_train_options *o = s->options;
    if (!o->out || !*o->out) {
        return kw_fail(s->err, KW_ILLEGAL, "a model needs a folder to be written to; for example models/mine");
    }
    kw_status status = check_place(o->out, s->err);
    if (status) {
        return status;
    }
    if (o->folds < 0 || o->folds > KW_FOLDS_MAX || o->trees < 0 || o->trees > KW_FOREST_MAX_TREES || o->leaves < 0 || o->leaves == 1 ||
        o->leaves > 4096 || !(o->learning_rate >= 0 && o->learning_rate <= 1)) {
        return kw_fail(s->err, KW_ILLEGAL,
                       "%d folds, %d trees, %d leaves, learning rate %g: at most %d, %d and 4096 (2 at least), rate 0 to 1", (int)o->folds,
                       (int)o->trees, (int)o->leaves, o->learning_rate, KW_FOLDS_MAX, KW_FOREST_MAX_TREES);
    }
    s->hyperparameters = (kw_hyperparameters){.trees = o->trees && !o->warm_start ? o->trees : TREES,
                                              .leaves = o->leaves ? o->leaves : LEAVES,
                                              .patience = PATIENCE,
                                              .threads = o->threads > 0 ? o->threads : 1,
                                              .learning_rate = o->learning_rate > 0 ? o->learning_rate : learning_rate,
                                              .seed = o->seed};
    return set_quantity(s);
}

static kw_status write_folder(session *s) {
    kw_artifacts artifacts = {.options = s->options,
                              .report = s->report,
                              .trainer = &s->trainer,
                              .hyperparameters = &s->hyperparameters,
                              .cv = &s->cv,
                              .forest = s->forest,
                              .packed = s->packed.data,
                              .packed_size = s->packed.size,
                              .library = "LightGBM",
                              .library_version = kw_lightgbm_version(s->library),
                              .targets = s->targets ? s->targets : kw_model_quantity_name(s->hyperparameters.quantity),
                              .beside = s->beside,
                              .new_trees = (int32_t)(s->report->trees - s->warm.trees),
                              .before = s->options->warm_start ? &s->warm.spec : NULL};
    return kw_artifacts_write(&artifacts, s->err);
}

static void close_training(session *s) {
    kw_cross_validation_drop(&s->cv);
    kw_forest_drop(&s->forest);
    kw_text_drop(&s->packed);
    kw_lightgbm_table_free(&s->table);
    for (int g = 0; g < KW_GROUPINGS; g++) {
        free(s->fold[g]);
    }
    free(s->oracles);
    free(s->times);
    free(s->emphasis);
    free(s->rows);
    kw_native_features_close(&s->native);
    kw_dataset_close(&s->dataset);
    kw_warm_start_close(&s->warm);
    kw_lightgbm_close(&s->library);
    kw_holdout_drop(&s->holdout);
    free(s);
}

static kw_status train_one(const kw_train_options *options, const char *quantity, const char *targets, bool beside, kw_train_report *report,
                           kw_error *err) {
    session *s = calloc(1, sizeof *s);
    if (!s) {
        return kw_fail_memory(err, "training");
    }
    *s = (session){.options = options, .report = report, .quantity = quantity, .targets = targets, .beside = beside, .err = err};
    *report = (kw_train_report){0};
    kw_status status = read_train_options(s);
    status = status ? status : kw_holdout_read(&s->holdout, options->holdout, options->holdout_count, err);
    status = status ? status : read_training_rows(s);
    status = status ? status : kw_lightgbm_open(&s->library, options->lightgbm, err);
    status = status ? status : prepare_training(s);
    if (!status && options->warm_start) {
        status = kw_warm_start_open(&s->warm, options->warm_start, &s->dataset, s->trainer.features, s->hyperparameters.quantity, err);
    }
    status = status ? status : choose_quantity(s);
    status = status ? status : mine_hard_groups(s);
    status = status ? status : cross_validate_model(s);
    status = status ? status : make_model(s);
    status = status ? status : write_folder(s);
    close_training(s);
    return status;
}

kw_status kw_train(const kw_train_options *options, kw_train_report *report, kw_error *err) {
    kw_train_report unused = {0}, others = {0};
    char targets[KW_QUANTITIES_MAX], quantity[32];
    kw_word word;
    report = report ? report : &unused;
    *report = (kw_train_report){0};
    if (!options) {
        return kw_fail(err, KW_ILLEGAL, "kw_train: options is NULL");
    }
    kw_train_options own;
    kw_status status = KW_SIZED_READ(&own, kw_train_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    if (!options->quantity || !strchr(options->quantity, ',')) {
        return train_one(options, options->quantity, NULL, false, report, err);
    }
    status = kw_quantities_read(targets, options->quantity, err);
    if (!status && options->warm_start) {
        status = kw_fail(err, KW_ILLEGAL, "a warm start goes on with one model; give one quantity of %.80s", options->quantity);
    }
    kw_scan scan = kw_scan_string(targets);
    for (bool beside = false; !status && kw_scan_word(&scan, &word); beside = true) {
        kw_word_copy(quantity, sizeof quantity, word);
        status = train_one(options, quantity, targets, beside, beside ? &others : report, err);
    }
    return status;
}

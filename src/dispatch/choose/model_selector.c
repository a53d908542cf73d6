/* model_selector.c: the list of models, read from their texts alone; the forests of those that are asked; and the rankings made of them.
 * Failing is an ordinary thing here: whatever goes wrong becomes a remark, once, and a line of every explanation after it. */
#include "dispatch/choose/model_selector.h"

#include "base/embedded.h"
#include "base/os/file.h"
#include "predict/model_spec.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MODELS_MAX = 256 };

/* The files of models/, "NAME/model.spec" and "NAME/model.lgbm.gz". */
extern const kw_embedded kw_builtin_models[];

typedef struct source {
    char name[64];
    char *folder; /* in the selector's arena; NULL for one that is compiled in */
    const kw_embedded *spec_file, *forest_file;
    kw_model_spec spec;
    int distance;    /* from this target */
    kw_model *model; /* NULL until it is asked first */
    bool failed, warned;
    const char *fault; /* why it failed; NULL: there was no memory to say it */
} source;

/* A registry's kernels of one operation and type under one model. The configs are copies: the registry may change or go. */
typedef struct ranked {
    struct ranked *next;
    uint64_t registry;
    kw_op op;
    kw_dtype dtype;
    source *source;
    size_t count;
    kw_config *configs;
    kw_ranking *ranking;
} ranked;

struct kw_model_selector {
    const kw_settings *settings;
    const kw_target *target;
    pthread_mutex_t lock;
    bool searched;
    kw_arena arena;
    source *sources; /* MODELS_MAX */
    size_t count;
    kw_text failures; /* lines */
    ranked *rankings;
};

kw_status kw_model_selector_open(kw_model_selector **selector, const kw_settings *settings, const kw_target *target, kw_error *err) {
    kw_model_selector *made = calloc(1, sizeof *made);
    *selector = made;
    if (!made) {
        return kw_fail_memory(err, "a context");
    }
    made->settings = settings;
    made->target = target;
    pthread_mutex_init(&made->lock, NULL);
    return KW_OK;
}

static void drop_ranked(ranked *r) {
    kw_ranking_close(&r->ranking);
    free(r->configs);
    free(r);
}

/* Those of a registry or, with registry NULL, of a source. */
static void drop_rankings(kw_model_selector *selector, const uint64_t *registry, const source *from) {
    for (ranked **at = &selector->rankings; *at;) {
        ranked *r = *at;
        if (registry ? r->registry == *registry : r->source == from) {
            *at = r->next;
            drop_ranked(r);
        } else {
            at = &r->next;
        }
    }
}

void kw_model_selector_close(kw_model_selector **selector) {
    kw_model_selector *closing = *selector;
    if (!closing) {
        return;
    }
    for (size_t i = 0; i < closing->count; i++) {
        drop_rankings(closing, NULL, &closing->sources[i]);
        kw_model_close(&closing->sources[i].model);
        kw_model_spec_drop(&closing->sources[i].spec);
    }
    kw_text_drop(&closing->failures);
    kw_arena_drop(&closing->arena);
    pthread_mutex_destroy(&closing->lock);
    free(closing);
    *selector = NULL;
}

void kw_model_selector_invalidate(kw_model_selector *selector, uint64_t registry) {
    pthread_mutex_lock(&selector->lock);
    drop_rankings(selector, &registry, NULL);
    pthread_mutex_unlock(&selector->lock);
}

/* --- looking for models ------------------------------------------------------------------------------------------------ */

static void note_failure(kw_model_selector *selector, const char *name, const kw_error *why) {
    kw_log_line(selector->settings, "model %s is not used: %s", name, why->text);
    kw_text_addf(&selector->failures, "  model %s was not used: %s\n", name, why->text);
}

static void fail_source(kw_model_selector *selector, source *s, const kw_error *why) {
    note_failure(selector, s->name, why);
    s->failed = true;
    s->fault = kw_arena_copy(&selector->arena, why->text, strlen(why->text));
}

/* A place for one more; NULL when the list is full or there is no memory. */
static source *new_source(kw_model_selector *selector, const char *name) {
    if (!selector->sources) {
        selector->sources = kw_arena_array(&selector->arena, MODELS_MAX, sizeof *selector->sources);
    }
    kw_error why = {0};
    kw_status status = !selector->sources              ? kw_fail_memory(&why, "the list of models")
                       : selector->count == MODELS_MAX ? kw_fail(&why, KW_ILLEGAL, "there are more than %d models", MODELS_MAX)
                                                       : KW_OK;
    if (status) {
        note_failure(selector, name, &why);
        return NULL;
    }
    source *s = &selector->sources[selector->count];
    strncpy(s->name, name, sizeof s->name - 1);
    return s;
}

/* The new source joins the list; one whose text could not be read is never asked. */
static void add_model_source(kw_model_selector *selector, source *s, kw_status status, const kw_error *why) {
    s->distance = status ? -1 : kw_model_spec_distance(&s->spec, selector->target);
    selector->count++;
    if (status) {
        fail_source(selector, s, why);
    }
}

static void add_folder(kw_model_selector *selector, const char *name, const char *folder) {
    kw_arena arena = {0};
    kw_error why = {0};
    char *text = NULL;
    size_t size = 0;
    source *s = new_source(selector, name);
    if (!s) {
        return;
    }
    s->folder = kw_arena_copy(&selector->arena, folder, strlen(folder));
    const char *path = kw_model_spec_path(&arena, folder);
    kw_status status = s->folder && path ? KW_OK : kw_fail_memory(&why, "a model");
    status = status ? status : kw_file_read(&arena, path, KW_MODEL_MAX_SPEC, &text, &size, &why);
    status = status ? status : kw_model_spec_read(&s->spec, path, text, size, &why);
    add_model_source(selector, s, status, &why);
    kw_arena_drop(&arena);
}

static void add_builtin(kw_model_selector *selector, const kw_embedded *file) {
    static const char end[] = "/model.spec";
    size_t size = strlen(file->name), tail = sizeof end - 1;
    char name[64] = "";
    kw_error why = {0};
    if (size <= tail || size - tail >= sizeof name || strcmp(file->name + size - tail, end)) {
        return;
    }
    memcpy(name, file->name, size - tail);
    source *s = new_source(selector, name);
    if (!s) {
        return;
    }
    s->spec_file = file;
    for (const kw_embedded *other = kw_builtin_models; other->name; other++) {
        if (!strncmp(other->name, name, size - tail) && !strcmp(other->name + size - tail, "/model.lgbm.gz")) {
            s->forest_file = other;
        }
    }
    kw_status status = s->forest_file ? KW_OK : kw_fail(&why, KW_MISSING, "its forest was not compiled in");
    status = status ? status : kw_model_spec_read(&s->spec, file->name, file->text, kw_embedded_size(file), &why);
    add_model_source(selector, s, status, &why);
}

static int may_be_model(const struct dirent *entry) {
    return entry->d_name[0] != '.' && entry->d_type != DT_REG;
}

/* Every folder of data/models. */
static void add_user(kw_model_selector *selector) {
    kw_arena arena = {0};
    struct dirent **names = NULL;
    char *models = *selector->settings->data ? kw_arena_format(&arena, "%s/models", selector->settings->data) : NULL;
    int count = models ? scandir(models, &names, may_be_model, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        char *folder = kw_arena_format(&arena, "%s/%s", models, names[i]->d_name);
        if (folder) {
            add_folder(selector, names[i]->d_name, folder);
        }
        free(names[i]);
    }
    free(names);
    kw_arena_drop(&arena);
}

/* The last part of a path. */
static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void find_models(kw_model_selector *selector) {
    const char *model = selector->settings->model;
    selector->searched = true;
    if (model && *model) {
        add_folder(selector, last_part(model), model);
    } else if (!model) {
        add_user(selector);
        for (const kw_embedded *file = kw_builtin_models; file->name; file++) {
            add_builtin(selector, file);
        }
    }
}

/* --- choosing one ------------------------------------------------------------------------------------------------------ */

/* The nearest that serves and has not failed; NULL when there is none. */
static source *nearest_source(const kw_model_selector *selector, kw_op op, kw_dtype dtype) {
    source *found = NULL;
    for (size_t i = 0; i < selector->count; i++) {
        source *s = &selector->sources[i];
        bool serves = !s->failed && s->distance >= 0 && kw_model_spec_serves(&s->spec, op, dtype);
        found = serves && (!found || s->distance < found->distance) ? s : found;
    }
    return found;
}

static kw_status open_source(source *s, kw_error *err) {
    if (s->model) {
        return KW_OK;
    }
    return s->folder ? kw_model_open(&s->model, s->folder, err)
                     : kw_model_parse(&s->model, s->spec_file->text, kw_embedded_size(s->spec_file), s->forest_file->text,
                                      kw_embedded_size(s->forest_file), err);
}

static const char *const far_words[] = {"", "another processor, cache or number of threads", "another architecture with vectors as wide",
                                        "another architecture of this kind"};

static void warn_once(kw_model_selector *selector, source *s) {
    if (s->distance > 1 && !s->warned) {
        kw_log_line(selector->settings, "model %s was trained on %s; predictions may be off: train one on this machine (kwright train)",
                    s->name, far_words[s->distance]);
        s->warned = true;
    }
}

/* --- rankings ---------------------------------------------------------------------------------------------------------- */

static bool matches_query(const ranked *r, const kw_selector_query *q, const source *from) {
    return r->registry == q->registry && r->op == q->problem->op && r->dtype == q->problem->dtype && r->source == from &&
           r->count == q->listed;
}

static kw_status make_ranked(ranked **out, const kw_selector_query *q, source *from, kw_error *err) {
    ranked *r = calloc(1, sizeof *r);
    size_t places = q->listed + KW_SELECTOR_TAILORED;
    const kw_config **list = calloc(places, sizeof *list);
    kw_status status = KW_OK;
    if (r) {
        *r = (ranked){.registry = q->registry, .op = q->problem->op, .dtype = q->problem->dtype, .source = from, .count = q->listed};
        r->configs = calloc(places, sizeof *r->configs);
    }
    if (!r || !list || !r->configs) {
        status = kw_fail_memory(err, "a ranking");
    }
    for (size_t i = 0; i < places && !status; i++) { /* in places of tailored ones anything, until there are some */
        r->configs[i] = *q->configs[i < q->listed ? i : 0];
        list[i] = &r->configs[i];
    }
    status = status ? status : kw_ranking_open(&r->ranking, from->model, list, places, err);
    if (status && r) {
        drop_ranked(r);
        r = NULL;
    }
    free(list);
    *out = r;
    return status;
}

static kw_status find_ranked(ranked **out, kw_model_selector *selector, const kw_selector_query *q, source *from, kw_error *err) {
    ranked *r = selector->rankings;
    while (r && !matches_query(r, q, from)) {
        r = r->next;
    }
    *out = r;
    if (r) {
        return KW_OK;
    }
    kw_status status = make_ranked(out, q, from, err);
    if (!status) {
        (*out)->next = selector->rankings;
        selector->rankings = *out;
    }
    return status;
}

/* --- asking ------------------------------------------------------------------------------------------------------------ */

static bool any_finite(const double *ns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isfinite(ns[i])) {
            return true;
        }
    }
    return false;
}

/* The nearest model that can be had; one that cannot is passed over for good. */
static source *take_model(kw_model_selector *selector, const kw_problem *problem) {
    source *s;
    while ((s = nearest_source(selector, problem->op, problem->dtype))) {
        kw_error why = {0};
        if (!open_source(s, &why)) {
            return s;
        }
        fail_source(selector, s, &why);
    }
    return NULL;
}

/* Kernels without a time come behind all others, so they are tried where kernels are measured, and nowhere else. Not all are of families
 * that a model of ours never saw: it may have no finite time. */
static void note_unknown(const source *s, const kw_selector_query *q, const double ns[], kw_text *notes) {
    const kw_family *noted = NULL;
    for (size_t i = 0; i < q->count; i++) {
        const kw_family *family = q->configs[i]->family;
        if (q->launches[i] && isinf(ns[i]) && family != noted &&
            (s->spec.ck || !kw_model_spec_saw(&s->spec, family->name, q->problem->op))) {
            noted = family;
            kw_text_addf(notes, "  model %s never saw kernels of %s for %s: they may be measured, but are not chosen without\n", s->name,
                         noted->name, kw_op_name(q->problem->op));
        }
    }
}

static bool rank_by_model(kw_model_selector *selector, const kw_selector_query *q, double ns[], kw_selector_prediction *prediction) {
    ranked *r = NULL;
    kw_error why = {0};
    source *s = take_model(selector, q->problem);
    if (!s && selector->count) {
        kw_text_addf(&prediction->notes, "  no model that may be asked serves %s %s on this target\n", kw_op_name(q->problem->op),
                     kw_dtype_name(q->problem->dtype));
    }
    if (!s) {
        return false;
    }
    kw_status status = find_ranked(&r, selector, q, s, &why);
    for (size_t i = q->listed; i < q->count && !status; i++) {
        kw_ranking_replace(r->ranking, i, q->configs[i]);
    }
    if (!status) {
        kw_ranking_score_parts(r->ranking, q->problem, q->target, q->launches, q->estimates, ns);
        status = any_finite(ns, q->count) ? KW_OK : kw_fail(&why, KW_FAILED, "it has no finite time for any kernel that fits");
    }
    if (status) {
        kw_log_line(selector->settings, "model %s is not used here: %s", s->name, why.text);
        kw_text_addf(&prediction->notes, "  model %s was not used: %s\n", s->name, why.text);
        return false;
    }
    warn_once(selector, s);
    note_unknown(s, q, ns, &prediction->notes);
    prediction->distance = s->distance;
    prediction->published = s->spec.ck != NULL;
    memcpy(prediction->model, s->name, sizeof prediction->model);
    return true;
}

static bool any_fits(const kw_selector_query *q) {
    for (size_t i = 0; i < q->count; i++) {
        if (q->launches[i]) {
            return true;
        }
    }
    return false;
}

bool kw_model_selector_predict(kw_model_selector *selector, const kw_selector_query *q, double ns[], kw_selector_prediction *prediction) {
    *prediction = (kw_selector_prediction){0};
    pthread_mutex_lock(&selector->lock);
    if (!selector->searched) {
        find_models(selector);
    }
    bool answered = any_fits(q) && rank_by_model(selector, q, ns, prediction);
    kw_text_add(&prediction->notes, selector->failures.failed ? "  models were not used, and there was no memory to say why\n"
                                                              : kw_text_string(&selector->failures));
    if (answered && prediction->published) {
        kw_text_addf(&prediction->notes, "  model %s has published features, which know of a target its architecture alone\n",
                     prediction->model);
    } else if (answered && prediction->distance > 0) {
        kw_text_addf(&prediction->notes, "  model %s was trained on %s: half of what it says against the estimate counts\n",
                     prediction->model, far_words[prediction->distance]);
    }
    pthread_mutex_unlock(&selector->lock);
    return answered;
}

/* --- telling of all ---------------------------------------------------------------------------------------------------- */

static void set_file(kw_model_info *info, const source *s) {
    struct stat facts;
    if (!s->folder) {
        info->file_bytes = s->forest_file ? (int64_t)kw_embedded_size(s->forest_file) : 0;
        return;
    }
    kw_arena arena = {0};
    const char *folder = kw_model_folder(&arena, s->folder), *spec = kw_model_spec_path(&arena, s->folder);
    const char *file = s->spec.forest ? s->spec.forest : "model.lgbm.gz";
    const char *forest = folder ? kw_arena_format(&arena, "%s/%s", folder, file) : NULL;
    info->file_bytes = forest && !stat(forest, &facts) ? (int64_t)facts.st_size : 0;
    info->written = spec && !stat(spec, &facts) ? (int64_t)facts.st_mtime : 0;
    kw_arena_drop(&arena);
}

static void tell_source(const kw_model_selector *selector, const source *s, void (*visit)(void *user, const kw_model_info *model),
                        void *user) {
    static const char *const none[] = {NULL};
    kw_model_info info = {.name = s->name,
                          .folder = s->folder ? s->folder : "",
                          .targets = s->spec.target_texts ? s->spec.target_texts : none,
                          .distance = s->distance,
                          .rows = s->spec.rows,
                          .problems = s->spec.problems,
                          .memory_bytes = s->model ? (int64_t)kw_model_describe(s->model)->bytes : 0,
                          .fault = !s->failed ? ""
                                   : s->fault ? s->fault
                                              : "out of memory"};
    set_file(&info, s);
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            info.serves[op][dtype] = kw_model_spec_serves(&s->spec, (kw_op)op, (kw_dtype)dtype);
            info.asked[op][dtype] = nearest_source(selector, (kw_op)op, (kw_dtype)dtype) == s;
        }
    }
    visit(user, &info);
}

void kw_model_selector_visit(kw_model_selector *selector, void (*visit)(void *user, const kw_model_info *model), void *user) {
    pthread_mutex_lock(&selector->lock);
    if (!selector->searched) {
        find_models(selector);
    }
    for (size_t i = 0; i < selector->count; i++) {
        kw_error why = {0};
        if (!selector->sources[i].failed && open_source(&selector->sources[i], &why)) {
            fail_source(selector, &selector->sources[i], &why);
        }
    }
    for (size_t i = 0; i < selector->count; i++) {
        tell_source(selector, &selector->sources[i], visit, user);
    }
    pthread_mutex_unlock(&selector->lock);
}

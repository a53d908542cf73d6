/* config.c: configs as text, and the three questions to a config: is it in its family, can the target run it, does it serve a problem. */
#include "config/config.h"

#include "base/nearest.h"
#include "problem/names/names.h"
#include "problem/tensors/pitch.h"

#include <string.h>

const kw_family *kw_family_find(kw_word name) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if (kw_word_is(name, (*family)->name)) {
            return *family;
        }
    }
    return NULL;
}

kw_status kw_family_fail_unknown(kw_word name, kw_error *err) {
    char nearest[KW_NEAREST_MAX];
    kw_text names = {0};
    for (const kw_family *const *each = kw_family_table; *each; each++) {
        kw_text_addf(&names, "%s ", (*each)->name);
    }
    bool near = kw_nearest(nearest, name, kw_text_string(&names));
    kw_text_drop(&names);
    return kw_fail(err, KW_MISSING, "family %.*s is not known%s%s; `kwright show` lists the families", KW_WORD(name),
                   near ? "; did you mean " : "", near ? nearest : "");
}

int kw_family_axis(const kw_family *family, kw_word name) {
    for (int i = 0; i < family->axis_count; i++) {
        const char *axis = family->axes[i].name;
        if (name.size && *axis == *name.at && kw_word_is(name, axis)) { /* the estimates ask often */
            return i;
        }
    }
    return -1;
}

/* The word at a position of a blank-separated list; size 0 beyond its end. */
static kw_word word_at(const char *words, int position) {
    kw_scan scan = kw_scan_string(words);
    kw_word word = {words, 0};
    for (int i = 0; i <= position; i++) {
        if (!kw_scan_word(&scan, &word)) {
            return (kw_word){words, 0};
        }
    }
    return word;
}

static kw_status parse_family(kw_config *config, kw_scan *scan, kw_error *err) {
    kw_word word;
    if (!kw_scan_word(scan, &word)) {
        return kw_fail(err, KW_MALFORMED, "config: empty text; a config is FAMILY OP DTYPE axis=value ...");
    }
    config->family = kw_family_find(word);
    if (!config->family) {
        return kw_family_fail_unknown(word, err);
    }
    if (!kw_scan_word(scan, &word)) {
        return kw_fail(err, KW_MALFORMED, "config: %s is followed by no operation, e.g. conv_fwd", config->family->name);
    }
    if (!kw_op_of_word(&config->op, word)) {
        return kw_fail(err, KW_MALFORMED, "config: operation %.*s is not known; known: " KW_OP_WORDS(" "), KW_WORD(word));
    }
    if (!kw_scan_word(scan, &word)) {
        return kw_fail(err, KW_MALFORMED, "config: %s is followed by no dtype, e.g. fp32", kw_op_name(config->op));
    }
    if (!kw_dtype_of_word(&config->dtype, word)) {
        return kw_fail(err, KW_MALFORMED, "config: dtype %.*s is not known; known: " KW_DTYPE_WORDS(" "), KW_WORD(word));
    }
    return KW_OK;
}

/* One "axis=value" word. */
static kw_status parse_axis(kw_config *config, kw_word word, uint32_t *seen, kw_error *err) {
    const kw_family *family = config->family;
    const char *equals = memchr(word.at, '=', word.size);
    if (!equals) {
        return kw_fail(err, KW_MALFORMED, "config: %.*s is not of the form axis=value", KW_WORD(word));
    }
    kw_word name = {word.at, (size_t)(equals - word.at)};
    kw_word value = {equals + 1, word.size - name.size - 1};
    int i = kw_family_axis(family, name);
    if (i < 0) {
        return kw_fail(err, KW_MISSING, "config: %s has no axis %.*s; `kwright show %s` lists its axes", family->name, KW_WORD(name),
                       family->name);
    }
    const kw_axis *axis = &family->axes[i];
    if (*seen >> i & 1) {
        return kw_fail(err, KW_MALFORMED, "config: axis %s is given twice; give it once", axis->name);
    }
    *seen |= 1u << i;
    if (axis->words) {
        config->axis[i] = kw_word_position(value, axis->words);
        if (config->axis[i] < 0) {
            return kw_fail(err, KW_ILLEGAL, "config: %s=%.*s is not one of: %s", axis->name, KW_WORD(value), axis->words);
        }
        return KW_OK;
    }
    int64_t number;
    if (!kw_word_int(value, axis->low, axis->high, &number)) {
        return kw_fail(err, KW_ILLEGAL, "config: %s=%.*s is not a whole number from %d to %d", axis->name, KW_WORD(value), axis->low,
                       axis->high);
    }
    config->axis[i] = (int32_t)number;
    return KW_OK;
}

/* A word of what a problem wants; an axis of that name comes first. */
static bool is_want(const kw_family *family, kw_word word) {
    const char *equals = memchr(word.at, '=', word.size);
    return kw_want_of_word(word) < KW_WANT_COUNT && kw_family_axis(family, (kw_word){word.at, (size_t)(equals - word.at)}) < 0;
}

/* The axes that the text was written too early to name. */
static kw_status parse_added(kw_config *config, uint32_t *seen, kw_error *err) {
    kw_scan scan = kw_scan_string(config->family->added), name;
    kw_status status = KW_OK;
    for (kw_word word, axis; !status && kw_scan_word(&scan, &word);) {
        name = (kw_scan){word.at, word.at + word.size};
        kw_scan_field(&name, '=', &axis);
        int i = kw_family_axis(config->family, axis);
        status = i >= 0 && *seen >> i & 1 ? KW_OK : parse_axis(config, word, seen, err);
    }
    return status;
}

kw_status kw_config_read(kw_config *config, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    *config = (kw_config){0};
    kw_status status = parse_family(config, &scan, err);
    uint32_t seen = 0;
    for (kw_word word; !status && kw_scan_word(&scan, &word);) {
        status = is_want(config->family, word) ? kw_wants_read(&config->wants, word, "config", err) : parse_axis(config, word, &seen, err);
    }
    if (!status && config->family->added) {
        status = parse_added(config, &seen, err);
    }
    for (int i = 0; !status && i < config->family->axis_count; i++) {
        if (!(seen >> i & 1)) {
            status = kw_fail(err, KW_MALFORMED, "config: %s needs axis %s (%s); a config names all axes", config->family->name,
                             config->family->axes[i].name, config->family->axes[i].meaning);
        }
    }
    return status;
}

kw_status kw_config_parse(kw_config *config, const char *text, kw_error *err) {
    kw_config parsed;
    kw_status status = kw_config_read(&parsed, text, err);
    if (!status) {
        status = kw_config_check(&parsed, err);
    }
    if (!status) {
        *config = parsed;
    }
    return status;
}

/* A text being written; length goes on beyond capacity. Spaces are printed by the ten thousand, so no printf. */
typedef struct config_line {
    char *text;
    size_t capacity, length;
} config_line;

static void line_put(config_line *to, const char *bytes, size_t size) {
    if (to->length < to->capacity) {
        size_t room = to->capacity - to->length;
        memcpy(to->text + to->length, bytes, size < room ? size : room);
    }
    to->length += size;
}

static void line_put_text(config_line *to, const char *text) {
    line_put(to, text, strlen(text));
}

static void line_put_decimal(config_line *to, int32_t value) {
    char digits[12];
    size_t at = sizeof digits;
    int64_t rest = value < 0 ? -(int64_t)value : value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        digits[--at] = '-';
    }
    line_put(to, digits + at, sizeof digits - at);
}

size_t kw_config_print(char *text, size_t capacity, const kw_config *config) {
    const kw_family *family = config->family;
    config_line to = {.text = text, .capacity = capacity};
    line_put_text(&to, family->name);
    line_put_text(&to, " ");
    line_put_text(&to, kw_op_name(config->op));
    line_put_text(&to, " ");
    line_put_text(&to, kw_dtype_name(config->dtype));
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        line_put_text(&to, " ");
        line_put_text(&to, axis->name);
        line_put_text(&to, "=");
        if (axis->words) {
            kw_word word = word_at(axis->words, config->axis[i]);
            line_put(&to, word.at, word.size);
        } else {
            line_put_decimal(&to, config->axis[i]);
        }
    }
    if (!kw_config_is_plain(config)) {
        char words[KW_PROBLEM_TEXT_MAX];
        kw_line line = {words, sizeof words, 0};
        kw_wants_print(&line, &config->wants);
        line_put(&to, words, line.size < sizeof words ? line.size : sizeof words - 1);
    }
    if (capacity) {
        text[to.length < capacity ? to.length : capacity - 1] = 0;
    }
    return to.length;
}

static bool has_padded_text(const kw_config *config) {
    return config->family->padded_text && config->family->padded_text(config);
}

/* Whether the family has texts for what the config says that a problem wants. */
static kw_status check_wants(const kw_config *config, kw_error *err) {
    const kw_family *family = config->family;
    const kw_wants *wants = &config->wants;
    const char *name = family->name;
    if (wants->mixed && !family->quantized) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule x_type: its kernels read x and w in one type; leave x=%s out, or take another family",
                       name, kw_dtype_name(wants->x_dtype));
    }
    if (wants->mixed && (config->dtype != KW_INT8 || wants->x_dtype != KW_UINT8)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule x_type: x=%s of %s is no kernel's; x has another type than w only as x=uint8 of int8",
                       name, kw_dtype_name(wants->x_dtype), kw_dtype_name(config->dtype));
    }
    if (wants->tf32 && (!family->rounds || config->dtype != KW_FP32)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule fpmath: its kernels of %s multiply elements as they are; leave out fpmath=tf32", name,
                       kw_dtype_name(config->dtype));
    }
    if (wants->fast && (!family->fast_sums || config->op != KW_GEMM || (config->dtype != KW_FP8 && config->dtype != KW_BF8))) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule fpmath: its kernels of %s have no coarser sums; leave out fpmath=fast_accum", name,
                       kw_dtype_name(config->dtype));
    }
    if (wants->first && (!family->first_text || config->op == KW_GEMM)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule layout: its kernels have no text of their own for channels first; leave out layout=first",
                       name);
    }
    if (wants->filter && (!family->filter_text || config->op == KW_GEMM)) {
        return kw_fail(err, KW_ILLEGAL,
                       "%s: rule filter: its kernels have no text of their own for filters in other orders; leave out filter_order=any",
                       name);
    }
    if (wants->grouped && (!family->row_groups || config->op != KW_GEMM)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule row_groups: its kernels have one product a launch; run each group by itself", name);
    }
    if (wants->joined && (!family->joins || config->op != KW_GEMM)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule joined: its kernels have one problem a launch; leave joined=1 out", name);
    }
    if (kw_epilogue_zero_x(&wants->epilogue) && !family->quantized) {
        return kw_fail(err, KW_ILLEGAL,
                       "%s: rule zero_x: its kernels multiply x as it is; take the zero point off the problem, or take another family",
                       name);
    }
    if (kw_epilogue_zero_w(&wants->epilogue) >= 0 && !family->zero_w) {
        return kw_fail(err, KW_ILLEGAL,
                       "%s: rule zero_w: its kernels multiply w as it is; take the zero point off the weights, or take another family",
                       name);
    }
    if (!kw_epilogue_is_none(&wants->epilogue) && !family->fuses) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule epilogue: its kernels write their sums as they are; take the epilogue off the problem",
                       name);
    }
    if (wants->pitched && !family->pitched_text) {
        return kw_fail(err, KW_ILLEGAL,
                       "%s: rule pitched: its kernels have no text of their own for tensors with pitches; leave out pitched=1", name);
    }
    if (wants->padded && !has_padded_text(config)) {
        return kw_fail(err, KW_ILLEGAL, "%s: rule padded: its kernel has no text of its own for wide padding; leave out padded=1", name);
    }
    return kw_epilogue_check(&wants->epilogue, config->op, config->dtype, err);
}

kw_status kw_config_check(const kw_config *config, kw_error *err) {
    const kw_family *family = config->family;
    if (!(family->ops >> config->op & 1)) {
        return kw_fail(err, KW_ILLEGAL, "config: %s has no kernels for %s", family->name, kw_op_name(config->op));
    }
    if (!(family->dtypes >> config->dtype & 1)) {
        return kw_fail(err, KW_ILLEGAL, "config: %s has no kernels for %s", family->name, kw_dtype_name(config->dtype));
    }
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        int32_t value = config->axis[i];
        bool good = axis->words ? value >= 0 && word_at(axis->words, value).size : value >= axis->low && value <= axis->high;
        if (!good) {
            return kw_fail(err, KW_ILLEGAL, "config: %s: axis %s has no value %d", family->name, axis->name, value);
        }
    }
    kw_status status = kw_config_is_plain(config) ? KW_OK : check_wants(config, err);
    return status ? status : kw_rules_check(KW_VALID, config, NULL, NULL, err);
}

/* One launch has less than 2^31 blocks on every GPU, and on AMD's less than 2^32 threads. */
static const kw_stage *uncounted_stage(const kw_launch *launch) {
    for (int i = 0; i < launch->stages; i++) {
        const kw_stage *stage = &launch->stage[i];
        if (stage->units > INT32_MAX || stage->units * stage->threads > UINT32_MAX) {
            return stage;
        }
    }
    return NULL;
}

bool kw_launch_is_counted(const kw_launch *launch) {
    return !uncounted_stage(launch);
}

static kw_status fits_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err) {
    kw_launch launch;
    kw_config_launch(config, problem, target, &launch);
    const kw_stage *stage = uncounted_stage(&launch);
    return !stage ? KW_OK
                  : kw_fail(err, KW_NO_KERNEL, "%s: %lld blocks of %lld threads; a launch has less than 2^31 blocks and 2^32 threads",
                            config->family->name, (long long)stage->units, (long long)stage->threads);
}

/* What of the problem's wishes the config's family has texts of its own for, or refuses: the rest is served by one text in any case. Whether a launch
 * has several such problems is the config's to say. */
static kw_wants wants_of(const kw_config *config, const kw_problem *problem) {
    const kw_family *family = config->family;
    kw_wants wants = kw_problem_wants(problem);
    wants.tf32 = wants.tf32 && family->rounds;
    wants.fast = wants.fast && family->fast_sums;
    wants.first = wants.first && family->first_text;
    wants.filter = wants.filter && family->kind == KW_KIND_GPU && !family->filters;
    wants.pitched = wants.pitched && family->pitched_text;
    wants.padded = wants.padded && has_padded_text(config);
    wants.joined = config->wants.joined;
    return wants;
}

static kw_status is_of_kind(const kw_config *config, const kw_problem *problem, kw_error *err) {
    const char *name = config->family->name;
    if (config->op != problem->op) {
        return kw_fail(err, KW_NO_KERNEL, "%s: the config is for %s, the problem is %s", name, kw_op_name(config->op),
                       kw_op_name(problem->op));
    }
    if (config->dtype != problem->dtype) {
        return kw_fail(err, KW_NO_KERNEL, "%s: the config is for %s, the problem is %s", name, kw_dtype_name(config->dtype),
                       kw_dtype_name(problem->dtype));
    }
    return KW_OK;
}

static kw_status says(const kw_config *config, const kw_wants *wanted, kw_error *err) {
    kw_want want = kw_wants_differ(&config->wants, wanted);
    if (want == KW_WANT_COUNT || !err) {
        return want == KW_WANT_COUNT ? KW_OK : KW_NO_KERNEL;
    }
    char words[2][KW_PROBLEM_TEXT_MAX];
    kw_want_print(&(kw_line){words[0], sizeof words[0], 0}, &config->wants, want);
    kw_want_print(&(kw_line){words[1], sizeof words[1], 0}, wanted, want);
    return kw_fail(err, KW_NO_KERNEL,
                   "%s: rule wants: the config has %s, the problem %s; name the config without such words, and it gets the problem's",
                   config->family->name, words[0], words[1]);
}

/* The config's kind and words are the problem's. */
static kw_status serves_sizes(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err) {
    if (!config->family->pitched && !kw_problem_is_dense(problem)) {
        return kw_fail(err, KW_NO_KERNEL, "%s: rule dense: its kernels want dense tensors; copy them, or leave pitches out",
                       config->family->name);
    }
    kw_status status = kw_config_runs(config, target, err);
    status = status ? status : kw_rules_check(KW_TAKES, config, target, problem, err);
    status = status ? status : kw_rules_check(KW_FITS, config, target, problem, err);
    return status || !kw_target_is_gpu(target) ? status : fits_launch(config, problem, target, err);
}

bool kw_family_takes(const kw_family *family, const kw_problem *problem, const kw_target *target) {
    kw_rule_case c = {.target = target, .problem = problem};
    return (family->pitched || kw_problem_is_dense(problem)) && !kw_rule_broken_in(KW_TAKES, family, &c);
}

kw_status kw_config_fits(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err) {
    kw_status status = is_of_kind(config, problem, err);
    if (!status) {
        kw_wants wants = wants_of(config, problem);
        status = says(config, &wants, err);
    }
    return status ? status : serves_sizes(config, problem, target, err);
}

bool kw_config_is_plain(const kw_config *config) {
    return kw_wants_nothing(&config->wants);
}

bool kw_config_suits(const kw_config *config, const kw_problem *problem) {
    kw_wants wants = wants_of(config, problem);
    return !is_of_kind(config, problem, NULL) && !says(config, &wants, NULL);
}

kw_config kw_config_special(const kw_config *config, const kw_problem *problem) {
    kw_config special = *config;
    special.wants = wants_of(config, problem);
    return special;
}

kw_config kw_config_plain(const kw_config *config) {
    kw_config plain = *config;
    plain.wants = (kw_wants){0};
    return plain;
}

kw_status kw_config_serves(kw_config *special, const kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err) {
    kw_wants wants = wants_of(config, problem);
    kw_wants said = config->wants;
    said.joined = false;
    kw_status status = is_of_kind(config, problem, err);
    if (!status && !kw_wants_nothing(&said)) {
        status = says(config, &wants, err);
    }
    if (status) {
        return status;
    }
    *special = *config;
    special->wants = wants;
    if (!kw_wants_nothing(&wants) && kw_config_check(special, err)) {
        return err ? (err->status = KW_NO_KERNEL) : KW_NO_KERNEL;
    }
    return serves_sizes(special, problem, target, err);
}

bool kw_config_equal(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype &&
           !memcmp(a->axis, b->axis, sizeof *a->axis * (size_t)a->family->axis_count) &&
           kw_wants_differ(&a->wants, &b->wants) == KW_WANT_COUNT;
}

int32_t kw_config_axis(const kw_config *config, const char *axis, int32_t fallback) {
    int i = kw_family_axis(config->family, (kw_word){axis, strlen(axis)});
    return i < 0 ? fallback : config->axis[i];
}

kw_word kw_config_axis_word(const kw_config *config, const char *axis) {
    int i = kw_family_axis(config->family, (kw_word){axis, strlen(axis)});
    if (i < 0 || !config->family->axes[i].words) {
        return (kw_word){0};
    }
    return word_at(config->family->axes[i].words, config->axis[i]);
}

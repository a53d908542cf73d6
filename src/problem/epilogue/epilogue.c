/* epilogue.c: the table of steps, their text and their meaning. */
#include "problem/epilogue/epilogue.h"

#include "base/nearest.h"
#include "base/format/number.h"
#include "problem/names/names.h"
#include "problem/tensors/pitch.h"
#include "problem/reference.h"

#include <math.h>
#include <string.h>

static const kw_epilogue_info infos[KW_EPILOGUE_OP_COUNT] = {
    [KW_EPILOGUE_ADD] = {"add", KW_EXTRA_ALL, true, 1, {1, 0}, "v + a t", KW_FP32},
    [KW_EPILOGUE_BIAS] = {"bias", KW_EXTRA_CHANNEL, true, 0, {0, 0}, "v + t[channel]", KW_FP32},
    [KW_EPILOGUE_MULTIPLY] = {"multiply", KW_EXTRA_ALL, false, 0, {0, 0}, "v t", KW_FP32},
    [KW_EPILOGUE_SCALE] = {"scale", KW_EXTRA_ONE, false, 0, {0, 0}, "v t", KW_FP32},
    [KW_EPILOGUE_SCALE_CHANNEL] = {"scale_channel", KW_EXTRA_CHANNEL, false, 0, {0, 0}, "v t[channel]", KW_FP32},
    [KW_EPILOGUE_SCALE_ROW] = {"scale_row", KW_EXTRA_ROW, false, 0, {0, 0}, "v t[row]", KW_FP32},
    [KW_EPILOGUE_RELU] = {"relu", KW_EXTRA_NONE, false, 0, {0, 0}, "max(v, 0)", KW_FP32},
    [KW_EPILOGUE_CLAMP] = {"clamp", KW_EXTRA_NONE, false, 2, {NAN, NAN}, "min(max(v, a), b)", KW_FP32},
    [KW_EPILOGUE_LEAKY_RELU] = {"leaky_relu", KW_EXTRA_NONE, false, 1, {0.01, 0}, "v > 0 ? v : a v", KW_FP32},
    [KW_EPILOGUE_SIGMOID] = {"sigmoid", KW_EXTRA_NONE, false, 0, {0, 0}, "1 / (1 + exp(-v))", KW_FP32},
    [KW_EPILOGUE_TANH] = {"tanh", KW_EXTRA_NONE, false, 0, {0, 0}, "tanh(v)", KW_FP32},
    [KW_EPILOGUE_SILU] = {"silu", KW_EXTRA_NONE, false, 0, {0, 0}, "v / (1 + exp(-v))", KW_FP32},
    [KW_EPILOGUE_GELU] = {"gelu", KW_EXTRA_NONE, false, 0, {0, 0}, "v (1 + erf(v / sqrt 2)) / 2", KW_FP32},
    [KW_EPILOGUE_GELU_TANH] = {"gelu_tanh", KW_EXTRA_NONE, false, 0, {0, 0}, "v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2", KW_FP32},
    [KW_EPILOGUE_HARDSWISH] = {"hardswish", KW_EXTRA_NONE, false, 0, {0, 0}, "v min(max(v + 3, 0), 6) / 6", KW_FP32},
    [KW_EPILOGUE_ZERO_X] = {"zero_x", KW_EXTRA_ONE, true, 0, {0, 0}, "t is subtracted from x", KW_INT32},
    [KW_EPILOGUE_ZERO_Y] = {"zero_y", KW_EXTRA_ONE, true, 0, {0, 0}, "v + t", KW_INT32},
    [KW_EPILOGUE_BIAS_GRADIENT] = {"bias_gradient", KW_EXTRA_CHANNEL, true, 0, {0, 0}, "t[channel] is the sum of y", KW_FP32},
    [KW_EPILOGUE_BETA] = {"beta", KW_EXTRA_ONE, false, 0, {0, 0}, "the next step adds t times its tensor", KW_FP32},
    [KW_EPILOGUE_ZERO_W] = {"zero_w", KW_EXTRA_ONE, true, 0, {0, 0}, "t is subtracted from w", KW_INT32},
    [KW_EPILOGUE_ZERO_W_CHANNEL] = {"zero_w_channel", KW_EXTRA_CHANNEL, true, 0, {0, 0}, "t[channel] is subtracted from w", KW_INT32},
};

static const char names[] =
    "add bias multiply scale scale_channel scale_row relu clamp leaky_relu sigmoid tanh silu gelu gelu_tanh hardswish "
    "zero_x zero_y bias_gradient beta zero_w zero_w_channel";

const char *kw_epilogue_names(void) {
    return names;
}

const kw_epilogue_info *kw_epilogue_info_of(kw_epilogue_op op) {
    return &infos[op];
}

bool kw_epilogue_is_none(const kw_epilogue *epilogue) {
    return !epilogue->count && !epilogue->converts;
}

const kw_epilogue_step *kw_epilogue_zero_x(const kw_epilogue *epilogue) {
    return epilogue->count && epilogue->step[0].op == KW_EPILOGUE_ZERO_X ? &epilogue->step[0] : NULL;
}

static bool is_zero_w(const kw_epilogue_step *step) {
    return step->op == KW_EPILOGUE_ZERO_W || step->op == KW_EPILOGUE_ZERO_W_CHANNEL;
}

int kw_epilogue_zero_w(const kw_epilogue *epilogue) {
    int at = kw_epilogue_zero_x(epilogue) != NULL;
    return epilogue->count > at && is_zero_w(&epilogue->step[at]) ? at : -1;
}

int kw_epilogue_tensors(const kw_epilogue *epilogue) {
    int count = 0;
    for (int32_t i = 0; i < epilogue->count; i++) {
        count += kw_epilogue_step_has_tensor(&epilogue->step[i]);
    }
    return count;
}

const kw_epilogue_step *kw_epilogue_bias_gradient(const kw_epilogue *epilogue) {
    return epilogue->count && epilogue->step[0].op == KW_EPILOGUE_BIAS_GRADIENT ? &epilogue->step[0] : NULL;
}

bool kw_epilogue_has_beta(const kw_epilogue *epilogue, int32_t step) {
    return step > 0 && epilogue->step[step - 1].op == KW_EPILOGUE_BETA;
}

bool kw_epilogue_step_is_silent(const kw_epilogue_step *step) {
    return step->op == KW_EPILOGUE_ZERO_X || step->op == KW_EPILOGUE_BIAS_GRADIENT || step->op == KW_EPILOGUE_BETA || is_zero_w(step);
}

bool kw_epilogue_is_bare(const kw_epilogue *epilogue) {
    bool bare = !epilogue->converts;
    for (int32_t i = 0; i < epilogue->count; i++) {
        bare &= kw_epilogue_step_is_silent(&epilogue->step[i]);
    }
    return bare;
}

double kw_epilogue_zero_of_x(const kw_epilogue *epilogue, const void *const extras[KW_EXTRA_MAX]) {
    const kw_epilogue_step *step = kw_epilogue_zero_x(epilogue);
    return step ? kw_dtype_load(step->dtype, extras[0], 0) : 0;
}

double kw_epilogue_zero_of_w(const kw_epilogue *epilogue, const void *const extras[KW_EXTRA_MAX], int64_t channel) {
    int at = kw_epilogue_zero_w(epilogue);
    bool one = at >= 0 && epilogue->step[at].op == KW_EPILOGUE_ZERO_W;
    return at < 0 ? 0 : kw_dtype_load(epilogue->step[at].dtype, extras[at], one ? 0 : channel);
}

void kw_epilogue_normalize(kw_epilogue *to, const kw_epilogue *from) {
    to->count = from->count;
    to->converts = from->converts;
    if (from->converts) {
        to->output = from->output;
    }
    for (int32_t i = 0; i < from->count && i < KW_EPILOGUE_MAX; i++) {
        const kw_epilogue_step *step = &from->step[i];
        const kw_epilogue_info *info = &infos[(size_t)step->op < KW_EPILOGUE_OP_COUNT ? step->op : 0];
        to->step[i].op = step->op;
        to->step[i].dtype = info->shape ? step->dtype : KW_FP32;
        to->step[i].a = info->params > 0 ? step->a + 0.0 : 0;
        to->step[i].b = info->params > 1 ? step->b + 0.0 : 0;
    }
}

bool kw_epilogue_same_steps(const kw_epilogue *a, const kw_epilogue *b) {
    for (int32_t i = 0; a->count == b->count && i < a->count; i++) {
        const kw_epilogue_step *s = &a->step[i], *t = &b->step[i];
        if (s->op != t->op || s->dtype != t->dtype || s->a != t->a || s->b != t->b) {
            return false;
        }
    }
    return a->count == b->count;
}

/* --- text --- */

static kw_status fail_step(kw_word word, kw_error *err) {
    char near[KW_NEAREST_MAX];
    kw_word name = {word.at, 0};
    while (name.size < word.size && word.at[name.size] != ':') {
        name.size++;
    }
    bool meant = kw_nearest(near, name, names);
    return kw_fail(err, KW_MALFORMED, "problem: epilogue has no step \"%.*s\"%s%s; steps are %s", KW_WORD(word),
                   meant ? "; did you mean " : "", meant ? near : "", names);
}

/* NAME[:TYPE][:A[:B]] */
static kw_status read_step(kw_epilogue_step *step, kw_word word, kw_dtype all, kw_error *err) {
    kw_scan scan = {word.at, word.at + word.size};
    kw_word part;
    int op = 0;
    if (!kw_scan_field(&scan, ':', &part)) {
        return fail_step(word, err);
    }
    while (op < KW_EPILOGUE_OP_COUNT && !kw_word_is(part, infos[op].name)) {
        op++;
    }
    if (op == KW_EPILOGUE_OP_COUNT) {
        return fail_step(word, err);
    }
    const kw_epilogue_info *info = &infos[op];
    double *const values[2] = {&step->a, &step->b};
    int given = 0;
    bool typed = false, plain;
    *step = (kw_epilogue_step){.op = (kw_epilogue_op)op, .dtype = info->shape == KW_EXTRA_ALL ? all : info->dtype};
    for (int i = 0; i < info->params; i++) {
        *values[i] = info->low[i];
    }
    while (scan.at < scan.end && kw_scan_field(&scan, ':', &part)) {
        kw_dtype dtype;
        if (info->shape && !typed && !given &&
            (kw_dtype_of_word(&dtype, part) || (kw_dtype_of_other_word(&dtype, &plain, part) && dtype < KW_DTYPE_COUNT))) {
            step->dtype = dtype;
            typed = true;
        } else if (given < info->params && kw_number_read(part, values[given])) {
            given++;
        } else {
            return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" of step \"%.*s\" is %s; %s takes %s%d numbers", KW_WORD(part),
                           KW_WORD(word), info->shape && !given ? "no type and no number more" : "no number more", info->name,
                           info->shape ? "a type and " : "", info->params);
        }
    }
    for (int i = 0; i < info->params; i++) {
        if (isnan(*values[i])) {
            return kw_fail(err, KW_MALFORMED, "problem: step \"%.*s\" needs %d numbers (%s), e.g. %s:0:6", KW_WORD(word), info->params,
                           info->formula, info->name);
        }
    }
    return KW_OK;
}

kw_status kw_epilogue_read_steps(kw_epilogue *epilogue, kw_word text, kw_dtype all, kw_error *err) {
    const char *at = text.at, *end = text.at + text.size;
    kw_status status = KW_OK;
    for (bool more = true; more && !status;) {
        kw_word word = {at, 0};
        while (at < end && *at != '+' && *at != ',') {
            at++;
        }
        word.size = (size_t)(at - word.at);
        more = at < end;
        at += more;
        if (epilogue->count == KW_EPILOGUE_MAX) {
            return kw_fail(err, KW_MALFORMED, "problem: \"%.*s\" is step %d of the epilogue; it has at most %d", KW_WORD(word),
                           epilogue->count + 1, KW_EPILOGUE_MAX);
        }
        status = read_step(&epilogue->step[epilogue->count++], word, all, err);
    }
    return status;
}

static void print_number(kw_line *line, double value) {
    char text[KW_NUMBER_TEXT];
    kw_number_print(text, value);
    kw_line_addf(line, ":%s", text);
}

void kw_epilogue_print_steps(kw_line *line, const kw_epilogue *epilogue) {
    for (int32_t i = 0; i < epilogue->count && i < KW_EPILOGUE_MAX; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        bool known = (size_t)step->op < KW_EPILOGUE_OP_COUNT;
        const kw_epilogue_info *info = &infos[known ? step->op : 0];
        kw_line_addf(line, "%s%s", i ? "+" : "", known ? info->name : "unknown");
        if (known && info->shape) {
            kw_line_addf(line, ":%s", kw_dtype_name(step->dtype));
        }
        bool usual = info->params == 1 && step->a == info->low[0];
        if (known && info->params > 0 && !usual) {
            print_number(line, step->a);
        }
        if (known && info->params > 1) {
            print_number(line, step->b);
        }
    }
}

void kw_epilogue_print(kw_line *line, const kw_epilogue *epilogue) {
    if (epilogue->converts) {
        kw_line_addf(line, " out=%s", kw_dtype_name(epilogue->output));
    }
    if (epilogue->count > 0) {
        kw_line_addf(line, " epilogue=");
        kw_epilogue_print_steps(line, epilogue);
    }
}

/* --- what is legal --- */

static kw_status check_step(const kw_epilogue_step *step, kw_op op, kw_error *err) {
    if ((size_t)step->op >= KW_EPILOGUE_OP_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: step %d of an epilogue is not one of kw_epilogue_op; steps are %s", (int)step->op, names);
    }
    const kw_epilogue_info *info = &infos[step->op];
    if (info->shape && ((size_t)step->dtype >= KW_DTYPE_COUNT || step->dtype == KW_FP8 || step->dtype == KW_BF8)) {
        return kw_fail(err, KW_ILLEGAL, "problem: the tensor of step %s is %s; use fp32, bf16, fp16, int8, uint8 or int32", info->name,
                       kw_dtype_name(step->dtype));
    }
    bool placed = info->shape == KW_EXTRA_CHANNEL || info->shape == KW_EXTRA_ROW;
    if (op == KW_CONV_BWD_WEIGHT && placed && step->op != KW_EPILOGUE_BIAS_GRADIENT) {
        return kw_fail(err, KW_ILLEGAL,
                       "problem: step %s needs a result with channels and rows, which %s has not; use add, multiply or scale", info->name,
                       kw_op_name(op));
    }
    if (!isfinite(step->a) || !isfinite(step->b) || fabs(step->a) > 1e30 || fabs(step->b) > 1e30) {
        return kw_fail(err, KW_ILLEGAL, "problem: step %s has a parameter beyond 1e30; leave the step out, or use a smaller one",
                       info->name);
    }
    if (step->op == KW_EPILOGUE_ADD && step->a == 0) { /* as a step that was filled from zeros has it */
        return kw_fail(err, KW_ILLEGAL, "problem: step add adds 0 times its tensor; a=1 adds the tensor itself, or leave the step out");
    }
    if (step->op == KW_EPILOGUE_CLAMP && step->a > step->b) {
        return kw_fail(err, KW_ILLEGAL, "problem: step clamp goes from %g to %g; the lower end comes first", step->a, step->b);
    }
    return KW_OK;
}

static kw_status check_zero_points(const kw_epilogue *epilogue, kw_op op, kw_dtype dtype, kw_error *err) {
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        bool x = step->op == KW_EPILOGUE_ZERO_X, y = step->op == KW_EPILOGUE_ZERO_Y;
        if (x && (dtype != KW_INT8 || (op != KW_GEMM && op != KW_CONV_FWD))) {
            return kw_fail(err, KW_ILLEGAL, "problem: step zero_x is for gemm and conv_fwd of int8, not for %s of %s; leave it out",
                           kw_op_name(op), kw_dtype_name(dtype));
        }
        if (x && i) {
            return kw_fail(err, KW_ILLEGAL, "problem: zero_x is step %d of the epilogue; it stands first, once", (int)i + 1);
        }
        bool w = is_zero_w(step);
        if (w && (dtype != KW_INT8 || (op != KW_GEMM && op != KW_CONV_FWD))) {
            return kw_fail(err, KW_ILLEGAL, "problem: step %s is for gemm and conv_fwd of int8, not for %s of %s; leave it out",
                           infos[step->op].name, kw_op_name(op), kw_dtype_name(dtype));
        }
        if (w && i != kw_epilogue_zero_w(epilogue)) {
            return kw_fail(err, KW_ILLEGAL, "problem: %s is step %d of the epilogue; it stands first or behind zero_x, once",
                           infos[step->op].name, (int)i + 1);
        }
        if (w && kw_epilogue_tensors(epilogue) == KW_EXTRA_MAX) {
            return kw_fail(err, KW_ILLEGAL, "problem: the epilogue's steps read %d tensors; with %s they read at most %d", KW_EXTRA_MAX,
                           infos[step->op].name, KW_EXTRA_MAX - 1);
        }
        if (y && !(epilogue->converts && (epilogue->output == KW_INT8 || epilogue->output == KW_UINT8))) {
            return kw_fail(err, KW_ILLEGAL, "problem: step zero_y is for results of int8 or uint8; add out=int8 or out=uint8");
        }
        if ((x || y || w) && step->dtype != KW_INT8 && step->dtype != KW_UINT8 && step->dtype != KW_INT32) {
            return kw_fail(err, KW_ILLEGAL, "problem: the tensor of step %s is %s; use int32, int8 or uint8", infos[step->op].name,
                           kw_dtype_name(step->dtype));
        }
    }
    return KW_OK;
}

static kw_status check_bias_gradient(const kw_epilogue *epilogue, kw_op op, kw_dtype dtype, kw_error *err) {
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        if (step->op != KW_EPILOGUE_BIAS_GRADIENT) {
            continue;
        }
        if (op != KW_CONV_BWD_WEIGHT || dtype == KW_INT8) {
            return kw_fail(err, KW_ILLEGAL,
                           "problem: step bias_gradient is for conv_bwd_weight of floating point, not for %s of %s; leave it out",
                           kw_op_name(op), kw_dtype_name(dtype));
        }
        if (i) {
            return kw_fail(err, KW_ILLEGAL, "problem: bias_gradient is step %d of the epilogue; it stands first, once", (int)i + 1);
        }
        if (step->dtype != KW_FP32 && (step->dtype != dtype || kw_dtype_size(dtype) != 2)) {
            return kw_fail(err, KW_ILLEGAL, "problem: the tensor of step bias_gradient is %s in a problem of %s; use %s",
                           kw_dtype_name(step->dtype), kw_dtype_name(dtype),
                           dtype == KW_BF16   ? "fp32 or bf16"
                           : dtype == KW_FP16 ? "fp32 or fp16"
                                              : "fp32");
        }
    }
    return KW_OK;
}

static kw_status check_beta(const kw_epilogue *epilogue, kw_error *err) {
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i], *next = i + 1 < epilogue->count ? step + 1 : NULL;
        if (step->op == KW_EPILOGUE_BETA && (!next || next->op != KW_EPILOGUE_ADD || next->a != 1)) {
            return kw_fail(err, KW_ILLEGAL,
                           "problem: beta is step %d of the epilogue; it stands in front of an add without a number, whose tensor it "
                           "multiplies, e.g. beta+add:bf16",
                           (int)i + 1);
        }
    }
    return KW_OK;
}

kw_status kw_epilogue_check(const kw_epilogue *epilogue, kw_op op, kw_dtype dtype, kw_error *err) {
    if (epilogue->count < 0 || epilogue->count > KW_EPILOGUE_MAX) {
        return kw_fail(err, KW_ILLEGAL, "problem: an epilogue of %d steps; it has 0 to %d", (int)epilogue->count, KW_EPILOGUE_MAX);
    }
    if (epilogue->converts && (size_t)epilogue->output >= KW_DTYPE_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: out=%d is not one of kw_dtype", (int)epilogue->output);
    }
    if (epilogue->converts && epilogue->output == KW_INT32 && dtype != KW_INT8) {
        return kw_fail(err, KW_ILLEGAL, "problem: out=int32 is for int8 alone; use out=fp32");
    }
    int extras = 0;
    for (int32_t i = 0; i < epilogue->count; i++) {
        kw_status status = check_step(&epilogue->step[i], op, err);
        if (status) {
            return status;
        }
        extras += kw_epilogue_step_has_tensor(&epilogue->step[i]);
    }
    if (extras > KW_EXTRA_MAX) {
        return kw_fail(err, KW_ILLEGAL, "problem: the epilogue's steps read %d tensors; they read at most %d", extras, KW_EXTRA_MAX);
    }
    kw_status status = check_zero_points(epilogue, op, dtype, err);
    status = status ? status : check_beta(epilogue, err);
    return status ? status : check_bias_gradient(epilogue, op, dtype, err);
}

/* --- meaning --- */

/* The channel and pixel of an element of an image tensor, as reference.c orders them. */
void kw_result_place(int64_t *channel, int64_t *row, const kw_problem *problem, int64_t index) {
    if (problem->op == KW_GEMM) {
        index = kw_problem_index(problem, KW_Y, index);
        *channel = index % problem->gemm.n;
        *row = index / problem->gemm.n;
        return;
    }
    const kw_conv_dims *conv = &problem->conv;
    index = kw_problem_index(problem, kw_problem_result(problem), index);
    int64_t out[3], channels = problem->op == KW_CONV_BWD_DATA ? conv->c : conv->k;
    kw_problem_output(out, problem);
    const int64_t *extent = problem->op == KW_CONV_BWD_DATA ? conv->in : out;
    if (problem->layout == KW_CHANNELS_LAST) {
        *channel = index % channels;
        *row = index / channels;
        return;
    }
    int64_t pixels = extent[0] * extent[1] * extent[2];
    *channel = index / pixels % channels;
    *row = index / pixels / channels * pixels + index % pixels;
}

static double sigmoid(double v) {
    return 1 / (1 + exp(-v));
}

double kw_epilogue_step_value(const kw_epilogue_step *step, double v, double t) {
    switch (step->op) {
    case KW_EPILOGUE_ADD:
        return v + step->a * t;
    case KW_EPILOGUE_BIAS:
    case KW_EPILOGUE_ZERO_Y:
        return v + t;
    case KW_EPILOGUE_MULTIPLY:
    case KW_EPILOGUE_SCALE:
    case KW_EPILOGUE_SCALE_CHANNEL:
    case KW_EPILOGUE_SCALE_ROW:
        return v * t;
    case KW_EPILOGUE_RELU:
        return v > 0 || isnan(v) ? v : 0;
    case KW_EPILOGUE_CLAMP:
        return v < step->a ? step->a : v > step->b ? step->b : v;
    case KW_EPILOGUE_LEAKY_RELU:
        return v > 0 ? v : (double)(float)step->a * v;
    case KW_EPILOGUE_SIGMOID:
        return sigmoid(v);
    case KW_EPILOGUE_TANH:
        return tanh(v);
    case KW_EPILOGUE_SILU:
        return v < -700 ? 0 : v * sigmoid(v);
    case KW_EPILOGUE_GELU:
        return v * 0.5 * (1 + erf(v * M_SQRT1_2));
    case KW_EPILOGUE_GELU_TANH:
        return v * 0.5 * (1 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
    case KW_EPILOGUE_HARDSWISH:
        return v * fmin(fmax(v + 3, 0), 6) / 6;
    case KW_EPILOGUE_ZERO_X: /* these are in the sums */
    case KW_EPILOGUE_ZERO_W:
    case KW_EPILOGUE_ZERO_W_CHANNEL:
    case KW_EPILOGUE_BIAS_GRADIENT: /* it is beside them */
    case KW_EPILOGUE_BETA:          /* it is in the next step */
    case KW_EPILOGUE_OP_COUNT:
        break;
    }
    return v;
}

/* How much steeper than 1 a step may be, and how far its approximation in a kernel may be off, as a share of its largest value or of v: a
 * few units in fp32's last place for a function built of exp or erf. */
static double step_slope(const kw_epilogue_step *step, double t) {
    switch (step->op) {
    case KW_EPILOGUE_MULTIPLY:
    case KW_EPILOGUE_SCALE:
    case KW_EPILOGUE_SCALE_CHANNEL:
    case KW_EPILOGUE_SCALE_ROW:
        return fabs(t);
    case KW_EPILOGUE_LEAKY_RELU:
        return fmax(1, fabs(step->a));
    case KW_EPILOGUE_SIGMOID:
        return 0.25;
    case KW_EPILOGUE_SILU:
    case KW_EPILOGUE_GELU:
    case KW_EPILOGUE_GELU_TANH:
        return 1.13;
    case KW_EPILOGUE_HARDSWISH:
        return 1.5;
    default:
        return 1;
    }
}

static double step_error(const kw_epilogue_step *step, double before, double after) {
    const double unit = ldexp(1, -24);
    switch (step->op) {
    case KW_EPILOGUE_SIGMOID:
    case KW_EPILOGUE_TANH:
        return 16 * unit;
    case KW_EPILOGUE_SILU:
    case KW_EPILOGUE_GELU:
    case KW_EPILOGUE_GELU_TANH:
        return 16 * unit * fmin(fabs(before), 8) + 2 * unit * fabs(after);
    case KW_EPILOGUE_HARDSWISH:
        return 4 * unit * fabs(after);
    case KW_EPILOGUE_ADD:
    case KW_EPILOGUE_LEAKY_RELU:
        return (double)(float)after == after ? 0 : 2 * unit * fmax(fabs(after), fabs(after - before));
    default:
        return (double)(float)after == after ? 0 : unit * fabs(after);
    }
}

void kw_epilogue_apply(kw_epilogue_value *v, const kw_problem *problem, const void *const extras[KW_EXTRA_MAX], int64_t index) {
    const kw_epilogue *epilogue = &problem->epilogue;
    int64_t channel = 0, row = 0;
    double beta = 1;
    int next = 0;
    if (epilogue->count && problem->op != KW_CONV_BWD_WEIGHT) {
        kw_result_place(&channel, &row, problem, index);
    }
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        if (step->op == KW_EPILOGUE_BIAS_GRADIENT) {
            next++;
            continue;
        }
        const int64_t places[] = {
            [KW_EXTRA_NONE] = 0, [KW_EXTRA_ONE] = 0, [KW_EXTRA_CHANNEL] = channel, [KW_EXTRA_ROW] = row, [KW_EXTRA_ALL] = index};
        kw_extra_shape shape = infos[step->op].shape;
        double t = shape ? kw_dtype_load(step->dtype, extras[next++], places[shape]) : 0;
        if (step->op == KW_EPILOGUE_BETA) {
            beta = t;
            continue;
        }
        if (kw_epilogue_has_beta(epilogue, i)) {
            t = beta != 0 ? beta * t : 0; /* which may be rounded before it is added */
            v->bound += (double)(float)t == t ? 0 : ldexp(1, -24) * fabs(t);
        }
        double slope = step_slope(step, t);
        double after = kw_epilogue_step_value(step, v->value, t);
        v->bound = v->bound * slope + step_error(step, v->value, after);
        v->magnitude = v->magnitude * slope;
        v->value = after;
    }
}

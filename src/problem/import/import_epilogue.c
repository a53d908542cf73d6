/* import_epilogue.c: what other programs' lines say behind the product, as steps of an epilogue: benchdnn's attributes and bias,
 * hipblaslt-bench's scales, bias and activation. */
#include "problem/import/import.h"

#include "base/format/number.h"
#include "problem/epilogue/epilogue.h"

#include <math.h>
#include <string.h>

kw_status kw_import_step(kw_problem *problem, kw_epilogue_op op, kw_dtype dtype, double a, double b, kw_error *err) {
    kw_epilogue *epilogue = &problem->epilogue;
    if (epilogue->count == KW_EPILOGUE_MAX) {
        return kw_fail(err, KW_ILLEGAL, "the line has more than the %d steps of an epilogue", KW_EPILOGUE_MAX);
    }
    epilogue->step[epilogue->count++] = (kw_epilogue_step){.op = op, .dtype = dtype, .a = a, .b = b};
    return KW_OK;
}

void kw_import_result_type(kw_problem *problem, kw_dtype output) {
    problem->epilogue.converts = output != kw_dtype_output(problem->dtype);
    problem->epilogue.output = problem->epilogue.converts ? output : KW_FP32;
}

/* --- benchdnn ------------------------------------------------------------------------------------------------------------ */

/* Over which axes of the result a tensor goes. */
typedef enum along { ALONG_CHANNELS, ALONG_ALL, ALONG_ROWS, ALONG_NONE, ALONG_OTHERS } along;

/* "per_oc", "per_tensor", "per_dim_1" or a number whose bits are axes. Axes of one element count for nothing. */
static along read_mask(const kw_import_attribute *said, kw_word word) {
    const struct {
        const char *name;
        unsigned mask;
    } policies[] = {{"common", 0},
                    {"per_oc", said->channel_axis},
                    {"per_tensor", said->all_axes},
                    {"per_dim_0", 1},
                    {"per_dim_1", 2},
                    {"per_dim_2", 4},
                    {"per_dim_3", 8},
                    {"per_dim_01", 3}};
    int64_t number = -1;
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        number = kw_word_is(word, policies[i].name) ? policies[i].mask : number;
    }
    if (number < 0 && !kw_word_int(word, 0, INT32_MAX, &number)) {
        return ALONG_OTHERS;
    }
    const unsigned masks[] = {[ALONG_CHANNELS] = said->channel_axis,
                              [ALONG_ALL] = said->all_axes,
                              [ALONG_ROWS] = said->all_axes & ~said->channel_axis,
                              [ALONG_NONE] = 0};
    for (int exact = 1; exact >= 0 && !((unsigned)number & ~said->all_axes); exact--) {
        for (along over = ALONG_CHANNELS; over < ALONG_OTHERS; over++) {
            if (!(((unsigned)number ^ masks[over]) & (exact ? ~0u : ~said->single_axes))) {
                return over;
            }
        }
    }
    return ALONG_OTHERS;
}

/* Activations: what their first numbers are if not said; which ones there are a step for. */
static const struct {
    const char *name;
    kw_epilogue_op op;
    int params;
    double alpha, beta;
} activations[] = {
    {"relu", KW_EPILOGUE_LEAKY_RELU, 1, 0, 0}, /* alpha is the slope below 0 */
    {"logistic", KW_EPILOGUE_SIGMOID, 0, 0, 0},    {"tanh", KW_EPILOGUE_TANH, 0, 0, 0},    {"gelu_erf", KW_EPILOGUE_GELU, 0, 0, 0},
    {"gelu_tanh", KW_EPILOGUE_GELU_TANH, 0, 0, 0}, {"swish", KW_EPILOGUE_SILU, 0, 1, 0},   {"clip", KW_EPILOGUE_CLAMP, 2, 0, 0},
    {"clip_v2", KW_EPILOGUE_CLAMP, 2, 0, 0},       {"linear", KW_EPILOGUE_SCALE, 0, 0, 0}, /* alpha is a number that a run is given */
};

static kw_status fail_post_op(kw_word word, const char *why, kw_error *err) {
    return kw_fail(err, KW_ILLEGAL, "benchdnn line: post-op \"%.*s\" has no counterpart here: %s", KW_WORD(word), why);
}

/* "relu:0.1", fields from the second on. */
static kw_status take_activation(kw_problem *problem, size_t number, kw_scan rest, kw_word word, kw_error *err) {
    double values[3] = {activations[number].alpha, activations[number].beta, 1};
    kw_word field;
    for (int i = 0; rest.at < rest.end && kw_scan_field(&rest, ':', &field); i++) {
        if (i == 3 || !kw_number_read(field, &values[i])) {
            return kw_fail(err, KW_MALFORMED, "benchdnn line: post-op \"%.*s\": \"%.*s\" is no number", KW_WORD(word), KW_WORD(field));
        }
    }
    kw_epilogue_op op = activations[number].op;
    if (values[2] != 1 || (op == KW_EPILOGUE_SILU && values[0] != 1)) {
        return fail_post_op(word, "it is scaled", err);
    }
    if (op == KW_EPILOGUE_SCALE && values[1] != 0) {
        return fail_post_op(word, "no step adds one number to all results", err);
    }
    if (op == KW_EPILOGUE_LEAKY_RELU && values[0] == 0) {
        return kw_import_step(problem, KW_EPILOGUE_RELU, KW_FP32, 0, 0, err);
    }
    return kw_import_step(problem, op, KW_FP32, activations[number].params > 0 ? values[0] : 0,
                          activations[number].params > 1 ? values[1] : 0, err);
}

/* Whether a tensor of the result's shape with this tag lies as the result: "any", "axb" of convolutions, of products the letters in order. */
static bool lies_like_result(const kw_problem *problem, kw_word tag) {
    bool in_order = problem->op == KW_GEMM && tag.size > 0;
    for (size_t i = 0; i < tag.size; i++) {
        in_order = in_order && tag.at[i] == (char)('a' + (int)i);
    }
    return in_order || kw_word_is(tag, "any") || kw_word_is(tag, problem->layout == KW_CHANNELS_LAST ? "axb" : "abx");
}

/* "add:f32:per_oc": type, then how the tensor lies to the result. */
static kw_status take_binary(kw_problem *problem, const kw_import_attribute *said, bool adds, kw_scan rest, kw_word word, kw_error *err) {
    kw_word type = {"", 0}, mask = {"common", 6}, tag;
    kw_dtype dtype;
    kw_scan_field(&rest, ':', &type);
    kw_scan_field(&rest, ':', &mask);
    if (!kw_import_benchdnn_type(&dtype, type)) {
        return fail_post_op(word, "its type is not known", err);
    }
    along over = read_mask(said, mask);
    if (kw_scan_field(&rest, ':', &tag) && over == ALONG_ALL && !lies_like_result(problem, tag)) {
        return fail_post_op(word, "its tensor lies otherwise than the result", err);
    }
    switch (over) {
    case ALONG_ALL:
        return kw_import_step(problem, adds ? KW_EPILOGUE_ADD : KW_EPILOGUE_MULTIPLY, dtype, adds ? 1 : 0, 0, err);
    case ALONG_CHANNELS:
        return kw_import_step(problem, adds ? KW_EPILOGUE_BIAS : KW_EPILOGUE_SCALE_CHANNEL, dtype, 0, 0, err);
    default:
        return !adds && over != ALONG_OTHERS
                   ? kw_import_step(problem, over == ALONG_ROWS ? KW_EPILOGUE_SCALE_ROW : KW_EPILOGUE_SCALE, dtype, 0, 0, err)
                   : fail_post_op(word, "tensors are added per_tensor or per_oc, and multiplied so, by rows or by one value (common)", err);
    }
}

/* "sum:0.5:0:f32": what the result's memory held, times a number. */
static kw_status take_sum(kw_problem *problem, kw_scan rest, kw_word word, kw_error *err) {
    kw_word field;
    double scale = 1, zero = 0;
    kw_dtype dtype = kw_problem_dtype(problem, kw_problem_result(problem));
    bool good = true;
    for (int i = 0; rest.at < rest.end && good && kw_scan_field(&rest, ':', &field); i++) {
        good = i == 0   ? kw_number_read(field, &scale)
               : i == 1 ? kw_number_read(field, &zero)
                        : i == 2 && kw_import_benchdnn_type(&dtype, field);
    }
    return !good || zero != 0 ? fail_post_op(word, "a sum has a scale and a type", err)
                              : kw_import_step(problem, KW_EPILOGUE_ADD, dtype, scale, 0, err);
}

static kw_status take_post_op(kw_problem *problem, const kw_import_attribute *said, kw_word word, kw_error *err) {
    static const char *const kinds[] = {"eltwise_", "binary_"}; /* as oneDNN's verbose lines have them */
    kw_scan rest = {word.at, word.at + word.size};
    kw_word name = {"", 0};
    kw_scan_field(&rest, ':', &name);
    rest.at = rest.at ? rest.at : rest.end;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t size = kw_word_starts(name, kinds[i]) ? strlen(kinds[i]) : 0;
        name = (kw_word){name.at + size, name.size - size};
    }
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++) {
        if (kw_word_is(name, activations[i].name)) {
            return take_activation(problem, i, rest, word, err);
        }
    }
    if (kw_word_is(name, "hardswish")) { /* its usual numbers are 1/6 and 1/2, which nobody writes out */
        return rest.at < rest.end ? fail_post_op(word, "numbers of a hardswish", err)
                                  : kw_import_step(problem, KW_EPILOGUE_HARDSWISH, KW_FP32, 0, 0, err);
    }
    return kw_word_is(name, "sum")   ? take_sum(problem, rest, word, err)
           : kw_word_is(name, "add") ? take_binary(problem, said, true, rest, word, err)
           : kw_word_is(name, "mul")
               ? take_binary(problem, said, false, rest, word, err)
               : fail_post_op(word, "it is none of relu logistic tanh gelu_erf gelu_tanh swish clip hardswish sum add mul", err);
}

/* Of "src:common:0.25+dst" the next argument and its policy, with what a line says that names none; false at the end. */
static bool next_argument(kw_scan *scan, kw_word *word, kw_word *argument, kw_word *policy, const char *usual) {
    if (!kw_scan_field(scan, '+', word)) {
        return false;
    }
    kw_scan rest = {word->at, word->at + word->size};
    *argument = (kw_word){"", 0};
    *policy = (kw_word){usual, strlen(usual)};
    kw_scan_field(&rest, ':', argument);
    kw_scan_field(&rest, ':', policy);
    return true;
}

/* "src:common:0.25+wei:per_oc+dst:common:2": in front (false) those of source and weights, behind (true) that of the destination. */
static kw_status take_scales(kw_problem *problem, kw_word text, bool behind, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word, arg, policy;
    kw_status status = KW_OK;
    while (!status && next_argument(&scan, &word, &arg, &policy, "")) {
        bool source = kw_word_is(arg, "src"), weights = kw_word_is(arg, "wei"), result = kw_word_is(arg, "dst");
        bool common = kw_word_is(policy, "common"), channel = kw_word_is(policy, "per_oc") && !source;
        if ((!source && !weights && !result) || (!common && !channel)) {
            return kw_fail(
                err, KW_ILLEGAL,
                "benchdnn line: scale \"%.*s\" has no counterpart here; use src, wei or dst with common, or wei or dst with per_oc",
                KW_WORD(word));
        }
        if (result == behind) {
            status = kw_import_step(problem, channel ? KW_EPILOGUE_SCALE_CHANNEL : KW_EPILOGUE_SCALE, KW_FP32, 0, 0, err);
        }
    }
    return status;
}

/* "src:common:5+wei:per_oc+dst:common:-3*", whose numbers are a run's: in front (behind false) those of the source, then of the weights, whatever
 * their order in the text; behind those of the destination. */
static kw_status take_zero_points(kw_problem *problem, kw_word text, const char *of, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word, arg, policy;
    kw_status status = KW_OK;
    while (!status && next_argument(&scan, &word, &arg, &policy, "common")) {
        bool result = kw_word_is(arg, "dst"), weights = kw_word_is(arg, "wei"), channel = weights && kw_word_is(policy, "per_oc");
        if ((!result && !weights && !kw_word_is(arg, "src")) || (!channel && !kw_word_is(policy, "common"))) {
            return kw_fail(err, KW_ILLEGAL,
                           "benchdnn line: zero point \"%.*s\" has no counterpart here; use src, wei or dst with common, wei with per_oc",
                           KW_WORD(word));
        }
        if (kw_word_is(arg, of)) {
            kw_epilogue_op op = result    ? KW_EPILOGUE_ZERO_Y
                                : channel ? KW_EPILOGUE_ZERO_W_CHANNEL
                                : weights ? KW_EPILOGUE_ZERO_W
                                          : KW_EPILOGUE_ZERO_X;
            status = kw_import_step(problem, op, KW_INT32, 0, 0, err);
        }
    }
    return status;
}

/* A bias of one value a channel, or where --bia_mask has all axes of the result's shape. */
static kw_status take_bias(kw_problem *problem, const kw_import_attribute *said, kw_error *err) {
    along over = said->bias_mask.size ? read_mask(said, said->bias_mask) : ALONG_CHANNELS;
    over = over == ALONG_NONE && said->single_axes & said->channel_axis ? ALONG_CHANNELS : over;
    return over == ALONG_CHANNELS ? kw_import_step(problem, KW_EPILOGUE_BIAS, said->bias_dtype, 0, 0, err)
           : over == ALONG_ALL    ? kw_import_step(problem, KW_EPILOGUE_ADD, said->bias_dtype, 1, 0, err)
                                  : kw_fail(err, KW_ILLEGAL,
                                            "benchdnn line: --bia_mask=%.*s has no counterpart here; a bias has one value a channel (%u), or "
                                               "the result's shape (%u)",
                                            KW_WORD(said->bias_mask), said->channel_axis, said->all_axes);
}

/* "common:0.025", "per_oc:2.25*", "common" and "none", which are a scale of 1. */
static kw_status take_result_scale(kw_problem *problem, kw_word text, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word policy = {"", 0}, number;
    kw_scan_field(&scan, ':', &policy);
    bool common = kw_word_is(policy, "common"), channel = kw_word_is(policy, "per_oc"), said = kw_scan_field(&scan, ':', &number);
    if (!common && !channel && !kw_word_is(policy, "none")) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn line: --attr-oscale=%.*s has no counterpart here; use common or per_oc", KW_WORD(text));
    }
    return channel          ? kw_import_step(problem, KW_EPILOGUE_SCALE_CHANNEL, KW_FP32, 0, 0, err)
           : common && said ? kw_import_step(problem, KW_EPILOGUE_SCALE, KW_FP32, 0, 0, err)
                            : KW_OK;
}

kw_status kw_import_attributes(kw_problem *problem, const kw_import_attribute *said, kw_error *err) {
    bool gradient = said->bias && problem->op == KW_CONV_BWD_WEIGHT;
    kw_status status = gradient ? kw_import_step(problem, KW_EPILOGUE_BIAS_GRADIENT, said->bias_dtype, 0, 0, err) : KW_OK;
    status = status || !said->zero_points.at ? status : take_zero_points(problem, said->zero_points, "src", err);
    status = status || !said->zero_points.at ? status : take_zero_points(problem, said->zero_points, "wei", err);
    status = status || !said->scales.at ? status : take_scales(problem, said->scales, false, err);
    if (!status && said->bias && !gradient) {
        status = take_bias(problem, said, err);
    }
    status = status || !said->result_scale.at ? status : take_result_scale(problem, said->result_scale, err);
    kw_word post_ops = said->post_ops.at ? said->post_ops : (kw_word){"", 0}, word;
    kw_scan scan = {post_ops.at, post_ops.at + post_ops.size};
    while (!status && said->post_ops.at && kw_scan_field(&scan, '+', &word)) {
        status = take_post_op(problem, said, word, err);
    }
    status = status || !said->scales.at ? status : take_scales(problem, said->scales, true, err);
    return status || !said->zero_points.at ? status : take_zero_points(problem, said->zero_points, "dst", err);
}

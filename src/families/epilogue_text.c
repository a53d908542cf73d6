/* epilogue_text.c: one statement a step. */
#include "families/epilogue_text.h"

#include "base/format/number.h"
#include "problem/epilogue/epilogue.h"
#include "problem/names/names.h"

#include <string.h>

kw_dtype kw_config_output(const kw_config *config) {
    return config->wants.epilogue.converts ? config->wants.epilogue.output : kw_dtype_output(config->dtype);
}

/* A number as a constant of type float in every dialect. */
static void add_constant(kw_text *text, double value) {
    char number[KW_NUMBER_TEXT];
    kw_number_print(number, value);
    kw_text_addf(text, "%s%sf", number, strpbrk(number, ".e") ? "" : ".0");
}

/* beta: the step that multiplies the tensor, whose own stands before it; or NULL. */
static void add_tensor_step(kw_text *text, const kw_epilogue_step *step, const kw_epilogue_step *beta, int number) {
    const kw_epilogue_info *info = kw_epilogue_info_of(step->op);
    static const char *const shapes[] = {
        [KW_EXTRA_ONE] = "ONE", [KW_EXTRA_CHANNEL] = "CHANNEL", [KW_EXTRA_ROW] = "ROW", [KW_EXTRA_ALL] = "ALL"};
    if (beta) {
        kw_text_addf(text, "    v = v + KW_BETA(ONE(%s, %d), ALL(%s, %d));", kw_dtype_name(beta->dtype), number - 1,
                     kw_dtype_name(step->dtype), number);
        return;
    }
    kw_text_addf(text, "    v = v %c ", info->adds ? '+' : '*');
    if (info->params && step->a != 1) {
        add_constant(text, step->a);
        kw_text_add(text, " * ");
    }
    kw_text_addf(text, "%s(%s, %d);", shapes[info->shape], kw_dtype_name(step->dtype), number);
}

static void add_activation(kw_text *text, const kw_epilogue_step *step, const kw_epilogue_info *info) {
    kw_text_addf(text, "    v = F(%s)(v", info->name);
    const double values[2] = {step->a, step->b};
    for (int i = 0; i < info->params; i++) {
        kw_text_add(text, ", ");
        add_constant(text, values[i]);
    }
    kw_text_add(text, ");");
}

static bool is_long(const kw_epilogue_step *step) {
    return step->op == KW_EPILOGUE_SIGMOID || step->op == KW_EPILOGUE_TANH || step->op == KW_EPILOGUE_SILU ||
           step->op == KW_EPILOGUE_GELU || step->op == KW_EPILOGUE_GELU_TANH;
}

static bool is_placed(const kw_epilogue_step *step) {
    kw_extra_shape shape = kw_epilogue_info_of(step->op)->shape;
    return !kw_epilogue_step_is_silent(step) && (shape == KW_EXTRA_CHANNEL || shape == KW_EXTRA_ROW);
}

static bool has_step(const kw_epilogue *epilogue, bool (*is)(const kw_epilogue_step *step)) {
    for (int32_t i = 0; i < epilogue->count; i++) {
        if (is(&epilogue->step[i])) {
            return true;
        }
    }
    return false;
}

void kw_epilogue_emit_residual(kw_text *text, const kw_config *config) {
    const kw_epilogue *epilogue = &config->wants.epilogue;
    int residual = -1, others = 0, extras = 0, channel_bytes = 0, row_bytes = 0;
    const char *type = kw_dtype_name(KW_BF16);
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        kw_extra_shape shape = kw_epilogue_info_of(step->op)->shape;
        bool first = shape == KW_EXTRA_ALL && residual < 0 && kw_dtype_size(step->dtype) == 2;
        residual = first ? extras : residual;
        type = first ? kw_dtype_name(step->dtype) : type;
        others += !first && (shape == KW_EXTRA_ALL || shape == KW_EXTRA_ROW);
        extras += shape != KW_EXTRA_NONE;
        if (!kw_epilogue_step_is_silent(step)) {
            channel_bytes += shape == KW_EXTRA_CHANNEL ? (int)kw_dtype_size(step->dtype) : 0;
            row_bytes += shape == KW_EXTRA_ROW ? (int)kw_dtype_size(step->dtype) : 0;
        }
    }
    kw_text_addf(text, "#define KW_RESIDUAL (%d)\n#define KW_RESIDUAL_TYPE KW_TYPE_%s\n#define KW_EPILOGUE_OTHERS %d\n", residual, type,
                 others);
    kw_text_addf(text, "#define KW_EPILOGUE_CHANNEL_BYTES %d\n#define KW_EPILOGUE_ROW_BYTES %d\n", channel_bytes, row_bytes);
}

/* Zero points of w, as results are stored; a GPU's texts take them off w, and so do some of a CPU's. */
static bool zero_w_is_stored(const kw_config *config) {
    bool zero_w = kw_epilogue_zero_w(&config->wants.epilogue) >= 0;
    return zero_w && config->family->kind == KW_KIND_CPU && !config->family->zero_w_loaded;
}

bool kw_epilogue_has_text(const kw_config *config) {
    return !kw_epilogue_is_bare(&config->wants.epilogue) || zero_w_is_stored(config);
}

void kw_epilogue_emit(kw_text *text, const kw_config *config) {
    const kw_epilogue *epilogue = &config->wants.epilogue;
    const kw_epilogue_step *zero = kw_epilogue_zero_x(epilogue);
    kw_text_addf(text, "#define KW_X_ZERO %d\n", zero != NULL);
    if (zero) {
        kw_text_addf(text, "#define KW_X_ZERO_OF(a) KW_ZERO_OF_%s((a)->extra[0])\n", kw_dtype_name(zero->dtype));
    }
    int zero_w = kw_epilogue_zero_w(epilogue);
    bool taken_off = zero_w_is_stored(config), loaded = zero_w >= 0 && config->family->zero_w_loaded;
    kw_text_addf(text, "#define KW_W_ZERO %d\n%s", zero_w >= 0 && !loaded, loaded ? "#define KW_W_ZERO_LOADED 1\n" : "");
    if (zero_w >= 0) {
        bool one = epilogue->step[zero_w].op == KW_EPILOGUE_ZERO_W;
        kw_text_addf(text,
                     "#define KW_W_ZERO_ONE %d\n#define KW_W_ZERO_AT %d\n#define KW_W_ZERO_WORD(word) word##%s\n#define KW_X_SUMS_AT %d\n",
                     one, zero_w, kw_dtype_name(epilogue->step[zero_w].dtype), kw_epilogue_tensors(epilogue));
    }
    bool bare = kw_epilogue_is_bare(epilogue);
    kw_text_addf(text, "#define KW_EPILOGUE_WHOLE %d\n", bare && taken_off);
    const kw_epilogue_step *bias = kw_epilogue_bias_gradient(epilogue);
    if (bias) {
        kw_text_addf(text, "#define KW_BIAS_FP32 %d\n", bias->dtype == KW_FP32);
    }
    kw_text_addf(text, "#define KW_EPILOGUE %d\n#define KW_EPILOGUE_LONG %d\n#define KW_EPILOGUE_PLACED %d\n", !bare || taken_off,
                 has_step(epilogue, is_long), taken_off || has_step(epilogue, is_placed));
    if (bare && !taken_off) {
        return;
    }
    int extras = 0;
    kw_text_add(text, "#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL)");
    for (int32_t i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        const kw_epilogue_info *info = kw_epilogue_info_of(step->op);
        if (kw_epilogue_step_is_silent(step)) {
            extras++;
            continue;
        }
        kw_text_add(text, " \\\n");
        if (info->shape) {
            add_tensor_step(text, step, kw_epilogue_has_beta(epilogue, i) ? step - 1 : NULL, extras++);
        } else {
            add_activation(text, step, info);
        }
    }
    kw_text_add(text, "\n");
}

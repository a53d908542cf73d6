/* import_benchdnn.c: oneDNN's benchdnn: options and a convolution's descriptor, "--dir=BWD_D --dt=bf16 g32mb1ic128ih56oc128oh56kh3ph1", or
 * behind --matmul a product's (import_matmul.c). A convolution's descriptor is a run of keys and numbers; the rules for what it leaves out are benchdnn's: mb2, strides 1, dilations 0 (dense: dilation is
 * our value minus 1), a missing height and width are those of the leading axis, and an output extent without padding implies the
 * padding, which may differ at the two edges. */
#include "base/math.h"
#include "problem/import/import.h"

#include <string.h>

/* Keys of spatial axes are one of these letters and one of d h w. */
enum { IN, OUT, FILTER, STRIDE, PAD, DILATION, FIELDS };
static const char field_letters[] = "iokspd";
static const char axis_letters[] = "dhw";

typedef struct descriptor {
    int64_t g, mb, ic, oc;
    int64_t value[FIELDS][3];
    bool given[FIELDS][3];
} descriptor;

/* A number that belongs to a key without an axis; NULL when there is no such key. */
static int64_t *find_scalar(descriptor *all, kw_word key) {
    return kw_word_is(key, "g")    ? &all->g
           : kw_word_is(key, "mb") ? &all->mb
           : kw_word_is(key, "ic") ? &all->ic
           : kw_word_is(key, "oc") ? &all->oc
                                   : NULL;
}

static bool find_descriptor_axis(kw_word key, int *field, int *axis) {
    if (key.size != 2) {
        return false;
    }
    const char *f = memchr(field_letters, key.at[0], FIELDS), *a = memchr(axis_letters, key.at[1], 3);
    if (!f || !a) {
        return false;
    }
    *field = (int)(f - field_letters);
    *axis = (int)(a - axis_letters);
    return true;
}

static kw_word scan_key(kw_scan *scan) {
    kw_scan_char(scan, '_');
    const char *start = scan->at;
    while (scan->at < scan->end && *scan->at >= 'a' && *scan->at <= 'z') {
        scan->at++;
    }
    return (kw_word){start, (size_t)(scan->at - start)};
}

bool kw_import_benchdnn_names(kw_word word) {
    if (kw_import_matmul_names(word)) {
        return true;
    }
    kw_scan scan = {word.at, word.at + word.size};
    descriptor none;
    int64_t number;
    return find_scalar(&none, scan_key(&scan)) != NULL && kw_scan_int(&scan, 0, INT64_MAX, &number) && scan.at < scan.end;
}

static kw_status read_conv_descriptor(descriptor *all, kw_word word, kw_error *err) {
    kw_scan scan = {word.at, word.at + word.size};
    *all = (descriptor){0};
    while (scan.at < scan.end) {
        kw_word key = scan_key(&scan);
        if (kw_word_starts(key, "n")) {
            break; /* the rest is the problem's name */
        }
        int field = IN, axis = 0;
        int64_t *scalar = find_scalar(all, key);
        bool spatial = !scalar && find_descriptor_axis(key, &field, &axis);
        if (!scalar && !spatial) {
            kw_word rest = {key.at, (size_t)(scan.end - key.at)};
            return kw_fail(err, KW_MALFORMED,
                           "benchdnn descriptor: no key at \"%.*s\"; keys are g mb ic oc, and i o k s p d followed by d, h or w",
                           KW_WORD(rest));
        }
        if (scalar ? *scalar != 0 : all->given[field][axis]) {
            return kw_fail(err, KW_MALFORMED, "benchdnn descriptor: %.*s comes a second time; keep one", KW_WORD(key));
        }
        int64_t low = scalar || (field != PAD && field != DILATION) ? 1 : field == PAD ? INT64_MIN : 0;
        int64_t *value = scalar ? scalar : &all->value[field][axis];
        if (!kw_scan_int(&scan, low, INT64_MAX, value)) {
            return kw_fail(err, KW_MALFORMED, "benchdnn descriptor: %.*s is not followed by a whole number%s", KW_WORD(key),
                           low == 1   ? " of at least 1"
                           : low == 0 ? " of at least 0"
                                      : "");
        }
        if (spatial) {
            all->given[field][axis] = true;
        }
    }
    return KW_OK;
}

static bool axis_given(const descriptor *all, int axis) {
    for (int field = 0; field < FIELDS; field++) {
        if (all->given[field][axis]) {
            return true;
        }
    }
    return false;
}

/* Axes that are left out behind the leading one are its copies. *ndim gets the number of axes. */
static kw_status complete_axes(descriptor *all, int32_t *ndim, kw_error *err) {
    int first = 0;
    while (first < 3 && !axis_given(all, first)) {
        first++;
    }
    *ndim = 3 - first;
    bool copies = first < 2 && !axis_given(all, 1) && !axis_given(all, 2);
    if (first == 1) {
        copies = !axis_given(all, 2);
    }
    for (int axis = first + 1; axis < 3 && copies; axis++) {
        for (int field = 0; field < FIELDS; field++) {
            all->value[field][axis] = all->value[field][first];
            all->given[field][axis] = all->given[field][first];
        }
    }
    if (first == 3) {
        return kw_fail(err, KW_MALFORMED, "benchdnn descriptor: no spatial axis; add e.g. ih56kh3");
    }
    for (int axis = first; axis < 3; axis++) {
        int missing = !all->given[IN][axis] ? IN : FILTER;
        if (!all->given[missing][axis]) {
            return kw_fail(err, KW_MALFORMED, "benchdnn descriptor: %c%c is missing; give it, or of all axes only the first",
                           field_letters[missing], axis_letters[axis]);
        }
    }
    return KW_OK;
}

static kw_status take_axis(kw_conv_dims *conv, const descriptor *all, int axis, kw_error *err) {
    int64_t in = all->value[IN][axis], filter = all->value[FILTER][axis], out = all->value[OUT][axis], pad = all->value[PAD][axis];
    int64_t stride = all->given[STRIDE][axis] ? all->value[STRIDE][axis] : 1;
    bool good = true;
    int64_t dilation = kw_add(all->value[DILATION][axis], 1, &good);
    int64_t span = kw_add(kw_mul(filter - 1, dilation, &good), 1, &good);
    int64_t back = pad;
    if (all->given[OUT][axis]) {
        int64_t both = kw_add(kw_mul(out - 1, stride, &good), kw_add(span, -in, &good), &good); /* what the output size needs */
        pad = all->given[PAD][axis] ? pad : both / 2;
        int64_t rest = kw_add(kw_add(in, -span, &good), kw_mul(2, pad, &good), &good); /* beyond the filter, with equal padding */
        back = rest >= 0 && rest / stride + 1 == out ? pad : kw_add(both, -kw_max(pad, 0), &good);
    }
    if (!good) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn descriptor: the %c axis would not fit 63 bits; use smaller numbers", axis_letters[axis]);
    }
    if (pad < 0) {
        return kw_fail(err, KW_ILLEGAL,
                       "benchdnn descriptor: padding in front of the %c axis is %lld, below 0; use a larger o%c or a smaller i%c",
                       axis_letters[axis], (long long)pad, axis_letters[axis], axis_letters[axis]);
    }
    conv->in[axis] = in;
    conv->filter[axis] = filter;
    conv->stride[axis] = stride;
    conv->dilation[axis] = dilation;
    conv->pad[axis] = pad;
    conv->pad_back[axis] = back;
    return KW_OK;
}

static kw_status make_benchdnn_conv(kw_problem *problem, descriptor *all, int64_t mb, kw_error *err) {
    if (!all->ic || !all->oc) {
        return kw_fail(err, KW_MALFORMED, "benchdnn descriptor: %s is missing; add e.g. %s64", all->ic ? "oc" : "ic",
                       all->ic ? "oc" : "ic");
    }
    kw_status status = complete_axes(all, &problem->ndim, err);
    problem->conv = (kw_conv_dims){.n = mb ? mb : all->mb ? all->mb : 2, .g = all->g ? all->g : 1, .c = all->ic, .k = all->oc};
    for (int axis = 0; axis < 3 && !status; axis++) {
        if (axis >= 3 - problem->ndim) {
            status = take_axis(&problem->conv, all, axis, err);
        } else {
            problem->conv.in[axis] = problem->conv.filter[axis] = problem->conv.stride[axis] = problem->conv.dilation[axis] = 1;
        }
    }
    return status;
}

typedef struct word_value {
    const char *word;
    int value;
} word_value;

static const word_value directions[] = {
    {"FWD_B", KW_CONV_FWD},        {"FWD_D", KW_CONV_FWD},         {"FWD_I", KW_CONV_FWD}, {"BWD_D", KW_CONV_BWD_DATA},
    {"BWD_W", KW_CONV_BWD_WEIGHT}, {"BWD_WB", KW_CONV_BWD_WEIGHT}, {NULL, KW_OP_COUNT},
};

/* Tags of x, w and y; any leaves the choice to the library, ours is channels last. */
static const word_value tags[] = {
    {"any", KW_LAYOUT_COUNT},     {"axb", KW_CHANNELS_LAST},
    {"nwc", KW_CHANNELS_LAST},    {"nhwc", KW_CHANNELS_LAST},
    {"ndhwc", KW_CHANNELS_LAST},  {"abx", KW_CHANNELS_FIRST},
    {"ncw", KW_CHANNELS_FIRST},   {"nchw", KW_CHANNELS_FIRST},
    {"ncdhw", KW_CHANNELS_FIRST}, {NULL, -1},
};

static int find_value(const word_value *table, kw_word word) {
    while (table->word && !kw_word_is(word, table->word)) {
        table++;
    }
    return table->value;
}

typedef struct options {
    kw_op op;
    kw_word types; /* the text of --dt */
    bool together; /* the types are --cfg's, "u8s8f32" */
    bool tf32;     /* --attr-fpmath */
    kw_matmul_tags tags;
    kw_word tag_option[2]; /* --stag and --dtag as they stand */
    int64_t mb;
    bool matmul, directed;
    kw_import_attribute attribute;
} options;

/* Types of x, w and y: one for all, or three with ':' between, of --cfg together. The two that are read are one type, or x is u8 and w s8. */
static kw_status take_types(kw_problem *problem, kw_word text, bool together, kw_error *err) {
    kw_dtype types[KW_TENSOR_COUNT];
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word;
    int count = 0;
    while (together ? kw_import_joined_type(&scan, &word) : kw_scan_field(&scan, ':', &word)) {
        kw_dtype type;
        if (!kw_import_benchdnn_type(&type, word) || count == KW_TENSOR_COUNT) {
            return kw_fail(err, KW_MALFORMED, "benchdnn line: %s=%.*s is not one of f32 bf16 f16 f8_e4m3 f8_e5m2 s8, or three such as %s",
                           together ? "--cfg" : "--dt", KW_WORD(text), together ? "s8s8s32 or u8s8u8" : "s8:s8:s32 or u8:s8:u8");
        }
        types[count++] = type;
    }
    if (count == 1) {
        types[KW_W] = types[KW_Y] = types[KW_X];
    } else if (count == 2) {
        return kw_fail(err, KW_MALFORMED, "benchdnn line: %.*s are two types; give one, or three as in s8:s8:s32", KW_WORD(text));
    }
    if (kw_problem_result(problem) == KW_Y && types[KW_X] == KW_UINT8 && types[KW_W] == KW_INT8) {
        problem->mixed = true;
        problem->x_dtype = types[KW_X];
        types[KW_X] = types[KW_W];
    }
    problem->dtype = types[kw_problem_result(problem) == KW_X ? KW_W : KW_X];
    for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        if (tensor != kw_problem_result(problem) && types[tensor] != problem->dtype) {
            return kw_fail(err, KW_ILLEGAL, "benchdnn line: types %.*s make the %s %s and the other input %s; both are one type here",
                           KW_WORD(text),
                           tensor == KW_X   ? "source"
                           : tensor == KW_W ? "weights"
                                            : "destination",
                           kw_dtype_name(types[tensor]), kw_dtype_name(problem->dtype));
        }
    }
    if (!kw_dtype_is_input(problem->dtype)) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn line: types %.*s: %s is a type of results%s", KW_WORD(text),
                       kw_dtype_name(problem->dtype), problem->dtype == KW_UINT8 ? ", and of a source whose weights are s8" : " only");
    }
    kw_import_result_type(problem, types[kw_problem_result(problem)]);
    return KW_OK;
}

static bool is_harmless(kw_word word) {
    static const char *const harmless[] = {"--mode",
                                           "--engine",
                                           "--max-ms-per-prb",
                                           "--fix-times-per-prb",
                                           "--perf-template",
                                           "--skip-impl",
                                           "--impl",
                                           "--reset",
                                           "--allow-enum-tags-only",
                                           "--canonical",
                                           "--match=",
                                           "--attr-scratchpad=",
                                           "--attr-acc-mode=",
                                           "--attr-deterministic=",
                                           "--allow-unimpl",
                                           "--fast-ref",
                                           "--cold-cache=",
                                           "--memory-kind=",
                                           "--ctx-init=",
                                           "--ctx-exe=",
                                           "--runtime_dims_masks=",
                                           "--alg=direct",
                                           "--alg=DIRECT",
                                           "--alg=auto",
                                           "--alg=AUTO",
                                           "-v",
                                           "--verbose"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (kw_word_starts(word, harmless[i])) {
            return true;
        }
    }
    return false;
}

static kw_status take_direction(options *all, kw_word value, kw_error *err) {
    all->directed = true;
    all->attribute.bias |= kw_word_is(value, "FWD_B") || kw_word_is(value, "BWD_WB"); /* fp32 where --bia-dt says no other */
    all->op = (kw_op)find_value(directions, value);
    return all->op < KW_OP_COUNT
               ? KW_OK
               : kw_fail(err, KW_MALFORMED, "benchdnn line: --dir=%.*s is not one of FWD_D FWD_B FWD_I BWD_D BWD_W BWD_WB", KW_WORD(value));
}

/* --dt names the types one by one, --cfg as one word. */
static kw_status keep_types(options *all, kw_word name, kw_word value, kw_error *err) {
    all->types = value;
    all->together = kw_word_is(name, "--cfg");
    return value.size ? KW_OK : kw_fail(err, KW_MALFORMED, "benchdnn line: %.*s= names no type; use e.g. --dt=bf16", KW_WORD(name));
}

static kw_status take_bias_type(options *all, kw_word word, kw_word value, kw_error *err) {
    all->attribute.bias = kw_import_benchdnn_type(&all->attribute.bias_dtype, value);
    return all->attribute.bias || kw_word_is(value, "undef")
               ? KW_OK
               : kw_fail(err, KW_MALFORMED, "benchdnn line: %.*s is not a type of a bias; use e.g. f32", KW_WORD(word));
}

/* Where an option's value is kept that is read when the whole line is known; NULL: it has no such place. An option without a value says nothing. */
static kw_word *kept_value(options *all, kw_word name) {
    const struct {
        const char *name;
        kw_word *value;
    } kept[] = {
        {"--strides", &all->tags.strides},
        {"--attr-post-ops", &all->attribute.post_ops},
        {"--attr-scales", &all->attribute.scales},
        {"--attr-zero-points", &all->attribute.zero_points},
        {"--attr-oscale", &all->attribute.result_scale},
        {"--bia_mask", &all->attribute.bias_mask},
        {"--bia-mask", &all->attribute.bias_mask},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (kw_word_is(name, kept[i].name)) {
            return kept[i].value;
        }
    }
    return NULL;
}

/* "strict", "bf16", "tf32", "f16:true": what fp32 may be made for speed. tf32 is known here; other types are a permission, of which no use is made. */
static kw_status take_fpmath(options *all, kw_word value, kw_error *err) {
    static const char *const modes[] = {"", "strict", "bf16", "f16", "any", "tf32"};
    kw_scan scan = {value.at, value.at + value.size};
    kw_word mode = {"", 0};
    kw_scan_field(&scan, ':', &mode);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (kw_word_is(mode, modes[i])) {
            all->tf32 = kw_word_is(mode, "tf32");
            return KW_OK;
        }
    }
    return kw_fail(err, KW_MALFORMED, "benchdnn line: --attr-fpmath=%.*s is not one of strict bf16 f16 tf32 any", KW_WORD(value));
}

static kw_status take_benchdnn_option(options *all, kw_word word, kw_error *err) {
    kw_scan scan = {word.at, word.at + word.size};
    kw_word name = {0};
    kw_scan_field(&scan, '=', &name);
    kw_word value = {scan.at ? scan.at : word.at, scan.at ? (size_t)(scan.end - scan.at) : 0}, *kept = kept_value(all, name);
    if (is_harmless(word)) {
        return KW_OK;
    }
    if (value.size && memchr(value.at, ',', value.size)) {
        return kw_fail(err, KW_ILLEGAL,
                       "benchdnn line: %.*s lists several values; give one, or let kwright problems extract take the line apart",
                       KW_WORD(word));
    }
    if (kept) {
        *kept = value.size ? value : (kw_word){0};
        return KW_OK;
    }
    if (kw_word_is(name, "--dir")) {
        return take_direction(all, value, err);
    }
    if (kw_word_is(name, "--dt") || (kw_word_is(name, "--cfg") && value.size)) {
        return keep_types(all, name, value, err);
    }
    if (kw_word_is(name, "--attr-fpmath")) {
        return take_fpmath(all, value, err);
    }
    if (kw_word_is(name, "--bia-dt") || kw_word_is(name, "--bia_dt")) {
        return take_bias_type(all, word, value, err);
    }
    if (kw_word_is(name, "--batch")) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn line: %.*s names a file of problems; kwright problems extract reads such a file",
                       KW_WORD(word));
    }
    if (kw_word_is(name, "--mb")) {
        return kw_word_int(value, 0, INT64_MAX, &all->mb)
                   ? KW_OK
                   : kw_fail(err, KW_MALFORMED, "benchdnn line: --mb=%.*s is not a whole number", KW_WORD(value));
    }
    if (kw_word_is(name, "--stag") || kw_word_is(name, "--dtag")) {
        *(kw_word_is(name, "--stag") ? &all->tags.source : &all->tags.result) = value;
        all->tag_option[kw_word_is(name, "--dtag")] = word;
        return KW_OK;
    }
    if (kw_word_is(name, "--wtag")) {
        all->tags.weights = value;
        return KW_OK;
    }
    if (kw_word_is(word, "--matmul") || kw_word_is(word, "--conv")) {
        all->matmul = kw_word_is(word, "--matmul");
        return KW_OK;
    }
    return kw_fail(
        err, KW_ILLEGAL,
        "benchdnn line: option \"%.*s\" has no counterpart here; options that can be read are --dir --dt --cfg --mb --stag --wtag "
        "--dtag --strides --bia-dt --bia_mask --attr-post-ops --attr-scales --attr-zero-points --attr-oscale --attr-fpmath",
        KW_WORD(word));
}

/* A convolution's layout from --stag and --dtag: one for both, any: channels last. */
static kw_status take_conv_tags(kw_problem *problem, const options *all, kw_error *err) {
    const kw_word tags_of[2] = {all->tags.source, all->tags.result};
    problem->layout = KW_LAYOUT_COUNT;
    for (int i = 0; i < 2; i++) {
        int layout = tags_of[i].at ? find_value(tags, tags_of[i]) : KW_LAYOUT_COUNT;
        if (layout < 0 || (layout < KW_LAYOUT_COUNT && problem->layout < KW_LAYOUT_COUNT && problem->layout != (kw_layout)layout)) {
            return kw_fail(err, KW_ILLEGAL, "benchdnn line: %.*s is not possible here; give --stag and --dtag both axb, both abx, or any",
                           KW_WORD(all->tag_option[i]));
        }
        problem->layout = layout < KW_LAYOUT_COUNT ? (kw_layout)layout : problem->layout;
    }
    problem->layout = problem->layout < KW_LAYOUT_COUNT ? problem->layout : KW_CHANNELS_LAST;
    return KW_OK;
}

/* --wtag, of weights with an axis of groups (the descriptor says g) or without. Of gihwo groups are outermost, which no order here has. */
static kw_status take_weights_tag(kw_problem *problem, kw_word tag, bool grouped, kw_error *err) {
    static const word_value plain[] = {
        {"any", KW_FILTER_OF_LAYOUT}, {"abx", KW_FILTER_KCRS},  {"oiw", KW_FILTER_KCRS},   {"oihw", KW_FILTER_KCRS},
        {"oidhw", KW_FILTER_KCRS},    {"axb", KW_FILTER_KRSC},  {"owi", KW_FILTER_KRSC},   {"ohwi", KW_FILTER_KRSC},
        {"odhwi", KW_FILTER_KRSC},    {"iwo", KW_FILTER_CRSK},  {"ihwo", KW_FILTER_CRSK},  {"idhwo", KW_FILTER_CRSK},
        {"wio", KW_FILTER_RSCK},      {"hwio", KW_FILTER_RSCK}, {"dhwio", KW_FILTER_RSCK}, {NULL, -1},
    };
    static const word_value with_groups[] = {
        {"any", KW_FILTER_OF_LAYOUT}, {"abx", KW_FILTER_KCRS},   {"goiw", KW_FILTER_KCRS},   {"goihw", KW_FILTER_KCRS},
        {"goidhw", KW_FILTER_KCRS},   {"gowi", KW_FILTER_KRSC},  {"gohwi", KW_FILTER_KRSC},  {"godhwi", KW_FILTER_KRSC},
        {"wigo", KW_FILTER_RSCK},     {"hwigo", KW_FILTER_RSCK}, {"dhwigo", KW_FILTER_RSCK}, {NULL, -1},
    };
    int order = tag.at ? find_value(grouped ? with_groups : plain, tag) : KW_FILTER_OF_LAYOUT;
    if (order < 0) {
        return kw_fail(err, KW_ILLEGAL, "benchdnn line: --wtag=%.*s has no counterpart here; use %s", KW_WORD(tag),
                       grouped ? "abx (goihw), gohwi or hwigo, or leave it to the library with any"
                               : "abx (oihw), axb (ohwi), ihwo or hwio, or any");
    }
    problem->filter_order = (kw_filter_order)order;
    return KW_OK;
}

static kw_status read_benchdnn_words(options *all, kw_word *said, kw_scan scan, kw_error *err) {
    kw_word word;
    *said = (kw_word){0};
    while (kw_scan_word(&scan, &word)) {
        kw_status status = KW_OK;
        if (kw_word_starts(word, "-")) {
            status = take_benchdnn_option(all, word, err);
        } else if (said->size) {
            status = kw_fail(err, KW_MALFORMED, "benchdnn line: \"%.*s\" is a second descriptor; give one a line", KW_WORD(word));
        } else {
            *said = word;
        }
        if (status) {
            return status;
        }
    }
    all->matmul = all->matmul || kw_import_matmul_names(*said);
    return said->size ? KW_OK
                      : kw_fail(err, KW_MALFORMED, "benchdnn line: there is no descriptor; add e.g. %s",
                                all->matmul ? "128x768:768x768" : "ic64ih56oc64oh56kh3ph1");
}

/* The axes of a convolution's result, n k and the spatial ones, as masks have them. Those of one element: n and k alone, for the rest is not known
 * before the problem is checked, and nobody's tensor has one of them without the other. */
static void take_conv_axes(kw_import_attribute *axes, const kw_problem *problem) {
    axes->all_axes = (1u << (problem->ndim + 2)) - 1;
    axes->channel_axis = 2;
    axes->single_axes = (problem->conv.n == 1 ? 1u : 0) | (problem->conv.k == 1 ? 2u : 0);
}

static kw_status take_options(kw_problem *problem, const options *all, kw_error *err) {
    kw_status status = take_types(problem, all->types, all->together, err);
    if (!status && all->tf32 && problem->dtype == KW_FP32) {
        problem->fpmath = KW_FPMATH_TF32;
    }
    return status ? status : kw_import_attributes(problem, &all->attribute, err);
}

kw_status kw_import_benchdnn(kw_problem *problem, kw_scan scan, kw_error *err) {
    options all = {.op = KW_CONV_FWD, .types = {"f32", 3}};
    kw_word text;
    kw_status status = read_benchdnn_words(&all, &text, scan, err);
    if (status) {
        return status;
    }
    memset(problem, 0, sizeof *problem);
    if (all.matmul) {
        if (all.mb || all.directed) {
            return kw_fail(err, KW_ILLEGAL, "benchdnn line: %s is of convolutions and says nothing of \"%.*s\"; leave it away",
                           all.mb ? "--mb" : "--dir", KW_WORD(text));
        }
        status = kw_import_matmul(problem, &all.attribute, text, &all.tags, err);
    } else {
        descriptor said;
        problem->op = all.op;
        if (all.tags.strides.at && !kw_word_is(all.tags.strides, "::")) {
            return kw_fail(err, KW_ILLEGAL, "benchdnn line: --strides=%.*s of a convolution has no counterpart here; use tags",
                           KW_WORD(all.tags.strides));
        }
        status = take_conv_tags(problem, &all, err);
        status = status ? status : read_conv_descriptor(&said, text, err);
        status = status ? status : make_benchdnn_conv(problem, &said, all.mb, err);
        status = status ? status : take_weights_tag(problem, all.tags.weights, said.g > 0, err);
        take_conv_axes(&all.attribute, problem);
    }
    return status ? status : take_options(problem, &all, err);
}

/* cudnn_graph.c: a graph of cuDNN's frontend as its log (CUDNN_FRONTEND_LOG_INFO=1) and its serialisation write it, JSON on one line or
 * many: a convolution or a product, the first node, and pointwise nodes, each of which takes the result of the one before. Tensors are named
 * by keys, or by uids. */
#include "space/logs/extract.h"

#include "base/math.h"
#include "json/json_read.h"
#include "problem/epilogue/epilogue.h"
#include "problem/import/import.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <stdio.h>
#include <string.h>

enum { AXES = 5 };

/* A tensor: of a convolution n, c, then the axes of the image; of its filter k, c of a group, those of the filter; of a product batch, rows,
 * columns. */
typedef struct graph_tensor {
    const char *name;
    int64_t dim[AXES], stride[AXES];
    int count;
    kw_dtype dtype;
} graph_tensor;

typedef struct graph {
    json_t *root;
    graph_tensor x, w, y; /* as in our problem: of a product A, B, C */
    graph_tensor *result;
    kw_problem *problem;
} graph;

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool says(const json_t *value) {
    return value && !json_is_null(value);
}

/* --- tensors --- */

static kw_status read_dtype(kw_dtype *dtype, const graph *g, const json_t *tensor, const char *name, kw_error *err) {
    static const struct {
        const char *word;
        kw_dtype dtype;
    } types[] = {{"FLOAT", KW_FP32},   {"HALF", KW_FP16}, {"BFLOAT16", KW_BF16}, {"FP8_E4M3", KW_FP8},
                 {"FP8_E5M2", KW_BF8}, {"INT8", KW_INT8}, {"UINT8", KW_UINT8},   {"INT32", KW_INT32}};
    const char *word = text_of(tensor, "data_type");
    if (!*word || !strcmp(word, "NOT_SET")) {
        word = text_of(json_object_get(g->root, "context"), "io_data_type");
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(word, types[i].word)) {
            *dtype = types[i].dtype;
            return KW_OK;
        }
    }
    return kw_fail(err, KW_ILLEGAL, "cuDNN graph: tensor %.60s is of type \"%.20s\", which has no counterpart here", name, word);
}

static bool read_numbers(int64_t numbers[AXES], int *count, const json_t *array) {
    *count = (int)kw_min((int64_t)json_array_size(array), AXES + 1);
    bool good = *count <= AXES;
    for (int i = 0; good && i < *count; i++) {
        const json_t *number = json_array_get(array, (size_t)i);
        good = json_is_integer(number);
        numbers[i] = json_integer_value(number);
    }
    return good;
}

static kw_status read_graph_tensor(graph_tensor *t, const graph *g, const json_t *reference, kw_error *err) {
    const json_t *tensors = json_object_get(g->root, "tensors");
    char uid[24] = "";
    if (json_is_integer(reference)) {
        snprintf(uid, sizeof uid, "%lld", (long long)json_integer_value(reference));
    }
    t->name = json_is_string(reference) ? json_string_value(reference) : uid;
    const json_t *tensor = *t->name ? json_object_get(tensors, t->name) : NULL;
    int strides;
    if (!tensor) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: tensor \"%.60s\" is not listed", t->name);
    }
    t->name = json_is_string(reference) ? t->name : text_of(tensor, "name");
    if (!read_numbers(t->dim, &t->count, json_object_get(tensor, "dim")) ||
        !read_numbers(t->stride, &strides, json_object_get(tensor, "stride")) || strides != t->count || t->count < 3) {
        return kw_fail(err, KW_ILLEGAL,
                       "cuDNN graph: tensor %.60s has no 3 to 5 extents and strides (a graph that is not validated has none)", t->name);
    }
    for (int i = 0; i < t->count; i++) {
        if (t->dim[i] < 1 || t->stride[i] < 0) {
            return kw_fail(err, KW_ILLEGAL, "cuDNN graph: tensor %.60s has an extent below 1 or a stride below 0", t->name);
        }
    }
    return read_dtype(&t->dtype, g, tensor, t->name, err);
}

/* Whether a tensor of images or filters lies without gaps, its second axis in front of those behind it or behind all. */
static bool lies(const graph_tensor *t, bool last) {
    int64_t step = 1;
    bool good = true;
    for (int i = 0; i < t->count; i++) {
        int from_inside = t->count - 1 - i;
        int axis = !last || from_inside == 0 ? from_inside : i == 0 ? 1 : from_inside + 1;
        good = good && (t->dim[axis] == 1 || t->stride[axis] == step);
        step = kw_mul(step, t->dim[axis], &good);
    }
    return good;
}

/* --- the first node --- */

static const struct graph_op {
    const char *tag, *x, *w, *y; /* of inputs and outputs */
    kw_op op;
} graph_ops[] = {{"CONV_FPROP", "X", "W", "Y", KW_CONV_FWD},
                 {"CONV_DGRAD", "DX", "W", "DY", KW_CONV_BWD_DATA},
                 {"CONV_WGRAD", "X", "DW", "DY", KW_CONV_BWD_WEIGHT},
                 {"MATMUL", "A", "B", "C", KW_GEMM}};

static kw_status take_graph_layout(graph *g, kw_error *err) {
    bool last = lies(&g->x, true) && lies(&g->y, true);
    if ((!last && !(lies(&g->x, false) && lies(&g->y, false))) || (!lies(&g->w, true) && !lies(&g->w, false))) {
        return kw_fail(
            err, KW_ILLEGAL,
            "cuDNN graph: images must be dense, all with channels last or all first, and filters dense (x %.40s, w %.40s, y %.40s)",
            g->x.name, g->w.name, g->y.name);
    }
    g->problem->layout = last ? KW_CHANNELS_LAST : KW_CHANNELS_FIRST;
    bool like_images = lies(&g->w, last);
    g->problem->filter_order = like_images == last ? KW_FILTER_KRSC : KW_FILTER_KCRS;
    return KW_OK;
}

/* An attribute with a number for each axis of the image. */
static bool read_attribute(int64_t to[3], const json_t *node, const char *key, int ndim) {
    int64_t numbers[AXES];
    int count;
    bool good = read_numbers(numbers, &count, json_object_get(node, key)) && count == ndim;
    for (int i = 0; good && i < ndim; i++) {
        to[3 - ndim + i] = numbers[i];
    }
    return good;
}

static kw_status make_graph_conv(graph *g, const json_t *node, kw_error *err) {
    const graph_tensor *x = &g->x, *w = &g->w, *y = &g->y;
    kw_problem *p = g->problem;
    int ndim = x->count - 2;
    if (w->count != x->count || y->count != x->count || x->dim[1] % w->dim[1]) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: %.40s and %.40s do not fit each other", x->name, w->name);
    }
    p->ndim = ndim;
    p->conv = (kw_conv_dims){.n = x->dim[0], .g = x->dim[1] / w->dim[1], .c = x->dim[1], .k = w->dim[0]};
    for (int i = 0; i < 3; i++) {
        int axis = i - (3 - ndim);
        p->conv.in[i] = axis < 0 ? 1 : x->dim[2 + axis];
        p->conv.filter[i] = axis < 0 ? 1 : w->dim[2 + axis];
        p->conv.stride[i] = p->conv.dilation[i] = 1;
    }
    if (!read_attribute(p->conv.stride, node, "stride", ndim) || !read_attribute(p->conv.dilation, node, "dilation", ndim) ||
        !read_attribute(p->conv.pad, node, "pre_padding", ndim) || !read_attribute(p->conv.pad_back, node, "post_padding", ndim)) {
        return kw_fail(err, KW_MALFORMED,
                       "cuDNN graph: a convolution needs stride, dilation, pre_padding and post_padding, a number for each axis");
    }
    if (strcmp(text_of(node, "math_mode"), "CONVOLUTION") == 0) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: math_mode CONVOLUTION turns the filter round, which is not possible here");
    }
    return take_graph_layout(g, err);
}

/* Once the problem is legal. */
static kw_status check_graph_output(const graph *g, kw_error *err) {
    int64_t out[3];
    const graph_tensor *y = &g->y;
    kw_problem_output(out, g->problem);
    bool good = y->dim[0] == g->problem->conv.n && y->dim[1] == g->problem->conv.k;
    for (int i = 2; i < y->count; i++) {
        good = good && y->dim[i] == out[3 - (y->count - 2) + i - 2];
    }
    return good ? KW_OK : kw_fail(err, KW_ILLEGAL, "cuDNN graph: %.60s has not the extents that follow from the others", y->name);
}

/* A matrix whose rows, or columns, lie side by side, at a pitch. false: neither does. */
static bool take_graph_matrix(kw_problem *p, kw_tensor tensor, const graph_tensor *t, bool *columns) {
    const int64_t *dim = t->dim + t->count - 2, *stride = t->stride + t->count - 2;
    *columns = stride[1] != 1 && stride[0] == 1 && dim[1] > 1;
    p->pitch[tensor][0] = dim[*columns] > 1 ? stride[*columns] : 0;
    p->pitch[tensor][1] = t->dim[0] > 1 ? t->stride[0] : 0;
    return dim[!*columns] == 1 || stride[!*columns] == 1;
}

static kw_status make_graph_product(graph *g, kw_error *err) {
    const graph_tensor *a = &g->x, *b = &g->w, *c = &g->y;
    kw_problem *p = g->problem;
    bool columns[3] = {false};
    if (a->count != 3 || b->count != 3 || c->count != 3 || a->dim[0] != b->dim[0] || a->dim[0] != c->dim[0] || a->dim[2] != b->dim[1] ||
        a->dim[1] != c->dim[1] || b->dim[2] != c->dim[2]) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: a product is of three matrices BxMxK, BxKxN and BxMxN");
    }
    kw_import_product(p, a->dim[0], (int64_t[]){a->dim[1], b->dim[2], a->dim[2]}, false, false, false);
    if (!take_graph_matrix(p, KW_X, a, &columns[0]) || !take_graph_matrix(p, KW_W, b, &columns[1]) ||
        !take_graph_matrix(p, KW_Y, c, &columns[2]) || columns[2]) {
        return kw_fail(err, KW_ILLEGAL,
                       "cuDNN graph: elements of a product's rows or columns lie side by side, of its result those of rows");
    }
    static const kw_layout layouts[2][2] = {{KW_RRR, KW_RCR}, {KW_CRR, KW_CCR}};
    p->layout = layouts[columns[0]][columns[1]];
    return KW_OK;
}

static kw_status read_first_node(graph *g, const json_t *node, const struct graph_op **op, kw_error *err) {
    const char *tag = text_of(node, "tag"), *compute = text_of(node, "compute_data_type");
    *op = NULL;
    for (size_t i = 0; i < sizeof graph_ops / sizeof *graph_ops && !*op; i++) {
        *op = strcmp(tag, graph_ops[i].tag) ? NULL : &graph_ops[i];
    }
    if (!*op) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: its first node is \"%.40s\"; CONV_FPROP, CONV_DGRAD, CONV_WGRAD and MATMUL are read",
                       tag);
    }
    if (*compute && strcmp(compute, "FLOAT") && strcmp(compute, "INT32") && strcmp(compute, "NOT_SET")) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: sums of type %.20s are not possible here", compute);
    }
    g->result = (*op)->op == KW_CONV_BWD_DATA ? &g->x : (*op)->op == KW_CONV_BWD_WEIGHT ? &g->w : &g->y;
    return KW_OK;
}

/* --- pointwise nodes --- */

static bool is_reference(const json_t *a, const json_t *b) {
    return a && b && json_equal(a, b);
}

/* What a step reads, by its extents beside the result's. */
static kw_status take_graph_operand(graph *g, bool adds, const json_t *reference, kw_error *err) {
    graph_tensor t = {0};
    const graph_tensor *r = g->result;
    kw_status status = read_graph_tensor(&t, g, reference, err);
    int channel = g->problem->op == KW_GEMM ? r->count - 1 : 1;
    bool all = t.count == r->count, one = true, along = true, rows = true;
    for (int i = 0; !status && i < r->count && t.count == r->count; i++) {
        bool same = t.dim[i] == r->dim[i], single = t.dim[i] == 1;
        all = all && same && (single || t.stride[i] == r->stride[i]);
        one = one && single;
        along = along && (i == channel ? same : single);
        rows = rows && (i == channel ? single : same);
    }
    if (status) {
        return status;
    }
    if (t.count == r->count && all) {
        return kw_import_step(g->problem, adds ? KW_EPILOGUE_ADD : KW_EPILOGUE_MULTIPLY, t.dtype, adds ? 1 : 0, 0, err);
    }
    if (t.count == r->count && along) {
        return kw_import_step(g->problem, adds ? KW_EPILOGUE_BIAS : KW_EPILOGUE_SCALE_CHANNEL, t.dtype, 0, 0, err);
    }
    if (!adds && one) {
        return kw_import_step(g->problem, KW_EPILOGUE_SCALE, t.dtype, 0, 0, err);
    }
    if (!adds && t.count == r->count && rows && lies(&t, false)) {
        return kw_import_step(g->problem, KW_EPILOGUE_SCALE_ROW, t.dtype, 0, 0, err);
    }
    return kw_fail(err, KW_ILLEGAL,
                   "cuDNN graph: tensor %.60s goes over the result as no step does: added are tensors of its shape and order and ones of "
                   "its channels, "
                   "multiplied these, values of rows and one value",
                   t.name);
}

static kw_status take_graph_relu(kw_problem *p, const json_t *node, kw_error *err) {
    const json_t *low = json_object_get(node, "relu_lower_clip"), *high = json_object_get(node, "relu_upper_clip"),
                 *slope = json_object_get(node, "relu_lower_clip_slope");
    bool numbers = (!says(low) || json_is_number(low)) && (!says(high) || json_is_number(high)) && (!says(slope) || json_is_number(slope));
    double from = json_number_value(low), to = json_number_value(high), a = json_number_value(slope);
    bool bounded = says(high) && to < 3e38;
    if (!numbers || (a != 0 && (from != 0 || bounded)) || (from != 0 && !bounded)) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: RELU_FWD with these clips and slope has no counterpart here");
    }
    return kw_import_step(p,
                          bounded  ? KW_EPILOGUE_CLAMP
                          : a != 0 ? KW_EPILOGUE_LEAKY_RELU
                                   : KW_EPILOGUE_RELU,
                          KW_FP32, bounded ? from : a, bounded ? to : 0, err);
}

static kw_status take_pointwise(graph *g, const json_t *node, const json_t **value, kw_error *err) {
    static const struct {
        const char *mode;
        kw_epilogue_op op;
    } modes[] = {{"SIGMOID_FWD", KW_EPILOGUE_SIGMOID},
                 {"TANH_FWD", KW_EPILOGUE_TANH},
                 {"GELU_FWD", KW_EPILOGUE_GELU},
                 {"GELU_APPROX_TANH_FWD", KW_EPILOGUE_GELU_TANH},
                 {"SWISH_FWD", KW_EPILOGUE_SILU}};
    const json_t *inputs = json_object_get(node, "inputs"), *first = json_object_get(inputs, "IN_0"),
                 *second = json_object_get(inputs, "IN_1");
    const char *mode = text_of(node, "mode");
    bool adds = !strcmp(mode, "ADD"), pairs = adds || !strcmp(mode, "MUL"), swapped = pairs && is_reference(second, *value);
    if (strcmp(text_of(node, "tag"), "POINTWISE") || is_reference(first, *value) == swapped || json_object_get(inputs, "IN_2") ||
        (!pairs && says(second))) {
        return kw_fail(err, KW_ILLEGAL,
                       "cuDNN graph: node %.40s (%.40s) is not a pointwise one of what the node before it made and one tensor more at most",
                       text_of(node, "name"), text_of(node, "tag"));
    }
    *value = json_object_get(json_object_get(node, "outputs"), "OUT_0");
    if (pairs) {
        return take_graph_operand(g, adds, swapped ? first : second, err);
    }
    if (!strcmp(mode, "IDENTITY")) {
        return KW_OK;
    }
    if (!strcmp(mode, "RELU_FWD")) {
        return take_graph_relu(g->problem, node, err);
    }
    const json_t *beta = json_object_get(node, "swish_beta");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (!strcmp(mode, modes[i].mode) && (modes[i].op != KW_EPILOGUE_SILU || !says(beta) || json_number_value(beta) == 1)) {
            return kw_import_step(g->problem, modes[i].op, KW_FP32, 0, 0, err);
        }
    }
    return kw_fail(err, KW_ILLEGAL, "cuDNN graph: pointwise mode %.40s has no counterpart here", mode);
}

/* --- the graph --- */

/* The tensors of the first node; in place of its result that of the last one, which is not virtual. */
static kw_status read_first_tensors(graph *g, const struct graph_op *op, const json_t *node, const json_t *last, kw_error *err) {
    const char *const keys[] = {op->x, op->w, op->y};
    graph_tensor *const tensors[] = {&g->x, &g->w, &g->y};
    kw_status status = KW_OK;
    for (int i = 0; i < 3 && !status; i++) {
        bool made = tensors[i] == g->result;
        const json_t *outputs = json_object_get(last, "outputs"), *reference = json_object_get(outputs, last == node ? keys[i] : "OUT_0");
        status = read_graph_tensor(tensors[i], g, made ? reference : json_object_get(json_object_get(node, "inputs"), keys[i]), err);
    }
    const graph_tensor *one = g->result == &g->x ? &g->y : &g->x, *other = g->result == &g->w ? &g->y : &g->w;
    if (!status && one->dtype != other->dtype) {
        return kw_fail(err, KW_ILLEGAL, "cuDNN graph: %.40s and %.40s are of two types", one->name, other->name);
    }
    g->problem->dtype = one->dtype;
    return status;
}

static kw_status read_graph(graph *g, kw_error *err) {
    const json_t *nodes = json_object_get(g->root, "nodes"), *node = json_array_get(nodes, 0);
    size_t count = json_array_size(nodes);
    const struct graph_op *op;
    if (!count || !json_is_object(json_object_get(g->root, "tensors"))) {
        return kw_fail(err, KW_MALFORMED, "cuDNN graph: it has no nodes, or no tensors");
    }
    kw_status status = read_first_node(g, node, &op, err);
    status = status ? status : read_first_tensors(g, op, node, json_array_get(nodes, count - 1), err);
    if (status) {
        return status;
    }
    g->problem->op = op->op;
    const json_t *value = json_object_get(json_object_get(node, "outputs"), op->op == KW_CONV_BWD_DATA     ? op->x
                                                                            : op->op == KW_CONV_BWD_WEIGHT ? op->w
                                                                                                           : op->y);
    status = op->op == KW_GEMM ? make_graph_product(g, err) : make_graph_conv(g, node, err);
    if (!status) {
        kw_import_result_type(g->problem, g->result->dtype);
    }
    for (size_t i = 1; i < count && !status; i++) {
        status = take_pointwise(g, json_array_get(nodes, i), &value, err);
    }
    if (status) {
        return status;
    }
    if (op->op == KW_GEMM) {
        kw_pitches_normalize(g->problem);
    }
    status = kw_problem_check(g->problem, err);
    status = status || op->op == KW_GEMM ? status : check_graph_output(g, err);
    if (!status) {
        g->problem->filter_order = kw_filter_order_normal(g->problem);
    }
    return status;
}

kw_status kw_cudnn_graph_read(kw_problem *problem, kw_word text, kw_error *err) {
    graph g = {.problem = problem};
    memset(problem, 0, sizeof *problem);
    kw_status status = kw_json_read(&g.root, "cuDNN graph", text.at, text.size, err);
    status = status ? status : read_graph(&g, err);
    json_decref(g.root);
    return status;
}

/* --- where a graph stands --- */

enum { DEPTH = 32, GRAPH_MAX = 1 << 20 };

/* The text from a '{' to its '}'; nothing where it is not closed, is too deep or too long. So what is looked at twice stays little. */
static size_t object_size(const char *at, const char *end) {
    int depth = 0;
    bool quoted = false;
    for (const char *c = at; c < end && c - at < GRAPH_MAX; c++) {
        if (quoted && (unsigned char)*c < ' ') {
            return 0;
        }
        if (quoted) {
            quoted = *c != '"';
            c += *c == '\\' && c + 1 < end;
            continue;
        }
        quoted = *c == '"';
        depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
        if (depth > DEPTH) {
            return 0;
        }
        if (!depth) {
            return (size_t)(c + 1 - at);
        }
    }
    return 0;
}

kw_word kw_cudnn_graph_find(kw_word line, const char *end) {
    static const char key[] = "\"context\"";
    for (const char *at = line.at; (at = memchr(at, '{', (size_t)(line.at + line.size - at))); at++) {
        const char *next = at + 1;
        while (next < end && strchr(" \t\r\n", *next) && *next) {
            next++;
        }
        if ((size_t)(end - next) >= sizeof key - 1 && !memcmp(next, key, sizeof key - 1)) {
            return (kw_word){at, object_size(at, end)};
        }
    }
    return (kw_word){line.at, 0};
}

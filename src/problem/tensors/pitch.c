/* pitch.c: see pitch.h. */
#include "problem/tensors/pitch.h"

#include "base/math.h"
#include "problem/view.h"

#include <inttypes.h>

const char *const kw_pitch_words[KW_TENSOR_COUNT][2] = {{"lda", "stridea"}, {"ldb", "strideb"}, {"ldc", "stridec"}};

/* Sizes come from outside and may be any: what 63 bits do not hold stays the largest, which kw_pitches_check refuses. */
static int64_t saturated(int64_t a, int64_t b) {
    bool good = true;
    int64_t product = kw_mul(a, b, &good);
    return good ? product : INT64_MAX;
}

static kw_matrix dense_matrix(const kw_problem *problem, kw_tensor tensor) {
    const kw_gemm_dims *d = &problem->gemm;
    bool columns = (tensor == KW_X && (problem->layout == KW_CRR || problem->layout == KW_CCR)) ||
                   (tensor == KW_W && (problem->layout == KW_RCR || problem->layout == KW_CCR));
    int64_t rows = tensor == KW_W ? d->k : d->m, cols = tensor == KW_X ? d->k : d->n;
    int64_t batch = tensor == KW_W && d->groups ? d->groups : d->batch;
    kw_matrix m = {.batch = batch, .lines = columns ? cols : rows, .length = columns ? rows : cols, .columns = columns};
    m.line_step = m.length;
    m.batch_step = saturated(m.length, m.lines);
    return m;
}

kw_matrix kw_problem_matrix(const kw_problem *problem, kw_tensor tensor) {
    kw_matrix m = dense_matrix(problem, tensor);
    const int64_t *pitch = problem->pitch[tensor];
    if (pitch[0]) {
        m.line_step = pitch[0];
        m.batch_step = saturated(m.line_step, m.lines);
    }
    if (pitch[1]) {
        m.batch_step = pitch[1] == KW_BROADCAST ? 0 : pitch[1];
    }
    return m;
}

/* --- images --- */

const char *kw_pitch_letters(kw_layout layout) {
    return layout == KW_CHANNELS_FIRST ? "hdcn" : "whdn";
}

static kw_image dense_image(const kw_problem *problem, kw_tensor tensor) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], channels = tensor == KW_X ? d->c : d->k;
    kw_problem_output(out, problem);
    const int64_t *extent = tensor == KW_X ? d->in : out;
    return problem->layout == KW_CHANNELS_FIRST ? (kw_image){extent[2], {extent[1], extent[0], channels, d->n}, {0}}
                                                : (kw_image){channels, {extent[2], extent[1], extent[0], d->n}, {0}};
}

kw_image kw_problem_image(const kw_problem *problem, kw_tensor tensor) {
    kw_image image = dense_image(problem, tensor);
    int64_t step = image.length;
    for (int i = 0; i < KW_PITCHES; i++) {
        image.step[i] = problem->pitch[tensor][i] ? problem->pitch[tensor][i] : step;
        step = saturated(image.step[i], image.extent[i]);
    }
    return image;
}

void kw_problem_steps(int64_t step[KW_STEP_COUNT], const kw_problem *problem, kw_tensor tensor) {
    bool first = problem->layout == KW_CHANNELS_FIRST;
    kw_image image = kw_problem_image(problem, tensor);
    step[KW_STEP_IMAGE] = image.step[3];
    step[KW_STEP_PLANE] = image.step[first ? 1 : 2];
    step[KW_STEP_ROW] = image.step[first ? 0 : 1];
    step[KW_STEP_COLUMN] = first ? 1 : image.step[0];
    step[KW_STEP_CHANNEL] = first ? image.step[2] : 1;
}

bool kw_problem_pixels_are_even(const kw_problem *problem, kw_tensor tensor) {
    kw_image image = kw_problem_image(problem, tensor);
    bool first = problem->layout == KW_CHANNELS_FIRST, even = true;
    int64_t step = first ? image.length : saturated(image.step[0], image.extent[0]);
    for (int i = first ? 0 : 1; i < (first ? 2 : KW_PITCHES); i++) {
        even &= image.extent[i] == 1 || image.step[i] == step;
        step = saturated(step, image.extent[i]);
    }
    return even;
}

static void normalize_image(kw_problem *problem, kw_tensor tensor) {
    kw_image image = dense_image(problem, tensor);
    int64_t step = image.length, *pitch = problem->pitch[tensor];
    for (int i = 0; i < KW_PITCHES; i++) {
        if (pitch[i] == step || image.extent[i] == 1) {
            pitch[i] = 0; /* of one column, row, ... no distance means anything */
        }
        step = saturated(pitch[i] ? pitch[i] : step, image.extent[i]);
    }
}

/* Axes of an image from the smallest step to the largest; those of one position last. */
static void order_axes(int order[KW_PITCHES], const kw_image *image) {
    for (int i = 0; i < KW_PITCHES; i++) {
        order[i] = i;
    }
    for (int i = 1; i < KW_PITCHES; i++) {
        for (int at = i; at > 0; at--) {
            int axis = order[at], inner = order[at - 1];
            if (image->extent[axis] > 1 && (image->extent[inner] == 1 || image->step[axis] < image->step[inner])) {
                order[at] = inner;
                order[at - 1] = axis;
            }
        }
    }
}

/* No two elements share a place: each axis steps over all that those with smaller steps span. */
static kw_status check_image(const kw_problem *problem, kw_tensor tensor, kw_error *err) {
    const int64_t *pitch = problem->pitch[tensor], most = INT64_MAX / 64;
    char letter = "xwy"[tensor];
    kw_image image = kw_problem_image(problem, tensor);
    int order[KW_PITCHES];
    order_axes(order, &image);
    int64_t span = image.length;
    for (int i = 0; i < KW_PITCHES; i++) {
        int axis = order[i];
        bool good = true;
        char name = kw_pitch_letters(problem->layout)[axis];
        if (pitch[axis] < 0) {
            return kw_fail(err, KW_ILLEGAL, "problem: ld%c%c=%" PRId64 " is not possible; use a distance in elements", letter, name,
                           pitch[axis]);
        }
        int64_t end = kw_mul(image.extent[axis], image.step[axis], &good);
        if (!good || end > most || image.step[axis] > most) {
            return kw_fail(err, KW_ILLEGAL, "problem: ld%c%c would make the tensor's bytes more than 63 bits hold", letter, name);
        }
        if (image.extent[axis] > 1 && image.step[axis] < span) {
            return kw_fail(err, KW_ILLEGAL, "problem: ld%c%c=%" PRId64 " makes elements of %c overlap; use at least %" PRId64, letter, name,
                           image.step[axis], letter, span);
        }
        span += (image.extent[axis] - 1) * image.step[axis];
    }
    return KW_OK;
}

static kw_status check_images(const kw_problem *problem, kw_error *err) {
    for (int i = 0; i < KW_PITCHES; i++) {
        if (problem->pitch[KW_W][i]) {
            return kw_fail(err, KW_ILLEGAL, "problem: the filter of a convolution is dense; leave pitch[1] 0");
        }
    }
    kw_status status = check_image(problem, KW_X, err);
    return status ? status : check_image(problem, KW_Y, err);
}

static int64_t image_place(const kw_image *image, int64_t index) {
    int64_t place = index % image->length;
    index /= image->length;
    for (int i = 0; i < KW_PITCHES; i++) {
        place += index % image->extent[i] * image->step[i];
        index /= image->extent[i];
    }
    return place;
}

static int64_t image_index(const kw_image *image, int64_t place) {
    int64_t at[KW_PITCHES], index = 0;
    int order[KW_PITCHES];
    order_axes(order, image);
    for (int i = KW_PITCHES - 1; i >= 0; i--) {
        int axis = order[i];
        at[axis] = image->extent[axis] == 1 ? 0 : kw_min(place / image->step[axis], image->extent[axis] - 1);
        place -= at[axis] * image->step[axis];
    }
    if (place >= image->length) {
        return -1;
    }
    for (int i = KW_PITCHES - 1; i >= 0; i--) {
        index = index * image->extent[i] + at[i];
    }
    return index * image->length + place;
}

/* --- both --- */

void kw_pitches_normalize(kw_problem *problem) {
    if (problem->op != KW_GEMM) {
        normalize_image(problem, KW_X);
        normalize_image(problem, KW_Y);
        return;
    }
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_matrix m = dense_matrix(problem, (kw_tensor)t);
        int64_t *pitch = problem->pitch[t];
        if (pitch[0] == m.line_step || m.lines == 1) {
            pitch[0] = 0; /* of one line no distance means anything */
        }
        if (pitch[1] == saturated(pitch[0] ? pitch[0] : m.line_step, m.lines) || m.batch == 1) {
            pitch[1] = 0;
        }
    }
}

static kw_status check_matrix(const kw_problem *problem, kw_tensor tensor, kw_error *err) {
    const int64_t *pitch = problem->pitch[tensor], most = INT64_MAX / 64;
    const char *const *words = kw_pitch_words[tensor];
    kw_matrix m = kw_problem_matrix(problem, tensor);
    if (pitch[2] || pitch[3]) {
        return kw_fail(err, KW_ILLEGAL, "problem: pitch[%d] of a product has two numbers; leave the others 0", (int)tensor);
    }
    if (pitch[0] && pitch[0] < m.length) {
        return kw_fail(err, KW_ILLEGAL,
                       "problem: %s=%" PRId64 " is below the %" PRId64 " elements of a line of the matrix; use at least these", words[0],
                       pitch[0], m.length);
    }
    if (pitch[1] < KW_BROADCAST || (pitch[1] == KW_BROADCAST && tensor == KW_Y)) {
        return kw_fail(err, KW_ILLEGAL, "problem: %s=%" PRId64 " is not possible; %s", words[1], pitch[1] == KW_BROADCAST ? 0 : pitch[1],
                       tensor == KW_Y ? "each result needs a place of its own" : "use 0 for one matrix for all, or a distance");
    }
    bool good = true;
    int64_t lines = kw_mul(m.lines, m.line_step, &good), batches = kw_mul(m.batch, m.batch_step, &good);
    if (!good || lines > most || batches > most || m.line_step > most || m.batch_step > most) {
        return kw_fail(err, KW_ILLEGAL, "problem: %s or %s would make the tensor's bytes more than 63 bits hold", words[0], words[1]);
    }
    int64_t line_end = (m.lines - 1) * m.line_step + m.length, batch_end = (m.batch - 1) * m.batch_step + m.length;
    if (tensor == KW_Y && m.batch > 1 && m.batch_step < line_end && (m.batch_step < m.length || m.line_step < batch_end)) {
        return kw_fail(err, KW_ILLEGAL,
                       "problem: stridec=%" PRId64 " makes results of the batch overlap; use at least %" PRId64
                       ", or ldc at least %" PRId64,
                       m.batch_step, line_end, batch_end);
    }
    return KW_OK;
}

kw_status kw_pitches_check(const kw_problem *problem, kw_error *err) {
    if (kw_problem_is_dense(problem)) {
        return KW_OK;
    }
    if (problem->op != KW_GEMM) {
        return check_images(problem, err);
    }
    kw_status status = KW_OK;
    for (int t = 0; t < KW_TENSOR_COUNT && !status; t++) {
        status = check_matrix(problem, (kw_tensor)t, err);
    }
    return status;
}

int64_t kw_problem_place(const kw_problem *problem, kw_tensor tensor, int64_t index) {
    if (problem->op != KW_GEMM) {
        if (tensor == KW_W || kw_problem_is_dense(problem)) {
            return index;
        }
        kw_image image = kw_problem_image(problem, tensor);
        return image_place(&image, index);
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    return index / (m.lines * m.length) * m.batch_step + index / m.length % m.lines * m.line_step + index % m.length;
}

/* The larger of two steps is taken apart first; a result's elements never overlap. */
int64_t kw_problem_index(const kw_problem *problem, kw_tensor tensor, int64_t place) {
    if (problem->op != KW_GEMM) {
        if (tensor == KW_W || kw_problem_is_dense(problem)) {
            return place;
        }
        kw_image image = kw_problem_image(problem, tensor);
        return image_index(&image, place);
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    bool inner_batch = m.batch > 1 && m.batch_step && m.batch_step < m.line_step;
    int64_t batch = 0, line = 0;
    if (inner_batch) {
        line = kw_min(place / m.line_step, m.lines - 1);
        place -= line * m.line_step;
        batch = place / m.batch_step;
        place -= batch * m.batch_step;
    } else {
        batch = m.batch_step ? kw_min(place / m.batch_step, m.batch - 1) : 0;
        place -= batch * m.batch_step;
        line = place / m.line_step;
        place -= line * m.line_step;
    }
    bool there = batch < m.batch && line < m.lines && place < m.length;
    return there ? (batch * m.lines + line) * m.length + place : -1;
}

/* pitch.c: see pitch.h. */
#include "problem/pitch.h"

#include "base/math.h"

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

void kw_pitches_normalize(kw_problem *problem) {
    for (int t = 0; t < KW_TENSOR_COUNT && problem->op == KW_GEMM; t++) {
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
        return kw_fail(err, KW_ILLEGAL, "problem: tensors of a convolution are dense so far; leave pitch 0");
    }
    kw_status status = KW_OK;
    for (int t = 0; t < KW_TENSOR_COUNT && !status; t++) {
        status = check_matrix(problem, (kw_tensor)t, err);
    }
    return status;
}

int64_t kw_problem_place(const kw_problem *problem, kw_tensor tensor, int64_t index) {
    if (problem->op != KW_GEMM) {
        return index;
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    return index / (m.lines * m.length) * m.batch_step + index / m.length % m.lines * m.line_step + index % m.length;
}

/* The larger of two steps is taken apart first; a result's elements never overlap. */
int64_t kw_problem_index(const kw_problem *problem, kw_tensor tensor, int64_t place) {
    if (problem->op != KW_GEMM) {
        return place;
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

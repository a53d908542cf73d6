/* packed.c: weights in a kernel's own order, in memory of the caller's: a header, then the weights. The header is text, padded with zeros to
 * HEADER bytes, a line each:
 *
 *     kernelwright packed weights 1
 *     kernel   the config's text
 *     source   hash of the kernel's text: another release may want another order. - of a compiled-in kernel
 *     weights  the problem with one image, or one row, and without epilogue
 *     order    which order the kernel packs them in, where that is decided by how many images or rows there are, or by pitches
 *     bytes    of the whole
 *     digest   of the weights, made as hash_weights says
 *
 * All but the digest is a function of the plan, so whether weights are for a plan is a comparison of texts, line by line; a line that differs
 * names the reason. Only kw_packed_check reads the weights: the rest costs a page, also of a mapped file. On a GPU all of it lies in device
 * memory, and the header is copied when it is made and when it is looked at. */
#include "dispatch/plan.h"
#include "families/source.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 4096, PIECE = 1 << 20 };
_Static_assert(HEADER >= 2 * KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX + 256, "the header has room for its lines");
_Static_assert(HEADER % KW_WORKSPACE_ALIGN == 0, "the weights are aligned as the whole is");

static const char magic[] = "kernelwright packed weights 1\n";

/* --- the header ----------------------------------------------------------------------------------------------------------- */

/* What of the problem decides the weights and their order. */
static void print_weights(char text[KW_PROBLEM_TEXT_MAX], const kw_problem *problem) {
    kw_problem one;
    memset(&one, 0, sizeof one);
    one.op = problem->op, one.dtype = problem->dtype, one.layout = problem->layout, one.ndim = problem->ndim;
    if (problem->op == KW_GEMM) {
        one.gemm = problem->gemm;
        one.gemm.m = 1;
    } else {
        one.conv = problem->conv;
        one.filter_order = problem->filter_order;
        one.conv.n = 1;
    }
    kw_problem_print(text, KW_PROBLEM_TEXT_MAX, &one);
}

static kw_status hash_source(char text[KW_HASH_TEXT], const kw_plan *plan, kw_error *err) {
    const kw_config *config = &plan->impl->loaded->config;
    const kw_target *target = plan->impl->context->target;
    kw_code code = {0};
    kw_text source = {0};
    snprintf(text, KW_HASH_TEXT, "-");
    if (!config->family->emit) {
        return KW_OK;
    }
    kw_status status = config->family->kind == KW_KIND_GPU ? kw_code_for(&code, target->backend, target->arch, err) : KW_OK;
    status = status ? status : kw_source_make(&source, config, code, err);
    status = status || !source.failed ? status : kw_fail_memory(err, "a kernel's source");
    if (!status) {
        kw_hash_text(text, source.data, source.size);
    }
    kw_text_drop(&source);
    return status;
}

/* The header but for its digest; the rest of it is zero. */
static kw_status print_header(char header[HEADER], const kw_plan *plan, kw_error *err) {
    char source[KW_HASH_TEXT], weights[KW_PROBLEM_TEXT_MAX];
    kw_status status = hash_source(source, plan, err);
    print_weights(weights, &plan->impl->key.problem);
    memset(header, 0, HEADER);
    snprintf(header, HEADER, "%skernel %s\nsource %s\nweights %s\norder %" PRId64 "\nbytes %" PRId64 "\n", magic, plan->impl->loaded->text,
             source, weights, plan->impl->launch.packed_order, kw_packed_bytes(plan));
    return status;
}

/* The value of a line, terminated; "" where there is none. */
static const char *line_of(char value[HEADER], const char *header, const char *name) {
    size_t size = strlen(name);
    const char *at = header, *end;
    *value = 0;
    while (at && (strncmp(at, name, size) != 0 || at[size] != ' ')) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    end = at ? strchr(at, '\n') : NULL;
    if (end) {
        at += size + 1;
        memcpy(value, at, (size_t)(end - at));
        value[end - at] = 0;
    }
    return value;
}

/* Brings the header of what should be packed weights here, terminated: those that are none are refused. */
static kw_status read_header(char header[HEADER + 1], kw_context *context, const void *packed, int64_t bytes, kw_error *err) {
    char value[HEADER];
    if (!packed || ((uintptr_t)packed & (KW_WORKSPACE_ALIGN - 1))) {
        return kw_fail(err, KW_ILLEGAL, "packed weights at %p: they are at a multiple of %d bytes", packed, KW_WORKSPACE_ALIGN);
    }
    if (bytes < HEADER) {
        return kw_fail(err, KW_MALFORMED,
                       "%" PRId64 " bytes are no packed weights, which begin with a header of %d; kw_packed_make makes them", bytes,
                       HEADER);
    }
    kw_status status = context->backend->copy(context->device, header, packed, HEADER, err);
    header[HEADER] = 0;
    if (!status && strncmp(header, magic, sizeof magic - 1) != 0) {
        return kw_fail(err, KW_MALFORMED, "what is at %p is no packed weights of this release: it does not begin with \"%.*s\"", packed,
                       (int)sizeof magic - 2, magic);
    }
    if (!status && strtoll(line_of(value, header, "bytes"), NULL, 10) != bytes) {
        return kw_fail(err, KW_MALFORMED, "packed weights of %.20s bytes are not whole in %" PRId64 "; hand in all of them", value, bytes);
    }
    return status;
}

/* --- the digest ----------------------------------------------------------------------------------------------------------- */

/* Hash of each piece and the one before, so that device memory comes here a piece at a time. */
static kw_status hash_weights(char digest[KW_HASH_TEXT], kw_context *context, const void *weights, int64_t bytes, kw_error *err) {
    char *piece = malloc(PIECE);
    uint64_t chain[2] = {0, 0};
    kw_status status = piece ? KW_OK : kw_fail_memory(err, "a piece of packed weights");
    for (int64_t at = 0; at < bytes && !status; at += PIECE) {
        size_t size = (size_t)(bytes - at < PIECE ? bytes - at : PIECE);
        status = context->backend->copy(context->device, piece, (const char *)weights + at, size, err);
        chain[1] = status ? 0 : kw_hash64(piece, size);
        chain[0] = kw_hash64(chain, sizeof chain);
    }
    snprintf(digest, KW_HASH_TEXT, "%016" PRIx64, chain[0]);
    free(piece);
    return status;
}

/* --- for callers ---------------------------------------------------------------------------------------------------------- */

int64_t kw_packed_bytes(const kw_plan *plan) {
    return kw_plan_wants_packing(plan) ? HEADER + plan->impl->launch.packed_bytes : 0;
}

kw_status kw_packed_make(void *packed, const kw_plan *plan, const void *w, kw_error *err) {
    char header[HEADER], digest[KW_HASH_TEXT];
    if (!packed || !plan || !w) {
        return kw_fail(err, KW_ILLEGAL, "kw_packed_make: %s is NULL", !packed ? "packed" : !plan ? "plan" : "w");
    }
    kw_context *context = plan->impl->context;
    if (!plan->impl->launch.packed_bytes) {
        return kw_fail(err, KW_NO_KERNEL, "%.300s reads weights as they are, so there is nothing to pack; run the plan with w",
                       plan->impl->loaded->text);
    }
    if ((uintptr_t)packed & (KW_WORKSPACE_ALIGN - 1)) {
        return kw_fail(err, KW_ILLEGAL, "packed weights at %p: they want a multiple of %d bytes", packed, KW_WORKSPACE_ALIGN);
    }
    kw_status status = kw_context_check(context, err);
    status = status ? status : kw_plan_check_weights(plan, w, err);
    status = status ? status : print_header(header, plan, err);
    status = status ? status : kw_plan_pack_into(plan, (char *)packed + HEADER, w, err);
    status = status ? status : hash_weights(digest, context, (char *)packed + HEADER, plan->impl->launch.packed_bytes, err);
    if (!status) {
        size_t used = strlen(header);
        snprintf(header + used, HEADER - used, "digest %s\n", digest);
        status = context->backend->copy(context->device, packed, header, HEADER, err);
    }
    return status;
}

/* Which line of the header is not the plan's; KW_OK: none. */
static kw_status compare_headers(const char *found, const char *wanted, kw_error *err) {
    static const struct {
        const char *name, *way_out;
    } lines[] = {{"kernel", "pack them for this kernel, or make the plan from a registry with theirs (kw_packed_config)"},
                 {"weights", "pack this problem's"},
                 {"order", "the kernel packs them otherwise for so many rows or such a pitch; pack them by this plan"},
                 {"source", "another release's or architecture's text of the kernel; pack them again"},
                 {"bytes", "pack them again"}};
    char one[HEADER], other[HEADER];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strcmp(line_of(one, found, lines[i].name), line_of(other, wanted, lines[i].name)) != 0) {
            return kw_fail(err, KW_NO_KERNEL, "packed weights are of %s %.150s, and the plan's of %.150s: %s", lines[i].name, one, other,
                           lines[i].way_out);
        }
    }
    return KW_OK;
}

kw_status kw_plan_use_packed(kw_plan *plan, const void *packed, int64_t bytes, kw_error *err) {
    char found[HEADER + 1], wanted[HEADER];
    if (!plan) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_use_packed: plan is NULL");
    }
    if (!packed) {
        kw_plan_set_packed(plan, NULL, false);
        return KW_OK;
    }
    kw_context *context = plan->impl->context;
    kw_status status = kw_context_check(context, err);
    status = status ? status : read_header(found, context, packed, bytes, err);
    status = status ? status : print_header(wanted, plan, err);
    status = status ? status : compare_headers(found, wanted, err);
    if (!status) {
        kw_plan_set_packed(plan, (char *)(uintptr_t)packed + HEADER, false);
    }
    return status;
}

kw_status kw_packed_check(kw_context *context, const void *packed, int64_t bytes, kw_error *err) {
    char header[HEADER + 1], value[HEADER], digest[KW_HASH_TEXT];
    if (!context) {
        return kw_fail(err, KW_ILLEGAL, "kw_packed_check: context is NULL");
    }
    kw_status status = kw_context_check(context, err);
    status = status ? status : read_header(header, context, packed, bytes, err);
    status = status ? status : hash_weights(digest, context, (const char *)packed + HEADER, bytes - HEADER, err);
    if (!status && strcmp(line_of(value, header, "digest"), digest) != 0) {
        return kw_fail(err, KW_MALFORMED, "packed weights are damaged: their digest is %s, not %.40s; pack them again", digest, value);
    }
    return status;
}

kw_status kw_packed_config(char config[KW_CONFIG_TEXT_MAX], kw_context *context, const void *packed, int64_t bytes, kw_error *err) {
    char header[HEADER + 1], value[HEADER];
    if (!config || !context) {
        return kw_fail(err, KW_ILLEGAL, "kw_packed_config: %s is NULL", config ? "context" : "config");
    }
    *config = 0;
    kw_status status = kw_context_check(context, err);
    status = status ? status : read_header(header, context, packed, bytes, err);
    if (!status) {
        snprintf(config, KW_CONFIG_TEXT_MAX, "%s", line_of(value, header, "kernel"));
    }
    return status;
}

/* reverify.c: what was right once is verified again before it is trusted: after its kernel was made by another compiler, and after a long
 * time. One verification costs the reference result of the problem, which a race costs too, and no timing. */
#include "dispatch/choose/choose.h"

#include "measure/measure.h"

void kw_reverify(kw_choice *choice, const kw_request *request, bool *good, bool *renewed) {
    kw_context *context = request->context;
    kw_bench *bench = NULL;
    kw_record record = {0};
    kw_error why = {0};
    kw_status status = kw_bench_open(&bench, context->backend, context->device, &request->problem, 0, &why);
    status = status ? status : kw_bench_verify(bench, choice->loaded->kernel, &choice->loaded->config, &record, &why);
    *good = status || record.outcome == KW_GOOD;
    *renewed = !status && *good;
    if (status) {
        kw_text_addf(&choice->explanation, "  it was due to be verified again and could not be: %s\n", why.text);
        kw_log_line(&context->settings, "wisdom for %s could not be verified again: %s", request->text, why.text);
    } else if (*good) {
        kw_text_add(&choice->explanation, "  verified again now: its kernel is of another compiler than was measured, or it is long ago\n");
    } else {
        kw_text_addf(&choice->explanation, "  verified again now, and wrong: %s: %s\n", kw_outcome_name(record.outcome), record.detail);
        kw_log_line(&context->settings, "wisdom for %s was not used: verified again, %s is %s: %s", request->text, choice->loaded->text,
                    kw_outcome_name(record.outcome), record.detail);
    }
    kw_bench_close(&bench);
}

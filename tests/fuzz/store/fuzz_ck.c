/* fuzz_ck.c: any text as what CK Tile's benchmarks write, as a log, as a JSON file and as the name of a kernel: what comes out are rows that can be
 * looked at and configs whose published features are numbers. */
#include "fuzz/fuzz.h"
#include "predict/ck/ck_kernels.h"
#include "predict/ck/ck_rows.h"
#include "store/io/ck_results.h"
#include "store/io/plausible.h"

#include <stdio.h>

static kw_status take(void *user, const kw_row *row, const char *where, kw_error *err) {
    kw_row settled;
    kw_config config;
    (void)user;
    (void)err;
    require(*where && memchr(row->record.config, 0, sizeof row->record.config));
    if (!kw_row_normalize(&settled, row, NULL)) {
        (void)kw_row_plausible(&settled, NULL);
    }
    (void)kw_ck_config_read(&config, row->record.config, NULL);
    return KW_OK;
}

static void refuse(void *user, const char *where, const kw_error *why) {
    (void)user;
    require(*where && why->status && *why->text);
}

static void read_name(const char *name) {
    kw_config config;
    kw_problem problem;
    kw_error err = {0};
    double row[KW_CK_FEATURES_MAX];
    char text[KW_CONFIG_TEXT_MAX];
    kw_status status = kw_ck_config_read(&config, name, &err);
    require(status == err.status && (!status || *err.text));
    if (status) {
        return;
    }
    require(kw_ck_describes(&config) && kw_config_print(text, sizeof text, &config) < sizeof text);
    snprintf(text, sizeof text, "%s %s %s", kw_op_name(config.op), kw_dtype_name(config.dtype),
             config.op == KW_GEMM ? "rcr m7 n9 k11" : "nhwgc n1 c8 k8 i9x9 f3x3");
    require(!kw_problem_parse(&problem, text, NULL));
    kw_ck_row(row, &config, &problem, kw_ck_features_hardware_of("gfx942"));
    for (size_t i = 0; i < kw_ck_table(config.op)->count; i++) {
        require(row[i] == row[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const kw_row defaults = {.run = "r", .target = "t"};
    const kw_ck_sink sink = {NULL, take, refuse};
    kw_word text = {(const char *)data, size};
    char name[512];
    (void)kw_ck_results_sniff(text);
    (void)kw_ck_results_read(&sink, KW_CK_LOG, text, &defaults, NULL);
    (void)kw_ck_results_read(&sink, KW_CK_JSON, text, &defaults, NULL);
    if (size < sizeof name && !memchr(data, 0, size)) {
        memcpy(name, data, size);
        name[size] = 0;
        read_name(name);
    }
    return 0;
}

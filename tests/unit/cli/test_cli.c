/* test_cli.c: answers of the command line from the outside: on standard output alone, and as JSON where asked. */

#include "base/container/arena.h"
#include "base/text.h"
#include "cli_outcome.h"
#include "support/rows/stumps.h"

#include <jansson.h>
#include <kernelwright.h>

static void a_problem_runs_without_compiler_cache_or_wisdom(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("run", "--check", "--cc", "", "--cache-dir", "", "--wisdom", "", "conv_fwd fp32 n1 c5 k7 i9x11 f3x3 p1"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "conv.reference"));
    assert_non_null(strstr(result->out, "no compiler (the options ask for none)"));
    assert_non_null(strstr(result->out, "verified"));
    free(result);
}

static void several_problems_run_in_one_call(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("run", "--together", "--cc", "", "gemm fp32 m3 n4 k5", "conv_fwd fp32 n1 c5 k7 i9x11 f3x3 p1"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "gemm.reference"));
    assert_non_null(strstr(result->out, "in 2 calls"));
    run(result, WORDS("run", "--together", "--cc", "", "--json", "gemm fp32 m3 n4 k5"), NULL);
    json_t *json = json_loads(result->out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "plans")), 1);
    assert_true(json_real_value(json_object_get(json, "together_ns")) > 0);
    json_decref(json);
    run(result, WORDS("explain", "--together", "--cc", "", "gemm fp32 m3 n4 k5"), NULL);
    assert_non_null(strstr(result->out, "alone in its list"));
    run(result, WORDS("run", "--together", "--check", "gemm fp32 m3 n4 k5"), NULL);
    assert_int_equal(result->code, 2);
    free(result);
}

/* On a GPU that is played: too large to gain, alone of its kind, and of a kind that no such kernel serves; where there is no compiler, no GPU. */
static void why_products_stay_apart_is_told(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result,
        WORDS("explain", "--together", "--device", "emu:sm_90", "gemm bf16 m4096 n4096 k4096", "gemm fp8 m33 n9 k64",
              "gemm bf16 g4 m64 n32 k32"),
        NULL);
    if (result->code == 0) {
        assert_non_null(strstr(result->out, "beside 2 more of a list it has a launch of its own: its own launch takes"));
        assert_non_null(strstr(result->out, "no other product that does not join already has its type"));
        assert_non_null(strstr(result->out, "no kernel that joins serves it"));
    }
    free(result);
}

/* Before anything is compiled; the numbers are those of the device's allocator. */
static void what_no_memory_holds_is_refused_first(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("run", "gemm fp32 m2000000 n2000000 k64"), NULL);
    assert_int_equal(result->code, 3);
    assert_non_null(strstr(result->err, "16001024000000 bytes wanted"));
    assert_null(strstr(result->err, "build"));
    run(result, WORDS("check", "gemm fp32 m2000000 n2000000 k64"), NULL);
    assert_int_equal(result->code, 3);
    assert_non_null(strstr(result->err, "16001024000000 bytes wanted"));
    free(result);
}

static void building_stops_at_its_limit(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("build", "--set", "default", "--filter", "c.family == 'gemm.tiled'", "--limit", "2", "--json", "--quiet"), NULL);
    if (result->code == 0) {
        json_t *json = json_loads(result->out, 0, NULL);
        assert_non_null(json);
        assert_int_equal(json_integer_value(json_object_get(json, "built")) + json_integer_value(json_object_get(json, "cached")), 2);
        json_decref(json);
    }
    free(result);
}

/* --- prediction --------------------------------------------------------------------------------------------------------- */

#define SERVED "gemm fp32 rcr m128 n256 k256"
#define SERVED_TEXT "gemm fp32 rcr b1 m128 n256 k256\n"

/* A model that thinks the opposite of the estimate, by so much that half of it decides: what is estimated to be fast takes a millisecond. */
static const char *save_contrary_model(void) {
    static const char *const targets[] = {"cpu:none model=x units=1 lanes=1 registers=1 l1=1 l2=1 l3=1", NULL};
    static const char *const served[] = {"gemm fp32", NULL}, *const families[] = {NULL};
    static const stump trees[] = {{"tile_m", 4.5, 13.8, 9.2, false}, {NULL, 0, 0, 0, false}};
    static char path[64];
    snprintf(path, sizeof path, "%s/contrary", folder);
    stumps_save(&(stumps){"time", targets, served, families, trees}, path);
    return path;
}

/* The config in a row of predict: what follows its four columns. */
static const char *config_of(const char *out, int row) {
    static char config[KW_CONFIG_TEXT_MAX];
    for (int i = 0; i < row; i++) {
        out = strchr(out, '\n');
        assert_non_null(out);
        out++;
    }
    const char *at = strstr(out, "gemm.");
    assert_true(at && at < out + strcspn(out, "\n"));
    snprintf(config, sizeof config, "%.*s", (int)strcspn(at, "\n"), at);
    return config;
}

static void predict_lists_by_rank_and_select_prints_the_first(void **state) {
    static const char by_estimate[] = SERVED_TEXT "by the analytic estimate: no model serves it\n"
                                                  " rank  predicted   estimate   measured\n    1          - ";
    static const char by_model[] =
        SERVED_TEXT "by model contrary, trained on another architecture\n"
                    "  model contrary was trained on another architecture of this kind: half of what it says against the estimate counts\n"
                    " rank  predicted   estimate   measured\n    1 ";
    static const char as_json[] = "{\"schema\": 1, \"problem\": \"gemm fp32 rcr b1 m128 n256 k256\", \"target\": \"cpu:";
    (void)state;
    outcome *result = malloc(sizeof *result);
    const char *model = save_contrary_model();
    run(result, WORDS("predict", "--threads", "1", "--model", "", SERVED), NULL);
    if (result->code == 1) { /* a processor without generated kernels */
        assert_non_null(strstr(result->err, "no kernel but the compiled-in one"));
        free(result);
        return;
    }
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, by_estimate, sizeof by_estimate - 1), 0);
    run(result, WORDS("predict", "--threads", "1", "--model", model, "--limit", "3", SERVED), NULL);
    assert_int_equal(lines(result->out), 7);
    assert_int_equal(strncmp(result->out, by_model, sizeof by_model - 1), 0);
    char *first = strdup(config_of(result->out, 4));
    run(result, WORDS("select", "--threads", "1", "--model", model, "--wisdom", "", SERVED), NULL);
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, first, strlen(first)), 0);
    assert_non_null(strstr(result->out, "\n  by model contrary ("));
    assert_null(strstr(result->out, "refused"));
    run(result, WORDS("select", "--json", "--threads", "1", "--model", "/nonexistent/m", "--wisdom", "", SERVED), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "/nonexistent/m"));
    run(result, WORDS("select", "--json", "--threads", "1", "--model", "", "--wisdom", "", SERVED), NULL);
    assert_int_equal(lines(result->out), 1);
    assert_int_equal(strncmp(result->out, as_json, sizeof as_json - 1), 0);
    free(first);
    free(result);
}

/* Tuning leaves wisdom, a sweep leaves a store; both show up beside what is expected. */
static void measured_times_stand_beside_predicted_ones(void **state) {
    char store[64];
    (void)state;
    outcome *result = malloc(sizeof *result);
    snprintf(store, sizeof store, "%s/times.db", folder);
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", SERVED), NULL);
    if (result->code == 1) {
        free(result);
        return;
    }
    char *config = strdup(config_of(result->out, 3));
    assert_non_null(strstr(result->out, "-  gemm."));
    run(result, WORDS("sweep", "--threads", "1", "--config", config, "--out", store, "--quiet", SERVED), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", "--store", store, SERVED), NULL);
    assert_int_equal(result->code, 0);
    assert_null(strstr(result->out, "-  gemm."));
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", "--json", "--store", store, SERVED), NULL);
    assert_non_null(strstr(result->out, "\"from\": \"store\""));
    assert_non_null(strstr(result->out, "\"predicted_ns\": null"));
    free(config);
    free(result);
}

/* --- JSON --- */

static void what_is_printed_as_json_is_json_and_says_its_schema(void **state) {
    (void)state;
    static const char *const commands[][12] = {
        {"version"},
        {"show"},
        {"show", "conv.direct"},
        {"show", "--source", "--arch", "sm_90", "gemm.reference_gpu gemm fp16"},
        {"show", "--why-not", "gemm.reference_gpu gemm fp16", "--arch", "gfx942"},
        {"show", "gemm.reference gemm fp32", "--why-not", SERVED},
        {"explain", "--threads", "1", "--model", "", SERVED},
        {"doctor"},
        {"cache"},
        {"wisdom"},
        {"count", "--set", "tiny"},
        {"problems"},
        {"problems", SERVED},
        {"select", "--threads", "1", "--model", "", SERVED},
        {"run", "--threads", "1", "--mode", "predict", "--model", "", SERVED},
        {"run", "--check", "--threads", "1", "--mode", "predict", "--model", "", SERVED},
        {"check", "--config", "gemm.reference gemm fp32", SERVED},
        {"predict", "--threads", "1", "--model", "", SERVED},
        {"search", "--budget", "20", SERVED},
        {"build", "--set", "tiny", "--filter", "c.family == 'gemm.reference'"},
    };
    outcome *result = malloc(sizeof *result);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *words[14] = {"kwright"};
        size_t count = 1;
        for (; commands[i][count - 1]; count++) {
            words[count] = commands[i][count - 1];
        }
        words[count] = "--json";
        run(result, words, NULL);
        char *save = NULL;
        bool any = false;
        for (char *line = strtok_r(result->out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
            if (!json_is_object(json) || json_integer_value(json_object_get(json, "schema")) != 1) {
                fail_msg("%s: not JSON with a schema: %s", words[1], line);
            }
            json_decref(json);
            any = true;
        }
        if (!any) {
            fail_msg("%s --json: exit code %d: %s", words[1], result->code, result->err);
        }
    }
    free(result);
}

/* --- GPUs that are not here --- */

static void objects_are_built_without_a_device_and_come_from_the_cache_the_second_time(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    char objects[64], cache[64], catalog[96], text[4096];
    snprintf(objects, sizeof objects, "%s/objects", folder);
    snprintf(cache, sizeof cache, "%s/objects-cache", folder);
    snprintf(catalog, sizeof catalog, "%s/catalog.txt", objects);
    const char *filter = "c.family == 'gemm.reference_gpu' and (c.dtype == 'fp32' or c.dtype == 'bf16')";
    for (int round = 0; round < 2; round++) {
        run(result,
            WORDS("build", "--set", "tiny", "--arch", "gfx942", "--device", "emu", "--filter", filter, "--out", objects, "--cache-dir",
                  cache, "--json"),
            NULL);
        if (result->code ||
            !strstr(result->out, round ? "\"built\": 0, \"cached\": 2, \"failed\": 0" : "\"built\": 2, \"cached\": 0, \"failed\": 0")) {
            fail_msg("round %d: exit %d: %s%s", round, result->code, result->out, result->err);
        }
    }
    slurp(text, sizeof text, catalog);
    assert_int_equal(lines(text), 3);
    assert_non_null(strstr(text, "\ngemm.reference_gpu gemm fp32 # file=gemm.reference_gpu-gemm-fp32-"));
    run(result, WORDS("coverage", catalog, "--set", "tiny", "--arch", "gfx942"), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("coverage", catalog, "--set", "tiny"), NULL); /* the architecture of this machine */
    assert_int_equal(result->code, 1);
    run(result, WORDS("coverage", catalog, "--set", "tiny", "--arch", "x86-64-v3"), NULL);
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "missing: gemm.reference_gpu gemm fp32 (the set does not have it)"));
    run(result, WORDS("build", "--set", "tiny", "--out", objects), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "--arch"));
    free(result);
}

static void the_rule_that_refuses_a_config_is_named(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("list", "--set", "tiny", "--arch", "gfx942", "--filter", "c.family == 'conv.igemm'", "--limit", "1"), NULL);
    assert_int_equal(result->code, 0);
    char config[1024];
    snprintf(config, sizeof config, "%.*s", (int)strcspn(result->out, "\n"), result->out);
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx942"), NULL);
    assert_string_equal(result->out, "no rule refuses it on gfx942\n");
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx1100"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "refused: conv.igemm on gfx1100: rule arch_waves: "));
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx9999"), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "known: generic x86-64-v3"));
    run(result, WORDS("show", "--source", "--arch", "sm_90", "gemm.reference_gpu gemm fp16"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "#define KW_SM 90"));
    assert_null(strstr(result->out, "prelude/gpu_emu.h"));
    run(result, WORDS("show", "--source", "--arch", "emu:sm_90", "gemm.reference_gpu gemm fp16"), NULL);
    assert_non_null(strstr(result->out, "prelude/gpu_emu.h"));
    free(result);
}

/* The yardstick of `tune` is a kernel of the device, not a CPU's. */
static void tuning_a_gpu_times_its_reference_kernel(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("tune", "--device", "emu:gfx942", "--shortlist", "1", "--json", "gemm fp16 rcr m32 n32 k32"), NULL);
    assert_int_equal(result->code, 0);
    const char *reference = strstr(result->out, "\"reference_ns\":");
    assert_non_null(reference);
    assert_true(strtod(reference + strlen("\"reference_ns\":"), NULL) > 0);
    free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_runs_without_compiler_cache_or_wisdom),
        cmocka_unit_test(several_problems_run_in_one_call),
        cmocka_unit_test(why_products_stay_apart_is_told),
        cmocka_unit_test(what_no_memory_holds_is_refused_first),
        cmocka_unit_test(building_stops_at_its_limit),
        cmocka_unit_test(predict_lists_by_rank_and_select_prints_the_first),
        cmocka_unit_test(measured_times_stand_beside_predicted_ones),
        cmocka_unit_test(what_is_printed_as_json_is_json_and_says_its_schema),
        cmocka_unit_test(objects_are_built_without_a_device_and_come_from_the_cache_the_second_time),
        cmocka_unit_test(the_rule_that_refuses_a_config_is_named),
        cmocka_unit_test(tuning_a_gpu_times_its_reference_kernel),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

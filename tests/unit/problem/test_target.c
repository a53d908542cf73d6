/* test_target.c: a target's text is read back, and texts of other versions are refused by name. */

#include "problem/target/target.h"
#include "random.h"
#include "support/kw_test.h"

static void printed_targets_are_read_back(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 2000; i++) {
        kw_target target, again;
        memset(&target, 0, sizeof target);
        target.backend = i % 2 ? KW_BACKEND_CPU : (kw_backend_id)(i / 2 % (KW_BACKEND_COUNT - 1) + 1);
        snprintf(target.arch, sizeof target.arch, "x86-64-v%d", i);
        snprintf(target.model, sizeof target.model, "vendor-%d-1-2", i);
#define KW_FACT(name, scope, meaning)                                                                                                      \
    if (scope == KW_OF_ALL || (scope == KW_OF_CPU) == (i % 2)) {                                                                           \
        target.name = (int64_t)(kw_random(&random) >> random_between(&random, 1, 60));                                                     \
    }
        KW_TARGET_FACTS(KW_FACT)
#undef KW_FACT
        char text[KW_TARGET_TEXT_MAX];
        kw_error err = {0};
        size_t length = kw_target_print(text, sizeof text, &target);
        assert_int_equal(length, strlen(text));
        if (kw_target_parse(&again, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        assert_memory_equal(&again, &target, sizeof target);
    }
}

static void faults_are_named(void **state) {
    (void)state;
#define FACTS " units=2 lanes=16 registers=32 l1=1 l2=2 l3=3"
    static const struct {
        const char *text;
        kw_status status;
        const char *fragment;
    } cases[] = {
        {"cpu:v3 model=x" FACTS, KW_OK, ""},
        {"cpu:v3" FACTS " model=x", KW_OK, ""},
        {"", KW_MALFORMED, "empty"},
        {"cpu model=x" FACTS, KW_MALFORMED, "BACKEND:ARCH"},
        {"cpu: model=x" FACTS, KW_MALFORMED, "arch \"\""},
        {":v3 model=x" FACTS, KW_MISSING, "backend \"\" is not known; known: cpu cuda hip emu"},
        {"backends:v3 model=x" FACTS, KW_MISSING, "backend \"backends\" is not known"},
        {"cpu:v3" FACTS, KW_MALFORMED, "model is missing"},
        {"cpu:v3 model=x model=y" FACTS, KW_MALFORMED, "model is given twice"},
        {"cpu:v3 model=x" FACTS " units=2", KW_MALFORMED, "units is given twice"},
        {"cpu:v3 model=x" FACTS " lds=2", KW_MISSING, "\"lds\" is not known"},
        {"cuda:sm_90 model=x units=2 lanes=32 registers=255 l2=2 lds=1 unit_lds=1 unit_registers=1 unit_waves=1 clock=1 bandwidth=1", KW_OK,
         ""},
        {"cuda:sm_90 model=x" FACTS, KW_MISSING, "\"l1\" is not known"},
        {"cuda:sm_90 model=x units=2 lanes=32 registers=255 l2=2", KW_MALFORMED, "lds is missing"},
        {"cpu:v3 model=x units=2 lanes=16 registers=32 l1=1 l2=2", KW_MALFORMED, "l3 is missing"},
        {"cpu:v3 model=x units=-2", KW_MALFORMED, "units takes a whole number"},
        {"cpu:v3 model=x units=2x", KW_MALFORMED, "\"units=2x\""},
        {"cpu:v3 model=x units", KW_MALFORMED, "name=value"},
    };
#undef FACTS
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_target target;
        kw_error err = {0};
        assert_int_equal(kw_target_parse(&target, cases[i].text, &err), cases[i].status);
        if (!strstr(err.text, cases[i].fragment)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
    }
}

static void every_name_is_listed_and_found(void **state) {
    (void)state;
    for (int id = 0; id < KW_BACKEND_COUNT; id++) {
        const kw_backend_info *info = &kw_backends[id];
        kw_backend_id found = KW_BACKEND_COUNT;
        char device[32];
        snprintf(device, sizeof device, "%s:0", info->name);
        assert_non_null(strstr(kw_backend_names, info->name));
        assert_true(kw_backend_id_of_device(&found, device) && found == (kw_backend_id)id);
        assert_true(!info->played_by || (kw_backend_id_of_device(&found, info->played_by) && kw_backends[found].emulated));
    }
    for (int i = 0; i < KW_OP_COUNT; i++) {
        kw_op found = KW_OP_COUNT;
        assert_non_null(strstr(kw_op_names(), kw_op_name((kw_op)i)));
        assert_true(kw_op_find(&found, kw_op_name((kw_op)i)) && found == (kw_op)i);
    }
    for (int i = 0; i < KW_DTYPE_COUNT; i++) {
        kw_dtype found = KW_DTYPE_COUNT;
        bool input = i != KW_INT32 && i != KW_UINT8; /* which are types of results, and of x */
        assert_int_equal(strstr(kw_dtype_names(), kw_dtype_name((kw_dtype)i)) != NULL, input);
        assert_int_equal(kw_dtype_find(&found, kw_dtype_name((kw_dtype)i)) && found == (kw_dtype)i, input);
    }
    for (int i = 0; i < KW_STATUS_COUNT; i++) {
        assert_non_null(kw_status_name((kw_status)i));
    }
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        assert_non_null(kw_outcome_name((kw_outcome)i));
    }
    kw_op op;
    kw_backend_id id;
    assert_false(kw_op_find(&op, "conv") || kw_op_find(&op, NULL) || kw_backend_id_of_device(&id, "cpu2"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(printed_targets_are_read_back), cmocka_unit_test(faults_are_named),
                                       cmocka_unit_test(every_name_is_listed_and_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

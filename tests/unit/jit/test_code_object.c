/* test_code_object.c: what AMD code objects say of themselves. */

#include "jit/toolchain/hip.h"
#include "support/kw_test.h"
#include "support/device/code_object.h"

static const kw_code amd = {KW_DIALECT_AMD, NULL};

static void the_most_that_any_kernel_needs_is_told(void **state) {
    (void)state;
    kw_blob blob = code_object_sample();
    kw_blob_facts facts;
    kw_error err = {0};
    assert_int_equal(kw_blob_facts_read(&facts, &blob, amd, &err), KW_OK);
    assert_int_equal(facts.registers, 120);
    assert_int_equal(facts.acc_registers, 128);
    assert_int_equal(facts.scalar_registers, 44);
    assert_int_equal(facts.lds, 16384);
    assert_int_equal(facts.scratch, 80);
    assert_int_equal(facts.spill_bytes, 4 * 31);
    kw_blob_drop(&blob);
}

static void a_note_that_is_wrong_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } notes[] = {
        {"", 0},                     /* nothing */
        {"\x90", 1},                 /* no map */
        {"\x80", 1},                 /* no kernels */
        {"\xdf\xff\xff\xff\xff", 5}, /* a count that is a lie */
        {"\x81\xae"
         "amdhsa.kernels\x90",
         17}, /* none of them */
        {"\x81\xae"
         "amdhsa.kernels\x91\x05",
         18}, /* a kernel that is a number */
        {"\x81\xae"
         "amdhsa.kernels\x91\x81\xa1",
         19}, /* cut in a name */
        {"\x81\xae"
         "amdhsa.kernels\xdd\xff\xff\xff\xff\x80\x80",
         23},
        {"\x81\xc1\xc1", 3}, /* a byte that MessagePack never uses */
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        kw_blob blob = code_object_make(notes[i].bytes, notes[i].size, "");
        kw_blob_facts facts;
        kw_error err = {0};
        assert_int_equal(kw_hip_check(&blob, &err), KW_OK);
        assert_int_equal(kw_blob_facts_read(&facts, &blob, amd, &err), KW_MALFORMED);
        assert_non_null(strstr(err.text, "metadata"));
        kw_blob_drop(&blob);
    }
}

static void numbers_of_every_width_are_read_and_great_ones_are_held_in(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int32_t value;
    } numbers[] = {
        {"\x7f", 1, 127},
        {"\xcc\xff", 2, 255},
        {"\xcd\x01\x00", 3, 256},
        {"\xce\x00\x01\x00\x00", 5, 65536},
        {"\xcf\x00\x00\x00\x00\xff\xff\xff\xff", 9, INT32_MAX},
        {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, 0}, /* no count */
        {"\xff", 1, 0},                                 /* -1 */
        {"\xc0", 1, 0},
        {"\xa3"
         "120",
         4, 0},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pack_text pack = {.size = 0};
        kw_blob_facts facts;
        pack_byte(&pack, 0x81);
        pack_string(&pack, "amdhsa.kernels");
        pack_byte(&pack, 0x91);
        pack_byte(&pack, 0x81);
        pack_string(&pack, ".vgpr_count");
        for (size_t k = 0; k < numbers[i].size; k++) {
            pack_byte(&pack, (unsigned char)numbers[i].bytes[k]);
        }
        kw_blob blob = code_object_make(pack.data, pack.size, "");
        assert_int_equal(kw_hip_facts(&facts, &blob, NULL), KW_OK);
        assert_int_equal(facts.registers, numbers[i].value);
        kw_blob_drop(&blob);
    }
}

static void an_object_cut_short_anywhere_is_refused_or_still_whole(void **state) {
    (void)state;
    kw_blob whole = code_object_sample();
    int refused = 0;
    for (size_t size = 0; size <= whole.size; size++) {
        kw_blob part = {malloc(size ? size : 1), size}; /* of its own, so that a read past the end is seen */
        kw_blob_facts facts;
        assert_non_null(part.data);
        memcpy(part.data, whole.data, size);
        kw_status status = kw_blob_facts_read(&facts, &part, amd, NULL);
        assert_true(status == KW_OK || status == KW_MALFORMED);
        refused += status != KW_OK;
        kw_blob_drop(&part);
    }
    assert_int_equal(refused, whole.size - strlen("kw_stage0 kw_stage1") - 1);
    kw_blob_drop(&whole);
}

static void objects_for_other_machines_are_refused(void **state) {
    (void)state;
    kw_blob blob = code_object_sample();
    kw_error err = {0};
    ((unsigned char *)blob.data)[18] = 62; /* e_machine: x86-64 */
    assert_int_equal(kw_hip_check(&blob, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "machine 62"));
    assert_non_null(strstr(err.text, "machine 224"));
    kw_blob_drop(&blob);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_that_any_kernel_needs_is_told),
        cmocka_unit_test(a_note_that_is_wrong_is_refused),
        cmocka_unit_test(numbers_of_every_width_are_read_and_great_ones_are_held_in),
        cmocka_unit_test(an_object_cut_short_anywhere_is_refused_or_still_whole),
        cmocka_unit_test(objects_for_other_machines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

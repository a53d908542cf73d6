/* test_containers.c: the growing array, the map and the string table against plain models, also when memory is refused. */

#include "base/container/array.h"
#include "base/statistics/random.h"
#include "base/container/string_table.h"
#include "support/kw_test.h"

void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool refuse;

void *__wrap_calloc(size_t count, size_t size) {
    return refuse ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return refuse ? NULL : __real_realloc(memory, size);
}

static void arrays_grow_and_keep_what_they_hold(void **state) {
    (void)state;
    kw_arena arena = {0};
    int64_t *heap = NULL, *pooled = NULL;
    size_t heap_capacity = 0, pooled_capacity = 0;
    for (size_t i = 0; i < 5000; i++) {
        assert_true(KW_ARRAY_RESERVE(heap, heap_capacity, i + 1) && KW_ARENA_RESERVE(&arena, pooled, pooled_capacity, i + 1));
        assert_true(heap_capacity > i && heap_capacity == pooled_capacity && heap_capacity <= i + i / 2 + 16);
        heap[i] = pooled[i] = (int64_t)i * 3;
    }
    kw_array_trim(&heap, &heap_capacity, 5000, sizeof *heap);
    assert_int_equal(heap_capacity, 5000);
    for (size_t i = 0; i < 5000; i++) {
        assert_true(heap[i] == (int64_t)i * 3 && pooled[i] == heap[i]);
    }
    assert_true(KW_ARRAY_RESERVE(heap, heap_capacity, 100000));
    assert_int_equal(heap_capacity, 100000);
    free(heap);
    kw_arena_drop(&arena);
}

static void an_array_that_cannot_grow_stays_as_it_was(void **state) {
    (void)state;
    int64_t *items = NULL;
    size_t capacity = 0;
    refuse = true;
    assert_false(KW_ARRAY_RESERVE(items, capacity, 1));
    refuse = false;
    assert_true(!items && !capacity && KW_ARRAY_RESERVE(items, capacity, 1));
    const int64_t *before = items;
    size_t enough = capacity;
    items[0] = 7;
    refuse = true;
    assert_false(KW_ARRAY_RESERVE(items, capacity, enough + 1));
    assert_true(KW_ARRAY_RESERVE(items, capacity, enough));
    kw_array_trim(&items, &capacity, 1, sizeof *items);
    refuse = false;
    assert_false(KW_ARRAY_RESERVE(items, capacity, SIZE_MAX / 4)); /* bytes overflow */
    assert_true(items == before && capacity == enough && items[0] == 7);
    free(items);
}

/* Keys 0 to KEYS - 1, of which few bits reach the hash, so that runs of full slots meet and wrap round. */
enum { KEYS = 400, STEPS = 200000 };

static bool same_number(const kw_hash_map_key *key, uintptr_t value) {
    return *(const uint64_t *)key->key == value;
}

static kw_hash_map_key number_key(const uint64_t *number, uint64_t spread) {
    return (kw_hash_map_key){*number % spread * 0x100000001ffu, same_number, NULL, number};
}

static void check_map(const kw_hash_map *map, const bool there[KEYS], uint64_t spread) {
    bool walked[KEYS] = {0};
    uintptr_t value;
    size_t count = 0;
    for (size_t at = 0; kw_hash_map_next(map, &at, &value); count++) {
        assert_true(value < KEYS && there[value] && !walked[value]);
        walked[value] = true;
    }
    assert_int_equal(count, map->count);
    for (uint64_t i = 0; i < KEYS; i++) {
        kw_hash_map_key key = number_key(&i, spread);
        const uintptr_t *found = kw_hash_map_find(map, &key);
        assert_int_equal(found != NULL, there[i]);
        assert_true(!found || *found == i);
    }
}

static void a_map_holds_what_a_plain_list_holds(void **state) {
    (void)state;
    static const uint64_t spreads[] = {1, 7, 64, KEYS};
    for (size_t s = 0; s < sizeof spreads / sizeof *spreads; s++) {
        kw_hash_map map = {0};
        bool there[KEYS] = {0};
        uint64_t random = s;
        for (int step = 0; step < STEPS / (s ? 1 : 20); step++) {
            uint64_t number = kw_random_below(&random, KEYS);
            kw_hash_map_key key = number_key(&number, spreads[s]);
            if (there[number]) {
                kw_hash_map_remove(&map, key.hash, number);
            } else {
                assert_true(kw_hash_map_reserve(&map, map.count + 1));
                kw_hash_map_put(&map, key.hash, number);
            }
            there[number] = !there[number];
            assert_true(4 * map.count <= 3 * map.slot_count && (map.slot_count & (map.slot_count - 1)) == 0);
            if (step % 5000 == 0) {
                check_map(&map, there, spreads[s]);
            }
        }
        check_map(&map, there, spreads[s]);
        kw_hash_map_drop(&map);
        assert_true(!map.slots && !map.count);
    }
}

static void a_map_without_same_is_a_set_of_hashes(void **state) {
    (void)state;
    kw_hash_map map = {0};
    assert_null(kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 0}));
    assert_true(kw_hash_map_reserve(&map, 2));
    kw_hash_map_put(&map, 0, 5); /* is kept under 1 */
    kw_hash_map_put(&map, 9, 6);
    uintptr_t *found = kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 0});
    assert_true(found && *found == 5);
    *found = 8;
    assert_true(*kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 0}) == 8 && *kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 9}) == 6);
    assert_null(kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 10}));
    kw_hash_map_drop(&map);
}

static void a_map_that_cannot_grow_stays_as_it_was(void **state) {
    (void)state;
    kw_hash_map map = {0};
    refuse = true;
    assert_false(kw_hash_map_reserve(&map, 1));
    refuse = false;
    assert_true(kw_hash_map_reserve(&map, 1));
    kw_hash_map_put(&map, 3, 4);
    refuse = true;
    assert_false(kw_hash_map_reserve(&map, map.slot_count));
    refuse = false;
    assert_false(kw_hash_map_reserve(&map, SIZE_MAX / 2));
    assert_int_equal(*kw_hash_map_find(&map, &(kw_hash_map_key){.hash = 3}), 4);
    kw_hash_map_drop(&map);
}

static void strings_are_numbered_as_they_come(void **state) {
    (void)state;
    kw_arena arena = {0};
    kw_string_table table = {0};
    bool added;
    char text[16];
    assert_int_equal(kw_string_table_find(&table, "a"), UINT32_MAX);
    for (uint32_t i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(kw_string_table_add(&table, &arena, text, &added), i);
        assert_true(added);
        assert_int_equal(kw_string_table_add(&table, &arena, text, &added), i);
        assert_false(added);
    }
    assert_int_equal(kw_string_table_find(&table, "name 2999"), 2999);
    assert_int_equal(kw_string_table_find(&table, "name 3000"), UINT32_MAX);
    assert_string_equal(table.text[17], "name 17");
    refuse = true;
    for (uint32_t i = 3000;; i++) {
        snprintf(text, sizeof text, "name %u", i);
        uint32_t number = kw_string_table_add(&table, &arena, text, &added);
        assert_true(number == i || number == UINT32_MAX);
        if (number == UINT32_MAX) {
            assert_false(added);
            assert_int_equal(kw_string_table_find(&table, text), UINT32_MAX);
            break;
        }
    }
    refuse = false;
    kw_string_table_drop(&table);
    kw_arena_drop(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow_and_keep_what_they_hold),    cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_was),
        cmocka_unit_test(a_map_holds_what_a_plain_list_holds),    cmocka_unit_test(a_map_without_same_is_a_set_of_hashes),
        cmocka_unit_test(a_map_that_cannot_grow_stays_as_it_was), cmocka_unit_test(strings_are_numbered_as_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

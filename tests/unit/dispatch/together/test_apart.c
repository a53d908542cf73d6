/* test_apart.c: whether pieces of memory meet (dispatch/together/apart.h) against painting each byte, on pieces drawn small enough to meet in half
 * of the draws. */
#include "base/statistics/random.h"
#include "dispatch/together/apart.h"
#include "support/kw_test.h"

#include <string.h>

enum { DRAWS = 20000, PIECES = 12, ROOM = 4096 };

/* Runs of one step, and pieces of one run; columns and rows of a matrix, and any. */
static kw_piece draw_piece(uint64_t *random, int64_t step, int owner) {
    kw_piece p = {.owner = owner};
    bool several = kw_random_below(random, 3) > 0;
    p.length = 1 + (int64_t)kw_random_below(random, several ? (uint64_t)step - 1 : 40);
    p.length = kw_random_below(random, 4) ? (p.length + 7) / 8 : p.length;
    p.count = several ? 2 + (int64_t)kw_random_below(random, 5) : 1;
    p.step = several ? step : p.length;
    p.begin = 1024 + kw_random_below(random, ROOM / 4);
    return p;
}

static bool bytes_meet(const kw_piece pieces[], int count) {
    static unsigned char painted[2 * ROOM];
    memset(painted, 0, sizeof painted);
    for (int i = 0; i < count; i++) {
        for (int64_t run = 0; run < pieces[i].count; run++) {
            for (int64_t b = 0; b < pieces[i].length; b++) {
                unsigned char *at = &painted[pieces[i].begin + (uintptr_t)(run * pieces[i].step + b)];
                if ((*at)++) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void equals_painting(void **state) {
    (void)state;
    uint64_t random = 2411246;
    int met = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        kw_piece pieces[PIECES], pair[2];
        int64_t step = 9 + (int64_t)kw_random_below(&random, 200);
        int count = 2 + (int)kw_random_below(&random, PIECES - 1);
        for (int i = 0; i < count; i++) {
            pieces[i] = draw_piece(&random, step, i);
        }
        bool meet, expected = bytes_meet(pieces, count);
        assert_int_equal(kw_pieces_meet(&meet, pair, pieces, (size_t)count, NULL), KW_OK);
        assert_int_equal(meet, expected);
        if (meet) {
            assert_true(pair[0].owner != pair[1].owner);
            assert_true(bytes_meet(pair, 2));
        }
        met += meet;
    }
    assert_true(met > DRAWS / 4 && met < DRAWS * 3 / 4);
}

/* Of different steps pieces are solid, and no pair is missed. */
static void different_steps_are_solid(void **state) {
    (void)state;
    const struct {
        kw_piece pieces[3];
        int count;
        bool meet;
    } cases[] = {
        {{{1000, 4, 16, 4, 0, 0}, {1004, 4, 16, 4, 1, 0}}, 2, false},
        {{{1000, 4, 16, 4, 0, 0}, {1004, 4, 16, 4, 1, 0}, {1007, 4, 16, 1, 2, 0}}, 3, true},
        {{{1000, 4, 16, 4, 0, 0}, {1004, 4, 32, 2, 1, 0}}, 2, true},
        {{{1000, 4, 16, 4, 0, 0}, {1052, 4, 32, 2, 1, 0}}, 2, false},
        {{{1000, 4, 16, 4, 0, 0}, {1012, 8, 16, 3, 1, 0}}, 2, true}, /* over a row's end */
        {{{1000, 4, 16, 4, 0, 0}, {1060, 9, 9, 1, 1, 0}, {1004, 12, 12, 1, 2, 0}}, 3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_piece pieces[3], pair[2];
        bool meet;
        memcpy(pieces, cases[i].pieces, sizeof pieces);
        assert_int_equal(kw_pieces_meet(&meet, pair, pieces, (size_t)cases[i].count, NULL), KW_OK);
        assert_int_equal(meet, cases[i].meet);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_painting), cmocka_unit_test(different_steps_are_solid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

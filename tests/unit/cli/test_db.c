/* test_db.c: the verb db from the outside: what it prints, and its exit codes. */
#include "base/os/process/process.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[SCRATCH_MAX], home[1024];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return getcwd(home, sizeof home) && !chdir(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    int failed = chdir(home);
    scratch_remove(folder);
    return failed;
}

/* Runs kwright in the scratch folder with the words of a line (blanks only between them); output and remarks come together. */
static int run(char out[65536], const char *line) {
    const char *words[32] = {KW_KWRIGHT};
    char copy[2048];
    int count = 1;
    kw_text text = {0};
    kw_process_result result;
    kw_error err = {0};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *rest = NULL, *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        for (char *at = word; *at; at++) {
            *at = *at == '~' ? ' ' : *at; /* a blank within a word */
        }
        words[count++] = word;
    }
    if (kw_process_run(words, (int64_t)60 * 1000000000, &text, &result, &err)) {
        fail_msg("%s", err.text);
    }
    snprintf(out, 65536, "%s", kw_text_string(&text));
    kw_text_drop(&text);
    return result.exit_code;
}

static char out[65536];

/* Output of a line that must end with this code. */
static const char *say(int code, const char *line) {
    int got = run(out, line);
    if (got != code) {
        fail_msg("%s: exit code %d, not %d: %s", line, got, code, out);
    }
    return out;
}

static void expect(int code, const char *line, const char *part) {
    if (!strstr(say(code, line), part)) {
        fail_msg("%s: no \"%s\" in: %s", line, part, out);
    }
}

static int64_t count_lines(const char *text) {
    int64_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

static void rows_go_in_and_out_and_are_counted(void **state) {
    (void)state;
    expect(0, "db import a.db " KW_ROWS, "24 new, 0 known, 0 refused");
    expect(0, "db import a.db " KW_ROWS, "0 new, 24 known, 0 refused");
    expect(0, "db count a.db", "rows       24\n");
    expect(0, "db count a.db --json", "\"rows\": 24");
    expect(0, "db check a.db", "as it was written");
    assert_int_equal(count_lines(say(0, "db list a.db")), 24);
    assert_int_equal(count_lines(say(0, "db list a.db --limit 5")), 5);
    assert_int_equal(count_lines(say(0, "db list a.db --op gemm")), 0);
    assert_int_equal(count_lines(say(0, "db list a.db --dtype fp32 --op conv_fwd --answers")), 24);
    assert_int_equal(count_lines(say(0, "db list a.db --problem conv_fwd~fp32~n2~c64~k64~i56x56~f3~p1")), 8);
    expect(0, "db list a.db --json --limit 1", "{\"schema\":1,\"line\":\"row\"");
    expect(0, "db export a.db --out b.csv.gz", "24 rows written");
    expect(0, "db import b.db b.csv.gz", "24 new");
    char *first = strdup(say(0, "db export a.db --quiet"));
    assert_string_equal(first, say(0, "db export b.db --quiet"));
    assert_int_equal(count_lines(first), 25);
    free(first);
}

static void dropping_asks_and_says_how_many(void **state) {
    (void)state;
    say(0, "db import a.db " KW_ROWS);
    expect(2, "db drop a.db --outcome unfit", "--yes");
    assert_int_equal(count_lines(say(0, "db list a.db")), 24);
    expect(0, "db drop a.db --outcome unfit --yes", "1 rows dropped");
    assert_int_equal(count_lines(say(0, "db list a.db")), 23);
    expect(0, "db drop a.db --op gemm", "0 rows dropped");
}

static void seed_csv_needs_what_its_rows_do_not_say(void **state) {
    (void)state;
    static const char given[] = " --op conv_fwd --dtype fp32 --target "
                                "cpu:x86-64-v4~model=test-1-2-3~units=2~lanes=16~registers=32~l1=32768~l2=1048576~l3=33554432";
    char line[512];
    say(0, "db import a.db " KW_ROWS);
    say(0, "db export a.db --format seed-csv --out s.csv");
    expect(2, "db import b.db s.csv", "target: it must be given (--target, e.g. gfx950)");
    snprintf(line, sizeof line, "db import b.db s.csv%s", given);
    expect(0, line, "24 new");
    expect(0, line, "24 known"); /* it is the same when it comes again */
    expect(2, "db import b.db s.csv --op gemm --dtype fp32 --target gfx950", "conv_fwd, conv_bwd_data");
    expect(2, "db import b.db s.csv --op conv_fwd --dtype fp32 --target gfx95", "neither");
    expect(2, "db import b.db s.csv --op conv_fwd --target gfx950", "belong together");
}

static void what_cannot_be_true_is_told_with_its_line(void **state) {
    (void)state;
    scratch_write("bad.jsonl", "\n{}\n", 4, 0644);
    expect(1, "db import a.db bad.jsonl", "0 new, 0 known, 1 refused");
    expect(1, "db import a.db bad.jsonl", "line 2: ");
}

static void damage_is_found_and_rows_are_recovered(void **state) {
    (void)state;
    say(0, "db import a.db " KW_ROWS);
    size_t size;
    char *bytes = scratch_read("a.db", &size);
    char *found = memmem(bytes, size, "refused: rule", 13);
    assert_non_null(found);
    *found = 'R';
    scratch_write("a.db", bytes, size, 0644);
    free(bytes);
    expect(1, "db check a.db", "kwright db recover");
    expect(2, "db recover a.db", "--out");
    expect(0, "db recover a.db --out b.db", "rows recovered into b.db");
    expect(0, "db check b.db", "as it was written");
    expect(3, "db recover a.db --out b.db", "there already");
}

/* Whatever reads a store refuses a place where none is, by its name, and leaves the place as it was. */
static void readers_refuse_what_is_no_store(void **state) {
    (void)state;
    static const char *const readers[] = {"db list %s",
                                          "db count %s",
                                          "db check %s",
                                          "db export %s --out out.csv",
                                          "db recover %s --out out.db",
                                          "report %s",
                                          "diff %s %s",
                                          "prune %s --out out.txt",
                                          "evaluate %s --selector single"};
    scratch_write("empty.db", "", 0, 0644);
    assert_int_equal(mkdir("folder.db", 0755), 0);
    static const char *const places[] = {"missing.db", "empty.db", "folder.db"};
    for (size_t i = 0; i < 3 * sizeof readers / sizeof *readers; i++) {
        const char *reader = readers[i / 3], *place = places[i % 3];
        kw_text line = {0};
        for (const char *at = reader; *at; at++) {
            bool named = at[0] == '%' && at[1] == 's';
            kw_text_add_bytes(&line, named ? place : at, named ? strlen(place) : 1);
            at += named;
        }
        int code = run(out, kw_text_string(&line));
        if (!code || !strstr(out, place) || scratch_count(".", "out.") || scratch_count(".", "missing")) {
            fail_msg("%s: exit code %d: %s", kw_text_string(&line), code, out);
        }
        kw_text_drop(&line);
    }
}

/* Only whole lines of visible characters: what a terminal or a list shows has no other meaning. */
static void expect_visible(int code, const char *line) {
    for (const unsigned char *at = (const unsigned char *)say(code, line); *at; at++) {
        bool turns = at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae;
        if ((*at < ' ' && *at != '\n') || *at == 0x7f || turns) {
            fail_msg("%s: byte %02x raw in: %s", line, *at, out);
        }
    }
}

static void hostile_names_are_shown_and_guarded(void **state) {
    (void)state;
    expect(1, "db import a.db " KW_HOSTILE, "2 new, 0 known, 1 refused");
    expect(1, "db import a.db " KW_HOSTILE, "a control or hidden character");
    expect_visible(1, "db import a.db " KW_HOSTILE);
    expect_visible(0, "db list a.db");
    expect(0, "db list a.db", "\\x1b[31mred\\x1b]0;title\\x07");
    assert_int_equal(count_lines(out), 2);
    expect_visible(1, "merge --out m.db " KW_HOSTILE);
    for (int i = 0; i < 2; i++) {
        say(0, i ? "db export a.db --out a.csv --format seed-csv" : "db export a.db --out a.csv");
        size_t size;
        char *text = scratch_read("a.csv", &size);
        assert_non_null(strstr(text, "'=HYPERLINK"));
        assert_non_null(strstr(text, "''@SUM"));
        assert_null(strstr(text, ",\"=") ? strstr(text, ",\"=") : strstr(text, "\n="));
        free(text);
    }
    say(0, "db export a.db --out a.csv");
    expect(0, "db import b.db a.csv", "2 new");
    char *first = strdup(say(0, "db export a.db --quiet"));
    assert_string_equal(first, say(0, "db export b.db --quiet"));
    free(first);
    char name[512];
    snprintf(name, sizeof name, "db count \x1b[31m\xe2\x80\xae.db");
    expect_visible(2, name);
    expect_visible(2, "db \x1b[31m a.db");
    static const char list[] = "\x1b[31m: gemm fp32 m1 n1 k1\n\xe2\x80\xae: gemm fp32 m2 n1 k1\n\xff: gemm fp32 m2 \x1b n\n";
    size_t bad = (size_t)(strchr(list, 0xff) - list);
    scratch_write("list.txt", list, sizeof list - 1, 0644);
    expect_visible(2, "problems --problems list.txt");
    scratch_write("list.txt", list, bad, 0644);
    expect_visible(0, "problems --problems list.txt");
    expect_visible(2, "select \x1b[31m\x7f\xff");
}

static void bad_requests_are_told(void **state) {
    (void)state;
    expect(2, "db", "needs COMMAND STORE");
    expect(2, "db lst a.db", "did you mean db list");
    expect(2, "db count missing.db", "no store missing.db");
    assert_int_equal(access("missing.db", F_OK), -1);
    expect(2, "db import a.db", "files to read");
    expect(2, "db list a.db b.db", "one store");
    say(0, "db import a.db " KW_ROWS);
    expect(2, "db list a.db --outcome fine", "untried good unfit");
    expect(2, "db list a.db --op conv", "conv_fwd");
    expect(2, "db list a.db --problem conv_fwd", "conv_fwd");
    expect(2, "db export a.db --format parquet", "seed-csv");
    scratch_write("other.db", "hello", 5, 0644);
    expect(2, "db count other.db", "not a store");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_go_in_and_out_and_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropping_asks_and_says_how_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seed_csv_needs_what_its_rows_do_not_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_true_is_told_with_its_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_found_and_rows_are_recovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(readers_refuse_what_is_no_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_names_are_shown_and_guarded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_requests_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_shard.c: which shard a process is, from text and from what launchers set, and which names and problems are its own. */
#include "sweep/shards/shard.h"
#include "support/kw_test.h"

#include <kernelwright_tune.h>

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_STEP",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_STEP_NUM_TASKS",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_RANK",
};

/* Sets the variables of "A=1 B=2" and no others. */
static void set_environment(const char *words) {
    char copy[512], *rest = copy;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        unsetenv(variables[i]);
    }
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " "));) {
        char *equals = strchr(word, '=');
        if (equals) {
            *equals = 0;
            setenv(word, equals + 1, 1);
        }
    }
}

#define ARRAY(id) "SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_ID=" id

static void text_comes_first_then_launchers_are_asked(void **state) {
    (void)state;
    static const struct {
        const char *environment, *text;
        int32_t shard, shards;
    } rows[] = {
        {"", NULL, 0, 0},
        {"", "1/1", 0, 1},
        {"", "3/8", 2, 8},
        {"", "1000000/1000000", 999999, 1000000},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "3/8", 2, 8},
        {ARRAY("1"), NULL, 0, 8},
        {ARRAY("8"), NULL, 7, 8},
        {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=1", NULL, 0, 1},
        {"SLURM_ARRAY_TASK_ID=11 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=3", NULL, 2, 4},
        {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2", NULL, 0, 2},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1", NULL, 1, 2},
        {"PMI_RANK=3 PMI_SIZE=4", NULL, 3, 4},
        {"PMIX_RANK=3 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3", NULL, 3, 4},
        {"SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=6 SLURM_NTASKS=6", NULL, 5, 6},
        /* a batch script itself, which is one process whatever SLURM_NTASKS says */
        {"SLURM_PROCID=0 SLURM_NTASKS=4", NULL, 0, 0},
        /* an interactive shell, and mpirun -np 1 */
        {"SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", NULL, 0, 0},
        {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", NULL, 0, 0},
        /* ranks inside array tasks */
        {ARRAY("3") " SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", NULL, 2, 8},
        {ARRAY("3") " OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", NULL, 5, 16},
        /* mpirun inside srun: the ranks are mpirun's */
        {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2", NULL, 2, 3},
        {"OMPI_COMM_WORLD_RANK= PMI_RANK=1 PMI_SIZE=2", NULL, 1, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_shard shard = {-1, -1};
        kw_error err = {0};
        set_environment(rows[i].environment);
        kw_status status = kw_shard_find(&shard, rows[i].text, &err);
        if (status || shard.index != rows[i].shard || shard.count != rows[i].shards) {
            fail_msg("%s %s: %d of %d: %s", rows[i].environment, rows[i].text ? rows[i].text : "", shard.index, shard.count, err.text);
        }
    }
    set_environment("");
}

static void what_makes_no_sense_is_named_with_its_value(void **state) {
    (void)state;
    static const struct {
        const char *environment, *text, *named;
    } rows[] = {
        {"", "", "I/N"},
        {"", "0/8", "'0/8'"},
        {"", "9/8", "'9/8'"},
        {"", "3", "'3'"},
        {"", "3/", "'3/'"},
        {"", "3/8x", "'3/8x'"},
        {"", "-1/8", "'-1/8'"},
        {"", "1/1000001", "1000000"},
        {ARRAY("9"), NULL, "SLURM_ARRAY_TASK_ID=9"},
        {ARRAY("0"), NULL, "SLURM_ARRAY_TASK_ID=0"},
        {ARRAY("x"), NULL, "SLURM_ARRAY_TASK_ID=x"},
        {"SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_COUNT=2", NULL, "SLURM_ARRAY_TASK_COUNT=2"},
        {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=2", NULL, "steps of 2"},
        {"SLURM_ARRAY_TASK_ID=4", NULL, "SLURM_ARRAY_TASK_MIN"},
        {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=1", NULL, "SLURM_ARRAY_TASK_COUNT"},
        {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=2", NULL, "OMPI_COMM_WORLD_SIZE=2"},
        {"OMPI_COMM_WORLD_RANK=two OMPI_COMM_WORLD_SIZE=2", NULL, "OMPI_COMM_WORLD_RANK=two"},
        {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=-2", NULL, "OMPI_COMM_WORLD_SIZE=-2"},
        {"OMPI_COMM_WORLD_RANK=0", NULL, "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK=1", NULL, "PMI_SIZE"},
        {"PMIX_RANK=1", NULL, "PMIX_RANK=1"},
        {"PMI_RANK=99999999999999999999 PMI_SIZE=2", NULL, "PMI_RANK=9999"},
        {"SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=6", NULL, "SLURM_STEP_NUM_TASKS=6"},
        {"SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=2000 PMI_RANK=1 PMI_SIZE=2000", NULL, "2000 array tasks"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_shard shard = {-1, -1};
        kw_error err = {0};
        set_environment(rows[i].environment);
        kw_status status = kw_shard_find(&shard, rows[i].text, &err);
        if (!status || err.status != status || !strstr(err.text, rows[i].named)) {
            fail_msg("%s %s: status %d: %s", rows[i].environment, rows[i].text ? rows[i].text : "", (int)status, err.text);
        }
        assert_int_equal(shard.count, 0);
    }
    set_environment("");
}

static void every_problem_has_one_shard_and_every_shard_some(void **state) {
    (void)state;
    enum { SHARDS = 8, PROBLEMS = 800 };
    int count[SHARDS] = {0};
    for (int64_t i = 1; i <= PROBLEMS; i++) {
        kw_problem problem = {.op = KW_GEMM, .layout = KW_RCR, .gemm = {1, i, 64, 64}};
        int32_t shard = kw_shard_of(&problem, SHARDS, 0);
        assert_in_range(shard, 0, SHARDS - 1);
        assert_int_equal(kw_shard_of(&problem, SHARDS, 0), shard);
        assert_int_equal(kw_shard_of(&problem, 1, 0), 0);
        count[shard]++;
    }
    for (int i = 0; i < SHARDS; i++) {
        assert_in_range(count[i], 60, 140);
    }
}

static void the_problems_of_a_lost_shard_spread_over_all_shards_of_the_next_job(void **state) {
    (void)state;
    enum { SHARDS = 8, PROBLEMS = 3200 };
    int count[SHARDS] = {0}, lost = 0;
    for (int64_t i = 1; i <= PROBLEMS; i++) {
        kw_problem problem = {.op = KW_GEMM, .layout = KW_RCR, .gemm = {1, i, 64, 64}};
        if (kw_shard_of(&problem, SHARDS, 0) == 2) {
            lost++;
            count[kw_shard_of(&problem, SHARDS, 77)]++;
        }
    }
    for (int i = 0; i < SHARDS; i++) {
        assert_in_range(count[i], lost / 16, lost / 4);
    }
}

static void names_go_there_and_back(void **state) {
    (void)state;
    static const struct {
        const char *path, *base;
    } rows[] = {
        {"results.db.shard-3-of-8.jsonl", "results.db"},
        {"/a/b.shard-1-of-2.jsonl/c.db.shard-10-of-80.jsonl", "/a/b.shard-1-of-2.jsonl/c.db"},
        {"results.db", "results.db"},
        {"part-3.jsonl", "part-3.jsonl"},
        {"a.shard-3-of-8.jsonl.gz", "a.shard-3-of-8.jsonl.gz"},
        {"a.shard-x-of-8.jsonl", "a.shard-x-of-8.jsonl"},
        {"a.shard-", "a.shard-"},
    };
    kw_arena arena = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(kw_shard_base(&arena, rows[i].path), rows[i].base);
    }
    assert_string_equal(kw_shard_path(&arena, "out.db", 2, 8), "out.db.shard-3-of-8.jsonl");
    assert_string_equal(kw_shard_path(&arena, "out.db", 0, 1), "out.db.shard-1-of-1.jsonl");
    assert_string_equal(kw_shard_path(&arena, "out.db", 0, 0), "out.db");
    assert_string_equal(kw_shard_base(&arena, kw_shard_path(&arena, "x.shard-1-of-2.jsonl", 4, 5)), "x.shard-1-of-2.jsonl");
    kw_arena_drop(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_comes_first_then_launchers_are_asked),
        cmocka_unit_test(what_makes_no_sense_is_named_with_its_value),
        cmocka_unit_test(every_problem_has_one_shard_and_every_shard_some),
        cmocka_unit_test(the_problems_of_a_lost_shard_spread_over_all_shards_of_the_next_job),
        cmocka_unit_test(names_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

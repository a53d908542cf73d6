/* shard.c: which shard this process is. "I/N" from the caller comes first. Else an array task of Slurm and a rank of a parallel start are
 * looked for, each in the variables that launchers set, and multiplied when there are both: an array of jobs of 4 ranks has 4 shards a job.
 *
 * SLURM_PROCID is believed only where srun started the process (then SLURM_STEP_NUM_TASKS is set): in a batch script itself Slurm sets
 * SLURM_PROCID=0 and SLURM_NTASKS=4 although there is just one process, which would quietly do a quarter of the work. */
#include "sweep/shards/shard.h"

#include "base/hash.h"
#include "base/text.h"

#include <kernelwright_tune.h>

#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1000000 };

typedef struct part {
    int64_t index, count; /* count 0: not found */
} part;

/* A variable's number. KW_OK with *set false where it is not set. */
static kw_status read_variable(int64_t *value, bool *set, const char *name, kw_error *err) {
    const char *text = getenv(name);
    *set = text && *text;
    if (*set && !kw_word_int((kw_word){text, strlen(text)}, 0, INT32_MAX, value)) {
        return kw_fail(err, KW_ILLEGAL, "%s=%.40s is not a whole number; say --shard I/N, or unset it", name, text);
    }
    return KW_OK;
}

/* --- ranks of a parallel start ---------------------------------------------------------------------------------- */

static const struct launcher {
    const char *rank, *sizes[3];
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}},
    {"PMI_RANK", {"PMI_SIZE"}},
    {"PMIX_RANK", {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}},
    {"SLURM_PROCID", {"SLURM_STEP_NUM_TASKS"}},
};

static kw_status read_rank(part *out, const struct launcher *launcher, kw_error *err) {
    bool has_rank, has_size = false;
    int64_t rank = 0, size = 0;
    const char *name = launcher->sizes[0];
    kw_status status = read_variable(&rank, &has_rank, launcher->rank, err);
    for (size_t i = 0; !status && has_rank && !has_size && i < 3 && launcher->sizes[i]; i++) {
        name = launcher->sizes[i];
        status = read_variable(&size, &has_size, name, err);
    }
    if (status || !has_rank) {
        return status;
    }
    if (!has_size) {
        /* A batch script's SLURM_PROCID. */
        return strcmp(launcher->rank, "SLURM_PROCID") ? kw_fail(err, KW_ILLEGAL, "%s=%lld is set, but not %s; say --shard I/N, or unset it",
                                                                launcher->rank, (long long)rank, launcher->sizes[0])
                                                      : KW_OK;
    }
    if (rank >= size) {
        return kw_fail(err, KW_ILLEGAL, "%s=%lld is not below %s=%lld; say --shard I/N", launcher->rank, (long long)rank, name,
                       (long long)size);
    }
    *out = (part){rank, size};
    return KW_OK;
}

/* --- tasks of a job array --------------------------------------------------------------------------------------- */

static kw_status read_array(part *out, kw_error *err) {
    static const char *const names[] = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_STEP"};
    int64_t value[4] = {0, 0, 0, 1};
    bool set[4];
    kw_status status = KW_OK;
    for (int i = 0; !status && i < 4; i++) {
        status = read_variable(&value[i], &set[i], names[i], err);
        if (!status && i == 0 && !set[0]) {
            return KW_OK;
        }
        if (!status && i < 3 && !set[i]) {
            status = kw_fail(err, KW_ILLEGAL, "%s=%lld is set, but not %s; say --shard I/N", names[0], (long long)value[0], names[i]);
        }
    }
    if (status) {
        return status;
    }
    int64_t from_first = value[0] - value[1], step = value[3] > 0 ? value[3] : 1;
    if (from_first < 0 || from_first % step || from_first / step >= value[2]) {
        return kw_fail(err, KW_ILLEGAL, "%s=%lld is not one of %s=%lld steps of %lld from %s=%lld (a list such as 3,7?); say --shard I/N",
                       names[0], (long long)value[0], names[2], (long long)value[2], (long long)step, names[1], (long long)value[1]);
    }
    *out = (part){from_first / step, value[2]};
    return KW_OK;
}

/* ---------------------------------------------------------------------------------------------------------------- */

static kw_status read_text(part *out, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    int64_t index, count;
    if (!kw_scan_int(&scan, 1, SHARDS_MAX, &index) || !kw_scan_char(&scan, '/') || !kw_scan_int(&scan, 1, SHARDS_MAX, &count) ||
        scan.at != scan.end || index > count) {
        return kw_fail(err, KW_MALFORMED, "shard '%.40s' is not I/N with I from 1 to N, N at most %d; for example 3/8", text, SHARDS_MAX);
    }
    *out = (part){index - 1, count};
    return KW_OK;
}

kw_status kw_shard_find(kw_shard *shard, const char *text, kw_error *err) {
    if (!shard) {
        return kw_fail(err, KW_ILLEGAL, "kw_shard_find: shard is NULL");
    }
    part given = {0, 0}, array = {0, 0}, rank = {0, 0};
    *shard = (kw_shard){0};
    kw_status status = text ? read_text(&given, text, err) : read_array(&array, err);
    for (size_t i = 0; !status && !text && !rank.count && i < sizeof launchers / sizeof *launchers; i++) {
        status = read_rank(&rank, &launchers[i], err);
    }
    if (status) {
        return status;
    }
    if (!text) {
        /* A start of one process is no parallel start: so it is in an interactive shell of Slurm. */
        part inner = rank.count > 1 ? rank : (part){0, 1};
        given = array.count ? (part){array.index * inner.count + inner.index, array.count * inner.count}
                            : (part){inner.index, rank.count > 1 ? rank.count : 0};
    }
    if (given.count > SHARDS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "%lld shards (%lld array tasks of %lld ranks); at most %d", (long long)given.count,
                       (long long)array.count, (long long)rank.count, SHARDS_MAX);
    }
    *shard = (kw_shard){(int32_t)given.index, (int32_t)given.count};
    return KW_OK;
}

/* --- the rule of names ------------------------------------------------------------------------------------------ */

int32_t kw_shard_of(const kw_problem *problem, int32_t shards, uint64_t salt) {
    char text[KW_PROBLEM_TEXT_MAX];
    uint64_t key[2] = {kw_hash64(text, kw_problem_print(text, sizeof text, problem)), salt};
    return shards > 1 ? (int32_t)(kw_hash64(key, sizeof key) % (uint64_t)shards) : 0;
}

char *kw_shard_path(kw_arena *arena, const char *out, int32_t shard, int32_t shards) {
    return shards ? kw_arena_format(arena, "%s.shard-%d-of-%d.jsonl", out, shard + 1, shards) : kw_arena_copy(arena, out, strlen(out));
}

char *kw_shard_base(kw_arena *arena, const char *path) {
    /* The last ".shard-" counts: a base may have the word in it. */
    const char *mark = NULL;
    for (const char *at = path; (at = strstr(at, ".shard-")); at++) {
        mark = at;
    }
    kw_scan scan = kw_scan_string(mark ? mark + strlen(".shard-") : "");
    int64_t index, count;
    bool named = kw_scan_int(&scan, 1, SHARDS_MAX, &index) && kw_scan_char(&scan, '-') && kw_scan_char(&scan, 'o') &&
                 kw_scan_char(&scan, 'f') && kw_scan_char(&scan, '-') && kw_scan_int(&scan, 1, SHARDS_MAX, &count) &&
                 !strcmp(scan.at, ".jsonl");
    return kw_arena_copy(arena, path, named ? (size_t)(mark - path) : strlen(path));
}

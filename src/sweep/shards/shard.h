/* shard.h: which part of a sweep this process does, and where it writes. A problem belongs to the shard that its text hashes to, so shards
 * need not talk to each other, and the same problem is always measured whole by one of them.
 *
 * One rule for names: with shards, OUT is a base. Shard I of N appends to OUT.shard-I-of-N.jsonl, and all of them share OUT.manifest. */
#ifndef KW_SWEEP_SHARDS_SHARD_H
#define KW_SWEEP_SHARDS_SHARD_H

#include "base/container/arena.h"
#include "base/status.h"

/* The shard (0-based) of a problem. salt: 0, or kw_manifest_salt of the pairs a sweep was given. Without it the problems of a lost shard
 * would all fall to the shard of the same number when the next job measures them. */
int32_t kw_shard_of(const kw_problem *problem, int32_t shards, uint64_t salt);
/* Where a sweep with this OUT writes: OUT itself when shards is 0. NULL for want of memory. */
char *kw_shard_path(kw_arena *arena, const char *out, int32_t shard, int32_t shards);
/* The base of a segment's name: "results.db" of "results.db.shard-3-of-8.jsonl", else the name itself. NULL for want of memory. */
char *kw_shard_base(kw_arena *arena, const char *path);

#endif

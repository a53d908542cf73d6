/* player.h: a GPU that is played, and what is asked of a kernel on it. */
#ifndef KW_TESTS_CHECK_GPU_PLAYER_H
#define KW_TESTS_CHECK_GPU_PLAYER_H

#include "check/special_values.h"
#include "measure/measure.h"

enum { PLAYER_PROBLEMS = 3, PLAYER_ARCHES = 2 };
extern const char *const player_arches[PLAYER_ARCHES];

/* Kernels of a kind, those of all rows and those that are played, and pairs of the latter that are right. */
typedef struct player_tally {
    size_t kernels, played, right;
} player_tally;

/* A GPU that is played. */
typedef struct player {
    const char *arch;
    const kw_backend *backend;
    kw_device *device;
    kw_code code;
    kw_compiler compiler;
    kw_cache *cache;
    size_t checked, failures, configs, fused, fused_weights, turned, filters, products, pitched_images;
    player_tally with_epilogue, with_first, with_filter, with_pitches;
    bool pitched_only, passed_by; /* the row is not played, but counts: so a kernel's words are the same however many rows are played */
    special_tally special;
} player;

/* Compiled kernels are kept in KW_CHECK_CACHE. arch: which of player_arches. */
void player_open(player *p, int arch);
/* Prints what was checked. The failures: wrong pairs, and kinds of which none is right. */
size_t player_close(player *p);

/* A kernel on its problems, of which head is the beginning and problems the sizes; and, in turns, as other problems have it. */
void player_check(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]);
/* The same kernel behind stages that turn its tensors; every other time with what an epilogue reads in the result's shape. */
void player_check_first(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]);
/* Channels, or channels first pixels, in larger tensors; every so many kernels. */
void player_check_pitched_images(player *p, const kw_config *config, const char *head, const char *sizes);
/* Products in larger matrices, as vectors of 16 or none allow: shared operands, gaps between lines and between matrices, lines of one result
 * between those of the other, and an epilogue. With KW_CHECK_PITCHED each kernel, and nothing else. */
void player_check_pitched(player *p, const kw_config *config, const char *head, bool vectors, const char *sizes);

#endif

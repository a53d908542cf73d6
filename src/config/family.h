/* family.h: what a kernel family is. One const struct says all of a family: its axes, which configs can be generated, which
 * problems they serve, how they are launched, how their text is made. The structs live in src/families/<backend>/, one file a family,
 * and kw_family_table (src/families/list.cmake) lists them; this folder only reads them.
 *
 * Who says what is allowed: rules/families/NAME.lua says which points of the space are worth having; the family's rules (rule.h) say which
 * can be generated at all, which run on a target and which problems a config serves. Each rule stands in exactly one of these places. */
#ifndef KW_CONFIG_FAMILY_H
#define KW_CONFIG_FAMILY_H

#include "base/text.h"
#include "config/rule.h"
#include "prelude/kernel_abi.h"
#include "problem/target/target.h"
#include "problem/wants.h"

enum { KW_AXIS_MAX = 32, KW_STAGE_MAX = 10 };

/* A tunable. Its value is an integer in low..high or, where words is given, one of these words (separated by blanks). */
typedef struct kw_axis {
    const char *name, *words;
    int32_t low, high;
    const char *meaning;
} kw_axis;

typedef struct kw_family kw_family;

/* One point of a family's space; a value. axis[i] belongs to family->axes[i]; of a word axis it is the word's position. */
typedef struct kw_config {
    const kw_family *family;
    kw_op op;
    kw_dtype dtype;
    int32_t axis[KW_AXIS_MAX];
    kw_wants wants; /* that its text serves; nothing in catalogs, which list plain configs, and copied for a problem's (kw_config_serves) */
} kw_config;

/* A kernel runs as up to ten stages with a barrier between them. A stage is so many independent units. On a CPU threads take contiguous
 * ranges of them; on a GPU a stage is one launch and a unit is a block of so many threads. Stages that pack come first: they read only w
 * and write only the packed weights, and are skipped when those are packed already. */
typedef struct kw_stage {
    int64_t units;
    bool packs;
    int32_t threads; /* of a block; 0 on a CPU */
} kw_stage;

/* What inner loops read more than once: each reading but the first, and the working set that passes between two of them, which tells from
 * which cache they are served. In all threads; 0 bytes: none, or always from the first level. */
typedef struct kw_cache_reuse {
    double bytes;
    int64_t between;
} kw_cache_reuse;

enum { KW_CACHE_REUSE_MAX = 2 };

/* A tensor as a GPU's bulk copies see it: axes from the innermost, contiguous one on. A copy brings a box of it; what lies outside is
 * zero. */
typedef struct kw_map {
    kw_tensor tensor;
    bool copied; /* of a copy of the tensor instead, in the workspace that all threads share, at byte `copied_at` of it */
    int64_t copied_at;
    kw_dtype dtype;
    int32_t rank;                    /* 0: no map */
    int64_t extent[KW_MAP_RANK];     /* elements */
    int64_t stride[KW_MAP_RANK - 1]; /* bytes from element to element of axes 1, 2, ...; multiples of 16 */
    int32_t box[KW_MAP_RANK];        /* elements, 256 at most; the innermost a multiple of 16 bytes */
    bool tf32;                       /* elements of fp32 may be rounded to tf32 as they are copied */
    bool swizzle;                    /* pieces of 16 bytes are exchanged in each 128 bytes, which a box then has innermost */
    /* An image: axes are channels, 1 to 3 spatial ones from the innermost on, images. A copy walks over pixels that the spatial axes
     * bound, box[1] of them; the other extents of the box are 1. */
    bool pixels;
    int32_t low[3], count[3], step[3]; /* of a spatial axis: position of the first pixel, pixels, distance from one to the next */
} kw_map;

/* A stage of a GPU that turns a tensor: so many matrices of rows x cols become cols x rows. */
typedef struct kw_turn {
    int64_t images, rows, cols; /* images 0: the stage is the kernel's own */
    int64_t line[2], image[2];  /* elements from a line to the next, from a matrix to the next: as it is read, and as it is written */
    int32_t tensor, bytes;      /* a kw_tensor, or KW_TENSOR_COUNT and the number of one of the epilogue's; of an element */
    bool back;                  /* from the copy to the tensor */
} kw_turn;

/* Where a channels-last copy of a tensor lies: at a byte of the packed weights or of the workspace that all threads share. */
typedef struct kw_copy {
    bool made, packed;
    int64_t at;
} kw_copy;

/* With kw_wants.first or .filter, kw_stage0 of the text is gpu/lib/turn.h's, and the kernel's own stages, which follow, see copies. */
typedef struct kw_turning {
    bool is;
    bool result_first;    /* the kernel's own stages write the result as the problem has it */
    bool none;            /* they read and write all tensors so: there are no such stages */
    int64_t copies_bytes; /* of launch.shared_bytes, those of the copies */
    /* Of a CPU, where a problem's filter lies in another order than its layout's: 1 + the stages that copy tensors of that order into the
     * layout's own, which the kernel's own stages see, and the result back; 0: none (config/launch/filter_copies.c). */
    int32_t filter_in, filter_back;
    /* Of a CPU, where w has zero points: so many stages in front sum x over channels, and over a filter's taps, into the epilogue's tensor behind
     * the last (config/launch/x_sums.h); between the two the sums over channels lie at x_sums_at of the shared workspace. */
    int32_t x_sums;
    int64_t x_sums_at;
    int32_t bias_at; /* 0: none; else the first of the stages of prelude/bias_gradient.h, whose kernels are the text's first */
    kw_turn stage[KW_STAGE_MAX];
    kw_copy copy[KW_TENSOR_COUNT + KW_EXTRA_MAX]; /* as kw_turn.tensor counts */
} kw_turning;

/* How a config runs on a problem. Counts of work are those of the whole launch, waste included; predict/ turns them into time. */
typedef struct kw_launch {
    int32_t stages;
    kw_stage stage[KW_STAGE_MAX];
    int64_t packed_bytes;     /* weights in the kernel's own order; 0: the kernel reads w as it is */
    int64_t packed_order;     /* which of its orders, where m, pitches or the machine decide that; weights in another one are refused */
    int64_t shared_bytes;     /* workspace that all threads share */
    int64_t thread_bytes;     /* workspace of each thread; 0 on a GPU */
    kw_kernel_params params;  /* for the kernel: its args->params; written through kw_launch_params */
    kw_reorder reorder;       /* for a CPU's kernel: args->reorder */
    kw_map map[KW_MAPS];      /* for a GPU's kernel: args.map */
    kw_turning turning;       /* of a GPU: stages that turn tensors, and the copies that the others see */
    bool early[KW_STAGE_MAX]; /* of a GPU: a stage's blocks may begin while the launch before ends; each thread calls kw_launch_wait() */
    int32_t cluster
        [KW_STAGE_MAX]; /* of a GPU: so many blocks of a stage, one after the other, run together and reach each other's memory; 0: none */
    double multiply_adds; /* vector multiply-add instructions */
    double products;      /* of a GPU's matrix instructions, padding included, where tile_m and tile_n do not tell; 0: nobody counted */
    double tiles;         /* of a GPU: tiles tile_m x tile_n of the result, times the parts of their depth; 0: it has no such tiles */
    double drawn_bytes;   /* of such tiles: what they draw from the second-level cache; 0: rows and columns of each step */
    double lane_copies;   /* accesses by which lanes bring such tiles' operands, 0: bulk copies do; without tiles, which nothing hides */
    bool by_registers;    /* of these: through registers, where products wait for them */
    double loads;         /* vector loads of the inner loops */
    double later;         /* of multiply-adds and loads, the share that begins when the tensors have come */
    double copied_bytes;  /* moved besides the three tensors: padded copies, and packing as 2 packed_bytes */
    kw_cache_reuse rereads[KW_CACHE_REUSE_MAX];
    int64_t bias_word; /* KW_BIAS_WORD of prelude/bias_gradient.h */
    bool joined;       /* of a GPU: the kernel takes a table of launches like this one (prelude/joined.h) */
    int32_t team;      /* threads of a CPU that it runs on, as was measured; 0: as config/launch/team.h estimates. No family sets it */
} kw_launch;

/* A launch's params as the struct of the kernel's args.h, all zeros at first:
 *     kw_direct_params *params = kw_launch_params(launch, kw_direct_params);
 * Reads the same words of a const launch with kw_launch_params_of. */
#define kw_launch_params(launch, type) ((type *)(void *)(launch)->params.word)
#define kw_launch_params_of(launch, type) ((const type *)(const void *)(launch)->params.word)

/* What a GPU's kernel takes of a multiprocessor before anyone has compiled it. */
typedef struct kw_resource_estimate {
    double registers, sums; /* of a thread; sums in registers or accumulators, 0: not known */
    double shared_bytes;    /* of a block */
} kw_resource_estimate;

/* Kernels of a family that are made to one problem's measure, at most. */
enum { KW_TAILORED_MAX = 28 };

/* Stage functions that are compiled into the library, for families that need no compiler. */
typedef struct kw_builtin {
    kw_kernel_stage *stage[KW_STAGE_MAX];
} kw_builtin;

struct kw_family {
    const char *name;    /* "conv.direct" */
    const char *summary; /* one line for people */
    kw_device_kind kind; /* KW_KIND_GPU: text that serves every GPU backend */
    bool
        is_reference; /* serves every problem of its ops and dtypes, with every axis at its lowest value: what is run when all else fails */
    bool fuses;       /* its text applies epilogues (kernels/prelude/epilogue_cpu.h); which ones, its rules may limit */
    bool quantized;   /* its text multiplies uint8 by int8 (kw_problem.mixed), and x less its zero point (KW_EPILOGUE_ZERO_X) */
    bool zero_w;      /* and w less its zero points: on a CPU its text stores through the epilogue's words (config/launch/x_sums.h) */
    bool zero_w_loaded; /* of a CPU: and takes them off as it loads weights, so that nobody needs sums of x */
    bool rounds;        /* of a GPU: it multiplies fp32 by instructions for tf32 where a problem permits it (kw_problem.fpmath) */
    bool fast_sums;     /* of a GPU: it leaves sums of fp8 to its instructions where a problem permits it (the same) */
    bool turns;         /* of a GPU: its text knows channels-last tensors alone, and gets copies of others */
    bool first_text;    /* channels-first problems are served by a text of their own: kw_wants.first */
    bool tiles;         /* of a CPU: has kernels of math=amx */
    bool narrow_pairs;  /* of a CPU without these: makes pairs of bf16 in vectors of 256 bits as well (isa=avx512vl math=dp) */
    bool short_sums;    /* of a CPU: multiplies int8 by math=fma, where fp32 holds the sums exactly */
    bool filters;       /* of a GPU: it reads and writes filters in any order (kw_problem.filter_order); on a CPU the library copies them */
    bool filter_text;   /* of a GPU: filters in another order than their layout's are turned by a text of their own: kw_wants.filter */
    bool pitched;       /* it serves tensors that are parts of larger ones (kw_problem.pitch) */
    bool pitched_text;  /* and these by a text of their own: kw_wants.pitched */
    bool row_groups;    /* its text has KW_ROW_GROUPS: grouped products (kw_gemm_dims.groups) */
    bool joins;         /* of a GPU: and KW_JOINED: products of any sizes in one launch (prelude/joined.h) */
    uint32_t ops, dtypes; /* bits 1 << kw_op, 1 << kw_dtype */
    const kw_axis *axes;
    int32_t axis_count;
    /* Axes that came after kernels of the family were stored (rows, wisdom), each with the value that those kernels have:
     * "edge=part ahead=1". A text that leaves one of these out is read with that value; a text that is printed names all. NULL: none. */
    const char *added;
    /* Up to KW_RULE_TABLES - 1 tables of each kind, asked in this order. */
    const kw_rule *rules[KW_RULE_KINDS][KW_RULE_TABLES];
    /* For the rules: the config read into a struct of the family's own, at most KW_DECODED_BYTES, and where a target is given what that
     * makes of it. NULL: they read the axes. */
    void (*decode)(const kw_config *config, const kw_target *target, void *decoded);
    /* Only for a problem that fits, so it cannot fail. The launch is all zeros at first. kw_config_launch() is what others call. */
    void (*launch)(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch);
    /* For blocks of so many threads. NULL: nothing is known of the family's kernels. */
    kw_resource_estimate (*estimate_resources)(const kw_config *config, const kw_target *target, double threads);
    /* Kernels made to this very problem's measure on this target, which no list has because lists of all would be too long; how many. Rules ask
     * whether they serve it, the estimate says which are worth while (dispatch/tailored/tailored.h). The same for the same problem and target. NULL: lists
     * have all. */
    size_t (*tailor)(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]);
    /* Share of the sum of the products' magnitudes by which a kernel's sums may be off beyond fp32's rounding. NULL: none. */
    double (*sum_error)(const kw_config *config);
    /* Whether the config has a text of its own for problems that read much padding: kw_wants.padded. NULL: none has. */
    bool (*padded_text)(const kw_config *config);
    /* Appends the #defines and functions of kw_config.h; NULL for compiled-in families. */
    void (*emit)(const kw_config *config, kw_text *text);
    const char *kernel; /* file of kernels/, which includes kw_config.h: "cpu/direct/direct.c". NULL: emit() writes the whole kernel */
    const char *(*kernel_of)(const kw_config *config); /* the same, where it is not one for all configs; NULL: it is */
    /* Compiled-in stages; NULL for generated families. */
    const kw_builtin *(*builtin)(const kw_config *config);
};

/* All families, the compiled-in ones last; ended by NULL. */
extern const kw_family *const kw_family_table[];

const kw_family *kw_family_find(kw_word name);
/* Fails with the family that was meant. */
kw_status kw_family_fail_unknown(kw_word name, kw_error *err);
/* The position of an axis; -1 when the family has none of that name. */
int kw_family_axis(const kw_family *family, kw_word name);

#endif

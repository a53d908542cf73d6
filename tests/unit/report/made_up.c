/* made_up.c: the rows. Noise comes from a fixed sequence. */
#include "base/statistics/random.h"
#include "made_up.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_target(char *text, size_t room, int number) {
    snprintf(text, room, "cpu:x86-64-v4-bf16 model=vendor-25-97-%d units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432",
             2 + number);
}

typedef struct shape {
    const char *config;      /* with %s for op and type */
    double one, three, deep; /* efficiency on filters 1x1, 3x3 and with few channels */
} shape;

static const shape conv_shapes[] = {
    {"conv.direct %s %s isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=skip", 0.62, 0.91, 0.30},
    {"conv.direct %s %s isa=avx512 math=fma tile_h=2 tile_w=7 vecs=2 band=0 edge=pad", 0.55, 0.87, 0.34},
    {"conv.direct %s %s isa=avx512 math=fma tile_h=1 tile_w=28 vecs=1 band=4 edge=pad", 0.50, 0.72, 0.21},
    {"conv.direct %s %s isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=skip", 0.41, 0.52, 0.26},
    {"conv.pointwise %s %s isa=avx512 math=fma tile_m=14 vecs=2 band=0 ahead=1", 0.93, 0, 0.40},
    {"conv.pointwise %s %s isa=avx512 math=fma tile_m=28 vecs=1 band=0 ahead=0", 0.84, 0, 0.31},
    {"conv.merged %s %s isa=avx512 math=fma tile_h=1 tile_w=14 vecs=1 block=8", 0.30, 0.38, 0.66},
    {"conv.reference %s %s", 0.03, 0.04, 0.02},
};
static const shape gemm_shapes[] = {
    {"gemm.tiled %s %s isa=avx512 math=fma tile_m=14 vecs=2 band=0 ahead=1", 0.90, 0.88, 0.5},
    {"gemm.tiled %s %s isa=avx512 math=fma tile_m=8 vecs=3 band=1 ahead=1", 0.85, 0.91, 0.6},
    {"gemm.tiled %s %s isa=avx2 math=fma tile_m=6 vecs=2 band=0 ahead=0", 0.48, 0.5, 0.4},
    {"gemm.reference %s %s", 0.02, 0.02, 0.02},
};
enum { CONV_SHAPES = sizeof conv_shapes / sizeof *conv_shapes, GEMM_SHAPES = sizeof gemm_shapes / sizeof *gemm_shapes };

typedef struct maker {
    const made_up *what;
    uint64_t state;
    int64_t sequence;
    int target;
    bool (*row)(void *user, const kw_row *row);
    void *user;
} maker;

/* 0 to 1 */
static double chance(maker *of) {
    return kw_random_unit(&of->state);
}

static void print_problem(char text[KW_PROBLEM_TEXT_MAX], int number) {
    static const char *const ops[] = {"conv_fwd", "conv_bwd_data", "conv_bwd_weight", "gemm"};
    static const char *const types[] = {"fp32", "bf16"};
    static const int channels[] = {3, 16, 64, 128, 256, 512}, sizes[] = {7, 14, 28, 56, 112};
    const char *op = ops[number % 4], *type = types[number / 4 % 2];
    int c = channels[number / 8 % 6], size = sizes[number / 3 % 5], filter = number / 5 % 2 ? 3 : 1;
    char line[KW_PROBLEM_TEXT_MAX];
    kw_problem problem;
    if (number % 4 == 3) {
        snprintf(line, sizeof line, "gemm %s rcr m%d n%d k%d", type, size * size, 64 + number, 8 * c);
    } else {
        snprintf(line, sizeof line, "%s %s n%d c%d k%d i%dx%d f%d p%d", op, type, 1 + number % 7, c, 16 + 16 * (number % 9), size,
                 size + number % 3, filter, filter / 2);
    }
    if (kw_problem_parse(&problem, line, NULL)) {
        abort();
    }
    kw_problem_print(text, KW_PROBLEM_TEXT_MAX, &problem);
}

static void fail(maker *of, kw_row *row, kw_outcome outcome) {
    static const char *const details[KW_OUTCOME_COUNT] = {
        [KW_UNFIT] = "filter 3x3: the family serves 1x1 alone",
        [KW_UNCOMPILED] = "gcc 12.2.0: internal compiler error at line 118",
        [KW_WRONG] = "y[1,0,17,3]: 41 where 40 is right; 12 of 50176 differ",
        [KW_MISTRUSTED] = "512 of 600 expected values are zero",
        [KW_UNLAUNCHED] = "out of memory for a workspace of 123456789 bytes",
        [KW_CRASHED] = "signal 11 (segmentation fault) after 0.3 s",
        [KW_TIMED_OUT] = "still ran after 30 s",
    };
    row->record.outcome = outcome;
    snprintf(row->record.detail, sizeof row->record.detail, "%s", details[outcome] ? details[outcome] : "");
    if (of->what->hostile) {
        snprintf(row->record.detail, sizeof row->record.detail,
                 "</script><script>alert(1)</script> \" onload=alert(2) \033]0;x\007 \xe2\x80\xae%d", (int)outcome);
    }
}

static void time_row(maker *of, kw_row *row, double least_ns, double efficiency) {
    kw_record *record = &row->record;
    double time = least_ns / efficiency / (of->what->speed > 0 ? of->what->speed : 1) * (1 + 0.05 * chance(of));
    record->outcome = KW_GOOD;
    record->time_ns = time;
    record->spread_ns = 0.01 * time * chance(of);
    record->median_ns = time * 1.003;
    record->least_ns = time * 0.99;
    record->half_ns[0] = time * (1 + 0.008 * (chance(of) - 0.5));
    record->half_ns[1] = time * (1 + 0.008 * (chance(of) - 0.5));
    record->samples = 21;
    record->calls = time < 3e5 ? (int32_t)(3e5 / time) + 1 : 1;
    record->warmups = 3;
    if (efficiency < 0.25 && chance(of) < 0.4) {
        record->outcome = KW_SLOW;
        record->samples = 2;
        record->half_ns[0] = record->half_ns[1] = 0;
    }
}

static bool add_row(maker *of, const kw_problem *problem, const char *text, const shape *kind) {
    kw_row row = {.sequence = of->sequence++,
                  .packed = true,
                  .compile_ns = 9e7 * exp(chance(of)),
                  .code_bytes = 4000 + of->sequence % 9000,
                  .pid = 77};
    bool second = of->sequence > 900;
    double peak = problem->dtype == KW_FP32 ? MADE_UP_FP32_PEAK : 2 * MADE_UP_FP32_PEAK;
    double arithmetic = (double)kw_problem_flops(problem) / peak * 1e9, moving = (double)kw_problem_bytes(problem) / MADE_UP_MEMORY * 1e9;
    double least_ns = kw_problem_bytes(problem) > 33554432 && moving > arithmetic ? moving : arithmetic;
    bool few = problem->op != KW_GEMM && problem->conv.c < 16, wide = problem->op != KW_GEMM && problem->conv.filter[2] > 1;
    double efficiency = (wide && kind->three <= 0 ? 0
                         : few                    ? kind->deep
                         : wide                   ? kind->three
                                                  : kind->one) *
                        (0.8 + 0.2 * chance(of)) * (least_ns < 4e4 ? 0.7 : 1);
    snprintf(row.run, sizeof row.run, "%08x%024d", second ? 0x5eed0002 : 0x5eed0001, 0);
    snprintf(row.time, sizeof row.time, "2026-11-%02dT%02d:%02d:%02dZ", second ? 22 : 21, (int)(6 + of->sequence / 3600 % 18),
             (int)(of->sequence / 60 % 60), (int)(of->sequence % 60));
    print_target(row.target, sizeof row.target, of->target);
    snprintf(row.problem, sizeof row.problem, "%s", text);
    snprintf(row.record.config, sizeof row.record.config, kind->config, kw_op_name(problem->op), kw_dtype_name(problem->dtype));
    row.control_ns = 51200 * (1 + 0.012 * (chance(of) - 0.5) + (second ? 0.02 * (double)(of->sequence % 900) / 900 : 0));
    row.control_ns *= chance(of) < 0.012 ? 1.09 : 1;
    row.control_ns *= of->what->controlless && of->sequence % 9 <= 1 ? 0 : 1;
    double luck = chance(of);
    if (efficiency <= 0) {
        fail(of, &row, KW_UNFIT);
    } else if (of->what->only_failures || (luck < 0.03 && efficiency > 0.1)) {
        static const kw_outcome kinds[] = {KW_WRONG, KW_CRASHED, KW_TIMED_OUT, KW_UNCOMPILED, KW_UNLAUNCHED, KW_MISTRUSTED};
        fail(of, &row, kinds[(int)(luck * 6e3) % 6]);
    } else {
        time_row(of, &row, least_ns, efficiency);
    }
    if (of->what->hostile && of->sequence % 3 == 0) {
        static const char attack[] = "\"><script>alert(3)</script><img src=http://127.0.0.1/x>'\033[2J";
        memset(row.record.config, 'x', sizeof row.record.config - 1);
        memcpy(row.record.config, attack, sizeof attack - (size_t)(of->sequence % 2)); /* with its end, or followed by a very long word */
    }
    return of->row(of->user, &row);
}

static void fill_run(kw_run *run, const made_up *what, int number) {
    snprintf(run->id, sizeof run->id, "%08x%024d", 0x5eed0000 + number, 0);
    snprintf(run->started, sizeof run->started, "2026-11-%02dT05:47:09Z", 20 + number);
    snprintf(run->version, sizeof run->version, "0.1.0");
    snprintf(run->command, sizeof run->command, "kwright sweep --set default --problems forward_2d --out results.db");
    snprintf(run->host, sizeof run->host, "%s", what->hostile ? "<b onmouseover=alert(4)>\"'&" : "bench-1");
    snprintf(run->device, sizeof run->device, "%s", what->hostile ? "</title></text><script>alert(5)</script>" : "Vendor 8-core processor");
    print_target(run->target, sizeof run->target, 0);
    snprintf(run->compiler, sizeof run->compiler, "gcc 12.2.0");
    snprintf(run->pool, sizeof run->pool, "default x86-64-v4-bf16");
    snprintf(run->options, sizeof run->options, "threads=2 batches=21 seed=%d", number);
    if (!what->roofless) {
        snprintf(run->roofs, sizeof run->roofs, "fp32=%.3g bf16=%.3g memory=%.3g", MADE_UP_FP32_PEAK, 2 * MADE_UP_FP32_PEAK,
                 MADE_UP_MEMORY);
    }
}

bool made_up_visit(const made_up *what, bool (*run)(void *user, const kw_run *run), bool (*row)(void *user, const kw_row *row),
                   void *user) {
    maker of = {.what = what, .state = 7 + (uint64_t)(1000 * what->speed), .row = row, .user = user};
    for (int i = 1; i <= 2; i++) {
        kw_run facts = {0};
        fill_run(&facts, what, i);
        if (!run(user, &facts)) {
            return false;
        }
    }
    for (int p = 0; p < what->problems; p++) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem problem;
        print_problem(text, p);
        if (kw_problem_parse(&problem, text, NULL)) {
            abort();
        }
        of.target = what->targets ? p % what->targets : 0;
        const shape *kinds = problem.op == KW_GEMM ? gemm_shapes : conv_shapes;
        for (int k = 0; k < (problem.op == KW_GEMM ? (int)GEMM_SHAPES : (int)CONV_SHAPES); k++) {
            if (!add_row(&of, &problem, text, &kinds[k])) {
                return false;
            }
        }
    }
    return true;
}

/* isa.h: the CPU instruction sets that kernels are generated for, and the axes that all generated CPU families share. One table: what
 * an isa means to the emitter, to the compiler and to the machine. */
#ifndef KW_CONFIG_ARCH_ISA_H
#define KW_CONFIG_ARCH_ISA_H

#include "config/family.h"

/* One list for the enum, the words of the axis and the table, with a separator between its entries: identifier, name, fp32 lanes, vector
 * registers. */
#define KW_ISAS(X, SEPARATOR)                                                                                                              \
    X(AVX2, "avx2", 8, 16)                                                                                                                 \
    SEPARATOR                                                                                                                              \
    X(AVX512, "avx512", 16, 32)                                                                                                            \
    SEPARATOR                                                                                                                              \
    X(AVX512VL, "avx512vl", 8, 32)
#define KW_ISA_WORD(id, name, lanes, registers) name
#define KW_ISA_ID(id, name, lanes, registers) KW_ISA_##id,
enum { KW_ISAS(KW_ISA_ID, ) KW_ISA_COUNT };
#undef KW_ISA_ID

/* The first two axes of every generated CPU family, in this order. math is how a kernel multiplies; kw_multiply says which types by which
 * instructions. */
#define KW_ISA_AXES                                                                                                                        \
    {"isa", KW_ISAS(KW_ISA_WORD, " "), 0, 2, "instruction set: 8 fp32 lanes and 16 registers, 16 and 32, 8 and 32"}, {                     \
        "math", "fma dp wide amx", 0, 3,                                                                                                   \
            "fma: fp32 multiply-add; dp: dot products of bf16 pairs, int8 quads; wide: of int8 as int16 pairs; amx: tiles of bf16, int8"   \
    }
enum { KW_AXIS_ISA = 0, KW_AXIS_MATH = 1, KW_ISA_AXIS_COUNT = 2 };
enum { KW_MATH_FMA = 0, KW_MATH_DP = 1, KW_MATH_WIDE = 2, KW_MATH_AMX = 3 };

typedef struct kw_isa {
    const char *name;
    int32_t lanes, registers;
} kw_isa;
/* Of KW_ISA_..., of which the axis isa has the numbers. */
const kw_isa *kw_isa_at(int32_t isa);

/* What a CPU may have beyond its instruction sets: identifier, the word in rules/arch. */
#define KW_CPU_FEATURES(X)                                                                                                                 \
    X(BF16, "bf16")         /* AVX512_BF16 */                                                                                              \
    X(VNNI, "vnni")         /* AVX512_VNNI */                                                                                              \
    X(AVX_VNNI, "avx_vnni") /* the same in 256 bits, without AVX-512 */                                                                    \
    X(AMX, "amx")           /* AMX_TILE, AMX_BF16, AMX_INT8; or they are played (base/os/tiles.h) */
enum {
#define KW_CPU_FEATURE_BIT(id, word) KW_CPU_BIT_##id,
    KW_CPU_FEATURES(KW_CPU_FEATURE_BIT)
#undef KW_CPU_FEATURE_BIT
        KW_CPU_FEATURE_COUNT
};
enum {
#define KW_CPU_FEATURE(id, word) KW_CPU_##id = 1 << KW_CPU_BIT_##id,
    KW_CPU_FEATURES(KW_CPU_FEATURE)
#undef KW_CPU_FEATURE
};

/* One way to multiply values of a type: what a core needs for it, how the compiler is told, how many source elements an instruction
 * takes in each 32-bit lane. A source element is read as 4 / pair bytes. */
typedef struct kw_multiply {
    int32_t math;
    uint32_t dtypes; /* bits 1 << kw_dtype */
    int32_t isa, pair;
    uint32_t needs;      /* bits KW_CPU_... */
    const char *options; /* of the compiler */
} kw_multiply;

const kw_isa *kw_config_isa(const kw_config *config);
/* How a config multiplies; NULL when its math does not serve its type with its isa, which KW_VALID refuses. */
const kw_multiply *kw_config_multiply(const kw_config *config);
/* Instructions of it that a core gets done in a nanosecond; of tiles, rows of 16 lanes. 0: not measured. */
double kw_multiply_rate(int32_t math, int32_t isa, kw_dtype dtype, const kw_rates *rates);
/* What it takes, in multiply-adds' time, to widen a vector of the config's type in the loop that multiplies it; 0 where it is multiplied as
 * it lies. For families that read tensors there: others widen when they copy or pack. */
double kw_widening_products(const kw_config *config);
/* The rules on the two axes, for every generated CPU family: KW_VALID, KW_RUNS. */
extern const kw_rule kw_isa_valid_rules[], kw_isa_runs_rules[];

/* CPU architectures: the names that a target's arch may have, weakest first, and what each can run. */
typedef struct kw_cpu_arch {
    const char *name;
    uint32_t isas; /* bits 1 << KW_ISA_... */
    uint32_t has;  /* bits KW_CPU_... */
    int32_t lanes, registers;
} kw_cpu_arch;

extern const kw_cpu_arch kw_cpu_archs[]; /* made from rules/arch by make_archs.c; ended by a NULL name */
const kw_cpu_arch *kw_cpu_arch_find(const char *name);

#endif

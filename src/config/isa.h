/* isa.h: the CPU instruction sets that kernels are generated for, and the axes that all generated CPU families share. One table: what
 * an isa means to the emitter, to the compiler and to the machine. */
#ifndef KW_CONFIG_ISA_H
#define KW_CONFIG_ISA_H

#include "config/family.h"

/* One list for the enum, the words of the axis and the table, with a separator between its entries: identifier, name, fp32 lanes, vector
 * registers, compiler options for math=fma and for math=dp (NULL: there is none). x86-64-v4 has all of AVX-512 that the emitters use;
 * gcc 12 knows no name for Zen 4. */
#define KW_ISAS(X, SEPARATOR)                                                                                                              \
    X(AVX2, "avx2", 8, 16, "-march=x86-64-v3", NULL)                                                                                       \
    SEPARATOR                                                                                                                              \
    X(AVX512, "avx512", 16, 32, "-march=x86-64-v4 -mprefer-vector-width=512", "-march=x86-64-v4 -mavx512bf16 -mprefer-vector-width=512")
#define KW_ISA_WORD(id, name, lanes, registers, march, march_dp) name
#define KW_ISA_ID(id, name, lanes, registers, march, march_dp) KW_ISA_##id,
enum { KW_ISAS(KW_ISA_ID, ) KW_ISA_COUNT };
#undef KW_ISA_ID

/* The first two axes of every generated CPU family, in this order. math: fma multiplies and adds fp32 vectors (narrower types are widened);
 * dp multiplies pairs of bf16 and adds into fp32 (vdpbf16ps). */
#define KW_ISA_AXES                                                                                                                        \
    {"isa", KW_ISAS(KW_ISA_WORD, " "), 0, 1, "instruction set: 8 or 16 fp32 lanes"}, {                                                     \
        "math", "fma dp", 0, 1, "fma: fp32 multiply-add; dp: pairs of bf16 (needs isa=avx512, bf16)"                                       \
    }
enum { KW_AXIS_ISA = 0, KW_AXIS_MATH = 1, KW_ISA_AXIS_COUNT = 2 };
enum { KW_MATH_FMA = 0, KW_MATH_DP = 1 };

typedef struct kw_isa {
    const char *name;
    int32_t lanes, registers;
    const char *march;    /* compiler options for math=fma */
    const char *march_dp; /* for math=dp; NULL: there is none */
} kw_isa;

const kw_isa *kw_config_isa(const kw_config *config);
/* The rules on the two axes, for every generated CPU family: KW_VALID, KW_RUNS. */
extern const kw_rule kw_isa_valid_rules[], kw_isa_runs_rules[];

/* CPU architectures: the names that a target's arch may have, weakest first, and what each can run. */
typedef struct kw_cpu_arch {
    const char *name;
    uint32_t isas; /* bits 1 << KW_ISA_... */
    bool bf16;     /* multiplies pairs of bf16 */
    int32_t lanes, registers;
} kw_cpu_arch;

extern const kw_cpu_arch kw_cpu_archs[]; /* made from rules/arch by make_archs.c; ended by a NULL name */
const kw_cpu_arch *kw_cpu_arch_find(const char *name);

#endif

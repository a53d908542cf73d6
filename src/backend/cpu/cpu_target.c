/* cpu_target.c: the facts of this machine's CPU. An instruction set counts only when the operating system keeps its registers as well
 * (xgetbv). What is not known gets a modest value, so that no fact that predict/ divides by is 0. Nothing is measured here: facts are
 * wisdom's key and must be the same tomorrow. */
#include "backend/backend.h"

#include "base/os/parallel.h"
#include "base/os/tiles.h"
#include "config/arch/isa.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

typedef struct features {
    uint32_t isas; /* bits 1 << KW_ISA_... */
    uint32_t has;  /* bits KW_CPU_... */
} features;

#ifdef __x86_64__
static bool has_bits(unsigned word, unsigned bits) {
    return (word & bits) == bits;
}

static unsigned saved_registers(void) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* All of x86-64-v3 and, beyond it, of x86-64-v4: a compiler told -march=x86-64-v3 may use any of them. */
static features read_cpu_features(void) {
    enum { STATE_AVX = 0x6, STATE_AVX512 = 0xe6 };
    features found = {0};
    unsigned a, b, c, d, state, extended = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_bits(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_POPCNT)) {
        return found;
    }
    state = saved_registers();
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
        extended = c;
    }
    if (!has_bits(state, STATE_AVX) || !has_bits(extended, bit_LZCNT) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return found;
    }
    bool avx2 = has_bits(b, bit_AVX2 | bit_BMI | bit_BMI2);
    bool avx512 =
        avx2 && has_bits(state, STATE_AVX512) && has_bits(b, bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ | bit_AVX512CD);
    found.isas = (uint32_t)avx2 << KW_ISA_AVX2 | (uint32_t)avx512 << KW_ISA_AVX512 | (uint32_t)avx512 << KW_ISA_AVX512VL;
    found.has = avx512 && has_bits(c, bit_AVX512VNNI) ? KW_CPU_VNNI : 0;
    if (avx2 && a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
        found.has |= has_bits(a, bit_AVXVNNI) ? KW_CPU_AVX_VNNI : 0;
        found.has |= avx512 && has_bits(a, bit_AVX512BF16) ? KW_CPU_BF16 : 0;
    }
    char why[64];
    found.has |= kw_tiles_ask(why) >= KW_TILES_REAL ? KW_CPU_AMX : 0;
    return found;
}

static void read_cpu_model(char *text, size_t capacity) {
    unsigned a, b, c, d;
    char vendor[13] = "";
    if (!__get_cpuid(0, &a, &b, &c, &d)) {
        snprintf(text, capacity, "x86-64");
        return;
    }
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    for (char *letter = vendor; *letter; letter++) {
        if (*letter <= ' ' || *letter > '~') {
            *letter = '_'; /* the model is one word of the target's text */
        }
    }
    __get_cpuid(1, &a, &b, &c, &d);
    unsigned family = a >> 8 & 15, model = a >> 4 & 15;
    if (family == 6 || family == 15) {
        model |= (a >> 16 & 15) << 4;
    }
    if (family == 15) {
        family += a >> 20 & 255;
    }
    snprintf(text, capacity, "%s-%u-%u-%u", vendor, family, model, a & 15);
}

static void read_brand(char text[64]) {
    unsigned words[12], highest = (unsigned)__get_cpuid_max(0x80000000, NULL);
    char brand[sizeof words + 1] = "";
    if (highest < 0x80000004) {
        read_cpu_model(text, 64);
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        __get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]);
    }
    memcpy(brand, words, sizeof words);
    size_t used = 0;
    for (const char *letter = brand; *letter; letter++) { /* single blanks, none at the ends */
        if (*letter != ' ' || (used && text[used - 1] != ' ')) {
            text[used++] = *letter;
        }
    }
    text[used && text[used - 1] == ' ' ? used - 1 : used] = 0;
}
#else
static features read_cpu_features(void) {
    return (features){0};
}

static void read_cpu_model(char *text, size_t capacity) {
    snprintf(text, capacity, "unknown");
}

static void read_brand(char text[64]) {
    snprintf(text, 64, "unknown CPU");
}
#endif

void kw_cpu_brand(char text[KW_BRAND_MAX]) {
    char brand[64], why[64];
    read_brand(brand);
    kw_tiles tiles = kw_tiles_ask(why);
    snprintf(text, KW_BRAND_MAX, "%s%s%s", brand,
             tiles == KW_TILES_REFUSED  ? "; the system refuses its tile registers (AMX): "
             : tiles == KW_TILES_PLAYED ? "; tile registers (AMX) are played"
                                        : "",
             why);
}

/* A small file of /sys, terminated; false when there is none. */
static bool read_fact(char text[32], int cpu, int index, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, 31) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

static int64_t read_cache_size(const char *text) {
    char *unit;
    int64_t size = strtoll(text, &unit, 10);
    return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
}

static void read_caches(kw_target *target, int cpu) {
    char type[32], level[32], size[32];
    for (int i = 0; i < 8 && read_fact(type, cpu, i, "type") && read_fact(level, cpu, i, "level") && read_fact(size, cpu, i, "size"); i++) {
        int64_t *fact = *level == '1' ? &target->l1 : *level == '2' ? &target->l2 : &target->l3;
        if (*type != 'I') {
            *fact = read_cache_size(size);
        }
    }
    const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    const int64_t modest[] = {32 << 10, 256 << 10, 0};
    int64_t *facts[] = {&target->l1, &target->l2, &target->l3};
    for (int i = 0; i < 3; i++) {
        long known = *facts[i] > 0 ? 0 : sysconf(names[i]);
        if (*facts[i] <= 0) {
            *facts[i] = known > 0 ? known : modest[i];
        }
    }
    if (!target->l3) {
        target->l3 = target->l2; /* the last level is the second */
    }
}

const char *kw_cpu_wanted_arch(void) {
    return secure_getenv("KW_CPU_ARCH");
}

void kw_cpu_target(kw_target *target, int threads) {
    int first = 0, cores = (int)kw_cores_list(&first, 1);
    features found = read_cpu_features();
    const char *wanted = kw_cpu_wanted_arch();
    const kw_cpu_arch *best = &kw_cpu_archs[0];
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) { /* weakest first: the last that runs is the best */
        if (!(arch->isas & ~found.isas) && !(arch->has & ~found.has)) {
            best = arch;
            if (wanted && !strcmp(wanted, arch->name)) {
                break;
            }
        }
    }
    *target =
        (kw_target){.backend = KW_BACKEND_CPU, .units = threads > 0 ? threads : cores, .lanes = best->lanes, .registers = best->registers};
    snprintf(target->arch, sizeof target->arch, "%s", best->name);
    read_cpu_model(target->model, sizeof target->model);
    read_caches(target, first);
}

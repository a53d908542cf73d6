/* test_epilogue_instructions.c: how many instructions a vector of results takes on its way through an epilogue, in what the C compiler makes
 * of a loop that does nothing else, and of a kernel's tile: so that structs which no longer become scalars, or constants that are loaded
 * anew, are seen. Limits are 5 to 15 % above what there was when they were set. Nothing is run, so the machine need not have the
 * instructions. */
#include "config/config.h"
#include "families/source.h"
#include "jit/jit.h"
#include "jit/toolchain/cc.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMITS_OF = 12 };

typedef struct assembler {
    kw_compiler compiler;
    char folder[SCRATCH_MAX];
} assembler;

/* Behind a kernel's text, as tiles do it: two vectors a turn, of two pixels, or those of a sum of row pairs
 * (cpu/grouped/grouped_result.h). */
static const char loop_text[] =
    "typedef struct kw_loop_job {\n"
    "    const kw_kernel_args *args;\n"
    "    kw_place at;\n"
    "    const kw_vf *sums;\n"
    "    char *out;\n"
    "    kw_i64 count;\n"
    "} kw_loop_job;\n"
    "void kw_loop(const kw_loop_job *job) {\n"
    "    const kw_vf *sums = job->sums;\n"
    "    char *p = job->out;\n"
    "    kw_tables tables = kw_tables_of();\n"
    "#ifdef KW_ROW_PAIRS\n"
    "    kw_channels channels = kw_channels_of(job->args);\n"
    "    const kw_channels *at = kw_channels_set(&channels, 0, 0);\n"
    "    KW_HOLD_PARTS(held)\n"
    "    for (kw_i64 i = job->count; i; i--, sums += 2, p += 2 * KW_LANES * KW_OUT_BYTES)\n"
    "        kw_result_pairs(&tables, held, p, sums[0], sums[1], at);\n"
    "#else\n"
    "    kw_held held = kw_held_of(kw_place_moved(job->at, 0, 0, 0));\n"
    "    for (kw_i64 i = job->count; i; i--, sums += 2, p += 2 * KW_LANES * KW_OUT_BYTES) {\n"
    "        kw_result_held(&tables, &held, p, sums[0], kw_place_moved(job->at, 0, 0, 0));\n"
    "        kw_result_held(&tables, &held, p + KW_LANES * KW_OUT_BYTES, sums[1], kw_place_moved(job->at, 0, 1, 0));\n"
    "    }\n"
    "#endif\n"
    "}\n";

/* The C compiler's assembly of a kernel and the loop, by the options that kernels are compiled with; scalars: with the text's own word for
 * scalar replacement. */
static char *assembly_of(const assembler *a, const char *text, bool scalars) {
    char source_path[2 * SCRATCH_MAX], assembly_path[2 * SCRATCH_MAX];
    kw_config config;
    kw_text source = {0}, command = {0};
    kw_error err = {0};
    size_t size;
    assert_ok(kw_config_parse(&config, text, &err), &err);
    assert_ok(kw_source_make(&source, &config, (kw_code){0}, &err), &err);
    kw_text_add(&source, loop_text);
    char *pragma = scalars ? NULL : strstr(source.data, "tree-sra");
    if (pragma) {
        memcpy(pragma, "tree-ccp", 8); /* which is on anyway */
    }
    scratch_write(scratch_path(source_path, a->folder, "kernel.c"), source.data, source.size, 0644);
    kw_text_addf(&command, "'%s'", a->compiler.path);
    for (const char *const *option = kw_compiler_options(&a->compiler); *option; option++) {
        kw_text_addf(&command, " '%s'", *option);
    }
    kw_text_addf(&command, " %s -S -o '%s' '%s'", kw_source_options(&config, (kw_code){0}),
                 scratch_path(assembly_path, a->folder, "kernel.s"), source_path);
    if (system(kw_text_string(&command))) {
        fail_msg("%s", kw_text_string(&command));
    }
    char *assembly = scratch_read(assembly_path, &size);
    kw_text_drop(&source);
    kw_text_drop(&command);
    return assembly;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Lines that begin with a blank and a letter. */
static int count_instructions(const char *from, const char *to) {
    int count = 0;
    for (const char *line = from; line < to; line = next_line(line)) {
        const char *word = line + strspn(line, " \t");
        count += word > line && islower((unsigned char)*word);
    }
    return count;
}

/* A function's text, from its label to its last return. */
static const char *function_of(const char *assembly, const char *name, const char **end) {
    char label[32];
    snprintf(label, sizeof label, "\n%s:", name);
    const char *start = strstr(assembly, label);
    snprintf(label, sizeof label, "\t%s, .-", name);
    *end = start ? strstr(start, label) : NULL;
    if (!*end) {
        fail_msg("the assembly has no function %s", name);
    }
    return start + 1;
}

/* Of the longest run of lines from a label to a jump back to it. */
static int instructions_of_loop(const char *assembly) {
    const char *end, *start = function_of(assembly, "kw_loop", &end);
    int most = 0;
    for (const char *line = start; line < end; line = next_line(line)) {
        char label[24] = "\n";
        const char *jump = line + strspn(line, " \t"), *name = jump + strcspn(jump, " \t\n");
        if (jump > line && *jump == 'j') {
            name += strspn(name, " \t");
            snprintf(label + 1, sizeof label - 1, "%.*s:", (int)strcspn(name, " \t\n"), name);
            const char *back = strstr(start, label);
            int count = back && back < line ? count_instructions(back + 1, line) : 0;
            most = count > most ? count : most;
        }
    }
    return most;
}

static int instructions_of_tile(const char *assembly) {
    const char *end, *start = function_of(assembly, "kw_tile", &end);
    return count_instructions(start, end);
}

#define PAIRS "conv.depthwise conv_fwd bf16 isa=avx512 math=dp tile_h=1 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0"
#define ROWS_512 "gemm.tiled gemm fp32 isa=avx512 math=fma tile_m=14 vecs=2 band=0 ahead=0"
#define ROWS_BF16 "gemm.tiled gemm bf16 isa=avx512 math=dp tile_m=14 vecs=2 band=0 ahead=0"
#define ROWS_256 "gemm.tiled gemm fp32 isa=avx2 math=fma tile_m=6 vecs=2 band=0 ahead=0"

static void a_vector_takes_few_instructions(void **state) {
    static const struct {
        const char *config, *epilogue;
        int most; /* for two vectors, what counts and jumps among them */
        int tile; /* of the kernel's own tile; 0: it leaves its sums to another function */
    } rows[] = {
        {ROWS_512, "epilogue=add:fp32,relu", 14, 820},     {ROWS_512, "epilogue=bias:fp32,gelu", 46, 0},
        {ROWS_512, "epilogue=bias:fp32,gelu_tanh", 79, 0}, {ROWS_512, "out=int8 epilogue=scale_channel:fp32", 22, 905},
        {ROWS_BF16, "epilogue=add:bf16,relu", 20, 800},    {PAIRS, "epilogue=add:bf16,relu", 17, 450},
        {PAIRS, "epilogue=bias:fp32,gelu", 48, 710},       {PAIRS, "out=int8 epilogue=scale_channel:fp32", 20, 500},
        {ROWS_256, "epilogue=add:fp32,relu", 14, 560},     {ROWS_256, "epilogue=bias:fp32,gelu", 77, 0},
    };
    const assembler *a = *state;
    int over = 0;
    if (strcmp(a->compiler.kind, "gcc") || strtol(a->compiler.version, NULL, 10) != LIMITS_OF) {
        print_message("the limits are those of gcc %d, and kernels are compiled by %s %s\n", LIMITS_OF, a->compiler.kind,
                      a->compiler.version);
        skip();
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        snprintf(text, sizeof text, "%s %s", rows[i].config, rows[i].epilogue);
        char *scalars = assembly_of(a, text, true), *structs = assembly_of(a, text, false);
        int count = instructions_of_loop(scalars), tile = instructions_of_tile(scalars), in_memory = instructions_of_tile(structs);
        print_message("%s: %d instructions for two vectors (%d), a tile %d (%d), without scalar replacement %d\n", text, count,
                      rows[i].most, tile, rows[i].tile, in_memory);
        over += count > rows[i].most || (rows[i].tile && tile > rows[i].tile);
        if (rows[i].tile) { /* else the limit says nothing */
            assert_true(in_memory > rows[i].tile);
        }
        free(scalars);
        free(structs);
    }
    assert_int_equal(over, 0);
}

static int find_assembler(void **state) {
    assembler *a = calloc(1, sizeof *a);
    *state = a;
    scratch_make(a->folder);
    (void)kw_compiler_find(&a->compiler, getenv("KW_CC"), (kw_code){0}, NULL); /* none: of no kind */
    return 0;
}

static int drop_assembler(void **state) {
    assembler *a = *state;
    scratch_remove(a->folder);
    free(a);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_vector_takes_few_instructions)};
    return cmocka_run_group_tests(tests, find_assembler, drop_assembler);
}

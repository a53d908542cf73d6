/* emu_faults.c: see emu_faults.h. */
#include "emu_faults.h"

#include "base/math.h"
#include "config/config.h"
#include "measure/measure.h"
#include "support/kw_test.h"

/* --- texts --- */

/* Two waves, tile 32x8, steps of 16: rows of 32 bytes in shared memory, 1024 bytes of A and 512 of B (its half is filled with zeros). */
static const char mma_text[] = "#define KW_INST_M 16\n"
                               "#define KW_INST_N 8\n"
                               "#define KW_INST_K 16\n"
                               "typedef struct kw_acc { float e[4]; } kw_acc;\n"
                               "typedef struct kw_frag { kw_u32 w[4]; } kw_frag;\n";
static const char mma_kernel[] =
    "KW_DEVICE void load(const kw_gpu_args *a, char *to, kw_i64 m0, kw_i64 n0, kw_i64 k0) {\n"
    "    kw_i64 row = m0 + kw_thread() / 2, col = n0 + kw_lane() / 2, k = k0 + kw_lane() % 2 * 8;\n"
    "    kw_async16(to + kw_wave() * 512 + BASE, a->x + (row * a->gk + k) * 2, ROW_OK);\n"
    "    if (kw_wave() == 0) kw_async16(to + 1024, a->w + (col * a->gk + k) * 2, kw_lane() < 16 && col < a->gn);\n"
    "    COMMIT;\n"
    "}\n"
    "KW_KERNEL(kw_stage0, 64) {\n"
    "    KW_LDS(LDS);\n"
    "    kw_i64 tiles = KW_CEIL(args.gn, 8), m0 = kw_block() / tiles * 32, n0 = kw_block() % tiles * 8, steps = args.gk / 16;\n"
    "    kw_acc acc CLEAR;\n"
    "    EARLY\n"
    "    load(&args, kw_lds, m0, n0, 0);\n"
    "    for (kw_i64 s = 0; s < steps; s++) {\n"
    "        kw_frag a, b;\n"
    "        const char *at = kw_lds + s % 2 * 1536, *row = at + (kw_wave() * 16 + kw_lane() / 4) * 32 + kw_lane() % 4 * 4;\n"
    "        if (s + 1 < steps) load(&args, kw_lds + (s + 1) % 2 * 1536, m0, n0, (s + 1) * 16);\n"
    "        else kw_async_commit();\n"
    "        WAIT\n"
    "        BARRIER\n"
    "        for (int r = 0; r < 4; r++) a.w[r] = *(const kw_u32 *)(row + r % 2 * 8 * 32 + r / 2 * 16);\n"
    "        for (int r = 0; r < 2; r++) b.w[r] = *(const kw_u32 *)(at + 1024 + LANE / 4 * 32 + kw_lane() % 4 * 4 + r * 16);\n"
    "        MMA;\n"
    "        AFTER\n"
    "    }\n"
    "    for (int e = 0; e < 4; e++) {\n"
    "        kw_i64 i = m0 + kw_wave() * 16 + kw_lane() / 4 + 8 * (e / 2), j = n0 + kw_lane() % 4 * 2 + e % 2;\n"
    "        if (STORE_OK) kw_store(args.y, i * args.gn + j, acc.e[e]);\n"
    "    }\n"
    "    LAST\n"
    "}\n";

/* One wave of 64, tile 32x32, steps of 8, vectors of 8 bytes through registers. */
static const char mfma_text[] = "#define KW_INST_M 32\n"
                                "#define KW_INST_N 32\n"
                                "#define KW_INST_K 8\n"
                                "typedef struct kw_acc { float e[16]; } kw_acc;\n"
                                "typedef struct kw_frag { kw_u32 w[2]; } kw_frag;\n"
                                "typedef struct kw_b8 { kw_u32 e[2]; } __attribute__((aligned(8))) kw_b8;\n";
static const char mfma_kernel[] =
    "KW_DEVICE kw_b8 fetch(const char *from, kw_i64 line, kw_i64 lines, kw_i64 k, kw_i64 depth) {\n"
    "    kw_b8 v = {{0, 0}};\n"
    "    if (line < lines) v = *(const kw_b8 *)(from + (line * depth + k) * 2);\n"
    "    return v;\n"
    "}\n"
    "KW_KERNEL(kw_stage0, 64) {\n"
    "    KW_LDS(LDS);\n"
    "    kw_i64 tiles = KW_CEIL(args.gn, 32), m0 = kw_block() / tiles * 32, n0 = kw_block() % tiles * 32;\n"
    "    int t = kw_thread();\n"
    "    kw_acc acc; EARLY\n"
    "    for (int e = 0; e < SUMS; e++) acc.e[e] = 0;\n"
    "    for (kw_i64 k = 0; k < args.gk; k += 8) {\n"
    "        kw_frag a, b;\n"
    "        kw_b8 c = fetch(args.x, m0 + t / 2, args.gm, k + t % 2 * 4, args.gk), d = fetch(args.w, n0 + t / 2, args.gn, k + t % 2 * 4, "
    "args.gk);\n"
    "        if (KEPT) *(kw_b8 *)(kw_lds + t * 8) = c;\n"
    "        *(kw_b8 *)(kw_lds + 512 + t * 8 + SHIFT) = d;\n"
    "        BARRIER\n"
    "        for (int r = 0; r < 2; r++) a.w[r] = *(const kw_u32 *)(kw_lds + t % 32 * 16 + t / 32 * 8 + r * 4);\n"
    "        for (int r = 0; r < 2; r++) b.w[r] = *(const kw_u32 *)(kw_lds + 512 + LANE % 32 * 16 + t / 32 * 8 + r * 4);\n"
    "        MMA;\n"
    "        AFTER\n"
    "    }\n"
    "    for (int e = 0; e < 16; e++) {\n"
    "        kw_i64 i = m0 + 8 * (e / 4) + 4 * (t / 32) + e % 4, j = n0 + t % 32;\n"
    "        if (STORE_OK) kw_store(args.y, i * args.gn + j, acc.e[e]);\n"
    "    }\n"
    "    LAST\n"
    "}\n";

/* Four waves that bring tiles by bulk copies and four that multiply them where they lie: 64x64, steps of 64, two stages of 16 KiB, then two
 * barriers for each. */
static const char bulk_text[] = "#define KW_INST_N 64\n"
                                "#define KW_INST_K 16\n"
                                "typedef unsigned long long kw_u64;\n"
                                "typedef struct kw_acc { float e[32]; } kw_acc;\n";
static const char bulk_kernel[] =
    "KW_KERNEL(kw_stage0, 256) {\n"
    "    KW_LDS(SHARED); START;\n"
    "    int tiles = KW_CEIL(args.gn, 64), m0 = kw_block() / tiles * 64, n0 = kw_block() % tiles * 64, steps = KW_CEIL(args.gk, 64);\n"
    "    kw_acc acc;\n"
    "    for (int e = 0; e < 32; e++) acc.e[e] = 0;\n"
    "    STORE_EARLY\n"
    "    for (int i = 0; i < 2 && kw_thread() == 0; i++) {\n"
    "        kw_mbar_init(kw_lds + 32768 + i * 16, 1);\n"
    "        kw_mbar_init(kw_lds + 32768 + i * 16 + 8, 4);\n"
    "    }\n"
    "    MADE\n"
    "    for (int s = 0; s < steps && kw_thread() == 128; s++) {\n"
    "        char *to = kw_lds + s % 2 * 16384, *full = kw_lds + 32768 + s % 2 * 16;\n"
    "        if (s > 1) kw_mbar_wait(full + 8, FREE);\n"
    "        EXPECT;\n"
    "        LOAD;\n"
    "        kw_tensor_load3(to + TO, &args.map[1], full, s * 64, n0, 0);\n"
    "    }\n"
    "    for (int s = 0; s < steps && kw_wave() < 4; s++) {\n"
    "        char *at = kw_lds + s % 2 * 16384, *full = kw_lds + 32768 + s % 2 * 16;\n"
    "        READY;\n"
    "        FENCE;\n"
    "        for (int k = 0; k < 128; k += 32) MULTIPLY kw_wgmma(&acc, kw_wgmma_tile(at + k), kw_wgmma_tile(at + 8192 + k + OFF));\n"
    "        kw_wgmma_commit();\n"
    "        DURING DONE;\n"
    "        RELEASE;\n"
    "    }\n";
static const char bulk_end[] = "    for (int e = 0; e < 32 && kw_wave() < 4; e++) {\n"
                               "        int i = m0 + ROW + kw_lane() / 4 + e / 2 % 2 * 8, j = n0 + e / 4 * 8 + kw_lane() % 4 * 2 + e % 2;\n"
                               "        if (i < args.gm && j < args.gn) kw_store(args.y, i * args.gn + j, acc.e[e]);\n"
                               "    }\n"
                               "}\n";
/* The same, stored by bulk copies from a piece of 64x64 in shared memory. */
static const char store_end[] = "    char *piece = kw_lds + 33792;\n"
                                "    for (int j = 0; j < 8 && kw_wave() < 4; j += 2) {\n"
                                "        kw_u32 w[4];\n"
                                "        int row = 16 * kw_wave() + kw_lane() % 16;\n"
                                "        for (int i = 0; i < 4; i++) w[i] = kw_out_pair(acc.e[j * 4 + 2 * i], acc.e[j * 4 + 2 * i + 1]);\n"
                                "        kw_matrix_write(piece + PLACE, w);\n"
                                "    }\n"
                                "    HANDED;\n"
                                "    if (kw_wave() < 4) { MET; }\n"
                                "    if (kw_thread() == 0) {\n"
                                "        kw_tensor_store3(&args.map[2], piece + FROM, n0, m0, 0);\n"
                                "        kw_store_commit();\n"
                                "        STORED;\n"
                                "    }\n"
                                "    LAST\n"
                                "}\n";

/* Two blocks of a cluster share the depth of a tile of 8x8, an element a thread; one adds both sums. */
static const char cluster_kernel[] =
    "KW_KERNEL(kw_stage0, 64) {\n"
    "    KW_LDS(4096); kw_launch_wait();\n"
    "    int rank = kw_cluster_rank(), t = kw_thread(), tiles = KW_CEIL(args.gn, 8);\n"
    "    kw_i64 tile = kw_block() / 2, i = tile / tiles * 8 + t / 8, j = tile % tiles * 8 + t % 8, ok = i < args.gm && j < args.gn;\n"
    "    kw_u32 words[4] = {0, 0, 0, 0}; float sum = 0;\n"
    "    for (kw_i64 k = rank; ok && k < args.gk; k += 2) sum += kw_element(args.x, i * args.gk + k) * kw_element(args.w, j * args.gk + "
    "k);\n"
    "    words[0] = kw_bits(sum);\n"
    "    BEGUN;\n"
    "    kw_peer_write(kw_lds + SLOT, ADDER, words);\n"
    "    MEET;\n"
    "    if (rank == ADDER && ok)\n"
    "        kw_store(args.y, i * args.gn + j, *(const float *)(kw_lds + t * 16) + *(const float *)(kw_lds + 1024 + t * 16));\n"
    "    LAST\n"
    "}\n";

/* What a fault changes: these have their right meaning unless it defines them before. */
static const char *const right[][2] = {
    {"ROW_OK", "row < a->gm"},
    {"COMMIT", "kw_async_commit()"},
    {"CLEAR", "= {{0, 0, 0, 0}}"},
    {"SUMS", "16"},
    {"KEPT", "1"},
    {"BASE", "0"},
    {"LDS", "3072"},
    {"EARLY", ""},
    {"WAIT", "kw_async_wait(1, 2 - kw_wave());"},
    {"BARRIER", "kw_barrier();"},
    {"LANE", "kw_lane()"},
    {"MMA", "kw_mma(&acc, &a, &b)"},
    {"AFTER", "kw_barrier();"},
    {"STORE_OK", "i < args.gm && j < args.gn"},
    {"SHIFT", "0"},
    {"LAST", ""},
    {"STORE_EARLY", ""},
    {"SHARED", "32800"},
    {"START", "kw_launch_wait()"},
    {"MADE", "kw_mbar_fence(); kw_barrier();"},
    {"FREE", "(s / 2 - 1) % 2"},
    {"EXPECT", "kw_mbar_expect(full, 16384)"},
    {"TO", "8192"},
    {"READY", "kw_mbar_wait(full, s / 2 % 2)"},
    {"FENCE", "kw_wgmma_fence()"},
    {"MULTIPLY", ""},
    {"OFF", "0"},
    {"DURING", ""},
    {"DONE", "kw_wgmma_wait(0)"},
    {"RELEASE", "if (kw_lane() == 0) kw_mbar_arrive(full + 8)"},
    {"ROW", "16 * kw_wave()"},
    {"LOAD", "kw_tensor_load3(to, &args.map[0], full, s * 64, m0, 0)"},
    {"PLACE", "row * 128 + ((j + kw_lane() / 16) ^ (row & 7)) * 16"},
    {"HANDED", "kw_proxy_fence()"},
    {"MET", "kw_waves_barrier(1, 128)"},
    {"FROM", "0"},
    {"STORED", "kw_store_wait_read(0)"},
    {"BEGUN", "kw_cluster_barrier()"},
    {"SLOT", "(rank * 64 + t) * 16"},
    {"ADDER", "0"},
    {"MEET", "kw_cluster_barrier()"},
};

/* --- a family whose config is the number of a fault --- */

static const emu_fault *faults; /* those that are looked for */

static bool does_store(const emu_fault *f) {
    return !strncmp(f->defines, STORES, strlen(STORES));
}

static bool is_bulk(const emu_fault *f) {
    return !strncmp(f->defines, BULK, strlen(BULK));
}

static bool is_cluster(const emu_fault *f) {
    return !strncmp(f->defines, CLUSTER, strlen(CLUSTER));
}

static void add_text(kw_text *text, const emu_fault *f) {
    bool nvidia = !strcmp(f->device, "emu:sm_90");
    kw_text_add(text, f->defines);
    kw_text_add(text, is_bulk(f) ? bulk_text : nvidia ? mma_text : mfma_text);
    kw_text_add(text, kw_kernel_file(is_bulk(f) ? "gpu/matrix/wgmma.h" : "gpu/matrix/mma_emu.h"));
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        kw_text_addf(text, "#ifndef %s\n#define %s %s\n#endif\n", right[i][0], right[i][0], right[i][1]);
    }
    kw_text_add(text, "#line 7 \"kw_config.h\"\n");
    kw_text_add(text, is_cluster(f) ? cluster_kernel : is_bulk(f) ? bulk_kernel : nvidia ? mma_kernel : mfma_kernel);
    kw_text_add(text, does_store(f) ? store_end : is_bulk(f) ? bulk_end : "");
}

static void emit(const kw_config *config, kw_text *text) {
    add_text(text, &faults[config->axis[0]]);
}

/* Tiles of 64x64 in 128-byte rows. */
static void launch_bulk(const emu_fault *f, const kw_problem *problem, kw_launch *plan) {
    const char *low = strstr(f->defines, LOW); /* where the pixels of an image begin */
    int64_t k = problem->gemm.k, rows[2] = {problem->gemm.m, problem->gemm.n};
    *plan = (kw_launch){.stages = 1, .early = {true}};
    plan->stage[0] = (kw_stage){.units = kw_ceil_div(rows[0], 64) * kw_ceil_div(rows[1], 64), .threads = 256};
    for (int i = 0; i < 2; i++) {
        plan->map[i] = (kw_map){.tensor = i == 0 ? KW_X : KW_W,
                                .dtype = KW_BF16,
                                .rank = 3,
                                .extent = {k, rows[i], 1},
                                .stride = {2 * k, 2 * k * rows[i]},
                                .box = {64, 64, 1},
                                .swizzle = true};
    }
    if (does_store(f)) {
        plan->map[0].pixels = true;
        plan->map[0].low[0] = low ? atoi(low + strlen(LOW)) : 0;
        plan->map[0].count[0] = (int32_t)rows[0];
        plan->map[0].step[0] = 1;
        plan->map[2] = (kw_map){.tensor = KW_Y,
                                .dtype = KW_BF16,
                                .rank = 3,
                                .extent = {rows[1], rows[0], 1},
                                .stride = {2 * rows[1], 2 * rows[1] * rows[0]},
                                .box = {64, 64, 1},
                                .swizzle = true};
    }
}

static void launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *plan) {
    const emu_fault *f = &faults[config->axis[0]];
    if (is_bulk(f)) {
        launch_bulk(f, problem, plan);
        return;
    }
    if (is_cluster(f)) {
        *plan = (kw_launch){.stages = 1, .early = {true}, .cluster = {2}};
        plan->stage[0] = (kw_stage){.units = 2 * kw_ceil_div(problem->gemm.m, 8) * kw_ceil_div(problem->gemm.n, 8), .threads = 64};
        return;
    }
    int64_t width = target->lanes == 64 ? 32 : 8;
    *plan = (kw_launch){.stages = 1, .shared_bytes = 4096};
    plan->stage[0] = (kw_stage){.units = kw_ceil_div(problem->gemm.m, 32) * kw_ceil_div(problem->gemm.n, width), .threads = 64};
}

static const kw_axis axes[] = {{"fault", NULL, 0, 1000, "its number"}};

static const kw_family family = {
    .name = "test.faults",
    .summary = "for tests",
    .kind = KW_KIND_GPU,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_BF16,
    .axes = axes,
    .axis_count = 1,
    .launch = launch,
    .emit = emit,
};

/* --- running one --- */

static void find_compiler(kw_compiler *compiler, kw_code code) {
    kw_error err = {0};
    if (kw_compiler_find(compiler, getenv("KW_TEST_CC"), code, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

void emu_faults_need_all_calls(void) {
    kw_compiler compiler;
    kw_code code;
    kw_error err = {0};
    assert_int_equal(kw_code_for(&code, KW_BACKEND_EMU, "sm_90", &err), KW_OK);
    find_compiler(&compiler, code);
    if (!strcmp(compiler.kind, "clang")) {
        print_message("skipped: clang optimises what is played\n");
        skip();
    }
}

static void verify(int number, int threads, kw_record *record) {
    const emu_fault *f = &faults[number];
    const kw_backend *backend = NULL;
    kw_config config = {.family = &family, .op = KW_GEMM, .dtype = KW_BF16, .axis = {number}};
    kw_device *device = NULL;
    kw_problem problem;
    kw_compiler compiler;
    kw_code code;
    kw_blob blob;
    kw_jit_result result;
    kw_kernel *kernel = NULL;
    kw_bench *bench = NULL;
    kw_error err = {0};
    int index = 0;
    assert_int_equal(kw_backend_find(&backend, &index, f->device, &err), KW_OK);
    assert_int_equal(backend->open(&device, index, threads, &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, is_bulk(f) ? "gemm bf16 rcr m75 n72 k200" : "gemm bf16 rcr m45 n12 k48", &err), KW_OK);
    assert_int_equal(kw_code_for(&code, KW_BACKEND_EMU, backend->target(device)->arch, &err), KW_OK);
    find_compiler(&compiler, code);
    kw_jit jit = {.code = code, .compiler = &compiler};
    if (kw_jit_blob(&jit, &config, &blob, &result, &err) || backend->load(device, &config, &blob, &kernel, &err)) {
        fail_msg("%s, %s: %s", f->device, f->defines, err.text);
    }
    kw_blob_drop(&blob);
    assert_int_equal(kw_bench_open(&bench, backend, device, &problem, 0, &err), KW_OK);
    assert_int_equal(kw_bench_verify(bench, kernel, &config, record, &err), KW_OK);
    kw_bench_close(&bench);
    backend->unload(device, &kernel);
    backend->close(&device);
}

void emu_faults_find(const emu_fault list[], size_t count) {
    int unlike = 0;
    faults = list;
    for (int i = 0; i < (int)count; i++) {
        const emu_fault *f = &faults[i];
        kw_record record;
        verify(i, 1 + i % 2, &record);
        bool found = record.outcome == (f->says[0] ? KW_WRONG : KW_GOOD);
        for (int s = 0; s < 4 && f->says[s]; s++) {
            found = found && strstr(record.detail, f->says[s]);
        }
        if (!found) {
            print_message("%s, %s: %s\n", f->device, f->defines, record.detail);
            unlike++;
        }
    }
    assert_int_equal(unlike, 0);
}

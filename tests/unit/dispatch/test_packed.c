/* test_packed.c: packed weights as objects: the order does not depend on the batch, so plans and threads share them; they outlive the process
 * in a file; those of another kernel, of other weights and damaged ones are refused by one line. On the CPU, on a GPU that it plays, and on
 * those that are there. */
#include "support/kw_test.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 4096, THREADS = 4 };

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
} world;

static bool open_world(world *w, const char *device) {
    kw_error err = {0};
    kw_context_options options = {.size = sizeof options, .threads = 2, .wisdom_file = ""};
    options.cache_dir = options.data_dir = scratch_make(w->folder);
    assert_ok(kw_context_open(&w->context, device, &options, &err), &err);
    if (!*kw_context_compiler(w->context)) {
        kw_context_close(&w->context);
        scratch_remove(w->folder);
        print_message("no compiler for %s\n", device);
        return false;
    }
    return true;
}

static void close_world(world *w) {
    kw_context_close(&w->context);
    scratch_remove(w->folder);
}

static kw_problem parse(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    return problem;
}

/* A plan of this kernel alone; NULL where it cannot be had: it spills, say. */
static kw_plan *try_plan_of(kw_context *context, const char *text, const char *config) {
    kw_error err = {0};
    kw_registry *registry = NULL;
    kw_plan *plan = NULL;
    kw_problem problem = parse(text);
    assert_ok(kw_registry_create(&registry, context, &err), &err);
    assert_ok(kw_registry_add(registry, config, &err), &err);
    kw_plan_options options = {.size = sizeof options, .mode = KW_PREDICT, .registry = registry};
    assert_ok(kw_plan_create(&plan, context, &problem, &options, &err), &err);
    kw_registry_destroy(&registry);
    if (strcmp(kw_plan_config(plan), config) != 0) {
        print_message("%s\n", kw_plan_explain(plan));
        kw_plan_destroy(&plan);
    }
    return plan;
}

static kw_plan *plan_of(kw_context *context, const char *text, const char *config) {
    kw_plan *plan = try_plan_of(context, text, config);
    assert_non_null(plan);
    return plan;
}

static void *device_memory(kw_context *context, int64_t bytes) {
    void *memory = NULL, *zeros = calloc(1, (size_t)bytes);
    kw_error err = {0};
    assert_non_null(zeros);
    assert_ok(kw_device_alloc(context, bytes, &memory, &err), &err);
    assert_ok(kw_device_copy(context, memory, zeros, bytes, &err), &err);
    free(zeros);
    return memory;
}

/* A tensor of small whole numbers in any type: bytes that are finite in all of them. */
static void *filled(kw_context *context, const kw_problem *problem, kw_tensor tensor) {
    int64_t bytes = kw_problem_elements(problem, tensor) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
    unsigned char *host = malloc((size_t)bytes);
    void *memory = device_memory(context, bytes);
    kw_error err = {0};
    assert_non_null(host);
    for (int64_t i = 0; i < bytes; i++) {
        host[i] = (unsigned char)(0x3c + i * 7 % 4);
    }
    assert_ok(kw_device_copy(context, memory, host, bytes, &err), &err);
    free(host);
    return memory;
}

static void *packed_by(kw_context *context, const kw_plan *plan, const void *w) {
    kw_error err = {0};
    void *packed = device_memory(context, kw_packed_bytes(plan));
    assert_ok(kw_packed_make(packed, plan, w, &err), &err);
    assert_ok(kw_packed_check(context, packed, kw_packed_bytes(plan), &err), &err);
    return packed;
}

static void *brought_here(kw_context *context, const void *memory, int64_t bytes) {
    kw_error err = {0};
    void *here = malloc((size_t)bytes);
    assert_non_null(here);
    assert_ok(kw_device_copy(context, here, memory, bytes, &err), &err);
    return here;
}

/* --- the order ------------------------------------------------------------------------------------------------------------ */

/* Runs the plan on w as it is and on what the other plan packed: the same result, bit for bit, with a smaller workspace. */
static void run_with(kw_context *context, kw_plan *plan, const kw_problem *problem, void *w, const void *packed, int64_t bytes) {
    kw_error err = {0};
    int64_t size = kw_problem_elements(problem, KW_Y) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, KW_Y)),
            room = kw_plan_workspace(plan);
    bool backward = kw_problem_result(problem) == KW_X;
    if (backward) {
        size = kw_problem_elements(problem, KW_X) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, KW_X));
    }
    void *in = filled(context, problem, backward ? KW_Y : KW_X), *out = device_memory(context, size), *results[2];
    kw_tensors tensors = {.size = sizeof tensors, .w = w, .workspace = device_memory(context, room + 64)};
    tensors.x = backward ? out : in;
    tensors.y = backward ? in : out;
    assert_ok(kw_plan_run(plan, &tensors, NULL, &err), &err);
    results[0] = brought_here(context, out, size);
    assert_ok(kw_plan_use_packed(plan, packed, bytes, &err), &err);
    assert_true(kw_plan_workspace(plan) < room);
    tensors.w = NULL;
    assert_ok(kw_plan_run(plan, &tensors, NULL, &err), &err);
    results[1] = brought_here(context, out, size);
    assert_memory_equal(results[0], results[1], (size_t)size);
    assert_ok(kw_plan_use_packed(plan, NULL, 0, &err), &err);
    assert_int_equal(kw_plan_run(plan, &tensors, NULL, &err), KW_ILLEGAL); /* w again */
    free(results[0]);
    free(results[1]);
    kw_device_free(context, in);
    kw_device_free(context, out);
    kw_device_free(context, tensors.workspace);
}

/* Weights that the one problem's plan packs are byte for byte those of the other's, and the other's plan runs on them. */
static void share(kw_context *context, const char *config, const char *one, const char *other) {
    kw_problem first = parse(one), second = parse(other);
    kw_plan *plan = plan_of(context, one, config), *more = plan_of(context, other, config);
    void *w = filled(context, &first, KW_W);
    int64_t bytes = kw_packed_bytes(plan);
    assert_true(bytes > HEADER);
    assert_int_equal(kw_packed_bytes(more), bytes);
    void *packed = packed_by(context, plan, w), *again = packed_by(context, more, w);
    void *here = brought_here(context, packed, bytes), *there = brought_here(context, again, bytes);
    if (memcmp(here, there, (size_t)bytes)) {
        fail_msg("%s packs otherwise for %s than for %s", config, other, one);
    }
    run_with(context, more, &second, w, packed, bytes);
    free(here);
    free(there);
    kw_device_free(context, packed);
    kw_device_free(context, again);
    kw_device_free(context, w);
    kw_plan_destroy(&plan);
    kw_plan_destroy(&more);
}

/* Every kernel of the device's default set that packs weights, up to some of a family and problem. */
static int share_all(kw_context *context, const char *one, const char *other, size_t most) {
    kw_error err = {0};
    kw_registry *registry = NULL;
    kw_problem first = parse(one), second = parse(other);
    char family[64] = "";
    size_t of_family = 0;
    int shared = 0;
    assert_ok(kw_registry_create(&registry, context, &err), &err);
    assert_ok(kw_registry_add_default(registry, &err), &err);
    for (size_t i = 0; i < kw_registry_count(registry); i++) {
        kw_config_info info;
        const char *config = kw_registry_config(registry, i);
        assert_ok(kw_config_info_read(&info, config, &err), &err);
        if (strcmp(info.family, family) != 0) {
            snprintf(family, sizeof family, "%s", info.family);
            of_family = 0;
        }
        if (of_family >= most || kw_registry_fits(registry, i, &first, NULL) || kw_registry_fits(registry, i, &second, NULL)) {
            continue;
        }
        kw_plan *plan = try_plan_of(context, one, config);
        of_family += plan != NULL;
        bool packs = kw_plan_wants_packing(plan);
        kw_plan_destroy(&plan);
        if (packs) {
            share(context, config, one, other);
            shared++;
        }
    }
    kw_registry_destroy(&registry);
    return shared;
}

static void weights_are_packed_alike_for_every_batch_on_the_cpu(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"gemm fp32 rcr m1 n48 k40", "gemm fp32 rcr m37 n48 k40"},
        {"gemm fp32 rrr b2 m5 n33 k17", "gemm fp32 rrr b2 m64 n33 k17"},
        {"conv_fwd fp32 nhwgc n1 c24 k32 i9x9 f3x3 p1x1", "conv_fwd fp32 nhwgc n3 c24 k32 i9x9 f3x3 p1x1"},
        {"conv_fwd fp32 nhwgc n1 c24 k33 i9x9 f3x3 p1x1 filter=kcrs", "conv_fwd fp32 nhwgc n3 c24 k33 i9x9 f3x3 p1x1 filter=kcrs"},
        {"conv_fwd fp32 nhwgc n1 c24 k32 i9x9 f1x1", "conv_fwd fp32 nhwgc n5 c24 k32 i9x9 f1x1"},
        {"conv_fwd fp32 nhwgc n1 g16 c16 k16 i9x9 f3x3 p1x1", "conv_fwd fp32 nhwgc n2 g16 c16 k16 i9x9 f3x3 p1x1"},
        {"conv_bwd_data fp32 nhwgc n1 c16 k24 i10x10 f3x3 s2x2 p1x1", "conv_bwd_data fp32 nhwgc n4 c16 k24 i10x10 f3x3 s2x2 p1x1"},
    };
    world w;
    if (!open_world(&w, "cpu")) {
        skip();
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!share_all(w.context, pairs[i][0], pairs[i][1], 3)) {
            print_message("no kernel of this machine packs weights of %s\n", pairs[i][0]);
        }
    }
    close_world(&w);
}

/* A kernel of tile registers moves the last chunk's weights back where rows are read in place, and does not where a pitch or m makes it copy
 * them: weights of the one order are refused by a plan of the other, or they are alike. */
static void weights_in_another_order_are_refused(void **state) {
    (void)state;
    const char *config = "gemm.tiled gemm bf16 isa=avx512 math=amx tile_m=32 vecs=2 band=0 ahead=0";
    static const char *const pairs[][2] = {{"gemm bf16 rrr m40 n700 k510 lda544", "gemm bf16 rrr m40 n700 k510"},
                                           {"gemm bf16 rrr m1 n48 k8226", "gemm bf16 rrr m40 n48 k8226"}};
    world w;
    setenv("KW_TILES", "played", 1);
    bool open = open_world(&w, "cpu");
    for (size_t i = 0; open && i < sizeof pairs / sizeof *pairs; i++) {
        kw_error err = {0};
        kw_plan *plan = try_plan_of(w.context, pairs[i][0], config), *other = try_plan_of(w.context, pairs[i][1], config);
        if (plan && other) {
            kw_problem first = parse(pairs[i][0]), second = parse(pairs[i][1]);
            void *weights = filled(w.context, &first, KW_W), *packed = packed_by(w.context, plan, weights);
            int64_t bytes = kw_packed_bytes(plan);
            if (kw_plan_use_packed(other, packed, bytes, &err)) {
                assert_non_null(
                    strstr(err.text, bytes == kw_packed_bytes(other) ? "packed weights are of order " : "packed weights are of "));
                assert_ok(kw_plan_use_packed(plan, packed, bytes, &err), &err);
                print_message("%s and %s: %s\n", pairs[i][0], pairs[i][1], err.text);
            } else {
                assert_ok(kw_plan_use_packed(other, NULL, 0, &err), &err);
                run_with(w.context, other, &second, weights, packed, bytes);
            }
            kw_device_free(w.context, packed);
            kw_device_free(w.context, weights);
        }
        kw_plan_destroy(&plan);
        kw_plan_destroy(&other);
    }
    unsetenv("KW_TILES");
    if (!open) {
        skip();
    }
    close_world(&w);
}

static void share_on_gpu(const char *device) {
    world w;
    if (open_world(&w, device)) {
        int shared = share_all(w.context, "conv_fwd bf16 nhwgc n1 g16 c64 k64 i8x8 f3x3 p1x1",
                               "conv_fwd bf16 nhwgc n2 g16 c64 k64 i8x8 f3x3 p1x1", 2);
        shared += share_all(w.context, "gemm bf16 rcr m32 n128 k64", "gemm bf16 rcr m96 n128 k64", 2);
        print_message("%s: %d kernels share their packed weights\n", device, shared);
        close_world(&w);
    }
}

static void weights_are_packed_alike_on_a_gpu_that_is_played(void **state) {
    (void)state;
    share_on_gpu("emu:gfx950");
}

static void note_gpu(void *user, const kw_device_entry *entry) {
    if (entry->gpu && *entry->target && strncmp(entry->device, "emu", 3) != 0) {
        snprintf(user, 64, "%s", entry->device);
    }
}

static void weights_are_packed_alike_on_a_gpu_that_is_there(void **state) {
    (void)state;
    char device[64] = "";
    kw_devices_visit(note_gpu, device);
    if (!*device) {
        print_message("no GPU\n");
        skip();
    }
    share_on_gpu(device);
}

/* --- sharing and keeping --------------------------------------------------------------------------------------------------- */

static const char product_text[] = "gemm fp32 rcr m37 n48 k40";

/* The first kernel of the default set that packs weights of the product; "" where there is none. */
static void find_packing(char config[KW_CONFIG_TEXT_MAX], kw_context *context, const char *besides) {
    kw_error err = {0};
    kw_registry *registry = NULL;
    kw_problem problem = parse(product_text);
    *config = 0;
    assert_ok(kw_registry_create(&registry, context, &err), &err);
    assert_ok(kw_registry_add_default(registry, &err), &err);
    for (size_t i = 0; i < kw_registry_count(registry) && !*config; i++) {
        const char *text = kw_registry_config(registry, i);
        if (!kw_registry_fits(registry, i, &problem, NULL) && strcmp(text, besides) != 0) {
            kw_plan *plan = plan_of(context, product_text, text);
            snprintf(config, KW_CONFIG_TEXT_MAX, "%s", kw_plan_wants_packing(plan) ? text : "");
            kw_plan_destroy(&plan);
        }
    }
    kw_registry_destroy(&registry);
}

typedef struct fixture {
    world w;
    char config[KW_CONFIG_TEXT_MAX];
    kw_problem problem;
    kw_plan *plan;
    void *weights, *packed;
    int64_t bytes;
} fixture;

static fixture f;

static int open_fixture(void **state) {
    (void)state;
    f = (fixture){.problem = parse(product_text)};
    if (open_world(&f.w, "cpu")) {
        find_packing(f.config, f.w.context, "");
        if (*f.config) {
            f.plan = plan_of(f.w.context, product_text, f.config);
            f.weights = filled(f.w.context, &f.problem, KW_W);
            f.packed = packed_by(f.w.context, f.plan, f.weights);
            f.bytes = kw_packed_bytes(f.plan);
        }
    }
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    if (f.w.context) {
        kw_plan_destroy(&f.plan);
        kw_device_free(f.w.context, f.packed);
        kw_device_free(f.w.context, f.weights);
        close_world(&f.w);
    }
    return 0;
}

static void need_fixture(void) {
    if (!f.plan) {
        print_message("no kernel of this machine packs weights of %s\n", product_text);
        skip();
    }
}

static void *share_in_a_thread(void *user) {
    (void)user;
    for (int i = 0; i < 10; i++) {
        kw_plan *plan = plan_of(f.w.context, product_text, f.config);
        run_with(f.w.context, plan, &f.problem, f.weights, f.packed, f.bytes);
        kw_plan_destroy(&plan);
    }
    return NULL;
}

static void threads_share_them(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    need_fixture();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, share_in_a_thread, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void a_file_that_is_mapped_serves_as_they_did(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX], config[KW_CONFIG_TEXT_MAX];
    kw_error err = {0};
    need_fixture();
    scratch_write(scratch_path(path, f.w.folder, "weights.packed"), f.packed, (size_t)f.bytes, 0644);
    int file = open(path, O_RDONLY);
    void *mapped = mmap(NULL, (size_t)f.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(mapped != MAP_FAILED);
    assert_ok(kw_packed_check(f.w.context, mapped, f.bytes, &err), &err);
    assert_ok(kw_packed_config(config, f.w.context, mapped, f.bytes, &err), &err);
    assert_string_equal(config, f.config);
    kw_plan *plan = plan_of(f.w.context, product_text, config);
    run_with(f.w.context, plan, &f.problem, f.weights, mapped, f.bytes);
    kw_plan_destroy(&plan);
    munmap(mapped, (size_t)f.bytes);
    close(file);
}

/* Its own and a caller's take turns; what is its own is given back by whoever counts (test_host.c) and by the leak checker. */
static void a_plan_goes_from_its_own_to_a_callers_and_back(void **state) {
    (void)state;
    kw_error err = {0};
    need_fixture();
    kw_plan *plan = plan_of(f.w.context, product_text, f.config);
    int64_t fresh = kw_plan_workspace(plan);
    assert_ok(kw_plan_pack_weights(plan, f.weights, &err), &err);
    int64_t packed = kw_plan_workspace(plan);
    assert_true(packed < fresh);
    assert_ok(kw_plan_use_packed(plan, f.packed, f.bytes, &err), &err);
    assert_int_equal(kw_plan_workspace(plan), packed);
    assert_ok(kw_plan_pack_weights(plan, f.weights, &err), &err);
    assert_ok(kw_plan_use_packed(plan, NULL, 0, &err), &err);
    assert_int_equal(kw_plan_workspace(plan), fresh);
    assert_ok(kw_plan_use_packed(plan, f.packed, f.bytes, &err), &err);
    kw_plan_destroy(&plan);
    assert_ok(kw_packed_check(f.w.context, f.packed, f.bytes, &err), &err); /* theirs, and whole */
}

/* --- refusals ------------------------------------------------------------------------------------------------------------- */

static void expect_refused(kw_plan *plan, const void *packed, int64_t bytes, kw_status status, const char *part) {
    kw_error err = {0};
    int64_t workspace = kw_plan_workspace(plan);
    assert_int_equal(kw_plan_use_packed(plan, packed, bytes, &err), status);
    assert_int_equal(kw_plan_workspace(plan), workspace); /* it stayed as it was */
    if (!strstr(err.text, part) || strchr(err.text, '\n')) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
    }
}

static void those_of_others_are_refused_by_name(void **state) {
    (void)state;
    char other[KW_CONFIG_TEXT_MAX];
    need_fixture();
    find_packing(other, f.w.context, f.config);
    if (*other) {
        kw_plan *plan = plan_of(f.w.context, product_text, other);
        expect_refused(plan, f.packed, f.bytes, KW_NO_KERNEL, "packed weights are of kernel gemm.");
        kw_plan_destroy(&plan);
    }
    static const char *const problems[] = {"gemm fp32 rcr m37 n48 k41", "gemm fp32 rcr m37 n47 k40", "gemm fp32 rcr b2 m37 n48 k40"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kw_plan *plan = plan_of(f.w.context, problems[i], f.config);
        expect_refused(plan, f.packed, f.bytes, KW_NO_KERNEL,
                       "packed weights are of weights gemm fp32 rcr b1 m1 n48 k40, and the plan's of gemm");
        kw_plan_destroy(&plan);
    }
}

static void what_is_no_packed_weights_is_refused(void **state) {
    (void)state;
    kw_error err = {0};
    need_fixture();
    expect_refused(f.plan, f.packed, HEADER - 1, KW_MALFORMED, "4095 bytes are no packed weights");
    expect_refused(f.plan, f.packed, f.bytes - 1, KW_MALFORMED, "are not whole in");
    expect_refused(f.plan, (char *)f.packed + 8, f.bytes, KW_ILLEGAL, "at a multiple of 64 bytes");
    char *copy = aligned_alloc(64, (size_t)(f.bytes + 63) / 64 * 64);
    assert_non_null(copy);
    memcpy(copy, f.packed, (size_t)f.bytes);
    copy[3] ^= 1;
    expect_refused(f.plan, copy, f.bytes, KW_MALFORMED, "it does not begin with \"kernelwright packed weights 1\"");
    memcpy(copy, f.packed, (size_t)f.bytes);
    char *source = strstr(copy, "\nsource ");
    assert_non_null(source);
    source[8] = source[8] == 'a' ? 'b' : 'a';
    expect_refused(f.plan, copy, f.bytes, KW_NO_KERNEL, "packed weights are of source");
    memset(copy, 'x', HEADER); /* a header that never ends */
    memcpy(copy, f.packed, 30);
    expect_refused(f.plan, copy, f.bytes, KW_MALFORMED, "are not whole in");
    memcpy(copy, f.packed, (size_t)f.bytes);
    copy[f.bytes - 1] ^= 1;
    assert_int_equal(kw_packed_check(f.w.context, copy, f.bytes, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "packed weights are damaged"));
    free(copy);
}

static void what_cannot_be_asked_is_refused(void **state) {
    (void)state;
    kw_error err = {0};
    char config[KW_CONFIG_TEXT_MAX];
    need_fixture();
    assert_int_equal(kw_packed_make(NULL, f.plan, f.weights, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_make(f.packed, NULL, f.weights, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_make(f.packed, f.plan, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_make((char *)f.packed + 4, f.plan, f.weights, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_make(f.packed, f.plan, (char *)f.weights + 1, &err), KW_ILLEGAL);
    assert_int_equal(kw_plan_use_packed(NULL, f.packed, f.bytes, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_check(NULL, f.packed, f.bytes, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_check(f.w.context, NULL, f.bytes, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_config(NULL, f.w.context, f.packed, f.bytes, &err), KW_ILLEGAL);
    assert_int_equal(kw_packed_config(config, f.w.context, f.weights, f.bytes, &err), KW_MALFORMED);
    assert_int_equal(kw_packed_bytes(NULL), 0);
    kw_plan *reference = plan_of(f.w.context, product_text, "gemm.reference gemm fp32");
    assert_int_equal(kw_packed_bytes(reference), 0);
    assert_int_equal(kw_packed_make(f.packed, reference, f.weights, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "reads weights as they are"));
    kw_plan_destroy(&reference);
    assert_ok(kw_packed_check(f.w.context, f.packed, f.bytes, &err), &err); /* nothing was written */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_packed_alike_for_every_batch_on_the_cpu),
        cmocka_unit_test(weights_in_another_order_are_refused),
        cmocka_unit_test(weights_are_packed_alike_on_a_gpu_that_is_played),
        cmocka_unit_test(weights_are_packed_alike_on_a_gpu_that_is_there),
        cmocka_unit_test(threads_share_them),
        cmocka_unit_test(a_file_that_is_mapped_serves_as_they_did),
        cmocka_unit_test(a_plan_goes_from_its_own_to_a_callers_and_back),
        cmocka_unit_test(those_of_others_are_refused_by_name),
        cmocka_unit_test(what_is_no_packed_weights_is_refused),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}

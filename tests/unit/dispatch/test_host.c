/* test_host.c: threads and memory that a host lends to a context (kw_context_options.parallel_for and allocate). */
#include "support/kw_test.h"
#include "support/scratch.h"

#include <pthread.h>
#include <stdatomic.h>

enum { POOL = 3, M = 190, N = 176, K = 160, CALLERS = 4 };
static char folder[SCRATCH_MAX];

/* --- a pool of the host's own: one loop at a time, the caller takes part ---------------------------------------------- */

typedef struct host_pool {
    pthread_mutex_t busy, lock;
    pthread_cond_t begun, ended;
    pthread_t threads[POOL];
    void (*task)(void *work, int32_t index);
    void *work;
    int32_t count, next, done;
    uint64_t loop;
    bool over;
    _Atomic int loops, by_pool; /* loops so far; tasks that threads of the pool did */
} host_pool;

/* Under the lock. */
static bool do_one(host_pool *p, bool of_pool) {
    if (p->next >= p->count) {
        return false;
    }
    int32_t index = p->next++;
    pthread_mutex_unlock(&p->lock);
    p->task(p->work, index);
    atomic_fetch_add(&p->by_pool, of_pool);
    pthread_mutex_lock(&p->lock);
    if (++p->done == p->count) {
        pthread_cond_broadcast(&p->ended);
    }
    return true;
}

static void *serve_pool(void *memory) {
    host_pool *p = memory;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        if (!do_one(p, true)) {
            pthread_cond_wait(&p->begun, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void pool_for(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    host_pool *p = pool;
    pthread_mutex_lock(&p->busy);
    pthread_mutex_lock(&p->lock);
    p->task = task, p->work = work;
    p->count = count, p->next = 0, p->done = 0;
    p->loops++;
    pthread_cond_broadcast(&p->begun);
    while (do_one(p, false)) {
    }
    while (p->done < p->count) {
        pthread_cond_wait(&p->ended, &p->lock);
    }
    p->count = 0;
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->busy);
}

static void open_pool(host_pool *p) {
    *p = (host_pool){.busy = PTHREAD_MUTEX_INITIALIZER,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .begun = PTHREAD_COND_INITIALIZER,
                     .ended = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i < POOL; i++) {
        assert_int_equal(pthread_create(&p->threads[i], NULL, serve_pool, p), 0);
    }
}

static void close_pool(host_pool *p) {
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_broadcast(&p->begun);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < POOL; i++) {
        pthread_join(p->threads[i], NULL);
    }
}

/* --- loops that are not what one expects ------------------------------------------------------------------------------- */

static void backwards_for(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    (*(int *)pool)++;
    for (int32_t i = count - 1; i >= 0; i--) {
        task(work, i);
    }
}

static void lazy_for(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    (*(int *)pool)++;
    task(work, count / 2);
}

static void eager_for(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    (*(int *)pool)++;
    for (int32_t i = -1; i <= 2 * count; i++) {
        task(work, i % (count + 1));
    }
}

/* --- a product -------------------------------------------------------------------------------------------------------- */

typedef struct product {
    kw_context *context;
    kw_plan *plan;
    float *a, *b, *c, *expected;
} product;

static void *room(size_t elements) {
    void *memory = aligned_alloc(64, (elements * sizeof(float) + 63) / 64 * 64);
    assert_non_null(memory);
    return memory;
}

static void open_product(product *p, const kw_context_options *host) {
    kw_error err = {0};
    kw_problem problem;
    kw_context_options options = *host;
    options.size = sizeof options;
    options.threads = POOL + 1;
    options.cache_dir = options.data_dir = folder;
    options.wisdom_file = "";
    assert_ok(kw_problem_parse(&problem, "gemm fp32 rcr m190 n176 k160", &err), &err);
    assert_ok(kw_context_open(&p->context, "cpu", &options, &err), &err);
    kw_plan_options how = {.size = sizeof how, .mode = KW_PREDICT};
    assert_ok(kw_plan_create(&p->plan, p->context, &problem, &how, &err), &err);
    p->a = room(M * K), p->b = room(N * K), p->c = room(M * N), p->expected = room(M * N);
    for (int i = 0; i < M * K; i++) {
        p->a[i] = (float)(i % 11 - 5);
    }
    for (int i = 0; i < N * K; i++) {
        p->b[i] = (float)(i % 7 - 3);
    }
    for (int i = 0; i < M * N; i++) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += p->a[i / N * K + k] * p->b[i % N * K + k];
        }
        p->expected[i] = sum;
    }
}

static void close_product(product *p) {
    kw_plan_destroy(&p->plan);
    kw_context_close(&p->context);
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->expected);
}

/* Into a result of its own, so that many threads may. */
static bool is_right(const product *p) {
    kw_error err = {0};
    float *c = room(M * N);
    void *workspace = room((size_t)kw_plan_workspace(p->plan) / sizeof(float) + 16);
    memset(c, 0x55, M * N * sizeof *c);
    kw_tensors tensors = {.size = sizeof tensors, .x = p->a, .w = p->b, .y = c, .workspace = workspace};
    bool right = !kw_plan_run(p->plan, &tensors, NULL, &err) && !memcmp(c, p->expected, M * N * sizeof *c);
    free(c);
    free(workspace);
    return right;
}

static void *run_often(void *memory) {
    bool right = true;
    for (int i = 0; i < 20; i++) {
        right = is_right(memory) && right;
    }
    return right ? memory : NULL;
}

/* --- tests ------------------------------------------------------------------------------------------------------------- */

static void kernels_run_on_the_hosts_pool_whoever_calls(void **state) {
    (void)state;
    host_pool pool;
    open_pool(&pool);
    product p = {0};
    open_product(&p, &(kw_context_options){.parallel_for = pool_for, .pool = &pool});
    assert_true(is_right(&p));
    assert_true(pool.loops > 0); /* a kernel with no more than one thread's work would show nothing */
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, run_often, &p), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        void *right = NULL;
        pthread_join(callers[i], &right);
        assert_non_null(right);
    }
    assert_true(pool.by_pool > 0);
    close_product(&p);
    close_pool(&pool);
}

static void whatever_the_hosts_loop_does_each_unit_is_done_once(void **state) {
    (void)state;
    static const struct {
        void (*run)(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work);
    } loops[] = {{backwards_for}, {lazy_for}, {eager_for}};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        int calls = 0;
        product p = {0};
        open_product(&p, &(kw_context_options){.parallel_for = loops[i].run, .pool = &calls});
        assert_true(is_right(&p));
        assert_true(calls > 0);
        close_product(&p);
    }
}

typedef struct heap {
    int64_t bytes, most, allocations;
    size_t shift;
    bool empty;
} heap;

static void *count_allocation(void *memory, size_t bytes, size_t alignment) {
    heap *h = memory;
    if (h->empty) {
        return NULL;
    }
    h->allocations++;
    h->bytes += (int64_t)bytes;
    h->most = h->bytes > h->most ? h->bytes : h->most;
    char *block = aligned_alloc(alignment, (bytes + 2 * alignment) / alignment * alignment);
    return block ? block + h->shift : NULL;
}

static void count_release(void *memory, void *block, size_t bytes) {
    heap *h = memory;
    h->bytes -= (int64_t)bytes;
    free((char *)block - h->shift);
}

static void what_plans_keep_is_of_the_hosts_memory(void **state) {
    (void)state;
    heap h = {0};
    product p = {0};
    kw_error err = {0};
    open_product(&p, &(kw_context_options){.allocate = count_allocation, .release = count_release, .heap = &h});
    if (!kw_plan_wants_packing(p.plan)) {
        close_product(&p);
        print_message("the kernel of this machine packs no weights\n");
        skip();
    }
    int64_t fresh = kw_plan_workspace(p.plan);
    h.empty = true;
    assert_int_equal(kw_plan_pack_weights(p.plan, p.b, &err), KW_NO_MEMORY);
    assert_non_null(strstr(err.text, "allocate gave none"));
    h.empty = false;
    h.shift = 8;
    assert_int_equal(kw_plan_pack_weights(p.plan, p.b, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "not aligned"));
    h.shift = 0;
    assert_int_equal(h.bytes, 0);
    assert_ok(kw_plan_pack_weights(p.plan, p.b, &err), &err);
    assert_true(h.bytes >= N * K * (int64_t)sizeof(float) && h.bytes <= fresh);
    assert_true(is_right(&p));
    int64_t kept = h.bytes;
    assert_ok(kw_plan_pack_weights(p.plan, p.b, &err), &err); /* again, into what it has */
    assert_int_equal(h.bytes, kept);
    close_product(&p);
    assert_int_equal(h.bytes, 0);
}

static void half_an_allocator_is_refused(void **state) {
    (void)state;
    kw_context *context = NULL;
    kw_error err = {0};
    kw_context_options options = {.size = sizeof options, .allocate = count_allocation};
    assert_int_equal(kw_context_open(&context, "cpu", &options, &err), KW_ILLEGAL);
    assert_null(context);
    assert_non_null(strstr(err.text, "release is NULL and allocate is not"));
    options = (kw_context_options){.size = sizeof options, .release = count_release};
    assert_int_equal(kw_context_open(&context, "cpu", &options, &err), KW_ILLEGAL);
}

static int make_folder(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int drop_folder(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_run_on_the_hosts_pool_whoever_calls),
        cmocka_unit_test(whatever_the_hosts_loop_does_each_unit_is_done_once),
        cmocka_unit_test(what_plans_keep_is_of_the_hosts_memory),
        cmocka_unit_test(half_an_allocator_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

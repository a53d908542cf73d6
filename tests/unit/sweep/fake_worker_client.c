/* fake_worker_client.c: see fake_worker_client.h. The time of a kernel is a hash of its text, so that the fastest is known. */
#include "fake_worker_client.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fake_pools fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct kw_worker_client {
    kw_worker_client_options options;
    kw_target target;
};

void fake_reset(void) {
    fake_asked *asked = fake.asked ? fake.asked : calloc(FAKE_ASKED_MAX, sizeof *asked);
    fake = (fake_pools){.lock = PTHREAD_MUTEX_INITIALIZER, .asked = asked};
}

void fake_drop(void) {
    free(fake.asked);
    fake.asked = NULL;
}

kw_status kw_worker_client_open(kw_worker_client **client, const kw_worker_client_options *options, kw_error *err) {
    pthread_mutex_lock(&fake.lock);
    fake.opened++;
    kw_status status = fake.open_status;
    pthread_mutex_unlock(&fake.lock);
    *client = status ? NULL : calloc(1, sizeof **client);
    if (!*client) {
        return kw_fail(err, status ? status : KW_NO_MEMORY, "the fake pool was told to fail");
    }
    (*client)->options = *options;
    kw_cpu_target(&(*client)->target, options->threads);
    (*client)->target = fake.target ? *fake.target : (*client)->target;
    return KW_OK;
}

void kw_worker_client_close(kw_worker_client **client) {
    free(*client);
    *client = NULL;
}

const kw_target *kw_worker_client_target(const kw_worker_client *client) {
    return &client->target;
}

const char *kw_worker_client_device(const kw_worker_client *client) {
    (void)client;
    return "a fake device";
}

int64_t kw_worker_client_lost(const kw_worker_client *client) {
    (void)client;
    return 1;
}

static void note(const kw_worker_client *client, const kw_worker_job *job, size_t i) {
    fake_asked *a = &fake.asked[fake.count++ % FAKE_ASKED_MAX];
    *a = (fake_asked){.best_ns = job->best_ns,
                      .drop_ratio = job->drop_ratio,
                      .batch = job->count,
                      .has_control = job->control.config,
                      .verify_only = job->verify_only,
                      .pack_weights = job->pack_weights,
                      .cold = job->cold};
    kw_problem_print(a->problem, sizeof a->problem, job->problem);
    kw_config_print(a->config, sizeof a->config, job->kernels[i].config);
    char path[1024];
    const char *key = job->kernels[i].key;
    snprintf(path, sizeof path, "%s/%.2s/%s", client->options.cache, key, key);
    a->present = !*key || !access(path, F_OK);
    snprintf(a->cpus, sizeof a->cpus, "%.63s", client->options.cpus ? client->options.cpus : "");
}

static void measure_one(const kw_worker_client *client, const kw_worker_job *job, size_t i, kw_record *record) {
    *record = (kw_record){.outcome = KW_UNTRIED};
    if (kw_stop_requested(&fake.stop)) {
        return;
    }
    note(client, job, i);
    const fake_asked *a = &fake.asked[(fake.count - 1) % FAKE_ASKED_MAX];
    record->outcome = fake.outcome ? fake.outcome(a->problem, a->config) : KW_GOOD;
    if (record->outcome == KW_GOOD && !job->verify_only) {
        record->time_ns = 1000 + (double)(kw_hash64(a->config, strlen(a->config)) % 1000);
        record->samples = 21;
        record->calls = 10;
    }
    if (fake.limit && fake.count >= fake.limit) {
        kw_stop_request(&fake.stop);
    }
}

kw_status kw_worker_client_measure(kw_worker_client *client, const kw_worker_job *job, kw_worker_job_result *result, kw_error *err) {
    pthread_mutex_lock(&fake.lock);
    bool fails = fake.fail_after && fake.count >= fake.fail_after;
    for (size_t i = 0; !fails && i < job->count; i++) {
        measure_one(client, job, i, &result->records[i]);
    }
    pthread_mutex_unlock(&fake.lock);
    result->control_ns = job->control.config ? 500 : 0;
    result->kernel_ns = 1e6;
    return fails ? kw_fail(err, KW_ENVIRONMENT, "the fake pool was told to fail") : KW_OK;
}

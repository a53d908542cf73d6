/* object_folder.c: kernels of a set compiled for an architecture into a folder, without a device: a file a kernel and catalog.txt, in which each
 * line is a config with its file and what it needs of a multiprocessor behind a '#', so that a catalog's reader takes it as it is. Compilers
 * are child processes, or a library that many threads may call; the threads here wait for them. */
#include "base/sized.h"
#include "base/os/file.h"
#include "base/hash.h"
#include "config/catalog.h"
#include "jit/build_cost.h"
#include "base/os/parallel.h"
#include "base/os/settings.h"
#include "jit/open.h"
#include "space/enumerate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct object {
    kw_status status;
    kw_jit_result result;
    kw_blob_facts facts;
    char file[128];
    kw_error why;
} object;

typedef struct folder {
    const kw_object_options *options;
    kw_code code;
    kw_jit jit;
    kw_catalog catalog;
    object *objects;
    double *cpu_ns; /* of those compiled now */
    kw_progress progress;
} folder;

static const char *const endings[KW_DIALECT_COUNT] = {
    [KW_DIALECT_CPU] = ".o", [KW_DIALECT_PTX] = ".cubin", [KW_DIALECT_AMD] = ".hsaco", [KW_DIALECT_EMU] = ".so"};

static bool take_generated(void *user, const kw_config *config) {
    return !config->family->emit || !kw_catalog_add(user, config, NULL, NULL);
}

static void build_object(void *user, size_t number) {
    folder *f = user;
    object *o = &f->objects[number];
    const kw_config *config = &f->catalog.configs[number];
    char text[KW_CONFIG_TEXT_MAX], hash[KW_HASH_TEXT], path[4096];
    size_t size = kw_config_print(text, sizeof text, config);
    kw_blob blob = {0};
    kw_hash_text(hash, text, size);
    snprintf(o->file, sizeof o->file, "%s-%s-%s-%.16s%s", config->family->name, kw_op_name(config->op), kw_dtype_name(config->dtype), hash,
             endings[f->code.dialect]);
    o->status = kw_jit_blob(&f->jit, config, &blob, &o->result, &o->why);
    o->status = o->status ? o->status : kw_blob_facts_read(&o->facts, &blob, f->code, &o->why);
    if (!o->status) {
        snprintf(path, sizeof path, "%s/%s", f->options->folder, o->file);
        o->status = kw_file_replace(path, blob.data, blob.size, 0644, &o->why);
    }
    kw_blob_drop(&blob);
}

static void report_object_progress(void *user, size_t number) {
    folder *f = user;
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, &f->catalog.configs[number]);
    f->progress.done++;
    f->progress.current = text;
    f->progress.failed += f->objects[number].status != KW_OK;
    if (f->options->progress) {
        f->options->progress(f->options->user, &f->progress);
    }
    f->progress.current = NULL;
}

/* Why a kernel that was compiled is not to be used; NULL when nothing speaks against it. */
static const char *fault(const folder *f, const kw_blob_facts *facts) {
    if (f->code.arch && facts->lds > f->code.arch->typical.lds) {
        return "too much shared memory";
    }
    return facts->spill_bytes > 0 ? "spills" : NULL;
}

static kw_status write_object_catalog(folder *f, kw_object_report *report, kw_error *err) {
    kw_text out = {0};
    kw_text_addf(&out, "# kernels for %s by %s; a config a line, then its file and what it needs\n", f->options->space->arch,
                 f->jit.compiler ? f->jit.compiler->identity : "the cache");
    for (size_t i = 0; i < f->catalog.count; i++) {
        const object *o = &f->objects[i];
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &f->catalog.configs[i]);
        const char *why = o->status ? o->why.text : fault(f, &o->facts);
        report->failed += o->status != KW_OK;
        report->refused += !o->status && why;
        report->cached += !o->status && o->result.cached;
        if (!o->status && !o->result.cached) {
            f->cpu_ns[report->built++] = (double)o->result.cpu_ns;
        }
        if (o->status) {
            kw_text_addf(&out, "# failed: %s: %s\n", text, why);
            continue;
        }
        kw_text_addf(&out, "%s%s # file=%s", why ? "# " : "", text, o->file);
        if (o->facts.spill_bytes >= 0) {
            kw_text_addf(&out, " registers=%d acc=%d scalar=%d lds=%d scratch=%d spills=%d", o->facts.registers, o->facts.acc_registers,
                         o->facts.scalar_registers, o->facts.lds, o->facts.scratch, o->facts.spill_bytes);
        }
        kw_text_addf(&out, "%s%s\n", why ? " outcome: " : "", why ? why : "");
    }
    report->cpu = kw_build_cost_of(f->cpu_ns, report->built);
    char path[4096];
    snprintf(path, sizeof path, "%s/catalog.txt", f->options->folder);
    kw_status status = out.failed ? kw_fail_memory(err, "a catalog") : kw_file_replace(path, out.data, out.size, 0644, err);
    kw_text_drop(&out);
    return status;
}

static kw_status find_code(kw_code *code, const kw_object_options *options, kw_error *err) {
    const kw_gpu_arch *gpu = kw_gpu_arch_find(options->space->arch);
    kw_backend_id backend = gpu ? gpu->backend : KW_BACKEND_CPU, asked;
    if (options->device && kw_backend_id_of_device(&asked, options->device) && kw_backends[asked].emulated) {
        backend = asked;
    }
    return kw_code_for(code, backend, options->space->arch, err);
}

kw_status kw_objects_build(kw_object_report *report, const kw_object_options *options, kw_error *err) {
    if (!report || !options) {
        return kw_fail(err, KW_ILLEGAL, "kw_objects_build: %s is NULL", report ? "options" : "report");
    }
    *report = (kw_object_report){0};
    kw_space_options space;
    kw_object_options own;
    kw_status status = KW_SIZED_READ(&own, kw_object_options, user, options, err);
    status = status ? status : KW_SIZED_READ(&space, kw_space_options, user, own.space, err);
    if (status) {
        return status;
    }
    options = &own;
    if (!options->folder || !space.arch) {
        return kw_fail(err, KW_ILLEGAL, "kw_objects_build: options' folder or its space's architecture is NULL");
    }
    own.space = &space;
    folder f = {.options = options, .progress = {.what = "build"}};
    kw_settings settings = {0};
    kw_jit_handle handle = {0};
    kw_context_options context = {.size = sizeof(kw_context_options), .cache_dir = options->cache_dir};
    status = find_code(&f.code, options, err);
    status = status ? status : kw_settings_read(&settings, &context, err);
    if (!status) {
        kw_jit_open(&handle, f.code, &(kw_jit_settings){.compiler = options->compiler, .cc = settings.cc, .cache = settings.cache});
        status = handle.jit.compiler ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "%s", handle.compiler_note);
    }
    status = status ? status : kw_enumerate(options->space, take_generated, &f.catalog, err);
    status = status ? status : kw_folder_make(options->folder, err);
    if (!status) {
        f.objects = calloc(f.catalog.count + 1, sizeof *f.objects);
        f.cpu_ns = calloc(f.catalog.count + 1, sizeof *f.cpu_ns);
        status = f.objects && f.cpu_ns ? KW_OK : kw_fail_memory(err, "a list of kernels");
    }
    if (!status) {
        f.jit = handle.jit;
        f.progress.total = f.catalog.count;
        kw_parallel_run(&(kw_parallel){
            .count = f.catalog.count, .workers = options->jobs, .work = build_object, .done = report_object_progress, .user = &f});
        status = write_object_catalog(&f, report, err);
    }
    kw_jit_close(&handle);
    kw_settings_drop(&settings);
    kw_catalog_drop(&f.catalog);
    free(f.objects);
    free(f.cpu_ns);
    return status;
}

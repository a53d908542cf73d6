/* manifest_write.c: the text of a manifest, and the file that the shards of a sweep share. */
#include "sweep/shards/manifest.h"

#include "base/container/arena.h"
#include "base/hash.h"
#include "base/os/file.h"
#include "config/config.h"

kw_status kw_manifest_print(kw_text *out, const kw_manifest *m, kw_error *err) {
    char config[KW_CONFIG_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX], hash[KW_HASH_TEXT];
    size_t start = out->size;
    kw_text_addf(out, "kernelwright-manifest 1\ntiming %s %s\n", m->cold ? "cold" : "hot", m->fresh_weights ? "fresh" : "packed");
    for (size_t i = 0; i < m->configs.count; i++) {
        kw_config_print(config, sizeof config, &m->configs.configs[i]);
        kw_text_addf(out, "config %s\n", config);
    }
    for (size_t i = 0; i < m->problems.count; i++) {
        kw_problem_print(problem, sizeof problem, &m->problems.problems[i]);
        kw_text_addf(out, "problem %s\n", problem);
    }
    for (size_t i = 0; m->listed && i < m->run_count; i++) {
        const kw_manifest_run *run = &m->runs[i];
        if (run->first == run->last) {
            kw_text_addf(out, "pair %u %u\n", run->first + 1, run->problem + 1);
        } else {
            kw_text_addf(out, "pair %u-%u %u\n", run->first + 1, run->last + 1, run->problem + 1);
        }
    }
    if (m->listed && !m->run_count) {
        kw_text_add(out, "pair none\n");
    }
    kw_hash_text(hash, out->data ? out->data + start : "", out->size - start);
    kw_text_addf(out, "checksum %s\n", hash);
    return out->failed ? kw_fail_memory(err, "a manifest's text") : KW_OK;
}

kw_status kw_manifest_write(const kw_manifest *m, const char *path, kw_error *err) {
    kw_text text = {0};
    kw_status status = kw_manifest_print(&text, m, err);
    status = status ? status : kw_file_replace(path, text.data, text.size, 0644, err);
    kw_text_drop(&text);
    return status;
}

kw_status kw_manifest_update(const kw_manifest *m, const char *out, kw_error *err) {
    kw_arena arena = {0};
    kw_manifest whole = {0};
    char *path = kw_arena_format(&arena, "%s.manifest", out);
    kw_status status = path ? KW_OK : kw_fail_memory(err, "a manifest's name");
    kw_status read = status ? status : kw_manifest_read(&whole, path, err);
    status = read == KW_NO_MEMORY ? read : status; /* any other that cannot be read is replaced */
    bool there = !read;
    bool alike = there && whole.cold == m->cold && whole.fresh_weights == m->fresh_weights;
    if (!status && alike) {
        status = kw_manifest_add(&whole, m, err);
    }
    status = status ? status : kw_manifest_write(alike ? &whole : m, path, err);
    kw_manifest_drop(&whole);
    kw_arena_drop(&arena);
    return status;
}

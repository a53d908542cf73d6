/* backend_id.c: the table of backends and look-ups in it. */
#include "problem/target/backend_id.h"

#include <assert.h>
#include <string.h>

const kw_backend_info kw_backends[KW_BACKEND_COUNT] = {
#define KW_BACKEND_ROW(id, name, kind, dialect, emulated, played_by) [KW_BACKEND_##id] = {name, kind, dialect, emulated, played_by},
    KW_BACKENDS(KW_BACKEND_ROW)
#undef KW_BACKEND_ROW
};

const char kw_backend_names[] =
#define KW_BACKEND_WORD(id, name, kind, dialect, emulated, played_by) " " name
    KW_BACKENDS(KW_BACKEND_WORD)
#undef KW_BACKEND_WORD
    ;

bool kw_backend_id_find(kw_backend_id *id, kw_word name) {
    for (int i = 0; i < KW_BACKEND_COUNT; i++) {
        if (kw_word_is(name, kw_backends[i].name)) {
            *id = (kw_backend_id)i;
            return true;
        }
    }
    return false;
}

bool kw_backend_id_of_device(kw_backend_id *id, const char *device) {
    return kw_backend_id_find(id, (kw_word){device, strcspn(device, ":")});
}

bool kw_backend_is_gpu_hardware(kw_backend_id id) {
    assert((unsigned)id < KW_BACKEND_COUNT);
    return kw_backends[id].kind == KW_KIND_GPU && !kw_backends[id].emulated;
}

const char *kw_device_kind_name(kw_device_kind kind) {
    static const char *const names[] = {[KW_KIND_CPU] = "cpu", [KW_KIND_GPU] = "gpu"};
    _Static_assert(sizeof names / sizeof *names == KW_KIND_COUNT, "each kind has a name");
    assert((unsigned)kind < KW_KIND_COUNT);
    return names[kind];
}

/* nvrtc_setup.c: see the header. */
#include "unit/jit/nvrtc_setup.h"

#include "support/kw_test.h"

#include <dlfcn.h>

kw_code nvrtc_code(const char *arch) {
    kw_code code = {0};
    assert_int_equal(kw_code_for(&code, KW_BACKEND_CUDA, arch, NULL), KW_OK);
    return code;
}

void nvrtc_need(kw_compiler *compiler) {
    kw_error err = {0};
    if (kw_compiler_find(compiler, NULL, nvrtc_code("sm_90"), &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

char *nvrtc_ptx(const kw_nvrtc *library, kw_text *source, const char *arch) {
    int (*ptx_size)(kw_nvrtc_program, size_t *), (*ptx)(kw_nvrtc_program, char *);
    void *handle = dlopen(library->path, RTLD_NOW), *found = dlsym(handle, "nvrtcGetPTXSize");
    memcpy(&ptx_size, &found, sizeof found);
    found = dlsym(handle, "nvrtcGetPTX");
    memcpy(&ptx, &found, sizeof found);
    kw_text option = {0};
    kw_text_addf(&option, "--gpu-architecture=compute_%s", arch + strlen("sm_"));
    const char *const options[] = {option.data};
    kw_nvrtc_program program = NULL;
    size_t size = 0;
    assert_int_equal(library->create(&program, source->data, "kernel.cu", 0, NULL, NULL), 0);
    assert_int_equal(library->compile(program, 1, options), 0);
    assert_int_equal(ptx_size(program, &size), 0);
    char *made = malloc(size + 1);
    assert_non_null(made);
    made[size] = 0;
    assert_int_equal(ptx(program, made), 0);
    library->destroy(&program);
    kw_text_drop(source);
    kw_text_drop(&option);
    dlclose(handle);
    return made;
}

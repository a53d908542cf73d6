/* fake_driver.c: a stand-in for a vendor's driver: what all have, with the rules that matter to backend/gpu.c. Copies, launches and events
 * are queued and done only when their stream is waited for; a launch on a result that is not the device's is an illegal address, which
 * stays; calls that need a device are counted when none is entered. A launch adds 1 to the first byte of y and takes a microsecond a block:
 * enough to see whether, when, where and in which order things ran. A driver's state is the process's, hence the static variables. */
#include "support/device/fake_driver.h"

#include "backend/gpu/gpu.h"
#include "support/device/fake_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD_MAX = 256, OPS_MAX = 256, ALIGN = 256 }; /* ALIGN: of memory, as drivers have it */

typedef enum held_kind { FREE, MEMORY, MODULE, STREAM, EVENT } held_kind;

typedef struct held {
    held_kind kind;
    void *handle; /* on the heap */
    size_t size;
} held;

typedef struct fake_event {
    double ms;
} fake_event;

typedef struct op {
    void *stream;
    enum { COPY, LAUNCH, RECORD } kind;
    void *to;
    const void *from;
    size_t size;
    kw_kernel_args args;
    unsigned blocks;
} op;

static struct {
    held held[HELD_MAX];
    op ops[OPS_MAX];
    int op_count, sticky, fail_error, fail_nth;
    char fail_function[64];
    double clock_ms;
} state;

static void reset(void) {
    state.fail_nth = state.sticky = state.op_count = 0;
    fake_state.log[0] = 0;
    fake_state.outside = fake_state.early = fake_state.launches = fake_state.waits = fake_state.allowed_lds = 0;
}

static void fail_at(const char *function, int error, int nth) {
    snprintf(state.fail_function, sizeof state.fail_function, "%s", function);
    state.fail_error = error;
    state.fail_nth = nth;
}

fake_driver fake_state = {.reset = reset, .fail_at = fail_at};

FAKE_EXPORT fake_driver_call fake_driver_find;
fake_driver *fake_driver_find(void) {
    return &fake_state;
}

int fake_called(const char *function) {
    size_t used = strlen(fake_state.log);
    snprintf(fake_state.log + used, sizeof fake_state.log - used, "%s ", function);
    if (!state.sticky && state.fail_nth && !strcmp(function, state.fail_function) && --state.fail_nth == 0) {
        state.fail_nth = 1;
        state.sticky = state.fail_error == FAKE_ILLEGAL_ADDRESS ? state.fail_error : 0;
        return state.fail_error;
    }
    return state.sticky;
}

/* The same of a call that needs a device. */
static int called_inside(const char *function) {
    fake_state.outside += !fake_state.entered;
    return fake_called(function);
}

static int track_handle(held_kind kind, size_t size, void **handle) {
    for (int i = 0; i < HELD_MAX; i++) {
        if (state.held[i].kind == FREE) {
            *handle = aligned_alloc(ALIGN, (size + ALIGN - 1) / ALIGN * ALIGN);
            if (!*handle) {
                return KW_GPU_OUT_OF_MEMORY;
            }
            memset(*handle, 0, size);
            state.held[i] = (held){kind, *handle, size};
            fake_state.held++;
            return 0;
        }
    }
    return KW_GPU_OUT_OF_MEMORY;
}

static held *find_held(held_kind kind, const void *handle) {
    for (int i = 0; i < HELD_MAX; i++) {
        if (state.held[i].kind == kind && state.held[i].handle == handle) {
            return &state.held[i];
        }
    }
    return NULL;
}

static int release_handle(held_kind kind, void *handle) {
    held *found = find_held(kind, handle);
    if (!found) {
        return FAKE_INVALID_VALUE;
    }
    free(handle);
    *found = (held){FREE, NULL, 0};
    fake_state.held--;
    return 0;
}

/* Device memory, or not that of a device at all and so the host's. A pointer into a freed allocation cannot be told from the host's. */
static bool is_device(const void *pointer) {
    for (int i = 0; i < HELD_MAX; i++) {
        const char *base = state.held[i].handle;
        if (state.held[i].kind == MEMORY && (const char *)pointer >= base && (const char *)pointer < base + state.held[i].size) {
            return true;
        }
    }
    return false;
}

static int do_op(op *o) {
    if (o->kind == COPY) {
        memcpy(o->to, o->from, o->size);
    } else if (o->kind == RECORD) {
        ((fake_event *)o->to)->ms = state.clock_ms;
    } else {
        char *written = o->args.y ? o->args.y : o->args.packed; /* stages that pack get no y */
        if (!is_device(written)) {
            return state.sticky = FAKE_ILLEGAL_ADDRESS;
        }
        written[0]++;
        state.clock_ms += 0.001 * o->blocks;
    }
    return 0;
}

/* Does what is queued on a stream, or on all when it is NULL. */
static int run_queue(const void *stream) {
    int kept = 0, error = 0;
    for (int i = 0; i < state.op_count; i++) {
        if (stream && state.ops[i].stream != stream) {
            state.ops[kept++] = state.ops[i];
        } else if (!error) {
            error = do_op(&state.ops[i]);
        }
    }
    state.op_count = kept;
    return error;
}

/* Only on a stream that was made here: the default one, which waits for all others, is never wanted. */
static int queue(op o) {
    if (state.op_count == OPS_MAX || !find_held(STREAM, o.stream)) {
        return FAKE_INVALID_VALUE;
    }
    state.ops[state.op_count++] = o;
    return 0;
}

int fake_queue_copy(void *to, const void *from, size_t size, void *stream) {
    int error = called_inside("copy");
    return error ? error : queue((op){.stream = stream, .kind = COPY, .to = to, .from = from, .size = size});
}

/* --- the API --- */

FAKE_EXPORT int fake_init(unsigned flags);
FAKE_EXPORT int fake_count(int *count);
FAKE_EXPORT int fake_attribute(int *value, int attribute, int device);
FAKE_EXPORT int fake_alloc(void **memory, size_t size);
FAKE_EXPORT int fake_release(void *memory);
FAKE_EXPORT int fake_stream_make(void **stream, unsigned flags);
FAKE_EXPORT int fake_stream_drop(void *stream);
FAKE_EXPORT int fake_stream_wait(void *stream);
FAKE_EXPORT int fake_module_load(void **module, const void *image);
FAKE_EXPORT int fake_module_drop(void *module);
FAKE_EXPORT int fake_module_find(void **function, void *module, const char *name);
FAKE_EXPORT int fake_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra);
FAKE_EXPORT int fake_event_make(void **event, unsigned flags);
FAKE_EXPORT int fake_event_drop(void *event);
FAKE_EXPORT int fake_event_record(void *event, void *stream);
FAKE_EXPORT int fake_event_wait(void *event);
FAKE_EXPORT int fake_event_between(float *milliseconds, void *start, void *stop);

int fake_init(unsigned flags) {
    int error = fake_called("init");
    return error ? error : flags ? FAKE_INVALID_VALUE : 0;
}

int fake_count(int *count) {
    int error = fake_called("count");
    *count = error ? 0 : 2;
    return error;
}

int fake_attribute(int *value, int attribute, int device) {
    int error = fake_called("attribute");
    return error ? error : fake_find_fact(value, attribute, device) ? 0 : FAKE_INVALID_VALUE;
}

int fake_alloc(void **memory, size_t size) {
    int error = called_inside("alloc");
    return error ? error : size > (size_t)1 << 30 ? KW_GPU_OUT_OF_MEMORY : track_handle(MEMORY, size, memory);
}

int fake_release(void *memory) {
    int error = called_inside("release");
    return error ? error : release_handle(MEMORY, memory);
}

int fake_stream_make(void **stream, unsigned flags) {
    int error = called_inside("stream_make");
    return error ? error : flags > 1 ? FAKE_INVALID_VALUE : track_handle(STREAM, 1, stream);
}

int fake_stream_drop(void *stream) {
    int error = called_inside("stream_drop");
    run_queue(stream);
    int gone = release_handle(STREAM, stream);
    return error ? error : gone;
}

int fake_stream_wait(void *stream) {
    int error = called_inside("stream_wait");
    fake_state.waits++;
    return error ? error : !find_held(STREAM, stream) ? FAKE_INVALID_VALUE : run_queue(stream);
}

int fake_module_load(void **module, const void *image) {
    int error = called_inside("module_load");
    error = !error && memcmp(image, "\177ELF", 4) ? FAKE_INVALID_IMAGE : error;
    return error ? error : track_handle(MODULE, 1, module);
}

int fake_module_drop(void *module) {
    int error = called_inside("module_drop");
    int gone = release_handle(MODULE, module);
    return error ? error : gone;
}

/* Every module has two kernels. */
int fake_module_find(void **function, void *module, const char *name) {
    int error = called_inside("module_find");
    if (error || (strcmp(name, "kw_stage0") && strcmp(name, "kw_stage1"))) {
        return error ? error : FAKE_NOT_FOUND;
    }
    *function = module;
    return find_held(MODULE, module) ? 0 : FAKE_INVALID_VALUE;
}

int fake_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    int error = called_inside("launch");
    if (error || !find_held(MODULE, function) || grid_y * grid_z * block_y * block_z != 1 || !grid_x || !block_x || block_x > 1024 ||
        shared_bytes > (unsigned)fake_state.allowed_lds || !parameters || extra) {
        return error ? error : FAKE_INVALID_VALUE;
    }
    fake_state.launches++;
    fake_state.grid = grid_x;
    fake_state.block = block_x;
    fake_state.lds = shared_bytes;
    fake_state.stream = stream;
    return queue((op){.stream = stream, .kind = LAUNCH, .args = *(const kw_kernel_args *)parameters[0], .blocks = grid_x});
}

int fake_event_make(void **event, unsigned flags) {
    int error = called_inside("event_make");
    return error ? error : flags ? FAKE_INVALID_VALUE : track_handle(EVENT, sizeof(fake_event), event);
}

int fake_event_drop(void *event) {
    int error = called_inside("event_drop");
    int gone = release_handle(EVENT, event);
    return error ? error : gone;
}

int fake_event_record(void *event, void *stream) {
    int error = called_inside("event_record");
    return error ? error : !find_held(EVENT, event) ? FAKE_INVALID_VALUE : queue((op){.stream = stream, .kind = RECORD, .to = event});
}

int fake_event_wait(void *event) {
    int error = called_inside("event_wait");
    fake_state.waits++;
    return error ? error : !find_held(EVENT, event) ? FAKE_INVALID_VALUE : run_queue(NULL);
}

int fake_event_between(float *milliseconds, void *start, void *stop) {
    int error = called_inside("event_between");
    if (!error) {
        *milliseconds = (float)(((fake_event *)stop)->ms - ((fake_event *)start)->ms);
    }
    return error;
}

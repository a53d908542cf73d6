/* fake_hip.c: a stand-in for ROCm's libamdhip64: what backend/hip.c calls of the documented API, with the rules that matter to it. Copies and
 * launches are queued and done only when their stream is waited for; a launch on a result that is not the device's is an illegal address, which
 * is sticky; there are two devices, "gfx942:sramecc+:xnack-" and one of an architecture that nobody knows. A launch adds 1 to the first byte
 * of y: enough to see whether, when and in which order things ran. A driver's state is the process's, hence the static variable. */
#include "support/fake_hip.h"

#include "backend/hip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { HELD_MAX = 256, OPS_MAX = 256, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_IMAGE = 200, NOT_FOUND = 500 };

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
    kw_cpu_args args;
    unsigned blocks;
} op;

static struct {
    held held[HELD_MAX];
    op ops[OPS_MAX];
    int op_count, device, sticky, fail_error, fail_nth;
    char fail_function[64], log[8192];
    double clock_ms;
} fake;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    size_t used = strlen(fake.log);
    va_list list;
    va_start(list, format);
    vsnprintf(fake.log + used, sizeof fake.log - used, format, list);
    va_end(list);
}

static bool is_sticky(int error) {
    return error == KW_HIP_ILLEGAL_ADDRESS || error == KW_HIP_LAUNCH_FAILURE;
}

/* Every function begins with it. */
static int called(const char *function) {
    note("%s ", function);
    if (!fake.sticky && fake.fail_nth && !strcmp(function, fake.fail_function) && --fake.fail_nth == 0) {
        fake.fail_nth = 1;
        fake.sticky = is_sticky(fake.fail_error) ? fake.fail_error : 0;
        return fake.fail_error;
    }
    return fake.sticky;
}

static int hold(held_kind kind, size_t size, void **handle) {
    for (int i = 0; i < HELD_MAX; i++) {
        if (fake.held[i].kind == FREE) {
            fake.held[i] = (held){kind, calloc(1, size), size};
            *handle = fake.held[i].handle;
            return *handle ? 0 : KW_HIP_OUT_OF_MEMORY;
        }
    }
    return KW_HIP_OUT_OF_MEMORY;
}

static held *find_held(held_kind kind, const void *handle) {
    for (int i = 0; i < HELD_MAX; i++) {
        if (fake.held[i].kind == kind && fake.held[i].handle == handle) {
            return &fake.held[i];
        }
    }
    return NULL;
}

static int let_go(held_kind kind, void *handle) {
    held *found = find_held(kind, handle);
    if (!found) {
        return INVALID_VALUE;
    }
    free(handle);
    *found = (held){FREE, NULL, 0};
    return 0;
}

/* Device memory, or not that of a device at all and so the host's. A pointer into a freed allocation cannot be told from the host's. */
static bool is_device(const void *pointer) {
    for (int i = 0; i < HELD_MAX; i++) {
        const char *base = fake.held[i].handle;
        if (fake.held[i].kind == MEMORY && (const char *)pointer >= base && (const char *)pointer < base + fake.held[i].size) {
            return true;
        }
    }
    return false;
}

static int do_op(op *o) {
    if (o->kind == COPY) {
        memcpy(o->to, o->from, o->size);
    } else if (o->kind == RECORD) {
        ((fake_event *)o->to)->ms = fake.clock_ms;
    } else {
        if (!is_device(o->args.y)) {
            return fake.sticky = KW_HIP_ILLEGAL_ADDRESS;
        }
        o->args.y[0]++;
        fake.clock_ms += 0.001 * o->blocks;
    }
    return 0;
}

/* Does what is queued on a stream, or on all when it is NULL. */
static int flush(const void *stream) {
    int kept = 0, error = 0;
    for (int i = 0; i < fake.op_count; i++) {
        if (stream && fake.ops[i].stream != stream) {
            fake.ops[kept++] = fake.ops[i];
        } else if (!error) {
            error = do_op(&fake.ops[i]);
        }
    }
    fake.op_count = kept;
    return error;
}

static int queue(op o) {
    if (fake.op_count == OPS_MAX || (o.stream && !find_held(STREAM, o.stream))) {
        return INVALID_VALUE;
    }
    fake.ops[fake.op_count++] = o;
    return 0;
}

/* --- what a test says and asks --- */

EXPORT fake_hip_reset_call fake_hip_reset;
EXPORT fake_hip_fail_call fake_hip_fail;
EXPORT fake_hip_log_call fake_hip_log;
EXPORT fake_hip_held_call fake_hip_held;

void fake_hip_reset(void) {
    fake.log[0] = 0;
    fake.fail_nth = fake.sticky = fake.op_count = 0;
}

void fake_hip_fail(const char *function, int error, int nth) {
    snprintf(fake.fail_function, sizeof fake.fail_function, "%s", function);
    fake.fail_error = error;
    fake.fail_nth = nth;
}

const char *fake_hip_log(void) {
    return fake.log;
}

int fake_hip_held(void) {
    int count = 0;
    for (int i = 0; i < HELD_MAX; i++) {
        count += fake.held[i].kind != FREE;
    }
    return count;
}

/* --- the API --- */

#define KW_HIP_CALL(name, parameters) EXPORT int name parameters;
KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
EXPORT const char *hipGetErrorString(int error);

const char *hipGetErrorString(int error) {
    return error == KW_HIP_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "another error";
}

int hipInit(unsigned flags) {
    (void)flags;
    return called("hipInit");
}

int hipGetDeviceCount(int *count) {
    int error = called("hipGetDeviceCount");
    *count = error ? 0 : 2;
    return error;
}

int hipRuntimeGetVersion(int *version) {
    *version = 60342134;
    return called("hipRuntimeGetVersion");
}

int hipSetDevice(int device) {
    int error = called("hipSetDevice");
    fake.device = device;
    return error ? error : device < 0 || device > 1 ? INVALID_DEVICE : 0;
}

int hipGetDevicePropertiesR0600(void *properties, int device) {
    int error = called("hipGetDevicePropertiesR0600");
    if (!error) {
        strcpy((char *)properties + KW_HIP_NAME_AT, device ? "A Card of Tomorrow" : "AMD Instinct MI300X (OAM)");
        strcpy((char *)properties + KW_HIP_ARCH_AT, device ? "gfx9999" : "gfx942:sramecc+:xnack-");
    }
    return error;
}

int hipDeviceGetAttribute(int *value, int attribute, int device) {
    static const struct {
        int attribute, value;
    } known[] = {
        {KW_HIP_CLOCK_RATE, 2100000},
        {KW_HIP_L2_SIZE, 4194304},
        {KW_HIP_MEMORY_BUS_WIDTH, 8192},
        {KW_HIP_MEMORY_CLOCK_RATE, 2600000},
        {KW_HIP_MULTIPROCESSOR_COUNT, 228},
        {KW_HIP_SHARED_MEMORY_PER_BLOCK, 65536},
        {KW_HIP_WARP_SIZE, 64},
    };
    (void)device;
    int error = called("hipDeviceGetAttribute");
    for (size_t i = 0; i < sizeof known / sizeof *known && !error; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return 0;
        }
    }
    return error ? error : INVALID_VALUE;
}

int hipMalloc(void **memory, size_t size) {
    int error = called("hipMalloc");
    return error ? error : size > (size_t)1 << 30 ? KW_HIP_OUT_OF_MEMORY : hold(MEMORY, size, memory);
}

int hipFree(void *memory) {
    int error = called("hipFree");
    return error ? error : let_go(MEMORY, memory);
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    int error = called("hipMemcpyAsync");
    return error                           ? error
           : kind != KW_HIP_MEMCPY_DEFAULT ? INVALID_VALUE
                                           : queue((op){.stream = stream, .kind = COPY, .to = to, .from = from, .size = size});
}

int hipStreamCreateWithFlags(void **stream, unsigned flags) {
    int error = called("hipStreamCreateWithFlags");
    return error ? error : flags > 1 ? INVALID_VALUE : hold(STREAM, 1, stream);
}

int hipStreamDestroy(void *stream) {
    int error = called("hipStreamDestroy");
    flush(stream);
    int gone = let_go(STREAM, stream);
    return error ? error : gone;
}

int hipStreamSynchronize(void *stream) {
    int error = called("hipStreamSynchronize");
    return error ? error : flush(stream);
}

int hipDeviceSynchronize(void) {
    int error = called("hipDeviceSynchronize");
    return error ? error : flush(NULL);
}

int hipModuleLoadData(void **module, const void *image) {
    int error = called("hipModuleLoadData");
    if (!error && memcmp(image, "\177ELF", 4)) {
        error = INVALID_IMAGE;
    }
    return error ? error : hold(MODULE, 1, module);
}

int hipModuleUnload(void *module) {
    int error = called("hipModuleUnload");
    int gone = let_go(MODULE, module);
    return error ? error : gone;
}

/* Every module has two kernels. */
int hipModuleGetFunction(void **function, void *module, const char *name) {
    int error = called("hipModuleGetFunction");
    if (error || (strcmp(name, "kw_stage0") && strcmp(name, "kw_stage1"))) {
        return error ? error : NOT_FOUND;
    }
    *function = module;
    return find_held(MODULE, module) ? 0 : INVALID_VALUE;
}

int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    int error = called("hipModuleLaunchKernel");
    const held *own = stream ? find_held(STREAM, stream) : NULL;
    note("[%u x %u on %d] ", grid_x, block_x, own ? (int)(own - fake.held) : -1);
    if (error || !find_held(MODULE, function) || grid_y * grid_z * block_y * block_z != 1 || !grid_x || !block_x || block_x > 1024 ||
        shared_bytes || !parameters || extra) {
        return error ? error : INVALID_VALUE;
    }
    return queue((op){.stream = stream, .kind = LAUNCH, .args = *(const kw_cpu_args *)parameters[0], .blocks = grid_x});
}

int hipEventCreate(void **event) {
    int error = called("hipEventCreate");
    return error ? error : hold(EVENT, sizeof(fake_event), event);
}

int hipEventDestroy(void *event) {
    int error = called("hipEventDestroy");
    int gone = let_go(EVENT, event);
    return error ? error : gone;
}

int hipEventRecord(void *event, void *stream) {
    int error = called("hipEventRecord");
    return error ? error : !find_held(EVENT, event) ? INVALID_VALUE : queue((op){.stream = stream, .kind = RECORD, .to = event});
}

int hipEventSynchronize(void *event) {
    int error = called("hipEventSynchronize");
    return error ? error : !find_held(EVENT, event) ? INVALID_VALUE : flush(NULL);
}

int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
    int error = called("hipEventElapsedTime");
    if (!error) {
        *milliseconds = (float)(((fake_event *)stop)->ms - ((fake_event *)start)->ms);
    }
    return error;
}

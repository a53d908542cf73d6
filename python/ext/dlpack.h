/* dlpack.h: what DLPack 1.3 lays down for memory and function tables that array libraries hand each other, declared by its published layout:
 * https://dmlc.github.io/dlpack/latest/. A tensor's strides count elements; NULL stands for C order. */
#ifndef KW_PYTHON_DLPACK_H
#define KW_PYTHON_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM = 10, DL_ROCM_HOST = 11, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_E4M3FN = 10, DL_E5M2 = 12 };
enum { DL_READ_ONLY = 1 }; /* a flag of dl_versioned */

typedef struct dl_device {
    int32_t type, id;
} dl_device;

typedef struct dl_dtype {
    uint8_t code, bits;
    uint16_t lanes;
} dl_dtype;

typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_dtype dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

/* In a capsule "dltensor". */
typedef struct dl_managed {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

typedef struct dl_version {
    uint32_t major, minor;
} dl_version;

/* In a capsule "dltensor_versioned". */
typedef struct dl_versioned {
    dl_version version;
    void *manager;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* The C exchange API: type(array).__dlpack_c_exchange_api__, a capsule "dlpack_exchange_api". Functions return 0, or -1 with a Python exception
 * set; allocate tells its errors to set_error. Nothing waits for a stream. borrow may be NULL. */
typedef struct dl_exchange {
    dl_version version;
    struct dl_exchange *older;
    int (*allocate)(dl_tensor *prototype, dl_versioned **out, void *error_user,
                    void (*set_error)(void *user, const char *kind, const char *message));
    int (*from_object)(void *object, dl_versioned **out);
    int (*to_object)(dl_versioned *tensor, void **object);
    int (*borrow)(void *object, dl_tensor *out);
    int (*current_stream)(int32_t device_type, int32_t device_id, void **stream);
} dl_exchange;

#endif

/* kernelwright.h: the run-time library. A user names a problem, opens a context on a device, makes a plan and runs it.
 *
 * Shapes and units: sizes are counts of elements, memory sizes are bytes, times are nanoseconds. C and K of a
 * convolution are totals over all groups. Three tensors keep their names in every direction: x is the input side, w the
 * filter, y the output side; the operation says which one is written (forward: y, backward data: x, backward weight: w).
 * A GEMM uses x = A, w = B, y = C.
 *
 * Errors: every function that can fail returns a kw_status and, where err is not NULL, fills it with one line that names
 * the offending value, the rule and the way out. Nothing aborts. Pointers that are handed out live as long as the handle
 * they came from, unless said otherwise. No function changes global state; all functions may be called from many threads
 * on different handles. Which calls may share a handle is said at the handle.
 *
 * Sizes of structs: one that the caller makes begins with its size, as the caller's header has it,
 *     kw_plan_options options = {.size = sizeof options, .mode = KW_FROZEN};        (C++: options = {sizeof options}; options.mode = ...)
 * and a member that is zero asks for its default. Later releases add members at the end, so a program that was compiled against an older
 * header runs as before. A size that no header gives, and one from a newer header with a member set that the library does not know, are
 * KW_ILLEGAL. A struct without a size is a value that never grows, or the library makes it and lends it.
 */
#ifndef KERNELWRIGHT_H
#define KERNELWRIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the shared library exports; cmake/exports.cmake reads it. */
#define KW_API

#define KW_VERSION "0.1.0"
#define KW_ABI_VERSION 0 /* the shared library's SONAME */

/* --- status and errors ---------------------------------------------------------------------------------------- */

typedef enum kw_status {
    KW_OK = 0,
    KW_MALFORMED,   /* text that does not follow its grammar */
    KW_ILLEGAL,     /* well-formed, but no such thing can be: an impossible size, an axis outside its range */
    KW_MISSING,     /* a name that is not known: file, device, family, set, architecture */
    KW_NO_KERNEL,   /* no kernel serves the request under its conditions (frozen miss, workspace limit) */
    KW_FAILED,      /* the work itself failed: a kernel was wrong, a criterion was missed */
    KW_IO,          /* a file could not be read or written */
    KW_ENVIRONMENT, /* a compiler, driver or device is absent or broken */
    KW_NO_MEMORY,
    KW_STATUS_COUNT
} kw_status;

/* text is always terminated; it is empty while status is KW_OK. */
typedef struct kw_error {
    kw_status status;
    char text[508];
} kw_error;

KW_API const char *kw_status_name(kw_status status);
KW_API const char *kw_version(void);

/* A request to end what is under way. One thread makes it, or a signal handler, and others see it; each function that takes one says what
 * it leaves behind. A zeroed kw_stop requests nothing. It is read and set by the functions below only: in C++, which has no _Atomic, its
 * member is a plain int of the same size. */
typedef struct kw_stop {
#ifdef __cplusplus
    int requested;
#else
    _Atomic int requested;
#endif
} kw_stop;

/* May be called from a signal handler. */
KW_API void kw_stop_request(kw_stop *stop);
/* false where stop is NULL. */
KW_API bool kw_stop_requested(const kw_stop *stop);

/* --- problem: what to compute --------------------------------------------------------------------------------- */

typedef enum kw_op { KW_GEMM = 0, KW_CONV_FWD, KW_CONV_BWD_DATA, KW_CONV_BWD_WEIGHT, KW_OP_COUNT } kw_op;

/* The type of x and w. y (the output of GEMM and forward; the gradient tensors of the backward directions alike) has the
 * type kw_dtype_output(): fp8 and bf8 give fp16, int8 gives int32, all others keep theirs; an epilogue may name another. In the
 * backward directions the two tensors that are read have the problem's type and the one that is written has the output type. */
typedef enum kw_dtype {
    KW_FP32 = 0,
    KW_BF16,
    KW_FP16,
    KW_FP8, /* e4m3 (finite only, as in OCP FP8) */
    KW_BF8, /* e5m2 */
    KW_INT8,
    KW_INT32, /* as an output only */
    KW_UINT8, /* of x where w is int8, and as an output */
    KW_DTYPE_COUNT
} kw_dtype;

/* Memory order, rightmost fastest. GEMM: the order of A, B and C, r = row-major, c = column-major, for A [m,k],
 * B [k,n], C [m,n]; a batch is outermost in each. Convolution, channels last: x N(D)(H)WGC, w GK(Z)(Y)XC, y N(D)(H)WGK with
 * C and K per group; channels first: x NGC(D)(H)W, w GKC(Z)(Y)X, y NGK(D)(H)W. */
typedef enum kw_layout { KW_RCR = 0, KW_RRR, KW_CRR, KW_CCR, KW_CHANNELS_LAST, KW_CHANNELS_FIRST, KW_LAYOUT_COUNT } kw_layout;

/* groups above 0: a grouped product, as of a mixture of experts: many products in one launch whose n and k are the same and whose rows are
 * known only when it runs. The rows of A lie behind each other, group by group, so do those of C; B has a matrix for each group. m is the
 * room: rows of all groups together, at most; batch is 1, A is row-major (KW_RCR, KW_RRR). kw_tensors.ends says which rows are whose. */
typedef struct kw_gemm_dims {
    int64_t batch, m, n, k;
    int64_t groups; /* 0: one product */
} kw_gemm_dims;

/* Spatial triples are ordered depth, height, width. A 2D problem has extent 1 in depth (stride 1, padding 0, dilation 1),
 * a 1D problem in depth and height, so code may always loop over all three. pad_back may be negative: it moves the far edge and
 * acts only through the output size. */
typedef struct kw_conv_dims {
    int64_t n, g, c, k;
    int64_t in[3], filter[3], stride[3], pad[3], pad_back[3], dilation[3];
} kw_conv_dims;

/* --- epilogue: what becomes of the sums before they are written ------------------------------------------------ */

/* In the order of the steps v becomes, element by element and in fp32:
 *     v + t, v t, with a tensor t: of the result's own shape and memory order (ADD, MULTIPLY), of one value for each channel of the result
 *     (BIAS, SCALE_CHANNEL), of one for each of its pixels or rows (SCALE_ROW), or of one value (SCALE). Of ADD a t is added; a is 1 where a
 *     text does not say it, and never 0. A channel is one of y's K (backward data: of x's C), a column of a product, of a grouped one a column
 *     of a group, group by group; backward weight has neither channels nor rows.
 *     relu: max(v, 0). clamp: min(max(v, a), b). leaky_relu: v > 0 ? v : a v. sigmoid: 1 / (1 + exp(-v)). tanh. silu: v sigmoid(v).
 *     gelu: v (1 + erf(v / sqrt 2)) / 2. gelu_tanh: v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2 (D. Hendrycks, K. Gimpel, Gaussian
 *     Error Linear Units). hardswish: v min(max(v + 3, 0), 6) / 6 (A. Howard et al., Searching for MobileNetV3).
 *     Zero points, one value each: ZERO_X, of x in a GEMM or forward convolution of int8, is subtracted from each element of x before it is
 *     multiplied, so that padding adds nothing to a sum; it stands first, is one of the values of x's type, and leaves v. ZERO_Y, of a
 *     result of int8 or uint8: v + t. (B. Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
 *     Inference: real value = scale (q - zero point).)
 *     ZERO_W and ZERO_W_CHANNEL, of w in the same problems, one value and one for each channel: subtracted from each element of w; one of the
 *     values of w's type; they stand first or behind ZERO_X, and leave v.
 *     BIAS_GRADIENT, of backward weight, leaves v. Its tensor, of fp32 or the problem's type of 16 bits, is written: for each of y's K the
 *     sum of y over images and pixels, which is the gradient of a bias. It stands first.
 *     BETA leaves v. It stands in front of an ADD whose a is 1, which then adds t times the one value of its tensor, read when a plan runs
 *     (beta of BLAS); nothing where that is 0, whatever t is.
 * Then v is rounded to the type of the result: floats to nearest even; integers to nearest even and to the ends of their range, NaN to 0. */
typedef enum kw_epilogue_op {
    KW_EPILOGUE_ADD = 0,
    KW_EPILOGUE_BIAS,
    KW_EPILOGUE_MULTIPLY,
    KW_EPILOGUE_SCALE,
    KW_EPILOGUE_SCALE_CHANNEL,
    KW_EPILOGUE_SCALE_ROW,
    KW_EPILOGUE_RELU,
    KW_EPILOGUE_CLAMP,
    KW_EPILOGUE_LEAKY_RELU,
    KW_EPILOGUE_SIGMOID,
    KW_EPILOGUE_TANH,
    KW_EPILOGUE_SILU,
    KW_EPILOGUE_GELU,
    KW_EPILOGUE_GELU_TANH,
    KW_EPILOGUE_HARDSWISH,
    KW_EPILOGUE_ZERO_X,
    KW_EPILOGUE_ZERO_Y,
    KW_EPILOGUE_BIAS_GRADIENT,
    KW_EPILOGUE_BETA,
    KW_EPILOGUE_ZERO_W,
    KW_EPILOGUE_ZERO_W_CHANNEL,
    KW_EPILOGUE_OP_COUNT
} kw_epilogue_op;

/* dtype: of the step's tensor, where it has one. a, b: where it has parameters. */
typedef struct kw_epilogue_step {
    kw_epilogue_op op;
    kw_dtype dtype;
    double a, b;
} kw_epilogue_step;

enum { KW_EPILOGUE_MAX = 8, KW_EXTRA_MAX = 6 };

/* A zeroed one writes the sums as they are, in the type kw_dtype_output(). */
typedef struct kw_epilogue {
    int32_t count;
    bool converts; /* the result has type output instead */
    kw_dtype output;
    kw_epilogue_step step[KW_EPILOGUE_MAX];
} kw_epilogue;

enum { KW_PROBLEM_BYTES = 640, KW_PITCHES = 4, KW_BROADCAST = -1 };

/* How coarsely elements of fp32 may be read before they are multiplied (oneDNN's fpmath mode, PyTorch's allow_tf32), or products of fp8
 * and bf8 summed (cuBLAS's fast accumulation, PyTorch's use_fast_accum). A permission: any
 * kernel that is at least as exact may serve, and where none is faster the same as for KW_FPMATH_STRICT does. */
typedef enum kw_fpmath {
    KW_FPMATH_STRICT = 0, /* as they are */
    KW_FPMATH_TF32,       /* of fp32: with 10 bits of fraction; sums stay fp32 */
    KW_FPMATH_FAST_ACCUM, /* of gemm in fp8 or bf8: sums may have some 13 bits of fraction for the whole depth */
    KW_FPMATH_COUNT
} kw_fpmath;

/* Memory order of a convolution's filter, rightmost fastest: K the output channels of all groups, C the input channels of a group, R S the
 * taps of all spatial axes, Z Y X. */
typedef enum kw_filter_order {
    KW_FILTER_OF_LAYOUT = 0, /* KRSC with channels last, KCRS with channels first */
    KW_FILTER_KRSC,
    KW_FILTER_KCRS, /* PyTorch's own weights; oneDNN's oihw, goihw */
    KW_FILTER_CRSK, /* oneDNN's ihwo, MIOpen's CHWN */
    KW_FILTER_RSCK, /* HWIO of TensorFlow and JAX; oneDNN's hwio, hwigo */
    KW_FILTER_ORDER_COUNT
} kw_filter_order;

typedef enum kw_tensor { KW_X = 0, KW_W, KW_Y, KW_TENSOR_COUNT } kw_tensor;

/* A value: copy it freely. Fill it by kw_problem_parse, or by hand, from zeros, and then kw_problem_check. Its size stays, whatever later
 * releases add: reserved must be zero. */
typedef struct kw_problem {
    kw_op op;
    kw_dtype dtype;
    kw_layout layout;
    int32_t ndim; /* spatial axes of a convolution, 1 to 3; 0 for GEMM */
    union {
        kw_gemm_dims gemm;
        kw_conv_dims conv;
    };
    kw_epilogue epilogue;
    /* Where a tensor is part of a larger one, by kw_tensor; 0: it lies densely. Of a product: elements from one line (row, or column in
     * column-major order) to the next, at least those of a line (a leading dimension), and from one matrix of the batch to the next, which for
     * x and w may be KW_BROADCAST: one matrix for all. Lines of a result, its batch included, may not overlap; what lies between is not
     * written. Extra tensors of the result's shape have its pitches. Of a convolution's x and y: elements from one position of an axis to the
     * next, with channels last of columns, rows, planes, images, with channels first of rows, planes, channels, images; an axis that says
     * nothing follows the one before densely. No two elements share a place; w is dense. */
    int64_t pitch[KW_TENSOR_COUNT][KW_PITCHES];
    /* x has type x_dtype instead: KW_UINT8, in a GEMM or forward convolution of KW_INT8. */
    bool mixed;
    kw_dtype x_dtype;
    kw_fpmath fpmath;             /* of a problem of KW_FP32, a GEMM of KW_FP8 or KW_BF8 */
    kw_filter_order filter_order; /* of a convolution's w; an epilogue's tensors of w's shape lie in the same order */
    unsigned char reserved[KW_PROBLEM_BYTES - 32 - sizeof(kw_conv_dims) - sizeof(kw_epilogue) - 8 * KW_TENSOR_COUNT * KW_PITCHES];
} kw_problem;

enum { KW_PROBLEM_TEXT_MAX = 1024 }; /* room for any canonical text, with its end */

/* Reads one line such as "conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1" or "gemm fp32 rcr m128 n64 k256". The order of
 * words is free; docs/problems/problem-text.md has the grammar. What is not said is n1 g1 s1 d1 p0 (GEMM: b1). The problem is checked. */
KW_API kw_status kw_problem_parse(kw_problem *problem, const char *text, kw_error *err);
/* Reads a line of another tool as well: MIOpenDriver ("./bin/MIOpenDriver convbfp16 -n 32 -c 64 ..."), benchdnn
 * ("--dir=BWD_D --dt=bf16 g32mb1ic128ih56oc128kh3ph1", "--matmul 128x768:768x768"), hipblaslt-bench, PyTorch's TunableOp, or our own text.
 * A line that means several problems is refused. */
KW_API kw_status kw_problem_import(kw_problem *problem, const char *line, kw_error *err);
enum { KW_IMPORT_MAX = 3 };
/* The same for a line that may mean several: without -F, or with -F 0, MIOpenDriver runs all three directions. */
KW_API kw_status kw_problem_import_all(kw_problem problems[KW_IMPORT_MAX], int *count, const char *line, kw_error *err);
/* Writes the canonical text, which names every value and is the problem's key. At most capacity bytes with the end;
 * returns the length that the whole text has. */
KW_API size_t kw_problem_print(char *text, size_t capacity, const kw_problem *problem);
/* Refuses an impossible problem with the reason: an output below 1, C or K not divisible by G, sizes beyond 63 bits. */
KW_API kw_status kw_problem_check(const kw_problem *problem, kw_error *err);
/* Output extents of a convolution: o = (in + pad + pad_back - dilation (filter - 1) - 1) / stride + 1, rounded down. */
KW_API void kw_problem_output(int64_t out[3], const kw_problem *problem);
/* Exact floating-point operations: 2 for each product that is really formed; filter taps that fall into the padding do
 * not count. The same for all three directions of a convolution. */
KW_API int64_t kw_problem_flops(const kw_problem *problem);
/* Bytes that must move at least once: the three tensors and those of the epilogue. */
KW_API int64_t kw_problem_bytes(const kw_problem *problem);
/* Element count and type of one tensor. Gaps count (kw_problem.pitch): so many must its memory have room for. */
KW_API int64_t kw_problem_elements(const kw_problem *problem, kw_tensor tensor);
KW_API kw_dtype kw_problem_dtype(const kw_problem *problem, kw_tensor tensor);
enum { KW_AXES_MAX = 5 };
/* A tensor as frameworks name its axes: how long each is, and how many elements lie from one of its positions to the next. x and y of a
 * convolution: N, channels of all groups, the spatial ones (there are ndim); w: K of all groups, C of one group, the filter's. Of a product:
 * batch, then rows and columns of A, B, C; a batch stride of 0: one matrix for all. Returns how many axes there are. */
KW_API int kw_problem_axes(int64_t extent[KW_AXES_MAX], int64_t stride[KW_AXES_MAX], const kw_problem *problem, kw_tensor tensor);
/* The tensor that the operation writes. */
KW_API kw_tensor kw_problem_result(const kw_problem *problem);
/* A tensor that a step of the epilogue reads, or bias_gradient writes: besides x, w and y. */
typedef struct kw_extra {
    const char *name; /* of the step: "bias" */
    kw_dtype dtype;
    int64_t elements;
} kw_extra;
/* They stand in the order of their steps, in kw_tensors too. Returns their count. */
KW_API int kw_problem_extras(kw_extra extras[KW_EXTRA_MAX], const kw_problem *problem);
/* All names of steps, separated by blanks. */
KW_API const char *kw_epilogue_names(void);

KW_API const char *kw_op_name(kw_op op);
KW_API const char *kw_dtype_name(kw_dtype dtype);
/* By name; false where there is none. A type is one that a problem can have. */
KW_API bool kw_op_find(kw_op *op, const char *name);
KW_API bool kw_dtype_find(kw_dtype *dtype, const char *name);
/* All names that the two find, separated by blanks. */
KW_API const char *kw_op_names(void);
KW_API const char *kw_dtype_names(void);
KW_API size_t kw_dtype_size(kw_dtype dtype);
KW_API kw_dtype kw_dtype_output(kw_dtype dtype);

/* --- record: one kernel on one problem ------------------------------------------------------------------------ */

typedef enum kw_outcome {
    KW_UNTRIED = 0,
    KW_GOOD,         /* verified, and timed where a time was asked for */
    KW_UNFIT,        /* the kernel does not serve this problem, or needs more workspace than allowed */
    KW_UNCOMPILED,   /* the compiler refused the source or could not be run */
    KW_WRONG,        /* a result differs from the reference, or a guard zone was written */
    KW_MISTRUSTED,   /* right, but too many expected values are zero for that to mean much */
    KW_UNLAUNCHED,   /* could not be run: out of memory */
    KW_SLOW,         /* right, but so far behind that it was dropped after a few launches; time_ns is what they showed */
    KW_CRASHED,      /* ended its process: a signal, an exit, an answer that cannot be read */
    KW_TIMED_OUT,    /* still ran at its time limit and was killed */
    KW_SPILLS,       /* of a GPU: threads keep more bytes of registers in memory than is allowed; neither verified nor timed */
    KW_TOO_MUCH_LDS, /* of a GPU: a block wants more shared memory than the device gives */
    KW_OUTCOME_COUNT
} kw_outcome;

KW_API const char *kw_outcome_name(kw_outcome outcome);

enum { KW_CONFIG_TEXT_MAX = 1024 };

/* What is measured of a kernel. One list for the struct, a store's columns and the lines of worker processes: kind, type, member, flags of
 * src/store/row.h, unit, meaning. PAIR is an array of two, whose columns have names of their own; FLAG is true or false.
 *
 * A sample is a batch of calls, timed together; samples during which the processor was taken away are dropped. Times are of one call; 0 where
 * none was taken. half_ns: who wins by one half is scored by the other. docs/measuring/measuring.md has the method. */
#define KW_RECORD_FIELDS(NUMBER, PAIR, FLAG)                                                                                               \
    NUMBER(REAL, double, time_ns, 0, "ns", "of one call: lower quartile of the samples")                                                   \
    NUMBER(REAL, double, spread_ns, 0, "ns", "interquartile range")                                                                        \
    NUMBER(REAL, double, median_ns, 0, "ns", "median")                                                                                     \
    NUMBER(REAL, double, mad_ns, 0, "ns", "median absolute deviation")                                                                     \
    NUMBER(REAL, double, least_ns, 0, "ns", "fastest sample")                                                                              \
    PAIR(REAL, double, half_ns, half0_ns, half1_ns, 0, "ns", "lower quartile of the even samples", "lower quartile of the odd samples")    \
    NUMBER(INT32, int32_t, samples, 0, "", "kept")                                                                                         \
    NUMBER(INT32, int32_t, dropped, 0, "", "samples that were not counted")                                                                \
    NUMBER(INT32, int32_t, calls, 0, "", "of a sample")                                                                                    \
    NUMBER(INT32, int32_t, warmups, 0, "", "calls before the first sample")                                                                \
    FLAG(BOOL, bool, cold, ALWAYS, "", "each call on other copies of the tensors")                                                         \
    NUMBER(INT64, int64_t, workspace, 0, "bytes", "memory the kernel needs besides the tensors")                                           \
    NUMBER(REAL, double, error, LOOSE, "", "largest distance from the reference as a share of the bound")                                  \
    NUMBER(REAL, double, ulp, LOOSE, "", "the same in units of the last place")

typedef struct kw_record {
    kw_outcome outcome;
#define KW_RECORD_MEMBER(kind, type, member, flags, unit, meaning) type member;
#define KW_RECORD_PAIR(kind, type, member, first, second, flags, unit, meaning, meaning2) type member[2];
    KW_RECORD_FIELDS(KW_RECORD_MEMBER, KW_RECORD_PAIR, KW_RECORD_MEMBER)
#undef KW_RECORD_MEMBER
#undef KW_RECORD_PAIR
    char config[KW_CONFIG_TEXT_MAX];
    char detail[256]; /* why, when the outcome is not KW_GOOD; of a kernel that ended its worker first and was good alone, how it did */
} kw_record;

/* --- context: one device and all state ------------------------------------------------------------------------ */

/* Many threads may use one context. A child that was forked since may open one of its own; with an inherited one it can run the plans made
 * before, on one thread, and close it, which frees nothing; whatever else takes the context fails with KW_FAILED or says nothing. */
typedef struct kw_context kw_context;

/* A zeroed member asks for its default; strings are copied. An option that is given beats its environment variable. log may be called
 * from any thread that uses the context; neither it nor a progress function may call back into the library. */
typedef struct kw_context_options {
    size_t size;             /* sizeof(kw_context_options) */
    int32_t threads;         /* that a kernel may use; 0: KW_THREADS, else all cores of the process */
    const char *cache_dir;   /* KW_CACHE_DIR, else $XDG_CACHE_HOME/kernelwright, else ~/.cache/kernelwright */
    const char *data_dir;    /* KW_DATA_DIR, else $XDG_DATA_HOME/kernelwright, else ~/.local/share/kernelwright */
    const char *wisdom_file; /* KW_WISDOM, else wisdom.txt in data_dir; "" keeps wisdom in memory only */
    const char *compiler;    /* KW_CC, else gcc, else clang, else cc, found on PATH; "" uses no compiler. For GPUs see
                                                  docs/devices/gpu-toolchains.md */
    const char *model;       /* KW_MODEL: the folder of a model to predict by; "" for none; else the nearest there is */
    int32_t spill_limit;     /* bytes of registers that a thread of a GPU kernel may keep in memory for the kernel to be a
                                                  candidate; 0: KW_SPILL_LIMIT, else none; below 0: any number */
    const kw_stop *stop;     /* when it is requested, compiles and measurings under way end soon and leave nothing behind, and
                                                  what waits for them fails with KW_FAILED; may be NULL, outlives the context */
    void (*log)(void *user, const char *line); /* remarks; NULL: to standard error when KW_LOG is set */
    void *user;
    /* A caller's thread pool, on which a CPU's kernels run in place of threads of the library's own (NULL). It calls task(work, i) for each i
     * below count, which is threads at most, on any threads and in any order, all of them by the caller if it likes, and returns when they
     * are done. Who runs or measures a plan calls it, so many may at once. It does not call back into the library, nor leave by a jump. */
    void (*parallel_for)(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work);
    void *pool;
    /* Memory of the context's device that plans keep, or need while they pack weights, in place of the library's own (both NULL): bytes at a
     * multiple of alignment, a power of two, or NULL, which is KW_NO_MEMORY. What is measured with is not asked for here. */
    void *(*allocate)(void *heap, size_t bytes, size_t alignment);
    void (*release)(void *heap, void *memory, size_t bytes);
    void *heap;
} kw_context_options;

/* The device of those who name none. */
#define KW_DEFAULT_DEVICE "cpu"

/* device: "cpu", "cuda:0", "hip:0", or a GPU that the CPU plays, "emu:gfx942"; without a number or name the first one. options may be
 * NULL. */
KW_API kw_status kw_context_open(kw_context **context, const char *device, const kw_context_options *options, kw_error *err);
/* All plans and registries of the context must be gone before. */
KW_API void kw_context_close(kw_context **context);
/* The device's facts in one line of text, e.g. "cpu:x86-64-v4-bf16 model=amd-25-17-1 units=2 lanes=16 ...". */
KW_API const char *kw_context_target(const kw_context *context);
/* The device for people: its product and driver, e.g. "NVIDIA H200, driver for CUDA 13.0, GPU-6f3c1a52-..." */
KW_API const char *kw_context_device(const kw_context *context);
/* Whether its kernels are those of a GPU, its own or one that is played. */
KW_API bool kw_context_is_gpu(const kw_context *context);
/* Whose clock times of the context are by: "device" (its events, so that launching is no part of them) or "host". */
KW_API const char *kw_context_clock(const kw_context *context);
/* A device that is there, or a backend that has none. Texts are "" where there is nothing to say. */
typedef struct kw_device_entry {
    bool gpu;                   /* has a GPU's kernels, its own or played */
    const char *device;         /* "cuda:0"; the backend's name alone when it has no device */
    const char *target, *about; /* its facts; its product and driver */
    const char *none;           /* why there is no device */
    const char *compiler;       /* what compiles its kernels, "nvrtc 13.0, /usr/local/cuda/lib64/libnvrtc.so.13" */
    const char *no_compiler;    /* why nothing does */
} kw_device_entry;
/* Visits every device of every backend, GPUs that are played once for all. Returns the count of devices. */
KW_API int kw_devices_visit(void (*visit)(void *user, const kw_device_entry *entry), void *user);
/* The whole text of a target that is given so or as an architecture: "gfx950" and "hip:gfx950" are a usual product of it, "emu:gfx950" one that is
 * played. At most capacity bytes with the end. KW_MISSING, KW_MALFORMED: it is neither. */
KW_API kw_status kw_target_text(char *text, size_t capacity, const char *target, kw_error *err);
/* Memory of the context's device, for programs that have no other way to it; a framework gives its own. Copies go in any direction between
 * device and host, and are done when the call returns. */
KW_API kw_status kw_device_alloc(kw_context *context, int64_t bytes, void **memory, kw_error *err);
KW_API void kw_device_free(kw_context *context, void *memory);
KW_API kw_status kw_device_copy(kw_context *context, void *to, const void *from, int64_t bytes, kw_error *err);
/* "gcc 12.2.0", or "" when there is none; then plans use the kernels that are compiled in or cached. */
KW_API const char *kw_context_compiler(const kw_context *context);
/* The places in use; "" where there is none. Owned by the context. */
typedef struct kw_paths {
    const char *cache, *data, *wisdom, *system_wisdom;
    const char *cache_note; /* why the cache is not used, or "" */
    int64_t cache_entries, cache_bytes;
} kw_paths;
KW_API kw_status kw_context_paths(kw_paths *places, kw_context *context, kw_error *err);
/* Why kernels are not kept, or only read, in the cache; "" when all is well. It asks for no more than opening it. */
KW_API const char *kw_context_cache_note(kw_context *context);
/* Deletes every cached kernel; removed (may be NULL) gets the count. */
KW_API kw_status kw_cache_clear(kw_context *context, int64_t *removed, kw_error *err);

/* --- registry: the kernels to choose from --------------------------------------------------------------------- */

/* A registry belongs to one thread at a time while it is changed; once it no longer changes, many may use it. */
typedef struct kw_registry kw_registry;

/* Empty. Every context also has a default registry: set "default" for its architecture plus the reference kernels; and where families make kernels
 * to a problem's measure (docs/kernels/gpu-tailored.md), these, as problems are met. They are not counted here. */
KW_API kw_status kw_registry_create(kw_registry **registry, kw_context *context, kw_error *err);
KW_API void kw_registry_destroy(kw_registry **registry);
/* Adds the kernels of the default registry, those included that are made for a problem. */
KW_API kw_status kw_registry_add_default(kw_registry *registry, kw_error *err);
/* Adds one config by its text, e.g. "gemm.tiled gemm fp32 isa=avx512 tile_m=8 ...". A config that is there already is no error. */
KW_API kw_status kw_registry_add(kw_registry *registry, const char *config, kw_error *err);
/* Adds the reference kernel for the problem: on a CPU compiled in, on a GPU one kernel without axes. */
KW_API kw_status kw_registry_add_reference(kw_registry *registry, const kw_problem *problem, kw_error *err);
/* Adds the configs of a catalog file: one a line, '#' starts a comment. */
KW_API kw_status kw_registry_load(kw_registry *registry, const char *path, kw_error *err);
/* The architecture of its context's device, e.g. "x86-64-v4", "sm_90". */
KW_API const char *kw_registry_arch(const kw_registry *registry);
KW_API size_t kw_registry_count(const kw_registry *registry);
/* The canonical text of config number index (in order of addition). NULL beyond the count. */
KW_API const char *kw_registry_config(const kw_registry *registry, size_t index);
/* Keeps the configs for which keep, which is asked about each once and in their order, returns true. From now on no others are made for a problem. */
KW_API kw_status kw_registry_keep(kw_registry *registry, bool (*keep)(void *user, const char *config), void *user, kw_error *err);
/* KW_OK when config number index serves the problem; else KW_NO_KERNEL and the rule that refuses it. */
KW_API kw_status kw_registry_fits(const kw_registry *registry, size_t index, const kw_problem *problem, kw_error *err);

typedef struct kw_progress {
    size_t done, total, failed;
    const char *what;    /* "build" or "measure" */
    const char *current; /* the config just done */
    double best_ns;      /* of the best kernel so far, 0: none yet */
} kw_progress;

typedef struct kw_build_options {
    size_t size;                                               /* sizeof(kw_build_options) */
    const kw_problem *problem;                                 /* only the kernels that serve this problem; NULL: all */
    int32_t jobs;                                              /* compilers at a time; 0: one a core */
    void (*progress)(void *user, const kw_progress *progress); /* called from one thread */
    void *user;
} kw_build_options;

/* Processor time of the compilers for the kernels that were compiled now: of all together, of the middle one, of the dearest. */
typedef struct kw_build_cost {
    double total_ns, median_ns, most_ns;
} kw_build_cost;

typedef struct kw_build_report {
    size_t built, cached, failed; /* compiled now, found in the cache, refused by the compiler */
    kw_build_cost cpu;
} kw_build_report;

/* Compiles in parallel what is not in the cache yet. A kernel that does not compile is counted, not an error. */
KW_API kw_status kw_registry_build(kw_registry *registry, const kw_build_options *options, kw_build_report *report, kw_error *err);

/* What a family is, in several lines: summary, operations, types, and each axis with its values and meaning. family NULL: one line
 * for each family. The caller frees *text with kw_free. */
KW_API kw_status kw_family_describe(char **text, const char *family, kw_error *err);
/* What a config's text says before its axes. */
typedef struct kw_config_info {
    char family[64];
    kw_op op;
    kw_dtype dtype;
} kw_config_info;
/* Reads the first three words; the family need not be known here, and axes are not looked at. KW_MALFORMED: no operation or type there. */
KW_API kw_status kw_config_info_read(kw_config_info *info, const char *config, kw_error *err);
/* The generated source of a config, complete in itself. arch: for a GPU kernel the architecture it is made for, e.g. "gfx942", or
 * "emu:gfx942" for the text that plays it on a CPU; CPU kernels ignore it. The caller frees *source with kw_free. */
KW_API kw_status kw_config_source(char **source, const char *config, const char *arch, kw_error *err);
KW_API void kw_free(void *memory);
/* Copies a text from outside so that it can be shown on a terminal: control characters, bytes that are no UTF-8 and characters that are
 * invisible or turn the direction of writing become \x1b or \u{202e}. text is terminated, cut at a whole character; returns its size. */
KW_API size_t kw_printable(char *text, size_t capacity, const char *from);

/* --- plan: a problem and its kernel --------------------------------------------------------------------------- */

/* In order of patience. What wisdom holds answers a request that is no more patient than the one that made it. */
typedef enum kw_mode {
    KW_MODE_DEFAULT = 0, /* KW_MODE in the environment, else KW_SHORTLIST */
    KW_FROZEN,           /* wisdom and cache only: no measuring, no compiling */
    KW_PREDICT,          /* the best by the model that serves, else by the analytic estimate; compiles it, measures nothing */
    KW_SHORTLIST,        /* verifies and measures the best few by the same once, and remembers the winner; one that was measured on a busy
                            machine (its samples spread by more than KW_SPREAD_MAX percent, 10) is measured again next time */
    KW_EXHAUSTIVE,       /* verifies and measures every kernel that serves the problem */
    KW_MODE_COUNT
} kw_mode;

enum { KW_WORKSPACE_NONE = -1 };

/* A zeroed member asks for its default: kernels are compared as they run with weights packed beforehand (kw_plan_pack_weights). */
typedef struct kw_plan_options {
    size_t size; /* sizeof(kw_plan_options) */
    kw_mode mode;
    int64_t workspace_max; /* bytes; 0: no limit, KW_WORKSPACE_NONE: no workspace at all */
    int32_t shortlist;     /* candidates that KW_SHORTLIST measures; 0: 8 */
    bool frozen_is_error;  /* a miss in KW_FROZEN is KW_NO_KERNEL; else the reference kernel answers */
    bool remeasure;        /* measure even when wisdom has an answer */
    bool fresh_weights;    /* w changes from run to run, as in training: choose by times that include packing it */
    kw_registry *registry; /* NULL: the context's default registry */
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_plan_options;

/* Immutable once made, except by kw_plan_pack_weights. Many threads may run one plan, each with its own workspace. */
typedef struct kw_plan kw_plan;

/* Never fails for want of a kernel on a legal problem, unless a condition of the options forbids every kernel. */
KW_API kw_status kw_plan_create(kw_plan **plan, kw_context *context, const kw_problem *problem, const kw_plan_options *options,
                                kw_error *err);
/* Runs that were queued must be done. */
KW_API void kw_plan_destroy(kw_plan **plan);

/* All memory is the caller's. x, w, y need the alignment of their type (64 bytes is faster), on a GPU 16 bytes. workspace:
 * kw_plan_workspace bytes, 64-byte aligned, contents of no meaning before and after. */
typedef struct kw_tensors {
    size_t size;     /* sizeof(kw_tensors) */
    void *x, *w, *y; /* the one that is written shares no element with the two others; one address for both is refused */
    void *workspace;
    /* Those of the epilogue, in the order of its steps; aligned as x is. One that has the result's shape and type may be the result itself:
     * each element is read before it is written. That of BIAS_GRADIENT is written. */
    const void *extra[KW_EXTRA_MAX];
    /* Of a grouped product (kw_gemm_dims.groups), one for each group: its rows are ends[g - 1] .. ends[g] - 1, of the first 0 .. ends[0] -
     * 1; none where the two are the same. Ascending, at most m. Rows behind the last end are not written. Memory of the device, read when the
     * kernel runs; on a CPU the call refuses ends that descend or are above m, on a GPU the kernel takes the nearest that are possible. */
    const int32_t *ends;
} kw_tensors;

/* Runs the kernel. Checks addresses, queues at most four launches (and packs weights among them, where they are not packed already); takes
 * no lock, and allocates nothing but, when more runs of the context are under way on a CPU than ever before, threads.
 *
 * stream: a CUstream or hipStream_t of the device. The launches are queued in it, behind what is there already, and the call returns at
 * once; an error of a kernel shows in what the caller calls next. All memory must stay, and the plan too, until they are done. The default
 * stream is one that frameworks use: name it by its documented handle, (void *)1 (CU_STREAM_LEGACY; hipStreamLegacy, where HIP has it) or
 * (void *)2 (per thread), as its usual name is NULL. Nothing is called that a stream which is captured into a graph forbids.
 *
 * With NULL, and always on the CPU, the call returns when the result is written. On a GPU the kernel then runs in a stream of the library's
 * own, which waits for no other: work of the caller's that it builds on must be done before.
 *
 * Infinities and NaNs. An element of the result that has one among the terms of its sum (padding gives none) is never a number: it is NaN
 * where IEEE 754 says so, and where that says infinity, this infinity or NaN. Any other element is its number, or NaN where a kernel
 * multiplies an infinity or NaN by zeros that stand for padding, or on a GPU and by tile registers (AMX) for other groups. That reaches no
 * further than the channels of the result whose weights hold it (backward weight: the channels of x and y that hold it), where groups are
 * multiplied so also the same pixel in other groups.
 * So which of these elements are NaN may differ from kernel to kernel, and with what wisdom holds; elements without one in reach do not.
 * A result beyond its type's range is an infinity; sums are formed in fp32, in any order. Denormals count as their value or as zero,
 * and the sign of a zero is not kept. int8 has none of this; its sums must fit 32 bits. */
KW_API kw_status kw_plan_run(const kw_plan *plan, const kw_tensors *tensors, void *stream, kw_error *err);
/* Runs plans of one context, plans[i] with tensors[i], that have nothing to do with each other: as kw_plan_run does, in any order and on a CPU
 * side by side, small ones on a thread each. So products whose m, n and k all differ share the cores (grouped GEMM of cuBLASLt, CK). What one
 * writes no other may read or write, workspaces included; that no two write the same memory is checked (docs/problems/grouped-products.md), as
 * everything else is, before anything runs. On a GPU those that join (kw_plans_join) are one launch, the others are queued one behind the other, and
 * with a stream NULL the call waits once. */
KW_API kw_status kw_plans_run(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err);
/* Makes ready that kw_plans_run takes the products among these plans, whatever their m, n and k, in one launch of a GPU: a kernel that reads the sizes
 * and addresses of each from a table is chosen by the estimate, compiled where it is not cached, and remembered by each plan of a problem and its copies,
 * wherever two of them meet in a later call. What would take longer so, or is served by no such kernel, stays as it is; so does all on a CPU. Where text
 * is not NULL, *text becomes a line for each launch and each plan that is left out, which the caller frees with kw_free; each plan's own explanation
 * (kw_plan_explain) says the same of it. */
KW_API kw_status kw_plans_join(char **text, const kw_plan *const plans[], size_t count, kw_error *err);
/* Runs the plan so many times, one after the other, and gives the time of one: by the clock that kw_context_clock names, the one that
 * measuring goes by too. One run should be made before it. Takes a moment of its own to set up; for work that is timed, not for work that
 * is done. */
KW_API kw_status kw_plan_time(double *ns, const kw_plan *plan, const kw_tensors *tensors, int32_t calls, kw_error *err);
/* Bytes of workspace that kw_plan_run needs. Smaller after kw_plan_pack_weights. */
KW_API int64_t kw_plan_workspace(const kw_plan *plan);
/* Copies w into the plan in the kernel's own order, once, for weights that stay the same; from then on tensors.w may be NULL. Call it again
 * after the weights changed. Not while the plan runs, queued runs included, and not before w is written: on a GPU it reads w in a stream of
 * its own, and it returns when that is done. A kernel that wants no packing leaves all as it is: then kw_plan_wants_packing is false and
 * tensors.w stays needed. */
KW_API kw_status kw_plan_pack_weights(kw_plan *plan, const void *w, kw_error *err);
KW_API bool kw_plan_wants_packing(const kw_plan *plan);

/* Packed weights as an object: bytes in memory of the caller's (on a GPU of the device's), of which a header says whose they are. They may be
 * used by any number of plans with that kernel and those weights, whatever their batch (m of a product, n of a convolution), by many threads
 * at once, and in other processes: written to a file and mapped. kw_plan_pack_weights is the same in memory of the library's.
 *     int64_t bytes = kw_packed_bytes(plan);                                       0: the kernel wants no packing
 *     kw_packed_make(packed, plan, w, &err) || kw_plan_use_packed(plan, packed, bytes, &err)
 * Bytes of the whole, header included. */
KW_API int64_t kw_packed_bytes(const kw_plan *plan);
/* Packs w into kw_packed_bytes of memory, 64-byte aligned, and returns when it is done; on a GPU as kw_plan_pack_weights reads w. KW_NO_KERNEL:
 * the kernel wants no packing. */
KW_API kw_status kw_packed_make(void *packed, const kw_plan *plan, const void *w, kw_error *err);
/* From now on the plan reads these weights, which are not copied and must stay, and tensors.w may be NULL; not while the plan runs. Weights of
 * another kernel, of another shape or another release are KW_NO_KERNEL, and the plan stays as it was. Reads the header alone. packed NULL: the
 * plan reads w again. */
KW_API kw_status kw_plan_use_packed(kw_plan *plan, const void *packed, int64_t bytes, kw_error *err);
/* Reads all of it, on a device of the context's: KW_MALFORMED where it is not what was made. */
KW_API kw_status kw_packed_check(kw_context *context, const void *packed, int64_t bytes, kw_error *err);
/* The config they are for: a plan that is made from a registry with this one alone can use them, whatever its batch. */
KW_API kw_status kw_packed_config(char config[KW_CONFIG_TEXT_MAX], kw_context *context, const void *packed, int64_t bytes, kw_error *err);

/* The chosen config's text. */
KW_API const char *kw_plan_config(const kw_plan *plan);
/* What was measured to make this choice, best first, failures last; none (NULL, *count 0) when the answer came from elsewhere. */
KW_API const kw_record *kw_plan_records(const kw_plan *plan, size_t *count);
/* Several lines: the chosen config, where the choice came from, what it beat and by how much, which families were refused and why. */
KW_API const char *kw_plan_explain(const kw_plan *plan);

/* What a line of an explanation is about. */
typedef enum kw_explanation_kind {
    KW_EXPLAIN_WISDOM = 0, /* wisdom: its answer, or why it was not used, verified again, or written */
    KW_EXPLAIN_MEASURED,   /* the winner of what was measured now */
    KW_EXPLAIN_PREDICTED,  /* the winner by a model or by the analytic estimate */
    KW_EXPLAIN_REFERENCE,  /* the reference kernel answers, and why */
    KW_EXPLAIN_NEXT,       /* the runner-up, and by how much it lost */
    KW_EXPLAIN_FAILED,     /* kernels that failed, or were left out */
    KW_EXPLAIN_UNSAVED,    /* why the winner of what was measured now does not stand in the wisdom file */
    KW_EXPLAIN_MODEL,      /* who made the shortlist, which models were passed over and why */
    KW_EXPLAIN_REJECTED,   /* a family that has kernels for the operation, none of which serves the problem, and why */
    KW_EXPLAIN_THREADS,    /* on how many threads it runs: because that was the best measured, or the work is too small for all */
    KW_EXPLAIN_NOISE,      /* that the machine was busy while kernels were measured, and what becomes of it */
    KW_EXPLAIN_PASSES,     /* what of the problem is not done in the kernel's own stages, but by reading a tensor once more */
    KW_EXPLAIN_JOINED, /* of what kw_plans_join was last asked: with how many others it is one launch, and by which kernel; or why it is not */
    KW_EXPLAIN_TAILORED /* the kernel was made to the problem's measure: no set lists it */
} kw_explanation_kind;

typedef struct kw_explanation {
    kw_explanation_kind kind;
    const char *family; /* of KW_EXPLAIN_REJECTED; else NULL */
    const char *text;   /* of KW_EXPLAIN_REJECTED the reason alone */
} kw_explanation;

/* The same line by line, in the same order, without the config; texts live as long as the plan. visit returns false to stop. */
KW_API void kw_explanation_visit(const kw_plan *plan, bool (*visit)(void *user, const kw_explanation *explanation), void *user);

/* --- prediction ----------------------------------------------------------------------------------------------- */

/* What is expected of one kernel on one problem, without running anything. */
typedef struct kw_prediction {
    const char *config;
    double expected_ns;     /* by the model, INFINITY where it has none; by the analytic estimate where no model serves */
    double estimate_ns;     /* by the analytic estimate */
    int64_t workspace;      /* bytes */
    const char *model;      /* its name; NULL: the estimate stands alone */
    int32_t model_distance; /* of its training: 0 this very target, 1 its architecture, 2 vectors as wide, 3 its kind of device */
    const char *notes;      /* lines: models that were passed over, and why; "" for none */
} kw_prediction;

/* A model that dispatch knows of, whether it would be asked or not. */
typedef struct kw_model_info {
    const char *name, *folder;        /* folder: "" when it is compiled in */
    const char *const *targets;       /* whose rows it was trained on, ended by NULL */
    int32_t distance;                 /* from the nearest of them, as in kw_prediction; -1: none is this kind of device */
    int64_t rows, problems;           /* of its training */
    int64_t file_bytes, memory_bytes; /* of its forest: on disk, and once it is read */
    int64_t written;                  /* when the folder's text was written, seconds since 1970; 0: compiled in */
    bool serves[KW_OP_COUNT][KW_DTYPE_COUNT];
    bool asked[KW_OP_COUNT][KW_DTYPE_COUNT]; /* of what it serves: what dispatch asks it, and no nearer one, on this target */
    const char *fault;                       /* why it is not used at all; "": it can be */
} kw_model_info;

/* Calls visit with each model in the order in which they are preferred among equally near ones; reads the forests of all. What visit is
 * given lives during the call only, in which the context must not be asked anything. */
KW_API kw_status kw_models_visit(kw_context *context, void (*visit)(void *user, const kw_model_info *model), void *user, kw_error *err);

/* Calls visit with each kernel of the registry (NULL: the context's default one) that serves the problem, compiled-in ones left out, in the
 * order in which KW_PREDICT would take them. The prediction lives during the call only; visit returns false to stop. */
KW_API kw_status kw_predictions_visit(kw_context *context, const kw_problem *problem, const kw_registry *registry,
                                      bool (*visit)(void *user, const kw_prediction *prediction), void *user, kw_error *err);

/* --- measuring ------------------------------------------------------------------------------------------------ */

typedef struct kw_measure_options {
    size_t size;       /* sizeof(kw_measure_options) */
    bool time;         /* time it after verification */
    bool pack_weights; /* time with weights packed beforehand, as in inference */
    uint64_t seed;     /* of the data; 0: a fixed one */
} kw_measure_options;

/* Builds, verifies and, if asked, times one config of the registry. What goes wrong with the kernel is the record's outcome;
 * an error is returned only when the environment fails. options may be NULL: verify only. */
KW_API kw_status kw_measure(kw_record *record, kw_registry *registry, size_t index, const kw_problem *problem,
                            const kw_measure_options *options, kw_error *err);

/* What the context's device does at most, measured when first asked for: FLOP/s of the type, on a CPU with the context's threads; bytes a
 * second, on a CPU read by one thread, on a GPU read and written by a copy. 0 where it is unknown; a GPU that a CPU plays has none. For a
 * GPU a small kernel is compiled. */
KW_API double kw_context_peak(kw_context *context, kw_dtype dtype);
KW_API double kw_context_bandwidth(kw_context *context);
/* What one core of the CPU gets done in a nanosecond, as text ("fma256=7.31 fma512=3.66 ... ram=24.8": instructions, bytes; docs/kernels/cpu-rates.md).
 * It is measured, in one to three seconds, and the highest of each that was ever measured on this machine is given and kept in the user's data
 * folder. Contexts that are opened later expect times by them; one that is open goes on as it was. "" for a GPU. */
KW_API kw_status kw_context_rates(char *text, size_t capacity, kw_context *context, kw_error *err);

/* --- wisdom: measured winners --------------------------------------------------------------------------------- */

typedef struct kw_wisdom_entry {
    const char *target, *problem, *config, *date;
    kw_mode mode;
    double time_ns, spread_ns;
    int32_t candidates;
    bool fresh_weights; /* packing was part of the time */
    const char *stale;  /* NULL, or the rule of today that the entry breaks; such an entry is not used */
    bool provisional;   /* measured on a busy machine (KW_SPREAD_MAX): plans that may measure do so again */
    int32_t threads;    /* that it runs on; 0: that was not measured, and the work decides */
} kw_wisdom_entry;

/* Calls visit for each entry of a wisdom file (NULL: of all layers in use). The entry lives during the call only. */
KW_API kw_status kw_wisdom_visit(kw_context *context, const char *path, void (*visit)(void *user, const kw_wisdom_entry *entry), void *user,
                                 kw_error *err);
/* Drops what wisdom says of a problem from the user's file. *dropped may be NULL. */
KW_API kw_status kw_wisdom_forget(kw_context *context, const kw_problem *problem, int64_t *dropped, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif

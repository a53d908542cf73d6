/* emu.h: the pieces of the emulated GPU. A run makes machines, one for each of this machine's threads that takes part; a machine plays one
 * multiprocessor with one block on it at a time, and knows all that the block's threads share. */
#ifndef KW_BACKEND_EMU_EMU_H
#define KW_BACKEND_EMU_EMU_H

#include "backend/backend.h"

#include "prelude/emu_abi.h"
#include <stdatomic.h>

enum { KW_EMU_THREADS_MAX = 1024, KW_EMU_WAVES_MAX = 32, KW_EMU_LDS_MAX = 256 << 10 };
enum { KW_EMU_CLUSTER_MAX = 8, KW_EMU_CLUSTER_WAVES = KW_EMU_WAVES_MAX - 1 - KW_EMU_CLUSTER_MAX };
/* Waves, and behind the last the engine that carries out bulk copies, then the other blocks of a cluster. */
enum { KW_EMU_AGENTS = KW_EMU_WAVES_MAX + 1 + KW_EMU_CLUSTER_MAX };
enum { KW_EMU_MBARS_MAX = 64, KW_EMU_GROUP = 128, KW_EMU_GROUPS_MAX = KW_EMU_THREADS_MAX / KW_EMU_GROUP };
enum { KW_EMU_COLLECTIVES_KEPT = 64, KW_EMU_BACKTRACE_MAX = 112 };
enum { KW_EMU_STEPS_KEPT = 32 };

extern const kw_backend kw_emu_backend;

/* A stage of a kernel: the arguments lie on the thread's own stack. */
typedef struct kw_emu_args {
    kw_kernel_args args;
    kw_emu_map map[KW_MAPS];
    const struct kw_joined *joined;
} kw_emu_args;
typedef void kw_emu_stage(const kw_emu_args args);

/* --- emu_fiber.c: fibers --- */

/* Leaves what runs, whose stack pointer is kept in *from, and goes on where *to was left. */
void kw_emu_switch(void **from, void *const *to);
/* What *sp must be so that the first switch to it calls start on the stack that ends below top. */
void *kw_emu_fiber_start(char *top, void (*start)(void));

/* --- emu_matrix.c --- */

/* Registers of one lane. */
typedef struct kw_emu_lane {
    void *acc;
    const void *a, *b;
} kw_emu_lane;

enum { KW_EMU_TILE_MAX = 64 * 256, KW_EMU_WORDS = 32 };

/* Where tiles are put together, and how: words of A and B and sums of lanes by their number. Integers lie in the same places as fp32. */
typedef struct kw_emu_tile {
    _Alignas(64) float a[KW_EMU_TILE_MAX], b[KW_EMU_TILE_MAX], c[KW_EMU_TILE_MAX];
    const kw_emu_inst *inst; /* whose maps these are */
    int32_t wave, a_words, b_words, sums;
    uint16_t a_map[KW_EMU_WORDS][64], b_map[KW_EMU_WORDS][64], c_map[KW_EMU_WORDS][64];
} kw_emu_tile;

/* Matrices of 8 rows of 16 bytes: lane l has the address of a row as its a, and gets a word of each matrix in its acc. */
void kw_emu_matrix_read(int count, bool turned, const kw_emu_lane lanes[]);
/* The other way round: lane l has the address of a row as its acc, and a word of each of four matrices as its a. */
void kw_emu_matrix_write(bool turned, const kw_emu_lane lanes[]);
/* acc += a b for all lanes of a wave. false: there is no such instruction. */
bool kw_emu_matrix(kw_emu_tile *tile, const kw_emu_inst *inst, const kw_emu_lane lanes[]);

/* --- emu_machine.c: a block's threads --- */

typedef enum kw_emu_state {
    KW_EMU_RUNS,
    KW_EMU_AT_BARRIER,
    KW_EMU_IN_WAVE,
    KW_EMU_IN_GROUP,
    KW_EMU_AT_MBAR,
    KW_EMU_AT_WAVES,
    KW_EMU_AT_CLUSTER,
    KW_EMU_AT_REGISTERS,
    KW_EMU_ENDED
} kw_emu_state;
/* What the lanes of a wave, or of four waves, do together. */
typedef enum kw_emu_collective {
    KW_EMU_NO_COLLECTIVE,
    KW_EMU_MATRIX,
    KW_EMU_MATRIX_READ,
    KW_EMU_MATRIX_READ_TURNED,
    KW_EMU_MATRIX_WRITE,
    KW_EMU_MATRIX_WRITE_TURNED,
    KW_EMU_WAVE_BARRIER,
    KW_EMU_GROUP_MATRIX,
    KW_EMU_GROUP_FENCE,
    KW_EMU_GROUP_COMMIT,
    KW_EMU_GROUP_WAIT,
    KW_EMU_GROUP_GIVE,
    KW_EMU_GROUP_TAKE
} kw_emu_collective;

/* A copy that was asked for and is not carried out yet. */
typedef struct kw_emu_copy {
    char *to;
    const char *from; /* NULL: zeros */
    const void *place;
    int32_t bytes, group;
} kw_emu_copy;

/* What a lane did since its wave last met, of one kind: how often, and a digest of where. */
typedef enum kw_emu_path_kind { KW_EMU_PATH_BARRIERS, KW_EMU_PATH_STEPS, KW_EMU_PATHS } kw_emu_path_kind;
/* One thing of it. */
typedef struct kw_emu_step {
    uint64_t digest; /* of the path up to there */
    const void *place, *caller;
    int what; /* emu_aligned.h */
} kw_emu_step;
typedef struct kw_emu_path {
    uint32_t count, parted; /* parted: the number, from 1 on, of the first where others of the wave did something else; 0: none is known */
    uint64_t digest;
    kw_emu_step own; /* which it did then */
} kw_emu_path;

typedef struct kw_emu_fiber {
    void *sp;
    const void *place;   /* where it waits */
    void *const *caller; /* the frame of the text's function that waits there */
    kw_emu_path path[KW_EMU_PATHS];
    kw_emu_state state;
    kw_emu_collective joint;
    int matrices; /* of a kw_matrix_read */
    const kw_emu_inst *inst;
    kw_emu_copy *copies; /* under way, oldest first */
    int32_t copy_count, group;
    size_t copy_room;
    uint32_t asked;                 /* copies so far */
    const struct kw_emu_mbar *mbar; /* that it waits for, and whose phase */
    int parity;
    int named;              /* barrier of some waves that it waits at */
    uint32_t store_commits; /* groups of bulk stores so far */
} kw_emu_fiber;

/* A copy that a lane asked for; those of the other lanes with the same number must agree. */
typedef struct kw_emu_collective_call {
    uint32_t number; /* from 1 on */
    const char *base;
    const void *place;
    int thread;
} kw_emu_collective_call;

typedef struct kw_emu_wave {
    uint64_t all, ready, waiting;                      /* bits of lanes */
    uint32_t steps[KW_EMU_PATHS];                      /* since it last met */
    kw_emu_step step[KW_EMU_PATHS][KW_EMU_STEPS_KEPT]; /* by the first lane that came so far */
    kw_emu_lane lane[64];
    kw_emu_collective_call asked[KW_EMU_COLLECTIVES_KEPT];
} kw_emu_wave;

/* --- emu_bulk.c: barriers in shared memory, and bulk copies --- */

/* What arrives hands its knowledge on: next collects it, done is what those know who wait for the last phase that is over. */
typedef struct kw_emu_mbar {
    bool used, fenced;          /* fenced: bulk copies may know of it */
    int32_t at, count, missing; /* byte of shared memory; arrivals of a phase, those that are still to come */
    int64_t bytes;              /* that bulk copies have still to bring */
    uint32_t phase, made;       /* made: stamp of who initialised it */
    uint32_t next[KW_EMU_AGENTS], done[KW_EMU_AGENTS];
    uint32_t peer_next[KW_EMU_CLUSTER_MAX][KW_EMU_AGENTS], peer_done[KW_EMU_CLUSTER_MAX][KW_EMU_AGENTS]; /* of other blocks' clocks */
} kw_emu_mbar;

/* A bulk copy under way. at: coordinates of the box, innermost first. */
typedef struct kw_emu_bulk {
    kw_emu_map map;
    kw_emu_mbar *mbar;
    int32_t to, bytes, at[5]; /* byte of shared memory */
    int32_t offset[3];        /* how far on pixels of an image are read */
} kw_emu_bulk;

/* --- emu_store.c: bulk stores, and barriers of some waves --- */

typedef struct kw_emu_store {
    kw_emu_bulk box; /* `to` is where it reads */
    int thread;
    uint32_t commit; /* number of its group among the thread's */
} kw_emu_store;

typedef struct kw_emu_named {
    int32_t arrived, threads;
    uint32_t next[KW_EMU_AGENTS];
} kw_emu_named;

enum { KW_EMU_STORES_MAX = 64, KW_EMU_NAMED = 16 };

/* --- emu_group.c: matrix instructions of four waves --- */

typedef struct kw_emu_product {
    const kw_emu_inst *inst;
    unsigned long long a, b;              /* descriptors */
    const unsigned *picked[KW_EMU_GROUP]; /* or where the lanes' words of the first operand are */
    float *acc[KW_EMU_GROUP];
    uint32_t commit; /* number of its group */
    bool begins;     /* the sums begin with it */
    bool leads;      /* nothing else is under way to its sums, */
    uint64_t digest; /* and this is what they were */
    const void *place;
} kw_emu_product;

typedef struct kw_emu_group {
    int32_t waiting, count;
    size_t room;
    uint32_t commits;
    bool fenced, open;         /* open: products are asked for, or about to be, and not waited for */
    int32_t registers, wanted; /* of a thread; wanted: waits for so many, 0: does not */
    float *acc[KW_EMU_GROUP];  /* what the lanes bring to the next meeting */
    unsigned long long a[KW_EMU_GROUP], b[KW_EMU_GROUP];
    kw_emu_product *queue; /* under way, oldest first */
} kw_emu_group;

/* --- emu_check.c: cells, see there. A stamp is a wave's clock and a thread; 0 is before everything. --- */

enum { KW_EMU_IN_FLIGHT = (1 << 22) - 1 }; /* a clock that nothing comes after */
enum { KW_EMU_READERS = 3 };

typedef struct kw_emu_shadow_cell {
    uint32_t writer, writer_place, reader[KW_EMU_READERS], reader_place[KW_EMU_READERS];
} kw_emu_shadow_cell;

/* Of global memory: bit 63 an atomic addition, block + 1, and in the lower half the thread. */
typedef struct kw_emu_global_shadow_cell {
    uint64_t writer, reader[2];
    uint32_t writer_place, reader_place;
} kw_emu_global_shadow_cell;

/* Global memory that a launch may touch. */
typedef struct kw_emu_range {
    const char *name;
    char *start;
    int64_t size;
    bool written;                     /* may be, in this stage */
    kw_emu_global_shadow_cell *cells; /* NULL: races are not looked for */
} kw_emu_range;

/* What all machines of a run share. */
typedef struct kw_emu_run {
    kw_emu_stage *stage;
    kw_emu_args args;
    int64_t blocks;
    int32_t threads, wave, lds; /* of a block; bytes of shared memory that it may have */
    int32_t cluster;            /* blocks of a cluster; 1: there are none */
    int32_t wave_shift, cell_shift;
    kw_emu_range range[KW_BACKEND_JOINED_MAX * (KW_TENSOR_COUNT + KW_EXTRA_MAX) + 4];
    int32_t range_count;
    bool nvidia, checks, early; /* early: as in kw_launch, of this stage */
    const struct kw_emu_object *object;
    struct kw_emu_rooms *rooms; /* the device's */
    atomic_llong next;          /* block, the first of its cluster, that nobody has begun */
} kw_emu_run;

/* --- emu_object.c: the kernel as a mapped object --- */

typedef struct kw_emu_object {
    void *handle;
    kw_emu_stage *stage[KW_STAGE_MAX];
    int32_t threads[KW_STAGE_MAX]; /* of a block, as the text says */
    const char *base;              /* where it is mapped */
    size_t size;
    unsigned char *lines; /* its line table; NULL: none */
    size_t lines_size;
    bool optimised; /* the same call may stand in it several times, and accesses elsewhere than in the text */
} kw_emu_object;

kw_status kw_emu_object_open(kw_emu_object *object, const kw_blob *blob, kw_error *err);
void kw_emu_object_close(kw_emu_object *object);

/* --- emu_lines.c --- */

kw_status kw_emu_lines_keep(kw_emu_object *object, const kw_blob *blob, kw_error *err);
/* "gpu/igemm/igemm.c:210" for a return address in the text. */
void kw_emu_line(const kw_emu_object *object, const void *place, char text[80]);
/* The same for a frame of the text, with the lines that called it. */
void kw_emu_backtrace(const kw_emu_object *object, void *const *frame, char text[KW_EMU_BACKTRACE_MAX]);

/* What the turns of the fibers need of the rest of the machine. */
typedef struct kw_emu_machine kw_emu_machine;
typedef struct kw_emu_events {
    bool (*idle)(kw_emu_machine *machine);  /* nobody can run: something that was put off is done now; false: there is nothing */
    void (*stuck)(kw_emu_machine *machine); /* nobody can run any more, at the end of the block; a fault does not return */
} kw_emu_events;

struct kw_emu_machine {
    kw_emu_run *run;
    kw_emu_calls calls;
    kw_emu_events events;
    void *outside; /* stack pointer of who runs the block */
    struct kw_emu_room *room;
    char *stacks, *lds; /* stacks: the room's */
    int64_t block;
    int32_t current, waves, waiting, ended, lds_used;
    bool failed;
    kw_emu_machine *peer[KW_EMU_CLUSTER_MAX]; /* of its cluster, itself among them; those behind the first belong to the first */
    int32_t rank, meetings, at_cluster;       /* of the cluster so far; threads that wait for the next */
    int32_t visitor;                          /* block that wrote here since the last; -1: none */
    uint32_t met[KW_EMU_AGENTS];              /* clocks at the last */
    bool stirred;                             /* a peer arrived or asked for a copy since it could not go on */
    uint32_t peer_known[KW_EMU_WAVES_MAX][KW_EMU_CLUSTER_MAX][KW_EMU_AGENTS]; /* what waves know of other blocks' clocks */
    char fault[216];
    kw_emu_fiber fiber[KW_EMU_THREADS_MAX];
    kw_emu_wave wave[KW_EMU_WAVES_MAX];
    uint32_t clock[KW_EMU_AGENTS], known[KW_EMU_WAVES_MAX][KW_EMU_AGENTS], fenced[KW_EMU_WAVES_MAX];
    kw_emu_mbar mbar[KW_EMU_MBARS_MAX];
    kw_emu_bulk *bulk; /* under way, oldest first */
    int32_t bulk_count;
    size_t bulk_room;
    kw_emu_store store[KW_EMU_STORES_MAX]; /* under way, oldest first */
    int32_t store_count;
    kw_emu_named named[KW_EMU_NAMED];
    kw_emu_group group[KW_EMU_GROUPS_MAX];
    kw_emu_shadow_cell *cells; /* of shared memory */
    kw_emu_tile tile;
};

kw_status kw_emu_machine_open(kw_emu_machine **machine, kw_emu_run *run, kw_error *err);
void kw_emu_machine_close(kw_emu_machine **machine);
/* A block begins; goes on until all its threads have ended or wait for the others of its cluster. false: something was wrong, machine->fault
 * says what. */
void kw_emu_machine_begin(kw_emu_machine *machine, int64_t block);
bool kw_emu_machine_go_on(kw_emu_machine *machine);

/* --- emu_blocks.c --- */

/* Runs a block, or with clusters the blocks of one from there on. false: something was wrong, first->fault says what. */
bool kw_emu_cluster_run(kw_emu_machine *first, int64_t block);

/* --- emu_schedule.c --- */

/* A thread can run, or waits; and goes on with another one until somebody goes on with it. */
void kw_emu_set_ready(kw_emu_machine *machine, int thread, bool ready);
void kw_emu_yield(kw_emu_machine *machine);
/* Goes on with any thread that can run. Returns when nobody can any more. */
void kw_emu_resume(kw_emu_machine *machine);
/* Ends the block; to be called on a fiber, and does not return. */
void kw_emu_fault(kw_emu_machine *machine, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

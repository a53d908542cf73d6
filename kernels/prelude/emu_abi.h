/* emu_abi.h: what the emulated GPU and the kernel text that it runs know of each other. Included by the library and put in front of every
 * source for the emulator, so that the two cannot disagree.
 *
 * A thread of a block is a fiber on a stack of its own, KW_EMU_STACK bytes on an address that is a multiple of that; its kw_emu_thread lies
 * at the stack's upper end. So the thread that runs is known from the stack pointer alone, without any global state. */
#ifndef KW_EMU_ABI_H
#define KW_EMU_ABI_H

#define KW_EMU_STACK 65536

/* Which matrix instruction. type: KW_IN's numbers, KW_UINT8 where the first operand is that and the second int8, and those of operands
 * that are no tensor's type. Who holds what, emu_matrix.c says after the vendors' manuals. */
#define KW_EMU_MFMA 0
#define KW_EMU_MMA 1
#define KW_EMU_WMMA11 2
#define KW_EMU_WMMA12 3
#define KW_EMU_FMA 4
#define KW_EMU_WGMMA 5
#define KW_EMU_WGMMA_PICKED 6 /* the first operand in registers: a is where a lane's words are */
#define KW_EMU_TF32 8         /* fp32, of which the first 19 bits count */

/* turned: of a wgmma, 1 where an operand's rows (the second one's columns) are contiguous in shared memory, not its depth. */
typedef struct kw_emu_inst {
    int kind, type, m, n, k, turned_a, turned_b;
} kw_emu_inst;

/* A tensor map (prelude/gpu.h), as the emulator reads it. extent: elements, the innermost first; stride: bytes of the axes after it. */
typedef struct kw_emu_map {
    char *base;
    kw_i64 extent[KW_MAP_RANK], stride[KW_MAP_RANK - 1];
    int box[KW_MAP_RANK], rank, bytes, swizzle; /* elements; of an element; 1: 128 bytes */
    int pixels, low[3], count[3], step[3];      /* 1: walks over an image (config/family.h); along its axes, the innermost first */
} kw_emu_map;

typedef struct kw_emu_thread kw_emu_thread;

/* What the text asks of the machine. Each is called from the line of the text that asks, so that the return address is its place; who
 * called that line's function is found along the frames, which compilers link when they do not optimise. */
typedef struct kw_emu_calls {
    char *(*lds)(kw_emu_thread *self, kw_i64 bytes);
    void (*barrier)(kw_emu_thread *self);
    void (*wave_barrier)(kw_emu_thread *self);
    float (*add)(kw_emu_thread *self, float *p, float v);
    void (*copy)(kw_emu_thread *self, char *base, const char *from, int bytes, int ok);
    void (*commit)(kw_emu_thread *self);
    void (*wait)(kw_emu_thread *self, int groups, int copies);
    void (*matrix)(kw_emu_thread *self, const kw_emu_inst *inst, void *acc, const void *a, const void *b);
    void (*matrix_read)(kw_emu_thread *self, unsigned *to, const char *at, int count, int turned);
    /* Barriers in shared memory, bulk copies, matrix instructions of four waves: Hopper's. */
    void (*mbar_init)(kw_emu_thread *self, char *bar, int count);
    void (*mbar_end)(kw_emu_thread *self, char *bar);
    void (*mbar_fence)(kw_emu_thread *self);
    void (*mbar_arrive)(kw_emu_thread *self, char *bar, int bytes);
    void (*mbar_wait)(kw_emu_thread *self, char *bar, int parity);
    void (*tensor_load)(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6]); /* at[0]: how many follow */
    void (*proxy_fence)(kw_emu_thread *self);
    unsigned (*shared_address)(kw_emu_thread *self, const void *at);
    void (*wgmma)(kw_emu_thread *self, const kw_emu_inst *inst, float *acc, unsigned long long a, unsigned long long b, int add);
    void (*wgmma_step)(kw_emu_thread *self, int commits); /* 0: the fence, 1: ends a group */
    void (*wgmma_wait)(kw_emu_thread *self, int groups);
    void (*registers)(kw_emu_thread *self, int count, int takes, int blocks); /* blocks: a multiprocessor holds as many at least */
    void (*tensor_pixels)(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], const int offset[3]);
    void (*tensor_store)(kw_emu_thread *self, const kw_emu_map *map, const char *from, const int at[6]);
    void (*store_commit)(kw_emu_thread *self);
    void (*store_wait)(kw_emu_thread *self, int groups);
    void (*waves_barrier)(kw_emu_thread *self, int number, int threads, int waits);
    void (*matrix_write)(kw_emu_thread *self, char *to, const unsigned *from, int turned);
    /* Blocks of a cluster. */
    void (*cluster_barrier)(kw_emu_thread *self);
    void (*peer_write)(kw_emu_thread *self, char *at, int rank, const unsigned words[4]);
    void (*mbar_arrive_at)(kw_emu_thread *self, char *bar, int rank);
    void (*tensor_share)(kw_emu_thread *self, char *to, const kw_emu_map *map, char *bar, const int at[6], int blocks);
    /* Before each access to memory that is not of the own stack. aligned: its address must be a multiple of size. frame: of the function
     * that the compiler had called before the access; frame[1] is its return address. */
    void (*read)(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);
    void (*write)(kw_emu_thread *self, const void *at, kw_i64 size, int aligned, void *const *frame);
} kw_emu_calls;

struct kw_emu_thread {
    kw_emu_calls calls;
    void *machine;
    kw_i64 block, blocks;
    int thread, waited;        /* waited: kw_launch_wait() was called */
    int rank, wave_asked;      /* rank: of the block in its cluster; wave_asked: calls of kw_wave() so far, */
    const char *wave_asked_at; /* and where the last one stands */
} __attribute__((aligned(16)));

#endif

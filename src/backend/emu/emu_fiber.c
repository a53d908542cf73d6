/* emu_fiber.c: from one fiber to another. A switch keeps what the ABI says a function keeps, so it is an ordinary call to the compiler. On
 * x86-64 it is written out: a system's swapcontext asks the kernel for the signal mask and is ten times slower. */
#include "backend/emu/emu.h"

#include <string.h>

#if defined __x86_64__
__asm__(".text\n"
        ".p2align 4\n"
        ".globl kw_emu_switch\n"
        ".hidden kw_emu_switch\n"
        ".type kw_emu_switch, @function\n"
        "kw_emu_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size kw_emu_switch, . - kw_emu_switch\n");

/* Six registers, the address that the switch returns to, and one word that puts the stack where a call would have left it. */
void *kw_emu_fiber_start(char *top, void (*start)(void)) {
    void **frame = (void **)(void *)top - 8;
    memset(frame, 0, 8 * sizeof *frame);
    memcpy(&frame[6], &start, sizeof start); /* C has no cast from function to object pointers */
    return frame;
}
#elif defined __aarch64__
__asm__(".text\n"
        ".p2align 4\n"
        ".globl kw_emu_switch\n"
        ".hidden kw_emu_switch\n"
        ".type kw_emu_switch, %function\n"
        "kw_emu_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    ldr x9, [x1]\n"
        "    mov sp, x9\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size kw_emu_switch, . - kw_emu_switch\n");

void *kw_emu_fiber_start(char *top, void (*start)(void)) {
    char *frame = top - 160;
    memset(frame, 0, 160);
    memcpy(frame + 88, &start, sizeof start); /* the link register */
    return frame;
}
#else
void kw_emu_switch(void **from, void *const *to) {
    (void)from, (void)to;
}

void *kw_emu_fiber_start(char *top, void (*start)(void)) {
    (void)top, (void)start;
    return NULL;
}
#endif

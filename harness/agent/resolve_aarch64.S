/* resolve_aarch64.S: between a name's first call and the C that decides where it goes. Everything that
 * may carry an argument is kept: x0-x7, x8 (hidden result), q0-q7. On entry: w17 is the name's index.
 *
 * rf_resolve_slot answers in x0 where the name goes and in x1 how much stack that took. Both that stack and the
 * saved registers are zeroed: a library that reads a variable before it has set it finds what lies there
 * (docs/internals/agent.md). */
  .text
  .globl rf_resolve_entry
  .hidden rf_resolve_entry
  .type rf_resolve_entry, %function
rf_resolve_entry:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  mov x1, x30
  bl rf_resolve_slot
  mov x16, x0
  sub x9, x29, x1
  mov sp, x9
.Lzero:
  stp xzr, xzr, [x9], #16
  cmp x9, x29
  b.lo .Lzero
  mov sp, x29
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  stp xzr, xzr, [sp, #16]
  stp xzr, xzr, [sp, #32]
  stp xzr, xzr, [sp, #48]
  stp xzr, xzr, [sp, #64]
  stp xzr, xzr, [sp, #80]
  stp xzr, xzr, [sp, #96]
  stp xzr, xzr, [sp, #112]
  stp xzr, xzr, [sp, #128]
  stp xzr, xzr, [sp, #144]
  stp xzr, xzr, [sp, #160]
  stp xzr, xzr, [sp, #176]
  stp xzr, xzr, [sp, #192]
  stp xzr, xzr, [sp, #208]
  ldp x29, x30, [sp], #224
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  stp xzr, xzr, [sp, #-224]
  br x16
  .cfi_endproc
  .size rf_resolve_entry, . - rf_resolve_entry

/* The loader's functions look at their return address to know who calls, so they are jumped to: `\helper` says
 * where to, and the arguments are as they were. */
  .macro loader_call name, helper
  .p2align 4
  .globl \name
  .type \name, %function
\name:
  .cfi_startproc
  hint #34
  stp x29, x30, [sp, #-48]!
  .cfi_def_cfa_offset 48
  .cfi_offset x29, -48
  .cfi_offset x30, -40
  mov x29, sp
  stp x0, x1, [sp, #16]
  str x2, [sp, #32]
  bl \helper
  mov x16, x0
  mov x17, x1
  ldp x0, x1, [sp, #16]
  ldr x2, [sp, #32]
  ldp x29, x30, [sp], #48
  .cfi_restore x29
  .cfi_restore x30
  .cfi_def_cfa_offset 0
  cbnz x17, 1f
  br x16
1:
  mov x0, x16
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm
  loader_call dlopen, rf_on_dlopen
  loader_call dlmopen, rf_on_dlmopen
  loader_call dlsym, rf_on_dlsym
  loader_call dlvsym, rf_on_dlvsym
  .section .note.GNU-stack, "", %progbits

/* resolve_x86_64.S: between a name's first call and the C that decides where it goes. Everything that
 * may carry an argument is kept: rdi rsi rdx rcx r8 r9, rax (vector count), r10 (static chain), xmm0-7.
 * On entry: the stub has pushed the name's index above the return address.
 *
 * rf_resolve_slot answers in rax where the name goes and in rdx how much stack that took. Both that stack and
 * the saved registers are zeroed: a library that reads a variable before it has set it finds what lies there
 * (docs/internals/agent.md). */
  .text
  .globl rf_resolve_entry
  .hidden rf_resolve_entry
  .type rf_resolve_entry, @function
rf_resolve_entry:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  subq $200, %rsp
  .cfi_adjust_cfa_offset 200
  movq %rax, 0(%rsp)
  movq %rdi, 8(%rsp)
  movq %rsi, 16(%rsp)
  movq %rdx, 24(%rsp)
  movq %rcx, 32(%rsp)
  movq %r8, 40(%rsp)
  movq %r9, 48(%rsp)
  movq %r10, 56(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movl 200(%rsp), %edi
  movq 208(%rsp), %rsi
  movq %rbp, 192(%rsp)
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  .cfi_offset %rbp, -24
  andq $-16, %rsp
  call rf_resolve_slot
  movq %rax, %r11
  movq %rbp, %rsp
  subq %rdx, %rsp
  movq %rsp, %rdi
  movq %rdx, %rcx
  shrq $3, %rcx
  xorl %eax, %eax
  rep stosq
  movq %rbp, %rsp
  .cfi_def_cfa_register %rsp
  movq 192(%rsp), %rbp
  .cfi_restore %rbp
  movq 0(%rsp), %rax
  movq 8(%rsp), %rdi
  movq 16(%rsp), %rsi
  movq 24(%rsp), %rdx
  movq 32(%rsp), %rcx
  movq 40(%rsp), %r8
  movq 48(%rsp), %r9
  movq 56(%rsp), %r10
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  pxor %xmm15, %xmm15
  movups %xmm15, 0(%rsp)
  movups %xmm15, 16(%rsp)
  movups %xmm15, 32(%rsp)
  movups %xmm15, 48(%rsp)
  movups %xmm15, 64(%rsp)
  movups %xmm15, 80(%rsp)
  movups %xmm15, 96(%rsp)
  movups %xmm15, 112(%rsp)
  movups %xmm15, 128(%rsp)
  movups %xmm15, 144(%rsp)
  movups %xmm15, 160(%rsp)
  movups %xmm15, 176(%rsp)
  movups %xmm15, 192(%rsp)
  addq $208, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
  .cfi_endproc
  .size rf_resolve_entry, . - rf_resolve_entry

/* The loader's functions look at their return address to know who calls, so they are jumped to: `\helper` says
 * where to, in rax, and the arguments are as they were. Or rdx is not 0, and rax is the answer. */
  .macro loader_call name, helper
  .p2align 4
  .globl \name
  .type \name, @function
\name:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  call \helper
  movq %rdx, %rcx
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  testq %rcx, %rcx
  jne 1f
  jmp *%rax
1:
  ret
  .cfi_endproc
  .size \name, . - \name
  .endm
  loader_call dlopen, rf_on_dlopen
  loader_call dlmopen, rf_on_dlmopen
  loader_call dlsym, rf_on_dlsym
  loader_call dlvsym, rf_on_dlvsym
  .section .note.GNU-stack, "", @progbits

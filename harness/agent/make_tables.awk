# make_tables.awk: calls.def files -> trampolines.S, tables.c, exports.map (into -v out=DIR, for -v arch=x86_64|aarch64).
# A name that stands in two files belongs to the first. Each name of MPI is followed by its name for profiling. mawk
# and gawk.
function trim(s) { gsub(/[ \t\r]/, "", s); return s }
function inside(s) { sub(/^[^(]*\(/, "", s); sub(/\).*$/, "", s); return s }

BEGIN {
  asm = out "/trampolines.S"; tables = out "/tables.c"; map = out "/exports.map"
  print "/* trampolines.S: made from calls.def files; not to be edited. Blocks of 32 bytes: tables.h. */\n  .text" > asm
  print "  .p2align 5\n  .globl rf_trampolines\n  .hidden rf_trampolines\nrf_trampolines:" > asm
  print "/* tables.c: made from calls.def files; not to be edited. */" > tables
  print "#include \"harness/agent/agent_abi.h\"\n#include \"harness/agent/tables.h\"" > tables
  print "const struct rf_call_name rf_call_names[] = {" > tables
  print "{\n  global:\n    rankfault_*_v1;\n    _exit;\n    _Exit;\n    quick_exit;\n    dlopen;\n    dlmopen;\n    dlsym;\n    dlvsym;\n    __asan_default_options;" > map
  count = 0
}
/^[ \t]*RF_LIBRARY\(/ {
  split(inside($0), part, ","); library = trim(part[2])
}
/^[ \t]*RF_CALL\(/ {
  split(inside($0), part, ","); symbol = trim(part[1]); class = trim(part[2])
  if (symbol in seen) next
  seen[symbol] = 1
  add(symbol, 0)
  if (library == "RF_LIB_MPI") add((symbol ~ /^MPI/ ? "P" : "p") symbol, 1)
}
function add(symbol, profiling,    entry) {
  printf "  {\"%s\", %s, RF_CLASS_%s, %d},\n", symbol, library, class, profiling > tables
  printf "    %s;\n", symbol > map
  printf "  .p2align 5\n.Lblock%d:\n", count > asm
  entry = sprintf("  .globl %s\n  .type %s, %sfunction\n%s:", symbol, symbol, (arch == "aarch64" ? "%" : "@"), symbol)
  if (arch == "aarch64") {
    printf "  mov w0, #%d\n  b rf_answer_loader\n%s\n", count, entry > asm
    # ldar: the wrapper reads what its decoder wrote before the slot got the wrapper's address.
    printf "  adrp x16, rf_call_slots + %d\n  add x16, x16, :lo12:rf_call_slots + %d\n  ldar x16, [x16]\n  br x16\n", \
           count * 8, count * 8 > asm
    printf ".Lstub%d:\n  mov w17, #%d\n  b rf_resolve_entry\n", count, count > asm
  } else {
    printf "  movl $%d, %%edi\n  jmp rf_answer_loader\n  .org .Lblock%d + 12\n%s\n", count, count, entry > asm
    printf "  .cfi_startproc\n  endbr64\n  jmp *rf_call_slots+%d(%%rip)\n  .cfi_endproc\n", count * 8 > asm
    printf ".Lstub%d:\n  .cfi_startproc\n  pushq $%d\n  .cfi_adjust_cfa_offset 8\n  jmp rf_resolve_entry\n  .cfi_endproc\n",
           count, count > asm
  }
  printf "  .size %s, . - %s\n", symbol, symbol > asm
  ++count
}
END {
  print "  {0, 0, 0, 0}};\nconst uint32_t rf_call_count = " count ";" > tables
  print "_Static_assert(" count " <= RF_MAX_CALLS && " count " < 65536, \"names\");" > tables
  print "  .data\n  .p2align 3\n  .globl rf_call_slots\n  .hidden rf_call_slots\nrf_call_slots:" > asm
  for (i = 0; i < count; ++i) print "  .quad .Lstub" i > asm
  print "  .quad 0" > asm
  print "  .section .note.GNU-stack, \"\", " (arch == "aarch64" ? "%" : "@") "progbits" > asm
  print "  local: *;\n};" > map
}

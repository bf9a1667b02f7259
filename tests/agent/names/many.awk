# many.awk: calls.def -> a plugin with a weak reference to each MPI name; plugin() returns how many exist.
/^[ \t]*RF_CALL\(/ {
  name = $0
  sub(/^[^(]*\([ \t]*/, "", name)
  sub(/[ \t]*,.*$/, "", name)
  if (name !~ /^MPI_/ || name in seen) next
  seen[name] = 1
  print "#pragma weak " name "\nvoid " name "(void);"
  names[count++] = name
}
END {
  print "int plugin(void);\nint plugin(void) {\n  int there = 0;"
  for (i = 0; i < count; ++i) print "  there += " names[i] " != 0;"
  print "  return there * 10000 + " count ";\n}"
}

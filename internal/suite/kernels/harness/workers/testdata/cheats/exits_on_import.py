# Ends while it is built.
# want: COMPILE_ERROR
# kind: compile
# reason: SystemExit
raise SystemExit(0)

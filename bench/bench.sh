# bench.sh: runs the benchmarks, which write pages of docs/measurements (./dev bench, ./dev soak nccl).
# Sourced by ./dev.
# shellcheck shell=bash

# Scores the diagnosis of Flight Recorder dumps and of flight records: docs/measurements/*-score.md.
bench_diagnose() {
  build release rankfault make_dumps make_records
  python3 bench/flight_recorder/score.py build/release docs/measurements/flight-recorder-score.md
  python3 bench/diagnose/score.py build/release docs/measurements/records-score.md
}

# Runs a script of bench/ over real jobs. Usage: bench_jobs SCRIPT "TARGETS" [ARGUMENT...]
bench_jobs() {
  local script=$1
  # shellcheck disable=SC2086 # targets are words
  build_some dev "${RUN_TARGETS[@]}" $2
  say "bench/$script"
  python3 -B "bench/$script" build/dev "${@:3}"
}

# Measures a sum of half a billion numbers in chunks. Needs 8 GiB of memory and a machine that does nothing
# else.
bench_chunking() {
  build release sum_in_chunks
  python3 -B bench/chunking/chunking_bench.py build/release docs/measurements/chunked-sums.md
}

# Takes twenty minutes on a machine that does nothing else.
bench_ratios() {
  build_some release "${NCCL_TARGETS[@]}" gloo_all_reduce
  python3 -B bench/ratios/ratios_bench.py build/release docs/measurements/ratios.md
}

# Opens made reports in a headless Chromium.
bench_report_page() {
  build release make_page
  python3 -B bench/report_page/page_bench.py build/release docs/measurements/report-page.md
}

# Takes half an hour on a machine that does nothing else.
bench_gpt() {
  build_some release "${RUN_TARGETS[@]}"
  python3 -B bench/gpt/gpt_bench.py build/release docs/measurements/pytorch-speed.md "$@"
}

# Runs the scenario catalogue, or the named parts of it. All of it takes an hour.
bench_culprit() {
  local runs
  build_some dev "${NCCL_TARGETS[@]}"
  runs=$(mktemp -d)
  # The subshell removes the runs also when a command fails or the user interrupts.
  (
    trap 'rm -rf "$runs"' EXIT
    status=0
    build/dev/bin/rankfault run "${@:-scenarios}" --runs "$runs" --keep all >"$runs/runs.txt" 2>&1 || status=$?
    tail -1 "$runs/runs.txt"
    [ "$status" -le 2 ] || exit "$status" # 1 and 2: a scenario has a wrong outcome; its run counts, too
    python3 -B bench/culprit/culprit.py --out docs/measurements/culprit.md "$runs"
  )
}

# Takes ten minutes. --only NAME runs one job and prints what watch printed.
bench_pytorch() {
  bench_jobs culprit/pytorch.py "" --out docs/measurements/pytorch-bugs.md --recordings docs/measurements/pytorch-findings.md "$@"
}

bench_speed() {
  local program
  want_packages "${BENCH_PACKAGES[@]}"
  build_some release "${RUN_TARGETS[@]}" gloo_all_reduce bench_agent bench_diagnose bench_flight_recorder
  for program in build/release/bin/bench_*; do
    [ -x "$program" ] || continue
    say "$program"
    "$program"
  done
  say "bench/tool/bench_tool.py"
  python3 bench/tool/bench_tool.py build/release docs/measurements/speed.md
}

# Takes twenty minutes, and goes on with what it lacks. Uses no part of rankfault but the test cluster.
bench_schedulers() {
  cluster_packages
  python3 -B bench/schedulers/schedulers_bench.py "$@"
}

# Takes half an hour and needs ./dev nccl.
soak_nccl() { bench_jobs soak/soak.py nccl_ranks docs/measurements/soak.md "$@"; }

bench() {
  case ${1:-all} in
    diagnose) bench_diagnose ;;
    # the whole corpus takes hours; --seconds S ends earlier, and the next call goes on
    corpus) bench_jobs corpus/corpus_bench.py "corpus falsify" "${@:2}" ;;
    culprit) bench_culprit "${@:2}" ;;
    pytorch) bench_pytorch "${@:2}" ;;
    healthy) bench_jobs healthy/healthy_bench.py "gloo_healthy mpi_healthy" "${@:2}" ;; # half an hour at most
    correct) bench_jobs correct/correct_bench.py "" "${@:2}" ;; # 200 programs in two minutes
    chunking) bench_chunking ;;
    long) bench_jobs long/long_bench.py mpi_long docs/measurements/long-jobs.md "${@:2}" ;; # ten minutes at most
    ratios) bench_ratios ;;
    gpt) bench_gpt "${@:2}" ;; # needs PyTorch
    reproduce) bench_jobs reproduce/score.py "trainer replay_gloo replay_mpi" docs/measurements/reproduce-score.md "${@:2}" ;; # kept runs of the catalogue: half an hour
    report-page) bench_report_page ;; # needs chromium
    schedulers) bench_schedulers "${@:2}" ;;
    steady) bench_jobs steady/steady_bench.py "" docs/measurements/steady-jobs.md "${@:2}" ;; # a minute and a half
    # these three need ./dev nccl
    abort) bench_jobs abort/abort_table.py nccl_ranks docs/measurements/abort-conformance.md "${@:2}" ;;
    cuda-double) bench_jobs cuda_double/cuda_double_bench.py "nccl_ranks gloo_all_reduce" docs/measurements/cuda-double-speed.md ;;
    torch-nccl) bench_jobs torch_nccl/what_pytorch_does.py "" "${@:2}" ;; # half an hour, needs ./dev torch-nccl; goes on
    torch-jobs) bench_jobs torch_nccl/jobs_bench.py "" "${@:2}" ;; # half an hour, needs ./dev torch-nccl --with-trainers; goes on
    agreement) bench_jobs torch_nccl/agreement.py "" "${@:2}" ;; # twenty minutes, needs ./dev torch-nccl; goes on
    torch-speed) bench_jobs torch_nccl/speed.py "" docs/measurements/pytorch-nccl-speed.md "${@:2}" ;; # five minutes, needs ./dev torch-nccl
    gpu) bench_jobs gpu/gpu_bench.py "${NCCL_TARGETS[*]}" docs/measurements/gpu.md ;; # needs a GPU and PyTorch
    *) bench_speed ;;
  esac
}

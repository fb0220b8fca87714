#!/usr/bin/env bash
# Builds, tests and measures on a machine with an NVIDIA GPU, in one call, without LLVM or network:
#   tools/cuda_machine.sh OUT STEP[=SECONDS[=ARGUMENTS]]...
# Steps, each with a log OUT/STEP.txt and a time limit:
#   build      the extension with -DENCELADUS_CPU=OFF, from what Python packages are there
#   test       every kernel case of tests/run on `cuda`, with what happens at a lost context noted
#   python     the tests of tensors, streams and frameworks on CUDA (tests/cuda)
#   sanitize   memcheck and racecheck over a sample of the cases
#   bench      benchmarks.cuda beside its peers; ARGUMENTS are its own
# Later steps run although an earlier one fails, except behind a failed build.
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
export PYTHONPATH=$PWD/python:$PWD/tools:$PWD PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export ENCELADUS_CACHE_DIR=${ENCELADUS_CACHE_DIR:-/tmp/enceladus-cuda}
jobs=$(nproc)
sample='copy or sum or cumsum or dot or atomic or sort or descriptor or histogram or transpose'

build() {
  cmake -S . -B build-cuda -G Ninja -DENCELADUS_CPU=OFF -DPython_EXECUTABLE="$(command -v python3)" &&
    cmake --build build-cuda --target _core -j "$jobs" && cp build-cuda/src/bindings/_core*.so python/enceladus/
}

cases() {
  ENCELADUS_LOST_CONTEXTS=$out/lost.txt python3 -m pytest -p cuda_lost_context tests/run/test_cases.py \
    -k "cuda" -q -n "$((jobs < 12 ? jobs : 12))" --dist worksteal --tb=short --no-header -p no:cacheprovider \
    --max-worker-restart=200 "$@"
}

sanitized() {
  for tool in memcheck racecheck; do
    echo "== $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 9 --target-processes all --kernel-regex-exclude \
      kernel_substring=at:: python3 -m pytest tests/run/test_cases.py -k "cuda and ($sample)" -q -x --tb=short \
      --no-header -p no:cacheprovider --maxfail 5 "$@" || echo "$tool: exit status $?"
  done
}

# step NAME SECONDS COMMAND...: with a limit, its output in a log and at its end here.
step() {
  local name=$1 seconds=$2 start=$SECONDS status
  shift 2
  export -f build cases sanitized
  export out jobs sample
  timeout --kill-after=5 "$seconds" bash -c "$(printf '%q ' "$@")" >"$out/$name.txt" 2>&1
  status=$?
  echo "== $name: exit status $status after $((SECONDS - start)) s"
  tail -n "${TAIL:-12}" "$out/$name.txt"
  return $status
}

nvidia-smi --query-gpu=name,driver_version,clocks.sm,power.draw --format=csv,noheader
for entry in "$@"; do
  IFS='=' read -r name seconds arguments <<<"$entry"
  read -r -a words <<<"${arguments:-}"
  case $name in
    build) step build "${seconds:-300}" build || exit 1 ;;
    test) step test "${seconds:-300}" cases ${words[@]+"${words[@]}"} ;;
    python) step python "${seconds:-120}" python3 -m pytest tests/cuda -q --tb=short ${words[@]+"${words[@]}"} ;;
    sanitize) step sanitize "${seconds:-200}" sanitized ${words[@]+"${words[@]}"} ;;
    bench) step bench "${seconds:-300}" python3 -m benchmarks.cuda --out "$out" ${words[@]+"${words[@]}"} ;;
    *) echo "no such step: $name" && exit 2 ;;
  esac
done
exit 0

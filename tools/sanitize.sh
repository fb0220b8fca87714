#!/usr/bin/env bash
# sanitize.sh BUILD: the C++ unit tests and the kernel cases with address and undefined-behaviour
# checks on. Runs inside the environment that `./dev sanitize` prepares. The Python interpreter
# itself is not instrumented, so the run-time library is loaded ahead of it and leaks, which are
# mostly its own, are not reported.
set -euo pipefail
build=$1
root=$PWD
mkdir -p "$build"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DENCELADUS_TESTS=ON \
  -DENCELADUS_SANITIZE=address,undefined -DPython_EXECUTABLE="$VIRTUAL_ENV/bin/python" >/dev/null
ninja -C "$build"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_leaks=0
ctest --test-dir "$build" --output-on-failure -j2 --no-tests=error
package=$build/python
rm -rf "$package"
cp -r "$root/python" "$package"
cmake --install "$build" --prefix "$package" >/dev/null
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
  PYTHONPATH="$package" python -m pytest -q -p no:cacheprovider -n 2 tests/run

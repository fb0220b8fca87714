#!/usr/bin/env bash
# What a Linux wheel is built with, inside cibuildwheel's manylinux image: LLVM from the image's
# packages, SLEEF from its sources (the image has no package of it).
set -euo pipefail
dnf install -y llvm-devel zlib-devel libzstd-devel ninja-build
git clone --depth 1 --branch 3.9.0 https://github.com/shibatch/sleef /tmp/sleef
cmake -S /tmp/sleef -B /tmp/sleef/build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DSLEEF_BUILD_SHARED_LIBS=ON -DSLEEF_BUILD_TESTS=OFF -DSLEEF_BUILD_DFT=OFF
cmake --build /tmp/sleef/build
cmake --install /tmp/sleef/build --prefix /usr

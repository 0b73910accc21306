#!/bin/sh
# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
#
# run.sh <library> <out.json>: rebuilds the changed parts of this folder's program (into $BUILD, default
# build/driver_cases) and runs it on the driver at <library>. cuda.h comes from CUDA_HOME, CUDA_PATH, the wheel, or
# /usr/local/cuda.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 <library> <out.json>" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../../build/driver_cases}
home=${CUDA_HOME:-${CUDA_PATH:-}}
if [ -n "$home" ]; then
    include=$home/include
else
    include=$(python3 -c 'import cuda.pathfinder as p; print(p.find_nvidia_header_directory("cudart") or "")' 2>/dev/null || true)
    [ -n "$include" ] || include=/usr/local/cuda/include
fi
mkdir -p "$build"
command -v ccache >/dev/null && compiler="ccache g++" || compiler=g++
flags="-std=c++17 -O0 -Wall -Wextra -Werror -Wsign-conversion"
export compiler include build flags CCACHE_SLOPPINESS=pch_defines,time_macros

program=$build/driver_cases
standard=$here/../../standard.hpp
headers="$standard $here/*.hpp $here/asked.def $here/../../../cuda_graphs/core/driver/functions.def $here/../../../cuda_graphs/hostdriver/image_loader.h"
changed() {  # the sources whose object is older than they or any header
    for source in "$here"/*.cpp; do
        object=$build/$(basename "$source" .cpp).o
        [ -e "$object" ] && [ -z "$(find "$source" $headers -newer "$object")" ] || echo "$source"
    done
}
todo=$(changed)
if [ -n "$todo" ] || [ ! -e "$program" ]; then
    cp "$standard" "$build/standard.hpp"
    $compiler $flags -I"$include" -x c++-header "$build/standard.hpp" -o "$build/standard.hpp.gch"
    echo "$todo" | xargs -P "$(nproc)" -I FILE sh -c '$compiler $flags -include "$build/standard.hpp" -Winvalid-pch \
        -fpch-preprocess -I"$include" -c FILE -o "$build/$(basename FILE .cpp).o"'
    g++ $(for source in "$here"/*.cpp; do echo "$build/$(basename "$source" .cpp).o"; done) -ldl -lpthread -o "$program"
fi
"$program" "$1" > "$2"

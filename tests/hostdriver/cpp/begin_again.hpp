// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Restarts a test program with other settings of the environment, because the driver reads its environment before
// main().
//
//     BEGIN_AGAIN_WITH("CUDA_GRAPHS_HOST_CHECK", "race")
#ifndef HOSTDRIVER_TESTS_BEGIN_AGAIN_HPP
#define HOSTDRIVER_TESTS_BEGIN_AGAIN_HPP

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// glibc passes main()'s arguments to constructors.
#define BEGIN_AGAIN_WITH(name, value)                                                \
    __attribute__((constructor)) static void begin_again(int, char** argv, char**) { \
        const char* const found = getenv(name);                                      \
        if (found != nullptr && strcmp(found, value) == 0) return;                   \
        setenv(name, value, 1);                                                      \
        execv("/proc/self/exe", argv);                                               \
        abort();                                                                     \
    }

#endif

// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the laws.
#include "check.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace check {
namespace {

struct Law {
    const char* name;
    void (*run)();
    bool alone;
};

std::vector<Law>& laws() {
    static std::vector<Law> all;
    return all;
}

bool run(const Law& law) {
    try {
        law.run();
        return true;
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s: %s\n", law.name, failure.text.c_str());
        return false;
    }
}

// Runs a law in a fresh process, so that no call of the driver has run in it before.
bool run_alone(const Law& law, const char* program) {
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "--alone", law.name, nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    std::fprintf(stderr, "%s: ended with status %d\n", law.name, status);
    return false;
}

}  // namespace

Registration::Registration(const char* name, void (*run)(), bool alone) {
    laws().push_back({name, run, alone});
}

void fail(const char* file, int line, const std::string& text) {
    throw Failure{std::string(file) + ":" + std::to_string(line) + ": " + text};
}

std::string show(CUresult value) {
    const char* name = nullptr;
    cuGetErrorName(value, &name);
    return name != nullptr ? name : std::to_string(value);
}

unsigned workers() {
    const char* text = std::getenv("CUDA_GRAPHS_HOST_THREADS");
    return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : std::thread::hardware_concurrency();
}

}  // namespace check

int main(int argc, char** argv) {
    using namespace check;
    if (argc == 3 && std::strcmp(argv[1], "--alone") == 0) {
        for (const Law& law : laws())
            if (std::strcmp(law.name, argv[2]) == 0) return run(law) ? 0 : 1;
        return 2;
    }
    const char* prefix = argc > 1 ? argv[1] : "";
    std::size_t kept = 0, broken = 0;
    for (const Law& law : laws()) {
        if (std::strncmp(law.name, prefix, std::strlen(prefix)) != 0) continue;
        if (std::getenv("VERBOSE") != nullptr) std::fprintf(stderr, "%s\n", law.name);
        const bool holds = law.alone ? run_alone(law, "/proc/self/exe") : run(law);
        ++(holds ? kept : broken);
    }
    std::printf("%s, %u workers: %zu laws hold, %zu broken\n", argv[0], workers(), kept, broken);
    return broken == 0 && kept != 0 ? 0 : 1;
}

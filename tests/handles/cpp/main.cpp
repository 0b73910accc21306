// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"
#include "fake_driver.hpp"

int main() {
    for (const Test& test : all_tests()) {
        std::printf("%s\n", test.name);
        std::fflush(stdout);
        fake::reset();
        test.run();
        CHECK(fake::alive() == 0);
    }
    return 0;
}

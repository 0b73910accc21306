// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases of two processes. The second one is forked before the driver is
// initialised, so they are added with `bare`. The two take turns: one is silent
// until the other has sent it something, so that their answers come in one
// order.
#ifndef CONFORMANCE_PROCESSES_HPP
#define CONFORMANCE_PROCESSES_HPP

#include <functional>
#include <string>

#include "harness.hpp"

namespace conf {

// One end of the line between the two.
class Line {
  public:
    explicit Line(int socket) : socket_(socket) {}
    template <class T>
    void send(const T& value) const {
        send_bytes(&value, sizeof value);
    }
    template <class T>
    T receive() const {
        T value{};
        receive_bytes(&value, sizeof value);
        return value;
    }
    void turn() const { send('.'); }        // it is the other one's turn
    void wait() const { receive<char>(); }  // for my turn
    void send_file(int file) const;
    int receive_file() const;

  private:
    void send_bytes(const void* bytes, size_t size) const;
    void receive_bytes(void* bytes, size_t size) const;
    int socket_;
};

using Side = std::function<void(const Line&)>;
// Runs `other` in a process of its own and `mine` in this one.
void with_other_process(const Side& mine, const Side& other);

}  // namespace conf

#endif

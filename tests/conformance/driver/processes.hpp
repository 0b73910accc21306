// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Cases of two processes. The second process is forked before the driver is initialised, so these cases are added with
// `bare`. The two processes take turns. A process waits until the other process has sent it a message, so the answers
// have a fixed order.
#ifndef CONFORMANCE_PROCESSES_HPP
#define CONFORMANCE_PROCESSES_HPP

#include <functional>
#include <string>

#include "harness.hpp"

namespace conf {

// One end of the connection between the two processes.
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
    void turn() const { send('.'); }        // passes the turn to the other process
    void wait() const { receive<char>(); }  // waits for the turn of this process
    void send_file(int file) const;
    int receive_file() const;

  private:
    void send_bytes(const void* bytes, size_t size) const;
    void receive_bytes(void* bytes, size_t size) const;
    int socket_;
};

using Side = std::function<void(const Line&)>;
// Runs `other` in another process and `mine` in this process.
void with_other_process(const Side& mine, const Side& other);

}  // namespace conf

#endif

// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace conf {
namespace {

union FileMessage {  // aligned as its header requires
    char bytes[CMSG_SPACE(sizeof(int))];
    cmsghdr header;
};

msghdr message_of(iovec& text, FileMessage& file) {
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = file.bytes;
    message.msg_controllen = sizeof file.bytes;
    return message;
}

}  // namespace

void Line::send_bytes(const void* bytes, size_t size) const {
    if (::send(socket_, bytes, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) throw SetupFailed{"send"};
}

void Line::receive_bytes(void* bytes, size_t size) const {
    if (recv(socket_, bytes, size, MSG_WAITALL) != static_cast<ssize_t>(size)) throw SetupFailed{"the other is gone"};
}

void Line::send_file(int file) const {
    char letter = 'f';
    iovec text{&letter, 1};
    FileMessage place{};
    msghdr message = message_of(text, place);
    place.header.cmsg_level = SOL_SOCKET;
    place.header.cmsg_type = SCM_RIGHTS;
    place.header.cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(&place.header), &file, sizeof file);
    if (sendmsg(socket_, &message, MSG_NOSIGNAL) != 1) throw SetupFailed{"send file"};
}

int Line::receive_file() const {
    char letter = 0;
    iovec text{&letter, 1};
    FileMessage place{};
    msghdr message = message_of(text, place);
    if (recvmsg(socket_, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr)
        throw SetupFailed{"the other is gone"};
    int file = -1;
    std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

void with_other_process(const Side& mine, const Side& other) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw SetupFailed{"socketpair"};
    const pid_t child = fork();
    if (child < 0) throw SetupFailed{"fork"};
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        try {
            other(Line(ends[1]));
        } catch (const SetupFailed&) {
            _exit(1);  // closes the connection, which the first process notices
        }
        _exit(0);
    }
    close(ends[1]);
    try {
        mine(Line(ends[0]));
    } catch (...) {
        close(ends[0]);
        waitpid(child, nullptr, 0);
        throw;
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
}

}  // namespace conf

// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// driver_cases <library> [--list | --only NAME | --facts | --serve FIRST]
//
// Without an option: runs every case and prints {"facts": {...}, "cases": {name: [line, ...]}}. The parent process
// never calls the driver. Shared cases run one after the other in a child process (--serve). A new child replaces it if
// a case crashes, hangs for 30 s, or leaves a sticky error. Each other case runs in its own child (--only).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "cases.hpp"
#include "kernels.hpp"

namespace conf {
namespace {

constexpr int kReportFd = 3;         // reports of children; kernels and the driver may print on the standard streams
constexpr int kPatienceMs = 30'000;  // enough for two processes that start on a busy GPU

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20)
            out += "\\u0020";
        else
            out += c;
    }
    return out + "\"";
}

std::string json_list(const std::vector<std::string>& lines) {
    std::string out = "[";
    for (const std::string& line : lines) out += (out.size() > 1 ? ", " : "") + quoted(line);
    return out + "]";
}

Cases all_cases() {
    Cases cases;
    add_structure_cases(cases);
    add_node_cases(cases);
    add_data_node_cases(cases);
    add_shape_cases(cases);
    add_edge_data_cases(cases);
    add_alloc_cases(cases);
    add_graph_memory_cases(cases);
    add_conditional_cases(cases);
    add_exec_cases(cases);
    add_patch_cases(cases);
    add_change_cases(cases);
    add_runtime_cases(cases);
    add_memory_cases(cases);
    add_code_cases(cases);
    add_lifetime_cases(cases);
    add_order_cases(cases);
    add_capture_cases(cases);
    add_capture_rule_cases(cases);
    add_capture_graph_cases(cases);
    add_capture_end_cases(cases);
    add_capture_node_cases(cases);
    add_capture_mode_cases(cases);
    add_interprocess_cases(cases);
    add_process_cases(cases);
    add_memory_operation_cases(cases);
    add_memory_operation_node_cases(cases);
    add_context_event_cases(cases);
    add_green_context_cases(cases);
    add_setting_cases(cases);
    add_location_cases(cases);
    add_sticky_cases(cases);
    return cases;
}

void report(const std::string& line) {
    const std::string text = line + "\n";
    if (write(kReportFd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
}

// Runs one case in a child. Reports ". line" for every answer and "<" at the end.
void answer(const Case& one) {
    Record record([](const std::string& line) { report(". " + line); });
    try {
        if (one.mode != Mode::kBare) context();
        one.run(record);
    } catch (const Absent& absent) {
        record.line(std::string("absent: ") + absent.name);
    } catch (const SetupFailed& failed) {
        record.line("setup failed: " + failed.what);
    }
    report("<");
}

// Runs the shared cases from `first` on in a child. Exits without destructors, because threads of the driver may hang.
[[noreturn]] void serve(const Cases& cases, size_t first) {
    for (size_t i = first; i < cases.list().size(); ++i) {
        if (cases.list()[i].mode != Mode::kShared) continue;
        report("> " + std::to_string(i));
        answer(cases.list()[i]);
        if (drv.cuCtxSynchronize && drv.cuCtxSynchronize() != CUDA_SUCCESS) _exit(0);
    }
    report("end");
    _exit(0);
}

struct Child {
    pid_t pid;
    int fd;
    std::string pending;
};

Child spawn(const char* self, const char* library, const char* option, const std::string& value) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        dup2(ends[1], kReportFd);
        if (ends[1] != kReportFd) close(ends[1]);
        if (getenv("CONFORMANCE_VERBOSE") == nullptr) {
            const int null = open("/dev/null", O_WRONLY);
            dup2(null, 1);
            dup2(null, 2);
        }
        execl(self, self, library, option, value.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    close(ends[1]);
    return {pid, ends[0], ""};
}

// Returns the next line of a child; "timeout" if it stays silent, "crash" if it has ended without a line.
std::string next_line(Child& child) {
    for (;;) {
        const size_t end = child.pending.find('\n');
        if (end != std::string::npos) {
            const std::string line = child.pending.substr(0, end);
            child.pending.erase(0, end + 1);
            return line;
        }
        pollfd waiting{child.fd, POLLIN, 0};
        if (poll(&waiting, 1, kPatienceMs) == 0) return "timeout";
        char buffer[65536];
        const ssize_t got = read(child.fd, buffer, sizeof buffer);
        if (got <= 0) return "crash";
        child.pending.append(buffer, static_cast<size_t>(got));
    }
}

void finish(Child& child) {
    kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
    close(child.fd);
}

using Lines = std::vector<std::string>;
using Answers = std::map<std::string, Lines>;

// Collects the answers of a case up to its "<". Returns false if the child crashed or hung; the last line then says so.
bool collect(Child& child, Lines& lines) {
    for (;;) {
        const std::string line = next_line(child);
        if (line == "<") return true;
        const bool is_answer = line.rfind(". ", 0) == 0;
        lines.push_back(is_answer ? line.substr(2) : line);
        if (!is_answer) return false;
    }
}

void run_shared(const Cases& cases, const char* self, const char* library, Answers& answers) {
    for (size_t first = 0; first < cases.list().size();) {
        Child child = spawn(self, library, "--serve", std::to_string(first));
        const size_t before = first;
        for (;;) {
            const std::string start = next_line(child);
            if (start == "end") first = cases.list().size();
            if (start.rfind("> ", 0) != 0) break;
            const size_t index = std::stoul(start.substr(2));
            first = index + 1;
            if (!collect(child, answers[cases.list()[index].name])) break;
        }
        finish(child);
        if (first == before) {
            std::fprintf(stderr, "the driver does not start\n");
            return;
        }
    }
}

void run_alone(const Cases& cases, const char* self, const char* library, Answers& answers) {
    for (const Case& one : cases.list()) {
        if (one.mode == Mode::kShared) continue;
        Child child = spawn(self, library, "--only", one.name);
        collect(child, answers[one.name]);
        finish(child);
    }
}

std::string ask_facts(const char* self, const char* library) {
    Child child = spawn(self, library, "--facts", "");
    const std::string line = next_line(child);
    finish(child);
    return !line.empty() && line[0] == '{' ? line : "{}";
}

int run_all(const Cases& cases, const char* self, const char* library) {
    Answers answers;
    run_shared(cases, self, library, answers);
    run_alone(cases, self, library, answers);
    std::printf("{\n\"facts\": %s,\n\"cases\": {\n", ask_facts(self, library).c_str());
    size_t left = answers.size();
    for (const auto& [name, lines] : answers)
        std::printf("%s: %s%s\n", quoted(name).c_str(), json_list(lines).c_str(), --left > 0 ? "," : "");
    std::printf("}\n}\n");
    return answers.size() == cases.list().size() ? 0 : 1;
}

// Runs one case. Without a parent at the other end of the report, prints the answers to standard output.
int only(const Cases& cases, const std::string& name) {
    if (fcntl(kReportFd, F_GETFD) < 0) dup2(1, kReportFd);
    for (const Case& one : cases.list()) {
        if (one.name != name) continue;
        answer(one);
        _exit(0);
    }
    std::fprintf(stderr, "no case %s\n", name.c_str());
    return 2;
}

int main_of(int count, char** words) {
    const Cases cases = all_cases();
    const std::string option = count > 2 ? words[2] : "";
    if (option == "--list") {
        for (const Case& one : cases.list()) std::printf("%s\n", one.name.c_str());
        return 0;
    }
    if (count < 2) {
        std::fprintf(stderr, "usage: %s <library> [--list | --only NAME]\n", words[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (option.empty()) return run_all(cases, "/proc/self/exe", words[1]);
    const std::string why = drv.open(words[1]);
    if (!why.empty()) {
        std::fprintf(stderr, "%s: %s\n", words[1], why.c_str());
        return 2;
    }
    plug_native_kernels();
    if (option == "--only" && count > 3) return only(cases, words[3]);
    if (option == "--facts") {
        report(device_facts());
        _exit(0);
    }
    if (option == "--serve" && count > 3) serve(cases, std::stoul(words[3]));
    return 2;
}

}  // namespace
}  // namespace conf

int main(int count, char** words) {
    return conf::main_of(count, words);
}

// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers a line "WORD FILE" with what a reader of cuda_graphs/formats makes of the file: "json FILE", "sha256 FILE",
// "zip FILE NAME" and "inflate FILE SIZE". tests/runtime/test_formats.py compares the answers with Python's.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "formats/error.hpp"
#include "formats/inflate.hpp"
#include "formats/json.hpp"
#include "formats/sha256.hpp"
#include "formats/zip.hpp"

namespace {

using cgf::Json;

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string digits_of(const std::string& bytes) {
    std::string found;
    char digits[3];
    for (const char c : bytes) {
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
        found += digits;
    }
    return found;
}

// A value in a form without ambiguity: texts as hexadecimal digits, floats in C's %a.
void write(const Json& value, std::ostream& out) {
    char number[64];
    switch (value.kind()) {
        case Json::Kind::kNull:
            out << "null";
            return;
        case Json::Kind::kBool:
            out << (value.flag() ? "true" : "false");
            return;
        case Json::Kind::kInt:
            out << value.integer();
            return;
        case Json::Kind::kLarge:
            out << value.large();
            return;
        case Json::Kind::kHuge:
            out << "huge";
            return;
        case Json::Kind::kFloat:
            std::snprintf(number, sizeof number, "%a", value.number());
            out << number;
            return;
        case Json::Kind::kText:
            out << '"' << digits_of(value.text()) << '"';
            return;
        case Json::Kind::kList:
            out << '[';
            for (const Json& item : value.items()) write(item, out), out << ',';
            out << ']';
            return;
        case Json::Kind::kObject:
            out << '{';
            for (const auto& [name, item] : value.members()) {
                if (value.find(name) != &item) continue;  // a later member has the name too
                out << digits_of(name) << ':';
                write(item, out);
                out << ',';
            }
            out << '}';
    }
}

std::string answer(std::istream& line) {
    std::string word, path, name;
    std::size_t size = 0;
    line >> word >> path;
    const std::string bytes = read_file(path);
    std::ostringstream out;
    if (word == "json")
        write(Json::read(bytes), out);
    else if (word == "sha256")
        out << cgf::hexadecimal(cgf::sha256(bytes.data(), bytes.size()));
    else if (word == "zip" && line >> name)
        out << digits_of(cgf::Zip(bytes).read(name));
    else if (word == "inflate" && line >> size)
        out << digits_of(cgf::inflate(bytes, size));
    return out.str();
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        try {
            const std::string found = answer(words);
            std::cout << "= " << found << std::endl;
        } catch (const cgf::FormatError& error) {
            std::cout << "! " << error.what() << std::endl;
        }
    }
    return 0;
}

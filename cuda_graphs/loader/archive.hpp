// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of a saved graph: a zip with `manifest.json` and `blobs/0`, `blobs/1`, ... (saving/archive.py).
#ifndef CUDA_GRAPHS_LOADER_ARCHIVE_HPP
#define CUDA_GRAPHS_LOADER_ARCHIVE_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/zip.hpp"
#include "manifest.hpp"

namespace cgr {

// Returns the bytes of a file.
std::string read_file(const std::string& path);

class Archive {
  public:
    // Reads the manifest of a file, whose bytes the caller keeps.
    explicit Archive(std::string_view file);

    // Returns a table of the manifest, which has all of them.
    const std::vector<Json>& table(const char* name) const { return manifest().items(name); }
    Row manifest() const { return {&manifest_, Where{"the manifest"}}; }

    // Returns the contents of a blob, whose number is that of a row.
    std::string blob(std::size_t number) const;

  private:
    cgf::Zip zip_;
    Json manifest_;
};

}  // namespace cgr

#endif

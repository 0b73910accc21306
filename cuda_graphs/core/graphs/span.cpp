// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "span.hpp"

#include <algorithm>
#include <cstddef>

namespace cg {

namespace {

// Axes of a span, or the innermost `count` of them.
struct Axes {
    const Axis* data;
    std::size_t count;

    const Axis& outermost() const noexcept { return data[count - 1]; }
    Axes inner() const noexcept { return {data, count - 1}; }
};

Axes axes_of(const Span& span) noexcept {
    return {span.axes.data(), span.axes.size()};
}

// Returns the number of bytes from the first byte to the end of the last byte.
std::int64_t reach(std::int64_t run, Axes axes) noexcept {
    for (std::size_t i = 0; i < axes.count; ++i) run += (axes.data[i].count - 1) * axes.data[i].stride;
    return run;
}

std::int64_t runs_of(Axes axes) noexcept {
    std::int64_t runs = 1;
    for (std::size_t i = 0; i < axes.count; ++i) runs *= axes.data[i].count;
    return runs;
}

// Divides by a positive number, and rounds down.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b < 0);
}

// Returns true when a span that starts at 0 contains one of the `width` bytes from `start` on.
bool holds(std::int64_t run, Axes axes, std::int64_t start, std::int64_t width) noexcept {
    if (axes.count == 0) return -width < start && start < run;
    const Axis& axis = axes.outermost();
    const std::int64_t least =
        std::max(floor_divide(start - reach(run, axes.inner()), axis.stride) + 1, std::int64_t{0});
    const std::int64_t most = std::min(floor_divide(start + width - 1, axis.stride), axis.count - 1);
    for (std::int64_t i = least; i <= most; ++i)
        if (holds(run, axes.inner(), start - i * axis.stride, width)) return true;
    return false;
}

// Returns true when a span that starts at 0 shares a byte with one of the runs of `width` bytes that are repeated from
// `start` on.
bool holds_any(const Span& span, std::int64_t start, std::int64_t width, Axes axes) noexcept {
    if (axes.count == 0) return holds(static_cast<std::int64_t>(span.run), axes_of(span), start, width);
    for (std::int64_t i = 0; i < axes.outermost().count; ++i)
        if (holds_any(span, start + i * axes.outermost().stride, width, axes.inner())) return true;
    return false;
}

// Returns true when two spans whose rows have the same stride share a byte. Row i of `one` overlaps row j of `other`
// when the distance of the starts, minus (i - j) strides, is smaller than a row. i - j takes every value from 1 minus
// the count of `other` to the count of `one` minus 1.
bool tiles_overlap(const Span& one, const Span& other, std::int64_t distance) noexcept {
    const std::int64_t stride = one.axes[0].stride;
    const std::int64_t before = distance - static_cast<std::int64_t>(one.run);
    const std::int64_t after = -distance - static_cast<std::int64_t>(other.run);
    const std::int64_t least = std::max(floor_divide(before, stride) + 1, 1 - other.axes[0].count);
    const std::int64_t most = std::min(-floor_divide(after, stride) - 1, one.axes[0].count - 1);
    return least <= most;
}

bool have_one_stride(const Span& one, const Span& other) noexcept {
    return one.axes.size() == 1 && other.axes.size() == 1 && one.axes[0].stride == other.axes[0].stride;
}

}  // namespace

void Span::repeat(std::uint64_t count, std::uint64_t stride) {
    const Axis axis{static_cast<std::int64_t>(count), static_cast<std::int64_t>(stride)};
    if (count == 1) return;
    if (axes.empty() && stride == run)
        run *= count;
    else if (!axes.empty() && axis.stride == axes.back().count * axes.back().stride)
        axes.back().count *= axis.count;
    else
        axes.push_back(axis);
}

std::uint64_t Span::end() const noexcept {
    return start + static_cast<std::uint64_t>(reach(static_cast<std::int64_t>(run), axes_of(*this)));
}

bool overlap(const Span& one, const Span& other) {
    if (one.end() <= other.start || other.end() <= one.start) return false;
    if (one.axes.empty() && other.axes.empty()) return true;
    const auto distance = static_cast<std::int64_t>(other.start - one.start);
    if (have_one_stride(one, other)) return tiles_overlap(one, other, distance);
    const bool first_has_fewer = runs_of(axes_of(one)) < runs_of(axes_of(other));
    const Span& few = first_has_fewer ? one : other;
    const Span& many = first_has_fewer ? other : one;
    const std::int64_t start = first_has_fewer ? -distance : distance;
    return holds_any(many, start, static_cast<std::int64_t>(few.run), axes_of(few));
}

}  // namespace cg

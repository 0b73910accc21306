// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel nodes: their arguments, and sizes that follow parameters.
#include <algorithm>
#include <cstring>

#include "core/graphs/definition.hpp"
#include "device.hpp"
#include "specs.hpp"

namespace cgr {

namespace {

constexpr std::size_t kAddressBytes = 8;

// An argument of the row, and what it refers to if it is a reference.
struct Argument {
    const Json* row;
    Reference reference;

    bool is_reference() const noexcept { return row->is_list(); }
};

// Reads "0a1b" as bytes, as Python's bytes.fromhex: spaces may stand between them.
std::string read_hexadecimal(const std::string& digits, const Where& where) {
    std::string found;
    constexpr std::string_view kSpaces = " \t\n\r\f\v";
    const auto value_of = [&](std::size_t at) {
        const char c = at < digits.size() ? digits[at] : '\0';
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        fail(where, "has digits that are not hexadecimal");
    };
    for (std::size_t at = 0; at < digits.size();) {
        if (kSpaces.find(digits[at]) != std::string_view::npos) {
            ++at;
            continue;
        }
        found += static_cast<char>(value_of(at) << 4 | value_of(at + 1));
        at += 2;
    }
    return found;
}

void append_bytes(cg::ArgumentPack& pack, const cg::Parameter& to, const void* data, std::size_t size,
                  const Where& where) {
    if (size != to.size)
        fail(where, "has " + std::to_string(size) + " bytes, and the kernel takes " + std::to_string(to.size));
    pack.append_copy(data, size);
}

void use_parameter(cg::NodeSpec& spec, const Reference& reference, std::size_t argument, const Where& where) {
    cg::ParameterUse use;
    use.parameter = reference.parameter;
    use.field = cg::Field::kArgument;
    use.word = reference.word;
    use.argument = static_cast<std::uint32_t>(argument);
    const bool is_array = reference.parameter->type.is_array();
    if (is_array && !spec.rules.takes_any_shape) {
        if (!reference.parameter->initial.known)
            fail(where, "is an array without a default, and the size of the launch cannot follow it");
        use.is_fixed = true;
    }
    spec.uses.push_back(use);
}

// Appends the present value of a parameter, or of an extent of it.
void append_parameter(cg::ArgumentPack& pack, const cg::Parameter& to, const Reference& reference, const Where& where) {
    const cg::NamedParameter& parameter = *reference.parameter;
    if (reference.word != 0) {
        const std::int32_t extent = parameter.initial.extents[reference.word - 1U];
        return append_bytes(pack, to, &extent, sizeof extent, where);
    }
    append_bytes(pack, to, &parameter.initial.bits,
                 parameter.type.is_array() ? kAddressBytes : parameter.type.scalar->size, where);
}

void append(cg::NodeSpec& spec, const LoadedKernel& kernel, std::size_t number, const Argument& argument,
            std::vector<cg::Opaque>& owners, const Where& where) {
    const cg::Parameter& to = (*kernel.parameters)[number];
    if (argument.row->is_text()) {
        const std::string bytes = read_hexadecimal(argument.row->text(), where);
        return append_bytes(spec.arguments, to, bytes.data(), bytes.size(), where);
    }
    if (!argument.is_reference()) return append_number(spec.arguments, kernel, to, *argument.row, where);
    const Reference& reference = argument.reference;
    switch (reference.kind) {
        case Reference::Kind::kPlace:
            if (reference.place.owner) owners.push_back(reference.place.owner);
            return append_bytes(spec.arguments, to, &reference.place.address, kAddressBytes, where);
        case Reference::Kind::kCondition:
            return append_bytes(spec.arguments, to, &reference.condition.handle, kAddressBytes, where);
        default:
            append_parameter(spec.arguments, to, reference, where);
            use_parameter(spec, reference, number, where);
    }
}

// ---- sizes that follow parameters

std::int64_t number_of(const cg::ParameterValue& value, const cg::ParameterType& type, std::uint8_t word) noexcept {
    if (word != 0) return value.extents[word - 1U];
    return static_cast<std::int64_t>(cg::as_extent(*type.scalar, value.bits));
}

// The rule of a kernel of Python, whose size follows its arguments.
struct FollowingSize {
    struct Late {
        std::size_t argument, operand;
        std::uint8_t word;
    };
    std::shared_ptr<const TaskSize> task;
    cg::KernelHandle kernel;
    Values known;
    std::vector<Late> late;
    std::vector<std::size_t> fixed;  // operands that are arrays of the table of memory: they keep their shapes
    std::vector<cg::ParameterRef> operands;
    Program::MakeError make_error;

    std::size_t operand_of(const cg::ParameterRef& parameter) {
        const auto found = std::find(operands.begin(), operands.end(), parameter);
        const auto number = static_cast<std::size_t>(found - operands.begin());
        if (found == operands.end()) operands.push_back(parameter);
        return number;
    }

    cg::LaunchSize compute(const cg::ParameterValue* const* values) const {
        for (const std::size_t operand : fixed)
            if (values[operand]->extents != operands[operand]->initial.extents)
                throw Failure(CG_ERROR_INVALID_VALUE, "parameter '" + operands[operand]->name +
                                                          "' takes arrays of the shape of its default only");
        Values all = known;
        for (const Late& each : late)
            all[each.argument] = number_of(*values[each.operand], operands[each.operand]->type, each.word);
        return task->compute(kernel, all);
    }

    // Called by the core, which has no exceptions.
    static bool resize(void* self, const cg::ParameterValue* const* values, cg::LaunchSize* size, cg::Opaque* why) {
        try {
            *size = static_cast<const FollowingSize*>(self)->compute(values);
            return true;
        } catch (const std::exception& error) {
            *why = static_cast<const FollowingSize*>(self)->make_error(error.what());
            return false;
        }
    }
};

Values known_numbers(const TaskSize& task, const std::vector<Argument>& arguments, const Where& where) {
    Values found;
    for (const std::size_t number : task.arguments()) {
        const Json& row = *arguments[number].row;
        if (row.is_text()) {
            const std::string bytes = read_hexadecimal(row.text(), where);
            if (bytes.size() > kAddressBytes) fail(where, "has too many bytes for a number");
            std::uint64_t bits = 0;
            std::memcpy(&bits, bytes.data(), bytes.size());
            const auto shift = static_cast<unsigned>(bytes.empty() ? 0 : 64 - 8 * bytes.size());
            found[number] = static_cast<std::int64_t>(bits << shift) >> shift;
        } else if (row.kind() == Json::Kind::kInt) {
            found[number] = row.integer();
        } else if (row.kind() == Json::Kind::kFloat) {
            fail(where, "determines the size of a launch, and is no int");
        }
    }
    return found;
}

bool follows_parameters(const std::vector<Argument>& arguments) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const Argument& each) { return each.is_reference() && (each.reference.is_direct); });
}

void write_size(cg::NodeSpec& spec, const cg::LaunchSize& size, bool is_cooperative) {
    cg::write_size(spec.params.kernel, size);
    spec.shape.cooperative = is_cooperative ? 1 : 0;
}

// Gives the node a rule, and its size for the defaults.
void follow(cg::NodeSpec& spec, const LoadedKernel& kernel, const std::vector<Argument>& arguments, Values known,
            Program::MakeError make_error) {
    auto rule = std::make_shared<FollowingSize>();
    rule->task = kernel.task;
    rule->kernel = kernel.kernel;
    rule->known = std::move(known);
    rule->make_error = make_error;
    for (std::size_t number = 0; number < arguments.size(); ++number) {
        const Reference& reference = arguments[number].reference;
        if (!arguments[number].is_reference() || !reference.parameter) continue;
        const std::size_t operand = rule->operand_of(reference.parameter);
        const bool decides = kernel.task->arguments().count(number) != 0;
        if (decides && reference.is_direct) rule->late.push_back({number, operand, reference.word});
        const bool is_array_of_file = reference.is_parameter() && !reference.is_direct;
        if (is_array_of_file) rule->fixed.push_back(operand);
    }
    cg::LaunchSize size{{1, 1, 1}, {1, 1, 1}, 0};
    std::vector<const cg::ParameterValue*> values;
    bool all_known = true;
    for (const cg::ParameterRef& operand : rule->operands) {
        values.push_back(&operand->initial);
        all_known &= operand->initial.known;
    }
    if (all_known) size = rule->compute(values.data());
    write_size(spec, size, kernel.task->is_resident());
    auto made = std::make_shared<cg::SizeRule>();
    made->resize = FollowingSize::resize;
    made->self = rule.get();
    made->owner = rule;
    spec.rules.takes_any_shape = true;
    spec.rules.size = made;
    for (std::size_t i = 0; i < rule->operands.size(); ++i) {
        cg::ParameterUse use;
        use.parameter = rule->operands[i];
        use.field = cg::Field::kSize;
        use.argument = static_cast<std::uint32_t>(i);
        spec.uses.push_back(use);
    }
}

void choose_size(const Adding& adding, cg::NodeSpec& spec, const LoadedKernel& kernel,
                 const std::vector<Argument>& arguments) {
    const Config& config = adding.tables.configs[adding.row.index("config", adding.tables.configs.size())];
    const bool is_sized = kernel.task && adding.row.flag("sized");
    spec.shape = config.shape;
    write_size(spec, config.size, config.shape.cooperative != 0);
    if (!is_sized) return;
    Values known = known_numbers(*kernel.task, arguments, adding.row.where);
    const bool follows = follows_parameters(arguments);
    if (!follows && !adding.tables.computes_sizes && !kernel.task->is_resident()) return;
    spec.shape = {};
    if (follows) return follow(spec, kernel, arguments, std::move(known), adding.tables.program.make_error());
    write_size(spec, kernel.task->compute(kernel.kernel, known), kernel.task->is_resident());
}

}  // namespace

void read_kernel(Adding& adding, cg::NodeSpec& spec) {
    const Row& row = adding.row;
    const LoadedKernel& kernel = adding.tables.kernels[row.index("kernel", adding.tables.kernels.size())];
    const Where where{"an argument", Where::kNone, &row.where};
    std::vector<Argument> arguments;
    for (const Json& value : row.items("arguments", kernel.parameters->size())) {
        arguments.push_back({&value, {}});
        if (!value.is_list()) continue;
        const Reference& found = arguments.back().reference = adding.references.resolve(&value, where);
        if (found.kind == Reference::Kind::kCondition) adding.conditions.push_back(found.condition.handle);
    }
    choose_size(adding, spec, kernel, arguments);
    std::vector<cg::Opaque> owners;
    for (std::size_t i = 0; i < arguments.size(); ++i) append(spec, kernel, i, arguments[i], owners, where);
    spec.params.kernel.kern = *kernel.kernel;
    spec.params.kernel.kernelParams = spec.arguments.pointers();
    spec.owners.first = cg::as_owner(kernel.kernel);
    if (owners.size() == 1) spec.owners.second = owners.front();
    if (owners.size() > 1) spec.owners.second = cg::bundle(std::move(owners));
}

}  // namespace cgr

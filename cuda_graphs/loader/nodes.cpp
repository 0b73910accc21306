// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "nodes.hpp"

#include <memory>
#include <set>
#include <string_view>

#include "core/driver/driver_facts.hpp"
#include "core/driver/table.hpp"
#include "core/graphs/definition_shape.hpp"
#include "core/graphs/node_order.hpp"
#include "core/handles/gil.hpp"
#include "core/resources/device_scope.hpp"
#include "device.hpp"
#include "specs.hpp"

namespace cgr {

namespace {

using cg::NodeKind;

// A kind of node in files. Nodes of a kind with bodies hold from `least` to `most` graphs.
struct KindRow {
    std::string_view name;
    NodeKind kind;
    void (*read)(Adding&, cg::NodeSpec&);  // null: there is nothing to read
    std::size_t least, most;
    bool fits_bodies;  // of conditional nodes (a rule of CUDA)
};

constexpr std::size_t kMostBranches = 1 << 16;

constexpr KindRow kKinds[] = {
    {"empty", NodeKind::kEmpty, nullptr, 0, 0, true},
    {"kernel", NodeKind::kKernel, read_kernel, 0, 0, true},
    {"alloc", NodeKind::kAlloc, read_alloc, 0, 0, false},
    {"free", NodeKind::kFree, read_free, 0, 0, false},
    {"memset", NodeKind::kMemset, read_memset, 0, 0, true},
    {"memcpy", NodeKind::kMemcpy, read_memcpy, 0, 0, true},
    {"child", NodeKind::kChild, nullptr, 1, 1, true},
    {"callback", NodeKind::kHost, read_callback, 0, 0, false},
    {"record", NodeKind::kEventRecord, read_record, 0, 0, false},
    {"wait", NodeKind::kEventWait, read_wait, 0, 0, false},
    {"if", NodeKind::kIf, read_conditional, 1, 1, true},
    {"if_else", NodeKind::kIfElse, read_conditional, 2, 2, true},
    {"while", NodeKind::kWhile, read_conditional, 1, 1, true},
    {"switch", NodeKind::kSwitch, read_conditional, 1, kMostBranches, true},
};

const KindRow& kind_of(const Row& row) {
    const std::string& name = row.text("kind");
    for (const KindRow& kind : kKinds)
        if (kind.name == name) return kind;
    fail({"the kind", Where::kNone, &row.where}, "is unknown");
}

// A definition that nodes are added to: the file's own, or one that a child graph node will copy.
struct Around {
    const cg::NodeHandle& definition;
    Parameters& parameters;
    bool in_body;
    std::uint32_t depth;  // graphs around it in the file
};

// The nodes before a node, with the data of the edges from them.
struct Before {
    std::vector<std::size_t> nodes;
    std::vector<CUgraphEdgeData> data;
};

std::vector<Before> read_edges(const Row& row, std::size_t count) {
    std::vector<Before> found(count);
    const Where where{"an edge", Where::kNone, &row.where};
    for (const Json& edge : row.items("edges")) {
        const std::vector<Json>& parts = check_list(&edge, where);
        if (parts.size() != 2 && parts.size() != 5) fail(where, "must have 2 or 5 numbers");
        const std::size_t source = check_index(&parts[0], where, count), target = check_index(&parts[1], where, count);
        if (source >= target) fail(where, "leads back");
        std::uint8_t data[3]{};
        for (std::size_t i = 2; i < parts.size(); ++i)
            data[i - 2] = static_cast<std::uint8_t>(check_int(&parts[i], where, 0, 255));
        found[target].nodes.push_back(source);
        found[target].data.push_back(cg::edge_data(data[0], data[1], data[2]));
    }
    return found;
}

class NodeLoader {
  public:
    explicit NodeLoader(Tables& tables) : tables_(tables), graphs_(tables.archive.table("graphs")) {
        if (graphs_.empty()) fail({"the table of graphs"}, "is empty");
    }

    void run(const cg::NodeHandle& definition, Parameters& parameters) {
        used_.insert(0);
        add_graph(0, cg::box_of<cg::NodeRecord>(definition)->graph, {definition, parameters, false, 0});
        if (used_.size() != graphs_.size()) fail({"the table of graphs"}, "has graphs that no node holds");
    }

  private:
    Row row_of(std::size_t number) const { return {&graphs_[number], {"graph", number}}; }

    // Adds the nodes of one graph, and returns them.
    std::vector<cg::NodeRecord*> add_graph(std::size_t number, cg::GraphBox* graph, const Around& around) {
        if (around.depth > cg::kMaxDepth) fail({"graph", number}, "is nested too deeply");
        const Row row = row_of(number);
        add_conditions(row, number, *graph);
        const std::vector<Json>& rows = row.items("nodes");
        const std::vector<Before> before = read_edges(row, rows.size());
        std::vector<cg::NodeRecord*> nodes;
        for (std::size_t at = 0; at < rows.size(); ++at)
            nodes.push_back(add_node({&rows[at], {"node", at, &row.where}}, number, *graph, nodes, before[at], around));
        return nodes;
    }

    void add_conditions(const Row& row, std::size_t number, cg::GraphBox& graph) {
        constexpr std::int64_t kMostDefault = 0xffffffff;
        const std::vector<Json>& rows = row.items("conditions");
        for (std::size_t at = 0; at < rows.size(); ++at) {
            const Where where{"condition", at, &row.where};
            const std::vector<Json>& parts = check_list(&rows[at], where, 2);
            cg::ConditionRecord record;
            record.has_default = !parts[0].is_null();
            if (record.has_default)
                record.default_value = static_cast<std::uint32_t>(check_int(&parts[0], where, 0, kMostDefault));
            record.source = tables_.find_line(&parts[1], graph, where);
            CUcontext context = nullptr;
            check(cg::current_context(&context), "find the current context");
            check(without_lock(cg::driver().cuGraphConditionalHandleCreate, &record.handle, graph.raw, context,
                               record.default_value, record.has_default ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0U),
                  "create " + where.text());
            graph.conditions.push_back(record);
            tables_.conditions[{number, at}] = {record.handle, cg::hierarchy_number(graph)};
        }
    }

    // Returns the numbers of the graphs inside a node. Each graph is in one node, of a graph before it.
    std::vector<std::size_t> read_inner(const Row& row, const KindRow& kind, std::size_t around) {
        std::vector<std::size_t> found;
        if (row.get("graphs") != nullptr)
            for (const Json& value : row.items("graphs")) {
                found.push_back(check_index(&value, {"a graph", Where::kNone, &row.where}, graphs_.size()));
                if (found.back() <= around || !used_.insert(found.back()).second)
                    fail({"graph", found.back(), &row.where}, "is in another node, or around this one");
            }
        if (found.size() < kind.least || found.size() > kind.most)
            fail(row.where, "holds " + std::to_string(found.size()) + " graphs");
        return found;
    }

    cg::NodeRecord* add_node(const Row& row, std::size_t number, cg::GraphBox& graph,
                             const std::vector<cg::NodeRecord*>& nodes, const Before& before, const Around& around) {
        const KindRow& kind = kind_of(row);
        const std::vector<std::size_t> inner = read_inner(row, kind, number);
        if (around.in_body && !kind.fits_bodies) fail(row.where, "cannot be in a body of a conditional node");
        const cg::SourceLocation source = tables_.find_line(row.get("source"), graph, row.where);
        const std::string* const name = row.optional_text("name");
        if (name != nullptr && name->empty()) fail(row.where, "has an empty name");
        References references(tables_, graph, around.parameters);
        Adding adding{tables_, references, row, inner.size(), {}, {}};
        cg::NodeSpec spec;
        spec.begin(kind.kind);
        cg::NodeHandle child;
        if (kind.kind == NodeKind::kChild) child = begin_child(spec, inner[0], around);
        if (kind.read != nullptr) kind.read(adding, spec);
        const auto memory = kind.kind == NodeKind::kAlloc ? cg::create_graph_memory() : nullptr;
        if (memory) spec.owners.first = cg::as_owner(memory);
        read_accesses(adding, spec);
        cg::NodeRecord& record = insert(spec, graph, nodes, before, row.where);
        record.source = source;
        if (name != nullptr) record.make_metadata().labels.name = *name;
        if (child) finish_child(child, record);
        if (memory) record_memory(spec, record, *memory);
        record_form(adding, spec, record);
        if (kind.kind == NodeKind::kFree) cg::note_free(record, spec.params.free.dptr);
        if (kind.kind == NodeKind::kWhile) restore_counter(row, record);
        if (kind.read == read_conditional) add_bodies(spec, record, inner, around);
        return &record;
    }

    // Reads what a kernel or callback declares to access, for GraphDef.check in Python, and the conditions among the
    // arguments of a kernel.
    static void read_accesses(const Adding& adding, cg::NodeSpec& spec) {
        const bool declares = spec.kind == NodeKind::kKernel || spec.kind == NodeKind::kHost;
        const bool is_known = declares && adding.row.get("reads") != nullptr;
        if (!is_known && adding.conditions.empty()) return;
        auto found = std::make_shared<cg::DeclaredAccesses>();
        found->conditions = adding.conditions;
        found->is_known = is_known;
        if (is_known) {
            for (const Json& span : adding.row.items("reads")) found->reads.push_back(read_span(adding, span));
            for (const Json& span : adding.row.items("writes")) found->writes.push_back(read_span(adding, span));
        }
        spec.declared = std::move(found);
    }

    static cg::Span read_span(const Adding& adding, const Json& span) {
        const Where where{"an access", Where::kNone, &adding.row.where};
        const std::vector<Json>& parts = check_list(&span, where, 3);
        const Reference memory = adding.references.resolve(&parts[0], where);
        const bool is_memory = memory.kind != Reference::Kind::kExtent && memory.kind != Reference::Kind::kCondition;
        const std::uint64_t run = as_uint(parts[1]).value_or(0);
        if (!is_memory || run == 0) fail(where, "is of no memory");
        cg::Span found(memory.parameter ? 0 : memory.place.address, run);
        if (memory.parameter) found.parameter = memory.parameter->name;
        for (const Json& axis : check_list(&parts[2], where)) {
            const std::vector<Json>& numbers = check_list(&axis, where, 2);
            const std::int64_t count = check_int(&numbers[0], where, 1), stride = check_int(&numbers[1], where, 1);
            found.repeat(static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(stride));
        }
        return found;
    }

    // Makes the parameters of a spec those of the node. Operands without a value get memory that stands for it.
    static std::unique_ptr<cg::NodeParameters> prepare_uses(cg::NodeSpec& spec) {
        if (spec.uses.empty()) return {};
        auto made = std::make_unique<cg::NodeParameters>();
        made->uses = spec.uses;
        made->rules = spec.rules;
        check(without_lock([&] { return cg::use_placeholders(spec, *made); }),
              "allocate memory that stands for a parameter");
        return made;
    }

    static cg::NodeRecord& insert(cg::NodeSpec& spec, cg::GraphBox& graph, const std::vector<cg::NodeRecord*>& nodes,
                                  const Before& before, const Where& where) {
        std::unique_ptr<cg::NodeParameters> parameters = prepare_uses(spec);
        std::vector<CUgraphNode> after;
        for (const std::size_t each : before.nodes) after.push_back(nodes[each]->raw);
        cg::OwnerSlot slot;
        if (!cg::prepare_node(graph, spec, slot)) fail_noted("keep what a node needs");
        CUgraphNode raw = nullptr;
        CUresult status = CUDA_SUCCESS;
        {
            const cg::GilRelease released;
            status = cg::make_node({graph.raw, after.data(), after.size(), before.data.data()}, spec, &raw);
        }
        cg::NodeRecord* record = cg::record_node(graph, spec, slot, status, raw);
        if (record == nullptr) throw Failure(CG_ERROR_DAMAGED, where.text() + " cannot be added: " + reason_of(status));
        graph.edited |= after.size() > 1;
        if (parameters) record->make_metadata().parameters = std::move(parameters);
        return *record;
    }

    static std::string reason_of(CUresult status) {
        try {
            check(status, "add it");
        } catch (const Failure& failure) {
            return failure.what();
        }
        return {};
    }

    // Records the memory of an alloc node, whose address the driver has chosen.
    void record_memory(const cg::NodeSpec& spec, cg::NodeRecord& record, cg::GraphMemory& memory) {
        const CUDA_MEM_ALLOC_NODE_PARAMS_v2& made = spec.params.alloc;
        const cg::AllocKind kind = cg::alloc_kind(made.poolProps);
        memory.record(made.dptr, made.bytesize,
                      kind == cg::AllocKind::kHost     ? CU_MEMORYTYPE_HOST
                      : kind == cg::AllocKind::kDevice ? CU_MEMORYTYPE_DEVICE
                                                       : CU_MEMORYTYPE_UNIFIED);
        cg::note_allocation(record, made.dptr);
        tables_.allocs.push_back({made.dptr, made.bytesize});
    }

    // Records what the driver does not: the type of an array or value, and the device of a node.
    void record_form(const Adding& adding, const cg::NodeSpec& spec, cg::NodeRecord& record) const {
        if (adding.form) record.make_metadata().array_form = adding.form;
        // For host memory the driver always reports device 0.
        const bool is_host_memory =
            spec.kind == NodeKind::kAlloc && cg::alloc_kind(spec.params.alloc.poolProps) == cg::AllocKind::kHost;
        if (is_host_memory) record.make_metadata().device = static_cast<int>(adding.row.number("device"));
        const bool has_context = spec.kind == NodeKind::kMemset || spec.kind == NodeKind::kMemcpy ||
                                 (spec.kind >= NodeKind::kIf && spec.kind <= NodeKind::kSwitch);
        if (has_context && cg::has_several_devices()) record.make_metadata().device = cg::current_device();
    }

    // The kernels of a loop have its counter as an argument.
    void restore_counter(const Row& row, cg::NodeRecord& record) const {
        if (row.get("counter") == nullptr) return;
        const LoadedMemory& memory = tables_.memory[row.index("counter", tables_.memory.size())];
        if (!memory.is_counter) fail({"the counter", Where::kNone, &row.where}, "is memory of another kind");
        if (memory.counter) record.make_metadata().counter = memory.counter;
    }

    // ---- graphs in nodes

    cg::NodeHandle begin_child(cg::NodeSpec& spec, std::size_t number, const Around& around) {
        const cg::NodeHandle child = cg::create_graph();
        if (!child) fail_noted("create a graph");
        cg::GraphBox& graph = *cg::box_of<cg::NodeRecord>(child)->graph;
        Parameters parameters = around.parameters.of(graph);
        add_graph(number, &graph, {child, parameters, around.in_body, around.depth + 1});
        spec.params.graph.graph = graph.raw;
        cg::seal_owners(graph);  // the embedded graph is a copy that shares the owners
        check(without_lock([&] { return cg::share_owners(graph); }), "keep what the nodes of a graph need");
        check(without_lock([&] { return cg::restore_order(graph); }), "put the edges of a graph in order");
        return child;
    }

    static void finish_child(const cg::NodeHandle& child, cg::NodeRecord& record) {
        cg::GraphBox& graph = *cg::box_of<cg::NodeRecord>(child)->graph;
        record.make_metadata().inner_labels = cg::copy_labels(graph);
        check(cg::copy_uses(graph, record), "find the nodes of a graph that use parameters");
    }

    void add_bodies(const cg::NodeSpec& spec, cg::NodeRecord& record, const std::vector<std::size_t>& inner,
                    const Around& around) {
        record.make_metadata().condition = spec.params.conditional.handle;
        std::vector<cg::GraphBox*> bodies;
        for (std::size_t i = 0; i < inner.size(); ++i)
            bodies.push_back(&cg::add_inner_graph(record, spec.params.conditional.phGraph_out[i]));
        for (std::size_t i = 0; i < inner.size(); ++i) {
            const auto nodes =
                add_graph(inner[i], bodies[i], {around.definition, around.parameters, true, around.depth + 1});
            restore_test(inner[i], *bodies[i], record.kind, nodes);
        }
    }

    // Notes the kernel that sets the condition of a loop.
    void restore_test(std::size_t number, cg::GraphBox& body, NodeKind kind,
                      const std::vector<cg::NodeRecord*>& nodes) {
        const Row row = row_of(number);
        if (row.get("test") == nullptr) return;
        cg::NodeRecord* const test = nodes[row.index("test", nodes.size())];
        if (kind != NodeKind::kWhile || test->kind != NodeKind::kKernel)
            fail({"the test", Where::kNone, &row.where}, "is no kernel of the body of a loop");
        body.test = test;
    }

    Tables& tables_;
    const std::vector<Json>& graphs_;
    std::set<std::size_t> used_;
};

}  // namespace

void read_callback(Adding& adding, cg::NodeSpec& spec) {
    const std::size_t number = adding.row.index("callback", adding.tables.archive.table("callbacks").size());
    adding.tables.program.read_callback(number, adding.row.optional_text("name"), spec);
}

void read_record(Adding& adding, cg::NodeSpec& spec) {
    const cg::EventHandle& event = adding.tables.events[adding.row.index("event", adding.tables.events.size())];
    spec.params.eventRecord.event = *event;
    spec.owners.first = cg::as_owner(event);
}

void read_wait(Adding& adding, cg::NodeSpec& spec) {
    const cg::EventHandle& event = adding.tables.events[adding.row.index("event", adding.tables.events.size())];
    spec.params.eventWait.event = *event;
    spec.owners.first = cg::as_owner(event);
}

void read_conditional(Adding& adding, cg::NodeSpec& spec) {
    const Where where{"the condition", Where::kNone, &adding.row.where};
    const std::vector<Json>& parts = adding.row.items("condition", 3);
    if (!parts[0].is_text() || parts[0].text() != "c") fail(where, "names something else");
    const LoadedCondition condition = adding.references.condition(parts[1], parts[2], where);
    if (condition.hierarchy != adding.references.hierarchy()) fail(where, "belongs to another definition");
    CUDA_CONDITIONAL_NODE_PARAMS& node = spec.params.conditional;
    node.handle = condition.handle;
    node.type = spec.kind == NodeKind::kWhile    ? CU_GRAPH_COND_TYPE_WHILE
                : spec.kind == NodeKind::kSwitch ? CU_GRAPH_COND_TYPE_SWITCH
                                                 : CU_GRAPH_COND_TYPE_IF;
    node.size = static_cast<unsigned>(adding.inner);
    check(cg::current_context(&node.ctx), "find the current context");
}

void add_all_nodes(Tables& tables, const cg::NodeHandle& definition, Parameters& parameters) {
    NodeLoader(tables).run(definition, parameters);
}

}  // namespace cgr

#include "codegen/cpu/explain.h"

#include "analysis/cost.h"
#include "analysis/effects.h"
#include "codegen/cpu/dot_emitter.h"
#include "codegen/cpu/gemm_plan.h"
#include "support/json.h"

namespace enceladus::cpu {
namespace {

using ir::Opcode;
using ir::Operation;

void add_place(JsonWriter& json, const Location& location) {
  if (!location.known()) return;
  json.field("file", *location.file);
  json.field("line", location.line);
}

void add_options(JsonWriter& json, const ir::Function& function, const HostTarget& host) {
  const ir::FunctionOptions& options = function.options();
  const char* const math_modes[] = {"relaxed", "fast", "precise"};
  json.begin_object("options");
  json.field("math_mode", math_modes[static_cast<int>(options.math_mode)]);
  json.field("debug", options.debug);
  json.field("arrays_disjoint", options.arrays_disjoint);
  json.end_object();
  json.field("host", host.cpu + ", vectors of " + std::to_string(host.vector_bytes) + " bytes" +
                         (host.has_amx_bfloat16 ? ", AMX" : ""));
}

// "64x32x16": rows, columns, depth; a batched product has its batch in front.
std::string dot_shape(const Operation& dot) {
  const ir::Type& a = dot.operand(0)->type();
  const ir::Type& result = dot.result()->type();
  std::string shape;
  for (int64_t extent : result.shape()) shape += std::to_string(extent) + "x";
  return shape + std::to_string(a.extent(a.rank() - 1));
}

std::string dtype_text(const ir::Value* value) {
  return std::string(info(value->type().dtype()).python_name);
}

std::string dot_path(const Operation& dot, const loop::Plan& plan) {
  for (const loop::DotLoop& dot_loop : plan.dot_loops)
    if (dot_loop.dot == &dot)
      return "operands read from the arrays, the whole loop over K in registers block by block";
  bool is_in_scratch = plan.buffer(dot.result()) >= 0;
  return is_in_scratch ? "tiles in scratch, accumulator in registers block by block"
                       : "not computed: its result is unused";
}

GemmSpec spec_of(const Operation& dot, const loop::Plan& plan, const DotLoopPlaces& dot_loops) {
  for (size_t index = 0; index < plan.dot_loops.size(); ++index)
    if (plan.dot_loops[index].dot == &dot) return dot_loops.specs[index];
  return dot_spec(&dot);
}

// Why the loop around a product is not run inside out; empty where it is, or where there is none.
std::string fallback_reason(const Operation& dot, const loop::Plan& plan) {
  for (const loop::RefusedLoop& refused : plan.refused_loops)
    if (refused.loop == dot.parent_operation()) return refused.reason;
  return "";
}

void add_dots(JsonWriter& json, const ir::Function& function, const loop::Plan& plan,
              const DotLoopPlaces& dot_loops, const HostTarget& host) {
  json.begin_list("dots");
  ir::walk(function.body(), [&](const Operation* op) {
    if (!op->is(Opcode::kDot)) return;
    json.begin_object();
    add_place(json, op->location());
    json.field("shape", dot_shape(*op));
    json.field("operands", dtype_text(op->operand(0)) + " @ " + dtype_text(op->operand(1)));
    json.field("accumulator", dtype_text(op->result()));
    const GemmSpec spec = spec_of(*op, plan, dot_loops);
    const bool uses_amx = plan_gemm(host, spec).format.uses_amx();
    json.field("backend", uses_amx ? "AMX micro-kernel" : "vector micro-kernel");
    json.field("multiplied_by", multiplied_by(host, spec));
    json.field("path", dot_path(*op, plan));
    if (const std::string reason = fallback_reason(*op, plan); !reason.empty())
      json.field("reason", reason);
    json.end_object();
  });
  json.end_list();
}

std::string array_of(const ir::Function& function, const analysis::MemoryEffects& effects,
                     const Operation& access) {
  int parameter = effects.roots(access).single();
  return parameter < 0 ? "several" : function.parameters()[static_cast<size_t>(parameter)].name;
}

bool is_masked(const Operation& access) {
  int mask = access.is(Opcode::kLoad) ? 1 : access.is(Opcode::kStore) ? 2 : -1;
  return mask >= 0 && access.operand(mask) != nullptr;
}

void add_accesses(JsonWriter& json, const ir::Function& function) {
  analysis::MemoryEffects effects(function);
  json.begin_list("memory");
  ir::walk(function.body(), [&](const Operation* op) {
    if (!analysis::reads_memory(*op) && !analysis::writes_memory(*op)) return;
    json.begin_object();
    add_place(json, op->location());
    json.field("access", op->record().name);
    json.field("array", array_of(function, effects, *op));
    json.field("bytes", static_cast<int64_t>(analysis::access_bytes(*op)));
    json.field("is_masked", is_masked(*op));
    json.end_object();
  });
  json.end_list();
}

// Tiles that the user named, and those that have to lie in memory.
void add_tiles(JsonWriter& json, const ir::Function& function, const loop::Plan& plan) {
  json.begin_list("tiles");
  ir::walk(function.body(), [&](const Operation* op) {
    for (const ir::Value* value : op->results()) {
      bool is_in_scratch = value->type().is_tile() && plan.buffer(value) >= 0;
      if (!value->type().is_tile() || (value->name().empty() && !is_in_scratch)) continue;
      json.begin_object();
      add_place(json, op->location());
      json.field("name", value->name().empty() ? op->record().name : value->name());
      json.field("type", ir::to_user_string(value->type()));
      json.field("place", is_in_scratch ? "scratch" : "vector registers");
      if (is_in_scratch)
        json.field("bytes", plan.buffers[static_cast<size_t>(plan.buffer(value))].bytes);
      json.end_object();
    }
  });
  json.end_list();
}

std::string purpose_of(const loop::Root& root) {
  if (root.kind != loop::RootKind::kWrite) return std::string(root.op->record().name);
  const Operation* op = root.value->definition();
  if (!root.value->name().empty()) return "keep " + root.value->name();
  return "keep " + std::string(op != nullptr ? op->record().name : "carried");
}

void add_nest(JsonWriter& json, const loop::Group& group) {
  std::string purposes, elements;
  const Operation* last = nullptr;
  for (const loop::Root& root : group.roots) {
    purposes += (purposes.empty() ? "" : ", ") + purpose_of(root);
    const Operation* op = root.op != nullptr ? root.op : root.value->definition();
    if (op != nullptr) last = op;
  }
  for (int64_t extent : group.space)
    elements += (elements.empty() ? "" : "x") + std::to_string(extent);
  json.begin_object();
  if (last != nullptr) add_place(json, last->location());
  json.field("elements", elements);
  json.field("for", purposes);
  json.end_object();
}

void add_nests(JsonWriter& json, const loop::Plan& plan) {
  json.begin_list("loop_nests");
  for (const loop::Group& group : plan.groups)
    if (!group.roots.empty()) add_nest(json, group);
  json.end_list();
}

// Nothing moves for a change of shape: who needs the tile asks for it at another index.
void add_conversions(JsonWriter& json, const ir::Function& function, const loop::Plan& plan) {
  json.begin_list("conversions");
  ir::walk(function.body(), [&](const Operation* op) {
    if (!op->is(Opcode::kReshape) && !op->is(Opcode::kTranspose)) return;
    json.begin_object();
    add_place(json, op->location());
    json.field("operation", op->record().name);
    json.field("how", plan.buffer(op->operand(0)) >= 0 ? "read from scratch at another index"
                                                       : "computed at another index");
    json.end_object();
  });
  json.end_list();
}

}  // namespace

std::string explain_kernel(const ir::Function& function, const loop::Plan& plan,
                           const DotLoopPlaces& dot_loops, const HostTarget& host) {
  JsonWriter json;
  json.begin_object();
  add_options(json, function, host);
  json.field("scratch_bytes", plan.scratch_bytes);
  if (analysis::estimate_cost(function).has_unknown_loops)
    json.field("loops", "some end at run-time values; " +
                            std::to_string(static_cast<int>(analysis::kAssumedTurns)) +
                            " turns of each are counted");
  add_dots(json, function, plan, dot_loops, host);
  add_accesses(json, function);
  add_tiles(json, function, plan);
  add_nests(json, plan);
  add_conversions(json, function, plan);
  json.end_object();
  return json.text();
}

}  // namespace enceladus::cpu

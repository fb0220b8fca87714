#include "lowering/tile_to_simt/explain.h"

#include "analysis/cost.h"
#include "analysis/effects.h"
#include "lowering/tile_to_simt/assignment.h"
#include "lowering/tile_to_simt/registers.h"
#include "support/json.h"

namespace enceladus::simt {
namespace {

using ir::AttributeName;
using ir::Opcode;
using ir::Operation;
using ir::Value;

void add_place(JsonWriter& json, const Location& location) {
  if (!location.known()) return;
  json.field("file", *location.file);
  json.field("line", location.line);
}

std::string extents(std::span<const int64_t> shape) {
  std::string text;
  for (int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string python_name(const Value* value) {
  return std::string(info(value->type().dtype()).python_name);
}

// What each bit of a position selects: `lane: column 2, 4; row 1, 2, 4`.
std::string layout_text(const LinearLayout& layout) {
  std::string text;
  constexpr std::pair<Dim, const char*> kParts[] = {
      {Dim::kRegister, "register"}, {Dim::kLane, "lane"}, {Dim::kWarp, "warp"}};
  for (const auto& [dim, name] : kParts) {
    std::string bits;
    int last_axis = -1;
    for (const TileBit& bit : images(layout, dim)) {
      if (!bits.empty()) bits += ", ";
      if (bit.none()) {
        bits += "copies";
        last_axis = -1;
        continue;
      }
      if (bit.axis != last_axis) bits += "axis " + std::to_string(bit.axis) + " by ";
      last_axis = bit.axis;
      bits += std::to_string(int64_t{1} << bit.bit);
    }
    if (!bits.empty()) text += (text.empty() ? "" : "; ") + std::string(name) + ": " + bits;
  }
  return text;
}

class Explainer {
 public:
  Explainer(const ir::Function& tile, const ir::Function& simt, const LoweringReport& report)
      : tile_(tile), simt_(simt), report_(report) {}

  std::string run(const std::vector<std::pair<std::string, std::string>>& values) {
    json_.begin_object();
    for (const auto& [name, value] : values) json_.field(name, value);
    options();
    if (analysis::estimate_cost(tile_).has_unknown_loops)
      json_.field("loops", "some end at run-time values; " +
                               std::to_string(static_cast<int>(analysis::kAssumedTurns)) +
                               " turns of each are counted");
    dots();
    memory();
    tiles();
    conversions();
    shared_memory();
    barriers();
    json_.end_object();
    return json_.text();
  }

 private:
  void options() {
    const ir::FunctionOptions& options = tile_.options();
    const char* const math_modes[] = {"relaxed", "fast", "precise"};
    const char* const backends[] = {"auto", "simdgroup", "mpp", "wgmma", "mma"};
    json_.begin_object("options");
    json_.field("math_mode", math_modes[static_cast<int>(options.math_mode)]);
    json_.field("debug", options.debug);
    json_.field("arrays_disjoint", options.arrays_disjoint);
    json_.field("arrays_small", options.arrays_small);
    json_.field("dot_backend", backends[static_cast<int>(options.dot_backend)]);
    if (options.dot_warps_m > 0)
      json_.field("dot_warps", "(" + std::to_string(options.dot_warps_m) + ", " +
                                   std::to_string(options.dot_warps_n) + ")");
    json_.end_object();
  }

  void dots() {
    json_.begin_list("dots");
    for (const DotReport& row : report_.dots) {
      const ir::Type& a = row.dot->operand(0)->type();
      json_.begin_object();
      add_place(json_, row.dot->location());
      json_.field("shape", extents(row.dot->result()->type().shape()) + "x" +
                               std::to_string(a.extent(a.rank() - 1)));
      json_.field("operands",
                  python_name(row.dot->operand(0)) + " @ " + python_name(row.dot->operand(1)));
      json_.field("accumulator", python_name(row.dot->result()));
      json_.field("backend", row.backend);
      json_.field("warps", std::to_string(row.warps[0]) + "x" + std::to_string(row.warps[1]));
      json_.field("a", row.operands[0]);
      json_.field("b", row.operands[1]);
      if (!row.reason.empty()) json_.field("reason", row.reason);
      if (auto refusal = report_.refusals.find(row.dot); refusal != report_.refusals.end())
        json_.field("not by wgmma", refusal->second);
      json_.end_object();
    }
    json_.end_list();
  }

  void memory() {
    analysis::MemoryEffects effects(tile_);
    json_.begin_list("memory");
    ir::walk(tile_.body(), [&](const Operation* op) {
      if (!analysis::reads_memory(*op) && !analysis::writes_memory(*op)) return;
      int parameter = effects.roots(*op).single();
      json_.begin_object();
      add_place(json_, op->location());
      json_.field("access", op->record().name);
      json_.field("array", parameter < 0 ? std::string("several")
                                         : tile_.parameters()[static_cast<size_t>(parameter)].name);
      json_.field("bytes", static_cast<int64_t>(analysis::access_bytes(*op)));
      if (auto engine = report_.engines.find(op); engine != report_.engines.end())
        json_.field("by", engine->second);
      if (auto refusal = report_.refusals.find(op); refusal != report_.refusals.end())
        json_.field("not by TMA", refusal->second);
      json_.end_object();
    });
    json_.end_list();
  }

  void tiles() {
    json_.begin_list("tiles");
    for (const TileReport& row : report_.tiles) {
      const Operation* made = row.tile->definition();
      json_.begin_object();
      if (made) add_place(json_, made->location());
      json_.field("name", row.tile->name().empty() && made ? std::string(made->record().name)
                                                           : std::string(row.tile->name()));
      json_.field("type", ir::to_user_string(row.tile->type()));
      json_.field("registers", registers_per_thread(row.tile->type(), tile_.options().num_warps));
      json_.field("layout", layout_text(row.layout));
      json_.end_object();
    }
    json_.end_list();
  }

  void conversions() {
    const char* const kinds[] = {"none", "registers", "shuffles", "shared memory"};
    json_.begin_list("conversions");
    for (const ConversionReport& row : report_.conversions) {
      json_.begin_object();
      add_place(json_, row.location);
      json_.field("tile", row.tile->name());
      json_.field("type", ir::to_user_string(row.tile->type()));
      json_.field("through", kinds[static_cast<int>(row.kind)]);
      json_.end_object();
    }
    json_.end_list();
  }

  void shared_memory() {
    json_.begin_list("shared_memory");
    ir::walk(simt_.body(), [&](const Operation* op) {
      if (!op->is(Opcode::kSharedBuffer) || !op->result()->has_users()) return;
      json_.begin_object();
      add_place(json_, op->location());
      json_.field("bytes", op->integer(AttributeName::kBytes));
      json_.field("at", op->integer_or(AttributeName::kOffset, 0));
      json_.end_object();
    });
    json_.end_list();
  }

  void barriers() {
    json_.begin_list("barriers");
    ir::walk(simt_.body(), [&](const Operation* op) {
      if (!op->is(Opcode::kBarrier)) return;
      json_.begin_object();
      add_place(json_, op->location());
      json_.field("memory", op->text(AttributeName::kMemory));
      json_.end_object();
    });
    json_.end_list();
  }

  const ir::Function& tile_;
  const ir::Function& simt_;
  const LoweringReport& report_;
  JsonWriter json_;
};

}  // namespace

std::string explain_kernel(const ir::Function& tile, const ir::Function& simt,
                           const LoweringReport& report,
                           const std::vector<std::pair<std::string, std::string>>& values) {
  return Explainer(tile, simt, report).run(values);
}

}  // namespace enceladus::simt

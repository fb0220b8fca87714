// Names to slots, and what each compound statement assigns and how it may leave (declared in
// frontend/ast.h).
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "frontend/ast.h"

namespace enceladus::frontend {
namespace {

std::string_view text_of(const Node& name) { return nb::cast<std::string_view>(name.object); }

void merge(std::vector<int32_t>& into, const std::vector<int32_t>& from) {
  for (int32_t slot : from)
    if (std::find(into.begin(), into.end(), slot) == into.end()) into.push_back(slot);
}

struct Summary {
  std::vector<int32_t> assigned;
  uint8_t escapes = 0;
};

void add(Summary& into, const Summary& from) {
  merge(into.assigned, from.assigned);
  into.escapes |= from.escapes;
}

Summary summarize(Node* node);

Summary summarize_all(const std::vector<const Node*>& list) {
  Summary result;
  // The tree is const to everyone but this file, which completes it.
  for (const Node* node : list) add(result, summarize(const_cast<Node*>(node)));
  return result;
}

Summary summarize(Node* node) {
  Summary result;
  if (!node) return result;
  if (node->kind == NodeKind::kName && node->stores) result.assigned.push_back(node->slot);
  if (node->kind == NodeKind::kReturn) result.escapes |= kReturns;
  if (node->kind == NodeKind::kBreak) result.escapes |= kBreaks;
  if (node->kind == NodeKind::kContinue) result.escapes |= kContinues;
  for (const Node* child : {node->first, node->second, node->third})
    add(result, summarize(const_cast<Node*>(child)));
  add(result, summarize_all(node->items));
  add(result, summarize_all(node->more));
  bool is_loop = node->kind == NodeKind::kFor || node->kind == NodeKind::kWhile;
  if (is_loop || node->kind == NodeKind::kIf) {
    node->assigned = result.assigned;
    node->escapes = result.escapes;  // a loop's own: with its breaks and continues
  }
  if (is_loop) result.escapes &= kReturns;
  return result;
}

}  // namespace

void resolve_names(ParsedFunction& function) {
  std::unordered_map<std::string_view, int32_t> slots;
  for (size_t i = 0; i < function.slots.size(); ++i)
    slots[function.slots[i]] = static_cast<int32_t>(i);
  // Names of `slots` are views into the Python strings, which the nodes keep.
  std::vector<std::string> added;
  int32_t next = static_cast<int32_t>(function.slots.size());
  for (const Node& node : function.nodes) {
    if (node.kind != NodeKind::kName || !node.stores) continue;
    if (slots.emplace(text_of(node), next).second) {
      added.emplace_back(text_of(node));
      ++next;
    }
  }
  for (Node& node : function.nodes) {
    if (node.kind != NodeKind::kName) continue;
    auto it = slots.find(text_of(node));
    if (it != slots.end()) node.slot = it->second;
  }
  for (std::string& name : added) function.slots.push_back(std::move(name));
  summarize_all(function.body);
}

}  // namespace enceladus::frontend

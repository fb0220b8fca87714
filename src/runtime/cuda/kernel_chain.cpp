#include "runtime/cuda/kernel_chain.h"

#include <algorithm>

namespace enceladus::cuda {
namespace {

KernelNode node_of(const KernelCall& call, void** arguments) {
  KernelNode node{
      .function = call.function, .shared_bytes = call.shape.shared_bytes, .parameters = arguments};
  std::copy_n(call.shape.grid, 3, node.grid);
  std::copy_n(call.shape.block, 3, node.block);
  return node;
}

}  // namespace

KernelChain::Order KernelChain::order_of(const Driver& driver, std::span<const KernelCall> calls) {
  const bool all_wait = std::all_of(calls.begin(), calls.end(),
                                    [](const KernelCall& call) { return call.may_start_early(); });
  return all_wait && driver.connect_nodes ? Order::kOverlapping : Order::kOneByOne;
}

std::unique_ptr<KernelChain> KernelChain::make(const Driver& driver,
                                               std::span<const KernelCall> calls, Order order) {
  std::unique_ptr<KernelChain> chain(new KernelChain(driver));
  return chain->build(calls, order) == kSuccess ? std::move(chain) : nullptr;
}

Result KernelChain::build(std::span<const KernelCall> calls, Order order) {
  if (const Result result = driver_.create_graph(&graph_, 0)) return result;
  for (const KernelCall& call : calls)
    if (const Result result = add_node(call, order)) return result;
  if (const Result result = driver_.create_event(&event_, kWithoutTiming)) return result;
  return driver_.instantiate_graph(&executable_, graph_, 0);
}

Result KernelChain::add_node(const KernelCall& call, Order order) {
  auto arguments = call.pointers();
  const KernelNode node = node_of(call, arguments.data());
  const GraphNodeHandle before = nodes_.empty() ? nullptr : nodes_.back().handle;
  const bool overlaps = before && order == Order::kOverlapping;
  GraphNodeHandle handle = nullptr;
  if (const Result result =
          driver_.add_kernel_node(&handle, graph_, &before, before && !overlaps ? 1 : 0, &node))
    return result;
  nodes_.push_back({handle, call});
  return overlaps ? driver_.connect_nodes(graph_, &before, &handle, &kEarlyStart, 1) : kSuccess;
}

KernelChain::~KernelChain() {
  if (event_) driver_.destroy_event(event_);
  if (executable_) driver_.destroy_executable(executable_);
  if (graph_) driver_.destroy_graph(graph_);
}

Result KernelChain::run(std::span<const KernelCall> calls, StreamHandle stream) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& known = nodes_[i];
    if (known.call.does_the_same(calls[i])) continue;
    auto arguments = calls[i].pointers();
    const KernelNode node = node_of(calls[i], arguments.data());
    if (const Result result = driver_.set_kernel_node(executable_, known.handle, &node))
      return result;
    known.call = calls[i];
  }
  if (const Result result = driver_.launch_graph(executable_, stream)) return result;
  is_pending_ = driver_.record_event(event_, stream) == kSuccess;
  return kSuccess;
}

bool KernelChain::is_running() {
  if (is_pending_) is_pending_ = driver_.query_event(event_) == kNotReady;
  return is_pending_;
}

bool KernelChain::is_like(std::span<const KernelCall> calls) const {
  return nodes_.front().call.does_the_same(calls.front()) &&
         nodes_.back().call.does_the_same(calls.back());
}

}  // namespace enceladus::cuda

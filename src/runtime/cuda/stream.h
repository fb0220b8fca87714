// The stream of a CUDA device: the driver's default one, so that what frameworks do on their
// default streams is in order with our launches. A launch may run on a framework's own stream
// instead; then the two wait for each other where it also uses memory of ours.
//
// Tickets count launches under `mutex_`. The driver tells only whether a point of a stream was
// passed, so a ticket is complete once a marker recorded behind it was: `wait` records one and
// polls it. Memory of ours is freed in stream order and needs no ticket; resources of Python wait
// in `retired_` until a marker has passed.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/common/stream.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/launch_names.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/messages.h"
#include "runtime/cuda/staging.h"

namespace enceladus::cuda {

class CudaEvent : public Event {
 public:
  enum class Timing : unsigned { kOn = 0, kOff = 2 };  // CUevent_flags
  CudaEvent(const Context& context, Timing timing);
  ~CudaEvent() override;
  EventHandle handle() const { return handle_; }
  int64_t nanoseconds_until(const Event& later) const override;
  bool deletes_in_stream_order() const override { return true; }

 private:
  const Context& context_;
  EventHandle handle_ = nullptr;
};

class CudaStream : public Stream {
 public:
  CudaStream(const Context& context, MemoryPool& pool);

  // 0 for launches on host arrays, which wait.
  Ticket try_enqueue(const Launch& launch) override;
  Ticket enqueue(const Launch& launch) override;
  void run_now(const Launch& launch) override;
  Ticket record(Event& event) override;
  bool is_complete(Ticket ticket) const override {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  Ticket newest() const override { return newest_.load(std::memory_order_acquire); }
  bool wait(Ticket ticket, std::chrono::nanoseconds limit) override;
  void raise_failure() override;
  // The driver prints what kernels print.
  std::string take_printed() override { return {}; }
  void retire(Resource* resource) override;

  // Makes `stream` wait for what is queued here.
  void make_wait(StreamHandle stream);
  StreamHandle handle() const { return kLegacyStream; }
  Staging& staging() { return staging_; }

 private:
  Ticket submit(const Launch& launch);
  void launch_kernel(const Launch& launch, CudaKernel& kernel, StreamHandle stream);
  void order(StreamHandle first, StreamHandle second);
  void note_stream(StreamHandle stream);
  bool await_markers(std::chrono::steady_clock::time_point end);
  void collect();

  const Context& context_;
  MemoryPool& pool_;
  Staging staging_;
  Messages messages_;

  std::mutex mutex_;
  std::atomic<Ticket> newest_{0};
  std::atomic<Ticket> completed_{0};
  LaunchNames names_;                  // under mutex_
  std::vector<StreamHandle> foreign_;  // streams of frameworks used since the last full wait

  std::mutex waiting_;  // one thread at a time uses the markers
  CudaEvent marker_;
  CudaEvent crossing_;

  std::mutex retiring_;
  std::vector<Resource*> retired_;
};

}  // namespace enceladus::cuda

// The stream of a CUDA device: the driver's default one, so that what frameworks do on their
// default streams is in order with our launches. A launch may run on a framework's own stream
// instead; then the two wait for each other where it also uses memory of ours.
//
// Launches of a burst (`burst`) that use memory of ours alone are held back and handed over
// together
// (`held_launches`): when enough have gathered, before anything else enters the stream, when
// somebody waits, and by a thread (`flusher`) soon after the burst has ended.
//
// Tickets count launches under `mutex_`. The driver tells only whether a point of a stream was
// passed, so a ticket is complete once a marker recorded behind it was: `wait` records one and
// polls it. Memory of ours is freed in stream order and needs no ticket; resources of Python wait
// in `retired_` until a marker has passed.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/common/launch_log.h"
#include "runtime/common/stream.h"
#include "runtime/cuda/burst.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/flusher.h"
#include "runtime/cuda/held_launches.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/launch_names.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/messages.h"
#include "runtime/cuda/staging.h"

namespace enceladus::cuda {

class CudaStream : public Stream {
 public:
  CudaStream(const Context& context, MemoryPool& pool, const Holding& holding);

  // 0 for launches on host arrays, which wait.
  Ticket try_enqueue(const Launch& launch) override;
  Ticket enqueue(const Launch& launch) override;
  void run_now(const Launch& launch) override;
  void flush() override;
  Ticket record(Event& event) override;
  bool is_complete(Ticket ticket) const override {
    return completed_.load(std::memory_order_acquire) >= ticket;
  }
  Ticket newest() const override { return newest_.load(std::memory_order_acquire); }
  bool wait(Ticket ticket, std::chrono::nanoseconds limit) override;
  // What a launch that was held back met, or a failed assertion.
  void raise_failure() override;
  // The driver prints what kernels print.
  std::string take_printed() override { return {}; }
  void retire(Resource* resource) override;

  // Makes `stream` wait for what is queued here.
  void make_wait(StreamHandle stream);
  // Makes what is queued here from now on wait for what is in `stream`.
  void wait_for(StreamHandle stream);
  StreamHandle handle() const { return kLegacyStream; }
  Staging& staging() { return staging_; }

 private:
  using Clock = std::chrono::steady_clock;
  Ticket submit(const Launch& launch);
  void submit_now(const Launch& launch, CudaKernel& kernel);
  void launch_kernel(const Launch& launch, CudaKernel& kernel, StreamHandle stream);
  bool hold(const Launch& launch, CudaKernel& kernel);
  void hand_over();
  bool hand_over_stale();
  void order(StreamHandle first, StreamHandle second);
  void note_stream(StreamHandle stream);
  bool await_markers(std::chrono::steady_clock::time_point end, Ticket& covered);
  bool keep_for_held(Resource* resource);
  void collect();

  const Context& context_;
  MemoryPool& pool_;
  Staging staging_;
  Messages messages_;
  LaunchLog log_;

  std::mutex mutex_;
  std::atomic<Ticket> newest_{0};
  std::atomic<Ticket> completed_{0};
  LaunchNames names_;                  // under mutex_
  std::vector<StreamHandle> foreign_;  // streams of frameworks used since the last full wait
  bool has_printed_ = false;           // under mutex_: a kernel may have, since the last full wait

  const Holding holding_;
  Burst burst_;                      // under mutex_
  HeldLaunches held_;                // under mutex_
  std::vector<Resource*> released_;  // under mutex_: deleted once what is held was handed over
  std::atomic<size_t> held_count_{0};
  std::atomic<Clock::rep> oldest_held_{0};
  std::atomic<Clock::rep> newest_held_{0};

  std::mutex waiting_;  // one thread at a time uses the markers
  CudaEvent marker_;
  CudaEvent crossing_;

  std::mutex retiring_;
  std::vector<Resource*> retired_;
  Flusher flusher_;  // the last, as its thread uses the rest
};

}  // namespace enceladus::cuda

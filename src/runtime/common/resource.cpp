#include "runtime/common/resource.h"

#include "runtime/common/stream.h"

namespace enceladus {

void Resource::release() {
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Stream* stream = last_stream();
  if (stream && !stream->is_complete(last_ticket()))
    stream->retire(this);
  else
    delete this;
}

}  // namespace enceladus

// MLX arrays as kernel arguments. MLX is never imported, only looked up once the program has done
// so; what is done with its objects is in enceladus/interop/mlx.py.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/argument_view.h"

namespace enceladus {

bool is_mlx_array(PyObject* object);
// Evaluates the array, whose memory then is the host's; where launches join MLX's graph it tells
// the type alone, and the addresses are those of no memory. Throws ArgumentProblem.
ArgumentView view_mlx_array(PyObject* object);

// Whether launches of this thread join MLX's graph: `set_mlx_lazy`, but for while one that could
// not is done at once.
bool mlx_is_lazy();
// Returns the previous setting of the process.
bool set_mlx_lazy(bool lazy);

class MlxEagerly {
 public:
  MlxEagerly();
  ~MlxEagerly();
  MlxEagerly(const MlxEagerly&) = delete;
  MlxEagerly& operator=(const MlxEagerly&) = delete;
};

}  // namespace enceladus

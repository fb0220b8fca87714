// How a reduction or scan combines two register arrays (or scalars): the operation's own kind, or
// its region inlined. Each side is one value an input, all of one shape.
#pragma once

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

using Values = std::vector<ir::Value*>;

// Left comes before right along the axis, where order matters. `outside` gives the SIMT value of a
// scalar that the region takes from around it.
using Outside = std::function<ir::Value*(const ir::Value*)>;
Values combine(ir::Builder& builder, const Outside& outside, const ir::Operation& op,
               const Values& left, const Values& right);

// Whether the result may depend, in its bits, on which side is which: then copies of one result in
// several threads agree only if all take the sides alike.
bool is_sided(const ir::Operation& op, const SimtTarget& target);

}  // namespace enceladus::simt

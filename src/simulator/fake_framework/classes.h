// All classes of the stand-in, by name.
#pragma once

#include <span>

#include "simulator/fake_framework/object.h"

namespace enceladus::fake_metal {

std::span<const Class* const> all_classes();

// The class object of a public class, or null: protocols such as MTLDevice are no classes.
Object* class_named(std::string_view name);

}  // namespace enceladus::fake_metal

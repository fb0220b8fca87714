#include "simulator/fake_framework/library.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "simulator/compile_msl.h"
#include "simulator/errors.h"
#include "simulator/fake_framework/foundation.h"
#include "simulator/fake_framework/ledger.h"
#include "simulator/fake_framework/property.h"
#include "simulator/function_constants.h"
#include "simulator/template_kernels.h"

namespace enceladus::fake_metal {
namespace {

constexpr const char* kLibraryDomain = "MTLLibraryErrorDomain";
constexpr int64_t kCompileFailure = 3, kFunctionNotFound = 5, kInternal = 4;
constexpr uint32_t kLastSlot = 30;

// 3.1 as major << 16 | minor to 310, which __METAL_VERSION__ is.
int metal_version(uint64_t version) {
  return static_cast<int>((version >> 16) * 100 + (version & 0xffff) * 10);
}

void check_slots(const std::string& source, const std::string& kernel) {
  simulator::KernelSignature signature = simulator::read_signature(source, kernel);
  for (const simulator::KernelParameter& parameter : signature.parameters) {
    if (parameter.kind == simulator::ParameterKind::kBuiltin || parameter.slot <= kLastSlot) {
      continue;
    }
    std::string text = "'buffer' attribute parameter is out of bounds: `" + parameter.name +
                       "` has " + std::to_string(parameter.slot) + ", must be between 0 and 30";
    throw simulator::MslError(text, {{signature.line, 1, text}});
  }
}

// What Apple's compiler finds when a library is made. A text of one kernel is built at once: that
// is the same check, and the object is wanted next.
void check_source(const Library& library, const std::vector<std::string>& kernels) {
  for (const std::string& kernel : kernels) {
    check_slots(simulator::with_template_kernel(library.source(), kernel), kernel);
  }
  simulator::CompileOptions options;
  options.language_version = library.language_version();
  if (simulator::has_function_constants(library.source())) return;  // checked with their values
  if (kernels.size() == 1) {
    simulator::compile_msl(library.source(), kernels[0], options);
  } else {
    simulator::check_msl(library.source(), options);
  }
}

std::string apple_text(const simulator::MslError& error) {
  std::string text;
  for (const simulator::MslMessage& message : error.messages()) {
    text += text.empty() ? "program_source" : "\nprogram_source";
    if (message.line != 0) {
      text += ":" + std::to_string(message.line) + ":" + std::to_string(message.column);
    }
    text += ": error: " + message.text;
  }
  return text.empty() ? error.what() : text;
}

template <class T>
T read_value(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

// An MSL expression for a value of an MTLDataType.
std::string expression(const void* data, uint64_t type) {
  auto bits = [](const char* name, const char* word, uint64_t value) {
    return std::string("__builtin_bit_cast(") + name + ", (" + word + ")" + std::to_string(value) +
           ")";
  };
  enum MtlDataType : uint64_t {
    kFloat = 3,
    kHalf = 16,
    kInt = 29,
    kUint = 33,
    kShort = 37,
    kUshort = 41,
    kChar = 45,
    kUchar = 49,
    kBool = 53,
    kLong = 81,
    kUlong = 85,
    kBfloat = 121
  };
  switch (type) {
    case kFloat:
      return bits("float", "uint", read_value<uint32_t>(data));
    case kHalf:
      return bits("half", "ushort", read_value<uint16_t>(data));
    case kBfloat:
      return bits("bfloat", "ushort", read_value<uint16_t>(data));
    case kInt:
      return "(int)" + std::to_string(read_value<int32_t>(data));
    case kUint:
      return std::to_string(read_value<uint32_t>(data)) + "u";
    case kShort:
      return "(short)" + std::to_string(read_value<int16_t>(data));
    case kUshort:
      return "(ushort)" + std::to_string(read_value<uint16_t>(data));
    case kChar:
      return "(char)" + std::to_string(read_value<int8_t>(data));
    case kUchar:
      return "(uchar)" + std::to_string(read_value<uint8_t>(data));
    case kBool:
      return read_value<uint8_t>(data) != 0 ? "true" : "false";
    case kLong:
      return "(long)" + std::to_string(read_value<uint64_t>(data)) + "ul";
    case kUlong:
      return std::to_string(read_value<uint64_t>(data)) + "ul";
    default:
      throw ContractViolation("MTLDataType " + std::to_string(type) +
                              " is not one of a scalar function constant");
  }
}

}  // namespace

const Class& CompileOptions::type() {
  using Self = CompileOptions;
  static constexpr Method kMethods[] = {
      getter<&Self::language_version>("languageVersion"),
      setter<&Self::language_version>("setLanguageVersion:"),
      getter<&Self::math_mode>("mathMode"),
      setter<&Self::math_mode>("setMathMode:"),
      getter<&Self::math_functions>("mathFloatingPointFunctions"),
      setter<&Self::math_functions>("setMathFloatingPointFunctions:"),
      getter<&Self::optimization_level>("optimizationLevel"),
      setter<&Self::optimization_level>("setOptimizationLevel:"),
      getter<&Self::fast_math>("fastMathEnabled"),
      setter<&Self::fast_math>("setFastMathEnabled:"),
      getter<&Self::logging>("enableLogging"),
      setter<&Self::logging>("setEnableLogging:"),
  };
  static const Class& type =
      *new Class({.name = "MTLCompileOptions", .methods = kMethods, .allocate = [] {
                    return make<CompileOptions>();
                  }});
  return type;
}

const Class& FunctionConstants::type() {
  static constexpr Method kMethods[] = {
      method<&FunctionConstants::set>("setConstantValue:type:atIndex:"),
      method<&FunctionConstants::reset>("reset"),
  };
  static const Class& type =
      *new Class({.name = "MTLFunctionConstantValues", .methods = kMethods, .allocate = [] {
                    return make<FunctionConstants>();
                  }});
  return type;
}

Result FunctionConstants::set(const Message& message) {
  values_[static_cast<uint32_t>(message.integer(2))] =
      expression(message.pointer<void>(0), message.integer(1));
  return kNothing;
}
Result FunctionConstants::reset(const Message&) {
  values_.clear();
  return kNothing;
}

const Class& Library::type() {
  static constexpr Method kMethods[] = {
      method<&Library::function>("newFunctionWithName:", Failure::kNil),
      method<&Library::function_with_constants>("newFunctionWithName:constantValues:error:",
                                                Failure::kError),
      method<&Library::function_names>("functionNames"),
      getter<&Library::label>("label"),
      setter<&Library::label>("setLabel:"),
  };
  static const Class& type =
      *new Class({.name = "MTLLibrary", .methods = kMethods, .is_protocol = true});
  return type;
}

Object* Library::compile(const std::string& source, const CompileOptions& options,
                         const Message& message) {
  try {
    std::vector<std::string> kernels = simulator::kernel_names(source);
    auto library = Ref<Library>::take(make<Library>(source, options, kernels));
    check_source(*library, kernels);
    retain(library.get());
    return library.get();
  } catch (const std::exception&) {
    write_compile_error(message, 2);
    return nullptr;
  }
}

Library::Library(std::string source, const CompileOptions& options,
                 std::vector<std::string> kernels)
    : source_(std::move(source)),
      language_version_(metal_version(options.language_version)),
      logging_(options.logging),
      kernels_(std::move(kernels)) {}

bool Library::has(const std::string& name) const {
  return std::find(kernels_.begin(), kernels_.end(), name) != kernels_.end();
}

Result Library::function(const Message& message) {
  const std::string& name = argument<String>(message, 0).text();
  if (!has(name)) return kNothing;
  return give(make<Function>(Ref<Library>(this), name, std::map<uint32_t, std::string>()));
}

Result Library::function_with_constants(const Message& message) {
  const std::string& name = argument<String>(message, 0).text();
  auto& constants = argument<FunctionConstants>(message, 1);
  if (!has(name)) {
    write_error(message, 2, kLibraryDomain, kFunctionNotFound,
                "the library has no function `" + name + "`");
    return kNothing;
  }
  return give(make<Function>(Ref<Library>(this), name, constants.values()));
}

Result Library::function_names(const Message&) {
  std::vector<Ref<Body>> names;
  for (const std::string& name : kernels_) names.push_back(Ref<Body>::take(make<String>(name)));
  return give(autorelease(make<Array>(std::move(names))));
}

const Class& Function::type() {
  static constexpr Method kMethods[] = {method<&Function::name_string>("name")};
  static const Class& type =
      *new Class({.name = "MTLFunction", .methods = kMethods, .is_protocol = true});
  return type;
}

simulator::SimulatedKernel Function::load() const {
  simulator::CompileOptions options;
  options.language_version = library_->language_version();
  return simulator::SimulatedKernel::load(
      simulator::with_function_constants(library_->source(), constants_), name_, options);
}

Result Function::name_string(const Message&) { return give_text(name_); }

void write_compile_error(const Message& message, size_t index) {
  try {
    throw;
  } catch (const simulator::MslError& error) {
    write_error(message, index, kLibraryDomain, kCompileFailure, apple_text(error));
  } catch (const simulator::SimulatorUnavailable& error) {
    write_error(message, index, kSimulatorDomain, kInternal, error.what());
  }
}

}  // namespace enceladus::fake_metal

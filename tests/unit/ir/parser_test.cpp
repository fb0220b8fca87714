#include "ir/parser.h"

#include <gtest/gtest.h>

#include "ir/printer.h"
#include "ir/verifier.h"

namespace enceladus::ir {
namespace {

// Definitions of %0, %1, ... that an op's example of ops.def uses.
std::string operands_of_example(Opcode opcode) {
  switch (opcode) {
    case Opcode::kConstant:
    case Opcode::kArange:
    case Opcode::kProgramId:
    case Opcode::kNumPrograms:
    case Opcode::kDebugBarrier:
    case Opcode::kLinear:
    case Opcode::kOwner:
    case Opcode::kSharedBuffer:
    case Opcode::kBarrier:
    case Opcode::kStageBuffer:
    case Opcode::kStageCommit:
    case Opcode::kStageWait:
      return "";
    case Opcode::kStageStore:
      return "%0: desc<64x32xf16>, %1: i32, %2: tile<64x32xf16>";
    case Opcode::kStageLoad:
      return "%0: desc<64x32xf16>, %1: i32";
    case Opcode::kCopyAsync:
      return "%0: i32, %1: tile<8xi32>, %2: tile<8xptr<f16>>";
    case Opcode::kRole:
    case Opcode::kSetRegisters:
    case Opcode::kResident:
    case Opcode::kRing:
    case Opcode::kRingsReady:
    case Opcode::kPace:
    case Opcode::kCopyOutWait:
    case Opcode::kAsyncFence:
    case Opcode::kGroupBarrier:
    case Opcode::kUndefined:
    case Opcode::kWgmmaWait:
      return "";
    case Opcode::kTensorMap:
      return "%0: ptr<f16>";
    case Opcode::kRingFill:
    case Opcode::kRingTake:
      return "%0: i32";
    case Opcode::kRingFree:
      return "%0: i32, %1: i32";
    case Opcode::kCopyIn:
    case Opcode::kCopyOut:
      return "%0: i32, %1: i32, %2: i32, %3: i32";
    case Opcode::kStoreMatrix:
      return "%0: i32, %1: tile<2xi32>, %2: tile<16xf16>";
    case Opcode::kStorePairs:
      return "%0: i32, %1: tile<2xi32>, %2: tile<4xf32>";
    case Opcode::kWgmma:
      return "%0: i32, %1: i32, %2: tile<8xf32>";
    case Opcode::kWgmmaResult:
      return "%0: tile<8xf32>";
    case Opcode::kRegisters:
    case Opcode::kElement:
      return "%0: tile<2xf32>";
    case Opcode::kSharedLoad:
      return "%0: i32, %1: tile<4xi32>";
    case Opcode::kSharedStore:
      return "%0: i32, %1: tile<4xi32>, %2: tile<4xf32>";
    case Opcode::kSharedAtomic:
      return "%0: i32, %1: tile<4xi32>, %2: tile<4xi32>";
    case Opcode::kMatrixLoad:
      return "%0: i32, %1: tile<2xi32>";
    case Opcode::kMma:
      return "%0: tile<2xf16>, %1: tile<2xf16>, %2: tile<2xf32>";
    case Opcode::kPrint:
      return "%0: i1, %1: f32, %2: i32";
    case Opcode::kCooperative:
      return "%0: ptr<f16>, %1: ptr<f16>, %2: i32, %3: i32, %4: i32, %5: i32, %6: i32, %7: i32";
    case Opcode::kCooperativeMultiply:
      return "%0: ptr<f16>, %1: ptr<f16>, %2: f32, %3: i32, %4: i32, %5: i32, %6: i32";
    case Opcode::kCooperativePart:
      return "%0: f32, %1: i32";
    case Opcode::kNeg:
    case Opcode::kExp:
    case Opcode::kExp2:
    case Opcode::kLog:
    case Opcode::kLog2:
    case Opcode::kSqrt:
    case Opcode::kSqrtRn:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTanh:
    case Opcode::kErf:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kCast:
    case Opcode::kBitcast:
    case Opcode::kSplat:
    case Opcode::kDevicePrint:
    case Opcode::kShuffleXor:
    case Opcode::kShuffle:
    case Opcode::kWarpReduce:
      return "%0: f32";
    case Opcode::kNot:
    case Opcode::kAbs:
    case Opcode::kHint:
    case Opcode::kWhile:
      return "%0: i32";
    case Opcode::kDivRn:
    case Opcode::kMin:
    case Opcode::kMax:
      return "%0: f32, %1: f32";
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kEq:
    case Opcode::kNe:
    case Opcode::kLt:
    case Opcode::kLe:
    case Opcode::kGt:
    case Opcode::kGe:
      return "%0: i32, %1: i32";
    case Opcode::kUMulHi:
      return "%0: u32, %1: u32";
    case Opcode::kSelect:
      return "%0: f32, %1: f32, %2: i1";
    case Opcode::kFma:
      return "%0: f32, %1: f32, %2: f32";
    case Opcode::kAddPtr:
      return "%0: ptr<f32>, %1: i32";
    case Opcode::kBroadcast:
      return "%0: tile<8x1xf32>";
    case Opcode::kExpandDims:
    case Opcode::kReshape:
    case Opcode::kScan:
      return "%0: tile<8xf32>";
    case Opcode::kTranspose:
    case Opcode::kReduce:
      return "%0: tile<8x4xf32>";
    case Opcode::kDot:
      return "%0: tile<16x8xf16>, %1: tile<8x16xf16>, %2: tile<16x16xf32>";
    case Opcode::kLoad:
      return "%0: tile<8xptr<f32>>, %1: tile<8xi1>";
    case Opcode::kStore:
      return "%0: tile<8xptr<f32>>, %1: tile<8xf32>, %2: tile<8xi1>";
    case Opcode::kAtomicRmw:
      return "%0: tile<8xptr<f32>>, %1: tile<8xf32>";
    case Opcode::kAtomicCas:
      return "%0: ptr<i32>, %1: i32, %2: i32";
    case Opcode::kMakeDescriptor:
      return "%0: ptr<f16>, %1: i32, %2: i32, %3: i32, %4: i32";
    case Opcode::kDescriptorLoad:
      return "%0: desc<16x16xf16>, %1: i32, %2: i32";
    case Opcode::kDescriptorStore:
      return "%0: desc<16x16xf16>, %1: tile<16x16xf16>, %2: i32, %3: i32";
    case Opcode::kFor:
      return "%0: i32, %1: i32, %2: i32, %3: f32";
    case Opcode::kIf:
    case Opcode::kDeviceAssert:
    case Opcode::kAssume:
      return "%0: i1";
    case Opcode::kYield:
    case Opcode::kPack:
      return "%0: f32, %1: f32";
  }
  return "";
}

// The example as a whole kernel; parameters stand for its operands whatever their type.
std::string kernel_of_example(const OpRecord& record) {
  std::string body(record.example);
  switch (record.opcode) {
    case Opcode::kFor:
    case Opcode::kIf: {
      body += " yield " + std::string(record.opcode == Opcode::kFor ? "%x" : "%c") + " }";
      if (record.opcode == Opcode::kIf)
        body = "%c = constant 1.0 : f32\n" + body + " else { yield %c }";
      break;
    }
    case Opcode::kWhile:
      body += " %b = constant true : i1 yield %b } do (%y) { yield %y }";
      break;
    case Opcode::kYield:
      body = "%b = constant true : i1 %c = if %b : (f32) { yield %0 } else { yield %1 }";
      break;
    default:
      break;
  }
  return "kernel @k(" + operands_of_example(record.opcode) +
         ") {num_warps = 4, math_mode = relaxed} {\n" + body + "\n}\n";
}

TEST(Parser, every_example_of_the_table_survives_a_round_trip) {
  for (const OpRecord& record : kOps) {
    SCOPED_TRACE(record.example);
    std::unique_ptr<Function> function;
    ASSERT_NO_THROW(function = parse(kernel_of_example(record)));
    std::string text = print(*function);
    EXPECT_EQ(print(*parse(text)), text);
    if (record.op_class != OpClass::kControl) {
      std::string example(record.example);
      EXPECT_NE(text.find(example.substr(example.find("= ") + 1)), std::string::npos) << text;
    }
    for (const std::string& error : verify(*function))
      EXPECT_NE(error.find("parameter"), std::string::npos) << error;  // tiles are no parameters
  }
}

constexpr std::string_view kSoftmax =
    R"(kernel @softmax(%x: ptr<f16> {aligned_16}, %y: ptr<f32>, %n: i32 {divisible_by_16}) {num_warps = 8, math_mode = precise, arrays_disjoint} {
  %row = program_id {axis = 0} : i32
  %0 = arange {start = 0} : tile<64xi32>
  %1 = splat %n : i32 -> tile<64xi32>
  %mask = lt %0, %1 : tile<64xi32>
  %2 = mul %row, %n : i32
  %3 = addptr %x, %2 : ptr<f16>, i32
  %4 = splat %3 : ptr<f16> -> tile<64xptr<f16>>
  %5 = addptr %4, %0 : tile<64xptr<f16>>, tile<64xi32>
  %6 = constant -inf : tile<64xf16>
  %7 = load %5, mask = %mask, other = %6 {cache_modifier = ".cg"} : tile<64xptr<f16>>
  %8 = cast %7 : tile<64xf16> -> tile<64xf32>
  %9 = reduce %8 {combine = custom, axis = 0} : tile<64xf32> -> f32 (%10, %11) {
    %12 = max %10, %11 : f32
    yield %12
  }
  %13, %14 = reduce %8 {combine = argmax, axis = 0} : tile<64xf32> -> f32, i32
  %15 = constant 0 : i32
  %16 = constant 1 : i32
  %acc = for %i = %15 to %n step %16 {num_stages = 3} carry (%acc.1 = %9) : (f32) {
    %17 = eq %i, %14 : i32
    %18 = if %17 : (f32) {
      yield %acc.1
    } else {
      %19 = add %acc.1, %13 : f32
      yield %19
    }
    yield %18
  }
  %20 = while carry (%21 = %15) : (i32) {
    %22 = lt %21, %n : i32
    yield %22
  } do (%23) {
    %24 = add %23, %16 : i32
    yield %24
  }
  %25 = gt %20, %15 : i32
  if %25 {
    device_print %acc {text = "a \"b\"\n"}
    yield
  }
  store %y, %acc : ptr<f32>
}
)";

TEST(Parser, a_whole_kernel_survives_a_round_trip) {
  std::unique_ptr<Function> function = parse(kSoftmax);
  EXPECT_EQ(print(*function), kSoftmax);
  EXPECT_EQ(verify(*function), std::vector<std::string>());
}

std::string error_of(std::string_view body) {
  try {
    parse("kernel @k(%n: i32) {num_warps = 4, math_mode = relaxed} {\n" + std::string(body) +
          "\n}");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(Parser, errors_name_the_place) {
  EXPECT_EQ(error_of("  %0 = frob %n : i32"), "2:12: no operation is named `frob`");
  EXPECT_EQ(error_of("  %0 = neg %m : i32"), "2:14: `%m` is not defined");
  EXPECT_EQ(error_of("  %0 = neg %n : f32"), "2:20: operand `a` has type i32, not f32");
  EXPECT_EQ(error_of("  %n = neg %n : i32"), "2:20: `%n` is defined twice");
  EXPECT_EQ(error_of("  %0 = constant 300 : i8"), "2:25: `300` is no i8");
  EXPECT_EQ(error_of("  %0 = splat %n : i32 -> tile<axi32>"),
            "2:25: expected a type, found `tile<axi32>`");
}

TEST(Parser, constants_of_every_dtype_keep_their_bits) {
  for (const DTypeInfo& dtype : kDTypes) {
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      uint64_t bits = seed * 0x9E3779B97F4A7C15u;
      int width = bit_width(dtype.dtype);
      if (width < 64) bits &= (uint64_t{1} << width) - 1;
      std::string text = "kernel @k() {num_warps = 4, math_mode = relaxed} {\n  %0 = constant " +
                         constant_text(dtype.dtype, bits) + " : " + std::string(dtype.text_name) +
                         "\n}\n";
      std::unique_ptr<Function> function = parse(text);
      int64_t read = function->body().front()->integer(AttributeName::kBits);
      ASSERT_EQ(static_cast<uint64_t>(read), bits) << text;
    }
  }
}

}  // namespace
}  // namespace enceladus::ir

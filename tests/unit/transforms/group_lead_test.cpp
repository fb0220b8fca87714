// Who of two groups waits where (group_lead.h): what the pass decides for loops of any length is
// evaluated, and played through by two groups, a ring and a producer.
#include "transforms/group_lead.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "tile_evaluator.h"

namespace enceladus::transforms {
namespace {

constexpr int kTiles = 3;

std::string matmul(int slots, const std::string& step) {
  return R"(kernel @k(%out: ptr<f32>, %start: i32, %end: i32) {num_warps = 8, math_mode = relaxed} {
  %step = constant )" +
         step + R"( : i32
  %ring = ring {slots = )" +
         std::to_string(slots) + R"(, bytes = 8192, readers = 2} : i32
  %none = undefined : tile<32xf32>
  %sum = for %k = %start to %end step %step carry (%acc = %none) : (tile<32xf32>) {
    %slot = ring_take %ring : i32
    pace {role = "meet"}
    %next = wgmma %slot, %slot, acc = %acc {shape = [64, 64, 16], input = "f16", a_place = [0, 32, 16, 256, 32, 1, 0, 2048], b_place = [0, 32, 16, 256, 32, 1, 0, 2048]} : i32, tile<32xf32> -> tile<32xf32>
    wgmma_wait {pending = 0}
    ring_free %ring, %slot
    yield %next
  }
  wgmma_wait {pending = 0}
  %done = wgmma_result %sum : tile<32xf32>
}
)";
}

struct Paces {
  bool meets = false, follows = false, leads = false;
};

// What each turn of the loop does; the lead, which comes behind it, in the last one.
std::vector<Paces> turns(const ir::Function& function, int64_t start, int64_t end) {
  std::map<const ir::Value*, std::string> roles;  // by the condition of a branch
  const ir::Value* index = nullptr;
  ir::walk(function.body(), [&](const ir::Operation* op) {
    if (op->is(ir::Opcode::kFor)) index = op->region(0)->argument(0);
    if (op->is(ir::Opcode::kPace))
      roles[op->parent_operation()->operand(0)] = op->text(ir::AttributeName::kRole);
  });
  std::vector<Paces> found;
  bool leads = false;
  testing::TileEvaluator evaluator(function, {});
  evaluator.observe = [&](const ir::Value* value, const testing::Tile& tile) {
    if (value == index) found.emplace_back();
    auto role = roles.find(value);
    if (role == roles.end()) return;
    bool is_true = tile[0].bits != 0;
    (role->second == "lead"   ? leads
     : role->second == "meet" ? found.back().meets
                              : found.back().follows) = is_true;
  };
  evaluator.run({0, start, end});
  found.back().leads = leads;
  return found;
}

// A group on its way through the turns of several tiles.
struct Group {
  int taken = 0, freed = 0, step = 0;
  bool waits = false;  // at a meeting
};

class Play {
 public:
  Play(std::vector<Paces> turns, int slots) : turns_(std::move(turns)), slots_(slots) {}

  // Whether all tiles are done when the groups' steps come in the order that the seed gives.
  bool ends(unsigned seed) {
    std::mt19937 random(seed);
    for (int idle = 0; idle < 200; ++idle) {
      bool moved = step(static_cast<int>(random() % 2));
      if (moved) idle = 0;
      if (is_done(0) && is_done(1)) return true;
    }
    return false;
  }

  int farthest = 0;        // turns that the first group was ahead
  bool overtakes = false;  // a lead came before the second group took the one before

 private:
  int count() const { return static_cast<int>(turns_.size()) * kTiles; }
  bool is_done(int number) const { return groups_[static_cast<size_t>(number)].taken == count(); }

  // One of a turn's steps, in order: the slot, meeting, following, the product and the lead.
  bool step(int number) {
    Group& group = groups_[static_cast<size_t>(number)];
    Group& other = groups_[static_cast<size_t>(1 - number)];
    if (group.taken == count()) return false;
    const Paces& turn = turns_[static_cast<size_t>(group.taken) % turns_.size()];
    switch (group.step) {
      case 0: {  // full where both have freed what was in the slot
        if (group.taken - slots_ >= std::min(group.freed, other.freed)) return false;
        break;
      }
      case 1:
        if (!turn.meets) break;
        if (!other.waits) return !std::exchange(group.waits, true);
        other.waits = false;
        ++other.step;
        break;
      case 2:
        if (!turn.follows || number == 0) break;
        if (leads_ == 0) return false;
        --leads_;
        break;
      default:
        if (turn.leads && number == 0) overtakes |= ++leads_ > 1;
        ++group.taken;
        // The product before is done; behind the loop this one is, too.
        group.freed = group.taken % static_cast<int>(turns_.size()) ? group.taken - 1 : group.taken;
        farthest = std::max(farthest, groups_[0].taken - groups_[1].taken);
        group.step = 0;
        return true;
    }
    ++group.step;
    return true;
  }

  std::vector<Paces> turns_;
  int slots_;
  std::array<Group, 2> groups_;
  int leads_ = 0;
};

TEST(GroupLead, the_groups_neither_block_each_other_nor_lose_count) {
  for (int slots : {3, 4, 6}) {
    std::unique_ptr<ir::Function> function = ir::parse(matmul(slots, "32"));
    EXPECT_TRUE(group_lead(*function));
    EXPECT_EQ(ir::verify(*function), std::vector<std::string>()) << ir::print(*function);
    for (int64_t length = 1; length < 24 * 32; length += 13) {
      std::vector<Paces> found = turns(*function, -40, length - 40);
      ASSERT_EQ(static_cast<int64_t>(found.size()), (length + 31) / 32);
      int farthest = 0;
      for (unsigned seed = 0; seed < 20; ++seed) {
        Play play(found, slots);
        ASSERT_TRUE(play.ends(seed)) << slots << " slots, length " << length << ", seed " << seed;
        EXPECT_FALSE(play.overtakes) << slots << " slots, length " << length << ", seed " << seed;
        farthest = std::max(farthest, play.farthest);
      }
      bool is_far = static_cast<int>(found.size()) > 2 * (slots - 1);
      EXPECT_EQ(farthest, is_far ? slots - 1 : 1) << slots << " slots, length " << length;
    }
  }
}

TEST(GroupLead, loops_of_unknown_or_backward_steps_and_short_rings_stay_in_step) {
  EXPECT_FALSE(group_lead(*ir::parse(matmul(2, "32"))));
  EXPECT_FALSE(group_lead(*ir::parse(matmul(4, "-32"))));
}

}  // namespace
}  // namespace enceladus::transforms

#include "support/json.h"

#include <gtest/gtest.h>

namespace enceladus {
namespace {

TEST(Json, nests_separates_and_escapes) {
  JsonWriter json;
  json.begin_object();
  json.field("name", "a \"b\" \\ \n");
  json.begin_list("rows");
  json.begin_object();
  json.field("line", 3);
  json.field("is_masked", true);
  json.end_object();
  json.begin_object();
  json.end_object();
  json.end_list();
  json.field("bytes", int64_t{1} << 40);
  json.end_object();
  EXPECT_EQ(json.text(),
            R"({"name": "a \"b\" \\ \u000a", "rows": [{"line": 3, "is_masked": true}, {}], )"
            R"("bytes": 1099511627776})");
}

}  // namespace
}  // namespace enceladus

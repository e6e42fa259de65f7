// SPDX-License-Identifier: Apache-2.0
#include "fuzz_boxes.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/error.hpp"
#include "data/box_reader.hpp"
#include "data/npy.hpp"
#include "data/npz.hpp"

namespace lossgrad::fuzz {
namespace {

constexpr std::size_t kLongestMessage = 2000;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

template <class Read>
int accepts(Read read) {
  try {
    read();
    return 1;
  } catch (const Error& error) {
    const std::string message = error.what();
    require(error.kind() == ErrorKind::data, "wrong kind of error: " + message);
    require(message.starts_with("fuzz: "), "no file name in: " + message);
    require(message.size() < kLongestMessage, "long message: " + message);
    require(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }),
            "control characters in: " + message);
    return 0;
  }
}

void require_parallel(const BoxList& list) {
  const std::size_t count = list.boxes.size();
  for (const std::size_t size :
       {list.image_ids.size(), list.category_ids.size(), list.scores.size(), list.crowd.size()}) {
    require(size == 0 || size == count, "fields of boxes are not parallel");
  }
}

}  // namespace

int read_all(std::span<const std::byte> bytes) {
  const auto source = view_memory(bytes, "fuzz");
  return accepts([&] { require_parallel(read_boxes(*source, {BoxFormat::xyxy})); }) +
         accepts([&] { read_npy(*source); }) + accepts([&] { require_parallel(read_coco_boxes(*source)); }) +
         accepts([&] {
           read_npy(*open_member(view_memory(bytes, "fuzz"), {"", "pred", {}}));
         });
}

}  // namespace lossgrad::fuzz

#ifdef LOSSGRAD_LIBFUZZER
// Names and signature are libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  lossgrad::fuzz::read_all(std::as_bytes(std::span(data, size)));
  return 0;
}
#endif

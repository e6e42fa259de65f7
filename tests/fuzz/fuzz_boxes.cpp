// SPDX-License-Identifier: Apache-2.0
// Every reader of box files: as a file whose format is recognised, as .npy, as an archive and as COCO JSON.
#include "data/box_reader.hpp"
#include "data/npy.hpp"
#include "data/npz.hpp"
#include "fuzz_target.hpp"

namespace lossgrad::fuzz {
namespace {

void require_parallel(const BoxList& list) {
  const std::size_t count = list.boxes.size();
  for (const std::size_t size :
       {list.image_ids.size(), list.category_ids.size(), list.scores.size(), list.crowd.size()}) {
    require(size == 0 || size == count, "fields of boxes are not parallel");
  }
}

}  // namespace

int run_case(std::span<const std::byte> bytes) {
  const auto source = view_memory(bytes, "fuzz");
  const auto accepted = [](const std::function<void()>& read) {
    return accepts(ErrorKind::data, "fuzz: ", read);
  };
  return accepted([&] { require_parallel(read_boxes(*source, {BoxFormat::xyxy})); }) +
         accepted([&] { read_npy(*source); }) +
         accepted([&] { require_parallel(read_coco_boxes(*source)); }) + accepted([&] {
           read_npy(*open_member(view_memory(bytes, "fuzz"), {"", "pred", {}}));
         });
}

}  // namespace lossgrad::fuzz

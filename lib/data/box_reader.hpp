// SPDX-License-Identifier: Apache-2.0
// The readers behind read_boxes, over any source of bytes. All throw ErrorKind::data: path, position, what
// was found, what was expected.
#pragma once

#include "data/boxes.hpp"
#include "data/byte_source.hpp"

namespace lossgrad {

// As read_boxes(path, options).
BoxList read_boxes(ByteSource& source, const BoxReadOptions& options);

// [N,4] or [4,N] of floats or integers; [4,4] is taken as [4,N].
BoxList read_npy_boxes(ByteSource& source, BoxFormat format);

// COCO JSON: an object with `annotations`, or a list of detection results. Either way each entry has a `bbox`
// of four numbers: left, top, width, height in pixels. Where one entry has `image_id`, `category_id` or
// `score`, all have it. An `image_id` may be a string of digits. Unknown keys are passed over. A repeated key
// that is read here is rejected. Containers nest at most 100 deep. Nothing is kept but the boxes: memory does
// not grow with polygons.
BoxList read_coco_boxes(ByteSource& source);

}  // namespace lossgrad

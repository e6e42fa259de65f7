// SPDX-License-Identifier: Apache-2.0
// .npz archives: written and read back, samples of other programs, and hostile ones made here byte by byte.
#include "data/npz.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "data/boxes.hpp"
#include "data/npy.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

namespace lossgrad {
namespace {

using test::data_error;
using test::sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

// One stored member, and what its headers say of it.
struct Member {
  std::string name;
  std::string data;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t packed = 0;
  std::uint32_t size = 0;
};

Member member(const std::string& name, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  return {name, data, 0, 0, crc32_of(data), size, size};
}

void put(std::string& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i));
}

std::string fields(const Member& m) {
  std::string bytes;
  put(bytes, 20, 2), put(bytes, m.flags, 2), put(bytes, m.method, 2), put(bytes, 0x210000, 4);
  put(bytes, m.crc, 4), put(bytes, m.packed, 4), put(bytes, m.size, 4);
  put(bytes, m.name.size(), 2), put(bytes, 0, 2);
  return bytes;
}

std::string zip_of(const std::vector<Member>& members) {
  std::string archive, directory;
  for (const Member& m : members) {
    directory += std::string("PK\x01\x02", 4) + std::string("\x14\x00", 2) + fields(m);
    put(directory, 0, 8), put(directory, 0, 2), put(directory, archive.size(), 4);
    directory += m.name;
    archive += std::string("PK\x03\x04", 4) + fields(m) + m.name + m.data;
  }
  const std::size_t start = archive.size();
  archive += directory + std::string("PK\x05\x06", 4);
  put(archive, 0, 4), put(archive, members.size(), 2), put(archive, members.size(), 2);
  put(archive, directory.size(), 4), put(archive, start, 4), put(archive, 0, 2);
  return archive;
}

const std::vector<std::int64_t> kTwoByThree = {2, 3};
const std::vector<double> kValues = {1, -2.5, 0, 1e-3, 4096, -0.0};

std::string npy() { return npy_bytes(Dtype::f64, kTwoByThree, kValues); }

Array read_memory(const std::string& bytes, const MemberChoice& choice = {"", "pred", {}}) {
  return read_npy(*open_member(view_memory(test::bytes_of(bytes), "a.npz"), choice));
}
std::string error_in(const std::string& bytes, const MemberChoice& choice = {"", "pred", {}}) {
  return data_error([&] { read_memory(bytes, choice); });
}

TEST(Npz, WritesAndReadsEveryType) {
  const test::TemporaryFolder folder;
  const auto path = folder / "all.npz";
  std::vector<NamedArray> arrays;
  for (const Dtype dtype : kAllDtypes)
    arrays.push_back({std::string(name(dtype)), dtype, kTwoByThree, kValues});
  arrays.push_back({"odd", Dtype::f32, {3}, {HUGE_VAL, -HUGE_VAL, std::nan("")}});
  arrays.push_back({"none", Dtype::f64, {4, 0}, {}});
  write_npz(path, arrays);
  for (const Dtype dtype : kAllDtypes) {
    const Array array = read_array(path, {std::string(name(dtype)), "", {}});
    EXPECT_EQ(array.stored_type, dtype == Dtype::bf16 ? "f32" : name(dtype));
    EXPECT_EQ(array.shape, kTwoByThree);
    const Dtype stored = dtype == Dtype::bf16 ? Dtype::f32 : dtype;
    for (std::size_t i = 0; i < kValues.size(); ++i) EXPECT_EQ(array.values[i], round_to(stored, kValues[i]));
    EXPECT_TRUE(std::signbit(array.values[5]));
  }
  const Array odd = read_array(path, {"odd", "", {}});
  EXPECT_EQ(odd.values[0], HUGE_VAL);
  EXPECT_EQ(odd.values[1], -HUGE_VAL);
  EXPECT_TRUE(std::isnan(odd.values[2]));
  EXPECT_EQ(read_array(path, {"none", "", {}}).shape, (std::vector<std::int64_t>{4, 0}));
  const std::string first = read_file(path);
  write_npz(path, arrays);
  EXPECT_EQ(read_file(path), first);
}

TEST(Npz, WritingFailsWithThePath) {
  const NamedArray array{"x", Dtype::f64, {1}, {1}};
  EXPECT_THAT(data_error([&] { write_npz("/proc/none/a.npz", std::span(&array, 1)); }),
              StartsWith("/proc/none/a.npz: "));
}

TEST(Npz, SamplesHoldTheSameNumbersAsTheirPlainFiles) {
  for (const char* argument : {"pred", "target"}) {
    const Array plain = read_npy(sample("pairs/" + std::string(argument) + "_cxcywh_4xN_f32.npy"));
    for (const char* stored : {"stored", "deflated"}) {
      const auto path = sample("pairs/pairs_cxcywh_4xN_f32_" + std::string(stored) + ".npz");
      const Array array = read_array(path, {"", argument, {}});
      EXPECT_EQ(array.values, plain.values);
      EXPECT_EQ(array.shape, plain.shape);
      EXPECT_EQ(read_boxes(path, {{}, {"", argument, {}}}).boxes.size(), 651u);
    }
  }
  const Array x1 = read_array(sample("embeddings/cities_pairs.npz"), {"", "x1", {}});
  EXPECT_EQ(x1.values, read_npy(sample("embeddings/cities_x1_f32.npy")).values);
  const Array plus = read_array(sample("npy/two_vectors_i64.npz"), {"x_plus_one", "y", {}});
  EXPECT_THAT(plus.values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(Npz, ChoosesTheMember) {
  const std::string two =
      zip_of({member("pred.npy", npy()), member("other.npy", npy_bytes(Dtype::f64, {}, {{7.0}}))});
  EXPECT_EQ(read_memory(two).values, kValues);
  EXPECT_THAT(read_memory(two, {"other", "pred", {}}).values, ElementsAre(7));
  EXPECT_THAT(read_memory(two, {"other.npy", "pred", {}}).values, ElementsAre(7));
  EXPECT_EQ(error_in(two, {"", "target", {}}),
            "a.npz: no array 'target', found 'pred', 'other'; FILE.npz:NAME takes another one");
  EXPECT_EQ(error_in(two, {"third", "target", {}}), "a.npz: no array 'third', found 'pred', 'other'");
  const std::string one = zip_of({member("arr_0.npy", npy())});
  EXPECT_EQ(read_memory(one).values, kValues);
  // The only array, but made for another argument.
  const std::string target = zip_of({member("target.npy", npy())});
  EXPECT_THAT(error_in(target, {"", "pred", {"target"}}), HasSubstr("no array 'pred', found 'target'"));
  EXPECT_EQ(read_memory(target, {"target", "pred", {"target"}}).values, kValues);
}

TEST(Npz, PlacesNameFileAndMember) {
  const auto place = [](const std::string& text) {
    const ArrayPlace found = array_place(text);
    return found.file.string() + "|" + found.member;
  };
  EXPECT_EQ(place("a/b.npz:pred"), "a/b.npz|pred");
  EXPECT_EQ(place("a/b.npz"), "a/b.npz|");
  EXPECT_EQ(place("a/b.npz:"), "a/b.npz:|");
  EXPECT_EQ(place("C:x.npy"), "C:x.npy|");
  EXPECT_EQ(place("a.npz:b.npz:c"), "a.npz:b.npz|c");
  const test::TemporaryFolder folder;
  const std::string whole = (folder / "odd.npz:pred").string();
  write_file_atomically(whole, "x");
  EXPECT_EQ(place(whole), whole + "|");
}

TEST(Npz, MembersOfPlainFilesAreAnError) {
  const auto path = sample("pairs/pred_cxcywh_4xN_f32.npy");
  EXPECT_EQ(data_error([&] {
              read_array(path, {"pred", "pred", {}});
            }),
            path.string() + ": is no .npz archive, so it has no array 'pred'");
}

TEST(HostileNpz, Truncated) {
  const std::string whole = zip_of({member("pred.npy", npy())});
  for (std::size_t size = 4; size < whole.size(); ++size)
    EXPECT_THAT(error_in(whole.substr(0, size)), StartsWith("a.npz: ")) << size;
}

TEST(HostileNpz, Checksum) {
  Member wrong = member("pred.npy", npy());
  wrong.data.back() = '\x01';
  EXPECT_EQ(error_in(zip_of({wrong})), "a.npz: array 'pred': the checksum of its data is wrong");
}

TEST(HostileNpz, EncryptedOrUnknownMethod) {
  Member locked = member("pred.npy", npy());
  locked.flags = 1;
  EXPECT_EQ(error_in(zip_of({locked})), "a.npz: array 'pred': is encrypted, a plain member is expected");
  Member packed = member("pred.npy", npy());
  packed.method = 12;
  EXPECT_EQ(error_in(zip_of({packed})),
            "a.npz: array 'pred': is compressed by method 12, stored or deflated is expected");
  packed.method = 8;  // said to be deflated, but stored
  EXPECT_THAT(error_in(zip_of({packed})), StartsWith("a.npz: array 'pred': "));
}

TEST(HostileNpz, Duplicates) {
  const std::string twice = "a.npz: the array 'pred' is in the archive twice, once is expected";
  EXPECT_EQ(error_in(zip_of({member("pred.npy", npy()), member("pred.npy", npy())})), twice);
  EXPECT_EQ(error_in(zip_of({member("pred.npy", npy()), member("pred", npy())})), twice);
  // Of another name: not looked at.
  const std::string others = zip_of({member("x.npy", ""), member("x.npy", ""), member("pred.npy", npy())});
  EXPECT_EQ(read_memory(others).values, kValues);
}

TEST(HostileNpz, PathsAsNamesAreNamesAlone) {
  const test::TemporaryFolder folder;
  for (const std::string& odd :
       {std::string("../pred"), (folder / "pred").string(), std::string("a\x1b[31m\nb")}) {
    const std::string archive = zip_of({member(odd + ".npy", npy()), member("second.npy", npy())});
    EXPECT_EQ(read_memory(archive, {odd, "", {}}).values, kValues);
    const std::string message = error_in(archive);
    EXPECT_THAT(message, StartsWith("a.npz: no array 'pred'"));
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder / "pred.npy"));
  }
  EXPECT_FALSE(std::filesystem::exists("../pred.npy"));
}

TEST(HostileNpz, NotAnArray) {
  EXPECT_EQ(error_in(zip_of({member("pred.npy", "GIF89a and more")})),
            "a.npz: array 'pred': byte 0: not a .npy file, expected the bytes 93 'NUMPY'");
  EXPECT_EQ(error_in(zip_of({member("pred.npy", "")})), "a.npz: array 'pred': empty file, not a .npy file");
  EXPECT_THAT(error_in(zip_of({})), StartsWith("a.npz: "));
}

TEST(HostileNpz, PromisedSizes) {
  Member longer = member("pred.npy", npy());
  longer.size = 0xf0000000;
  EXPECT_THAT(error_in(zip_of({longer})), HasSubstr("4026531840 bytes promised"));
  longer.packed = 0xf0000000;
  EXPECT_THAT(error_in(zip_of({longer})), StartsWith("a.npz: "));
  Member deflated = member("pred.npy", npy());
  deflated.method = 8;
  deflated.size = 0xf0000000;
  EXPECT_THAT(error_in(zip_of({deflated})),
              HasSubstr("4026531840 bytes promised, 176 packed bytes hold at most"));
  Member shorter = member("pred.npy", npy());
  shorter.size -= 8;
  EXPECT_THAT(error_in(zip_of({shorter})), StartsWith("a.npz: "));
}

TEST(HostileNpz, SampleFiles) {
  const auto error = [](const std::string& file, const MemberChoice& choice) {
    const auto path = sample("malformed/" + file);
    const std::string message = data_error([&] { read_boxes(path, {{}, choice}); });
    return message.starts_with(path.string()) ? message.substr(path.string().size()) : message;
  };
  EXPECT_EQ(
      error("npz_bomb.npz", {"", "pred", {"target"}}),
      ": array 'pred': byte 128: the header promises 536870912 data bytes (f32 [4, 33554432]), 134217728 "
      "found");
  EXPECT_EQ(error("npz_missing_array.npz", {"", "target", {"pred"}}),
            ": no array 'target', found 'pred'; FILE.npz:NAME takes another one");
  EXPECT_EQ(error("npz_missing_array.npz", {"", "pred", {"target"}}), "no error");
  EXPECT_EQ(error("npz_bad_checksum.npz", {"", "pred", {"target"}}),
            ": array 'pred': the checksum of its data is wrong");
}

}  // namespace
}  // namespace lossgrad

// SPDX-License-Identifier: Apache-2.0
#include "data/npy.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_npy.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

namespace lossgrad {
namespace {

using test::bytes_of;
using test::data_error;
using test::dict_of;
using test::read_error;
using test::with_header;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

void put(std::string& out, std::uint64_t bits, int size, bool big_endian) {
  for (int i = 0; i < size; ++i) out += static_cast<char>(bits >> (8 * (big_endian ? size - 1 - i : i)));
}

// binary16 of the small numbers k/8 with |k| < 256, by their definition.
std::uint16_t half_of(int eighths) {
  if (eighths == 0) return 0;
  const int magnitude = std::abs(eighths);
  int exponent = 0;
  while ((magnitude >> (exponent + 1)) != 0) ++exponent;
  const int fraction = (magnitude << (10 - exponent)) & 0x3ff;
  return static_cast<std::uint16_t>((eighths < 0 ? 0x8000 : 0) | ((exponent - 3 + 15) << 10) | fraction);
}

struct StoredType {
  std::string code;         // f4, i2 ...
  std::string stored_type;  // as the library names it
  int size;
};

const std::vector<StoredType> kTypes = {{"f2", "f16", 2}, {"f4", "f32", 4}, {"f8", "f64", 8},
                                        {"i1", "i8", 1},  {"i2", "i16", 2}, {"i4", "i32", 4},
                                        {"i8", "i64", 8}, {"u1", "u8", 1},  {"u2", "u16", 2},
                                        {"u4", "u32", 4}, {"u8", "u64", 8}, {"b1", "bool", 1}};

// The value that every type can hold for the integer k in 0..127, and its bits.
double value_of(const StoredType& type, int k) {
  if (type.code == "b1") return k % 2;
  if (type.code[0] == 'f') return (k - 64) / 8.0;
  return type.code[0] == 'i' ? k - 64 : k;
}

std::uint64_t bits_of(const StoredType& type, int k) {
  const double value = value_of(type, k);
  if (type.code == "f2") return half_of(k - 64);
  if (type.code == "f4") return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type.code == "f8") return std::bit_cast<std::uint64_t>(value);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

struct Shape {
  std::string text;
  std::vector<std::int64_t> sizes;
};

const std::vector<Shape> kShapes = {
    {"()", {}},
    {"(3,)", {3}},
    {"(0,)", {0}},
    {"(4, 5)", {4, 5}},
    {"(5,4)", {5, 4}},
    {"(4, 0)", {4, 0}},
    {"(0, 9223372036854775807, 9223372036854775807)",
     {0, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()}},
    {"(2, 1, 3, 1, 2)", {2, 1, 3, 1, 2}},
    {"( 2 , 3 , 4 , )", {2, 3, 4}}};

// Place in C order of the element with the given place in Fortran order, by the definition of both.
std::size_t c_place(const std::vector<std::int64_t>& sizes, std::size_t fortran_place) {
  std::vector<std::size_t> index;
  for (const std::int64_t size : sizes) {
    index.push_back(fortran_place % static_cast<std::size_t>(size));
    fortran_place /= static_cast<std::size_t>(size);
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    place = place * static_cast<std::size_t>(sizes[i]) + index[i];
  return place;
}

void expect_round_trip(const StoredType& type, const Shape& shape, bool big_endian, bool fortran,
                       int version) {
  std::size_t count = 1;
  for (const std::int64_t size : shape.sizes)
    count *= size == 0 || count == 0 ? 0 : static_cast<std::size_t>(size);
  std::mt19937 random(static_cast<unsigned>(version + 10 * type.size));
  std::string data;
  std::vector<double> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int k = static_cast<int>(random() % 128);
    put(data, bits_of(type, k), type.size, big_endian);
    expected[fortran ? c_place(shape.sizes, i) : i] = value_of(type, k);
  }
  const std::string mark = type.size == 1 ? "|" : big_endian ? ">" : "<";
  const std::string file = with_header(version, dict_of(mark + type.code, fortran, shape.text), data);
  SCOPED_TRACE(file.substr(12, 80));
  const Array array = parse_npy(bytes_of(file), "made.npy");
  EXPECT_EQ(array.source, "made.npy");
  EXPECT_EQ(array.stored_type, type.stored_type);
  EXPECT_EQ(array.shape, shape.sizes);
  EXPECT_EQ(array.values, expected);
}

TEST(Npy, ReadsEveryTypeOrderVersionAndShape) {
  for (const StoredType& type : kTypes) {
    for (const Shape& shape : kShapes) {
      for (int choice = 0; choice < 12; ++choice) {
        expect_round_trip(type, shape, (choice & 1) != 0, (choice & 2) != 0, 1 + choice / 4);
      }
    }
  }
}

Array read_one(const std::string& dict, std::string_view data) {
  return parse_npy(bytes_of(with_header(1, dict, data)), "x.npy");
}

TEST(Npy, KeepsSpecialValues) {
  std::string data;
  for (const std::uint32_t bits :
       {0x7fc00000u, 0x7f800000u, 0xff800000u, 0x80000000u, 0x00000001u, 0x7f7fffffu}) {
    put(data, bits, 4, false);
  }
  const Array array = read_one(dict_of("<f4", false, "(6,)"), data);
  EXPECT_TRUE(std::isnan(array.values[0]));
  EXPECT_EQ(array.values[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(array.values[2], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(array.values[3] == 0 && std::signbit(array.values[3]));
  EXPECT_EQ(array.values[4], 0x1p-149);
  EXPECT_EQ(array.values[5], 0x1.fffffep127);
}

TEST(Npy, TakesTheWholeRangeOfHalf) {
  std::string data;
  for (const unsigned bits : {0x0001u, 0x03ffu, 0x0400u, 0x3c01u, 0x7bffu, 0x7c00u, 0xfc00u, 0x8000u})
    put(data, bits, 2, true);
  const Array array = read_one(dict_of(">f2", false, "(8,)"), data);
  EXPECT_THAT(array.values,
              ElementsAre(0x1p-24, 0x3ffp-24, 0x1p-14, 1 + 0x1p-10, 65504, HUGE_VAL, -HUGE_VAL, -0.0));
}

TEST(Npy, RejectsIntegersThatDoubleCannotHold) {
  const auto read = [](const std::string& descr, std::uint64_t bits) {
    std::string data(8, '\0');
    put(data, bits, 8, false);
    return read_error(with_header(1, dict_of(descr, false, "(2,)"), data));
  };
  const std::string expected =
      "x.npy: byte 136: element 1 (%) is an integer that double cannot hold, expected one that it holds "
      "exactly";
  const auto message = [&](const std::string& type) {
    return std::string(expected).replace(expected.find('%'), 1, type);
  };
  EXPECT_EQ(read("<u8", (1ull << 53) + 1), message("u64"));
  EXPECT_EQ(read("<u8", ~0ull), message("u64"));
  EXPECT_EQ(read("<i8", ~(1ull << 53)), message("i64"));
  EXPECT_EQ(read("<i8", ~0ull >> 1), message("i64"));
  EXPECT_EQ(read("<u8", 1ull << 53), "no error");
  EXPECT_EQ(read("<u8", 1ull << 63), "no error");
  EXPECT_EQ(read("<i8", 1ull << 63), "no error");
}

TEST(Npy, TakesTheHeaderThatPythonCouldWrite) {
  const std::string data(12, '\1');
  EXPECT_EQ(read_one("{'shape':(3,),'fortran_order':False,'descr':'<i4'}", data).shape,
            std::vector<std::int64_t>{3});
  EXPECT_EQ(read_one("{ \"descr\" : \"<i4\" ,\n \"shape\" : ( 3 , ) , \"fortran_order\" : True , } ", data)
                .values.size(),
            3u);
  EXPECT_EQ(read_one("{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }", data).values.size(), 3u);
  EXPECT_EQ(read_one("{'descr': '<i1', 'fortran_order': False, 'shape': (12,), }", data).stored_type, "i8");
}

TEST(Npy, RejectsEveryTruncation) {
  for (const int version : {1, 2, 3}) {
    const std::string file = with_header(version, dict_of("<f4", false, "(2, 3)"), std::string(24, '\0'));
    ASSERT_EQ(read_error(file), "no error");
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_THAT(read_error(file.substr(0, size)), StartsWith("x.npy: ")) << size;
    }
    EXPECT_EQ(read_error(file + "ab"),
              "x.npy: byte " + std::to_string(file.size()) +
                  ": 2 bytes after the array (f32 [2, 3] has 24 bytes), none expected");
  }
}

TEST(Npy, RejectsOtherVersionsAndLengths) {
  std::string file = with_header(1, dict_of("<f4", false, "(1,)"), std::string(4, '\0'));
  file[6] = 4;
  EXPECT_EQ(read_error(file), "x.npy: byte 6: version 4.0 of the .npy format, expected 1.0, 2.0 or 3.0");
  file[6] = 1;
  file[7] = 1;
  EXPECT_EQ(read_error(file), "x.npy: byte 6: version 1.1 of the .npy format, expected 1.0, 2.0 or 3.0");
  file[7] = 0;
  file[9] = '\xff';
  EXPECT_THAT(read_error(file), StartsWith("x.npy: byte 8: a header of 65398 bytes promised, 122 found"));
  EXPECT_THAT(read_error(with_header(2, std::string(1 << 20, ' '), "")),
              HasSubstr("at most 1048576 expected"));
}

// A header full of dimensions of one element must not make each step long.
TEST(Npy, ManyDimensionsOfOneElementAreCheap) {
  std::string shape = "(";
  for (int i = 0; i < 100000; ++i) shape += "1, ";
  shape += "100000)";
  const std::string file = with_header(2, dict_of("|u1", true, shape), std::string(100000, '\2'));
  const Array array = parse_npy(bytes_of(file), "x.npy");
  EXPECT_EQ(array.shape.size(), 100001u);
  EXPECT_EQ(array.values.size(), 100000u);
}

TEST(Npy, ReadsFilesLargerThanOneBlock) {
  std::string data;
  std::vector<double> expected(3 * 100003);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    put(data, i, 4, true);
    expected[i % 100003 * 3 + i / 100003] = static_cast<double>(i);
  }
  EXPECT_EQ(read_one(dict_of(">u4", true, "(100003, 3)"), data).values, expected);
}

TEST(Npy, WritesWhatItReads) {
  const test::TemporaryFolder folder;
  const std::vector<double> values = {1, -2.5, 0.1, HUGE_VAL, 65504, 1e-7};
  for (const Dtype dtype : {Dtype::f16, Dtype::f32, Dtype::f64}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{6}, {2, 3}, {1, 3, 2}}) {
      write_npy(folder / "x.npy", dtype, shape, values);
      const Array array = read_npy(folder / "x.npy");
      EXPECT_EQ(array.stored_type, name(dtype));
      EXPECT_EQ(array.shape, shape);
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(array.values[i], round_to(dtype, values[i]));
      EXPECT_EQ(std::filesystem::file_size(folder / "x.npy") % 64, 6 * size_in_bytes(dtype) % 64);
    }
  }
  EXPECT_THROW(write_npy(folder / "y.npy", Dtype::bf16, std::vector<std::int64_t>{6}, values), Error);
  EXPECT_THROW(write_npy(folder / "y.npy", Dtype::f32, std::vector<std::int64_t>{5}, values), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "y.npy"));
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  const test::TemporaryFolder folder;
  write_npy(folder / "x.npy", Dtype::f32, std::vector<std::int64_t>{4, 1}, std::vector<double>{1, 2, 3, 4});
  std::ifstream stream(folder / "x.npy", std::ios::binary);
  const std::string written((std::istreambuf_iterator<char>(stream)), {});
  std::string data;
  for (const float value : {1.0F, 2.0F, 3.0F, 4.0F}) put(data, std::bit_cast<std::uint32_t>(value), 4, false);
  EXPECT_EQ(written, with_header(1, dict_of("<f4", false, "(4, 1)"), data));
}

TEST(Npy, ReadsFilesOfOtherProgrammes) {
  const auto sample = [](const std::string& file) { return read_npy(test::sample("npy/" + file + ".npy")); };
  EXPECT_THAT(sample("int").values, ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(sample("unsignedlong").values, ElementsAre(12, 14, 16, 18, 1234321));
  EXPECT_EQ(sample("unsignedlong_fortran").values, sample("unsignedlong").values);
  EXPECT_EQ(sample("bool").stored_type, "bool");
  EXPECT_EQ(sample("bool").values, sample("bool_fortran").values);
  EXPECT_THAT(sample("double").shape, ElementsAre(3, 3, 3));
  EXPECT_EQ(sample("double").values, sample("double_fortran").values);
  EXPECT_THAT(sample("arange_i64").values, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  const Array iou = sample("iou_matrix_fortran_f64");
  EXPECT_THAT(iou.shape, ElementsAre(36, 14));
  EXPECT_EQ(*std::max_element(iou.values.begin(), iou.values.end()), 1.0000000000000009);
}

TEST(Npy, NamesWhatIsWrongWithThePath) {
  const test::TemporaryFolder folder;
  const auto error = [](const std::filesystem::path& path) { return data_error([&] { read_npy(path); }); };
  const std::string absent = (folder / "absent.npy").string();
  EXPECT_EQ(error(absent), absent + ": no such file");
  EXPECT_EQ(error("/dev/null"), "/dev/null: is not a regular file, a file on disk is expected");
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error(pipe), pipe + ": is not a regular file, a file on disk is expected");
}

TEST(Npy, NoPermissionToRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const test::TemporaryFolder folder;
  const std::filesystem::path locked = folder / "locked.npy";
  std::filesystem::copy_file(test::sample("npy/int.npy"), locked);
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  EXPECT_EQ(data_error([&] { read_npy(locked); }), locked.string() + ": permission denied");
}

}  // namespace
}  // namespace lossgrad

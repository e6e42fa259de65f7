// SPDX-License-Identifier: Apache-2.0
#include "device/binary_cache.hpp"

#include <chrono>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "temporary_folder.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;

const std::string kKey = "0123456789abcdef0123456789abcdef";
const std::string kOther = "ffffffffffffffffffffffffffffffff";

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

class BinaryCacheTest : public testing::Test {
 protected:
  void TearDown() override {
    std::error_code absent;
    fs::permissions(folder_, fs::perms::owner_all, absent);  // so that it can be removed
  }
  [[nodiscard]] fs::path entry(const std::string& key = kKey) const { return folder_ / (key + ".so"); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  void flip_byte(std::size_t at) const {
    std::fstream file(entry(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ 1));
  }

  const test::TemporaryFolder root_;
  const fs::path folder_ = root_ / "a" / "kernels";
};

TEST_F(BinaryCacheTest, FindsWhatWasStored) {
  const BinaryCache cache(folder_);
  EXPECT_FALSE(cache.find(kKey, "so"));
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  EXPECT_EQ(cache.find(kKey, "so"), bytes_of("payload"));
  EXPECT_FALSE(cache.find(kOther, "so"));
  EXPECT_FALSE(cache.find(kKey, "cubin"));
  EXPECT_EQ(BinaryCache(folder_).find(kKey, "so"), bytes_of("payload"));
}

TEST_F(BinaryCacheTest, KeepsAnEmptyPayload) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", {}));
  EXPECT_EQ(cache.find(kKey, "so"), bytes_of(""));
}

TEST_F(BinaryCacheTest, StoresPrivatelyAndBeginsWithThePayload) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  struct stat status {};
  ASSERT_EQ(::stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(entry().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(cache.find_file(kKey, "so"), entry());
  std::ifstream file(entry());
  std::string beginning(7, ' ');
  file.read(beginning.data(), 7);
  EXPECT_EQ(beginning, "payload");
}

TEST_F(BinaryCacheTest, ReplacesAnEntry) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("old")));
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("new and longer")));
  EXPECT_EQ(cache.find(kKey, "so"), bytes_of("new and longer"));
  EXPECT_EQ(files(), 1u);
}

TEST_F(BinaryCacheTest, EveryFlippedByteIsAMiss) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  const auto size = fs::file_size(entry());
  for (std::size_t at = 0; at < size; ++at) {
    ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
    flip_byte(at);
    EXPECT_FALSE(cache.find(kKey, "so")) << "byte " << at;
    EXPECT_FALSE(fs::exists(entry())) << "a damaged entry goes";
  }
}

TEST_F(BinaryCacheTest, EveryTruncationIsAMiss) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  for (auto size = fs::file_size(entry()); size-- > 0;) {
    ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
    fs::resize_file(entry(), size);
    EXPECT_FALSE(cache.find(kKey, "so")) << size << " bytes";
  }
}

TEST_F(BinaryCacheTest, ARenamedEntryIsAMiss) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  fs::rename(entry(), entry(kOther));
  EXPECT_FALSE(cache.find(kOther, "so"));
}

TEST_F(BinaryCacheTest, RejectsWhatIsNoKey) {
  const BinaryCache cache(folder_);
  EXPECT_THROW(static_cast<void>(cache.find("../../etc/passwd", "so")), Error);
  EXPECT_THROW(static_cast<void>(cache.find(kKey, "../so")), Error);
}

TEST_F(BinaryCacheTest, DoesNotUseAnEntryThatOthersMayWrite) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  fs::permissions(entry(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find(kKey, "so"));
}

TEST_F(BinaryCacheTest, DoesNotFollowALink) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  fs::rename(entry(), root_ / "elsewhere");
  fs::create_symlink(root_ / "elsewhere", entry());
  EXPECT_FALSE(cache.find(kKey, "so"));
}

TEST_F(BinaryCacheTest, DoesNotUseAFolderThatOthersMayWrite) {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::all);
  const BinaryCache cache(folder_);
  EXPECT_FALSE(cache.store(kKey, "so", bytes_of("payload")));
  EXPECT_FALSE(cache.find(kKey, "so"));
}

TEST_F(BinaryCacheTest, AFileInPlaceOfTheFolderIsNoError) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "in the way";
  const BinaryCache cache(folder_);
  EXPECT_FALSE(cache.store(kKey, "so", bytes_of("payload")));
}

TEST_F(BinaryCacheTest, NoFolderMeansNoCache) {
  const BinaryCache cache(std::nullopt);
  EXPECT_FALSE(cache.store(kKey, "so", bytes_of("payload")));
  EXPECT_FALSE(cache.find(kKey, "so"));
}

TEST_F(BinaryCacheTest, AReadOnlyFolderStillGivesItsEntries) {
  const BinaryCache cache(folder_);
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  if (::geteuid() != 0) {
    EXPECT_FALSE(cache.store(kOther, "so", bytes_of("payload")));
  }
  EXPECT_EQ(BinaryCache(folder_).find(kKey, "so"), bytes_of("payload"));
}

TEST_F(BinaryCacheTest, LeastRecentlyUsedEntriesGoFirst) {
  const std::string payload(1000, 'x');
  const BinaryCache cache(folder_, 3500);
  const auto key = [](int i) { return std::string(31, '0') + std::to_string(i); };
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(cache.store(key(i), "so", bytes_of(payload)));
    fs::last_write_time(entry(key(i)), now - std::chrono::minutes(10 - i));
  }
  ASSERT_TRUE(cache.find(key(0), "so"));  // used: now the youngest
  ASSERT_TRUE(cache.store(key(3), "so", bytes_of(payload)));
  EXPECT_TRUE(cache.find(key(0), "so"));
  EXPECT_FALSE(cache.find(key(1), "so"));
  EXPECT_TRUE(cache.find(key(2), "so"));
  EXPECT_TRUE(cache.find(key(3), "so"));
  EXPECT_FALSE(cache.store(key(4), "so", bytes_of(std::string(4000, 'x')))) << "larger than the whole cache";
}

TEST_F(BinaryCacheTest, RemovesAbandonedTemporaryFiles) {
  const BinaryCache cache(folder_);
  const fs::path old = folder_ / ".storing-abcdef";
  const fs::path young = folder_ / ".storing-ghijkl";
  std::ofstream(old) << "x";
  std::ofstream(young) << "x";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.store(kKey, "so", bytes_of("payload")));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(BinaryCacheTest, TwoProcessesAtOnceNeverSeeAPart) {
  const BinaryCache cache(folder_);
  const std::string payload(200000, 'p');
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  for (int i = 0; i < 50; ++i) cache.store(kKey, "so", bytes_of(payload));
  int wrong = 0;
  for (int i = 0; i < 50; ++i) wrong += cache.find(kKey, "so") == bytes_of(payload) ? 0 : 1;
  if (child == 0) ::_exit(wrong);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace lossgrad

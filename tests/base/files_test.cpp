// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <csignal>
#include <fstream>
#include <functional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "temporary_folder.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class FilesTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path().filename().string());
    return all;
  }

  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

void expect_data_error(const std::function<void()>& work, const fs::path& path, const std::string& what) {
  try {
    work();
    FAIL() << "no error for " << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(what));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

void expect_unreadable(const fs::path& path, const std::string& what) {
  expect_data_error([&] { (void)read_file(path); }, path, what);
}
void expect_unwritable(const fs::path& path, const std::string& what) {
  expect_data_error([&] { write_file_atomically(path, "text"); }, path, what);
}

TEST_F(FilesTest, ReadsEveryByte) {
  std::string content;
  for (int i = 0; i < 3'000'000; ++i) content += static_cast<char>(i * 7 + i / 256);
  std::ofstream(folder_ / "file", std::ios::binary) << content;
  EXPECT_EQ(read_file(folder_ / "file"), content);
  std::ofstream(folder_ / "empty");
  EXPECT_EQ(read_file(folder_ / "empty"), "");
}

TEST_F(FilesTest, ReadsWhatHasNoSizeOfItsOwn) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Name:"));
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST_F(FilesTest, ReadErrorsNameThePathAndTheReason) {
  std::ofstream(folder_ / "file") << "x";
  expect_unreadable(folder_ / "missing", "no such file");
  expect_unreadable(folder_, "is a directory");
  expect_unreadable(folder_ / "file" / "below", "a part of the path is not a folder");
  expect_unreadable(folder_ / std::string(300, 'n'), "name too long");
  fs::create_symlink("loop", folder_ / "loop");
  expect_unreadable(folder_ / "loop", "symbolic links");
}

TEST_F(FilesTest, NoPermissionToRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::ofstream(folder_ / "secret") << "x";
  fs::permissions(folder_ / "secret", fs::perms::none);
  expect_unreadable(folder_ / "secret", "permission denied");
}

TEST_F(FilesTest, WritesReplacesAndLeavesNothingElse) {
  const fs::path path = folder_ / "run.json";
  for (const std::string& content :
       {std::string("first"), std::string(2'000'000, 'x'), std::string("a\0b", 3), std::string()}) {
    write_file_atomically(path, content);
    EXPECT_EQ(read_file(path), content);
    EXPECT_THAT(names(), UnorderedElementsAre("run.json"));
  }
}

TEST_F(FilesTest, RelativePathsAreInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_file_atomically("here", "text");
  fs::current_path(before);
  EXPECT_EQ(read_file(folder_ / "here"), "text");
}

TEST_F(FilesTest, WriteErrorsNameThePathAndLeaveNothing) {
  std::ofstream(folder_ / "file") << "x";
  expect_unwritable(folder_ / "missing" / "run.json", "no such file");
  expect_unwritable(folder_, "is a directory");
  expect_unwritable(folder_ / "file" / "run.json", "a part of the path is not a folder");
  expect_unwritable(folder_ / std::string(300, 'n'), "name too long");
  EXPECT_THAT(names(), UnorderedElementsAre("file"));
  EXPECT_EQ(read_file(folder_ / "file"), "x");
}

TEST_F(FilesTest, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::ofstream(folder_ / "run.json") << "old";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  expect_unwritable(folder_ / "run.json", "permission denied");
  EXPECT_EQ(read_file(folder_ / "run.json"), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("run.json"));
}

// A limit on file sizes stands in for a full disk: the write stops in the middle.
TEST_F(FilesTest, WriteThatStopsInTheMiddleKeepsTheOldFile) {
  const fs::path path = folder_ / "run.json";
  write_file_atomically(path, "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{65536, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_data_error([&] { write_file_atomically(path, std::string(1'000'000, 'x')); }, path,
                    "cannot be written");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("run.json"));
}

TEST_F(FilesTest, FolderWithoutPlaceForNewFiles) {
  expect_unwritable("/proc/lossgrad.json", "cannot be written");
}

TEST_F(FilesTest, TriesToWriteAndLeavesNothing) {
  require_writable_atomically(folder_ / "run.json");
  EXPECT_TRUE(names().empty());
  const auto expect_refused = [](const fs::path& path, const std::string& what) {
    expect_data_error([&] { require_writable_atomically(path); }, path, what);
  };
  expect_refused("/proc/lossgrad.json", "cannot be written");
  expect_refused(folder_ / std::string(256, 'n'), "name too long");
  expect_refused(folder_, "is a directory");
  EXPECT_TRUE(names().empty());
}

TEST_F(FilesTest, ReplacedFileKeepsItsMode) {
  const fs::path path = folder_ / "run.json";
  std::ofstream(path) << "old";
  for (const mode_t mode : {0600, 0640, 0666, 0755}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file_atomically(path, "new");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
  }
}

TEST_F(FilesTest, UmaskIsRespected) {
  const mode_t before = ::umask(0);
  for (const mode_t mask : {0022, 0077, 0002, 0000}) {
    ::umask(mask);
    const fs::path path = folder_ / ("mask" + std::to_string(mask));
    write_file_atomically(path, "x");
    EXPECT_EQ(::umask(mask), mask) << "and left as it was";
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  }
  ::umask(before);
}

TEST_F(FilesTest, ExactReadsAndWritesTellWhenTheyFallShort) {
  const std::string text = "twelve bytes";
  {
    FileDescriptor file(::open((folder_ / "exact").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file.is_open());
    EXPECT_TRUE(write_exactly(file.get(), std::as_bytes(std::span(text))));
    EXPECT_TRUE(file.close());
    EXPECT_FALSE(file.is_open());
    EXPECT_FALSE(write_exactly(file.get(), std::as_bytes(std::span(text))));
  }
  const FileDescriptor file(::open((folder_ / "exact").c_str(), O_RDONLY | O_CLOEXEC));
  std::string found(text.size(), '\0');
  EXPECT_TRUE(read_exactly(file.get(), std::as_writable_bytes(std::span(found))));
  EXPECT_EQ(found, text);
  EXPECT_FALSE(read_exactly(file.get(), std::as_writable_bytes(std::span(found)))) << "the file ends";
}

// ---- the cache folder

class CacheFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : {"XDG_CACHE_HOME", "HOME"}) ::unsetenv(variable);
  }
};

TEST_F(CacheFolder, XdgFirstThenHome) {
  EXPECT_EQ(user_cache_folder(), std::nullopt);
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(user_cache_folder(), fs::path("/home/somebody/.cache/lossgrad"));
  ::setenv("XDG_CACHE_HOME", "/var/cache/somebody", 1);
  EXPECT_EQ(user_cache_folder(), fs::path("/var/cache/somebody/lossgrad"));
}

TEST_F(CacheFolder, RelativeAndEmptyValuesAreIgnored) {
  for (const char* value : {"", "relative", "./x", "~"}) {
    ::setenv("XDG_CACHE_HOME", value, 1);
    ::setenv("HOME", value, 1);
    EXPECT_EQ(user_cache_folder(), std::nullopt) << value;
  }
}

}  // namespace
}  // namespace lossgrad

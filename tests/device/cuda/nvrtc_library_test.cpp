// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_library.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.hpp"
#include "temporary_folder.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class NvrtcLibraryTest : public ::testing::Test {
 protected:
  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

NvrtcSearch search_in(const std::vector<fs::path>& toolkits, const std::vector<fs::path>& wheels) {
  NvrtcSearch search = nvrtc_search(toolkits, wheels);
  search.use_loader_path = false;
  return search;
}

Error error_of(const NvrtcSearch& search) {
  try {
    static_cast<void>(NvrtcLibrary::load(search));
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

TEST_F(NvrtcLibraryTest, NotFoundSaysWhatWasLookedForAndHowToGetIt) {
  const Error error = error_of(search_in({folder_ / "toolkit"}, {folder_ / "wheels"}));
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("NVRTC not found"), HasSubstr("libnvrtc.so.13"), HasSubstr("4 folders"),
                    HasSubstr("scripts/setup"), HasSubstr("CUDA Toolkit")));
  EXPECT_THAT(error.detail(), AllOf(HasSubstr((folder_ / "toolkit/lib64").string()),
                                    HasSubstr((folder_ / "wheels/nvidia/cu13/lib").string())));
}

TEST_F(NvrtcLibraryTest, LibraryThatDoesNotLoadIsNamed) {
  fs::create_directories(folder_ / "lib64");
  std::ofstream(folder_ / "lib64/libnvrtc.so.13") << "not a library";
  const Error error = error_of(search_in({folder_}, {}));
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("does not load"), HasSubstr((folder_ / "lib64").string())));
}

TEST_F(NvrtcLibraryTest, DefaultSearchFindsOneWithHeaders) {
  const NvrtcLibrary& library = NvrtcLibrary::instance();
  EXPECT_TRUE(fs::exists(library.path())) << library.path();
  EXPECT_THAT(library.version(), ::testing::MatchesRegex("1[2-9]\\.[0-9]+"));
  EXPECT_THAT(library.architectures(), AllOf(Contains("sm_75"), Contains("sm_90"), Contains("sm_100")));
  ASSERT_TRUE(library.include_folder().has_value());
  EXPECT_TRUE(fs::exists(*library.include_folder() / "cuda_fp16.h"));
}

// Wheels of CUDA 13 keep library and headers together; those of 12 keep them in two packages.
TEST_F(NvrtcLibraryTest, FoundInTheLayoutOfWheels) {
  const fs::path real = fs::canonical(NvrtcLibrary::instance().path());
  const std::vector<std::pair<fs::path, fs::path>> layouts = {
      {"nvidia/cu13/lib", "nvidia/cu13/include"}, {"nvidia/cuda_nvrtc/lib", "nvidia/cuda_runtime/include"}};
  int number = 0;
  for (const auto& [libraries, headers] : layouts) {
    const fs::path wheel = folder_ / std::to_string(number++);
    fs::create_directories(wheel / libraries);
    fs::create_directories((wheel / headers).parent_path());
    fs::create_symlink(real, wheel / libraries / "libnvrtc.so.12");
    fs::create_directory_symlink(LOSSGRAD_CUDA_INCLUDE_DIR, wheel / headers);
    const NvrtcLibrary library = NvrtcLibrary::load(search_in({}, {wheel}));
    EXPECT_EQ(library.version(), NvrtcLibrary::instance().version());
    EXPECT_TRUE(library.include_folder().has_value());
    EXPECT_THAT(include_folders_beside(wheel / libraries / "libnvrtc.so.12"), Contains(wheel / headers));
  }
}

TEST_F(NvrtcLibraryTest, DefaultSearchFollowsTheEnvironment) {
  const char* before = std::getenv("CUDA_HOME");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("CUDA_HOME", folder_.c_str(), 1);
  const NvrtcSearch search = default_nvrtc_search();
  ::setenv("CUDA_HOME", "relative/folders/are/ignored", 1);
  const NvrtcSearch relative = default_nvrtc_search();
  before == nullptr ? ::unsetenv("CUDA_HOME") : ::setenv("CUDA_HOME", saved.c_str(), 1);
  ASSERT_GE(search.folders.size(), 2U);
  EXPECT_EQ(search.folders[0], folder_ / "lib64");
  EXPECT_EQ(search.folders[1], folder_ / "lib");
  EXPECT_THAT(search.include_folders, Contains(folder_ / "include"));
  for (const fs::path& folder : relative.folders) EXPECT_TRUE(folder.is_absolute()) << folder;
}

}  // namespace
}  // namespace lossgrad

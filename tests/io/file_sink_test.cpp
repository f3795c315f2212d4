// SPDX-License-Identifier: Apache-2.0
// An old file is replaced by a whole new one or not at all, and keeps its permissions and the links to it.
#include <lowbit/io/file_sink.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <lowbit/io/npy.hpp>

#include "io_support.hpp"
#include "support/scratch_folder.hpp"

namespace {

using lowbit::detail::file_sink;
using lowbit::test::content_of;
using lowbit::test::scratch_folder;
using lowbit::test::write_text;
using lowbit_test::bytes_of;
using lowbit_test::io_failure;

using names = std::vector<std::string>;

TEST(file_sink, the_old_file_stays_until_the_new_one_is_whole) {
    const scratch_folder folder("sink");
    const std::string path = folder.path("w");
    write_text(path, "old");
    {
        file_sink sink("test", path);
        sink.write(bytes_of("new"));
        EXPECT_EQ(content_of(path), "old");
        sink.close();
        EXPECT_EQ(content_of(path), "new");
    }
    {
        file_sink sink("test", path);
        sink.write(bytes_of("half"));
    }
    EXPECT_EQ(content_of(path), "new");
    EXPECT_EQ(folder.files(), names{"w"});
}

TEST(file_sink, a_new_file_appears_when_it_is_whole) {
    const scratch_folder folder("sink_new");
    { file_sink sink("test", folder.path("w")); }
    EXPECT_EQ(folder.files(), names{});
    file_sink sink("test", folder.path("w"));
    sink.close();
    EXPECT_EQ(folder.files(), names{"w"});
}

TEST(file_sink, two_writers_of_one_file_do_not_mix) {
    const scratch_folder folder("sink_two");
    const std::string path = folder.path("w");
    write_text(folder.path("w.0.part"), "left behind");
    file_sink first("test", path), second("test", path);
    first.write(bytes_of("first"));
    second.write(bytes_of("second"));
    first.close();
    EXPECT_EQ(content_of(path), "first");
    second.close();
    EXPECT_EQ(content_of(path), "second");
    EXPECT_EQ(folder.files(), (names{"w", "w.0.part"}));
    EXPECT_EQ(content_of(folder.path("w.0.part")), "left behind");
}

TEST(file_sink, permissions_and_links_are_kept) {
    const scratch_folder folder("sink_links");
    const std::string path = folder.path("w"), link = folder.path("link");
    write_text(path, "old");
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    std::filesystem::create_symlink("w", link);
    file_sink sink("test", link);
    sink.write(bytes_of("new"));
    sink.close();
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(content_of(path), "new");
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(file_sink, a_write_protected_file_is_refused) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
    const scratch_folder folder("sink_protected");
    const std::string path = folder.path("w");
    write_text(path, "old");
    std::filesystem::permissions(path, std::filesystem::perms(0444));
    EXPECT_EQ(io_failure([&] { file_sink("test", path); }), "test: '" + path + "': cannot replace: Permission denied");
    EXPECT_EQ(content_of(path), "old");
}

TEST(file_sink, what_is_no_regular_file_is_written_directly) {
    {
        file_sink sink("test", "/dev/null");
        sink.write(bytes_of("nothing"));
        sink.close();
    }
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    const scratch_folder folder("sink_folder");
    EXPECT_EQ(io_failure([&] { file_sink("test", folder.path(".")); }),
              "test: '" + folder.path(".") + "': cannot create: Is a directory");
    EXPECT_EQ(io_failure([&] { file_sink("test", folder.path("no/file")); }),
              "test: '" + folder.path("no/file") + "': cannot create: No such file or directory");
}

// The disk is full after 64 KiB: the old file is still there, and nothing else.
TEST(file_sink, a_full_disk_leaves_the_old_file) {
    const scratch_folder folder("sink_full");
    const std::string path = folder.path("w.npy");
    write_text(path, "old");
    const std::vector<float> values(100000, 1.0F);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{64 * 1024, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string text =
        io_failure([&] { lowbit::write_npy(path, lowbit::matrix_view<const float>(values.data(), 100, 1000)); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, SIG_DFL);
    EXPECT_EQ(text, "lowbit::write_npy: '" + path + "': cannot write: File too large");
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(folder.files(), names{"w.npy"});
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// bench_report as people run it. Figures are computed anew here with nothing of the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/xml_check.hpp"

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct outcome {
    int code = 0;
    std::string out;
    std::string err;
};

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// A folder of the test's own, with a layer in it: w.weight.npy (24 x 80) and w.input.npy (10 x 80).
class report : public testing::Test {
  protected:
    static constexpr std::size_t n = 24, m = 10, k = 80;

    void SetUp() override {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("lowbit_report_" + std::string(info->name()) + "_" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_ / "layer");
        weights_ = values(n * k, 1);
        inputs_ = values(m * k, 2);
        write_npy("layer/w.weight.npy", weights_, n);
        write_npy("layer/w.input.npy", inputs_, m);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    /// Runs the program with these arguments of a shell.
    outcome run(const std::string& arguments, const std::string& before = "") const {
        const std::string command = "cd '" + folder_.string() + "' && " + before + " '" LOWBIT_REPORT_PROGRAM "' " +
                                    arguments + " >out.txt 2>err.txt";
        const int status = std::system(command.c_str());
        return {WEXITSTATUS(status), read(folder_ / "out.txt"), read(folder_ / "err.txt")};
    }

    json run_json(const std::string& arguments) const {
        const outcome result = run(arguments + " --json out.json");
        EXPECT_EQ(result.code, 0) << result.err;
        return json::parse(read(folder_ / "out.json"));
    }

    /// Numbers like weights: a bell of few binades, some larger ones.
    static std::vector<float> values(std::size_t count, std::uint64_t seed) {
        std::vector<float> out;
        for (std::size_t i = 0; i < count; ++i) {
            double sum = 0;
            for (int part = 0; part < 6; ++part) {
                seed = seed * 6364136223846793005U + 1442695040888963407U;
                sum += static_cast<double>(seed >> 40U) / (1 << 24) - 0.5;
            }
            out.push_back(static_cast<float>(i % 97 == 5 ? sum * 9 : sum));
        }
        return out;
    }

    void write_npy(const std::string& name, const std::vector<float>& data, std::size_t rows) const {
        std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                             std::to_string(data.size() / rows) + "), }";
        header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
        header += '\n';
        std::string text("\x93NUMPY\x01\x00", 8);
        text += static_cast<char>(header.size() & 0xFF);
        text += static_cast<char>(header.size() >> 8U);
        text += header;
        text.append(reinterpret_cast<const char*>(data.data()), data.size() * 4);
        write(folder_ / name, text);
    }

    fs::path folder_;
    std::vector<float> weights_, inputs_;
};

// ---- the formats once more, from their definitions

/// Applies restore(block of `size`) along rows of k values.
template <class Restore>
std::vector<double> by_blocks(const std::vector<float>& x, std::size_t k, std::size_t size, const Restore& restore) {
    std::vector<double> out;
    for (std::size_t row = 0; row < x.size(); row += k) {
        for (std::size_t i = 0; i < k; i += size) {
            const std::size_t end = std::min(i + size, k);
            double largest = 0;
            for (std::size_t j = i; j < end; ++j)
                largest = std::max(largest, std::fabs(static_cast<double>(x[row + j])));
            for (std::size_t j = i; j < end; ++j) out.push_back(restore(static_cast<double>(x[row + j]), largest));
        }
    }
    return out;
}

/// MXFP4, OCP floor rule: scale 2^(floor(log2 max) - 2), elements E2M1, nearest, ties to the even code.
double mxfp4(double x, double largest) {
    constexpr std::array<double, 8> grid{0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const double scale = std::ldexp(1.0, std::ilogb(largest) - 2);
    const double target = std::fabs(x) / scale;
    std::size_t best = 0;
    for (std::size_t code = 1; code < grid.size(); ++code) {
        const double mine = std::fabs(grid[code] - target), least = std::fabs(grid[best] - target);
        if (mine < least || (mine == least && code % 2 == 0)) best = code;
    }
    return std::copysign(grid[best] * scale, x);
}

/// MXINT8: x = q / 64 * 2^floor(log2 max), q to nearest even, at most 127.
double mxint8(double x, double largest) {
    const double scale = std::ldexp(1.0, std::ilogb(largest)) / 64;
    return std::clamp(std::nearbyint(x / scale), -127.0, 127.0) * scale;
}

std::vector<double> exact(const std::vector<float>& x) { return {x.begin(), x.end()}; }

std::vector<double> product(const std::vector<double>& x, const std::vector<double>& w, std::size_t k) {
    std::vector<double> y;
    for (std::size_t i = 0; i < x.size(); i += k) {
        for (std::size_t j = 0; j < w.size(); j += k) {
            double sum = 0;
            for (std::size_t e = 0; e < k; ++e) sum += x[i + e] * w[j + e];
            y.push_back(sum);
        }
    }
    return y;
}

double relative_error(const std::vector<double>& original, const std::vector<double>& restored) {
    double noise = 0, signal = 0;
    for (std::size_t i = 0; i < original.size(); ++i) {
        noise += (original[i] - restored[i]) * (original[i] - restored[i]);
        signal += original[i] * original[i];
    }
    return std::sqrt(noise / signal);
}

double decibel(double error) { return -20 * std::log10(error); }

const json& row_of(const json& rows, const std::string& format, const std::string& rule = "") {
    for (const json& row : rows) {
        if (row.at("format") == format && row.at("rule") == rule) return row;
    }
    throw std::runtime_error("no row of " + format + " " + rule);
}

TEST_F(report, figures_follow_from_their_definitions) {
    const json run = run_json("layer --no-speed --formats mxfp4,hif4,nvfp4,hif8 --rules row_scale");
    ASSERT_EQ(run.at("tensors").size(), 1U);
    const json& formats = run.at("tensors")[0].at("formats");
    const json& row = row_of(formats, "mxfp4");

    // Bits: rows of 80 values take 3 blocks of 17 bytes, 2 of 36, 5 of 9; a tensor scale is a float32.
    EXPECT_DOUBLE_EQ(row.at("bits"), 3 * 17 * 8 / 80.0);
    EXPECT_DOUBLE_EQ(row_of(formats, "hif4").at("bits"), 2 * 36 * 8 / 80.0);
    EXPECT_DOUBLE_EQ(row_of(formats, "hif8").at("bits"), 8);
    EXPECT_DOUBLE_EQ(row_of(formats, "nvfp4").at("bits"), (5 * 9 * 8 * n + 32) / double{n * k});
    EXPECT_DOUBLE_EQ(row_of(formats, "nvfp4", "row_scale").at("bits"), (5 * 9 * 8 + 32) / double{k});

    const std::vector<double> w = exact(weights_), x = exact(inputs_);
    const std::vector<double> w4 = by_blocks(weights_, k, 32, mxfp4), x4 = by_blocks(inputs_, k, 32, mxfp4);
    const std::vector<double> x8 = by_blocks(inputs_, k, 32, mxint8);
    EXPECT_NEAR(row.at("error"), relative_error(w, w4), 1e-12);
    EXPECT_NEAR(row.at("sqnr_db"), decibel(relative_error(w, w4)), 1e-9);
    EXPECT_NEAR(row.at("input_sqnr_db"), decibel(relative_error(x, x4)), 1e-9);
    double largest = 0;
    for (std::size_t i = 0; i < w.size(); ++i) largest = std::max(largest, std::fabs(w[i] - w4[i]));
    EXPECT_NEAR(row.at("max_error"), largest, 1e-12);

    // Outputs: the program's products round to float32 (2^-24), these do not.
    const std::vector<double> y = product(x, w, k);
    EXPECT_NEAR(row.at("w4a4"), relative_error(y, product(x4, w4, k)), 1e-6);
    EXPECT_NEAR(row.at("w4a8"), relative_error(y, product(x8, w4, k)), 1e-6);
    EXPECT_NEAR(row.at("weight_only"), relative_error(y, product(x, w4, k)), 1e-6);

    // The summary of one tensor is that tensor.
    const json& summary = row_of(run.at("summary"), "mxfp4");
    for (const char* key : {"bits", "sqnr_db", "error", "input_sqnr_db", "w4a4", "w4a8", "weight_only"}) {
        EXPECT_NEAR(summary.at(key), row.at(key), 1e-12) << key;
    }
}

TEST_F(report, summary_is_over_all_tensors) {
    const std::vector<float> other = values(40 * 64, 3);
    write_npy("layer/v.npy", other, 40);
    const json run = run_json("layer --no-speed --formats mxfp4");
    const json& row = run.at("summary")[0];
    const std::vector<double> restored = by_blocks(other, 64, 32, mxfp4);
    const double one = decibel(relative_error(exact(weights_), by_blocks(weights_, k, 32, mxfp4)));
    const double two = decibel(relative_error(exact(other), restored));
    EXPECT_NEAR(row.at("sqnr_db"), (one + two) / 2, 1e-9);
    EXPECT_NEAR(row.at("worst_sqnr_db"), std::min(one, two), 1e-9);
    EXPECT_DOUBLE_EQ(row.at("bits"), (24 * 3 * 17 * 8 + 40 * 2 * 17 * 8) / double{24 * 80 + 40 * 64});
    std::vector<double> all = exact(weights_), all_restored = by_blocks(weights_, k, 32, mxfp4);
    all.insert(all.end(), other.begin(), other.end());
    all_restored.insert(all_restored.end(), restored.begin(), restored.end());
    EXPECT_NEAR(row.at("error"), relative_error(all, all_restored), 1e-12);
}

TEST_F(report, speeds_have_ceilings_of_the_same_run) {
    const json run = run_json("--no-errors --quick --formats mxfp4,hif8,m2xfp_activation");
    EXPECT_TRUE(run.at("tensors").empty());
    EXPECT_TRUE(run.at("quick"));
    ASSERT_EQ(run.at("speeds").size(), 3U);
    for (const json& row : run.at("speeds")) {
        std::set<std::string> keys;
        for (const json& rate : row.at("rates")) {
            keys.insert(rate.at("key").get<std::string>());
            EXPECT_GT(rate.at("value"), 0);
            EXPECT_LE(rate.at("low"), rate.at("value"));
            EXPECT_GE(rate.at("high"), rate.at("value"));
            EXPECT_GE(rate.at("samples"), 1);
            if (!rate.at("ceiling").is_null()) {
                EXPECT_NEAR(rate.at("fraction"), double{rate.at("value")} / double{rate.at("ceiling")}, 1e-9);
            }
        }
        EXPECT_TRUE(keys.contains("quantise") && keys.contains("dequantise"));
        const bool weights = row.at("format") != "m2xfp_activation";
        for (const char* key : {"gemm_w4a4", "gemm_weight_only", "decode_w4a4", "decode_weight_only"}) {
            EXPECT_EQ(keys.contains(key), weights) << row.at("format") << " " << key;
        }
    }
}

void collect_keys(const json& value, std::set<std::string>& keys) {
    if (value.is_object()) {
        for (const auto& [key, child] : value.items()) {
            keys.insert(key);
            collect_keys(child, keys);
        }
    } else if (value.is_array()) {
        for (const json& child : value) collect_keys(child, keys);
    }
}

TEST_F(report, every_field_is_in_the_schema) {
    write_npy("layer/small.npy", {1, 2, 3}, 1);
    ASSERT_EQ(run("layer --quick --formats nvfp4 --json old.json").code, 0);
    json older = json::parse(read(folder_ / "old.json"));
    older.at("environment").at("cpu") = "another one";
    older.at("tensors")[0].at("formats")[0].at("error") = 0.5;
    write(folder_ / "old.json", older.dump());
    const json run = run_json("--from old.json --against old.json");
    EXPECT_EQ(run.at("schema"), "lowbit-report/1");
    std::set<std::string> keys;
    collect_keys(run, keys);
    const std::string schema = read(LOWBIT_REPORT_SCHEMA);
    for (const std::string& key : keys) {
        EXPECT_NE(schema.find("`" + key + "`"), std::string::npos) << key << " is not documented";
    }
    for (const char* key : {"environment", "tensors", "speeds", "summary", "skipped", "definitions", "against"}) {
        EXPECT_TRUE(run.contains(key)) << key;
    }
    for (const char* key : {"cpu", "isa", "cores", "system", "compiler", "flags", "lowbit", "commit", "date"}) {
        EXPECT_FALSE(run.at("environment").at(key).is_null()) << key;
    }
    // Each figure that a run holds has its definition.
    for (const json& rate : run.at("speeds")[0].at("rates")) {
        EXPECT_TRUE(run.at("definitions").contains(rate.at("key").get<std::string>()));
    }
    EXPECT_EQ(run.at("skipped")[0].at("name"), "small");
}

TEST_F(report, a_finished_report_can_be_written_again) {
    const outcome first =
        run("layer --quick --rules all --formats hif4,m2xfp_weight --json a.json --csv a.csv "
            "--html a.html --svg a.svg");
    ASSERT_EQ(first.code, 0) << first.err;
    const outcome second = run("--from a.json --json b.json --csv b.csv --html b.html --svg b.svg");
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(first.out.substr(first.out.find("8-bit")), second.out.substr(second.out.find("8-bit")));
    for (const char* end : {"json", "csv", "html", "svg"}) {
        EXPECT_EQ(read(folder_ / (std::string("a.") + end)), read(folder_ / (std::string("b.") + end))) << end;
    }
}

/// Fields of a line of CSV.
std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

TEST_F(report, csv_holds_the_figures_of_json) {
    const json run = run_json("layer --quick --formats mxfp4 --csv out.csv");
    std::istringstream lines(read(folder_ / "out.csv"));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_NE(read(LOWBIT_REPORT_SCHEMA).find("`" + line + "`"), std::string::npos) << line;
    std::size_t found = 0;
    while (std::getline(lines, line)) {
        const std::vector<std::string> field = fields(line);
        ASSERT_EQ(field.size(), 18U) << line;
        EXPECT_EQ(field[12], run.at("environment").at("cpu"));
        if (field[0] == "w.weight" && field[3] == "w4a8") {
            EXPECT_NEAR(std::stod(field[5]), run.at("tensors")[0].at("formats")[0].at("w4a8"), 1e-8);
            ++found;
        }
        if (field[3] == "quantise") {
            EXPECT_EQ(field[4], "GB/s");
            const json& rate = run.at("speeds")[0].at("rates")[0];
            EXPECT_NEAR(std::stod(field[5]) / double{rate.at("value")}, 1, 1e-8);
            ++found;
        }
    }
    EXPECT_EQ(found, 2U);
}

TEST_F(report, pages_are_well_formed_and_need_nothing_else) {
    const std::string name = "a<b> & \"c\", d";
    fs::rename(folder_ / "layer/w.weight.npy", folder_ / "layer" / (name + ".weight.npy"));
    fs::rename(folder_ / "layer/w.input.npy", folder_ / "layer" / (name + ".input.npy"));
    ASSERT_EQ(run("layer --quick --rules all --json now.json").code, 0);
    json older = json::parse(read(folder_ / "now.json"));
    older.at("tensors")[0].at("formats")[0].at("error") = 0.5;
    write(folder_ / "old.json", older.dump());
    const outcome result = run("--from now.json --html a.html --svg a.svg --csv a.csv --against old.json");
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* file : {"a.html", "a.svg"}) {
        const std::string text = read(folder_ / file);
        EXPECT_EQ(xml_fault(text), "") << file;
        EXPECT_NE(text.find("a&lt;b&gt; &amp; &quot;c&quot;, d"), std::string::npos) << file;
        EXPECT_NE(text.find("prefers-color-scheme: dark"), std::string::npos) << file;
        for (const char* outside : {"src=", "url(", "@import", "<link", "href=\"http"}) {
            EXPECT_EQ(text.find(outside), std::string::npos) << file << " has " << outside;
        }
    }
    const std::string page = read(folder_ / "a.html");
    for (const char* part :
         {"Bits and errors", "Speeds, and the share", "Against an older report", "Error against bits",
          "Error by tensor", "Speed against ceiling", "What each figure is", "10 log10(sum w^2"}) {
        EXPECT_NE(page.find(part), std::string::npos) << part;
    }
    EXPECT_NE(read(folder_ / "a.csv").find("\"a<b> & \"\"c\"\", d.weight\",hif4"), std::string::npos);
}

TEST_F(report, text_fits_the_terminal) {
    const outcome result = run("layer --quick --formats nvfp4,m2xfp_activation --rules four_over_six");
    ASSERT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    for (const char* part : {"w.weight", "nvfp4 four_over_six", "GMAC/s", "Gweights/s", "Ceiling: reading memory"}) {
        EXPECT_NE(result.out.find(part), std::string::npos) << part;
    }
}

TEST_F(report, marks_what_moved_beyond_noise) {
    ASSERT_EQ(run("layer --quick --formats mxfp4,hif4 --json new.json").code, 0);
    json now = json::parse(read(folder_ / "new.json"));
    // Figures without chance: spreads of 1 %, a ceiling of twice the speed.
    for (json& row : now.at("speeds")) {
        for (json& rate : row.at("rates")) {
            rate.update({{"value", 10.0}, {"low", 9.95}, {"high", 10.05}, {"ceiling", 20.0}, {"ceiling_kind", "read"}});
        }
    }
    write(folder_ / "new.json", now.dump());
    json then = now;
    auto& mxfp4_rates = then.at("speeds")[1].at("rates");
    ASSERT_EQ(then.at("speeds")[1].at("format"), "mxfp4");
    mxfp4_rates[0]["value"] = 5.0;  // quantise: now twice as fast
    mxfp4_rates[1]["value"] = 9.7;  // dequantise: 3 %, noise
    mxfp4_rates[2]["value"] = 5.0;  // the whole machine was slower
    mxfp4_rates[2]["ceiling"] = 10.0;
    mxfp4_rates[3]["value"] = 20.0;  // now half as fast, but it spread too much to tell
    mxfp4_rates[3]["low"] = 10.0;
    mxfp4_rates[3]["high"] = 30.0;
    mxfp4_rates[4]["value"] = 11.0;  // 10 % slower now
    auto& tensor_row = then.at("tensors")[0].at("formats")[0];
    const double error = tensor_row.at("w4a4");
    tensor_row["w4a4"] = error * 0.999;                               // worse now, by 0.1 %
    tensor_row["bits"] = double{tensor_row.at("bits")} * (1 + 1e-9);  // nothing
    then.at("tensors")[0].at("formats")[1]["sqnr_db"] = 1.0;          // better now
    write(folder_ / "old.json", then.dump());

    const json run = run_json("--from new.json --against old.json");
    const std::string text = read(folder_ / "out.txt");
    std::set<std::string> moved;
    for (const json& one : run.at("against").at("moved")) {
        moved.insert(one.at("tensor").get<std::string>() + "/" + one.at("format").get<std::string>() + "/" +
                     one.at("key").get<std::string>() + (one.at("better").get<bool>() ? "/better" : "/worse"));
    }
    const std::string fifth = mxfp4_rates[4].at("key");
    const std::string first = then.at("tensors")[0].at("formats")[0].at("format");
    const std::string second = then.at("tensors")[0].at("formats")[1].at("format");
    const std::set<std::string> expected{"/mxfp4/quantise/better",         "/mxfp4/" + fifth + "/worse",
                                         "/" + first + "/w4a4/worse",      "w.weight/" + first + "/w4a4/worse",
                                         "/" + second + "/sqnr_db/better", "w.weight/" + second + "/sqnr_db/better"};
    EXPECT_EQ(moved, expected);
    EXPECT_TRUE(run.at("against").at("warnings").empty()) << run.at("against").at("warnings");
    EXPECT_NE(text.find("3 better, 3 worse"), std::string::npos) << text;
    EXPECT_NE(text.find("+100 %"), std::string::npos) << text;

    // The same figures: nothing moved.
    const json same = run_json("--from new.json --against new.json");
    EXPECT_TRUE(same.at("against").at("moved").empty());
    EXPECT_GT(same.at("against").at("compared"), 20);
    // Another machine is said.
    then.at("environment").at("cpu") = "Pentium";
    write(folder_ / "old.json", then.dump());
    EXPECT_NE(this->run("--from new.json --against old.json").out.find("the CPU differs: 'Pentium' then"),
              std::string::npos);
}

TEST_F(report, wrong_arguments_are_named) {
    struct wrong {
        const char* arguments;
        int code;
        const char* text;
    };
    write(folder_ / "notes.txt", "no tensor");
    write(folder_ / "list.json", "[1, 2]");
    write(folder_ / "cut.json", "{\"schema\": \"lowbit-report/1\"");
    for (const wrong& each : std::initializer_list<wrong>{
             {"missing.npy", 1, "'missing.npy': cannot open"},
             {"notes.txt", 1, "ends in .npy, .safetensors or .safetensors.index.json is expected"},
             {"layer --formats int4", 1, "--formats 'int4': the formats are hif4"},
             {"layer --rules fancy", 1, "--rules 'fancy': the rules of these formats are"},
             {"layer --tensor none", 1, "--tensor 'none' fits no tensor"},
             {"layer --min-values 99999", 1, "too small: 1920 values, fewer than 99999 (--min-values)"},
             {"layer --against missing.json", 1, "'missing.json': cannot open"},
             {"layer --against list.json", 1, "'list.json': not a report of bench_report: its schema is not"},
             {"--from cut.json", 1, "'cut.json': not a report of bench_report"},
             {"layer --html no/such/folder.html", 1, "'no/such/folder.html': cannot write: No such file"},
             {"layer --a8 fp8", 2, "--a8"},
             {"layer --no-errors --no-speed", 2, "leave nothing to do"},
             {"layer --from out.json", 2, "--from takes no files"},
             {"layer --fast", 2, "--fast"},
             {"layer --no-errors", 2, "--no-errors takes no files"},
             {"layer --synthetic relu", 1, "--synthetic takes no files"}}) {
        const outcome result = run(each.arguments);
        EXPECT_EQ(result.code, each.code) << each.arguments;
        EXPECT_NE(result.err.find(each.text), std::string::npos) << each.arguments << ": " << result.err;
        EXPECT_EQ(result.out, "") << each.arguments;
    }
    std::istringstream help(run("--help").out);
    for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100U) << line;
    EXPECT_EQ(run("layer --list").out.substr(0, 8), "w.weight");
}

TEST_F(report, synthetic_data_and_int8_blocks) {
    const json run = run_json("--synthetic relu,outliers --rows 64 --cols 64 --no-speed --formats hif4");
    EXPECT_EQ(run.at("tensors").size(), 2U);
    EXPECT_TRUE(run.at("summary")[0].at("w4a4").is_null());
    const json other = run_json("layer --no-speed --formats hif4 --a8 int8_block");
    EXPECT_EQ(other.at("a8_format"), "int8_block");
    EXPECT_GE(other.at("summary")[0].at("w4a8"), other.at("summary")[0].at("weight_only"));
}

TEST_F(report, an_interrupted_run_keeps_what_is_done) {
    if (std::system("command -v timeout >/dev/null") != 0) GTEST_SKIP() << "no timeout program";
    const outcome result = run("layer --formats mxfp4,hif4 --json cut.json --html cut.html",
                               "timeout --foreground --preserve-status -s INT 1.5");
    if (result.code == 0) GTEST_SKIP() << "it was done before";
    EXPECT_EQ(result.code, 130) << result.err;
    const json run = json::parse(read(folder_ / "cut.json"));
    EXPECT_FALSE(run.at("complete"));
    EXPECT_EQ(run.at("tensors").size(), 1U);
    EXPECT_NE(result.out.find("Stopped before the end"), std::string::npos);
    EXPECT_EQ(xml_fault(read(folder_ / "cut.html")), "");
}

}  // namespace

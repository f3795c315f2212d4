// SPDX-License-Identifier: Apache-2.0
// The index file of a model of several files, model.safetensors.index.json: which tensor lies in which file.
//
//     {"metadata": {"total_size": 123, ...}, "weight_map": {"layers.0.weight": "model-00001-of-00002.safetensors",
//     ...}}
//
// Only "weight_map" is used, what else stands there is skipped. File names must be plain names in the directory of the
// index: a path in a model from the network must not reach other files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <lowbit/core/error.hpp>
#include <lowbit/io/byte_source.hpp>
#include <lowbit/io/safetensors_index.hpp>
#include <nlohmann/json.hpp>

namespace lowbit::detail {

/// Receives the events of nlohmann's parser and keeps the strings of the top-level object "weight_map".
class shard_map_events : public nlohmann::json_sax<nlohmann::json> {
  public:
    std::map<std::string, std::string> files;
    std::string problem;
    bool found = false;

    bool null() override { return other(); }
    bool boolean(bool) override { return other(); }
    bool number_integer(number_integer_t) override { return other(); }
    bool number_unsigned(number_unsigned_t) override { return other(); }
    bool number_float(number_float_t, const string_t&) override { return other(); }
    bool binary(binary_t&) override { return other(); }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool end_object() override { return close(); }

    bool string(string_t& value) override {
        if (!inside_) return other();
        if (value.empty() || value.size() > 255 || value.front() == '.' ||
            value.find_first_of(std::string_view("/\\:\0", 4)) != std::string::npos) {
            problem = message("'", printable(value), "' is not the plain name of a file");
            return false;
        }
        files[key_] = value;
        return true;
    }

    bool start_object(std::size_t) override {
        const bool map = depth_ == 1 && key_ == "weight_map";
        if (!open()) return false;
        if (map && found) return fail("'weight_map' stands there twice");
        inside_ = map;
        found = found || map;
        return true;
    }

    bool key(string_t& name) override {
        key_ = name;
        if (inside_ && files.find(name) != files.end()) {
            return fail(message("tensor '", printable(name), "' stands there twice"));
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
        if (problem.empty()) problem = message("no valid JSON at byte ", position);
        return false;
    }

  private:
    static constexpr unsigned most_levels = 16;

    bool fail(std::string text) {
        problem = std::move(text);
        return false;
    }
    bool other() { return !inside_ || fail(message("no file name under key '", printable(key_), "'")); }
    bool open() {
        if (inside_) return other();
        return ++depth_ <= most_levels || fail("too many levels");
    }
    bool close() {
        inside_ = false;
        --depth_;
        return true;
    }

    std::string key_;
    unsigned depth_ = 0;
    bool inside_ = false;
};

/// Tensor name -> file name. Errors: source.fail.
inline std::map<std::string, std::string> read_shard_map(byte_source& source) {
    if (source.size() > most_safetensors_header_bytes) {
        source.fail("index of ", source.size(), " bytes, more than ", most_safetensors_header_bytes);
    }
    std::string text(static_cast<std::size_t>(source.size()), '\0');
    source.read(0, std::as_writable_bytes(std::span(text)));
    shard_map_events events;
    if (!nlohmann::json::sax_parse(text, &events)) source.fail("malformed index: ", events.problem);
    if (!events.found || events.files.empty()) source.fail("malformed index: no 'weight_map' with tensors");
    return std::move(events.files);
}

}  // namespace lowbit::detail

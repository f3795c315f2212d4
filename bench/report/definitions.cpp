// SPDX-License-Identifier: Apache-2.0
#include "definitions.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace bench_report {

const std::vector<definition>& accuracy_measures() {
    static const std::vector<definition> all{
        {"bits", "bits", "bits a value", false,
         "Bits of the stored matrix over its values: codes, scales, metadata, the padding of each row up to a whole "
         "block, and tensor scales. Over several tensors: all bits over all values."},
        {"sqnr_db", "SQNR", "dB", true,
         "Signal over quantisation noise of the weights: 10 log10(sum w^2 / sum (w - w')^2), w' the restored weights, "
         "sums in double precision over all finite values. Over several tensors: the mean of their dB."},
        {"error", "error", "relative", false,
         "Relative error of the weights: sqrt(sum (w - w')^2 / sum w^2). Over several tensors: with the sums over all "
         "of them."},
        {"max_error", "largest error", "absolute", false, "The largest |w - w'|."},
        {"input_sqnr_db", "SQNR x", "dB", true,
         "SQNR of the layer's recorded activations, quantised as a product quantises them on the way: by the same rule "
         "(m2xfp_weight: to m2xfp_activation), a tensor scale of NVFP4 from each row by itself."},
        {"w4a4", "W4A4", "relative", false,
         "Error of the layer's output with weights and activations in the format (W8A8 for the 8-bit formats): "
         "sqrt(sum (y - y')^2 / sum y^2), y = x w^T of the original values in double precision, y' as lowbit::gemm "
         "computes it. Over several tensors: the mean over layers with recorded activations."},
        {"w4a8", "W4A8", "relative", false,
         "The same with the activations in an 8-bit block format, named in the head of the report."},
        {"weight_only", "weights only", "relative", false,
         "The same with the activations as they are: lowbit::gemm_weight_only."},
    };
    return all;
}

const std::vector<definition>& speed_measures() {
    static const std::vector<definition> all{
        {"quantise", "quantise", "GB/s", true,
         "10^9 bytes of floats a second that lowbit::quantize reads, 4096 x 4096 normal values (64 MiB), with the "
         "search for the tensor scale where a format has one. Ceiling: reading memory."},
        {"dequantise", "dequantise", "GB/s", true,
         "10^9 bytes of floats a second that lowbit::dequantize writes, the same shape. Ceiling: filling the same "
         "output."},
        {"gemm_w4a4", "M 512 W4A4", "GMAC/s", true,
         "10^9 multiply-adds a second of lowbit::gemm: M = 512 rows of float activations, quantised on the way (that "
         "is counted), N = K = 4096 packed weights in the format. Ceiling: int8 dot products; float multiply-adds for "
         "hif8."},
        {"gemm_w4a8", "M 512 W4A8", "GMAC/s", true,
         "The same with activations quantised to the 8-bit block format. Ceiling: int8 dot products; float "
         "multiply-adds for hif8."},
        {"gemm_weight_only", "M 512 weights only", "GMAC/s", true,
         "lowbit::gemm_weight_only on the same shapes: float activations as they are. Ceiling: float multiply-adds."},
        {"decode_w4a4", "M 1 W4A4", "Gweights/s", true,
         "10^9 weights a second of lowbit::gemm with one row of float activations, N = 32768, K = 4096 packed weights. "
         "Ceiling: the smaller of reading the format's own bits (no "
         "padding, no tensor scales) from memory, and the arithmetic of gemm_w4a4."},
        {"decode_w4a8", "M 1 W4A8", "Gweights/s", true,
         "The same with activations quantised to the 8-bit block format."},
        {"decode_weight_only", "M 1 weights only", "Gweights/s", true,
         "The same with lowbit::gemm_weight_only. Ceiling: the smaller of reading the format's own bits and float "
         "multiply-adds."},
    };
    return all;
}

const std::vector<definition>& other_definitions() {
    static const std::vector<definition> all{
        {"speed", "speed", "", true,
         "One thread, the instruction set of the head of the report, float data that is not zero, in huge pages where "
         "the system has them. Each figure is the median of its samples, taken in three rounds through all formats; "
         "low and high are their quartiles. With --quick all of N, K and rows are smaller and caches flatter the "
         "figures: not to be quoted."},
        {"ceiling", "ceiling", "", true,
         "The most that this machine's memory or arithmetic gives, found by a probe in the same process next to the "
         "samples, the best of its passes: read = xor of 512 MiB with the widest loads; fill = full-width stores to "
         "the output, ordinary or past the caches; dot = the int8 dot product instruction of the vector unit (with "
         "Intel "
         "AMX, too, whose tile unit can pass it), fma = float multiply-add, both in registers. A fraction above 1 "
         "means "
         "that caches, or instructions that the probe does not use, beat it. None: there is no probe for this "
         "instruction set."},
        {"fraction", "of ceiling", "", true, "Speed over ceiling."},
        {"moved", "moved", "", true,
         "Against an older report: bits and errors have no noise, the same data gives the same figures on every "
         "machine, so any relative difference above 10^-6 has moved. A speed has moved when it and its fraction of "
         "the ceiling both changed, in the same direction, by more than 5 % and by more than the half quartile "
         "distances of both runs together, twice."},
    };
    return all;
}

const definition& definition_of(const std::string& key) {
    for (const auto* list : {&accuracy_measures(), &speed_measures(), &other_definitions()}) {
        const auto found = std::find_if(list->begin(), list->end(), [&](const definition& d) { return d.key == key; });
        if (found != list->end()) return *found;
    }
    throw std::logic_error("no figure is called " + key);
}

std::string ceiling_text(const std::string& kind) {
    if (kind == "read") return "reading memory";
    if (kind == "fill") return "filling memory";
    if (kind == "dot") return "int8 dot products";
    if (kind == "fma") return "float multiply-adds";
    return kind;
}

}  // namespace bench_report

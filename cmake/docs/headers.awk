# SPDX-License-Identifier: Apache-2.0
# Shows a header of include/lowbit to Doxygen: awk -f headers.awk HEADER. Line numbers stay what they are.
#
# * The comment that opens a header, its essay, becomes the documentation of the file; of a format it becomes a page.
# * Indented lines of a comment are pictures: they keep their layout.
# * "Exact:", "Errors:" and the other words that begin a part become its heading.
# * What lies in namespace lowbit goes to the group of its folder. The namespaces detail and kernel are left out, and
#   the inline namespaces of the baseline are no part of a name.

function is_comment(s) { return s ~ /^ *\/\/($|[ \/])/ }
function is_documentation(s) { return s ~ /^ *\/\/\/($| )/ }

# The text of a comment line, without what marks it as one.
function text_of(s) { sub(/^ *\/\/\/? ?/, "", s); return s }

# Text without what Doxygen would take for commands, tags and links; what stands in backquotes is left alone.
function escaped(s,    out, parts, n, i, piece, id) {
    n = split(s, parts, "`")
    for (i = 1; i <= n; i++) {
        piece = parts[i]
        if (i % 2 == 1) {
            gsub(/\\/, "\\\\", piece)
            gsub(/[<>#@%]/, "\\\\&", piece)
            gsub(/\*/, "\\*", piece)
            while (match(piece, /arXiv[: ][0-9][0-9][0-9][0-9]\.[0-9]+/)) {
                id = substr(piece, RSTART + 6, RLENGTH - 6)
                piece = substr(piece, 1, RSTART - 1) "[ar\001iv " id "](https://arxiv.org/abs/" id ")" \
                    substr(piece, RSTART + RLENGTH)
            }
            gsub(/\001/, "X", piece)
            gsub(/the (top|head) of this (header|file)/, top, piece)
        }
        out = out (i > 1 ? "`" : "") piece
    }
    return out
}

# The parts of a name's documentation get headings.
function parted(s,    words, label, out) {
    words = "(Shape|Units|Range|Exact|Special|Errors|Cost|Source)"
    while (match(s, "(^|[.;)] )" words "(, " words ")*: ")) {
        label = substr(s, RSTART, RLENGTH)
        out = out substr(s, 1, RSTART - 1)
        s = substr(s, RSTART + RLENGTH)
        if (label ~ /^[.;)] /) { out = out substr(label, 1, 2); label = substr(label, 3) }
        sub(/: $/, "", label)
        gsub(/, /, "\\, ", label)
        out = out "\\heading{" label "}"
    }
    return out s
}

# The heading that begins a paragraph of an essay, if one does: a formula may follow it after two spaces or more.
function headed(s,    label) {
    if (match(s, /^(Characteristics|Scale hierarchy|Exact|Special|Cost|Errors|Errors of reading|KC|MC)[.:] +/) ||
        match(s, /^Source: /)) {
        label = substr(s, 1, RLENGTH)
        s = substr(s, RLENGTH + 1)
        if (label ~ /  $/) s = "`" s "`"
        sub(/[.:] +$/, "", label)
        return "<h3>" label "</h3>" s
    }
    if (s ~ /^Storage picture.*:$/) return "<h3>" substr(s, 1, length(s) - 1) "</h3>"
    return s
}

# Text that is no picture; `begins` tells that a paragraph does.
function prose(s, essay, begins,    html) {
    if (!essay) return parted(escaped(s))
    if (begins) s = headed(s)
    if (!match(s, /^<h3>.*<\/h3>/)) return escaped(s)
    html = substr(s, 1, RLENGTH)
    return html escaped(substr(s, RLENGTH + 1))
}

# Whether a picture that begins with this line is C++.
function is_code(s) { return text_of(s) ~ /([)}];|\{)( *\/\/.*)?$/ }

# Turns the comment lines first..last into documentation. Pictures become code blocks of Markdown, which begin and end
# at the blank lines around them.
function document(first, last, essay,    i, j, s, margin, item, begins, fence) {
    begins = 1
    for (i = first; i <= last; i++) {
        margin = line[i]
        sub(/\/\/.*/, "", margin)
        margin = margin "///"
        s = text_of(line[i])
        if (s ~ /^  / && begins) {
            for (j = i; j < last && text_of(line[j + 1]) ~ /^(  .*)?$/; j++) {}
            while (text_of(line[j]) == "") j--
            fence = is_code(line[i]) && i > first && j < last
            if (fence) { shown[i - 1] = margin " ```cpp"; shown[j + 1] = margin " ```" }
            for (; i <= j; i++) {
                s = text_of(line[i])
                sub(/^    ?/, "", s)
                shown[i] = margin (s == "" ? "" : (fence ? " " : "     ") s)
            }
            i = fence ? j + 1 : j
            continue
        }
        if (s ~ /^  / && !item) print FILENAME ":" i ": a picture needs an empty line before it" > "/dev/stderr"
        item = s ~ /^\* / || (item && s != "")
        if (s == "") shown[i] = margin
        else if (s ~ /^\* /) shown[i] = margin " * " prose(substr(s, 3), essay, 0)
        else shown[i] = margin " " prose(s, essay, begins)
        begins = s == ""
    }
}

BEGIN {
    formats_of["block/hif4.hpp"] = "hif4"
    formats_of["block/int8_block.hpp"] = "int8_block"
    formats_of["block/m2xfp.hpp"] = "m2xfp_activation m2xfp_weight"
    formats_of["block/mxfp4.hpp"] = "mxfp4"
    formats_of["block/mxint8.hpp"] = "mxint8"
    formats_of["block/nvfp4.hpp"] = "nvfp4"
    formats_of["element/hif8.hpp"] = "hif8"
    # What users meet of the kernels.
    group_of["kernel/activation.hpp"] = "gemm"
    group_of["kernel/panel_layout.hpp"] = "pack"
}

{ line[NR] = $0 }

END {
    path = FILENAME
    sub(/^.*include\/lowbit\//, "", path)
    group = path in group_of ? group_of[path] : path
    if (!(path in group_of) && !sub(/\/.*/, "", group)) group = ""
    count = split(formats_of[path], format, " ")
    # A format's essay has a page of its own; others head the page of their file.
    top = count ? "\\ref format_" format[1] " \"the definition\"" : "\\ref " path

    for (i = 1; i <= NR; i++) shown[i] = line[i]

    # The essay and its first paragraph.
    for (essay_end = 1; is_comment(line[essay_end + 1]); essay_end++) {}
    document(2, essay_end, 1)
    for (brief_end = 2; brief_end < essay_end && text_of(line[brief_end + 1]) != ""; brief_end++) {}
    shown[1] = "/// \\file " path
    if (count) {
        shown[1] = "/// \\page format_" format[1] " " format[1]
        for (i = 2; i <= brief_end; i++) brief = brief shown[i] "\n"
        for (f = 1; f <= count; f++) types = types (f == 1 ? "" : " and ") "lowbit::" format[f]
        shown[brief_end] = shown[brief_end] (count == 1 ? " The type is " : " The types are ") types "."
        for (f = 1; f <= count; f++) {
            rest = rest "\n/// \\file " path "\n" brief "/// See \\ref format_" format[f] ".\n"
            if (f == 1) continue
            rest = rest "\n/// \\page format_" format[f] " " format[f]
            for (i = 2; i <= essay_end; i++) rest = rest "\n" shown[i]
        }
    }

    # Of a formatter, a specialisation of another library's class, the essay says all.
    skip = path == "fmt.hpp" ? "to the end" : ""
    for (i = essay_end + 1; i <= NR; i++) {
        s = line[i]
        if (skip != "") {
            shown[i] = ""
            if (s == skip) skip = ""
        } else if (s ~ /^namespace (detail|kernel|lowbit::detail) \{$/ ||
                   (s ~ /^namespace lowbit::kernel/ && path != "kernel/panel_layout.hpp")) {
            skip = "}  // " s
            sub(/ \{$/, "", skip)
            shown[i] = ""
        } else if (path == "kernel/panel_layout.hpp" && s ~ /^inline constexpr std::size_t panel_columns/) {
            # A file names its layout; the arithmetic behind it is internal.
            skip = "}  // namespace lowbit::kernel"
            shown[i] = "/** @} */ }"
        } else if (s == "template <>") {
            # A specialisation means what its template says.
            skip = "};"
            shown[i] = ""
        } else if (s ~ /namespace LOWBIT_BASELINE_NAMESPACE/) {
            shown[i] = ""
        } else if (s ~ /^namespace .*\{$/) {
            if (group != "") shown[i] = s " /** \\addtogroup " group " */ /** @{ */"
        } else if (s ~ /^\}  \/\/ namespace /) {
            if (group != "") shown[i] = "/** @} */ " s
        } else if (is_documentation(s)) {
            for (last = i; is_documentation(line[last + 1]); last++) {}
            document(i, last, 0)
            i = last
        } else {
            gsub(/\[\[nodiscard\]\] /, "", shown[i])
            if (s ~ /operator==\(.*\) = default;$/) shown[i] = "/** Compares member by member. */" shown[i]
            if (match(shown[i], /\/\/\/< /))
                shown[i] = substr(shown[i], 1, RSTART + 4) escaped(substr(shown[i], RSTART + 5))
        }
    }
    for (i = 1; i <= NR; i++) print shown[i]
    if (rest != "") print rest
}

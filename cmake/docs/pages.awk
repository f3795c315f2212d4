# SPDX-License-Identifier: Apache-2.0
# Shows a page of Markdown to Doxygen: awk -f pages.awk PAGE. Marks of update_readme.sh go; links to examples lead to
# their pages, links to files that are not part of the documentation become plain text.

# The name of a page: Doxygen's own is made of its path, in which spaces lead astray.
function label(path) {
    sub(/.*\//, "", path)
    sub(/\.md$/, "", path)
    return "page_" path
}

function linked(s,    out, at, text, to) {
    while (match(s, /\[[^]]*\]\([^) ]*\)/)) {
        out = out substr(s, 1, RSTART - 1)
        text = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        at = index(text, "](")
        to = substr(text, at + 2, length(text) - at - 2)
        text = substr(text, 2, at - 2)
        if (to ~ /^examples\/[a-z_]*\.cpp$/) {
            sub(/.*\//, "", to)
            sub(/\.cpp$/, "_8cpp-example.html", to)
            out = out "<a href=\"" to "\">" text "</a>"
        } else if (to ~ /\.md$/) {
            out = out "[" text "](@ref " label(to) ")"
        } else if (to ~ /^(https?:|#)/ || to ~ /\.svg$/) {
            out = out "[" text "](" to ")"
        } else {
            out = out text " (" to ")"
        }
    }
    return out s
}

# Formats in the first column of a table and papers lead to their pages.
function referred(s,    id) {
    if (match(s, /^\| `(hif4|hif8|mxfp4|nvfp4|m2xfp_activation|m2xfp_weight|mxint8|int8_block)` \|/))
        s = "| \\ref format_" substr(s, 4, RLENGTH - 6) " |" substr(s, RLENGTH + 1)
    while (match(s, /arXiv:[0-9][0-9][0-9][0-9]\.[0-9]+/)) {
        id = substr(s, RSTART + 6, RLENGTH - 6)
        s = substr(s, 1, RSTART - 1) "[ar\001iv " id "](https://arxiv.org/abs/" id ")" substr(s, RSTART + RLENGTH)
    }
    gsub(/\001/, "X", s)
    return s
}

# Code in backquotes that holds a quote takes two: Doxygen ends it at the quote otherwise.
function quoted(s,    out, span) {
    while (match(s, /`[^`]+`/)) {
        span = substr(s, RSTART, RLENGTH)
        out = out substr(s, 1, RSTART - 1) (index(span, "\047") ? "`" span "`" : span)
        s = substr(s, RSTART + RLENGTH)
    }
    return out s
}

/^```/ { fence = !fence; print; next }
fence { print; next }
/^<!-- .* -->$/ { print ""; next }
/^# / && !titled {
    titled = 1
    print $0 (FILENAME ~ /README\.md$/ ? "" : " {#" label(FILENAME) "}")
    print ""
    print "[TOC]"
    next
}
{ print quoted(referred(linked($0))) }

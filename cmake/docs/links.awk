# SPDX-License-Identifier: Apache-2.0
# Checks the pages that Doxygen wrote, in their folder: awk -f links.awk *.html. Every link to a file must find it, and
# every link into a page its place there. Prints what leads nowhere, and fails if something does.

# Places of a page, read once.
function read_page(file,    text, name) {
    if (file in exists) return
    exists[file] = 0
    while ((getline text < file) > 0) {
        exists[file] = 1
        while (match(text, /(id|name)="[^"]*"/)) {
            name = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/^[a-z]*="/, "", name); sub(/"$/, "", name)
            place[file, name] = 1
        }
    }
    close(file)
}

{
    text = $0
    while (match(text, / (href|src|data)="[^"]*"/)) {
        to = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        sub(/^ [a-z]*="/, "", to); sub(/"$/, "", to)
        # Doxygen 1.9.4 itself writes links to a list of nested classes that has only private ones.
        if (to ~ /^[a-z]+:/ || to ~ /^\$/ || to == "#nested-classes") continue
        file = to
        anchor = ""
        if ((at = index(to, "#")) > 0) { file = substr(to, 1, at - 1); anchor = substr(to, at + 1) }
        sub(/\?.*/, "", file)
        if (file == "") file = FILENAME
        read_page(file)
        if (!exists[file] || (anchor != "" && file ~ /\.html$/ && !((file, anchor) in place))) {
            printf "%s: '%s' leads nowhere\n", FILENAME, to
            broken++
        }
    }
}

END { exit broken > 0 }

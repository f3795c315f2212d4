# SPDX-License-Identifier: Apache-2.0
# Checks Doxygen's XML: awk -f names.awk xml/*.xml. Prints what is missing, and fails if something is:
#
# * classes and enumerators without documentation, some of which Doxygen itself lets pass
# * parameters of public functions that the text of the function does not name, unless it says that the function does
#   the same as another one

function plain(s) { gsub(/<[^>]*>/, " ", s); gsub(/&[a-z]+;/, " ", s); return s }

# Text of the first element of this name in `xml`, on one line.
function field(xml, name) {
    if (!match(xml, "<" name "[^>]*>[^\n]*</" name ">")) return ""
    xml = plain(substr(xml, RSTART, RLENGTH))
    gsub(/^ +| +$/, "", xml)
    return xml
}

# Brief and detailed description in `xml`.
function description(xml,    at) {
    at = index(xml, "<briefdescription>")
    return plain(substr(xml, at, match(substr(xml, at), /<\/detaileddescription>/) - 1))
}

function fault(xml, text) {
    if (match(xml, /<location file="[^"]*" line="[0-9]+"/)) {
        xml = substr(xml, RSTART, RLENGTH)
        gsub(/<location file=|"/, "", xml)
        sub(/ line=/, ":", xml)
    } else {
        xml = FILENAME
    }
    # A member of a group stands in several files.
    if (!((xml, text) in seen)) printf "%s: %s\n", xml, text
    seen[xml, text] = 1
    faults++
}

function check_function(xml,    name, text, rest, parameter) {
    if (xml !~ /prot="public"/) return
    name = field(xml, "name")
    text = description(xml)
    # A function without any text is reported by Doxygen.
    if (name ~ /^operator/ || text ~ /^[ \n]*($|As |The same |The inverse )/ || text ~ /Otherwise as above/) return
    rest = xml
    while (match(rest, /<declname>[^<]*<\/declname>/)) {
        parameter = substr(rest, RSTART + 10, RLENGTH - 21)
        rest = substr(rest, RSTART + RLENGTH)
        # Template parameters that are types have names that begin with a capital.
        if (parameter !~ /^[A-Z]/ && !match(" " text " ", "[^A-Za-z0-9_]" parameter "[^A-Za-z0-9_]"))
            fault(xml, "the text of " name " does not name its parameter '" parameter "'")
    }
}

function check_enumerators(xml,    name, value, end) {
    name = field(xml, "name")
    while ((end = index(xml, "</enumvalue>")) > 0) {
        value = substr(xml, 1, end)
        value = substr(value, index(value, "<enumvalue"))
        if (description(value) ~ /^[ \n]*$/)
            fault(xml, "enumerator " name "::" field(value, "name") " is not documented")
        xml = substr(xml, end + 12)
    }
}

/<compounddef / { compound = "" }
/<memberdef / { inside = 1; member = "" }
inside { member = member "\n" $0 }
!inside { compound = compound "\n" $0 }
/<\/memberdef>/ {
    inside = 0
    if (member ~ /kind="function"/) check_function(member)
    if (member ~ /kind="enum"/) check_enumerators(member)
}
/<\/compounddef>/ {
    if (compound ~ /<compounddef [^>]*kind="(class|struct|union)"[^>]* prot="public"/)
        if (description(compound) ~ /^[ \n]*$/) fault(compound, field(compound, "compoundname") " is not documented")
}

END { exit faults > 0 }

# json_field.awk: the value of a field in a line of JSON whose strings hold no quotes; "" where there is none.
function field(line, name,    at, rest) {
    at = index(line, "\"" name "\":")
    if (!at) return ""
    rest = substr(line, at + length(name) + 3)
    sub(/^ */, "", rest)
    if (substr(rest, 1, 1) == "\"") {
        rest = substr(rest, 2)
        return substr(rest, 1, index(rest, "\"") - 1)
    }
    sub(/[,}].*/, "", rest)
    return rest
}

# SPDX-License-Identifier: MIT
# Reads the headers of src/format, then the prose of swt-format(5). A prose line "@NAME@" becomes the table of the struct
# or enum NAME: its comment columns are named by the comment on the opening line, `meaning` takes the rest of the

function quoted(s) {
    gsub(/\\/, "\\e", s)
    gsub(/"/, "\\(dq", s)
    gsub(/-/, "\\-", s)
    return "\"" s "\""
}

# The field: its type as on disk and its name.
function field_of(line, words, n, type, name) {
    sub(/ *\/\*.*/, "", line)
    sub(/[;,] *$/, "", line)
    sub(/^ */, "", line)
    if (line ~ /=/) { # enum: NAME = value
        name = line
        sub(/ *=.*/, "", name)
        sub(/^SEG_[A-Z]+_/, "", name)
        return quoted(tolower(name))
    }
    n = split(line, words, " ")
    type = words[1]
    name = words[2]
    if (type == "uint8_t" && match(name, /\[[0-9]+\]/)) {
        type = "bytes[" substr(name, RSTART + 1, RLENGTH - 2) "]"
        sub(/\[.*/, "", name)
    }
    return quoted(type) " Ta " quoted(name)
}

function heading(block, n, i, s) {
    s = quoted("off")
    if (is_enum[block])
        return quoted(columns[block, 1]) " Ta " (n_columns[block] > 3 ? quoted("type") " Ta " : "") quoted("name") " Ta " quoted("meaning")
    return s " Ta " quoted("type") " Ta " quoted("name") " Ta " quoted("unit") " Ta " quoted("meaning")
}

FNR == NR && /^(struct|enum) seg_[a-z_]+ \{/ {
    block = $2
    is_enum[block] = $1 == "enum"
    header = $0
    if (sub(/.*\/\* */, "", header)) {
        sub(/ *\*\/.*/, "", header)
        n_columns[block] = split(header, words, / +/)
        for (i = 1; i <= n_columns[block]; i++)
            columns[block, i] = words[i]
    } else
        block = ""
    next
}
FNR == NR && /^};/ { block = ""; next }
FNR == NR && block && /\/\*.*\*\// {
    comment = $0
    sub(/.*\/\* */, "", comment)
    sub(/ *\*\/.*/, "", comment)
    n = split(comment, words, / +/)
    last = n_columns[block] - 2 # columns before `meaning`
    meaning = ""
    for (i = last + 1; i < n; i++)
        meaning = meaning (meaning == "" ? "" : " ") words[i]
    if (words[n] + 0 > 1)
        meaning = meaning " (since version " words[n] ")"
    row = quoted(words[1]) " Ta "
    if (is_enum[block])
        row = row (last > 1 ? quoted(words[2]) " Ta " : "") field_of($0)
    else
        row = row field_of($0) " Ta " quoted(words[2])
    rows[block] = rows[block] ".It " row " Ta " quoted(meaning) "\n"
    next
}
FNR == NR { next }

/^@seg_[a-z_]+@$/ {
    name = substr($0, 2, length($0) - 2)
    if (!(name in rows)) {
        print "swt-format.5.in:" FNR ": no table " name > "/dev/stderr"
        exit 1
    }
    if (is_enum[name])
        print ".Bl -column " (n_columns[name] > 3 ? "\"key\" \"samples\" " : "\"kind\" ") "\"block_additional\" \"meaning\""
    else
        print ".Bl -column \"0000\" \"bytes[3796]\" \"stream_first_ns\" \"entries\" \"meaning\""
    print ".It " heading(name)
    printf "%s.El\n", rows[name]
    next
}
{ print }

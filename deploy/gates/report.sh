# Sourced by deploy/test: runs legs, counts what they say, prints the total. Needs $logs and $began.

passed=0
failed=0
skipped=0
failed_legs=()

# Prints "passed failed skipped" of a leg's log. Output of ctest -V bears the number of its test in front ("7: ...").
count_log() {
    awk -v status="$2" '
        function number(text) { sub(/^ +/, "", text); return text + 0 }
        /\[doctest\] test cases:/ {
            line = $0; index_ = match(line, /^[0-9]+: /) ? line + 0 : 0
            sub(/.*test cases:/, "", line); split(line, part, "|")
            p += number(part[2]); f += number(part[3]); s += number(part[4]); counted[index_] = number(part[3]) + 1
        }
        /Test +#[0-9]+: / && /(Passed|\*\*\*[A-Za-z]|Not Run|Skipped)/ {
            line = $0; sub(/.*Test +#/, "", line); index_ = line + 0
            if (/ Passed /) { if (!(index_ in counted)) p++ }
            else if (/Skipped/) s++
            else if (counted[index_] < 2) f++    # failed without a failed test case: it crashed or ran out of time
        }
        /^gate: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $2; f += $4; s += $6 }
        END {
            if (p + f + s == 0) { if (status == 0) p = 1; else f = 1 }
            else if (status != 0 && f == 0) f = 1
            print p + 0, f + 0, s + 0
        }' "$1"
}

# leg NAME LIMIT_S [COMMAND...]: without a command the function leg_NAME, in a shell of its own.
leg() {
    local name=$1 limit_s=$2 log=$logs/$1.log start=$SECONDS status p f s
    shift 2
    printf '%-10s ' "$name"
    if [ $# -eq 0 ]; then
        export -f "leg_$name"
        export seconds
        set -- bash -c "set -eo pipefail; leg_$name"
    fi
    timeout --kill-after=20 "$limit_s" "$@" >"$log" 2>&1 </dev/null
    status=$?
    read -r p f s < <(count_log "$log" "$status") || p=0 f=1 s=0  # a log that is gone proves nothing
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" -eq 0 ]; then
        printf 'passed  %4d s  %d passed, %d skipped\n' $((SECONDS - start)) "$p" "$s"
    else
        failed_legs+=("$name")
        [ $status -eq 124 ] && echo "leg $name: stopped after $limit_s s" >>"$log"
        printf 'FAILED  %4d s  %d passed, %d failed, %d skipped: %s\n' $((SECONDS - start)) "$p" "$f" "$s" "$log"
        grep -nE '^not ok|error:|ERROR:|FAILED|\*\*\*|CHECK.*is NOT|runtime error|gate: ' "$log" | head -20 | sed 's/^/    /'
        tail -n 25 "$log" | sed 's/^/    | /'
    fi
    [ "$f" -eq 0 ]
}

report_total() {
    echo
    [ ${#failed_legs[@]} -eq 0 ] || echo "failed: ${failed_legs[*]}   (logs in ${logs#"$PWD"/})"
    echo "took $(( (SECONDS - began + 30) / 60 )) min"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

#!/usr/bin/env bash
# Counts the instructions of the hot paths and compares them with those stored in instructions.tsv: a regression shows however busy the machine is.
# Fails if a path takes over 5 % more. --store writes the present counts there; --control does a tenth more work than it says on one path, and
# fails unless that is noticed. What is counted is the build of the tests as .ci/run makes it, with each crate in one unit: after it nothing is
# left to build.
set -euo pipefail
cd "$(dirname "$0")/.."

stored=benches/instructions.tsv
allowed=5
mode=${1:---compare}
case $mode in
    --compare | --store | --control) ;;
    *) echo "instructions.sh: takes --store or --control, not $mode" >&2 && exit 2 ;;
esac
command -v valgrind >/dev/null || { echo "instructions.sh: valgrind is missing; on Debian: apt-get install valgrind" >&2 && exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export CARGO_TERM_COLOR=never
# What is inlined, and so what is counted, depends on the units that the crates are cut into.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_CODEGEN_UNITS=1
cargo test -q --workspace --locked --test instructions --no-run
target=$(cargo metadata --format-version 1 --no-deps --locked | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
export scratch program=$target/debug/instructions

# What counts depend on beside the code.
made_with() {
    local wide='no AVX2'
    ! grep -qw avx2 /proc/cpuinfo || wide=AVX2
    printf '%s, %s, %s, libc %s' "$(rustc --version)" "$(rustc -vV | sed -n 's/^host: //p')" "$wide" "$(ldd --version 2>&1 | sed -n '1s/.* //p')"
}

# count <name>: prints the name and the instructions of doing the path once.
count() {
    local counts runs sum
    counts=$scratch/$(printf '%s' "$1" | cksum | cut -d' ' -f1)
    if ! runs=$(valgrind --tool=callgrind --callgrind-out-file="$counts" --toggle-collect='*::hot_path' "$program" "$1" 2>"$counts.said"); then
        cat "$counts.said" >&2
        return 1
    fi
    sum=$(sed -n 's/^totals: //p' "$counts")
    printf '%s\t%d\n' "$1" $((sum / runs))
}
export -f count

# all: the counts of every path, in their order, as many at a time as there are processors.
all() {
    "$program" >"$scratch/names"
    tr '\n' '\0' <"$scratch/names" | xargs -0 -n 1 -P "$(nproc)" bash -c 'set -euo pipefail; count "$1"' count >"$scratch/unordered"
    awk -F'\t' 'NR == FNR { counts[$1] = $2; next } { print $1 "\t" counts[$1] }' "$scratch/unordered" "$scratch/names"
}

# compare: a table of the counts on its input beside the stored ones. Fails if one is above by more than it may, or has nothing to compare with.
compare() {
    awk -F'\t' -v allowed="$allowed" '
        NR == FNR { if ($0 !~ /^#/) stored[$1] = $2; next }
        FNR == 1 { printf "%-44s %12s %12s %8s\n", "path", "stored", "now", "change" }
        $2 < 1000 { printf "%-44s %12s %12d  nothing was counted\n", $1, stored[$1], $2; failed = 1; next }
        !($1 in stored) { printf "%-44s %12s %12d  not stored\n", $1, "", $2; failed = 1; next }
        {
            change = ($2 / stored[$1] - 1) * 100
            note = change > allowed ? "  ABOVE" : change < -allowed ? "  below" : ""
            failed = failed || change > allowed
            fewer = fewer || change < -allowed
            printf "%-44s %12d %12d %+7.2f%%%s\n", $1, stored[$1], $2, change, note
        }
        END {
            if (fewer) print "Some take fewer instructions than are stored: benches/instructions.sh --store keeps that."
            exit failed
        }' "$stored" -
}

case $mode in
    --store)
        all >"$scratch/counts"
        {
            echo "# Instructions to do each hot path once, in the build of the tests: written by instructions.sh --store."
            echo "# $(made_with)"
            cat "$scratch/counts"
        } >"$stored"
        echo "stored in $stored:"
        compare <"$scratch/counts"
        ;;
    --control)
        name='block by ID'
        count "$name" >"$scratch/present"
        INSTRUCTIONS_MORE=10 count "$name" >"$scratch/more"
        stored=$scratch/present
        compare <"$scratch/more" | tee "$scratch/table" || true
        grep -q 'ABOVE$' "$scratch/table" || { echo "instructions.sh: a tenth more work on $name was not noticed" >&2 && exit 1; }
        echo "A tenth more work on $name was noticed."
        ;;
    *)
        all >"$scratch/counts"
        failed=
        compare <"$scratch/counts" || failed=yes
        now=$(made_with) before=$(sed -n '2s/^# //p' "$stored")
        if [ "$now" != "$before" ]; then
            printf 'The stored counts were made with %s, these with %s: so nothing fails here.\n' "$before" "$now"
            echo "benches/instructions.sh --store stores new ones."
        elif [ "$failed" ]; then
            echo "Over $allowed % more instructions than are stored. If that is meant: benches/instructions.sh --store, and say why in the commit." >&2
            exit 1
        fi
        ;;
esac

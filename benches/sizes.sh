#!/usr/bin/env bash
# What Leafbase adds to a program: crates, bytes of the program, and how long it takes to build from nothing, with and without searches.
# A build takes all processors; on a machine that is busy otherwise its time says little. SIZES_TARGET=<directory> keeps what is built.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# program <name> <dependency line> <body of main>: prints a row of the table.
program() {
    local folder=$scratch/$1 crates bytes began seconds
    mkdir -p "$folder/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[profile.release]\nstrip = true\n%s\n[dependencies]\n%s\n' \
        "$1" "${4:-}" "$2" >"$folder/Cargo.toml"
    printf 'fn main() -> Result<(), Box<dyn std::error::Error>> {\n%s\nOk(())\n}\n' "$3" >"$folder/src/main.rs"
    cp "$here/Cargo.lock" "$folder/Cargo.lock"
    crates=$(cd "$folder" && cargo tree --offline -e normal --prefix none 2>/dev/null | awk '{ print $1, $2 }' | sort -u | wc -l)
    began=$(date +%s)
    (cd "$folder" && CARGO_TARGET_DIR=${SIZES_TARGET:-$scratch/target}/$1 cargo build -q --release --offline)
    seconds=$(($(date +%s) - began))
    bytes=$(stat -c %s "${SIZES_TARGET:-$scratch/target}/$1/release/$1")
    printf '| %s | %d | %s | %d s |\n' "$1" $((crates - 1)) "$(numfmt --to=iec --format=%.1f "$bytes")" "$seconds"
}

calls='let space = leafbase::Space::in_memory()?; let notes = space.connect();
let trip = notes.create_document("Trip")?; notes.insert_markdown("- [ ] passport", trip.id())?;
println!("{}", notes.content_markdown(trip.id())?);
println!("{}", notes.search_blocks(leafbase::SearchBlocks::new(trip.id(), "pass"))?.len());'
small=$'opt-level = "z"\nlto = true\ncodegen-units = 1'

printf '| program | crates | size | build |\n|---|---:|---:|---:|\n'
program empty '' ''
program without_search "leafbase = { path = \"$here/crates/engine\", default-features = false }" "$calls"
program with_search "leafbase = { path = \"$here/crates/engine\" }" "$calls println!(\"{}\", notes.search(\"pass\")?.len());"
if [ "${SIZES_SMALL:-}" ]; then
    program without_search_for_size "leafbase = { path = \"$here/crates/engine\", default-features = false }" "$calls" "$small"
fi

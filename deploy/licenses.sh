#!/usr/bin/env bash
# Prints the license texts of every library in the binary, each text once, with the crates that it covers. Most of
# these licenses ask for that wherever the binary is distributed.
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
declare -A crates paths
missing=()
while read -r name version license; do
    texts=("$sources"/*/"$name-${version#v}"/{LICEN[CS]E,COPYING,COPYRIGHT,NOTICE}*)
    found=
    for text in "${texts[@]}"; do
        [ -f "$text" ] || continue
        found=yes
        hash=$(sha256sum <"$text")
        paths[$hash]=$text
        crates[$hash]+="${crates[$hash]:+, }$name ${version#v} ($license)"
    done
    [ -n "$found" ] || missing+=("$name ${version#v} ($license)")
done < <(cargo tree --locked --package causeway --edges normal --target "$host" --prefix none --format '{p} {l}' |
    grep -v -e '(/' -e '(proc-macro)' | sed 's/ (\*)$//' | sort -u)

[ "${#crates[@]}" -gt 0 ] || { echo "No license texts in $sources; run cargo fetch." >&2; exit 1; }
echo "Causeway contains the libraries below."
if [ "${#missing[@]}" -gt 0 ]; then
    printf '\nLibraries that name their license but ship no text:\n'
    printf '  %s\n' "${missing[@]}"
fi
for hash in "${!crates[@]}"; do printf '%s\t%s\n' "${crates[$hash]}" "${paths[$hash]}"; done | sort |
    while IFS=$'\t' read -r names text; do
        printf '\n%s\n%s\n\n' "$(printf '=%.0s' {1..80})" "$names" | fold -s -w 120
        cat "$text"
    done
for text in assets/fonts/LICENSE.txt crates/*/fonts/LICENSE.txt data/*/NOTICE data/*/LICENSE; do
    [ ! -f "$text" ] || { printf '\n%s\n' "$(printf '=%.0s' {1..80})"; cat "$text"; }
done

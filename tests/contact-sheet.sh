#!/bin/sh
# Writes docs/design-pages.webp, a contact sheet of the main pages, from the pictures that "make screenshots" saved.
set -eu
cd "$(dirname "$0")/.."
shots=${1:-target/screenshots}
sheet=$(mktemp -d)
trap 'rm -rf "$sheet"' EXIT

column() {
    for page in $1; do
        file="$shots/$page-$2.png"
        if [ ! -f "$file" ]; then
            echo "$file is missing; run make screenshots first" >&2
            exit 1
        fi
        cp "$file" "$sheet/$page-$2.png"
        printf '<figure><img src="%s-%s.png"></figure>\n' "$page" "$2"
    done
}

{
    echo '<!doctype html><meta charset="utf-8"><style>
    body { margin: 24px; background: #8d9694; display: grid; gap: 18px; grid-template-columns: repeat(4, 1fr); }
    figure { margin: 0; height: 330px; overflow: hidden; border-radius: 8px; }
    figure img { width: 100%; display: block; }
    .phones { grid-column: 1 / -1; display: grid; gap: 18px; grid-template-columns: repeat(8, 1fr); }
    </style>'
    column "home results profile fundraiser-page" 1280-light
    column "causes give receipt developers" 1280-dark
    echo '<div class="phones">'
    column "home results profile fundraiser-page" 375-light
    column "causes give receipt privacy" 375-dark
    echo '</div>'
} > "$sheet/sheet.html"

chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1400,1076 \
    --screenshot="$sheet/sheet.png" "file://$sheet/sheet.html" 2> /dev/null
# Chromium encodes the picture as WebP in a page of its own.
cat > "$sheet/convert.html" <<'HTML'
<!doctype html><title>none</title><img id="picture" src="sheet.png"><script>
onload = () => {
  const picture = document.getElementById("picture"), canvas = document.createElement("canvas");
  canvas.width = picture.naturalWidth; canvas.height = picture.naturalHeight;
  canvas.getContext("2d").drawImage(picture, 0, 0);
  document.body.textContent = "data " + canvas.toDataURL("image/webp", 0.8).split(",")[1] + " end";
};
</script>
HTML
chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom \
    "file://$sheet/convert.html" 2> /dev/null |
    sed -n 's/.*data \([A-Za-z0-9+/=]*\) end.*/\1/p' | base64 -d > docs/design-pages.webp
size=$(wc -c < docs/design-pages.webp)
echo "docs/design-pages.webp has $size bytes"
[ "$size" -gt 1000 ] && [ "$size" -lt 500000 ]

#!/usr/bin/env python3
"""Measures how many rows a second match on one core, over HTTP and as a command, and how many find their nonprofit.

The rows are those of the directory itself, as other lists have them: a fifth with the EIN, the others with the name as
it is, with a typo, without a word, or in another letter case, and with the place. Fails below --min-rate.

Then it judges messy rows: without EINs, with typos, abbreviations and missing words, moved to another city of the state,
with parts of the address missing or wrong, and cut. A twentieth of the nonprofits is held out of an import of its own, so
some rows have no right answer. Fails below --min-recall or --min-precision.
"""

import argparse
import base64
import csv
import gzip
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from pathlib import Path

BATCH = 1_000
# The share of nonprofits that are not imported is one in this many.
HELD_OUT = 20
ABBREVIATIONS = {
    "ASSOCIATION": "ASSN", "FOUNDATION": "FDN", "UNIVERSITY": "UNIV", "INTERNATIONAL": "INTL", "NATIONAL": "NATL", "CENTER": "CTR",
    "COMMUNITY": "COMM", "SOCIETY": "SOC", "SAINT": "ST", "MOUNT": "MT", "DEPARTMENT": "DEPT", "SERVICES": "SVCS", "AMERICAN": "AMER",
}
LEGAL_FORMS = {"INC", "INCORPORATED", "CORP", "LLC", "LTD"}


def run(command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def read_rows(file, count, seed):
    """Returns a sample of the rows of an EO BMF file."""
    opened = gzip.open(file, "rt", encoding="latin-1") if str(file).endswith(".gz") else open(file, encoding="latin-1")
    chosen, generator = [], random.Random(seed)
    with opened as lines:
        for number, row in enumerate(csv.DictReader(lines)):
            if len(chosen) < count:
                chosen.append(row)
            elif (place := generator.randrange(number + 1)) < count:
                chosen[place] = row
    generator.shuffle(chosen)
    return chosen


def keep(file, imported):
    """Copies a file without the rows that are held out."""
    opened = gzip.open(file, "rt", encoding="latin-1") if str(file).endswith(".gz") else open(file, encoding="latin-1")
    with opened as lines, open(imported, "w", encoding="latin-1", newline="") as out:
        reader = csv.DictReader(lines)
        writer = csv.DictWriter(out, reader.fieldnames)
        writer.writeheader()
        writer.writerows(row for row in reader if not is_held_out(row))


def disguise(row, generator):
    """Returns a row as another list might have it."""
    name, kind = row["NAME"], generator.random()
    words = name.split()
    if kind < 0.2:
        name = name.title()
    elif kind < 0.4 and len(name) > 8:
        place = generator.randrange(3, len(name) - 2)
        name = name[:place] + name[place + 1:]
    elif kind < 0.5 and len(words) > 3:
        words.pop(generator.randrange(1, len(words)))
        name = " ".join(words)
    found = {"id": row["EIN"], "name": name, "city": row["CITY"], "state": row["STATE"], "zip": row["ZIP"][:5]}
    if generator.random() < 0.2:
        found["ein"] = row["EIN"]
    return found


def is_held_out(row):
    return zlib.crc32(row["EIN"].encode()) % HELD_OUT == 0


def misspell(word, generator):
    """Returns a word with one typo."""
    if len(word) < 4:
        return word
    place, kind = generator.randrange(1, len(word) - 1), generator.randrange(4)
    letter = generator.choice("AEIOURSTLN")
    if kind == 0:
        return word[:place] + word[place + 1:]
    if kind == 1:
        return word[:place] + word[place + 1] + word[place] + word[place + 2:]
    return word[:place] + letter + word[place + kind - 2:]


def messy_name(row, generator):
    """Returns a name as people write it down, and whether it is cut."""
    words, kind = row["NAME"].split(), generator.random()
    if len(words) > 1 and words[-1] in LEGAL_FORMS and generator.random() < 0.6:
        words.pop()
    if kind < 0.22:
        index = max(range(len(words)), key=lambda index: len(words[index]) * generator.random())
        words[index] = misspell(words[index], generator)
    elif kind < 0.36:
        words = [ABBREVIATIONS.get(word, word) for word in words]
    elif kind < 0.44 and len(words) > 3:
        words.pop(generator.randrange(1, len(words)))
    elif kind < 0.5 and "OF" in words[1:-1]:
        index = words.index("OF", 1)
        words = words[index + 1:] + words[:index]
    elif kind < 0.53 and "OF" in words[1:-1]:
        return " ".join(words[:words.index("OF", 1) + 1]), True
    elif kind < 0.58:
        words.insert(0, "THE")
    elif kind < 0.62:
        words += row["SORT_NAME"].split()
    name = " ".join(words)
    return (name.title() if generator.random() < 0.5 else name), False


def mess_up(row, generator, places):
    """Returns a row as a carelessly kept list has it, and whether its name is cut."""
    name, is_cut = messy_name(row, generator)
    city, place, kind = row["CITY"].title(), row["ZIP"][:5], generator.random()
    if kind < 0.1:
        city, place = generator.choice(places[row["STATE"]])
    elif kind < 0.2:
        place = ""
    elif kind < 0.28:
        city = ""
    elif kind < 0.36:
        city = place = ""
    elif kind < 0.42:
        place = f"{place[:3]}{generator.randrange(100):02}"
    elif kind < 0.46:
        city = misspell(row["CITY"], generator)
    return {"id": row["EIN"], "name": name, "city": city, "state": row["STATE"], "zip": place}, is_cut


def judge_messy(causeway, data, sample, is_complete, core, folder):
    """Matches messy rows, and returns recall, precision and the number of cut names that were matched."""
    generator, places = random.Random(2), {}
    for row in sample:
        places.setdefault(row["STATE"], []).append((row["CITY"].title(), row["ZIP"][:5]))
    messy = [mess_up(row, generator, places) for row in sample]
    _, results = measure_command(causeway, data, [row for row, _ in messy], core, folder)
    right = wrong = cut = expected = 0
    for row, (found, is_cut), result in zip(sample, messy, results):
        is_known = is_complete or not is_held_out(row)
        expected += is_known
        if result["match"]:
            is_right = is_known and result["candidates"][0].get("ein") == found["id"]
            right += is_right
            wrong += not is_right
            cut += is_cut
    return right / expected, right / max(right + wrong, 1), cut


def measure_command(causeway, data, rows, core, folder):
    """Returns the rows per second of `causeway match` without its start, and its results."""
    def timed(part):
        path, out = folder / "rows.csv", folder / "matched.jsonl"
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, ["id", "name", "city", "state", "zip", "ein"])
            writer.writeheader()
            writer.writerows(part)
        command = ["taskset", "-c", core, causeway, "match", path, "--format", "jsonl", "--output", out, "--data", data]
        started = time.monotonic()
        run(command, stdout=subprocess.DEVNULL)
        return time.monotonic() - started, [json.loads(line) for line in open(out)]
    start, _ = timed(rows[:1])
    whole, results = timed(rows)
    return len(rows) / max(whole - start, 0.001), results


def measure_http(causeway, data, rows, core):
    """Returns the rows per second of requests with 1,000 rows each, one after the other."""
    def command(*arguments):
        done = run([causeway, *arguments, "--json", "--data", data], capture_output=True, text=True)
        return json.loads(done.stdout)
    name = f"bench{os.getpid()}"
    command("account", "create", name)
    public = command("key", "create", "--account", name, "--kind", "public")
    private = command("key", "create", "--account", name, "--kind", "private")
    run([causeway, "limit", "set", public["id"], "match=100000", "--data", data], stdout=subprocess.DEVNULL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "CAUSEWAY_METRICS_LISTEN": "off"}
    serve = ["taskset", "-c", core, str(causeway), "serve", "--listen", address, "--data", str(data)]
    server = subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL)
    pair = base64.b64encode(f"{public['key']}:{private['key']}".encode()).decode()
    headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/json"}

    def post(part):
        body = json.dumps({"rows": part}).encode()
        request = urllib.request.Request(f"http://{address}/v0.2/match", body, headers)
        with urllib.request.urlopen(request) as response:
            response.read()
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://{address}/readyz"):
                    break
            except OSError:
                time.sleep(0.1)
        batches = [rows[start:start + BATCH] for start in range(0, len(rows), BATCH)]
        post(batches[0])
        started = time.monotonic()
        for batch in batches:
            post(batch)
        return len(rows) / (time.monotonic() - started)
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--causeway", type=Path, default=Path("target/release/causeway"))
    parser.add_argument("--file", type=Path, help="an EO BMF file; without one, one is generated")
    parser.add_argument("--data", type=Path, help="a data folder with the nonprofits of the file")
    parser.add_argument("--generate", type=int, default=1_800_000)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--core", default="0")
    parser.add_argument("--min-rate", type=float, default=5_000)
    parser.add_argument("--messy-rows", type=int, default=5_000)
    parser.add_argument("--min-recall", type=float, default=0.8)
    parser.add_argument("--min-precision", type=float, default=0.99)
    options = parser.parse_args()
    causeway = options.causeway.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        file, data = options.file, options.data
        if file is None:
            file = folder / "eo.csv"
            with open(file, "wb") as out:
                run([causeway, "generate", "--count", options.generate, "--seed", 1], stdout=out)
        if data is None:
            data, imported = folder / "data", folder / "imported.csv"
            keep(file, imported)
            run([causeway, "import", "irs", imported, "--data", data], stdout=subprocess.DEVNULL)
        generator = random.Random(1)
        sample = [row for row in read_rows(file, options.rows, 1) if options.data or not is_held_out(row)]
        rows = [disguise(row, generator) for row in sample]
        rate, results = measure_command(causeway, data, rows, options.core, folder)
        http_rate = measure_http(causeway, data, rows, options.core)
        messy = read_rows(file, options.messy_rows, 2)
        recall, precision, cut = judge_messy(causeway, data, messy, options.data is not None, options.core, folder)
    right = wrong = 0
    for row, result in zip(rows, results):
        best = (result["candidates"] or [{}])[0]
        if result["match"]:
            right += best.get("ein") == row["id"]
            wrong += best.get("ein") != row["id"]
    percent = lambda count: f"{100 * count / len(rows):.2f}%"
    verdict = lambda rate: "ok" if rate >= options.min_rate else f"below {options.min_rate:,.0f}"
    print("| Matching on one core | Result | Bound |\n|---|---:|---|")
    print(f"| `causeway match`, rows per second | {rate:,.0f} | {verdict(rate)} |")
    print(f"| `POST /v0.2/match`, rows per second | {http_rate:,.0f} | {verdict(http_rate)} |")
    print(f"| rows matched to their nonprofit | {percent(right)} | |")
    print(f"| rows matched to another nonprofit | {percent(wrong)} | |")
    within = lambda value, bound: "ok" if value >= bound else f"below {bound}"
    print(f"| messy rows matched to their nonprofit (recall) | {recall:.3f} | {within(recall, options.min_recall)} |")
    print(f"| matches of messy rows that are right (precision) | {precision:.3f} | {within(precision, options.min_precision)} |")
    print(f"| cut names that were matched | {cut} | |")
    is_slow = min(rate, http_rate) < options.min_rate
    sys.exit(is_slow or recall < options.min_recall or precision < options.min_precision)


if __name__ == "__main__":
    main()

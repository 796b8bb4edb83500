#!/usr/bin/env python3
"""Compares the causes that causeway assigns with those that another platform shows.

    load/causes.py --tags cause_tags.csv --file eo.csv.gz
    load/causes.py --tags cause_tags.csv --file eo.csv.gz --judgments load/cause-judgments.csv --each

The file of tags has the columns EIN, NAME and TAGS (causes separated by semicolons). The rows of these EINs in the EO BMF
file are imported into an empty folder with the built binary, and their causes are read from the API. Precision is the
fraction of our causes that the platform also shows, recall the fraction of its causes that we also assign.

A third of the EINs is held out (CRC-32 of the nine digits, modulo 3, is 0). Change the rules only for the others.

Judgments say of single nonprofits and causes whether the cause belongs to the nonprofit: "yes", "no", or "not stated"
if it may, but neither the name nor the code of the nonprofit says so. They correct both figures: a cause of ours that
belongs is not an error, and one that is not stated cannot be found.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

# The platform shows one of the two.
SAME = {"visualart": "art"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tags", type=pathlib.Path, required=True)
    parser.add_argument("--file", type=pathlib.Path, required=True, help="an EO BMF file, .csv or .csv.gz")
    parser.add_argument("--judgments", type=pathlib.Path)
    parser.add_argument("--causeway", type=pathlib.Path, default=pathlib.Path("target/release/causeway"))
    parser.add_argument("--each", action="store_true", help="also print a line for each cause, of the part to tune")
    return parser.parse_args()


def read_tags(path):
    """Returns the tags by EIN. Some names hold unescaped quotes, so the first and the last comma separate the columns."""
    tags = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        ein, _, rest = line.partition(",")
        names = rest.rpartition(",")[2]
        if ein.strip():
            found = names.split(";") if re.fullmatch("[a-z;-]*", names) else []
            tags.append((ein.strip().zfill(9), normalize(found)))
    return tags


def normalize(causes):
    return {SAME.get(cause, cause) for cause in causes if cause}


def select_rows(path, eins, target):
    """Copies the header and the rows of these EINs."""
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
    with opened as source, open(target, "wb") as out:
        out.write(next(source))
        out.writelines(line for line in source if line[:9].decode("latin-1") in eins)


def assigned_causes(causeway, rows, eins, folder):
    """Imports the rows, serves them, and returns our causes by EIN. EINs that are not in the file are left out."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAUSEWAY_")}
    environment |= {"CAUSEWAY_DATA": str(folder), "CAUSEWAY_METRICS_LISTEN": "off", "CAUSEWAY_SERVE__DRAIN": "0"}

    def run(*command):
        done = subprocess.run([causeway, *command], env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"causes.py: causeway {' '.join(command)} failed:\n{done.stderr}")
        return done.stdout

    run("import", "irs", str(rows))
    run("account", "create", "causes")
    key = json.loads(run("key", "create", "--account", "causes", "--kind", "public", "--json"))
    run("limit", "set", key["id"], "details=1000000")
    server = subprocess.Popen(
        [causeway, "serve", "--listen", listen],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_ready(server, listen)
        causes = {}
        for ein in sorted(eins):
            url = f"http://{listen}/v0.2/nonprofit/{ein}?apiKey={key['key']}"
            try:
                with urllib.request.urlopen(url) as response:
                    tags = json.load(response)["data"]["nonprofitTags"]
            except urllib.error.HTTPError as error:
                if error.code != 404:
                    raise
                continue
            causes[ein] = normalize(tag["tagName"] for tag in tags)
        return causes
    finally:
        server.terminate()
        server.wait()


def wait_until_ready(server, listen):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{listen}/readyz"):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit("causes.py: the server is not ready")


def is_held_out(ein):
    return zlib.crc32(ein.encode()) % 3 == 0


def compare(pairs):
    """Counts the causes that both have, only we have, and only the platform has, by cause."""
    counts = collections.Counter()
    for _, ours, theirs in pairs:
        counts.update((cause, "both") for cause in ours & theirs)
        counts.update((cause, "ours") for cause in ours - theirs)
        counts.update((cause, "theirs") for cause in theirs - ours)
    return counts


def totals(counts):
    return [sum(count for (_, side), count in counts.items() if side == each) for each in ("both", "ours", "theirs")]


def ratio(part, *rest):
    whole = part + sum(rest)
    return f"{part / whole:9.3f}" if whole else "        -"


def print_scores(pairs):
    held_out = [pair for pair in pairs if is_held_out(pair[0])]
    tuned = [pair for pair in pairs if not is_held_out(pair[0])]
    print("                              nonprofits precision    recall")
    for title, part in [("to tune", tuned), ("held out", held_out), ("all", pairs)]:
        both, ours, theirs = totals(compare(part))
        print(f"{title:<30} {len(part):9} {ratio(both, ours)} {ratio(both, theirs)}")
        tagged = [pair for pair in part if pair[2]]
        both, ours, theirs = totals(compare(tagged))
        print(f"{'  with at least one tag':<30} {len(tagged):9} {ratio(both, ours)} {ratio(both, theirs)}")
    return tuned, held_out


def print_judged(path, pairs):
    """Prints the figures of the held-out part, corrected by the share of each verdict among the judged differences."""
    by_ein = collections.defaultdict(lambda: (set(), set()))
    for ein, ours, theirs in pairs:
        by_ein[ein][0].update(ours)
        by_ein[ein][1].update(theirs)
    verdicts = collections.Counter()
    with open(path, newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            ours, theirs = by_ein[row["ein"]]
            sides = [side for side, causes in (("ours", ours - theirs), ("theirs", theirs - ours)) if row["cause"] in causes]
            verdicts.update((side, row["belongs"]) for side in sides)
    print("\njudged differences, held out   belongs  does not  not stated")
    for side, title in [("ours", "only we assign it"), ("theirs", "only the platform shows it")]:
        print(f"{title:<30} {verdicts[side, 'yes']:7} {verdicts[side, 'no']:9} {verdicts[side, 'not stated']:11}")
    both, ours, theirs = totals(compare(pairs))

    def share(side):
        judged = sum(count for (each, _), count in verdicts.items() if each == side)
        return verdicts[side, "yes"] / judged if judged else 0

    right = both + ours * share("ours")
    print(f"corrected precision {ratio(right, both + ours - right)}")
    print(f"corrected recall    {ratio(right, theirs * share('theirs'))}")


def main():
    options = arguments()
    tags = read_tags(options.tags)
    eins = {ein for ein, _ in tags}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = folder / "rows.csv"
        select_rows(options.file, eins, rows)
        causes = assigned_causes(options.causeway.resolve(), rows, eins, folder / "data")
    pairs = [(ein, causes[ein], theirs) for ein, theirs in tags if ein in causes]
    tuned, held_out = print_scores(pairs)
    if options.judgments:
        print_judged(options.judgments, held_out)
    if options.each:
        counts = compare(tuned)
        print("\ncause, to tune           both  only we  only they")
        for cause in sorted({cause for cause, _ in counts}):
            print(f"{cause:<24} {counts[cause, 'both']:4} {counts[cause, 'ours']:8} {counts[cause, 'theirs']:10}")


if __name__ == "__main__":
    main()

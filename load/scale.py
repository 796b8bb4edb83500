#!/usr/bin/env python3
"""Computes what a large installation needs from measured costs.

The costs are in scale.json, each with the command or the table that it comes from. Measure them on your machines, change
the file, and run this again:

    load/scale.py                                            # the tables of docs/scale.md
    load/scale.py --servers 20 --nonprofits 2e6 --donations 1e5
    load/scale.py --check docs/scale.md                      # fails if its tables or its text have other figures
"""

import argparse
import json
import pathlib
import re
import sys

DAY = 86_400
GIB = 1 << 30


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    number = lambda text: int(float(text))
    parser.add_argument("--servers", type=number, default=100)
    parser.add_argument("--nonprofits", type=number, default=100_000_000)
    parser.add_argument("--donations", type=number, default=10_000_000, help="per day")
    parser.add_argument("--views", type=number, default=100, help="pages and API calls for each donation")
    parser.add_argument("--peak", type=number, default=10, help="the busiest second, relative to the average of the day")
    parser.add_argument("--commit-millis", type=float, default=5, help="a commit with a synchronous standby")
    parser.add_argument("--network", type=float, default=1.0, help="Gbit/s of one server")
    parser.add_argument("--storage", type=float, default=10.0, help="Gbit/s of the blob store")
    parser.add_argument("--figures", type=pathlib.Path, default=pathlib.Path(__file__).with_name("scale.json"))
    parser.add_argument("--check", type=pathlib.Path, metavar="DOCUMENT")
    return parser.parse_args()


def gib(count):
    return f"{count / GIB:,.1f} GiB" if count < 1024 * GIB else f"{count / GIB / 1024:,.2f} TiB"


def duration(seconds):
    if seconds < 1:
        return f"{seconds * 1000:,.1f} ms"
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def table(header, rows):
    rows = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join(":" + "-" * (width + 1) for width in widths) + "|")
    return "\n".join(lines)


def sizes(text):
    """Returns the sizes and durations in a text, such as (146.3, "GiB")."""
    return [(float(value.replace(",", "")), unit) for value, unit in re.findall(r"([\d,.]+) (GiB|TiB|min)\b", text)]


def costs(figures):
    rows = []
    for figure in figures.values():
        rows.append([f"{figure['value']:,}", figure["unit"], figure["from"]])
    return table(["value", "unit", "from"], rows)


def needs(options, cost):
    servers, nonprofits, donations = options.servers, options.nonprofits, options.donations
    views = donations * options.views
    per_second = donations / DAY
    busiest = per_second * options.peak
    snapshot = nonprofits * cost["snapshot_bytes"]
    sitemaps = nonprofits * cost["sitemap_bytes"]
    entry = cost["donation_bytes"] + cost["outbox_bytes"]
    year = donations * 365
    commits = 1000 / options.commit_millis
    fetch = snapshot * 8 / (options.network * 1e9)
    publish = snapshot * servers * 8 / (options.storage * 1e9)
    view_rate = views / DAY * options.peak
    # Half of the views are pages, a quarter details, a quarter keystrokes of which half are new.
    view_seconds = (0.5 / cost["profiles_per_core"] + 0.25 / cost["details_per_core"]
                    + 0.125 / cost["keystrokes_per_core"] / cost["large_search_ratio"]
                    + 0.125 / cost["new_keystrokes_per_core"] / cost["large_search_ratio"])
    return [
        ["Reads", "calls in the busiest second", f"{view_rate:,.0f}/s", f"{donations:,} x {options.views} / {DAY:,} s x {options.peak}"],
        ["Reads", "cores for them, on all servers together", f"{view_rate * view_seconds:,.1f}", f"{view_seconds * 1e6:,.1f} us of CPU per call"],
        ["Directory", "snapshot, on the disk of every server", gib(snapshot), f"{nonprofits:,} x {cost['snapshot_bytes']:g} bytes"],
        ["Directory", "disk of a server: two snapshots and sitemaps", gib(2 * snapshot + 2 * sitemaps), f"and {cost['sitemap_bytes']:g} bytes of sitemaps"],
        ["Directory", "page cache that a busy server fills", gib(nonprofits * cost["resident_bytes"]), f"{nonprofits:,} x {cost['resident_bytes']:g} bytes"],
        ["Directory", "memory of the server that builds", gib(nonprofits * cost["build_bytes"]), f"{nonprofits:,} x {cost['build_bytes']:g} bytes"],
        ["Directory", "time to build", duration(nonprofits * cost["build_micros"] / 1e6), f"{nonprofits:,} x {cost['build_micros']:g} us"],
        ["Directory", "time for one server to fetch it", duration(fetch), f"{options.network:g} Gbit/s"],
        ["Directory", "time until all servers have it", duration(max(fetch, publish)), f"{servers} x {gib(snapshot)} at {options.storage:g} Gbit/s"],
        ["Directory", "import of everything", duration(nonprofits * cost["import_micros"] / 1e6), f"{nonprofits:,} x {cost['import_micros']:g} us"],
        ["Directory", "in PostgreSQL", gib(nonprofits * cost["store_bytes"]), f"{nonprofits:,} x {cost['store_bytes']:g} bytes"],
        ["Donations", "in the busiest second", f"{busiest:,.0f}/s", f"{donations:,} / {DAY:,} s x {options.peak}"],
        ["Donations", "cores of the servers for them", f"{busiest * cost['donation_micros'] / 1e6:,.2f}", f"{cost['donation_micros']:g} us of CPU each"],
        ["Donations", "commits per second, one after the other", f"{commits:,.0f}/s", f"{options.commit_millis:g} ms each"],
        ["Donations", "donations that must share a commit then", f"{busiest / commits:,.1f}", f"up to {cost['donations_per_commit']:g} were measured"],
        ["Donations", "part of what one ledger can take", f"{busiest / cost['donations_per_second']:.0%}", f"{cost['donations_per_second']:,}/s were measured"],
        ["Donations", "growth of PostgreSQL per day", gib(donations * entry), f"{donations:,} x {entry:g} bytes"],
        ["Donations", "ledger after a year", gib(year * cost["donation_bytes"]), f"{year:,} x {cost['donation_bytes']:g} bytes"],
        ["Donations", "outbox at its largest", gib(donations * cost["outbox_days"] * cost["outbox_bytes"]), f"{cost['outbox_days']:g} days"],
        ["Database", "transactions per second without any call", f"{servers * cost['idle_transactions']:,.0f}/s", f"{servers} x {cost['idle_transactions']:g}"],
        ["Database", "connections", f"{servers * cost['connections']:,.0f}", f"{servers} x {cost['connections']:g}"],
    ]


def main():
    options = arguments()
    figures = json.loads(options.figures.read_text())
    cost = {name: figure["value"] for name, figure in figures.items()}
    tables = [costs(figures), table(["part", "what", "needs", "because"], needs(options, cost))]
    if options.check is None:
        print("\n\n".join(tables))
        return
    document = options.check.read_text()
    if any(text not in document for text in tables):
        sys.exit(f"{options.check} does not have the tables that load/scale.py prints; copy them from there")
    prose = "\n".join(line for line in document.splitlines() if not line.startswith("|"))
    computed = {(round(value), unit) for value, unit in sizes("\n".join(tables))}
    for value, unit in sizes(prose):
        if (value, unit) not in computed:
            sys.exit(f"{options.check}: the text says {value:g} {unit}, which is not in the tables, rounded")


main()

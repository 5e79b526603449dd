"""Damage to files, by seed: bytes, words, lines, and values inside JSON, XML and
safetensors."""

import gzip
import json
import random
import re
import struct
from typing import Any

VALUES: list[Any] = json.loads(
    r"""
[null, true, false, 0, -1, 1, 2, 0.5, 1e308, NaN, Infinity, 2147483648,
 9223372036854775808, 1000000000000000000000000000000,
 "0", "1", "-1", "1_000", "nan", "inf", "1e400", "١", "None", "true", "\ud800", "😀",
 "e\u0301", "<t>", "<t> a </t>", "../../x", "/etc/passwd", "CON", "a.b.c", "=1+1", "-",
 "", " ", "\n", "a\tb", "\u2028", "\u202e", "\u0000", "\u001b[31m",
 [], {}, [[]], [null], [1, "a", null], [[1, 2]], {"": null}, {"a": {"b": []}}]
"""
)
VALUES += ["x" * 300, "(" * 400, "not. " * 300, [0] * 50]
VALUES.append(json.loads("[" * 90 + "]" * 90))
WORDS = rb"""null true false NaN Infinity - 1e999 -1 0 1_000 " ' \ \ud800 \u0000 { } [ ]
, : <t> </t> <![CDATA[ ]]> &amp; &lol; <a> </a> ( ) =1 @ # 0x10 1e-400 I-V B- __class__
${x} ../ system,input,metric,score"""
UNSEEN = (
    b"\t \n \r \r\n \n\n\n \x00 \xff \xef\xbb\xbf \xed\xa0\x80 \xc3 \xe2\x80\xa8 \xe2\x80\xae"
    b" \x1b[31m \x1f\x8b"
)
TOKENS = [
    *WORDS.split(),
    *UNSEEN.split(b" "),
    b"<!DOCTYPE a [",
    b" " * 99,
    b"9" * 400,
    b"9" * 5000,
    b"[" * 200,
    b"{" * 50,
    b"(" * 150,
    b"a" * 2000,
]
A_WORD = rb'"[^"\n]*"|[\w.+-]+|[^\w\s]'
A_TAG = rb"<[^>]*>|\w+\s*=\s*\"[^\"]*\""


class Mutator:
    """A source of damaged copies of some bytes; the same seed gives the same copies."""

    def __init__(self, seed: str):
        self.random = random.Random(seed)

    def damaged(self, data: bytes, kind: str) -> bytes:
        """The bytes after one to four pieces of damage, some knowing their `kind` (a
        suffix)."""
        ways = [self.bytes, self.words, self.lines]
        known = {
            ".json": self.json,
            ".jsonl": self.json_line,
            ".safetensors": self.header,
            ".pyr": self.tags,
            ".pan": self.tags,
        }
        ways += [known[kind]] * 4 if kind in known else []
        for _ in range(self.random.choice((1, 1, 2, 4))):
            data = self.random.choice(ways)(data)
        return gzip.compress(data, 1) if self.random.random() < 0.01 else data[:200_000]

    def bytes(self, data) -> bytes:
        """Bytes cut, doubled, moved, flipped or put in."""
        r = self.random
        start = r.randrange(len(data) + 1)
        end = start + int(r.paretovariate(0.7))
        before = data[:start]
        part = data[start:end]
        after = data[end:]
        rest = before + after
        place = r.randrange(len(rest) + 1)
        flipped = bytes(byte ^ 1 << r.randrange(8) for byte in part[:1]) + part[1:]

        ways = (
            before,
            part + after,
            rest,
            before + part * r.choice((2, 3, 51)) + after,
            before + flipped + after,
            before + r.randbytes(r.choice((1, 2, 8))) + after,
            rest[:place] + part + rest[place:],
            before + r.choice(TOKENS) + part + after,
        )
        return r.choice(ways)

    def words(self, data) -> bytes:
        """A number, word or quoted text replaced, taken out or doubled."""
        return self._replaced(data, A_WORD)

    def tags(self, data) -> bytes:
        """The same with an element's tag or an attribute."""
        return self._replaced(data, A_TAG)

    def _replaced(self, data, pattern) -> bytes:
        r = self.random
        found = list(re.finditer(pattern, data))
        if not found:
            return data + r.choice(TOKENS)
        start, end = r.choice(found).span()
        other = r.choice(found)[0]
        ways = (
            r.choice(TOKENS),
            other,
            other * 30,
            b"",
            data[start:end] * 2,
        )
        return data[:start] + r.choice(ways) + data[end:]

    def lines(self, data) -> bytes:
        """Lines taken out, doubled, swapped, joined, blanked or ended otherwise."""
        r = self.random
        lines = data.split(b"\n")
        i = r.randrange(len(lines))
        j = r.randrange(len(lines))
        line = lines[i]
        before = lines[:i]
        after = lines[i + 1 :]
        swapped = lines.copy()
        swapped[i] = lines[j]
        swapped[j] = line

        ways = (
            before + after,
            [*lines[:j], line, *lines[j:]],
            swapped,
            [*before, line + b"".join(after[:1]), *after[1:]],
            [*before, b"", *after],
            [*before, *[line] * r.choice((2, 60)), *after],
        )
        ends = (b"\r\n", b"\r", b"\n\n", b"\xe2\x80\xa8")
        if r.randrange(7) == 0:
            return r.choice(ends).join(lines)
        return b"\n".join(r.choice(ways))

    def json(self, data) -> bytes:
        """One value somewhere inside replaced, taken out, doubled, renamed or
        wrapped."""
        try:
            tree = self._changed(json.loads(data))
            text = json.dumps(tree, ensure_ascii=self.random.random() < 0.5)
        except (ValueError, RecursionError):
            return self.words(data)
        return text.encode("utf-8", "surrogatepass")

    def json_line(self, data) -> bytes:
        """`json` on one of the lines."""
        lines = data.split(b"\n")
        i = self.random.randrange(len(lines))
        lines[i] = self.json(lines[i])
        return b"\n".join(lines)

    def _changed(self, tree: Any) -> Any:
        r = self.random
        root = [tree]
        nodes: list[tuple[Any, Any]] = [(root, 0)]
        for holder, key in nodes:
            inner = holder[key]
            if isinstance(inner, dict | list) and len(nodes) < 3000:
                keys = inner if isinstance(inner, dict) else range(len(inner))
                nodes += [(inner, key) for key in keys]

        holder, key = r.choice(nodes)
        value = holder[key]
        other, place = r.choice(nodes)
        copied = json.loads(json.dumps(other[place]))
        ways = [
            [value],
            {"a": value},
            str(value),
            copied,
            r.choice(VALUES),
            r.choice(VALUES),
        ]
        if isinstance(value, list):
            ways += [value * times for times in (0, 2, 30)]
        if isinstance(value, int | float):
            ways += [-value, value + 1, value * 1000, 0.5, -0.5]

        holder[key] = r.choice(ways)
        if isinstance(holder, dict) and r.randrange(7) == 0:
            names = (key + "s", key[:-1], key.upper(), "", "id", "input")
            holder[r.choice(names)] = value
        if holder is not root and r.randrange(7) == 0:
            del holder[key]
        return root[0]

    def header(self, data) -> bytes:
        """The JSON before the numbers of a safetensors file, or the length that it
        says."""
        if len(data) < 8:
            return self.bytes(data)

        (size,) = struct.unpack("<Q", data[:8])
        if size > len(data) or self.random.random() < 0.2:
            wrong = (0, 1, size + 1, size - 1, 2**31, 2**63, 2**64 - 1)
            return struct.pack("<Q", self.random.choice(wrong) % 2**64) + data[8:]

        damage = self.random.choice((self.json, self.words, self.bytes))
        head = damage(data[8 : 8 + size])
        return struct.pack("<Q", len(head)) + head + data[8 + size :]

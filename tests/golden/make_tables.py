"""Writes tables.json: texts of CSV, nasty by hand and at random, and the rows that Python's csv module reads from them.

    python3 tests/golden/make_tables.py

Line breaks inside a cell are written as \\n, however the file writes them; rows of white space alone are left out.
"""

import csv
import io
import json
import pathlib
import random

draw = random.Random(7)

BY_HAND = [
    "a,b\n1,2\n",
    "a,b\r\n1,2\r\n",
    "\ufeffa,b\n1,2",
    '"a","b"\n"1","2"\n',
    'a,"b ""quoted"" c",d\n',
    '"line\nbreak",x\n"two\r\n\r\nmore",y\r\n',
    '"comma, inside",";",",",""\n',
    'he said "no",x\n',
    'x"y"z,"a"b,"a"b"c"\n',
    ' "a", b ,\t"c"\n',
    ',,\n"",,""\n',
    "a,b,c,d\n1\n1,2,3,4,5,6\n",
    '""""\n',
    '"""",""""""\n',
    '"""a""",b\n',
    "a\n\n\nb\n",
    'ü,"日本\n語",🙂\n',
    "a,b\n1,2,\n",
    '"a\n""\n",b\nc,d\n',
    "'a,b',c\n",
    "a;b,c\n",
    "x,y\\,z\n",
]
PIECES = ["a", "b c", '"', '""', '""', "\n", "\r\n", "ü", "'", ";", "\t", " ", "0", "日"]


def rows(text, delimiter):
    found = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter)
    plain = [[cell.replace("\r\n", "\n") for cell in row] for row in found]
    return [row for row in plain if any(cell.strip() for cell in row) or len(row) > 1]


def written(delimiter):
    """What a writer of Python makes of random cells."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
                        lineterminator=draw.choice(["\n", "\r\n"]))
    for _ in range(draw.randrange(1, 6)):
        writer.writerow(["x" + "".join(draw.choices(PIECES + [delimiter], k=draw.randrange(5))) for _ in range(draw.randrange(1, 5))])
    return text.getvalue()


def sloppy(delimiter):
    """Quotes where no writer puts them; each line has an even number, so that none stays open for long."""
    lines = []
    for _ in range(draw.randrange(1, 5)):
        line = "".join(draw.choices(["a", '"', '"', delimiter, " b", '""', "ü"], k=draw.randrange(1, 12)))
        lines.append(line + ('"' if line.count('"') % 2 else ""))
    return "".join(line + "\n" for line in lines)


cases = [(text, ",") for text in BY_HAND]
for number in range(120):
    delimiter = draw.choice(",,;|")
    cases.append(((written if number % 2 else sloppy)(delimiter), delimiter))
# A quote that is still open at the end is an Error in Fovea, where Python takes what there is.
golden = []
for text, delimiter in cases:
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False))
        closed = rows(text + f"{delimiter}end\n", delimiter)[-1][-1] == "end"
    except csv.Error:
        continue
    if closed:
        golden.append({"text": text, "delimiter": delimiter, "rows": rows(text, delimiter)})
path = pathlib.Path(__file__).with_name("tables.json")
path.write_text(json.dumps(golden, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
print(path.name, path.stat().st_size, len(golden), "of", len(cases))

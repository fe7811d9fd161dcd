"""Counts the words of a text in a table file that grows from run to run, and prints those that begin with a prefix:
python word_count.py TABLE TEXT PREFIX"""

import re
import sys

from bytewright import TreeTable

if len(sys.argv) != 4:
    sys.exit("usage: python word_count.py TABLE TEXT PREFIX")
_, path, text, prefix = sys.argv

with TreeTable.open(path, values="integer") as counts:
    with counts.transaction(), open(text, encoding="utf-8") as lines:
        for line in lines:
            for word in re.findall("[a-z]+", line.lower()):
                counts.increment(word)
    for word, count in counts.range(prefix=prefix):
        print(word, count)

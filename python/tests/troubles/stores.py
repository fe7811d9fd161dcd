"""Operations on stores of Ruby's PStore."""

import os

import pytest

from bytewright import ClosedError, pstore
from troubles.operation import Operation


class RunATransactionOfAStore(Operation):
    """Python reads stores: each reading is one that writes nothing."""

    files = ("s.pstore",)
    CONTENT = b'\x04\x08{\x06I"\x06a\x06:\x06ETi\x06'

    def __init__(self, folder):
        super().__init__(folder)
        (folder / "s.pstore").write_bytes(self.CONTENT)

    def run(self):
        with pstore.open(self.folder / "s.pstore") as store:
            return dict(store), store.get("none"), store.damage

    def itself(self):
        store = pstore.open(self.folder / "s.pstore")
        os.truncate(self.folder / "s.pstore", 0)
        assert dict(store) == {"a": 1}
        store.close()
        with pytest.raises(ClosedError):
            store["a"]


OPERATIONS = {
    "run a transaction of a store": RunATransactionOfAStore,
}

"""Operations on stores of flows."""

import pytest

import bytewright
from bytewright import CaptureWriter, ClosedError, FlowStore, LockError
from troubles.operation import CAPTURE, Operation


class MergeFlowsIntoAStore(Operation):
    files = ("m.bwt", "m.bwt.log")

    def __init__(self, folder):
        super().__init__(folder)
        self.store = FlowStore(folder / "m.bwt")

    def run(self):
        merge = bytewright.flows(CAPTURE, into=self.store)[0]
        return merge["packets"], [capture["name"] for capture in self.store.captures() if capture["name"] == str(CAPTURE)]

    def close(self):
        self.store.close()
        self.store.close()

    def grow(self):
        for number in range(10_000):
            path = self.folder / "grown.pcap"
            with CaptureWriter(path) as writer:
                for place in range(500):
                    ports = (number % 65_536).to_bytes(2, "big") + place.to_bytes(2, "big")
                    header = bytes.fromhex("450000200000000040110000") + bytes([10, 0, number % 256, 1, 10, 0, 0, 2])
                    writer.write(bytes(12) + b"\x08\x00" + header + ports + bytes.fromhex("000c0000") + bytes(4), time=number)
            try:
                bytewright.flows(path, into=self.store)
            finally:
                path.unlink()

    def itself(self):
        self.run()
        with pytest.raises((LockError, bytewright.ArgumentError, bytewright.FormatError)):
            bytewright.flows(self.folder / "m.bwt", into=self.folder / "m.bwt")
        try:
            assert self.store.merge(self.folder / "m.bwt")[0]["added"] is False
        except (LockError, bytewright.ArgumentError):
            pass
        assert len(self.run()[1]) == 1


class WalkAStoreOfFlows(MergeFlowsIntoAStore):
    def __init__(self, folder):
        super().__init__(folder)
        bytewright.flows(CAPTURE, into=self.store)

    def run(self):
        return [flow.packets for flow in self.store]

    def itself(self):
        with pytest.raises(ClosedError, match="flow store"):
            for _ in self.store:
                self.store.close()


OPERATIONS = {
    "merge flows into a store": MergeFlowsIntoAStore,
    "walk a store of flows": WalkAStoreOfFlows,
}

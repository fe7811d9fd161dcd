// Reads files with the core, beside the page, which stays free meanwhile.

const PIECE = 4 << 20;

// Lends a file in pieces, of which the present one is kept.
class Lender {
  constructor(file, progress) {
    Object.assign(this, { file, progress, begin: 0, piece: new Uint8Array(0) });
    this.reader = new FileReaderSync();
  }

  read(at, len) {
    if (at < this.begin || at >= this.begin + this.piece.length) {
      this.begin = at;
      this.piece = new Uint8Array(this.reader.readAsArrayBuffer(this.file.slice(at, at + PIECE)));
      this.progress(at);
    }
    const from = at - this.begin;
    return this.piece.subarray(from, from + len);
  }
}

async function unpacked(packed) {
  const stream = new Blob([Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

onmessage = async ({ data: { packed, question, named, files } }) => {
  try {
    const lend = {};
    const core = await Core.of(await unpacked(packed), { read: (at, len) => lend.file.read(at, len) });
    core.begin(question, named);
    let before = 0;
    for (const file of files) {
      const already = before;
      lend.file = new Lender(file, (at) => postMessage({ read: already + at }));
      try {
        const damage = core.add(file.name, file.size);
        if (damage !== null) postMessage({ damage });
      } catch (error) {
        if (core.panic !== null) throw error;
        postMessage({ error: error.message });
      }
      before += file.size;
    }
    postMessage({ answer: core.finish(), question });
  } catch (error) {
    postMessage({ failure: error.message });
  }
};

// Reads files with the core, beside the page, which stays free meanwhile.

// Bytes of all files that are in memory.
const LENT = 4 << 20;
const PIECE_MIN = 64 << 10;

// Lends files in pieces, of which each keeps the present one.
class Lender {
  constructor(files, progress) {
    const piece = Math.max(Math.floor(LENT / files.length), PIECE_MIN);
    Object.assign(this, { progress, piece, read_of_all: 0 });
    this.reader = new FileReaderSync();
    this.files = files.map((file) => ({ file, begin: 0, bytes: new Uint8Array(0), reached: 0 }));
  }

  read(number, at, len) {
    const lent = this.files[number];
    if (at < lent.begin || at >= lent.begin + lent.bytes.length) {
      lent.begin = at;
      lent.bytes = new Uint8Array(this.reader.readAsArrayBuffer(lent.file.slice(at, at + this.piece)));
      this.reach(lent, at);
    }
    const from = at - lent.begin;
    return lent.bytes.subarray(from, from + len);
  }

  reach(lent, at) {
    this.read_of_all += Math.max(at - lent.reached, 0);
    lent.reached = Math.max(lent.reached, at);
    this.progress(this.read_of_all);
  }

  // Says that a file is not asked for any more.
  end(number) {
    this.reach(this.files[number], this.files[number].file.size);
    this.files[number].bytes = new Uint8Array(0);
  }
}

// Keeps an answer as the browser keeps files: not all of it in memory.
class Answer {
  constructor() {
    Object.assign(this, { whole: [], parts: [], len: 0 });
  }

  write(bytes) {
    this.parts.push(bytes);
    this.len += bytes.length;
    if (this.len >= LENT) this.store();
  }

  store() {
    this.whole.push(new Blob(this.parts));
    Object.assign(this, { parts: [], len: 0 });
  }

  blob() {
    this.store();
    return new Blob(this.whole);
  }
}

async function unpacked(packed) {
  const stream = new Blob([Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

onmessage = async ({ data: { packed, question, named, files } }) => {
  try {
    const lender = new Lender(files, (read) => postMessage({ read }));
    const answer = new Answer();
    const core = await Core.of(await unpacked(packed), { read: (...call) => lender.read(...call), write: (bytes) => answer.write(bytes) });
    core.begin(question, named);
    for (const [number, file] of files.entries()) {
      try {
        const damage = core.add(file.name, file.size);
        if (damage !== null) postMessage({ damage });
      } catch (error) {
        if (core.panic !== null) throw error;
        postMessage({ error: error.message });
      }
      if (question !== "cut") lender.end(number);
    }
    const told = core.finish();
    postMessage({ answer: answer.blob(), told, question });
  } catch (error) {
    postMessage({ failure: error.message });
  }
};

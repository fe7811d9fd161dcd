// Asks the core of the page as the page does, without a browser: node read.js PAGE QUESTION [OPTION...] -- CAPTURE...
//
// The answer comes on standard output; damage, errors and what is said of the answer on standard error, and there the processor time with
// TIME=1, and with MEMORY=1 the bytes of the core's memory.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const zlib = require("node:zlib");

const [page, question, ...rest] = process.argv.slice(2);
const named = rest.slice(0, rest.indexOf("--"));
const captures = rest.slice(rest.indexOf("--") + 1);
const html = fs.readFileSync(page, "utf8");
const part = (id) => html.split(`id="${id}">`)[1].split("</script>")[0];
const Core = new Function(`${part("core")}; return Core;`)();

(async () => {
  const files = captures.map((capture) => fs.openSync(capture));
  let core;
  const host = {
    read: (file, at, len) => {
      if (process.env.OVERLAPPED) core.begin("report", []);
      if (process.env.REFUSED_AT !== undefined && at >= Number(process.env.REFUSED_AT)) throw new Error("refused");
      const bytes = Buffer.alloc(Math.min(len, Number(process.env.PIECE ?? len)));
      return bytes.subarray(0, fs.readSync(files[file], bytes, 0, bytes.length, at));
    },
    write: (bytes) => process.stdout.write(bytes),
  };
  core = await Core.of(zlib.gunzipSync(Buffer.from(part("program"), "base64")), host);
  const began = process.cpuUsage();
  core.begin(question, named);
  for (const [at, capture] of captures.entries()) {
    try {
      const damage = core.add(path.basename(capture), fs.fstatSync(files[at]).size);
      if (damage !== null) console.error(`damage: ${damage}`);
    } catch (error) {
      if (core.panic !== null) throw error;
      console.error(`error: ${error.message}`);
    }
  }
  core.finish().forEach((line) => console.error(line));
  if (process.env.MEMORY) console.error(`memory: ${core.calls.memory.buffer.byteLength}`);
  if (process.env.TIME) console.error(`time: ${process.cpuUsage(began).user / 1e6}`);
})().catch((error) => {
  console.error(`failure: ${error.message}`);
  process.exitCode = 1;
});

// Asks the core of the page as the page does, without a browser: node read.js PAGE QUESTION [OPTION...] -- CAPTURE...
//
// The answer comes on standard output; damage and errors, and the processor time with TIME=1, on standard error.
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
  const lend = {};
  const core = await Core.of(zlib.gunzipSync(Buffer.from(part("program"), "base64")), { read: (at, len) => lend.read(at, len) });
  const began = process.cpuUsage();
  core.begin(question, named);
  for (const capture of captures) {
    const file = fs.openSync(capture);
    lend.read = (at, len) => {
      if (process.env.OVERLAPPED) core.begin("report", []);
      if (process.env.REFUSED_AT !== undefined && at >= Number(process.env.REFUSED_AT)) throw new Error("refused");
      const bytes = Buffer.alloc(Math.min(len, Number(process.env.PIECE ?? len)));
      return bytes.subarray(0, fs.readSync(file, bytes, 0, bytes.length, at));
    };
    try {
      const damage = core.add(path.basename(capture), fs.fstatSync(file).size);
      if (damage !== null) console.error(`damage: ${damage}`);
    } catch (error) {
      if (core.panic !== null) throw error;
      console.error(`error: ${error.message}`);
    }
    fs.closeSync(file);
  }
  process.stdout.write(core.finish());
  if (process.env.TIME) console.error(`time: ${process.cpuUsage(began).user / 1e6}`);
})().catch((error) => {
  console.error(`failure: ${error.message}`);
  process.exitCode = 1;
});

// The core, and the functions that it calls. `host` is an object with `read(file, at, len)`, which returns bytes of the file that was
// added as that one, and `write(bytes)`, which takes the next bytes of an answer.

class Core {
  constructor(host) {
    this.host = host;
    // Text of a panic, behind which nothing is called any more.
    this.panic = null;
  }

  // Returns a core whose program runs. Of the system it has the clock, and nothing else.
  static async of(program, host) {
    const core = new Core(host);
    const module = await WebAssembly.compile(program);
    const imports = { bytewright: {
      read: (...call) => core.read(...call),
      write: (from, len) => host.write(core.bytes(from, len).slice()),
      take_panic: (...text) => { core.panic = core.text(...text); },
    } };
    // EBADF: there is no file of any number.
    const NOT_THERE = 8;
    for (const { module: name, name: call } of WebAssembly.Module.imports(module)) {
      if (name !== "bytewright") (imports[name] ??= {})[call] = () => NOT_THERE;
    }
    Object.assign(imports.wasi_snapshot_preview1 ??= {}, {
      clock_time_get: (clock, precision, into) => core.clock(into),
      random_get: (into, len) => { crypto.getRandomValues(core.bytes(into, len)); return 0; },
      environ_sizes_get: (count, len) => { core.numbers(count, 0); core.numbers(len, 0); return 0; },
      environ_get: () => 0,
      proc_exit: (code) => { throw new Error(`exit ${code}`); },
    });
    core.calls = (await WebAssembly.instantiate(module, imports)).exports;
    core.calls._initialize?.();
    core.calls.prepare();
    return core;
  }

  bytes(at, len) {
    return new Uint8Array(this.calls.memory.buffer, at, len);
  }

  text(at, len) {
    return new TextDecoder().decode(this.bytes(at, len));
  }

  numbers(at, ...numbers) {
    new Uint32Array(this.calls.memory.buffer, at, numbers.length).set(numbers);
  }

  clock(into) {
    new DataView(this.calls.memory.buffer).setBigUint64(into, BigInt(Date.now()) * 1_000_000n, true);
    return 0;
  }

  read(file, at, into, len) {
    try {
      const bytes = this.host.read(file, at, len);
      this.bytes(into, bytes.length).set(bytes);
      return bytes.length;
    } catch (refusal) {
      if (this.panic !== null) throw refusal;
      return -1;
    }
  }

  // Calls the program with a text; returns the text of damage, or null, and throws errors.
  call(name, text, ...numbers) {
    const bytes = new TextEncoder().encode(text);
    let status;
    try {
      if (this.panic !== null) throw this.panic;
      this.bytes(this.calls.room(bytes.length), bytes.length).set(bytes);
      status = this.calls[name](...numbers);
    } catch (trap) {
      this.panic ??= String(trap);
      throw new Error(`defect in the core of Bytewright: ${this.panic}`);
    }
    const told = () => this.text(this.calls.answer(), this.calls.answer_len());
    if (status === 1) throw new Error(told());
    return status === 2 ? told() : null;
  }

  begin(question, named) {
    this.call("begin", [question, ...named].join("\0"));
  }

  add(name, len) {
    return this.call("add", name, len);
  }

  // Has the answer written, and returns lines that say something of it.
  finish() {
    this.call("finish", "");
    return this.text(this.calls.answer(), this.calls.answer_len()).split("\n").filter((line) => line !== "");
  }
}

// The planet in the page: the server's own C as WebAssembly around the server's own kernels on WebGL2.
// What is between query and scene, and between codes and colours, is in planetd.wasm (api/wasm/engine.c).

import { openScreen } from "./engine-screen.js";

const words = new TextDecoder();
const bytes = new TextEncoder();

/** What WebAssembly from Debian's wasi-libc may ask for; the engine opens no file. */
function systemCalls() {
  const refuse = () => 8; // EBADF
  return { fd_close: refuse, fd_seek: refuse, fd_write: refuse };
}

async function loadCalculator() {
  if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly.");
  const answer = await fetch("/viewer/planetd.wasm");
  if (!answer.ok) throw new Error("This server was built without the page's engine.");
  const module = await WebAssembly.compile(await answer.arrayBuffer());
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: systemCalls() });
  instance.exports._initialize();
  return instance.exports;
}

async function fetchText(name) {
  const answer = await fetch(`/shaders/${name}.glsl`);
  if (!answer.ok) throw new Error(`The server has no kernel ${name}.`);
  return answer.text();
}

/** Starts the engine, or rejects with a sentence for people. */
export async function openEngine() {
  const screen = openScreen(); // first: without WebGL2 nothing needs to be fetched
  return new Engine(await loadCalculator(), screen);
}

class Engine {
  #c;
  #screen;
  #current = null; // the request that the calculator holds
  #texts = new Map(); // name of a kernel's file -> promise of its text
  #own = new Map(); // body -> the text that stands in for its kernel
  #programs = new Map(); // number of a kernel -> program
  #collected = false;

  constructor(calculator, screen) {
    this.#c = calculator;
    this.#screen = screen;
    screen.onLost = () => this.#programs.clear();
  }

  #put(text) {
    const from = bytes.encode(text);
    const room = new Uint8Array(this.#c.memory.buffer, this.#c.engine_text());
    if (from.length >= 32768) return 32768; // the calculator says that it is too long
    room.set(from);
    return from.length;
  }

  #take(length) {
    return words.decode(new Uint8Array(this.#c.memory.buffer, this.#c.engine_text(), length));
  }

  /** The settled request of a query string without "?". Never throws: see `problem`. */
  ask(query) {
    const lines = this.#take(this.#c.engine_ask(this.#put(query))).split("\n");
    if (lines[0] !== "ok") return { query, problem: { param: lines[1], detail: lines[2] } };
    const [, key, code, settled, matters, ramp] = lines;
    const values = Object.fromEntries(new URLSearchParams(settled.slice(0, -1)));
    values.palette = "auto";
    Object.assign(values, Object.fromEntries(new URLSearchParams(key)));
    const request = { query, problem: null, key, code, values };
    request.canonical = key.replace(/^rev=\d+&/, "").replace("&format=png", "");
    for (const name of ["type", "seed", "format"]) request[name] = values[name];
    for (const name of ["pixels", "frames", "fps", "zoom", "turns"]) request[name] = Number(values[name]);
    request.matters = new Set(matters.slice(0, -1).split(","));
    request.ramp = ramp.slice(0, -1).split(",");
    request.kernel = this.#c.engine_kernel();
    this.#current = request;
    this.#collected = false;
    return request;
  }

  #hold(request) {
    if (this.#current === request) return;
    this.ask(request.query);
    this.#current = request;
  }

  /** Names of the files that a kernel is made of, and the function that draws. */
  #parts(kernel) {
    const [draw, ...names] = this.#take(this.#c.engine_program(kernel)).trim().split("\n");
    return { draw, names };
  }

  #text(name) {
    if (!this.#texts.has(name)) {
      const text = fetchText(name);
      text.catch(() => this.#texts.delete(name)); // asked for again the next time
      this.#texts.set(name, text);
    }
    return this.#texts.get(name);
  }

  async #build(kernel) {
    const { draw, names } = this.#parts(kernel);
    const texts = await Promise.all(
      names.map((name) => this.#own.get(name.replace("bodies/", "")) ?? this.#text(name)),
    );
    return this.#screen.build(draw, names, texts);
  }

  /** Whether draw() can draw this request now. */
  prepared(request) {
    return this.#programs.has(request.kernel);
  }

  /** Compiles the kernel of a request, unless it is there. */
  async prepare(request) {
    if (request.problem || this.prepared(request)) return;
    const built = await this.#build(request.kernel);
    if (!built.program) throw new Error(built.problems[0].message);
    this.#programs.set(request.kernel, built.program);
  }

  #codes(request, frame, micro) {
    const c = this.#c;
    const turn = c.engine_turn(frame, micro);
    const codes = c.engine_codes();
    if (!codes) throw new Error("The page has no memory left for this picture.");
    const memory = c.memory.buffer; // after the last call that may grow it
    this.#screen.draw(
      this.#programs.get(request.kernel),
      request.pixels,
      new Uint8Array(memory, c.engine_scene(), c.engine_scene_bytes()),
      new Float32Array(memory, turn, 16),
      new Uint8Array(memory, codes, request.pixels ** 2 * 4),
    );
    return codes;
  }

  /** With colors=N the colours of each frame depend on all of them. */
  #drawReduced(request, frame) {
    if (!this.#collected)
      for (let i = 0; i < request.frames; i++) {
        this.#codes(request, i, 0);
        if (!this.#c.engine_collect()) throw new Error("The page has no memory left for this picture.");
      }
    this.#collected = true;
    this.#c.engine_color_of(frame);
  }

  /**
   * One picture: `frame` of the request, exactly the server's, or the place `at` of the loop (0..1).
   * @returns {{side: number, pixels: Uint8ClampedArray}} straight alpha, top row first
   */
  draw(request, { frame = 0, at } = {}) {
    this.#hold(request);
    if (!this.prepared(request)) throw new Error("The kernel of this body is not compiled yet.");
    const place = at === undefined ? 0 : at - Math.floor(at);
    if (request.values.colors !== "0" && request.frames > 1) {
      this.#drawReduced(request, at === undefined ? frame : Math.floor(place * request.frames));
    } else {
      this.#codes(request, at === undefined ? frame : 0, Math.floor(place * 1e6));
      if (!this.#c.engine_color()) throw new Error("The page has no memory left for this picture.");
    }
    const size = request.pixels ** 2 * 4;
    const pixels = new Uint8ClampedArray(this.#c.memory.buffer.slice(this.#c.engine_codes(), this.#c.engine_codes() + size));
    return { side: request.pixels, pixels };
  }

  /** The text of a body's kernel as the server has it. */
  source(type) {
    return this.#text(`bodies/${type}`);
  }

  /**
   * Draws a body with another kernel from now on; null is the server's own again.
   * @returns {Promise<{line: number, message: string}[]>} empty, or why it can't be compiled: then nothing has changed
   */
  async setKernel(type, text) {
    const before = this.#own.get(type);
    if (text === null) this.#own.delete(type);
    else this.#own.set(type, text);
    const request = this.ask(`type=${type}`);
    const built = await this.#build(request.kernel);
    if (!built.program) {
      if (before === undefined) this.#own.delete(type);
      else this.#own.set(type, before);
      return built.problems.map(({ line, message }) => ({ line, message }));
    }
    this.#programs.clear(); // the layers' kernel has the body in it, too
    this.#programs.set(request.kernel, built.program);
    return [];
  }
}

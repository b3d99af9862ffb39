// The GPU's side of the engine: kernels become programs, a program draws the codes of one frame.

const HEAD = "#version 300 es\n#define precise\n"; // WebGL2 has no `precise`; the browser test counts what that costs

const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

/** Throws an Error with a sentence for people where there is no WebGL2. */
export function openScreen() {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, depth: false, premultipliedAlpha: false });
  if (!gl) throw new Error("This browser has no WebGL2.");
  return new Screen(canvas, gl);
}

class Screen {
  #gl;
  #vertex;
  #target;
  #block;
  #side = 0;
  onLost = () => {};

  constructor(canvas, gl) {
    this.#gl = gl;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // or it never comes back
      this.#side = 0;
      this.onLost();
    });
    canvas.addEventListener("webglcontextrestored", () => this.#begin());
    this.#begin();
  }

  #begin() {
    const gl = this.#gl;
    this.#vertex = this.#compile(gl.VERTEX_SHADER, VERTEX);
    this.#block = gl.createBuffer();
    this.#target = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.#target);
    gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
    gl.bindBufferBase(gl.UNIFORM_BUFFER, 0, this.#block);
    gl.disable(gl.DITHER);
  }

  #compile(kind, text) {
    const shader = this.#gl.createShader(kind);
    this.#gl.shaderSource(shader, text);
    this.#gl.compileShader(shader);
    return shader;
  }

  /**
   * @returns {Promise<{program?: object, problems: {part: string, line: number, message: string}[]}>} lines count from 1
   *          in their part
   */
  async build(draw, names, texts) {
    const gl = this.#gl;
    // Each part is a source string of its own number, so that a message tells part and line.
    const parts = texts.map((text, i) => `#line 1 ${i + 1}\n${text.endsWith("\n") ? text : text + "\n"}`);
    const fragment = this.#compile(gl.FRAGMENT_SHADER, `${HEAD}#define DRAW ${draw}\n${parts.join("")}`);
    const linked = gl.createProgram();
    gl.attachShader(linked, this.#vertex);
    gl.attachShader(linked, fragment);
    gl.linkProgram(linked);
    await this.#finished(linked);
    if (gl.getProgramParameter(linked, gl.LINK_STATUS)) {
      gl.uniformBlockBinding(linked, gl.getUniformBlockIndex(linked, "SceneBlock"), 0);
      gl.deleteShader(fragment);
      return { program: { linked, turn: gl.getUniformLocation(linked, "moment") }, problems: [] };
    }
    const log = gl.getShaderInfoLog(fragment) || gl.getProgramInfoLog(linked) || "The kernel can't be compiled.";
    gl.deleteShader(fragment);
    gl.deleteProgram(linked);
    return { problems: problemsOf(log, names) };
  }

  /** Compiles beside the page where the browser can, so that nothing stutters. */
  async #finished(linked) {
    const parallel = this.#gl.getExtension("KHR_parallel_shader_compile");
    while (parallel && !this.#gl.isContextLost() && !this.#gl.getProgramParameter(linked, parallel.COMPLETION_STATUS_KHR))
      await new Promise((resume) => setTimeout(resume, 4));
  }

  #resize(side) {
    if (side === this.#side) return;
    const gl = this.#gl;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, side, side, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.#target, 0);
    gl.viewport(0, 0, side, side);
    this.#side = side;
  }

  /** Draws one frame and writes its codes, side * side * 4 bytes, into `into`. */
  draw(program, side, scene, turn, into) {
    const gl = this.#gl;
    if (gl.isContextLost()) throw new Error("The graphics context was lost.");
    this.#resize(side);
    gl.bufferData(gl.UNIFORM_BUFFER, (scene.length + 15) & ~15, gl.DYNAMIC_DRAW);
    gl.bufferSubData(gl.UNIFORM_BUFFER, 0, scene);
    gl.useProgram(program.linked);
    gl.uniform4fv(program.turn, turn);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.readPixels(0, 0, side, side, gl.RGBA, gl.UNSIGNED_BYTE, into);
  }
}

/** "ERROR: 19:12: 'x' : undeclared identifier" -> the line of its part, in words. */
function problemsOf(log, names) {
  const problems = [];
  for (const line of log.replace(/\0/g, "").split("\n")) {
    const found = /^ERROR:\s*(\d+):(\d+):\s*(.*)$/.exec(line);
    if (found) problems.push({ part: names[found[1] - 1] ?? "", line: Number(found[2]), message: found[3] });
  }
  return problems.length ? problems : [{ part: "", line: 1, message: log.trim() }];
}

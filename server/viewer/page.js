// The page: what is asked stands in its own address, the planet is drawn by the engine, or else by the server.

import { openEngine } from "./engine.js";

const at = (id) => document.getElementById(id);
const LOOP_MS = 8000; // of a turn, as in a GIF that is asked for without more
const FILES = [["PNG", "/planet.png"], ["GIF", "/planet.gif"], ["APNG", "/planet.apng"], ["WebP", "/planet.webp"],
  ["sheet", "/sheet.png"], ["atlas", "/sheet.json"], ["facts", "/planet.json"]];

let asked = new URLSearchParams(location.search);
let engine = null;
let request = null;
let spinning = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let place = 0; // in the loop
let drag = null;
let newest = 0; // number of the last change: an answer to an older one is dropped

function query() {
  return asked.toString().replaceAll("%23", "");
}

/** Writes what is asked into the page. A change by hand is a new entry in the history, and nothing else is. */
function show(change) {
  const text = query();
  if (change === "push") history.pushState(null, "", text ? `/?${text}` : "/");
  if (change === "replace") history.replaceState(null, "", text ? `/?${text}` : "/");
  const rest = new URLSearchParams(asked);
  rest.delete("type");
  rest.delete("seed");
  at("seed").value = asked.get("seed") ?? "1";
  if (document.activeElement !== at("more")) at("more").value = decodeURIComponent(rest.toString());
  for (const button of at("types").children)
    button.setAttribute("aria-checked", String(button.dataset.type === (asked.get("type") ?? "terrestrial")));
  const url = `${location.origin}/planet${text ? `?${text}` : ""}`;
  at("url").value = url;
  at("curl").value = `curl '${url}' -o planet.png`;
  for (const link of at("files").children) link.href = link.dataset.path + (text ? `?${text}` : "");
  draw();
}

function set(name, value, change = "push") {
  asked.set(name, value);
  show(change);
}

async function draw() {
  const mine = ++newest;
  at("notice").textContent = engine?.missing ?? "";
  if (!engine || engine.missing) return drawByServer();
  const next = engine.ask(query());
  if (next.problem) {
    at("notice").textContent = `${next.problem.param}: ${next.problem.detail}`;
    return;
  }
  at("code").value = next.code;
  await engine.prepare(next);
  if (mine !== newest) return;
  request = next;
  at("still").hidden = true;
  at("canvas").hidden = false;
  at("canvas").setAttribute("aria-label", `A planet: ${next.type}, seed ${next.seed}`);
  paint();
}

/** Without the engine: the server's own picture, moving unless motion is not wanted. */
async function drawByServer() {
  const text = query();
  const path = spinning ? "/planet.webp" : "/planet";
  at("still").src = path + (text ? `?${text}` : "");
  at("still").alt = `A planet: ${asked.get("type") ?? "terrestrial"}, seed ${asked.get("seed") ?? "1"}`;
}

at("still").addEventListener("error", async () => {
  const answer = await fetch(at("still").src);
  const problem = await answer.json().catch(() => ({}));
  at("notice").textContent = answer.status === 403 ? "This server draws signed addresses only." : problem.detail ?? "No picture.";
});

function paint() {
  const picture = engine.draw(request, { at: place });
  const canvas = at("canvas");
  canvas.width = canvas.height = picture.side;
  canvas.getContext("2d").putImageData(new ImageData(picture.pixels, picture.side), 0, 0);
}

let before = 0;
function tick(now) {
  const passed = Math.min(now - before, 100);
  before = now;
  if (spinning && request && !drag && engine.prepared(request)) {
    place = (place + passed / LOOP_MS) % 1;
    paint();
  }
  requestAnimationFrame(tick);
}

// Dragging turns the planet to the sides and leans its pole; with Shift, it moves the light.
at("canvas").addEventListener("pointerdown", (event) => {
  at("canvas").setPointerCapture(event.pointerId);
  drag = { x: event.clientX, y: event.clientY, tilt: Number(request.values.tilt), place };
});
at("canvas").addEventListener("pointermove", (event) => {
  if (!drag) return;
  const box = at("canvas").getBoundingClientRect();
  if (event.shiftKey) {
    const x = (event.clientX - box.left) / box.width * 2 - 1;
    const y = 1 - (event.clientY - box.top) / box.height * 2;
    const far = Math.min(1, Math.hypot(x, y));
    asked.set("light_azimuth", (Math.atan2(y, x) * 180 / Math.PI).toFixed(0));
    asked.set("light_elevation", (Math.acos(far) * 180 / Math.PI).toFixed(0));
  } else {
    place = drag.place + (event.clientX - drag.x) / box.width / 2;
    const tilt = Math.max(-90, Math.min(90, drag.tilt + (event.clientY - drag.y) / box.height * 180));
    asked.set("tilt", tilt.toFixed(0));
  }
  show("replace");
});
for (const end of ["pointerup", "pointercancel"]) at("canvas").addEventListener(end, () => (drag = null));

function step(by) {
  const seed = asked.get("seed") ?? "1";
  set("seed", /^-?\d{1,15}$/.test(seed) ? String(Number(seed) + by) : "1");
}

function listen() {
  at("form").addEventListener("submit", (event) => event.preventDefault());
  at("seed").addEventListener("change", () => set("seed", at("seed").value));
  at("previous").addEventListener("click", () => step(-1));
  at("next").addEventListener("click", () => step(1));
  at("dice").addEventListener("click", () => set("seed", String(crypto.getRandomValues(new Uint32Array(1))[0])));
  at("spin").addEventListener("click", () => {
    spinning = !spinning;
    at("spin").setAttribute("aria-pressed", String(spinning));
    if (engine?.missing) drawByServer();
  });
  at("more").addEventListener("change", () => {
    const next = new URLSearchParams(at("more").value);
    for (const name of ["type", "seed"]) if (asked.has(name)) next.set(name, asked.get(name));
    asked = next;
    show("push");
  });
  at("asked").addEventListener("click", async (event) => {
    const from = event.target.dataset.copy;
    if (!from) return;
    at(from).select();
    await navigator.clipboard?.writeText(at(from).value);
    event.target.textContent = "Copied";
    setTimeout(() => (event.target.textContent = "Copy"), 1200);
  });
  addEventListener("popstate", () => {
    asked = new URLSearchParams(location.search);
    show();
  });
}

async function fillTypes() {
  const answer = await fetch("/types");
  const { bodies } = await answer.json();
  at("types").replaceChildren(...bodies.map((type) => {
    const button = document.createElement("button");
    const image = document.createElement("img");
    image.src = `/planet?type=${type.name}&pixels=48`;
    image.alt = "";
    image.width = image.height = 48;
    button.type = "button";
    button.dataset.type = type.name;
    button.title = type.summary ?? "";
    button.setAttribute("role", "radio");
    button.append(image, type.name.replaceAll("_", " "));
    button.addEventListener("click", () => set("type", type.name));
    return button;
  }));
}

at("files").replaceChildren(...FILES.map(([name, path]) => {
  const link = document.createElement("a");
  link.dataset.path = path;
  link.textContent = name;
  link.download = "";
  return link;
}));
listen();
at("spin").setAttribute("aria-pressed", String(spinning));
await fillTypes();
try {
  engine = await openEngine();
} catch (error) {
  engine = { missing: `${error.message} You see the server's pictures.`, prepared: () => false };
}
show();
requestAnimationFrame(tick);

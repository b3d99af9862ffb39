// What the page draws is what the server draws: every pixel of these requests, asked of both.
// usage: node pixels.mjs BASE_URL

import { PNG } from "pngjs";

import { openBrowser } from "./browser.mjs";

const base = process.argv[2];
const ALLOWED = 1 / 1000; // of the pixels: WebGL2 has no `precise`
const requests = [
  "type=terrestrial&seed=7", "type=desert&seed=2&tilt=30", "type=ice&seed=3&shading=ramp", "type=lava&seed=4",
  "type=gas&seed=3&rings=on", "type=moon&seed=6&pixels=96", "type=ocean&seed=7&moons=3", "type=dry&seed=8&dither=bayer4",
  "type=rock&seed=9&clean=on", "type=storm&seed=10&pixels=128", "type=eyeball&seed=11", "type=city&seed=12",
  "type=asteroid&seed=13", "type=star&seed=14", "type=black_hole&seed=15", "type=galaxy&seed=16&tilt=50",
  "type=comet&seed=17", "type=terrestrial&seed=1&layer=normal", "type=gas&seed=5&layer=bands", "type=ice&seed=2&layer=emission",
  "type=terrestrial&seed=21&background=nebula&outline=ffffff", "type=terrestrial&seed=3&palette=pico8&light_elevation=-20",
  "type=moon&seed=4&palette=generate&terminator=exact&min_light=0.3", "type=ocean&seed=9&colors=8&phase=0.37",
];

const browser = await openBrowser();
const page = await browser.newPage();
await page.goto(base, { waitUntil: "load" });
await page.evaluate(async () => {
  const { openEngine } = await import("/viewer/engine.js");
  window.engine = await openEngine();
});
let failed = 0, all = 0, other = 0;
for (const query of requests) {
  const answer = await fetch(`${base}/planet?${query}`);
  const server = PNG.sync.read(Buffer.from(await answer.arrayBuffer()));
  const mine = await page.evaluate(async (asked) => {
    const request = window.engine.ask(asked);
    if (request.problem) return { problem: request.problem.detail };
    const begun = performance.now();
    await window.engine.prepare(request);
    const prepared = performance.now();
    const picture = window.engine.draw(request, {});
    const times = [];
    for (let i = 0; i < 30; i++) { const t = performance.now(); window.engine.draw(request, { at: i / 30 }); times.push(performance.now() - t); }
    times.sort((a, b) => a - b);
    return { side: picture.side, pixels: [...picture.pixels], prepare: prepared - begun, draw: times[15], code: request.code };
  }, query);
  if (mine.problem) { console.log(`FAIL ${query}: ${mine.problem}`); failed++; continue; }
  let different = 0;
  for (let i = 0; i < server.data.length; i += 4)
    if ([0, 1, 2, 3].some((k) => server.data[i + k] !== mine.pixels[i + k])) different++;
  const pixels = server.width * server.height;
  const good = server.width === mine.side && different <= pixels * ALLOWED;
  all += pixels;
  other += different;
  failed += good ? 0 : 1;
  console.log(`${good ? "ok  " : "FAIL"} ${query}: ${different} of ${pixels} differ; compiled in ${mine.prepare.toFixed(0)} ms, drawn in ${mine.draw.toFixed(2)} ms`);
}
await browser.close();
console.log(`# ${other} of ${all} pixels differ`);
console.log(`${requests.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

// What the page does when it is used. usage: node play.mjs BASE_URL

import { openBrowser } from "./browser.mjs";

const base = process.argv[2];
const browser = await openBrowser();
let passed = 0, failed = 0;

/** A page at an address of its own, watched for what must not happen. */
async function opened(address, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options.page });
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.wrong.push(message.text()));
  if (options.before) await page.addInitScript(options.before);
  await page.goto(base + address);
  return page;
}

const spun = (page) => page.waitForFunction(() => !document.getElementById("canvas").hidden);
const pixels = (page) => page.evaluate(() => document.getElementById("canvas").toDataURL());

async function test(name, body) {
  try {
    await body();
    passed++;
    console.log("ok  ", name);
  } catch (error) {
    failed++;
    console.log("FAIL", name, error.message);
  }
}

function equal(a, b) {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error(`${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

await test("the planet of the address spins, and nothing is refused by the policy", async () => {
  const page = await opened("/?type=gas&seed=3");
  await spun(page);
  const before = await pixels(page);
  await page.waitForTimeout(400);
  equal((await pixels(page)) === before, false);
  equal(page.wrong, []);
  await page.close();
});

await test("who wants less motion gets a planet that stands still until asked", async () => {
  const page = await opened("/", { page: { reducedMotion: "reduce" } });
  await spun(page);
  const before = await pixels(page);
  await page.waitForTimeout(400);
  equal((await pixels(page)) === before, true);
  await page.click("#spin");
  await page.waitForTimeout(400);
  equal((await pixels(page)) === before, false);
  await page.close();
});

await test("types, seeds and parameters are in the address, and back leads back", async () => {
  const page = await opened("/?seed=5");
  await spun(page);
  await page.click("#types [data-type=lava]");
  await page.click("#next");
  await page.fill("#more", "shading=ramp");
  await page.keyboard.press("Tab");
  equal(new URL(page.url()).search.split(/[?&]/).sort(), ["", "seed=6", "shading=ramp", "type=lava"]);
  const answer = await page.request.get(await page.inputValue("#url"));
  equal(answer.status(), 200);
  const coded = await page.request.get(`${base}/planet?code=${await page.inputValue("#code")}`);
  equal((await coded.body()).equals(await answer.body()), true);
  await page.goBack();
  await page.goBack();
  await page.goBack();
  equal(new URL(page.url()).search, "?seed=5");
  equal(page.wrong, []);
  await page.close();
});

await test("a mistake is told in the server's words and the planet stays", async () => {
  const page = await opened("/?seed=5&moons=9");
  await page.waitForFunction(() => document.getElementById("notice").textContent);
  const said = await page.textContent("#notice");
  const answer = await page.request.get(`${base}/planet?seed=5&moons=9`);
  equal(said, `moons: ${(await answer.json()).detail}`);
  await page.close();
});

await test("dragging turns and leans the planet", async () => {
  const page = await opened("/?seed=5", { page: { reducedMotion: "reduce" } });
  await spun(page);
  const before = await pixels(page);
  const box = await page.locator("#canvas").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.6, { steps: 3 });
  await page.mouse.up();
  equal((await pixels(page)) === before, false);
  equal(new URLSearchParams(new URL(page.url()).search).get("tilt"), "35");
  await page.close();
});

await test("without WebGL2 the server's pictures are shown, and it says so", async () => {
  const page = await opened("/?type=moon&seed=2", {
    before: () => {
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === "webgl2" ? null : get.call(this, kind, ...rest);
      };
    },
  });
  await page.waitForFunction(() => document.getElementById("notice").textContent);
  equal((await page.textContent("#notice")).includes("no WebGL2"), true);
  await page.waitForFunction(() => document.getElementById("still").naturalWidth === 64);
  equal(new URL(await page.getAttribute("#still", "src"), base).search, "?type=moon&seed=2");
  await page.close();
});

await test("at 360 pixels nothing is wider than the page", async () => {
  const page = await opened("/?seed=5", { page: { viewport: { width: 360, height: 800 } } });
  await spun(page);
  equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.close();
});

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

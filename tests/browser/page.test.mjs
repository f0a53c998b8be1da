// The page in a real browser: every view, with short, right-to-left, emoji and long texts, its address, exports and bad input.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const fovea = process.env.FOVEA, folder = mkdtempSync(path.join(tmpdir(), "fovea-page-"));
const views = ["text", "heads", "model", "matrix", "steps", "compare"];
let browser, program, address;

before(async () => {
  program = spawn(fovea, ["view", "-m", "en-de", "--stay", "The bank approved the loan."], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((done) => program.stdout.once("data", (line) => done(String(line).trim())));
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
after(async () => { await browser?.close(); program?.kill(); });

// A page on which nothing goes wrong, and which asks nobody but the program.
async function open(url, { width = 1280, height = 800 } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, acceptDownloads: true });
  page.faults = [];
  page.on("pageerror", (e) => page.faults.push(e.message));
  page.on("console", (m) => m.type() === "error" && !/status of 4/.test(m.text()) && page.faults.push(m.text()));
  page.on("request", (r) => { if (!/^(data|blob|file):/.test(r.url()) && !r.url().startsWith(address)) page.faults.push("asked for " + r.url()); });
  await page.goto(url);
  await ready(page);
  return page;
}
async function ready(page) {
  await page.waitForFunction(() => window.fovea?.frame && document.querySelector("#stage").childElementCount > 0 && !/reads …/.test(document.querySelector("#status").textContent));
  await page.waitForTimeout(150);
}
async function shown(page) { return page.locator("#stage").innerText(); }
const at = (state) => address + "#" + new URLSearchParams(state);

for (const text of ["The bank approved the loan.", "אני אוהב מתמטיקה.", "I ❤️ 🙂 emoji 👩‍👩‍👧!", "<script>window.bad = 1</script> & \"quotes\"", "word ".repeat(60).trim()])
  for (const view of views)
    test(`${view}: ${text.slice(0, 30)}`, async () => {
      const page = await open(at({ view, text, model: "en-de" }));
      assert.equal(await page.locator(".error").count(), 0, await shown(page));
      assert.ok(await page.locator("#stage svg, #stage canvas, #stage input").count() > 0);
      assert.equal(await page.evaluate(() => window.bad), undefined);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the screen");
      assert.deepEqual(page.faults, []);
      await page.close();
    });

for (const width of [360, 3840])
  for (const view of views)
    test(`${view} fits ${width} pixels`, async () => {
      const page = await open(at({ view }), { width });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await page.close();
    });

for (const model of ["sentiment", "entities", "en-de-bahdanau"])
  test(`the model ${model} is shown`, async () => {
    const page = await open(at({ model, text: "Ada Lovelace worked in London." }));
    assert.ok(await page.locator("#stage svg text").count() >= 5);
    assert.deepEqual(page.faults, []);
    await page.close();
  });

test("pointing at a word tells what it looks at, and the address keeps it", async () => {
  const page = await open(at({ view: "text" }));
  await page.locator("#word-r1").click();
  const told = await page.locator(".value").innerText();
  assert.match(told, /Bank looks at bank \d+ %/);
  const url = page.url();
  assert.match(url, /pick=r1/);
  const again = await open(url);
  assert.equal(await again.locator(".value").innerText(), told);
  await page.close(); await again.close();
});

test("words are chosen by the keyboard", async () => {
  const page = await open(at({ view: "text" }));
  await page.locator("#word-r0").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".value").innerText(), /^Bank/);
  await page.locator("#tab-text").focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("view=heads"));
  await page.close();
});

test("another text is typed and runs", async () => {
  const page = await open(at({ view: "text" }));
  await page.fill("#text", "The cat sat on the mat.");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /Katze/.test(document.querySelector("#stage").textContent));
  assert.match(page.url(), /text=The\+cat/);
  await page.close();
});

test("a head of the model opens as a matrix, whose values are exact", async () => {
  const page = await open(at({ view: "model" }));
  await page.locator("#stage svg g[role=button]").nth(5).click();
  await page.waitForSelector("#canvas");
  const [wanted, found] = await page.evaluate(async () => {
    const { seen, chosen } = window.fovea.frame, m = await seen.matrix(chosen), canvas = document.querySelector("#canvas"), box = canvas.getBoundingClientRect();
    for (let x = box.left; x < box.right; x += 6) {
      canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: box.top + box.height * 0.4, bubbles: true }));
      const told = /\((\d+)\) → .*\((\d+)\)\s+([\d.e+-]+)$/.exec(document.querySelector("#value").textContent);
      if (told) return [m.at(Number(told[1]), Number(told[2])).toFixed(4), told[3]];
    }
    return [];
  });
  assert.ok(found !== undefined && (found === wanted || Math.abs(found - wanted) < 1e-4), `${found} instead of ${wanted}`);
  await page.close();
});

test("the worked example: one number changes, all three steps do", async () => {
  const page = await open(at({ view: "steps" }));
  assert.match(await shown(page), /0\.0159[^]*0\.1173[^]*0\.8668[^]*5\.70187/);
  await page.locator("#stage input").nth(1).fill("1");
  await page.waitForFunction(() => /1\.0000/.test(document.querySelector("#stage").innerText) && !/5\.70187/.test(document.querySelector("#stage").innerText));
  const changed = await shown(page), again = await open(page.url());
  assert.equal(await shown(again), changed);
  await page.close(); await again.close();
});

for (const view of views)
  test(`${view} is saved as SVG and PNG`, async () => {
    const page = await open(at({ view, text: "I ❤️ <b> & 🙂" }));
    for (const kind of ["svg", "png"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#" + kind)]);
      const bytes = readFileSync(await download.path());
      assert.equal(download.suggestedFilename(), `fovea-${view}.${kind}`);
      if (kind === "png") assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      else assert.ok(await page.evaluate((text) => { const d = new DOMParser().parseFromString(text, "image/svg+xml"); return d.documentElement.nodeName === "svg" && !d.querySelector("parsererror"); }, String(bytes)));
      assert.ok(bytes.length > 500);
    }
    assert.deepEqual(page.faults, []);
    await page.close();
  });

test("bad input is told, and the page goes on", async () => {
  for (const state of [{ model: "no-such-model" }, { view: "nothing", place: "nowhere", head: "99", unit: "x", pick: "r999" }, { view: "steps", form: "x", numbers: "[[" }, { text: "" }]) {
    const page = await open(at(state));
    assert.deepEqual(page.faults, []);
    await page.goto(at({ view: "text", text: "The cat sat on the mat." }));
    await page.waitForFunction(() => /Katze/.test(document.querySelector("#stage").textContent));
    await page.close();
  }
});

test("what is written for screen readers is a table with all weights", async () => {
  const page = await open(at({ view: "text" }));
  await page.locator("#table summary").click();
  assert.match(await page.locator("#rows table").innerText(), /Bank\s+0\.\d{3}/);
  await page.close();
});

test("the file of explain --html opens without a program, and is small", async () => {
  const file = path.join(folder, "page.html");
  execFileSync(fovea, ["explain", "-m", "en-de", "--html", file, "The bank approved the loan."]);
  assert.ok(readFileSync(file).length < 1_000_000);
  for (const view of views) {
    const page = await open(pathToFileURL(file) + "#view=" + view);
    assert.ok(await page.locator("#stage svg, #stage canvas, #stage input").count() > 0);
    assert.deepEqual(page.faults, []);
    await page.close();
  }
});

test("a long text comes in tiles, and any of its weights is exact", async () => {
  const text = "The cat sat on the mat and the dog slept by the door. ".repeat(60).trim();
  const page = await open(at({ view: "matrix", model: "sentiment", text }), {});
  assert.deepEqual(page.faults, []);
  await page.close();
});

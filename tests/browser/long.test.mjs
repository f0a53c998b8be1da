// A hundred thousand tokens on the page: a trace file whose weights are known, moved about in, and read exactly. Times are printed, not
// judged.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { weight, writeTrace } from "./long_trace.mjs";

const tokens = 100_000, folder = mkdtempSync(path.join(tmpdir(), "fovea-long-")), file = path.join(folder, "long.safetensors");
let browser, program, address, page, faults = [];

before(async () => {
  writeTrace(file, tokens);
  program = spawn(process.env.FOVEA, ["view", "--trace", file, "--stay"], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((done) => program.stdout.once("data", (line) => done(String(line).trim())));
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on("pageerror", (e) => faults.push(e.message));
});
after(async () => { await browser?.close(); program?.kill(); });

async function until(holds, more) {
  for (const end = Date.now() + 180_000; Date.now() < end; await page.waitForTimeout(20)) if (await page.evaluate(holds, more)) return;
  assert.fail("waited for " + holds);
}
const settled = () => until(() => window.fovea?.frame && !/to come|reads …/.test(document.querySelector("#status").textContent));
async function go(state) {
  await page.goto(address + "#" + new URLSearchParams(state));
  await until(() => window.fovea?.frame && document.querySelector("#stage").childElementCount > 0);
}
// The program's memory in megabytes; undefined where no such file is.
function memory() {
  try { return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))[1]) / 1024); } catch { return undefined; }
}
// Frames a second while something is done on each of them.
const frames = (step, count) => page.evaluate(async ([text, count]) => {
  const canvas = document.querySelector("#canvas"), box = canvas.getBoundingClientRect(), times = [];
  const at = (type, more) => canvas.dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type, { clientX: box.left + box.width * 0.6, clientY: box.top + box.height * 0.6, pointerId: 1, bubbles: true, cancelable: true, ...more }));
  canvas.setPointerCapture = () => {};
  if (text === "pan") at("pointerdown", {});
  let before = performance.now();
  for (let i = 0; i < count; ++i) {
    if (text === "pan") at("pointermove", { clientX: box.left + box.width * 0.6 - 6 * i, clientY: box.top + box.height * 0.6 - 5 * i });
    else at("wheel", { deltaY: text === "in" ? -60 : 60 });
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - before); before = performance.now();
  }
  if (text === "pan") at("pointerup", {});
  times.sort((a, b) => a - b);
  return { mean: count / (times.reduce((a, b) => a + b, 0) / 1000), slowest: times[times.length - 1] };
}, [step, count]);
const told = () => page.locator("#value").innerText();

test("the matrix of 100,000 tokens is seen, moved and zoomed, and its weights are exact", async (t) => {
  let begun = Date.now();
  await go({ view: "matrix", head: 0 });
  await settled();
  t.diagnostic(`all of it after ${Date.now() - begun} ms`);
  for (const step of ["in", "pan", "in", "pan", "in", "pan", "in", "pan", "in", "pan", "out", "pan"]) {
    const f = await frames(step, 40);
    t.diagnostic(`${step}: ${f.mean.toFixed(0)} frames/s, the slowest ${f.slowest.toFixed(0)} ms`);
  }
  begun = Date.now();
  await settled();
  t.diagnostic(`the last tiles after ${Date.now() - begun} ms`);
  for (const far of ["out", "in", "in"]) {
    await frames(far, far === "out" ? 120 : 60);
    const box = await page.locator("#canvas").boundingBox();
    begun = Date.now();
    await page.mouse.move(box.x + box.width * 0.55, box.y + box.height * 0.7);
    await until(() => /\)\s+[\d.e+-]+$/.test(document.querySelector("#value").textContent));
    t.diagnostic(`the weight under the pointer after ${Date.now() - begun} ms`);
    const [, row, column, found] = /\((\d+)\) → .*\((\d+)\)\s+([\d.e+-]+)$/.exec(await told());
    const wanted = weight(Number(row), Number(column));
    assert.ok(Math.abs(Number(found) - wanted) <= 5e-5 + 0.01 * wanted * (wanted < 5e-5), `${await told()} instead of ${wanted}`);
  }
  assert.deepEqual(faults, []);
  t.diagnostic(`memory of the program: ${memory()} MB; of the page's heap: ${Math.round(await page.evaluate(() => performance.memory.usedJSHeapSize / 2 ** 20))} MB`);
});

test("tiles of every level are those of the formula", async () => {
  const worst = await page.evaluate(async ([tokens, strong]) => {
    const { seen, place } = window.fovea.frame, z = (i) => { const alike = Math.floor(i / 16) + 1; return alike * Math.exp(strong) + (i + 1 - alike); };
    const weight = (i, j) => (j > i ? 0 : (i % 16 === j % 16 ? Math.exp(strong) : 1) / z(i));
    let worst = 0;
    for (const [level, row, column] of [[0, 99_000, 98_900], [2, 65_536, 1024], [5, 81_920, 81_920], [7, 98_304, 0]]) {
      const side = 2 ** level, response = await fetch("tile?" + new URLSearchParams({ run: seen.run, place: place.path, head: 0, level, row, column, rows: 4, columns: 6 }));
      const bytes = await response.arrayBuffer(), [height, width] = new Int32Array(bytes, 0, 2), largest = new Float32Array(bytes, 8, height * width);
      for (let i = 0; i < height; ++i)
        for (let j = 0; j < width; ++j) {
          let most = 0;
          for (let r = row + i * side; r < Math.min(tokens, row + (i + 1) * side); ++r)
            for (let c = column + j * side; c < Math.min(tokens, column + (j + 1) * side); ++c) most = Math.max(most, weight(r, c));
          worst = Math.max(worst, Math.abs(largest[i * width + j] - most) / Math.max(1e-9, most));
        }
    }
    return worst;
  }, [tokens, 9]);
  assert.ok(worst < 1e-3, String(worst));
});

test("any row is shown with the text around it", async (t) => {
  const begun = Date.now();
  await go({ view: "text", head: 0, pick: "r70001" });
  await until(() => /looks at/.test(document.querySelector("#stage").textContent));
  t.diagnostic(`the row after ${Date.now() - begun} ms, the page with it`);
  assert.match(await page.locator("#stage").innerText(), /\(70,001\) looks at/);
  await page.locator("#word-69990").click();
  await until(() => /\(69,990\) looks at/.test(document.querySelector("#stage").textContent));
  const again = Date.now();
  await page.locator("#row").fill("31");
  await page.locator("#row").press("Enter");
  await until(() => /\(31\) looks at/.test(document.querySelector("#stage").textContent));
  t.diagnostic(`another row after ${Date.now() - again} ms`);
  const sum = await page.evaluate(async () => { const { seen, place } = window.fovea.frame; return (await seen.row(place, 0, 99_999)).reduce((a, b) => a + b, 0); });
  assert.ok(Math.abs(sum - 1) < 1e-3, String(sum));
  await page.locator("#strip").click({ position: { x: 200, y: 20 } });
  await until(() => /from=/.test(location.hash));
  assert.ok(await page.locator("#stage svg text").count() > 100);
  assert.deepEqual(faults, []);
});

test("every view of a long text says something", async () => {
  for (const view of ["text", "heads", "model", "matrix", "steps", "compare"]) {
    await go({ view });
    assert.equal(await page.locator(".error").count(), 0, view);
  }
  assert.deepEqual(faults, []);
});

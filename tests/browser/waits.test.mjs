// How long one waits for a short sentence, and for any head of a long text in a model of GPT-2's size. Times are printed, not judged.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const fovea = process.env.FOVEA, folder = mkdtempSync(path.join(tmpdir(), "fovea-waits-"));
const text = "The cat sat on the mat, and the dog slept by the door. ".repeat(37).trim();
let browser, program, page;

before(async () => { browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] }); });
after(async () => { await browser?.close(); program?.kill(); });

async function serve(...args) {
  program?.kill();
  const begun = Date.now();
  program = spawn(fovea, ["view", "--stay", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done) => program.stdout.once("data", (line) => done(String(line).trim())));
  return { address, begun, took: Date.now() - begun };
}
async function until(holds, more) {
  for (const end = Date.now() + 180_000; Date.now() < end; await page.waitForTimeout(5)) if (await page.evaluate(holds, more)) return;
  assert.fail("waited for " + holds);
}
test("a short sentence", async (t) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  // The frame in which the words are there, counted from asking for the address.
  await page.addInitScript(() => {
    const look = () => (window.fovea?.frame && document.querySelector("#stage")?.childElementCount > 0 ? (window.drawn = performance.now()) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  });
  for (let i = 0; i < 12; ++i) {  // the first ones in a browser that has just begun
    const { address, took } = await serve("The bank approved the loan.");
    await page.goto("about:blank");
    await page.goto(address);
    await until(() => window.drawn > 0);
    const drawn = Math.round(await page.evaluate(() => window.drawn));
    t.diagnostic(`the address after ${took} ms, the words ${drawn} ms later: ${took + drawn} ms`);
    assert.match(await page.locator("#stage").innerText(), /bank/);
  }
});

test("any head of 2,034 tokens of 12 layers of 12 heads", async (t) => {
  const lines = path.join(folder, "text.txt"), model = path.join(folder, "model");
  writeFileSync(lines, (text + "\n").repeat(4));
  execFileSync(fovea, ["train", "language", "--data", lines, "-o", model, "--family", "gpt2", "--n-layer", "12", "--n-head", "12", "--n-embd", "768", "--n-positions", "2048",
    "--tokenizer", "characters", "--context", "32", "--batch-tokens", "32", "--steps", "1", "--warmup", "1", "--average", "0", "--storage", "f16", "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  const { address, begun } = await serve("-m", path.join(model, "best"), text);
  await page.goto(address + "#view=model");
  // From the click to the frame in which all of the head is there, as the page itself sees it.
  const clicked = (nth) => page.evaluate(async (nth) => {
    const begun = performance.now(), status = document.querySelector("#status");
    document.querySelectorAll("#stage g[role=button]")[nth].dispatchEvent(new MouseEvent("click", { bubbles: true }));
    while (performance.now() < begun + 60_000) {
      await new Promise(requestAnimationFrame);
      if (/view=matrix/.test(location.hash) && window.fovea.frame.state.view === "matrix" && document.querySelector("#stage canvas") && !/to come/.test(status.textContent)) break;
    }
    return Math.round(performance.now() - begun);
  }, nth);
  const pictures = (count) => until((count) => document.querySelectorAll("#stage g[role=button]").length >= count, count);
  await pictures(6);
  t.diagnostic(`the first pictures ${Date.now() - begun} ms after the start`);
  for (const nth of [3, 5]) {
    t.diagnostic(`a head while the pictures of all of them come: ${await clicked(nth)} ms`);
    await page.goBack();
    await pictures(6);
  }
  await pictures(144);
  for (const nth of [0, 50, 100, 143]) {
    t.diagnostic(`head ${nth} of 144: ${await clicked(nth)} ms`);
    assert.equal(await page.locator(".error").count(), 0);
    await page.goBack();
    await pictures(144);
  }
});

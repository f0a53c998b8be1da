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
  return { address, took: Date.now() - begun };
}
async function until(holds, more) {
  for (const end = Date.now() + 180_000; Date.now() < end; await page.waitForTimeout(5)) if (await page.evaluate(holds, more)) return;
  assert.fail("waited for " + holds);
}
const complete = () => window.fovea?.frame && document.querySelector("#stage").childElementCount > 0 && !/to come|reads …/.test(document.querySelector("#status").textContent);

test("a short sentence", async (t) => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  for (let i = 0; i < 3; ++i) {
    const { address, took } = await serve("The bank approved the loan.");
    await page.goto("about:blank");
    const begun = Date.now();
    await page.goto(address);
    await until(complete);
    t.diagnostic(`the address after ${took} ms, the page ${Date.now() - begun} ms later`);
    assert.match(await page.locator("#stage").innerText(), /bank/);
  }
});

test("any head of 2,034 tokens of 12 layers of 12 heads", async (t) => {
  const lines = path.join(folder, "text.txt"), model = path.join(folder, "model");
  writeFileSync(lines, (text + "\n").repeat(4));
  execFileSync(fovea, ["train", "language", "--data", lines, "-o", model, "--family", "gpt2", "--n-layer", "12", "--n-head", "12", "--n-embd", "768", "--n-positions", "2048",
    "--tokenizer", "characters", "--context", "32", "--batch-tokens", "32", "--steps", "1", "--warmup", "1", "--average", "0", "--storage", "f16", "--quiet"], { stdio: ["ignore", "ignore", "inherit"] });
  const { address, took } = await serve("-m", path.join(model, "best"), text);
  t.diagnostic(`the address after ${took} ms`);
  await page.goto(address + "#view=model");
  // While the pictures of all heads are still coming, and when they are there.
  await until(() => document.querySelectorAll("#stage g[role=button]").length >= 6);
  for (const [nth, when] of [[3, "while pictures come"], [5, "again"]]) {
    const begun = Date.now();
    await page.locator("#stage g[role=button]").nth(nth).click();
    await until(() => /view=matrix/.test(location.hash));
    await until(complete);
    t.diagnostic(`a head, ${when}, after ${Date.now() - begun} ms`);
    await page.goBack();
    await until(() => document.querySelectorAll("#stage g[role=button]").length >= 6);
  }
  await until(() => document.querySelectorAll("#stage g[role=button]").length === 144);
  for (const nth of [0, 50, 100, 143]) {
    const begun = Date.now();
    await page.locator("#stage g[role=button]").nth(nth).click();
    await until(() => /view=matrix/.test(location.hash));
    await until(complete);
    t.diagnostic(`head ${nth} of 144 after ${Date.now() - begun} ms`);
    assert.equal(await page.locator(".error").count(), 0);
    await page.goBack();
    await until(() => document.querySelectorAll("#stage g[role=button]").length === 144);
  }
});

// What else might have been written at each step, and the steps of attention with a model's own numbers.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = mkdtempSync(path.join(tmpdir(), "fovea-written-"));
let browser, program, address, page;

before(async () => {
  program = spawn(process.env.FOVEA, ["view", "-m", "en-de", "--stay", "The bank approved the loan."], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((done) => program.stdout.once("data", (line) => done(String(line).trim())));
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
});
after(async () => { await browser?.close(); program?.kill(); });

async function go(url) {
  await page.goto("about:blank");
  await page.goto(url);
  await page.waitForSelector("#stage :is(svg, table)");
}

test("each written word shows its probability and the five best others", async () => {
  const file = path.join(folder, "page.html");
  execFileSync(process.env.FOVEA, ["explain", "-m", "en-de", "--html", file, "The bank approved the loan."]);
  for (const url of [address, String(pathToFileURL(file))]) {
    await go(url + "#" + new URLSearchParams({ view: "text", pick: "r0" }));
    const first = await page.locator("#alternatives .written").allInnerTexts();
    assert.equal(first.length, 6);
    const chances = first.map((text) => Number(/([\d.e-]+)$/.exec(text)[1]));
    assert.match(first[0], /^Die 0\.\d{3}$/);
    for (let i = 2; i < 6; ++i) assert.ok(chances[i] <= chances[i - 1], String(chances));
    assert.ok(chances.reduce((a, b) => a + b, 0) <= 1.001);
    await page.locator("#step").fill("1");
    assert.match(await page.locator("#alternatives .written").first().innerText(), /^Bank 0\.\d{3}$/);
    await page.locator("#word-c0").click();
    assert.equal(await page.locator("#alternatives .written").count(), 0);
  }
});

test("the steps end in the weights that the matrix has, and a cache's attention says that it has no more", async () => {
  await go(address + "#" + new URLSearchParams({ view: "steps", form: "model", place: "encoder.1.self", head: 1, pick: "r1" }));
  const told = await page.locator("#stage").innerText();
  assert.match(told, /q of bank[^]*scores[^]*weights[^]*context/);
  const wanted = await page.evaluate(async () => { const { seen, place } = window.fovea.frame; return Math.max(...(await seen.row(place, 1, 1))).toFixed(4); });
  assert.ok(told.includes(wanted), told);
  await go(address + "#" + new URLSearchParams({ view: "steps", form: "model" }));
  assert.match(await page.locator("#stage").innerText(), /q of/);
  await page.goto("about:blank");
  await page.goto(address + "#" + new URLSearchParams({ view: "steps", form: "model", place: "decoder.0.cross" }));
  await page.waitForSelector("#stage .note");
  assert.match(await page.locator("#stage").innerText(), /cache/);
});

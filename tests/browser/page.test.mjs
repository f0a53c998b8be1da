// The page in a real browser: every view, with short, right-to-left, emoji and long texts, its address, exports and bad input.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const fovea = process.env.FOVEA, folder = mkdtempSync(path.join(tmpdir(), "fovea-page-"));
const views = ["text", "heads", "model", "matrix", "steps", "compare", "explain"];
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
// Asked again and again from outside: the page's own policy lets nobody evaluate texts inside.
async function until(page, holds) {
  for (const end = Date.now() + 180_000; Date.now() < end; await page.waitForTimeout(50)) if (await page.evaluate(holds)) return;
  assert.fail("waited for " + holds);
}
async function ready(page) {
  await until(page, () => window.fovea?.frame && document.querySelector("#stage").childElementCount > 0 && !/reads …/.test(document.querySelector("#status").textContent));
  await page.waitForTimeout(100);
}
async function go(page, state) {
  await page.evaluate((hash) => { document.querySelector("#stage").replaceChildren(); location.hash = hash; }, String(new URLSearchParams(state)));
  await ready(page);
}
async function shown(page) { return page.locator("#stage").innerText(); }
const at = (state) => address + "#" + new URLSearchParams(state);

for (const text of ["The bank approved the loan.", "אני אוהב מתמטיקה.", "I ❤️ 🙂 emoji 👩‍👩‍👧!", "<script>window.bad = 1</script> & \"quotes\"", "The cat sat on the mat and the dog slept by the door. ".repeat(5).trim()])
  test(`every view of: ${text.slice(0, 30)}`, async () => {
    const page = await open(at({ text }));
    for (const view of views) {
      await go(page, { view, text });
      assert.equal(await page.locator(".error").count(), 0, view + await shown(page));
      assert.ok(await page.locator("#stage svg, #stage canvas, #stage input").count() > 0, view);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view + " is wider than the screen");
    }
    assert.equal(await page.evaluate(() => window.bad), undefined);
    assert.deepEqual(page.faults, []);
    await page.close();
  });

for (const width of [360, 3840])
  test(`every view fits ${width} pixels, light and dark`, async () => {
    const page = await open(address, { width });
    for (const theme of ["light", "dark"])
      for (const view of views) {
        await go(page, { view, theme });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
      }
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
  await until(page, () => location.hash.includes("view=heads"));
  await page.close();
});

test("another text is typed and runs", async () => {
  const page = await open(at({ view: "text" }));
  await page.fill("#text", "The cat sat on the mat.");
  await page.keyboard.press("Enter");
  await until(page, () => /Katze/.test(document.querySelector("#stage").textContent));
  assert.match(page.url(), /text=The\+cat/);
  await page.close();
});

test("heads are named by what they did in the text", async () => {
  const page = await open(at({ view: "model" }));
  await page.getByRole("button", { name: /^decoder\.1\.cross, head 0, alignment, focus/ }).first().waitFor();
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
  await until(page, () => /1\.0000/.test(document.querySelector("#stage").innerText) && !/5\.70187/.test(document.querySelector("#stage").innerText));
  const changed = await shown(page), again = await open(page.url());
  assert.equal(await shown(again), changed);
  await page.close(); await again.close();
  const heads = await open(at({ view: "steps", form: "heads" }));
  assert.match(await shown(heads), /head 0[^]*head 1/);
  assert.doesNotMatch(await shown(heads), /head 2/);
  await heads.close();
});

test("every view is saved as SVG and PNG", async () => {
  const page = await open(at({ text: "I ❤️ <b> & 🙂" }));
  for (const view of views) {
    await go(page, { view, text: "I ❤️ <b> & 🙂" });
    for (const kind of ["svg", "png"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#" + kind)]);
      const bytes = readFileSync(await download.path());
      assert.equal(download.suggestedFilename(), `fovea-${view}.${kind}`);
      if (kind === "png") assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
      else assert.ok(await page.evaluate((text) => { const d = new DOMParser().parseFromString(text, "image/svg+xml"); return d.documentElement.nodeName === "svg" && !d.querySelector("parsererror"); }, String(bytes)), view);
      assert.ok(bytes.length > 500);
    }
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("bad input is told, and the page goes on", async () => {
  const page = await open(address);
  for (const state of [{ model: "no-such-model" }, { view: "nothing", place: "nowhere", head: "99", unit: "x", pick: "r999" }, { view: "matrix", head: "-3" }, { view: "steps", form: "x", numbers: "[[" }, { text: "" }])
    await go(page, state);
  await go(page, { text: "The cat sat on the mat." });
  assert.match(await page.locator("#stage").textContent(), /Katze/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("what is written for screen readers is a table with all weights", async () => {
  const page = await open(at({ view: "text" }));
  await page.locator("#table summary").click();
  assert.match(await page.locator("#rows table").innerText(), /Bank\s+0\.\d{3}/);
  await page.close();
});

test("the file of explain --html opens without a program, and is small", async () => {
  const file = path.join(folder, "page.html");
  execFileSync(fovea, ["explain", "-m", "en-de", "--method", "all", "--check", "--html", file, "The bank approved the loan."]);
  assert.ok(readFileSync(file).length < 1_000_000);
  for (const view of views) {
    const page = await open(pathToFileURL(file) + "#view=" + view);
    assert.ok(await page.locator("#stage svg, #stage canvas, #stage input").count() > 0);
    assert.deepEqual(page.faults, []);
    await page.close();
  }
});

test("words and methods explain an answer, and the check is a table and a plot", async () => {
  const text = "The food was cold, but the staff were wonderful.";
  const page = await open(at({ view: "explain", model: "sentiment", text }));
  for (const name of ["attention", "value", "gradient-attention", "gradient-input", "integrated-gradients", "leave-one-out", "rollout"])
    assert.match(await shown(page), new RegExp(name));
  assert.match(await shown(page), /positive\s+0\.9/);
  assert.match(await shown(page), /does not fit/);
  await page.locator("#tools button", { hasText: "check" }).click();
  await page.waitForSelector("#check-table");
  assert.match(await page.locator("#check-table").innerText(), /random\s+-?\d\.\d{3}/);
  assert.match(page.url(), /check=yes/);
  await go(page, { view: "explain", model: "sentiment", text, method: "integrated-gradients", answer: "negative" });
  assert.match(await shown(page), /negative\s+0\.0[^]*add up to/);
  await page.locator("#stage svg text").last().hover();
  assert.match(await page.locator(".value").innerText(), /wonderful\.\s+integrated-gradients -\d/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

// Pages of pictures: as files, which open as the served ones do.
const root = path.resolve(path.dirname(fovea), "../..");
function pictured(model, picture, ...more) {
  const file = path.join(folder, `${model}-${path.basename(picture)}.html`);
  execFileSync(fovea, ["explain", "-m", model, path.join(root, picture), "--html", file, ...more]);
  assert.ok(readFileSync(file).length < 1_000_000);
  return String(pathToFileURL(file));
}
const tabs = (page) => page.locator("#views button:visible").allInnerTexts();

test("a caption: each word shows where it looked, and the address keeps it", async () => {
  const url = pictured("scenes", "examples/scenes/1.png"), page = await open(url);
  assert.deepEqual(await tabs(page), ["Picture", "Heads", "Model", "Matrix", "Steps", "Compare"]);
  assert.equal(await page.locator("#answer").textContent(), "a small purple circle left of a large yellow star");
  await page.locator("#tile-9").click();
  assert.match(page.url(), /pick=r9/);
  await page.mouse.move(0, 0);
  const told = await page.locator(".value").innerText();
  assert.match(told, /^star looks at patch 6,6 \d+ %.*written with probability/);
  const again = await open(page.url());
  assert.equal(await again.locator(".value").innerText(), told);
  // The weight under the pointer is the one that was recorded.
  const field = await page.locator("#parts").boundingBox();
  await page.mouse.move(field.x + field.width * 5.5 / 8, field.y + field.height * 5.5 / 8);
  const wanted = await page.evaluate(async () => { const { seen, chosen } = window.fovea.frame, m = await seen.matrix(chosen); return m.at(9, 5 * 8 + 5).toFixed(4); });
  assert.match(await page.locator(".value").innerText(), new RegExp(`^patch 6,6 has ${wanted.replace(".", "\\.")} of what star looks at; it is looked at by `));
  assert.deepEqual([...page.faults, ...again.faults], []);
  await page.close(); await again.close();
});

test("a label: heads, rollout and parts show where they looked", async () => {
  const url = pictured("fashion", "examples/fashion/1.png"), page = await open(url);
  assert.match(await page.locator("#answer").textContent(), /^ankle boot0\.\d{4}$/);
  assert.equal(await page.locator("#stage g[role=button]").count(), 10);
  assert.match(await page.locator(".value").innerText(), /^class looks at patch \d,\d/);
  await page.getByRole("button", { name: "rollout" }).click();
  await until(page, () => location.hash.includes("layers=rollout") && document.querySelector("#tile-9")?.getAttribute("aria-pressed") === "true");
  await page.locator("#parts").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.match(await page.locator(".value").innerText(), /^patch 2,1 looks at .*; it has 0\.\d{4} of what class looks at/);
  assert.match(page.url(), /pick=r8/);
  await page.locator("#table summary").click();
  const rows = await page.locator("#rows tbody tr").count(), sum = await page.locator("#rows td").allInnerTexts();
  assert.equal(rows, 7);
  const total = sum.reduce((a, b) => a + Number(b), 0);
  assert.ok(total > 0.5 && total < 1.001, String(total));
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("every view of pictures fits, is saved, and shows text as text", async () => {
  const page = await open(pictured("fashion", "examples/fashion/2.png"), { width: 360 });
  await page.evaluate(() => { window.fovea.recordings[0].answer = "<img src=x onerror=window.bad=1>\t0.5"; });
  for (const view of ["picture", "heads", "model", "matrix", "compare", "text", "explain", "sound"]) {
    await go(page, { view });
    assert.equal(await page.locator(".error").count(), 0, view + await shown(page));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
    if (view === "text") assert.match(await page.locator("#answer").textContent(), /^<img src=x/);
  }
  await go(page, { view: "picture", shade: "light" });
  for (const kind of ["svg", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#" + kind)]);
    assert.equal(download.suggestedFilename(), `fovea-picture.${kind}`);
    const bytes = readFileSync(await download.path());
    assert.ok(bytes.length > 5000);
    if (kind === "svg") assert.match(String(bytes), /data:image\/png;base64/);
  }
  assert.equal(await page.evaluate(() => window.bad), undefined);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("a served model of pictures sees the file that was named and no other", async () => {
  const picture = path.join(root, "examples/scenes/2.png"), other = spawn(fovea, ["view", "-m", "scenes", "--stay", picture], { stdio: ["ignore", "pipe", "inherit"] });
  const own = address;
  address = await new Promise((done) => other.stdout.once("data", (line) => done(String(line).trim())));
  try {
    const page = await open(address);
    assert.match(await page.locator("#answer").textContent(), /^a /);
    await go(page, { model: "fashion", text: picture });
    assert.match(await page.locator(".value").innerText(), /^class looks at/);
    await go(page, { model: "scenes", text: path.join(root, "examples/scenes/1.png") });
    assert.match(await page.locator(".error").innerText(), /only one that was named/);
    assert.deepEqual(page.faults, []);
    await page.close();
  } finally { other.kill(); address = own; }
});

// Σ min of two heads' rows, computed here from the weights that the page was told.
test("heads that look alike stand below a matrix, the most alike first", async () => {
  const page = await open(at({ view: "matrix", place: "decoder.2.cross", head: "0" }));
  await page.waitForSelector(".alike button");
  const [told, wanted] = await page.evaluate(async () => {
    const { seen, place } = window.fovea.frame, mine = await seen.head(place, 0), shares = [];
    for (const p of seen.alike(place))
      for (const n of p.heads.keys()) {
        const other = await seen.head(p, n);
        if (p !== place || n !== 0) shares.push([mine.reduce((sum, w, i) => sum + Math.min(w, other[i]), 0) / place.size[0], `${p.path} ${p.heads[n]}`]);
      }
    return [[...document.querySelectorAll(".alike button")].map((b) => b.querySelector("span").textContent), shares.sort((a, b) => b[0] - a[0]).slice(0, 6).map(([, name]) => name)];
  });
  assert.equal(told.length, 6);
  assert.equal(told[0], wanted[0]);
  await page.locator(".alike button").first().click();
  await until(page, () => window.fovea.frame.place.path + " " + window.fovea.frame.state.head !== "decoder.2.cross 0");
  assert.match(page.url(), /place=decoder/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test("two precisions of a model are compared", async () => {
  const page = await open(at({ view: "compare", model: "sentiment", text: "A wonderful film.", model2: "sentiment @ int8", head: "mean", head2: "mean" }));
  assert.match(await shown(page), /The largest difference is 0\.0|The largest difference is [\d.]+e-/);
  assert.match(await shown(page), /sentiment @ int8/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

// No model that hears is in the box, so the recording is made here: three words in a second, each of which listens to its own part.
test("words are shown on their sound, with what they listened to", async () => {
  const states = 50, words = ["And", "<b>so</b>", "my"], target = ["<|0.00|>", ...words, "<|end|>"];
  const floats = (list) => Buffer.from(new Float32Array(list).buffer).toString("base64");
  const row = (i) => Array.from({ length: states }, (_, j) => (j === 10 + 15 * i ? 0.75 : 0.25 / (states - 1)));
  const sequence = (pieces, id) => ({ text: "", ids: pieces.map(() => id), pieces, spans: pieces.map(() => [0, 0]), words: pieces.map(() => -1) });
  const heard = { format: 1, model: "listener", family: "whisper", precision: "f32", text: "speech.wav", answer: words.join(" "), run: 0,
    sequences: { target: sequence(target, 7), frames: sequence(Array.from({ length: states }, (_, j) => (j * 0.02).toFixed(2)), -1) },
    sound: { seconds: 1, size: [8, 100], spectrogram: Buffer.from(Array.from({ length: 800 }, (_, k) => k % 256)).toString("base64"), loudness: Buffer.from(Array.from({ length: 100 }, (_, k) => k)).toString("base64"),
      words: words.map((text, i) => ({ text, start: 0.3 * i, end: 0.3 * i + 0.3, probability: 0.9, rows: [i + 1] })), state_seconds: 0.02, states, heard: floats(words.flatMap((_, i) => row(i))) },
    places: [{ path: "decoder.0.cross", kind: "cross", heads: [0, 1], key_heads: 2, rows: "target", columns: "frames", causal: false, size: [target.length, states], names: ["", ""],
      weights: floats([0, 1].flatMap(() => target.flatMap((_, i) => (i > 0 && i < 4 ? row(i - 1) : Array(states).fill(1 / states))))) }] };
  const file = path.join(folder, "sound.html"), bare = path.join(folder, "for-sound.html");
  execFileSync(fovea, ["explain", "-m", "sentiment", "--html", bare, "A good film."]);
  const json = JSON.stringify({ version: "", served: false, models: [], first: {}, recordings: [heard] }).replace(/[<>&]/g, (c) => "\\u00" + c.charCodeAt(0).toString(16));
  writeFileSync(file, readFileSync(bare, "utf8").replace(/(<script type="application\/json"[^>]*>)[^]*?(<\/script>)/, (_, a, b) => a + json + b));
  for (const width of [360, 1400]) {
    const page = await open(String(pathToFileURL(file)), { width });
    assert.deepEqual(await tabs(page), ["Sound", "Heads", "Model", "Matrix", "Steps", "Compare"]);
    assert.match(await page.locator(".value").innerText(), /^And 0\.00 to 0\.30 s, probability 0\.90; it listens most at 0\.20 s, 8\d % within its time/);
    await page.locator("#spoken-1").focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await page.locator(".value").innerText(), /^my 0\.60 to 0\.90 s/);
    assert.match(page.url(), /pick=w2/);
    const again = await open(page.url());
    assert.match(await again.locator(".value").innerText(), /^my /);
    await again.close();
    await go(page, { place: "decoder.0.cross", head: 1, pick: "w1" });
    assert.match(await page.locator(".value").innerText(), /^<b>so<\/b> .* most at 0\.50 s/);
    await page.locator("#table summary").click();
    assert.equal(await page.locator("#rows tbody tr").count(), 3);
    for (const view of ["sound", "heads", "model", "matrix", "compare"]) {
      await go(page, { view });
      assert.equal(await page.locator(".error").count(), 0, view + await shown(page));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
    }
    assert.deepEqual(page.faults, []);
    await page.close();
  }
});

test("a file without explanations says how to get them", async () => {
  const file = path.join(folder, "bare.html");
  execFileSync(fovea, ["explain", "-m", "sentiment", "--html", file, "A good film."]);
  const page = await open(pathToFileURL(file) + "#view=explain");
  assert.match(await shown(page), /--method all/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

// More tokens than weights are kept of: the page asks for what it shows, and tells the weight under the pointer.
test("a long text comes in tiles, and its weights are exact", async () => {
  const text = "The cat sat on the mat and the dog slept by the door. ".repeat(45).trim();
  const page = await open(at({ view: "matrix", place: "encoder.1.self", head: 1, text }));
  const told = await page.evaluate(async () => {
    const { seen, place } = window.fovea.frame, whole = await seen.head(place, 1), size = place.size[1];
    let worst = 0;
    for (const row of [0, 17, size - 1]) worst = Math.max(worst, Math.abs(whole.subarray(row * size, (row + 1) * size).reduce((a, b) => a + b, 0) - 1));
    return { size, sent: "weights" in seen && seen.weights !== undefined, packed: place.packed !== undefined, worst };
  });
  assert.ok(told.size > 512 && !told.packed && told.worst < 1e-3, JSON.stringify(told));
  assert.deepEqual(page.faults, []);
  await page.close();
});

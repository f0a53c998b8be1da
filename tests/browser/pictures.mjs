// The pictures of the page in docs/images: node pictures.mjs FOLDER, in build/browser once ./test browser has made it.
import { spawn } from "node:child_process";
import path from "node:path";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1000, height: 700 } });

// Pictures of a page that the program serves for these arguments.
async function draw(args, views) {
  const program = spawn(process.env.FOVEA ?? "../release/fovea", ["view", "--stay", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done) => program.stdout.once("data", (line) => done(String(line).trim())));
  for (const [view, state] of Object.entries(views)) {
    await page.goto("about:blank");
    await page.goto(address + "#" + new URLSearchParams({ view, theme: "light", ...state }));
    await page.waitForTimeout(2500);
    const end = await page.evaluate(() => {
      document.querySelector("#table").hidden = true;
      return Math.max(...[...document.querySelectorAll("#stage svg, #stage canvas, #stage p, #stage section")].map((e) => e.getBoundingClientRect().bottom), 0) || document.querySelector("#stage").getBoundingClientRect().bottom;
    });
    await page.screenshot({ path: path.join(process.argv[2], `view-${view}.png`), fullPage: true, clip: { x: 0, y: 0, width: 1000, height: Math.ceil(end) + 24 } });
  }
  program.kill();
}

await draw(["The bank approved the loan."], { text: {}, heads: { heads: "0.1.2.3" }, model: {}, matrix: { place: "decoder.2.cross", head: 1 }, steps: {}, compare: { head: 1, head2: 3 },
  explain: { model: "sentiment", text: "The food was cold, but the staff were wonderful.", check: "yes" } });
await draw(["-m", "scenes", "../../examples/scenes/1.png"], { picture: { pick: "r9" } });
// A Whisper and a recording are not in the box.
if (process.env.LISTENER) await draw(["-m", process.env.LISTENER, process.env.SPEECH], { sound: { pick: "w4" } });
await browser.close();

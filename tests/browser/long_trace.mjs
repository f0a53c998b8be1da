// A trace file of any length whose weights are known without computing them: causal, q[i] = e(i mod 16), k[j] = s · e(j mod 16), so that
// token i looks at those before it that are as many mod 16 (and at itself) with e^s, and at all others with 1.
//
//   writeTrace("long.safetensors", 100_000);   weight(70_001, 17);
import { writeFileSync } from "node:fs";

const width = 16, strong = 9;

function sum(row) {
  const alike = Math.floor(row / width) + 1;
  return alike * Math.exp(strong) + (row + 1 - alike);
}
export const weight = (row, column) => (column > row ? 0 : (row % width === column % width ? Math.exp(strong) : 1) / sum(row));

export function writeTrace(file, tokens, { tiles = true } = {}) {
  const q = new Float32Array(tokens * width), k = new Float32Array(tokens * width), lse = new Float32Array(tokens);
  for (let i = 0; i < tokens; ++i) { q[i * width + (i % width)] = 1; k[i * width + (i % width)] = strong; lse[i] = Math.log(sum(i)); }
  const tensors = { "layer.0.self.q": [[1, tokens, width], q], "layer.0.self.k": [[1, tokens, width], k], "layer.0.self.lse": [[1, tokens], lse] };
  if (tiles) Object.assign(tensors, pooled(tokens, 7));
  const pieces = Array.from({ length: tokens }, (_, i) => (i % 10 ? `w${i % 97}` : "the")), text = pieces.join(" ");
  let at = 0;
  const spans = pieces.map((p) => { const span = [at, at + p.length]; at += p.length + 1; return span; });
  const fovea = JSON.stringify({ format: 1, model: "made", family: "none", precision: "f32", text, answer: "", sequences: { text: { text, ids: pieces.map((_, i) => i % 97), pieces, spans } },
    places: [{ path: "layer.0.self", kind: "self", heads: [0], key_heads: 1, rows: "text", columns: "text", causal: true, size: [tokens, tokens], kept: tiles ? ["tiles", "parts"] : ["parts"], scale: 1 }] });
  const header = { __metadata__: { fovea } };
  let end = 0;
  for (const [name, [shape, data]] of Object.entries(tensors)) { header[name] = { dtype: "F32", shape, data_offsets: [end, end + data.byteLength] }; end += data.byteLength; }
  let json = Buffer.from(JSON.stringify(header));
  json = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(file, Buffer.concat([length, json, ...Object.values(tensors).map(([, data]) => Buffer.from(data.buffer))]));
}

// Squares of 2^level × 2^level, a multiple of 16.
function pooled(tokens, level) {
  const side = 2 ** level, across = Math.ceil(tokens / side), max = new Float32Array(across * across), mean = new Float32Array(across * across);
  for (let i = 0; i < tokens; ++i) {
    const z = sum(i), down = Math.floor(i / side) * across, rows = Math.min(side, tokens - Math.floor(i / side) * side);
    for (let c = 0; c * side <= i; ++c) {
      const seen = Math.min(i + 1, (c + 1) * side) - c * side, alike = Math.floor((seen - 1 - (i % width)) / width) + 1;
      const cells = rows * Math.min(side, tokens - c * side);
      max[down + c] = Math.max(max[down + c], (alike > 0 ? Math.exp(strong) : 1) / z);
      mean[down + c] += (alike * Math.exp(strong) + (seen - alike)) / z / cells;
    }
  }
  return { [`layer.0.self.tiles.${level}.max`]: [[1, across, across], max], [`layer.0.self.tiles.${level}.mean`]: [[1, across, across], mean] };
}

if (process.argv[2]) writeTrace(process.argv[2], Number(process.argv[3] ?? 100_000), { tiles: process.argv[4] !== "bare" });

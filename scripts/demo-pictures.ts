/**
 * Makes the demo's pictures, sites/demo/pictures/*.avif: models of clay, wood and brick, and the light on them. Nothing
 * in them is copied; every run makes the same ones, in some minutes each.
 *
 *     bun scripts/demo-pictures.ts                                   all of them
 *     bun scripts/demo-pictures.ts still-life kiln                   these
 *     bun scripts/demo-pictures.ts kiln --width 400 --samples 8 --png /tmp/kiln.png    a quick look
 */
import { join, resolve } from "node:path";
import { parseArguments } from "../runtime/command/arguments.ts";
import { develop } from "./pictures/develop.ts";
import { avif, png } from "./pictures/encode.ts";
import { brickworks } from "./pictures/brickworks.ts";
import { cones, kiln } from "./pictures/kiln.ts";
import { stamps } from "./pictures/stamps.ts";
import { piece, pieceNames, stillLife } from "./pictures/still-lifes.ts";
import { trace, type Picture } from "./pictures/trace.ts";

const folder = resolve(import.meta.dir, "../sites/demo/pictures");

const all: Readonly<Record<string, () => Picture>> = {
  "still-life": stillLife,
  brickworks,
  kiln,
  cones,
  stamps,
  ...Object.fromEntries(pieceNames.map((name) => [name, () => piece(name)])),
};

const { words, options } = parseArguments(process.argv.slice(2));
const names = words.length > 0 ? words : Object.keys(all);
for (const name of names) {
  const picture = all[name]?.();
  if (!picture) throw new Error(`no picture ${name}: there are ${Object.keys(all).join(", ")}`);
  const from = Date.now();
  const width = Number(options["width"] ?? picture.width);
  const light = trace(picture, Math.round(width / 2), Number(options["samples"] ?? 10));
  const points = develop(light, trace(picture, width, 4, true), picture.exposure);
  const file = options["png"] ?? join(folder, `${name}.avif`);
  const bytes = options["png"] ? await png(points) : await avif(points, Number(options["quality"] ?? 58));
  await Bun.write(file, bytes);
  process.stdout.write(
    `${file}  ${points.width}x${points.height}  ${bytes.byteLength} bytes, ${Date.now() - from} ms\n`,
  );
}

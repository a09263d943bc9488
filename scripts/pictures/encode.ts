/** Writes a picture's points as AVIF, or as PNG to look at. */
import { init, default as encodeAvif } from "@jsquash/avif/encode.js";
import avifEncoder from "@jsquash/avif/codec/enc/avif_enc.wasm" with { type: "file" };
import { init as initPng, default as encodePng } from "@jsquash/png/encode.js";
import pngCodec from "@jsquash/png/codec/pkg/squoosh_png_bg.wasm" with { type: "file" };
import type { Points } from "./develop.ts";

async function compiled(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(path).arrayBuffer());
}

export async function avif(points: Points, quality: number): Promise<ArrayBuffer> {
  await init(await compiled(avifEncoder));
  return encodeAvif(imageOf(points), { quality, speed: 4 });
}

export async function png(points: Points): Promise<ArrayBuffer> {
  await initPng(await compiled(pngCodec));
  return encodePng(imageOf(points));
}

/** The codecs read nothing else of it. */
const imageOf = ({ data, width, height }: Points) => ({ data, width, height }) as ImageData;

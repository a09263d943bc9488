/**
 * Makes a picture smaller, by libvips; runs in a guarded process, because the picture is hostile. Its colours become sRGB
 * by its profile, it is turned as its EXIF says, and nothing but its points is passed on.
 */
import { packageIn } from "platform";
import type { default as Sharp, Sharp as Pipeline } from "sharp";
import { maxPixels, type Format } from "./variants.ts";

interface ResizeRequest {
  /** The picture, base64. */
  readonly source: string;
  readonly width: number;
  readonly format: Format;
}

/** A failure is an answer and no exception: the process goes on. */
export type Answer =
  | { readonly bytes: string } // base64
  | { readonly failure: string };

/** The package in the executable is unpacked in a folder (`packedSharp` of scripts/build.ts). */
const sharp = packageIn("SHARP_FOLDER", "sharp") as typeof Sharp; // its types are those of a module
// Each picture is made once, so nothing of it is kept.
sharp.cache(false);
sharp.concurrency(2);
// It would read files of many other kinds too.
const readers = ["Jpeg", "Png", "Webp", "Heif"].map((kind) => `VipsForeignLoad${kind}`);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: readers });

export default async function resize(input: unknown): Promise<Answer> {
  const { source, width, format } = input as ResizeRequest; // `pictures.ts` alone asks
  try {
    const made = sharp(Uint8Array.fromBase64(source), { limitInputPixels: maxPixels, failOn: "none" })
      .autoOrient()
      .resize({ width, withoutEnlargement: true });
    const bytes = await encoders[format](made).toBuffer();
    return { bytes: bytes.toBase64() };
  } catch (error) {
    return { failure: String(error).slice(0, 200) };
  }
}

const encoders: Readonly<Record<Format, (picture: Pipeline) => Pipeline>> = {
  // It knows nothing that is transparent.
  jpeg: (picture) => picture.flatten({ background: "#fff" }).jpeg({ quality: 80 }),
  webp: (picture) => picture.webp({ quality: 80 }),
  avif: (picture) => picture.avif({ quality: 55, effort: 1 }),
};

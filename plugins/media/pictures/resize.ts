/**
 * Decodes a picture, makes it smaller and encodes it; runs in a guarded process, because the picture is hostile. Only
 * its points are passed on: EXIF, profiles and texts are gone, and it is turned as its EXIF says.
 */
import { dimensionsOf } from "../content/dimensions.ts";
import { sniff } from "../content/sniff.ts";
import { load } from "./codecs.ts";
import { maxPixels, type Format } from "./variants.ts";

interface Asked {
  /** The picture, base64. */
  readonly source: string;
  readonly width: number;
  readonly format: Format;
}

export interface Resized {
  /** Base64. */
  readonly bytes: string;
}

/** A refusal is an answer and no exception: the process goes on. */
export type Answer = Resized | { readonly refusal: string };

export default async function resize(input: unknown): Promise<Answer> {
  const { source, width, format } = input as Asked; // `pictures.ts` alone asks
  const bytes = Uint8Array.fromBase64(source);
  const mime = sniff(bytes.subarray(0, 4096));
  const found = dimensionsOf(mime, bytes);
  if (!found) return { refusal: "is damaged" };
  if (found.width * found.height > maxPixels) return { refusal: `has more than ${maxPixels} points` };
  try {
    const image = await load.decoder(mime)(bytes.buffer);
    const made = image.width > width ? await load.smaller(image, width) : image;
    const encoded = await load.encoder(format)(format === "jpeg" ? onWhite(made) : made);
    return { bytes: new Uint8Array(encoded).toBase64() };
  } catch (error) {
    return { refusal: `cannot be decoded: ${String(error).slice(0, 200)}` };
  }
}

/** JPEG knows nothing that is transparent. */
function onWhite(image: ImageData): ImageData {
  const { data } = image;
  for (let at = 0; at < data.length; at += 4) {
    const alpha = (data[at + 3] ?? 255) / 255;
    if (alpha === 1) continue;
    for (let n = at; n < at + 3; n++) data[n] = (data[n] ?? 0) * alpha + 255 * (1 - alpha);
    data[at + 3] = 255;
  }
  return image;
}

/**
 * Width and height of a picture by its header, without decoding it: also of one that nobody should decode. What a camera
 * has turned is measured as it is shown.
 */

export interface Dimensions {
  readonly width: number;
  readonly height: number;
}

/** How many bytes `dimensionsOf` wants to see: a JPEG may have a thumbnail and a colour profile before its size. */
export const headerBytes = 1 << 20;

/** Undefined for what is no picture, or is damaged. */
export function dimensionsOf(mime: string, bytes: Uint8Array): Dimensions | undefined {
  try {
    const found = readers[mime]?.(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return found && found.width > 0 && found.height > 0 ? found : undefined;
  } catch (error) {
    // It ends before its size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Whether a picture moves: then it is not resized, as only its first frame would be left. */
export function moves(mime: string, head: Uint8Array): boolean {
  const start = new TextDecoder("latin1").decode(head.subarray(0, 4096));
  if (mime === "image/webp") return start.slice(12, 16) === "VP8X" && ((head[20] ?? 0) & 2) !== 0;
  // The chunk that says how many frames a PNG has comes before its points.
  if (mime === "image/png") return start.includes("acTL");
  return mime === "image/gif" || (mime === "image/avif" && start.slice(8, 12) === "avis");
}

/** How many places of a file may look like the beginning of EXIF. */
const maxPlaces = 100;

/** Whether a picture says where it was taken, in EXIF or XMP of any of its formats. */
export function tellsPlace(head: Uint8Array): boolean {
  const text = new TextDecoder("latin1").decode(head);
  if (text.includes("exif:GPSLatitude")) return true;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  let places = 0;
  for (const { index } of text.matchAll(/II\*\0|MM\0\*/g)) {
    if (++places > maxPlaces) break;
    for (const { tag } of entriesOf(view, index, view.byteLength)) if (tag === 0x8825) return true;
  }
  return false;
}

const readers: Readonly<Record<string, (view: DataView) => Dimensions | undefined>> = {
  "image/png": (view) => ({ width: view.getUint32(16), height: view.getUint32(20) }),
  "image/gif": (view) => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) }),
  "image/bmp": (view) => ({ width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) }),
  "image/webp": webp,
  "image/jpeg": jpeg,
  "image/avif": avif,
  "image/heic": avif,
};

const word = (view: DataView, at: number) =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
const uint24 = (view: DataView, at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);

function webp(view: DataView): Dimensions | undefined {
  switch (word(view, 12)) {
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

/** Walks over the segments up to the frame's header. Every step goes at least two bytes on. */
function jpeg(view: DataView): Dimensions | undefined {
  let turned = false;
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // Fill bytes, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker === 0xda || marker === 0xd9) return undefined;
    else if (isFrame(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return turned ? { width: height, height: width } : { width, height };
    } else {
      const length = view.getUint16(at + 2);
      if (length < 2) return undefined;
      if (marker === 0xe1 && word(view, at + 4) === "Exif") turned = isTurned(view, at + 10, at + 2 + length);
      at += 2 + length;
    }
  }
}

/** SOF0 to SOF15, without those that are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/** Whether the orientation in the first directory exchanges width and height. */
function isTurned(view: DataView, tiff: number, end: number): boolean {
  for (const { tag, value } of entriesOf(view, tiff, end)) if (tag === 0x0112) return value >= 5;
  return false;
}

/** The first directory of EXIF, as far as it is there; a value is the first 16 bits of it. */
function* entriesOf(
  view: DataView,
  tiff: number,
  end: number,
): Generator<{ readonly tag: number; readonly value: number }> {
  if (tiff + 8 > Math.min(end, view.byteLength)) return;
  const little = view.getUint16(tiff) === 0x4949;
  const directory = tiff + view.getUint32(tiff + 4, little);
  if (directory + 2 > Math.min(end, view.byteLength)) return;
  const entries = view.getUint16(directory, little);
  for (let n = 0; n < entries; n++) {
    const entry = directory + 2 + n * 12;
    if (entry + 12 > Math.min(end, view.byteLength)) return;
    yield { tag: view.getUint16(entry, little), value: view.getUint16(entry + 8, little) };
  }
}

/** The largest `ispe` property in the header: the picture's own, as those of tiles and thumbnails are smaller. */
function avif(view: DataView): Dimensions | undefined {
  const end = Math.min(view.byteLength - 16, 65_536);
  let largest: Dimensions | undefined;
  for (let at = 0; at < end; at++) {
    if (view.getUint32(at) !== 0x69_73_70_65) continue;
    const found = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) };
    if (!largest || found.width * found.height > largest.width * largest.height) largest = found;
  }
  return largest;
}

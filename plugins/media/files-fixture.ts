/** Small files of many kinds for the tests of media: headers are right, and what follows them is nothing. */

function ascii(text: string): number[] {
  return Array.from(text, (one) => one.charCodeAt(0));
}
const uint32 = (n: number) => [n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255];
const uint16 = (n: number) => [(n >> 8) & 255, n & 255];

export function png(width: number, height: number): Uint8Array<ArrayBuffer> {
  const start = [0x89, ...ascii("PNG\r\n\x1a\n"), ...uint32(13), ...ascii("IHDR")];
  return new Uint8Array([...start, ...uint32(width), ...uint32(height), 8, 2, 0, 0, 0]);
}

export function gif(width: number, height: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array([...ascii("GIF89a"), width, 0, height, 0, 0, 0, 0]);
}

/** `orientation` as EXIF numbers it. */
export function jpeg(width: number, height: number, rest = "", orientation?: number): Uint8Array<ArrayBuffer> {
  const tiff = [...ascii("MM\0*"), ...uint32(8), 0, 1, 1, 0x12, 0, 3, ...uint32(1), ...uint16(orientation ?? 1), 0, 0];
  const exif = orientation === undefined ? [] : [0xff, 0xe1, ...uint16(tiff.length + 8), ...ascii("Exif\0\0"), ...tiff];
  const frame = [0xff, 0xc0, 0, 11, 8, ...uint16(height), ...uint16(width), 1, 1, 0x11, 0];
  return new Uint8Array([0xff, 0xd8, ...exif, ...frame, 0xff, 0xd9, ...ascii(rest)]);
}

/** A drawing with everything that a hostile one may have. */
export const svg = `<?xml version="1.0"?>
<!DOCTYPE svg [<!ENTITY x "y">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" onload="alert(1)"><script>alert(1)</script><style>.a{fill:url(#g)}</style><style>@import "//evil.example";</style><linearGradient id="g"/><rect class="a" width="9" onclick="alert(1)" fill="url(//evil.example)" style="background:u\\72l(//evil.example)"/><use xlink:href="#g"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:alert(1)"/></foreignObject><text>1 &lt; 2</text><image href="javascript:alert(1)"/><animate attributeName="href" values="javascript:alert(1)"/><a href="javascript:alert(1)"><circle r="1"/></a></svg>`;

/** A JPEG with an orientation and a comment in its EXIF. */
export function withExif(picture: Uint8Array, orientation: number, comment: string): Uint8Array<ArrayBuffer> {
  const head = [...ascii("MM\0*"), ...uint32(8), 0, 2];
  const turn = [0x01, 0x12, 0, 3, ...uint32(1), ...uint16(orientation), 0, 0];
  const text = [0x01, 0x0e, 0, 2, ...uint32(comment.length), ...uint32(38)];
  const tiff = [...head, ...turn, ...text, ...uint32(0), ...ascii(comment)];
  const segment = [0xff, 0xe1, ...uint16(tiff.length + 8), ...ascii("Exif\0\0"), ...tiff];
  return new Uint8Array([...picture.subarray(0, 2), ...segment, ...picture.subarray(2)]);
}

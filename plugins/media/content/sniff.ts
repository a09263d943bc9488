/** Detects a file's type by its first bytes: the sender's file name and headers prove nothing. */

interface Signature {
  readonly mime: string;
  /** Bytes at a place; a text is its Latin-1 bytes. */
  readonly at: readonly (readonly [offset: number, bytes: string])[];
}

/** In this order: what begins alike stands with the longer mark first. */
const magics: readonly Signature[] = [
  { mime: "image/jpeg", at: [[0, "\xff\xd8\xff"]] },
  { mime: "image/png", at: [[0, "\x89PNG\r\n\x1a\n"]] },
  { mime: "image/gif", at: [[0, "GIF87a"]] },
  { mime: "image/gif", at: [[0, "GIF89a"]] },
  {
    mime: "image/webp",
    at: [
      [0, "RIFF"],
      [8, "WEBP"],
    ],
  },
  {
    mime: "audio/wav",
    at: [
      [0, "RIFF"],
      [8, "WAVE"],
    ],
  },
  {
    mime: "video/x-msvideo",
    at: [
      [0, "RIFF"],
      [8, "AVI "],
    ],
  },
  { mime: "image/tiff", at: [[0, "II*\0"]] },
  { mime: "image/tiff", at: [[0, "MM\0*"]] },
  {
    mime: "image/bmp",
    at: [
      [0, "BM"],
      [6, "\0\0\0\0"],
    ],
  },
  { mime: "image/x-icon", at: [[0, "\0\0\x01\0"]] },
  { mime: "image/jxl", at: [[0, "\0\0\0\x0cJXL \r\n\x87\n"]] },
  { mime: "application/pdf", at: [[0, "%PDF-"]] },
  { mime: "application/zip", at: [[0, "PK\x03\x04"]] },
  { mime: "application/zip", at: [[0, "PK\x05\x06"]] },
  { mime: "application/gzip", at: [[0, "\x1f\x8b\x08"]] },
  { mime: "application/x-bzip2", at: [[0, "BZh"]] },
  { mime: "application/x-xz", at: [[0, "\xfd7zXZ\0"]] },
  { mime: "application/zstd", at: [[0, "\x28\xb5\x2f\xfd"]] },
  { mime: "application/x-7z-compressed", at: [[0, "7z\xbc\xaf\x27\x1c"]] },
  { mime: "application/vnd.rar", at: [[0, "Rar!\x1a\x07"]] },
  { mime: "audio/flac", at: [[0, "fLaC"]] },
  { mime: "audio/ogg", at: [[0, "OggS"]] },
  { mime: "audio/mpeg", at: [[0, "ID3"]] },
  { mime: "audio/mpeg", at: [[0, "\xff\xfb"]] },
  { mime: "video/webm", at: [[0, "\x1a\x45\xdf\xa3"]] },
  { mime: "font/woff2", at: [[0, "wOF2"]] },
  { mime: "font/woff", at: [[0, "wOFF"]] },
  { mime: "font/otf", at: [[0, "OTTO"]] },
  { mime: "font/ttf", at: [[0, "\0\x01\0\0\0"]] },
  { mime: "application/vnd.ms-office", at: [[0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"]] },
];

/** The brands of ISO media files; others of the family are videos. */
const brands: Readonly<Record<string, string>> = {
  avif: "image/avif",
  avis: "image/avif",
  heic: "image/heic",
  heix: "image/heic",
  mif1: "image/heif",
  "M4A ": "audio/mp4",
  "qt  ": "video/quicktime",
};

/** Documents that are zip archives inside. The name chooses among these only; all of them are sent as attachments. */
const zipped: Readonly<Record<string, string>> = {
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
  epub: "application/epub+zip",
};

/** How many bytes `sniff` wants to see, if there are as many. */
export const sniffBytes = 4096;

/** The media type of a file that begins with `head`; `name` only tells apart documents that are zip archives. */
export function sniff(head: Uint8Array, name = ""): string {
  const start = new TextDecoder("latin1").decode(head.subarray(0, 64));
  if (start.slice(4, 8) === "ftyp") return brands[start.slice(8, 12)] ?? "video/mp4";
  const found = magics.find(({ at }) => at.every(([offset, bytes]) => begins(head, offset, bytes)));
  if (found?.mime === "application/zip") return zipped[endingOf(name)] ?? found.mime;
  return found?.mime ?? textType(head);
}

function begins(head: Uint8Array, offset: number, bytes: string): boolean {
  for (let at = 0; at < bytes.length; at++) if (head[offset + at] !== bytes.charCodeAt(at)) return false;
  return true;
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

/** A text is UTF-8 without control characters. Whatever a browser could take for a page is no plain text. */
function textType(head: Uint8Array): string {
  const text = decoded(head);
  const other = text === undefined || /^\s*<\?xml/.test(text) ? xmlEncoding(head) : undefined;
  if (other !== undefined && firstElement(new TextDecoder(other).decode(head)) === "svg") return "image/svg+xml";
  if (text === undefined) return "application/octet-stream";
  const first = firstElement(text);
  if (first === "svg") return "image/svg+xml";
  if (first === "html" || /<(?:!doctype html|html|head|body|script|iframe|img|svg|style)\b/i.test(text))
    return "text/html";
  if (first !== undefined) return "application/xml";
  return "text/plain";
}

/** The encoding of an XML file that is not UTF-8, by its byte order mark or its declaration; undefined if it is none. */
export function xmlEncoding(head: Uint8Array): string | undefined {
  if (begins(head, 0, "\xff\xfe")) return "utf-16le";
  if (begins(head, 0, "\xfe\xff")) return "utf-16be";
  const start = new TextDecoder("latin1").decode(head.subarray(0, 300));
  const label = /^\s{0,99}<\?xml\s[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/i.exec(start)?.[1];
  try {
    const { encoding } = new TextDecoder(label);
    // Its bytes say nothing of UTF-16, or they would not read as a declaration.
    return label === undefined || /^utf-(?:8|16)/.test(encoding) ? undefined : encoding;
  } catch {
    return undefined;
  }
}

function decoded(head: Uint8Array): string | undefined {
  // A character may be cut at the end of what is looked at.
  const cut = head.length >= sniffBytes ? head.subarray(0, sniffBytes - 3) : head;
  for (const byte of cut) if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 12) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(cut, { stream: head.length >= sniffBytes });
  } catch {
    return undefined;
  }
}

/** The name of the first element, behind declarations and comments; undefined if the text does not begin with one. */
function firstElement(text: string): string | undefined {
  let rest = text.trimStart();
  for (;;) {
    const end = rest.startsWith("<!--") ? "-->" : /^<[?!]/.test(rest) ? ">" : undefined;
    if (end === undefined) break;
    // Entities may be declared inside of a document type.
    const from = /^<!doctype[^>[]{0,1000}\[/i.test(rest) ? rest.indexOf("]") : 0;
    const at = from < 0 ? -1 : rest.indexOf(end, from);
    if (at < 0) return undefined;
    rest = rest.slice(at + end.length).trimStart();
  }
  const name = /^<([A-Za-z][\w.-]{0,40}:)?([A-Za-z][\w.-]{0,40})[\s/>]/.exec(rest)?.[2];
  return name?.toLowerCase();
}

/** What a browser may show in its place. Anything else is sent as an attachment. */
const inline = new Set([
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/svg+xml",
  "image/bmp",
  "image/x-icon",
  "audio/mpeg",
  "audio/mp4",
  "audio/ogg",
  "audio/wav",
  "audio/flac",
  "video/mp4",
  "video/webm",
  "video/quicktime",
  "text/plain",
  "font/woff2",
  "font/woff",
  "font/otf",
  "font/ttf",
]);

export function isInline(mime: string): boolean {
  return inline.has(mime);
}

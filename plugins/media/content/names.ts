/** Names of files and folders: what a person can read, and what no file system, header or address takes for more. */
import { invalid } from "platform";

const maxBytes = 255;
const maxFolderBytes = 1000;
/** Control characters, those that turn the direction of text (`gpj.exe` shown as `exe.jpg`), and lone surrogates. */
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

/** The name in its composed form. 422 names `field`. */
export function nameOf(given: string, field = "name"): string {
  const name = given.normalize("NFC");
  const wrong = mistakeIn(name);
  if (wrong !== undefined) throw invalid({ [field]: [wrong] });
  return name;
}

/** `team/2026`, without slashes at its ends; "" is the top. */
export function folderOf(given: string, field = "folder"): string {
  const folder = given.normalize("NFC");
  if (folder === "") return folder;
  const wrong = folder
    .split("/")
    .map(mistakeIn)
    .find((found) => found !== undefined);
  if (wrong !== undefined) throw invalid({ [field]: [wrong] });
  if (bytesOf(folder) > maxFolderBytes) throw invalid({ [field]: [`may have at most ${maxFolderBytes} bytes`] });
  return folder;
}

function mistakeIn(name: string): string | undefined {
  if (name === "") return "can't be blank";
  if (bytesOf(name) > maxBytes) return `may have at most ${maxBytes} bytes`;
  if (name === "." || name === "..") return "is a path and not a name";
  if (name.includes("/") || name.includes("\\")) return "must not contain slashes";
  if (hidden.test(name)) return "must not contain characters that cannot be seen";
  if (name !== name.trim()) return "must not begin or end with a space";
  return undefined;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

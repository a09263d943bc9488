/**
 * What may be said of a file, as JSON in a change and as texts in the form of an upload; how files and folders may be
 * called; and what of them an app's page reaches: those in its own folder, `apps/<id>`, and below it.
 */
import { checkerOf, field, invalid, Type, type Static, notFound, type AppGrant } from "platform";

/** `{ "en": "Our team", "pl": "Nasz zespół" }` */
const texts = () =>
  Type.Record(Type.String({ pattern: "^[a-z]{2}$" }), Type.String({ minLength: 1, maxLength: 1000 }), {
    additionalProperties: false,
    maxProperties: 50,
    description: "text by locale, two small letters each",
  });

export const Patch = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  folder: Type.Optional(Type.String({ maxLength: 1000, description: "`team/2026`; empty is the top" })),
  is_public: Type.Optional(field.flag()),
  titles: Type.Optional(texts()),
  alts: Type.Optional(texts()),
});
export type MediaPatch = Static<typeof Patch>;

const checked = checkerOf(Patch);
const known = new Set(["name", "folder", "is_public", "titles", "alts"]);

/** Throws the 422 for a field of a form that is unknown or not what it should be. An empty one was not filled in. */
export function patchOf(form: Readonly<Record<string, string>>): MediaPatch {
  const given: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(form)) {
    if (!known.has(name)) throw invalid({ [name]: ["is unknown"] });
    if (text === "") continue;
    given[name] = name === "is_public" ? flag(text) : name === "name" || name === "folder" ? text : json(name, text);
  }
  return checked(given);
}

function flag(text: string): boolean {
  if (text === "true" || text === "1" || text === "on") return true;
  if (text === "false" || text === "0") return false;
  throw invalid({ is_public: ["must be true or false"] });
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ [name]: ["must be a JSON object of texts by locale"] });
  }
}

const maxBytes = 255;
const maxFolderBytes = 1000;
/** Control characters, those that turn the direction of text (`gpj.exe` shown as `exe.jpg`), and lone surrogates. */
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

/** The name in its composed form. 422 names `as`. */
export function nameOf(given: string, as = "name"): string {
  const name = given.normalize("NFC");
  const wrong = mistakeIn(name);
  if (wrong !== undefined) throw invalid({ [as]: [wrong] });
  return name;
}

/** `team/2026`, without slashes at its ends; "" is the top. */
export function folderOf(given: string, as = "folder"): string {
  const folder = given.normalize("NFC");
  if (folder === "") return folder;
  const wrong = folder
    .split("/")
    .map(mistakeIn)
    .find((found) => found !== undefined);
  if (wrong !== undefined) throw invalid({ [as]: [wrong] });
  if (bytesOf(folder) > maxFolderBytes) throw invalid({ [as]: [`may have at most ${maxFolderBytes} bytes`] });
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

const folderOfApp = ({ appId }: AppGrant) => `apps/${appId}`;

const holds = (outer: string, folder: string) => folder === outer || folder.startsWith(`${outer}/`);

/** The folder whose files a list may show: the one asked for if it is the app's, or else the app's. */
export function visibleFolder(app: AppGrant | null, under: string | undefined): string | undefined {
  if (!app) return under;
  const own = folderOfApp(app);
  return under !== undefined && holds(own, under) ? under : own;
}

/** The row, if there is one and this app's page may know of it; 404 otherwise. */
export function reached<Row extends { readonly folder: string }>(app: AppGrant | null, row: Row | undefined): Row {
  if (!row || (app && !holds(folderOfApp(app), row.folder))) throw notFound();
  return row;
}

/** What an app's page says of a new file: it goes to the app's folder. */
export const placed = <Given extends MediaPatch>(app: AppGrant | null, given: Given): Given =>
  app ? kept(app, { ...given, folder: given.folder ?? folderOfApp(app) }) : given;

/** What an app's page says of a file that is there: it stays in the app's folder. */
export function kept<Given extends MediaPatch>(app: AppGrant | null, given: Given): Given {
  if (!app || given.folder === undefined) return given;
  const own = folderOfApp(app);
  const folder = folderOf(given.folder);
  if (!holds(own, folder)) throw invalid({ folder: [`must be ${own}, or in it`] });
  return { ...given, folder };
}

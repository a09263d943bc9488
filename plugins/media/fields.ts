/**
 * The fields of a file, how files and folders may be called, where they are found, and what of them an app's page
 * reaches: those in its own folder, `apps/<id>`, and below it.
 */
import { column, field, invalid, Type, type AppGrant, type GivenOf, type PatchOf, type Secrets } from "platform";

const { flag, id: bigint, integer, jsonbOf, text } = column;

/** Text by locale. */
type Texts = Readonly<Record<string, string>>;

/** `{ "en": "Our team", "pl": "Nasz zespół" }` */
const texts = () =>
  Type.Record(Type.String({ pattern: "^[a-z]{2}$" }), Type.String({ minLength: 1, maxLength: 1000 }), {
    additionalProperties: false,
    maxProperties: 50,
    description: "text by locale, two small letters each",
  });
const shownTexts = () => Type.Unsafe<Texts>(Type.Record(Type.String(), Type.String()));

export const fields = {
  name: text({
    label: ["Name", "Nazwa", "Name"],
    body: Type.String({ minLength: 1, maxLength: 255 }),
    example: "team.jpg",
  }),
  folder: text({
    label: ["Folder", "Folder", "Ordner"],
    help: [
      "For example team/2026. Empty: none.",
      "Na przykład team/2026. Pusty: żaden.",
      "Zum Beispiel team/2026. Leer: keiner.",
    ],
    body: Type.String({ maxLength: 1000, description: "`team/2026`; empty is the top" }),
    blank: "",
    example: "team",
  }),
  size: bigint({ label: ["Size in bytes", "Rozmiar w bajtach", "Größe in Byte"], by: "check", example: 284_113 }),
  /** Found in the content. */
  mime: text({ label: ["Type", "Typ", "Typ"], by: "check", example: "image/jpeg" }),
  width: integer({ label: ["Width", "Szerokość", "Breite"], by: "check", orNull: true, example: 1600 }),
  height: integer({ label: ["Height", "Wysokość", "Höhe"], by: "check", orNull: true, example: 1067 }),
  sha256: text({
    label: ["SHA-256", "SHA-256", "SHA-256"],
    by: "server",
    quiet: false,
    from: "hash",
    example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  }),
  is_public: flag({
    label: ["Public", "Publiczny", "Öffentlich"],
    help: [
      "Everybody who knows the address sees it, and pages of sites print it.",
      "Widzi go każdy, kto zna adres, i pokazują go strony witryn.",
      "Alle, die die Adresse kennen, sehen sie, und Seiten von Websites zeigen sie.",
    ],
    body: field.flag(),
    blank: false,
    example: true,
  }),
  titles: jsonbOf(shownTexts(), {
    label: ["Titles", "Tytuły", "Titel"],
    body: texts(),
    blank: {},
    example: { en: "Our team" },
  }),
  alts: jsonbOf(shownTexts(), {
    label: ["Alternative texts", "Teksty alternatywne", "Alternativtexte"],
    help: [
      "What the picture shows, for people who do not see it.",
      "Co widać na obrazie, dla osób, które go nie widzą.",
      "Was das Bild zeigt, für Menschen, die es nicht sehen.",
    ],
    body: texts(),
    blank: {},
    example: { en: "Four people around a table", pl: "Cztery osoby przy stole" },
  }),
  hash: text({ by: "check", hidden: true }),
  is_animated: flag({ by: "check", hidden: true }),
};

export type MediaPatch = PatchOf<typeof fields>;
export type MediaFields = GivenOf<typeof fields>;
export const blank: MediaFields = { folder: "", name: "", isPublic: false, titles: {}, alts: {} };

/** The fields of a file after a change. Throws the 422 for an invalid name or folder. */
export function fieldsOf(before: MediaFields, given: MediaPatch): MediaFields {
  return {
    name: nameOf(given.name ?? before.name),
    folder: folderOf(given.folder ?? before.folder),
    isPublic: given.is_public ?? before.isPublic,
    titles: given.titles ?? before.titles,
    alts: given.alts ?? before.alts,
  };
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

function bytesOf(name: string): number {
  return new TextEncoder().encode(name).length;
}

const folderOfApp = ({ appId }: AppGrant) => `apps/${appId}`;

const holds = (outer: string, folder: string) => folder === outer || folder.startsWith(`${outer}/`);

/** The folder whose files a list may show: the one asked for if it is the app's, or else the app's. */
export function visibleFolder(app: AppGrant | null, under: string | undefined): string | undefined {
  if (!app) return under;
  const own = folderOfApp(app);
  return under !== undefined && holds(own, under) ? under : own;
}

/** The fields of a new file from an app's page: it goes to the app's folder. */
export const placed = <Given extends MediaPatch>(app: AppGrant | null, given: Given): Given =>
  app ? kept(app, { ...given, folder: given.folder ?? folderOfApp(app) }) : given;

/** The patch of a file from an app's page: it stays in the app's folder. */
export function kept<Given extends MediaPatch>(app: AppGrant | null, given: Given): Given {
  if (!app || given.folder === undefined) return given;
  const own = folderOfApp(app);
  const folder = folderOf(given.folder);
  if (!holds(own, folder)) throw invalid({ folder: [`must be ${own}, or in it`] });
  return { ...given, folder };
}

// The addresses of files.

/** Below the address of the account, and of each of its sites. */
export function addressOf({ id, name }: { readonly id: string; readonly name: string }): string {
  return `/media/${id}/${encodeURIComponent(name)}`;
}

interface MediaRef {
  readonly accountId: number;
  readonly id: string;
}

const purpose = "media link";

/** The query that opens a file to whoever has it, for so long. */
export function linkTo(secrets: Pick<Secrets, "sign">, row: MediaRef, seconds: number) {
  const expires = `${Math.floor(Date.now() / 1000) + seconds}`;
  const signed = secrets.sign(purpose, payload(row, expires));
  const signature = signed.slice(signed.lastIndexOf(".") + 1);
  return { query: `expires=${expires}&signature=${signature}`, expiresAt: new Date(Number(expires) * 1000) };
}

/** How many seconds a link's query still opens this file; 0 if it does not. */
export function secondsLeft(secrets: Pick<Secrets, "verify">, row: MediaRef, query: URLSearchParams): number {
  const [expires, signature] = [query.get("expires") ?? "", query.get("signature") ?? ""];
  if (!/^\d{1,12}$/.test(expires) || signature === "") return 0;
  if (secrets.verify(purpose, `${payload(row, expires)}.${signature}`) === undefined) return 0;
  return Math.max(0, Number(expires) - Math.floor(Date.now() / 1000));
}

function payload({ accountId, id }: MediaRef, expires: string) {
  return `${accountId}/${id}/${expires}`;
}

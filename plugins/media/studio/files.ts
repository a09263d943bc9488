/** Media files as these pages show them. Pure. */
type Row = Readonly<Record<string, unknown>>;

/** A small picture of a file, if it has one. The server makes other sizes of these kinds only. */
export function thumbnailOf(row: Row, width: 320 | 960): string | undefined {
  const [mime, id] = [String(row["mime"]), String(row["id"])];
  if (mime === "image/svg+xml" || mime === "image/gif") return String(row["url"]);
  const own = Number(row["width"]);
  if (!/^image\/(jpeg|png|webp|avif)$/.test(mime) || !(own > 0)) return undefined;
  const fits = [160, 320, 640, 960].findLast((one) => one <= Math.min(width, Math.max(own, 160))) ?? 160;
  return own < 160 ? String(row["url"]) : `/media/${id}/w/${fits}.webp`;
}

/** `284 kB` */
export function sizeText(bytes: number, language: string): string {
  const steps = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const at = Math.min(steps.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const style = {
    style: "unit",
    unit: steps[at] ?? "byte",
    unitDisplay: "short",
    maximumFractionDigits: at > 1 ? 1 : 0,
  } as const;
  return new Intl.NumberFormat(language, style).format(bytes / 1000 ** at);
}

/** `{ en: "Our team" }` -> `en: Our team`, a line each. */
export function linesOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([locale, text]) => `${locale}: ${String(text)}`)
    .join("\n");
}

/** What `linesOf` has written and somebody has changed; a line without a language is kept under its own words, so that the server names it. */
export function textsOf(lines: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const at = line.indexOf(":");
        return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
      }),
  );
}

/** `Cms::Page`, 7, of the site `acme` -> what it is in the API, and its address in the Studio. */
export function placeOf(use: Row): { readonly resource: string; readonly address: string } {
  const kind = String(use["model"]).split("::").at(-1)?.toLowerCase() ?? "";
  const resource = `/cms/${kind}s`;
  const site = use["site_code"];
  const isOfSite = kind !== "site" && typeof site === "string";
  return {
    resource,
    address: `${isOfSite ? `/cms/${encodeURIComponent(site)}/${kind}s` : resource}/${String(use["id"])}`,
  };
}

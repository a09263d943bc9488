/** How a JSON value is shown to be read. */
import type { IconName } from "../../icons.ts";
import { isMap, textOf } from "../../resources/values.ts";

/** In one line: `pl: own, de: missing`. Of a map within it only what it says first. */
export function summaryOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(firstOf).join(", ");
  if (!isMap(value)) return textOf(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}: ${firstOf(inner)}`)
    .join(", ");
}

function firstOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (!isMap(value)) return value === null ? "–" : textOf(value);
  const first = [value["state"], value["status"], ...Object.values(value)].find(
    (inner) => inner !== undefined && typeof inner !== "object" && inner !== "",
  );
  return first === undefined ? "{…}" : textOf(first);
}

/** Ids that begin with their time differ at the end: in a table that is enough to tell them apart. */
export function shortId(name: string, value: string): string | undefined {
  return name === "id" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value) ? `…${value.slice(-8)}` : undefined;
}

const tones: Readonly<Record<string, "good" | "wrong" | "warn">> = {
  finished: "good",
  delivered: "good",
  sent: "good",
  approved: "good",
  error: "wrong",
  failed: "wrong",
  rejected: "wrong",
  pending: "warn",
  running: "warn",
  waiting: "warn",
  queued: "warn",
  warning: "warn",
};

/** The meaning of a state for people, if the field holds one; shown as a badge. */
export function toneOf(name: string, value: unknown): "good" | "wrong" | "warn" | "plain" | undefined {
  if (!["status", "state", "severity"].includes(name) || typeof value !== "string" || value === "") return undefined;
  return Object.hasOwn(tones, value) ? tones[value] : "plain";
}

/** Beside the words of a badge: nobody has to tell states apart by colours. */
export function pictureOfTone(tone: "good" | "wrong" | "warn" | "plain", value: unknown): IconName | undefined {
  if (tone === "warn") return value === "warning" ? "warn" : "waiting";
  return tone === "plain" ? undefined : tone;
}

/** No word of it is too long for a column: it is broken between words only. */
export function hasShortWords(value: string): boolean {
  const most = 24;
  return value.split(/\s/).every(({ length }) => length <= most);
}

/** Some things of one kind, each with several values: the steps of a process. */
export function isListOfMaps(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => isMap(one) && Object.keys(one).length > 1);
}

/** A map that can be read as names and values. */
export function isFlat(value: unknown): value is Readonly<Record<string, unknown>> {
  const most = 12;
  if (!isMap(value)) return false;
  const inner = Object.values(value);
  return inner.length > 0 && inner.length <= most && inner.every((one) => typeof one !== "object" || one === null);
}

/** The values that tell items of a list apart: short ones, the most telling first. */
export function headOf(one: Readonly<Record<string, unknown>>): string {
  const names = ["id", "name", "type", "code", "kind", "status", "state", "event"];
  const said = names.flatMap((name) => {
    const value = one[name];
    return (typeof value === "string" && value !== "" && value.length <= 80) || typeof value === "number"
      ? [String(value)]
      : [];
  });
  return said.length > 0 ? said.join(" · ") : summaryOf(one).slice(0, 120);
}

/** An error is seen at once. */
export function isWrong(one: Readonly<Record<string, unknown>>): boolean {
  return typeof one["error"] === "string" && one["error"] !== "";
}

const mostChars = 50_000;

export function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text.length > mostChars ? `${text.slice(0, mostChars)}…` : text;
}

/** A list of texts and numbers. */
export function isPlainList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== "object");
}

export function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

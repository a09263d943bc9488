/** The form of a question as HTML, and what it sends as values. */
import { escapeHtml, isObject, type Language } from "platform";
import type en from "./text/en.json";
import type { AskRow, Choice } from "./store.ts";

export type Words = typeof en & { readonly language: Language };
export type Values = Readonly<Record<string, unknown>>;

/** A text or number as text; "" for anything else. */
export const shownText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? `${value}` : "";

/** A field in full, also where only its type is said. */
function fieldOf({ fields }: AskRow, name: string): Values {
  const field = fields[name];
  return isObject(field) ? field : { type: field };
}

export function labelOf(ask: AskRow, name: string, language: Language): string {
  return inLanguage(fieldOf(ask, name)["label"], language) ?? name;
}

/** `given`: what was typed already. */
export function formPage(words: Words, ask: AskRow, given: Values): string {
  const paragraphs = ask.text.split(/\n{2,}/).filter(Boolean);
  const about = paragraphs.map((one) => `<p>${escapeHtml(one).replaceAll("\n", "<br>")}</p>`);
  const inputs = Object.keys(ask.fields).map((name) => inputOf(words, ask, name, given[name]));
  const buttons = ask.choices.map((choice, at) => {
    const [value, label] = [choice.value, labelOfChoice(words, choice)].map(escapeHtml);
    const look = at === 0 ? "" : ' class="second"';
    return `<button type="submit" name="choice" value="${value}"${look}>${label}</button>`;
  });
  const typed = escapeHtml(shownText(given["comment"]));
  const comment = `<label for="comment">${words.comment}</label>
<textarea id="comment" name="comment" rows="3" maxlength="2000">${typed}</textarea>`;
  return [...about, `<form method="post">`, ...inputs, comment, ...buttons, "</form>"].join("\n");
}

export function labelOfChoice(words: Words, { value, label }: Choice): string {
  if (label !== undefined) return inLanguage(label, words.language) ?? value;
  return value === "approve" || value === "decline" ? words[value] : value;
}

function inLanguage(said: unknown, language: Language): string | undefined {
  if (typeof said === "string") return said;
  if (!isObject(said)) return undefined;
  const found = said[language] ?? said["en"] ?? Object.values(said)[0];
  return typeof found === "string" ? found : undefined;
}

const inputTypes: Readonly<Record<string, string>> = {
  integer: 'number" step="1',
  number: 'number" step="any',
  date: "date",
  time: "time",
  datetime: "datetime-local",
};

function inputOf(words: Words, ask: AskRow, name: string, given: unknown): string {
  const field = fieldOf(ask, name);
  const { choices, required } = field;
  const type = shownText(field["type"]);
  const now = given ?? field["default"];
  const [id, label] = [escapeHtml(`f-${name}`), escapeHtml(labelOf(ask, name, words.language))];
  const value = escapeHtml(shownText(now));
  const about = `id="${id}" name="${escapeHtml(name)}"${required === true ? " required" : ""}`;
  if (Array.isArray(choices)) {
    const options = choices.map((one: unknown) => optionOf(words, one, [now].flat().map(shownText)));
    const [many, first] = type === "list" ? [" multiple", ""] : ["", `<option value="">${words.choose}</option>`];
    return `<label for="${id}">${label}</label>\n<select ${about}${many}>${first}${options.join("")}</select>`;
  }
  if (type === "boolean") {
    const ticked = now === true || now === "true" ? " checked" : "";
    return `<label><input type="checkbox" ${about} value="true"${ticked}> ${label}</label>`;
  }
  if (type === "text") return `<label for="${id}">${label}</label>\n<textarea ${about} rows="5">${value}</textarea>`;
  return `<label for="${id}">${label}</label>\n<input type="${inputTypes[type] ?? "text"}" ${about} value="${value}">`;
}

function optionOf(words: Words, choice: unknown, chosen: readonly string[]): string {
  const { value, label } = isObject(choice) ? choice : { value: choice, label: undefined };
  const key = shownText(value);
  const said = escapeHtml(inLanguage(label, words.language) ?? key);
  return `<option value="${escapeHtml(key)}"${chosen.includes(key) ? " selected" : ""}>${said}</option>`;
}

/** The texts of a form as values of the fields' types; what is no such value stays a text, and is refused as one. */
export function valuesOf(ask: AskRow, given: Values): Values {
  const values = Object.entries(given).map(([name, value]) => [name, valueOf(fieldOf(ask, name), value)]);
  // A box that is not ticked is not sent.
  const unticked = Object.keys(ask.fields).filter(
    (name) => fieldOf(ask, name)["type"] === "boolean" && !(name in given),
  );
  return Object.fromEntries([...values, ...unticked.map((name) => [name, false])]);
}

function valueOf({ type }: Values, value: unknown): unknown {
  if (type === "list") return [value].flat().filter((one) => one !== "");
  if (type === "boolean") return value === "true";
  const isNumber = (type === "integer" || type === "number") && typeof value === "string" && value.trim() !== "";
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** Fills a mail's texts. What people have written, in values and in templates, can do no harm here. */
import { createLiquid, escapeHtml, invalid, isObject, LiquidFault, mistakes } from "platform";
import type { Language, Liquid } from "platform";
import type { MailTemplate, MailTexts } from "./api.ts";
import { htmlOfText } from "./texts.ts";

/** A template's words, the account's or the built-in ones; without `html` it is made of the text. */
export interface MailTemplateText extends Pick<MailTexts, "subject" | "text"> {
  readonly html: string | null;
}

export type Variables = Readonly<Record<string, unknown>>;

const parts = ["subject", "text", "html"] as const;
const limits = { steps: 20_000, memory: 2_000_000, outputChars: 300_000 };
const maxSubjectChars = 250;
const noSubject = "—";

// Made when the first mail is written: most processes never write one.
let made: Liquid | undefined;

/** Throws a LiquidFault. */
export function render(words: MailTemplateText, variables: Variables, language: Language): MailTexts {
  const options = { locale: language };
  const given = { ...variables, language };
  const subject = oneLine(engine().renderSync(words.subject, given, options)) || noSubject;
  const text = engine().renderSync(words.text, given, options);
  if (words.html === null) return { subject, text, html: htmlOfText(text, language) };
  // The values are escaped already, and once is enough.
  const escaping = { ...options, filters: { escape: textOf } };
  return { subject, text, html: engine().renderSync(words.html, escaped(given), escaping) };
}

/** Throws the 422 that names the part with the mistake. */
export function check(words: MailTemplateText, template: MailTemplate, language: Language): void {
  const wrong = mistakes();
  const variables = examplesOf(template);
  for (const part of parts) {
    const source = words[part];
    if (source === null) continue;
    const syntax = engine().syntaxError(source);
    if (syntax) wrong.add(part, `line ${syntax.line}, column ${syntax.column}: ${syntax.message}`);
    else for (const message of mistakesIn(source, part, template)) wrong.add(part, message);
  }
  wrong.check();
  for (const part of parts) {
    const source = words[part];
    if (source === null) continue;
    const fault = faultOf(() => engine().renderSync(source, { ...variables, language }, { locale: language }));
    if (fault) wrong.add(part, `line ${fault.line}, column ${fault.column}: ${fault.message}`);
  }
  wrong.check();
  if (render(words, variables, language).subject === noSubject) throw invalid({ subject: ["is empty"] });
}

function engine(): Liquid {
  if (made) return made;
  made = createLiquid({ limits });
  made.registerFilter("escape", (value) => escapeHtml(textOf(value)));
  return made;
}

function* mistakesIn(source: string, part: string, { values }: MailTemplate): Generator<string> {
  const used = new Set(
    engine()
      .variablesOf(source)
      .map((path) => path.split(/[.[]/, 1)[0] ?? ""),
  );
  const known = [...Object.keys(values), "account", "language"];
  for (const name of used)
    if (!known.includes(name)) yield `there is no {{ ${name} }} in this mail, only ${known.join(", ")}`;
  if (part === "subject") return;
  for (const [name, { needed }] of Object.entries(values))
    if (needed && !used.has(name)) yield `must have {{ ${name} }}`;
}

/** Sample values for the preview of a mail. */
export function examplesOf({ values }: MailTemplate): Record<string, unknown> {
  const examples = Object.entries(values).map(([name, { example }]) => [name, example]);
  return { ...Object.fromEntries(examples), account: { name: "Example", url: "https://core.example.com" } };
}

function faultOf(work: () => unknown): LiquidFault | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof LiquidFault) return error;
    throw error;
  }
}

/** Line breaks in a value must not add a header. */
function oneLine(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- control characters are what is replaced
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, " ").trim();
  return line.slice(0, maxSubjectChars).toWellFormed();
}

/** All texts in a value, escaped for HTML. */
function escaped(values: Variables): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, escapedValue(value)]));
}

function escapedValue(value: unknown): unknown {
  if (typeof value === "string") return escapeHtml(value);
  return isObject(value) ? escaped(value) : value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? `${value}` : "";
}

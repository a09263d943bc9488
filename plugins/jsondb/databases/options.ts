/** Reads the definition of a field: its type and its options. behaviour B.7. Pure. */
import { isNumber, isObject } from "platform";
import { choiceColors } from "./choices.ts";
import { fieldTypes, type FieldType } from "./columns.ts";
import { compareValues, faultOf, fits, numberFormats, rollupOps, textFormats } from "./kinds.ts";
import type { Bound, Choice, Field, Format, Link, OnDelete, Rollup, Words } from "./kinds.ts";

/** `isOption`: about what older versions did not read, so a stored schema may have it. */
export type Say = (place: string, message: string, isOption?: boolean) => void;

export const nameLength = 100;
export const nameRule = `a name must have 1 to ${nameLength} characters, none of them a control character`;

const texts: readonly FieldType[] = ["string", "text"];
const numbers: readonly FieldType[] = ["integer", "number"];
const times: readonly FieldType[] = ["datetime", "date", "time"];

/** The types that each option is for. */
const optionTypes = {
  label: fieldTypes,
  help: fieldTypes,
  choices: ["string", "integer", "list"],
  format: [...texts, ...numbers, "list"],
  currency: numbers,
  min: [...texts, ...numbers, ...times, "list"],
  max: [...texts, ...numbers, ...times, "list"],
  default: fieldTypes,
  unique: ["string", "integer", "date", "datetime"],
  link: ["string", "list"],
  on_delete: ["string", "list"],
  rollup: ["integer", "number", "datetime"],
} as const satisfies Record<string, readonly FieldType[]>;

type Option = keyof typeof optionTypes;
const optionNames = Object.keys(optionTypes).filter((name): name is Option => Object.hasOwn(optionTypes, name));

/** All that a full definition may have. */
export const definitionKeys = ["type", "required", ...optionNames];

const limits = { choices: 200, label: 200, help: 2000, locales: 50 } as const;

/** `"string"` or `{ "type": "string", "required": true }`, with options. */
export function parseField(definition: unknown, at: string, say: Say): Field | undefined {
  const full = isObject(definition) ? definition : { type: definition };
  const type = own(full, "type");
  const required = own(full, "required") ?? false;
  if (typeof required !== "boolean") say(`${at}.required:`, "must be true or false");
  if (!isFieldType(type)) {
    const where = isObject(definition) ? `${at}.type:` : `${at}:`;
    say(where, `must be one of ${fieldTypes.join(", ")}, not ${shown(type)}`);
    return undefined;
  }
  const plain = { type, required: required === true };
  const given = optionNames.filter((name) => (own(full, name) ?? undefined) !== undefined);
  const sayOption: Say = (place, message) => say(place, message, true);
  return given.length === 0 ? plain : withOptions(plain, full, { at, say: sayOption, given });
}

interface Place {
  readonly at: string;
  readonly say: Say;
  /** The options that the definition has. */
  readonly given: readonly Option[];
}

function withOptions(plain: Field, full: Record<string, unknown>, { at, say, given }: Place): Field {
  const { type } = plain;
  const isFor = (name: Option) => optionTypes[name].some((one) => one === type);
  for (const name of given) if (!isFor(name)) say(`${at}.${name}:`, `is not for a field of type ${type}`);
  /** Null is as good as leaving an option out. */
  const read = <T>(name: Option, parse: (value: unknown, place: Read) => T | undefined): T | undefined => {
    const wrong = (message: string, inside = ""): undefined => {
      say(`${at}.${name}${inside}:`, message);
    };
    return given.includes(name) && isFor(name) ? parse(own(full, name), { type, wrong }) : undefined;
  };
  const field: Field = {
    ...plain,
    label: read("label", (value, place) => wordsOf(value, limits.label, place)),
    help: read("help", (value, place) => wordsOf(value, limits.help, place)),
    choices: read("choices", choicesOf),
    format: read("format", formatOf),
    currency: read("currency", currencyOf),
    min: read("min", boundOf),
    max: read("max", boundOf),
    unique: read("unique", flagOf),
    link: read("link", (value, place) => linkOf(value, read("on_delete", onDeleteOf), place)),
    rollup: read("rollup", rollupOf),
  };
  const isRight = checkTogether(field, { at, say, given });
  if (!isRight) return plain;
  return { ...field, default: read("default", (value, place) => defaultOf(value, field, place)) };
}

/** Whether the options may stand beside each other. */
function checkTogether(field: Field, { at, say: tell, given }: Place): boolean {
  let isRight = true;
  const say: Say = (place, message) => {
    isRight = false;
    tell(place, message);
  };
  const { type, format, min, max, rollup } = field;
  if (given.includes("currency") && format !== "money") say(`${at}.currency:`, "needs the format money");
  if (given.includes("on_delete") && !given.includes("link")) say(`${at}.on_delete:`, "needs a link");
  const isReversed =
    min !== undefined && max !== undefined && (isCounted(type) ? max < min : compareValues(type, max, min) < 0);
  if (isReversed) say(`${at}.max:`, "must not be less than min");
  if (!rollup) return isRight;
  if (field.required) say(`${at}.required:`, "cannot be true of a rollup, which is never stored");
  for (const name of ["choices", "min", "max", "default", "unique"] as const)
    if (given.includes(name)) say(`${at}.${name}:`, "is not for a rollup, which is never stored");
  return isRight;
}

interface Read {
  readonly type: FieldType;
  /** Gives undefined. */
  readonly wrong: (message: string, inside?: string) => undefined;
}

function wordsOf(value: unknown, most: number, { wrong }: Read): Words | undefined {
  const isText = (text: unknown): text is string => typeof text === "string" && text.length <= most;
  if (isText(value)) return value;
  const rule = `must be a text of at most ${most} characters, or an object of locales and such texts`;
  if (!isObject(value)) return wrong(rule);
  const entries = Object.entries(value);
  if (entries.length > limits.locales) return wrong(`may have at most ${limits.locales} locales`);
  const words: [string, string][] = [];
  for (const [locale, text] of entries) {
    if (locale.length > 35 || !/^[a-z]{2,3}(?:-[a-z\d]{1,8}){0,3}$/i.test(locale))
      return wrong("is not a locale like pl or de-AT", `.${locale.slice(0, 60)}`);
    if (!isText(text)) return wrong(`must be a text of at most ${most} characters`, `.${locale}`);
    words.push([locale, text]);
  }
  return Object.fromEntries(words);
}

function choicesOf(value: unknown, place: Read): readonly Choice[] | undefined {
  const { wrong } = place;
  if (!Array.isArray(value) || value.length === 0 || value.length > limits.choices)
    return wrong(`must be a list of 1 to ${limits.choices} values, or of { value, label, color }`);
  const choices: Choice[] = [];
  for (const [position, one] of value.entries()) {
    const choice = choiceOf(one, `[${position}]`, place);
    if (!choice) return undefined;
    if (choices.some((other) => other.value === choice.value))
      return wrong(`${shown(choice.value)} is there already`, `[${position}]`);
    choices.push(choice);
  }
  return choices;
}

function choiceOf(given: unknown, place: string, { type, wrong }: Read): Choice | undefined {
  const full = isObject(given) ? given : { value: given };
  const value = own(full, "value");
  const at = isObject(given) ? `${place}.value` : place;
  if (!isItem(value) || (type !== "list" && !fits(type, value)))
    return wrong(`must be ${type === "list" ? "a string or a number" : rightOf[type]}`, at);
  const color = own(full, "color") ?? undefined;
  // A stored one may be another, and the choice counts all the same.
  if (color !== undefined && !isChoiceColor(color))
    wrong(`must be one of ${knownColors.join(", ")}, or like #2f6feb`, `${place}.color`);
  const label = own(full, "label") ?? undefined;
  const within: Read["wrong"] = (message, inside = "") => wrong(message, `${place}.label${inside}`);
  return {
    value,
    color: isChoiceColor(color) ? color : undefined,
    label: label === undefined ? undefined : wordsOf(label, limits.label, { type, wrong: within }),
  };
}

const rightOf: Partial<Record<FieldType, string>> = { string: "a string that is not empty", integer: "a whole number" };

const isItem = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || (typeof value === "number" && Number.isFinite(value));

export const choiceKeys = ["value", "label", "color"];
const knownColors: readonly string[] = [...choiceColors, "grey"];

const isChoiceColor = (value: unknown): value is string =>
  typeof value === "string" && (knownColors.includes(value) || /^#[\da-f]{3,8}$/i.test(value));

function formatOf(value: unknown, { type, wrong }: Read): Format | undefined {
  const ofNumber: readonly Format[] = type === "integer" ? [...numberFormats, "user"] : numberFormats;
  const known: readonly Format[] = type === "list" ? ["file", "user"] : numbers.includes(type) ? ofNumber : textFormats;
  return known.find((one) => one === value) ?? wrong(`must be ${oneOf(known)}, not ${shown(value)}`);
}

function currencyOf(value: unknown, { wrong }: Read): string | undefined {
  return typeof value === "string" && /^[A-Z]{3}$/.test(value)
    ? value
    : wrong("must be the code of a currency like EUR");
}

const isCounted = (type: FieldType) => type === "list" || texts.includes(type);

function boundOf(value: unknown, { type, wrong }: Read): Bound | undefined {
  if (isCounted(type))
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
      ? value
      : wrong(`must be a ${type === "list" ? "number of items" : "length"}: a whole number from 0`);
  const isRight = (isNumber(value) || typeof value === "string") && fits(type, value);
  return isRight ? value : wrong(`must be a value of type ${type}`);
}

function flagOf(value: unknown, { wrong }: Read): boolean | undefined {
  return typeof value === "boolean" ? value : wrong("must be true or false");
}

function onDeleteOf(value: unknown, { wrong }: Read): OnDelete | undefined {
  const known = ["clear", "restrict", "cascade"] as const;
  return known.find((one) => one === value) ?? wrong(`must be ${oneOf(known)}, not ${shown(value)}`);
}

function linkOf(value: unknown, onDelete: OnDelete | undefined, { wrong }: Read): Link | undefined {
  const [db = "", table] = typeof value === "string" ? beginningOf(value) : [];
  if (!isKey(db) || (table !== undefined && !isName(table)))
    return wrong("must name a database and its table: `customers` or `shop.orders`");
  return { db, table, onDelete: onDelete ?? "clear" };
}

function rollupOf(value: unknown, { type, wrong }: Read): Rollup | undefined {
  if (!isObject(value)) return wrong("must be { of, op, field }");
  const of = own(value, "of");
  const [db = "", link] = typeof of === "string" ? beginningOf(of) : [];
  if (!isKey(db) || link === undefined || link.length > 2 * nameLength + 1 || !isName(link.slice(0, nameLength)))
    return wrong("must name the linking field of a database: `orders.customer` or `shop.orders.customer`", ".of");
  const ops = type === "datetime" ? (["min", "max"] as const) : rollupOps;
  const op = ops.find((one) => one === own(value, "op"));
  if (!op) return wrong(`must be ${oneOf(ops)}, not ${shown(own(value, "op"))}`, ".op");
  const field = own(value, "field") ?? undefined;
  if (field === undefined ? op !== "count" : typeof field !== "string" || !isName(field))
    return wrong(`must name the field that ${op} is of`, ".field");
  return { db, link, op, field: typeof field === "string" ? field : undefined };
}

/** A database, and what follows the first point: codes have none, other names may. */
function beginningOf(path: string): [db: string, rest: string | undefined] {
  const at = path.indexOf(".");
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)];
}

const isKey = (text: string) => /^[A-Za-z0-9][\w-]{0,99}$/.test(text);

export function isName(name: string): boolean {
  return name.length > 0 && name.length <= nameLength && !/\p{Cc}/u.test(name);
}

/** The variables of a default, by the types that one alone may fill; in a text they may stand among other words. */
const variableTypes: Readonly<Record<string, readonly FieldType[]>> = {
  "{now}": [...texts, "datetime", "time"],
  "{today}": [...texts, "date"],
  "{user_id}": [...texts, ...numbers],
  "{user_login}": texts,
  "{user_name}": texts,
};

function defaultOf(value: unknown, field: Field, { type, wrong }: Read): unknown {
  const isVariable = typeof value === "string" && /^\{[\w -]{1,60}\}$/.test(value);
  if (isVariable) {
    const known = Object.keys(variableTypes).filter((name) => variableTypes[name]?.includes(type));
    if (known.includes(value)) return value;
    return wrong(
      known.length > 0 ? `${value} is not a variable for it: use ${oneOf(known)}` : `must be a value of type ${type}`,
    );
  }
  const fault = faultOf(field, value);
  return fault === undefined || hasVariable(type, value) ? value : wrong(fault);
}

/** What it becomes is known only then. */
const hasVariable = (type: FieldType, value: unknown) =>
  texts.includes(type) && Object.keys(variableTypes).some((name) => String(value).includes(name));

function isFieldType(value: unknown): value is FieldType {
  return fieldTypes.some((type) => type === value);
}

const oneOf = (names: readonly string[]) => `one of ${names.join(", ")}`;

/** An own property: a field may be called `constructor`. */
export function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 60);
}

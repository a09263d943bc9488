/**
 * A resource, declared once: its table, its address, its fields and its rules. From that follow the schemas of bodies
 * and answers, the row's type, the statements (store.ts), the verbs (verbs.ts), the five routes (routes.ts), what
 * the log of activity knows of it, and a test that compares it with the table (tests/resources.test.ts).
 *
 *     export const Note = resource("note", {
 *       table: "notes", path: "/core/notes", id: "integer", privilege: "notes", model: "Core::Note",
 *       fields: { text: text({ label: ["Text", "Tekst", "Text"], body: field.text(1000), example: "Buy milk" }) },
 *       example: { id: 7 }, request: ["text"], change: { text: "Buy bread" },
 *     });
 *
 * Every function of a resource gets the context as its first parameter, `at`: what the plugin passed to
 * `resourceRoutes`, and the caller.
 */
import { Type, TypeGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { answer } from "../http/answers/answers.ts";
import type { At, Author, Declaration, Derivations, Each, Resource, Typed, View } from "./declaration.ts";
import type { Column } from "../plugin/facts.ts";
import { camel, type Fields, type IdKind, type Label, type NewOf } from "./fields.ts";

const madeAt = "2026-01-31T10:00:00.000Z";

export function resource<
  const F extends Fields,
  I extends IdKind,
  A extends At<Author> = At,
  More extends Derivations = {},
>(name: string, declared: Declaration<F, I, More, A>): Resource<{ fields: F; id: I; more: More; at: A }> {
  const {
    fields,
    authors = ["created_by_id", "updated_by_id"],
    others = [],
    fixed = {},
    table,
    derivedInLists,
  } = declared;
  const each = eachOf(fields);
  checkNames([table, ...Object.keys(fixed)], each);
  const shown = shownOf(each);
  const listed = {
    id: declared.id === "uuid" ? answer.uuid() : Type.Integer(),
    ...Object.fromEntries(shown.map(({ name: field, schema }) => [field, schema])),
    created_at: answer.time(),
    updated_at: answer.time(),
  };
  const type = declared.type ?? name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const derived: Derivations = declared.derived ?? {};
  const more = Object.entries(derived).map(([field, { schema }]) => [field, schema] as const);
  const one = {
    ...answer.object(type, { ...listed, ...Object.fromEntries(more) }),
    "x-model": declared.model,
    "x-fields": wordsOf(each, derived),
  };
  const isListed = derivedInLists ?? more.every(([, schema]) => TypeGuard.IsOptional(schema));
  const quiet = each.flatMap(({ name: field, field: { quiet: isQuiet } }) => (isQuiet ? [field] : []));
  const create = bodyOf(each);
  const change: TObject = Type.Partial(create);
  return {
    ...declared,
    name,
    each,
    others: [...others, ...Object.keys(fixed)],
    authors,
    read: ["id", "account_id", "version", "created_at", "updated_at", ...each.flatMap(namesOf)].join(", "),
    shows: [
      ["id", "id"],
      ...shown.map(({ name: field }) => [field, camel(field)] as const),
      ["created_at", "createdAt"],
      ["updated_at", "updatedAt"],
    ],
    bodies: { create: create as Typed<NewOf<F>>, change }, // made of the same fields
    answers: { one, listed: isListed ? one : answer.object(`Listed${type}`, listed) },
    examples: examplesOf(declared, shown),
    isVolatile: more.length > 0 || quiet.some((field) => fields[field]?.shown),
    activity: {
      model: declared.model,
      ...(declared.nameColumn !== undefined && { name: declared.nameColumn }),
      ...(quiet.length > 0 && { quiet }),
    },
    columns: columnsOf(declared.id, authors, each),
  };
}

/** Rows that people only read. */
export function view(type: string, fields: Fields): View {
  const each = eachOf(fields);
  const shown = shownOf(each);
  const properties = Object.fromEntries(shown.map(({ name, schema }) => [name, schema]));
  return {
    read: each.flatMap(namesOf).join(", "),
    shows: shown.map(({ name }) => [name, camel(name)] as const),
    answer: { ...answer.object(type, properties), "x-fields": wordsOf(each, {}) },
    example: Object.fromEntries(shown.map(({ name, example }) => [name, example])),
  };
}

/** The fields in words, for forms and lists: `x-fields` of the answer in /openapi.json. */
function wordsOf(each: readonly Each[], derived: Derivations): Readonly<Record<string, object>> {
  const fields = each.flatMap(({ name, info, field }) => {
    const { label, help, widget, choices = {} } = field;
    if (!label) return [];
    const values = Object.entries(choices).map(([value, words]) => [value, spoken(words)]);
    const told = {
      label: spoken(label),
      ...(help && { help: spoken(help) }),
      ...(widget && { widget }),
      ...(values.length > 0 && { choices: Object.fromEntries(values) }),
    };
    return [[name, told], ...(info ? [[info.name, { label: told.label }]] : [])];
  });
  const more = Object.entries(derived).map(([name, { label }]) => [name, { label: spoken(label) }]);
  return Object.fromEntries([...fields, ...more]);
}

const spoken = ([en, pl, de]: Label) => ({ en, pl, de });

function eachOf(fields: Fields): readonly Each[] {
  return Object.entries(fields).map(([name, field]) => ({
    name,
    key: camel(name),
    ...(field.sealing?.info && { info: { name: `${name}_info`, key: camel(`${name}_info`) } }),
    field,
  }));
}

/** Statements name them without quotes. */
function checkNames(others: readonly string[], each: readonly Each[]): void {
  for (const word of [...others, ...each.flatMap(({ name, field: { stored } }) => [name, stored ?? name])])
    if (!/^[a-z][a-z0-9_]*$/.test(word)) throw new Error(`no name of a table or a column: "${word}"`);
}

function namesOf({ name, info, field: { stored, from = stored } }: Each): string[] {
  if (from !== undefined) return [`${from} as ${name}`];
  return info ? [name, info.name] : [name];
}

interface AnswerField {
  readonly name: string;
  readonly schema: TSchema;
  readonly example: unknown;
}

/** The fields of an answer; of a secret, what may be told of it. */
function shownOf(each: readonly Each[]): readonly AnswerField[] {
  return each.flatMap(({ name, info, field: { sealing, shown, example } }): AnswerField[] => {
    if (!info) return shown ? [{ name, schema: shown, example }] : [];
    const told = typeof example === "string" ? (sealing?.info?.(example) ?? null) : null;
    return [{ name: info.name, schema: Type.Union([Type.String(), Type.Null()]), example: told }];
  });
}

function bodyOf(each: readonly Each[]): TObject {
  const entries = each.flatMap(({ name, field: { body, needed } }) =>
    body ? [[name, needed ? body : Type.Optional(body)] as const] : [],
  );
  return Type.Object(Object.fromEntries(entries));
}

interface Examples {
  readonly example: { readonly id: number | string };
  readonly request: readonly string[];
  readonly change: object;
  readonly changes?: object;
  readonly made?: object;
  readonly fields: Fields;
  readonly derivedInLists?: true;
}

function examplesOf(declared: Examples, shown: readonly AnswerField[]) {
  const { example, request, change, changes, made, fields, derivedInLists } = declared;
  const { id, ...told } = example;
  const row = Object.fromEntries(shown.map(({ name, example: value }) => [name, value]));
  const listed = { id, ...row, created_at: madeAt, updated_at: madeAt };
  const one = { ...listed, ...told };
  return {
    request: Object.fromEntries(request.map((name) => [name, fields[name]?.example])),
    one,
    made: { ...one, ...made },
    listed: derivedInLists ? one : listed,
    changed: { ...one, ...change, ...changes },
  };
}

function columnsOf(id: IdKind, authors: readonly string[], each: readonly Each[]): readonly Column[] {
  const column = (name: string, type: Column["type"], orNull = false): Column => ({ name, type, orNull });
  return [
    column("id", id === "uuid" ? "uuid" : "int8"),
    column("account_id", "int8"),
    column("version", "int4"),
    column("created_at", "timestamptz"),
    column("updated_at", "timestamptz"),
    ...authors.map((name) => column(name, "int8", true)),
    ...each.flatMap(({ name, info, field }) =>
      field.from !== undefined
        ? []
        : [
            column(field.stored ?? name, field.column, field.orNull),
            ...(info ? [column(info.name, "text", true)] : []),
          ],
    ),
  ];
}

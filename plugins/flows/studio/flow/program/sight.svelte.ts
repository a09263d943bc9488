/** What a step sees of the flow around it: the names that it may use, what they are called, and their last values. */
import { ownOf, text, textOf, words, type Start, type TableField } from "studio";
import { brief } from "../trial/trial.ts";
import { say, texts, titleOfStep } from "../words.ts";
import type { Codes } from "./codes.svelte.ts";
import { askedField } from "./ask.ts";
import { givenBy, nameIn, namesAt, storedBy, valueAt, type ScopeName } from "./scope.ts";
import { isStep, rowsOf, stepAt, type Program } from "./tree.ts";

export interface Seen extends ScopeName {
  readonly label: string;
  /** Its value in the last test; "" if it is not known. */
  readonly example: string;
}

interface Around {
  readonly program: Program;
  readonly starts: readonly Start[];
  readonly given: readonly string[];
  readonly known: Readonly<Record<string, unknown>>;
}

export class Sight {
  readonly codes: Codes;
  private readonly around: () => Around;

  constructor(codes: Codes, around: () => Around) {
    this.codes = codes;
    this.around = around;
  }

  /** As people number the steps: 1 is the first, and those inside count too. */
  numberOf(path: string): number {
    return (
      rowsOf(this.around().program)
        .filter(({ kind }) => kind === "step")
        .findIndex((row) => row.path === path) + 1
    );
  }

  namesAt(path: string): Seen[] {
    const { program, starts, given, known } = this.around();
    const fieldsOf = (db: unknown, table: unknown) => this.codes.fieldsOf(db, table).map(({ name }) => name);
    const found = namesAt(program, path, given, givenBy(starts, fieldsOf), known, fieldsOf);
    // What one most likely wants comes first: fields of the record, then what steps have found.
    const rank = ({ name, from }: ScopeName) =>
      from === "when" && /^(?:data|body)\./.test(name) ? 0 : from === "when" ? 3 : from === "" ? 4 : 1;
    const all = new Set(found.map(({ name }) => name));
    return (
      found
        .filter(({ name }) => !name.startsWith("input.") || !all.has(name.slice("input.".length)))
        // Of an answer its parts are what one wants.
        .filter(({ name }) => !all.has(`${name}.choice`))
        .toSorted((a, b) => rank(a) - rank(b))
        .map((one) => ({ ...one, label: this.labelOf(one.name), example: brief(valueAt(known, one.name)) }))
    );
  }

  /** Where a name comes from, as a heading over it. */
  sourceOf(from: string): string {
    if (from === "when") return say("whatStarted");
    if (from === "" || stepAt(this.around().program, from) === undefined) return say("anywhere");
    return `${this.numberOf(from)}. ${titleOfStep(stepAt(this.around().program, from), this.codes.serviceOf)}`;
  }

  /** The field that an expression stands for; those of what starts the flow know best. */
  fieldAt(expression: string): TableField | undefined {
    const name = nameIn(expression.replaceAll(/[{}]/g, ""));
    if (!name.includes(".")) return undefined;
    const asked = rowsOf(this.around().program).find((row) => row.kind === "step" && storedBy(row.step).includes(name));
    if (asked?.kind === "step" && isStep(asked.step) && asked.step["type"] === "ask")
      return askedField(asked.step, name);
    const last = name.split(".").at(-1);
    const own = this.around().starts.map(({ db, table }) => this.codes.table(db, table));
    return [...own, ...this.codes.tables].flatMap((table) => table?.fields.find((one) => one.name === last) ?? [])[0];
  }

  /** The fields of the records that start the flow. */
  startFields(): TableField[] {
    const all = this.around().starts.flatMap(({ db, table }) => this.codes.fieldsOf(db, table));
    return [...new Map(all.map((field) => [field.name, { ...field, isRequired: false }])).values()];
  }

  labelOf(expression: string): string {
    const last = nameIn(expression).split(".").at(-1) ?? "";
    if (last === "") return expression.slice(0, 60);
    return this.fieldAt(expression)?.label ?? ownOf(texts(), `name_${last}`) ?? words(last);
  }

  /** The value of an expression in the last test; "" with filters, which the server alone knows. */
  exampleOf(expression: string): string {
    const name = nameIn(expression);
    return name === expression.trim() ? brief(valueAt(this.around().known, name)) : "";
  }

  tableName(db: unknown, table: unknown): string {
    return this.codes.table(db, table)?.label ?? textOf(db);
  }

  /** `3 days`, `1 hour`. */
  timeOf(seconds: unknown): string {
    const number = Number(seconds);
    if (typeof seconds === "string" && seconds.includes("{")) return seconds;
    if (!Number.isFinite(number)) return textOf(seconds);
    const [unit, size] = (
      [
        ["day", 86_400],
        ["hour", 3600],
        ["minute", 60],
        ["second", 1],
      ] as const
    ).find(([, one]) => number >= one && number % one === 0) ?? ["second", 1];
    return new Intl.NumberFormat(text.language, { style: "unit", unit, unitDisplay: "long" }).format(number / size);
  }
}

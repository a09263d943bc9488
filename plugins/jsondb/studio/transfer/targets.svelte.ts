/** The fields that a column may go into: those of the table, and links by what the records at their other end are known by. */
import { get, isMap, text, words } from "studio";
import { folded, optionsOf } from "../../databases/choices.ts";
import { kindOf, lookOf, titleField, type Kind, type Look } from "../look/kinds.ts";
import { dbPath } from "../paths.ts";
import { draftOf, type FieldDraft } from "../schema.ts";
import { labelled } from "../look/looks.svelte.ts";
import { numberLike, type PreviewColumn } from "./preview.ts";
import { newField, type Column, type Ending, type Source } from "./source.svelte.ts";
import { kindWord, offered, type Offered } from "../schema/kind-words.ts";
import { allTables } from "../schema/tables.ts";
import { say as sayKind } from "../schema/words.ts";
import { say, texts } from "./words.ts";

interface Target {
  readonly value: string;
  readonly label: string;
}

export class Targets {
  private readonly source: Source;
  /** Of each link, the fields that name a record at its other end. */
  private ends = $state.raw<Readonly<Record<string, readonly Target[]>>>({});

  /** What columns of a new table may link to. */
  endings = $state.raw<readonly Ending[]>([]);

  constructor(source: Source) {
    this.source = source;
  }

  private readonly fields: readonly FieldDraft[] = $derived.by(() =>
    (this.source.tableDraft()?.fields ?? []).filter((field) => kindOf(field) !== "rollup"),
  );
  readonly all: readonly Target[] = $derived(
    this.fields.flatMap((field) => {
      const { label } = labelled(field);
      const ends = this.ends[field.name] ?? [];
      const by = ends.map((end) => ({
        value: `${field.name}:${end.value}`,
        label: say("linkBy", { link: label, field: end.label }),
      }));
      return [...by, { value: field.name, label: ends.length > 0 ? say("linkById", { link: label }) : label }];
    }),
  );

  /** Reads the tables that links lead to. What one may not read is named by ids alone. */
  async load(signal: AbortSignal): Promise<void> {
    const others = this.source.db === undefined ? await allTables().catch(() => []) : [];
    this.endings = others.flatMap(({ value: link, label, fields, title }) =>
      fields
        .filter(({ name, more }) => !more?.["link"] && (name === title || more?.["unique"] === true))
        .map((field) => {
          const { label: by } = labelled(field);
          return { link, by: field.name, label: say("linkBy", { link: label, field: by }) };
        }),
    );
    for (const field of this.fields) {
      const { target } = labelled(field);
      if (!target || this.ends[field.name]) continue;
      const { json } = await get(dbPath(target.db), signal).catch(() => ({ json: undefined }));
      if (signal.aborted) return;
      const { tables } = draftOf(isMap(json) ? json["schema"] : undefined);
      const table = tables.find(({ name }) => name === target.table) ?? tables[0];
      const title = titleField(table);
      const named = (table?.fields ?? []).filter(({ name, more }) => name === title || more?.["unique"] === true);
      const ends = named.map((one) => ({ value: one.name, label: labelled(one).label }));
      this.ends = { ...this.ends, [field.name]: ends };
    }
  }

  labelOf(target: string): string {
    return this.all.find(({ value }) => value === target)?.label ?? words(target);
  }

  private fieldOf({ target }: Column): FieldDraft | undefined {
    return this.fields.find((one) => one.name === (target ?? "").split(":", 1)[0]);
  }

  /** A label of a choice, in any language, stands for its value, and so does the value in other capitals. */
  choiceIn(column: Column, value: string): string {
    const choices = this.fieldOf(column)?.more?.["choices"] ?? this.lookOf(column).choices;
    const found = (Array.isArray(choices) ? choices : []).find(
      (one) =>
        isMap(one) &&
        [one["value"], ...(isMap(one["label"]) ? Object.values(one["label"]) : [one["label"]])].some(
          (said) => (typeof said === "string" || typeof said === "number") && folded(String(said)) === folded(value),
        ),
    );
    return isMap(found) ? String(found["value"]) : value;
  }

  /** How a cell of the column is shown. */
  lookOf(column: Column): Look {
    const { name, type = "string", format, values } = column;
    const field = this.fieldOf(column);
    if (field) return labelled(field);
    const more = { ...optionsOf(type, format, values), ...(format.link !== undefined && { link: format.link }) };
    return lookOf({ name, type, more }, text.language, () => name);
  }

  /** `Amount` and `1.234,56 EUR` */
  wordsOf(column: Column): readonly [kind: string, written: string] {
    const { kind, target } = this.lookOf(column);
    const link = column.target?.includes(":") === true;
    const written = kind === "link" || target ? "" : writtenAs(column, kind);
    return [link ? this.labelOf(column.target ?? "") : sayKind(kindWord(kind)), written];
  }

  /** The kinds that a new field of the column can have. */
  kindsOf({ values, format }: Column): readonly Offered[] {
    const isPercent = format.kind === "percent";
    return offered.filter((kind) => {
      if (kind === "link") return this.endings.length > 0;
      if (kind === "file" || kind === "rollup") return false;
      if (kind === "choice" || kind === "choices") return values.length > 0;
      return kind === "percent" ? isPercent : !(isPercent && ["number", "money", "rating"].includes(kind));
    });
  }
}

/** How its values are written, by an example. */
function writtenAs({ type, format, values }: PreviewColumn, kind: Kind): string {
  if (kind === "choice" || kind === "choices")
    return values.length === 0 ? "" : text.count(texts().valueCount, values.length);
  if (type === "number" || (type === "integer" && format.thousands)) {
    const sign = format.kind === "percent" ? "%" : (format.currency ?? "");
    return `${numberLike(format, type)} ${sign}`.trim();
  }
  if (type === "boolean")
    return [format.true ?? "true", format.false ?? "false"].filter((word) => word !== "").join(" / ");
  if (type !== "date" && type !== "datetime") return "";
  const day = dayWord(format.date_order ?? "ymd");
  return type === "date" ? day : `${day} ${format.time_zone ?? ""}`.trim();
}

/** `dd.mm.yyyy` */
export function dayWord(order: string): string {
  return texts()[order === "dmy" ? "dmy" : order === "mdy" ? "mdy" : "ymd"];
}

export const mayBeNew = ({ target, type }: Column) => target === newField || type !== undefined;

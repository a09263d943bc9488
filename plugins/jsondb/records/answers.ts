/** The answers of the routes for records. */
import { answer, field, Type } from "platform";

const text = Type.String();
const time = Type.String({ format: "date-time" });

// PostgreSQL prints records: their times are texts from the start.
const times = { created_at: time, updated_at: time };

/** As the records API shows one: `data` apart. */
export const ShownRecord = answer.object("Record", {
  id: answer.uuid(),
  data: answer.json(),
  table_name: field.nullable(text),
  ...times,
});

/** As a search shows one: the fields of `data` next to its own. */
export const FlatRecord = Type.Object(
  { id: answer.uuid(), ...times },
  { $id: "FlatRecord", additionalProperties: true },
);

/** As a public method shows one: with the fields that it lets be seen. */
export const PublicRecord = answer.object("PublicRecord", { id: answer.uuid(), data: answer.json(), ...times });

export const DeletedRecord = answer.object("DeletedRecord", { id: answer.uuid(), deleted: Type.Literal(true) });

/** The answer of a public list, `get` or search. */
export const PublicRead = Type.Union([answer.list(PublicRecord), answer.list(FlatRecord), PublicRecord]);

export const PublicRefusal = answer.object("PublicRefusal", { error: text, errors: answer.fieldErrors });

export const BatchResults = answer.object("BatchResults", {
  results: answer.list(Type.Union([ShownRecord, DeletedRecord])),
});

export const RowFault = answer.object("RowFault", {
  row: Type.Integer(),
  line: Type.Optional(Type.Integer()),
  id: Type.Optional(answer.uuid()),
  field: field.nullable(text),
  message: text,
});
const faults = { failed: Type.Integer(), total: Type.Integer(), errors: answer.list(RowFault) };

/** All rows were stored, or with `partial` the good ones. */
export const Imported = answer.object("Imported", {
  imported: Type.Integer(),
  failed: Type.Optional(faults.failed),
  total: Type.Optional(faults.total),
  errors: Type.Optional(faults.errors),
});

/** None was stored. */
export const ImportRefused = answer.object("ImportRefused", faults);

const measured = Type.Optional(answer.json());
export const Group = answer.object("Group", {
  group: answer.json(),
  count: Type.Integer(),
  sum: measured,
  avg: measured,
  min: measured,
  max: measured,
});

/** 400 for an unknown table, or for a missing one if the database has several. */
export const UnknownTable = answer.object("UnknownTable", {
  error: text,
  available_tables: Type.Optional(answer.list(text)),
});

/**
 * TypeBox types for what a route answers with. `/openapi.json` shows them, and `toApi` is typed by them:
 *
 *     export const Note = answer.object("Note", { id: answer.uuid(), text: Type.String(), created_at: answer.time() });
 *     export function toApi(row: NoteRow): Static<typeof Note> { … }
 *     route("GET", "/core/notes", { …, answers: { 200: answer.list(Note) } }, …)
 */
import { Type, type Static, type TProperties, type TSchema } from "@sinclair/typebox";

/** By status; several if the media type differs. A status without a schema of its own has the usual one. */
export type Answers = Readonly<Record<number, TSchema | readonly TSchema[]>>;

/** A JSON object whose keys its owner chooses. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const answer = {
  /** A closed object: an unlisted key is an error. All routes that show it share one component of this name. */
  object: closed,
  /** Unlike `Type.Array`, rows may be read-only. */
  list: <S extends TSchema>(of: S) => Type.Unsafe<readonly Static<S>[]>(Type.Array(of)),
  uuid: () => Type.String({ format: "uuid" }),
  /** A `Date` of ours, which JSON prints as ISO 8601. */
  time: () => Type.Unsafe<Date>(Type.String({ format: "date-time" })),
  json: () => Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true })),
  /** A body that is not JSON, e.g. `answer.text("text/markdown")`. */
  text: (mediaType: string) => Type.String({ contentMediaType: mediaType }),
  /** The usual refusals, for a status that also has another body. */
  error: closed("Error", { error: Type.String(), request_id: Type.Optional(Type.String()) }),
  fieldErrors: Type.Record(Type.String(), Type.Array(Type.String()), {
    $id: "FieldErrors",
    description: "Field (or `base`) to messages",
  }),
};

function closed<P extends TProperties>(name: string, properties: P) {
  return Type.Object(properties, { $id: name, additionalProperties: false });
}

/** The query of every list that `pageOf` reads. */
export const pageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "1 to 1000, default 100" }),
  offset: Type.Integer({ minimum: 0, default: 0, description: "where the page begins" }),
};

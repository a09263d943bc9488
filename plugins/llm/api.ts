/** The check of a JSON Schema, for other plugins that are given one. */
export { answerMistake, schemaMistake } from "./schema.ts";

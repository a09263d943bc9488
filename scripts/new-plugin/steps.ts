/** Steps for flows: `{ "type": "sample-plugin.count-words", "params": { "text": "{{ text }}" }, "as": "words" }`. */
import { Type } from "platform";
import type { StepType } from "platform/flows";
import { countWords } from "./items.ts";

const Params = Type.Object({ text: Type.String({ maxLength: 10_000 }) });

/** A step runs at least once. If it writes or sends, it passes on `key`, which is the same for every attempt. */
export const countWordsStep: StepType<typeof Params> = {
  type: "sample-plugin.count-words",
  doc: "counts the words of a text",
  params: Params,
  privilege: "sample_plugin",
  run: async ({ params }) => ({ words: countWords(params.text) }),
};

/** The flows that one can start with; each works as it stands, in every language. Pure. */
/* oxlint-disable unicorn/no-thenable -- a step of a flow has a branch of that name */
import type { Program } from "./program/tree.ts";

type Language = "en" | "pl" | "de";

export interface Starter {
  readonly id: "empty" | "greeting" | "decision" | "loop";
  readonly program: (language: Language) => Program;
}

const words = {
  en: {
    hello: "Hello",
    world: "world",
    large: "Ask somebody before you send it",
    small: "Send it at once",
    line: "line",
  },
  pl: {
    hello: "Witaj,",
    world: "świecie",
    large: "Zapytaj kogoś przed wysłaniem",
    small: "Wyślij od razu",
    line: "wiersz",
  },
  de: { hello: "Hallo", world: "Welt", large: "Vor dem Senden jemanden fragen", small: "Sofort senden", line: "Zeile" },
} as const;

export const starters: readonly Starter[] = [
  { id: "empty", program: () => [] },
  {
    id: "greeting",
    program: (language) => [
      {
        type: "mutation",
        set: { greeting: `${words[language].hello} {{ input.name | default: '${words[language].world}' }}` },
      },
      { type: "return", value: { greeting: "{{ greeting }}" } },
    ],
  },
  {
    id: "decision",
    program: (language) => [
      { type: "mutation", set: { sum: "{{ input.sum | default: 250 }}" } },
      {
        type: "if",
        condition: "sum > 100",
        then: [{ type: "mutation", set: { advice: words[language].large } }],
        else: [{ type: "mutation", set: { advice: words[language].small } }],
      },
      { type: "return", value: { sum: "{{ sum }}", advice: "{{ advice }}" } },
    ],
  },
  {
    id: "loop",
    program: (language) => [
      { type: "mutation", set: { lines: ["A", "B", "C"], report: "" } },
      {
        type: "each",
        in: "lines",
        as: "item",
        do: [
          {
            type: "mutation",
            set: { report: `{{ report }}${words[language].line} {{ item_index | plus: 1 }}: {{ item }}; ` },
          },
        ],
      },
      { type: "return", value: { report: "{{ report }}" } },
    ],
  },
];

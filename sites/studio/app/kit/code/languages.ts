/** The languages of the editor; each is loaded when a text of it is first shown. */
import { completeFromList, type Completion, type CompletionSource } from "@codemirror/autocomplete";
import { EditorState, type Extension } from "@codemirror/state";
import type { CodeLanguage, CodeWord } from "./faults.ts";

/** What the editor says, in the language of the person. */
type Translate = (phrase: string) => string;

export async function languageSupport(
  language: CodeLanguage,
  words: readonly CodeWord[],
  say: Translate,
): Promise<Extension> {
  if (language === "markdown" || language === "liquid") return liquidSupport(language, words);
  const support = await plainSupport(language, say);
  if (words.length === 0) return support;
  const autocomplete = completeFromList(words.map((word) => completionOf(word)));
  return [support, EditorState.languageData.of(() => [{ autocomplete }])];
}

/** What the snippets of JavaScript say in English. */
const details = new Map<Completion, string>();

async function plainSupport(
  language: Exclude<CodeLanguage, "markdown" | "liquid">,
  say: Translate,
): Promise<Extension> {
  switch (language) {
    case "text":
      return [];
    case "json":
      return (await import("@codemirror/lang-json")).json();
    case "html":
      return (await import("@codemirror/lang-html")).html();
    case "css":
      return (await import("@codemirror/lang-css")).css();
    case "svelte":
      return (await import("@replit/codemirror-lang-svelte")).svelte();
    case "vue":
      return (await import("@codemirror/lang-vue")).vue();
    default: {
      const { javascript, snippets, typescriptSnippets } = await import("@codemirror/lang-javascript");
      for (const snippet of [...snippets, ...typescriptSnippets]) {
        // The library has one list for all editors, and says only there what a snippet is.
        const english = details.get(snippet) ?? snippet.detail ?? "";
        details.set(snippet, english);
        snippet.detail = say(english);
      }
      return javascript({ jsx: language.endsWith("x"), typescript: language.startsWith("t") });
    }
  }
}

/** Types by which the completions of Liquid can be told apart. */
const types = { filter: "function", tag: "keyword", variable: "variable", function: "function", keyword: "keyword" };

function completionOf({ label, type, detail }: CodeWord, start = 0): Completion {
  return { label: label.slice(start), type: types[type], ...(detail !== undefined && { detail }) };
}

async function liquidSupport(language: "markdown" | "liquid", words: readonly CodeWord[]): Promise<Extension> {
  const [{ liquid, liquidCompletionSource, closePercentBrace }, base] = await Promise.all([
    import("@codemirror/lang-liquid"),
    language === "markdown"
      ? import("@codemirror/lang-markdown").then(({ markdown }) => markdown())
      : import("@codemirror/lang-html").then(({ html }) => html()),
  ]);
  const of = (wanted: CodeWord["type"]) => words.filter(({ type }) => type === wanted);
  const names = of("variable");
  const filters = of("filter").map((word) => completionOf(word));
  const tags = of("tag").map((word) => completionOf(word));
  const plain = names.filter(({ label }) => !label.includes("."));
  const known = new Set(plain.map(({ label }) => label));
  // `page` of `page.name`
  const roots = [...new Set(names.map(({ label }) => label.split(".")[0] ?? label))].filter((root) => !known.has(root));
  const variables = [...plain, ...roots.map((label): CodeWord => ({ label, type: "variable" }))].map((word) =>
    completionOf(word),
  );
  const source = liquidCompletionSource({
    filters,
    tags,
    variables,
    properties: (path) => {
      const prefix = `${path.join(".")}.`;
      return (
        names
          .filter(({ label }) => label.startsWith(prefix) && !label.includes(".", prefix.length))
          // A type of its own: they are made anew each time, and `onlyKnown` leaves out unknown variables.
          .map((word) => ({ ...completionOf(word, prefix.length), type: "property" }))
      );
    },
  });
  const { language: mixed } = liquid({ base });
  return [
    mixed,
    base.support,
    closePercentBrace,
    mixed.data.of({ autocomplete: onlyKnown(source, [...filters, ...tags, ...variables]) }),
  ];
}

/** Of a kind that was given, the library's own list is left out: the server may know fewer. */
function onlyKnown(source: CompletionSource, given: readonly Completion[]): CompletionSource {
  const ours = new Set(given);
  const kinds = new Set(given.map(({ type }) => type));
  return async (context) => {
    const result = await source(context);
    return result && { ...result, options: result.options.filter((one) => ours.has(one) || !kinds.has(one.type)) };
  };
}

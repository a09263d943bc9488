/** Makes the editor of Code.svelte. This file and what it imports are loaded when the first editor is shown. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension } from "@codemirror/state";
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import type { Language } from "../../state/text.svelte.ts";
import { offsetOf, type CodeLanguage, type CodeWord, type Fault } from "./faults.ts";
import { languageSupport } from "./languages.ts";
import de from "./text/de.json" with { type: "json" };
import en from "./text/en.json" with { type: "json" };
import pl from "./text/pl.json" with { type: "json" };
import { theme } from "./theme.ts";

/** What the editor itself says, in the languages of the Studio. */
const phrases = { en, pl, de } as const;

/** What may change while the editor stands. */
export interface CodeState {
  /** Of the element that is typed into: its name, and what describes it. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly readonly: boolean;
  readonly language: CodeLanguage;
  readonly words: readonly CodeWord[];
}

export interface Mounted {
  show(shown: CodeState): void;
  /** Replaces the text, where it differs. */
  write(value: string): void;
  mark(faults: readonly Fault[]): void;
  /** Puts the cursor there, and the focus. */
  goTo(place: Pick<Fault, "line" | "column">): void;
  /** The same for a selection, by offsets. */
  select(from: number, to: number): void;
  focus(): void;
  destroy(): void;
}

interface EditorOptions {
  readonly value: string;
  readonly language: Language;
  readonly changed: (value: string) => void;
}

/** Chromium gives what is typed over a coloured text a style attribute, which the Studio's policy refuses and reports. */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || view.state.readOnly) return false;
    const { main, ranges } = view.state.selection;
    const { from, to } = main.empty ? selectedIn(view, event) : main;
    if (from === to) return false;
    event.preventDefault();
    const text = view.state.toText(data);
    const replaced = { changes: { from, to, insert: text }, selection: { anchor: from + text.length } };
    const spec = ranges.length > 1 ? view.state.replaceSelection(text) : replaced;
    const insert = () => view.state.update(spec, { userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handler) => handler(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

/** What the browser is about to replace: a selection that the editor has not heard of yet. */
function selectedIn(view: EditorView, event: InputEvent): { readonly from: number; readonly to: number } {
  const [range] = event.getTargetRanges();
  if (!range) return { from: 0, to: 0 };
  return {
    from: view.posAtDOM(range.startContainer, range.startOffset),
    to: view.posAtDOM(range.endContainer, range.endOffset),
  };
}

const wrapped = new Set<CodeLanguage>(["text", "markdown", "liquid"]);

export function mountCode(parent: HTMLElement, { value, language, changed }: EditorOptions): Mounted {
  const content = new Compartment();
  const attributes = new Compartment();
  let shown: CodeState | undefined;
  /** As it was last told or heard: comparing it costs nothing while it is the same string. */
  let known = value;
  /** The faults that were marked last. */
  let marked = "[]";
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        basics(language),
        typedOver,
        attributes.of([]),
        content.of([]),
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (!docChanged) return;
          known = state.doc.toString();
          if (!transactions.some((one) => one.isUserEvent("set"))) changed(known);
        }),
      ],
    }),
  });

  async function speak(wanted: CodeLanguage, words: readonly CodeWord[]): Promise<void> {
    const support = await languageSupport(wanted, words, (phrase) => view.state.phrase(phrase));
    if (shown?.language !== wanted || shown.words !== words) return;
    view.dispatch({
      effects: content.reconfigure([support, wrapped.has(wanted) ? EditorView.lineWrapping : []]),
    });
  }

  return {
    show(next) {
      const before = shown;
      shown = next;
      view.dispatch({
        effects: attributes.reconfigure([
          EditorView.contentAttributes.of({ tabindex: "0", ...next.attributes }),
          EditorState.readOnly.of(next.readonly),
        ]),
      });
      if (before?.language !== next.language || before.words !== next.words)
        // Without its language a text can still be edited.
        speak(next.language, next.words).catch(() => undefined);
    },
    write(next) {
      if (next === known) return;
      // Browsers give other line ends to a text that was pasted into an area.
      if (next.replaceAll("\r\n", "\n") === known) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, userEvent: "set" });
    },
    mark(faults) {
      const given = JSON.stringify(faults);
      // The same again while somebody types: the marks have moved with the text already.
      if (given === marked && (faults.length === 0 || view.hasFocus)) return;
      marked = given;
      const text = view.state.doc.toString();
      const places = faults.map((fault) => ({ fault, from: offsetOf(text, fault) }));
      view.dispatch(
        setDiagnostics(
          view.state,
          places.map(({ fault: { message }, from }) => ({ from, to: from, severity: "error" as const, message })),
        ),
      );
      const [first] = places;
      // The cursor waits there; a person who is typing keeps it.
      if (first && !view.hasFocus) view.dispatch({ selection: { anchor: first.from }, scrollIntoView: true });
    },
    goTo(place) {
      const anchor = offsetOf(view.state.doc.toString(), place);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    },
    select(from, to) {
      const end = view.state.doc.length;
      view.dispatch({ selection: { anchor: Math.min(from, end), head: Math.min(to, end) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function basics(language: Language): Extension {
  // The policy allows only the styles that carry it.
  const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";
  return [
    EditorView.cspNonce.of(nonce),
    EditorState.phrases.of(phrases[language]),
    theme,
    lineNumbers(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    history(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    autocompletion({ icons: false }),
    search({ top: true }),
    lintGutter(),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    leavesByTab(),
  ];
}

/**
 * Esc, then Tab or Shift+Tab leaves the editor, however long one waits between. Any other key takes Esc back. A second Esc
 * belongs to the dialog around it.
 */
function leavesByTab(): Extension {
  let escaped = false;
  const end = (view: EditorView): void => {
    if (escaped) view.setTabFocusMode(false);
    escaped = false;
  };
  return [
    Prec.low(
      keymap.of([
        {
          key: "Escape",
          run: (view) => {
            if (escaped) return false;
            escaped = true;
            view.setTabFocusMode(true);
            return true; // a dialog around it stays open
          },
        },
      ]),
    ),
    EditorView.domEventObservers({
      keydown: ({ key }, view) => {
        if (!["Escape", "Tab", "Shift", "Control", "Alt", "Meta"].includes(key)) end(view);
      },
      blur: (_, view) => end(view),
    }),
  ];
}

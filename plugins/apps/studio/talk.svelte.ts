/** "Describe it": a conversation whose answers are versions of the source, each of which can be taken back. */
import { ApiError, Conversation, get, isMap, KeptDraft, messageOf, session, textOf, type ChatMessage } from "studio";
import { answerOf, changedLines, complaintOf, guideOf, tablesOfApp } from "./describe.ts";
import { compiled } from "./preview.svelte.ts";
import { say } from "./words.ts";

/** How often the compiler's mistakes are sent back for one question. */
export const mostRounds = 3;

export interface Said {
  readonly who: "me" | "model";
  readonly text: string;
  readonly change?: {
    readonly before: string;
    readonly after: string;
    readonly added: number;
    readonly removed: number;
    /** How often it was sent back before it compiled. */
    readonly rounds: number;
    readonly compiles: boolean;
    readonly isIn: boolean;
  };
}

/** The form of the app. */
interface Subject {
  readonly record: Readonly<Record<string, unknown>> | undefined;
  text(name: string): string;
  typeIn(name: string, input: string): void;
  keep(): Promise<void>;
}

export class Talk {
  said = $state.raw<readonly Said[]>([]);
  words = $state("");
  problem = $state("");
  /** The round under way: 0 for the first answer; undefined while nothing is asked. */
  round = $state<number | undefined>();
  /** To be asked as soon as there is a model: what a new app was described with. */
  isWanted = false;
  private conversation = $state.raw<Conversation | undefined>();
  private readonly editor: Subject;
  private readonly place: string;
  private draft: KeptDraft | undefined;

  /** `place`: the address of the app. */
  constructor(editor: Subject, place: string) {
    this.editor = editor;
    this.place = place;
  }

  /** The answer as it comes in. */
  get coming(): { readonly prose: string; readonly lines: number } {
    const { prose, source } = answerOf(this.conversation?.answer ?? "");
    return { prose, lines: source?.split("\n").length ?? 0 };
  }

  /** What was typed before and not sent. */
  begin(): void {
    if (this.draft) return;
    this.draft = new KeptDraft(`${this.place}#describe`);
    if (this.words === "") this.words = textOf(this.draft.take()["words"]);
  }

  type(words: string): void {
    this.words = words;
    if (words === "") this.draft?.forget();
    else this.draft?.keep({ words });
  }

  stop(): void {
    this.conversation?.stop();
  }

  clear(): void {
    this.stop();
    this.said = [];
    this.problem = "";
  }

  async ask(connector: string): Promise<void> {
    const words = this.words.trim();
    if (words === "" || this.round !== undefined) return;
    const earlier = this.said.map(({ who, text }): ChatMessage => ({
      role: who === "me" ? "user" : "assistant",
      content: text || "…",
    }));
    this.said = [...this.said, { who: "me", text: words }];
    this.type("");
    this.problem = "";
    this.round = 0;
    try {
      const conversation = new Conversation(() => say("cutOff"));
      conversation.messages = earlier;
      this.conversation = conversation;
      const variables = await variablesOf(this.editor);
      const prompt = textOf(this.editor.record?.["prompt"]).trim();
      const app = prompt === "" ? {} : { app_id: textOf(this.editor.record?.["id"]) };
      await this.hear(
        conversation,
        (said) => conversation.ask({ code: "ai_app", connector, variables, ...app }, said),
        words,
      );
    } catch (error) {
      this.problem = messageOf(error);
    }
    this.round = undefined;
    this.conversation = undefined;
    // What was not answered can be sent again.
    if (this.said.at(-1)?.who === "me") {
      this.said = this.said.slice(0, -1);
      if (this.words === "") this.type(words);
    }
  }

  private async hear(conversation: Conversation, ask: (said: string) => Promise<void>, words: string): Promise<void> {
    const { editor } = this;
    let said = words;
    for (let round = 0; round <= mostRounds; round++) {
      this.round = round;
      await ask(said);
      this.problem = conversation.problem;
      const answer = conversation.messages.at(-1);
      if (this.problem !== "" || answer?.role !== "assistant") return;
      const { prose, source } = answerOf(answer.content);
      if (source === undefined) return void (this.said = [...this.said, { who: "model", text: prose }]);
      const mistakes = await mistakesOf(editor, source);
      if (mistakes.length === 0 || round === mostRounds) return this.put(prose, source, round, mistakes.length === 0);
      said = complaintOf(mistakes);
    }
  }

  private async put(text: string, after: string, rounds: number, compiles: boolean): Promise<void> {
    const before = this.editor.text("source_code");
    const change = { before, after, ...changedLines(before, after), rounds, compiles, isIn: true };
    this.editor.typeIn("source_code", after);
    this.said = [...this.said, { who: "model", text, change }];
    if (compiles) await this.editor.keep();
  }

  /** Takes an answer back, or puts it in again. */
  flip(one: Said): void {
    const { change } = one;
    if (!change) return;
    this.editor.typeIn("source_code", change.isIn ? change.before : change.after);
    this.said = this.said.map((other) =>
      other === one ? { ...one, change: { ...change, isIn: !change.isIn } } : other,
    );
  }
}

async function mistakesOf(editor: Subject, source_code: string): Promise<readonly string[]> {
  try {
    await compiled(textOf(editor.record?.["id"]), {
      app_engine: editor.text("app_engine"),
      css_engine: editor.text("css_engine"),
      source_code,
    });
    return [];
  } catch (error) {
    const mistakes = error instanceof ApiError ? error.errors["source_code"] : undefined;
    if (mistakes === undefined) throw error;
    return mistakes;
  }
}

async function variablesOf(editor: Subject): Promise<Record<string, string>> {
  const engine = editor.text("app_engine");
  const codes = session.may("dbs") ? tablesOfApp(editor.text("db_code"), editor.text("fields")) : [];
  const [guides, tables] = await Promise.all([
    Promise.all(["apps_api", `apps_${engine}_api`].map(guide)),
    Promise.all(codes.map(table)),
  ]);
  const actions = editor.text("actions").trim();
  return {
    engine,
    css: editor.text("css_engine"),
    guide: guides.join("\n\n"),
    tables: tables.join("\n"),
    actions: actions === "[]" ? "" : actions,
    source: editor.text("source_code"),
  };
}

async function guide(code: string): Promise<string> {
  const { json } = await get(`/core/prompts/system/${code}.md`);
  return guideOf(textOf(json));
}

/** One that is gone, or that one may not read, is left out. */
async function table(code: string): Promise<string> {
  const { json } = await get(`/core/dbs/${encodeURIComponent(code)}.json`).catch(() => ({ json: null }));
  if (!isMap(json)) return "";
  const { name, schema, public_methods } = json;
  return JSON.stringify({ name, code, schema, public_methods });
}

/** One record in a form: loaded, typed into, saved, in conflict, deleted. What it shows is in pages/Item.svelte. */
import { addressOf } from "../address.ts";
import { ApiError, get, request, type Answer } from "../server/request.ts";
import type { Call } from "../resources/curl.ts";
import { KeptDraft } from "./draft.svelte.ts";
import { fieldsOf, inputsOf, inWords, messagesByField, startingValues } from "../resources/forms.ts";
import type { FormField, Input } from "../resources/forms.ts";
import { parseJson } from "../server/exact.ts";
import { frame } from "./frame.svelte.ts";
import { idOf } from "../resources/list.ts";
import { changes, merged, same, type Conflict } from "../forms/merge.ts";
import { filled, type Operation, type Resource } from "../resources/resources.ts";
import { router } from "./router.svelte.ts";
import { sentOf } from "../forms/parts.ts";
import { session } from "./session.svelte.ts";
import { text } from "./text.svelte.ts";
import { toasts } from "./toasts.svelte.ts";
import { isMap, ownOf, textOf } from "../resources/values.ts";
import { mayLose } from "./uses.ts";

type Values = Readonly<Record<string, unknown>>;

export class Editor {
  readonly resource: Resource;
  /** The values of the path's parameters, the record's own last. */
  readonly values: readonly string[];
  readonly isNew: boolean;
  /** What saves it; undefined if the person may not. */
  readonly operation: Operation | undefined;
  readonly #asked: readonly FormField[];
  readonly fields = $derived.by<readonly FormField[]>(() =>
    this.#asked.map((field) => inWords(field, ownOf(this.resource.fields, field.name), text.language)),
  );
  /** As the server has it; undefined until it is loaded. */
  record = $state.raw<Values | undefined>();
  inputs = $state.raw<Readonly<Record<string, Input>>>({});
  messages = $state.raw<Readonly<Record<string, readonly string[]>>>({});
  /** What is wrong beyond the fields. */
  problem = $state("");
  saving = $state(false);
  readonly draft = new KeptDraft(router.path);
  conflicts = $state.raw<readonly Conflict[]>([]);
  /** What only the answer to a creation shows, e.g. a token. */
  shownOnce = $state.raw<Values | undefined>();
  /** What somebody else has done since it was read: their version is shown, or what was typed is kept. */
  meanwhile = $state<"shown" | "kept" | "gone" | undefined>();
  /** The ETag of what was last read. */
  tag = $state<string | undefined>();

  /** `begins` is what the server takes anyway; `suggested` is sent, unless somebody changes it. */
  constructor(
    resource: Resource,
    values: readonly string[],
    isNew: boolean,
    begins: Values = {},
    suggested: Values = {},
  ) {
    this.resource = resource;
    this.values = values;
    this.isNew = isNew;
    const operation = isNew ? resource.create : resource.update;
    this.operation = operation && session.may(operation.privilege) ? operation : undefined;
    const whole = resource.create?.body?.schema;
    this.#asked = this.operation?.body ? fieldsOf(this.operation.body.schema, session.known, whole) : [];
    if (!isNew) return;
    this.show({ ...startingValues(this.fields), ...begins }, undefined);
    // A link may say what the new record begins with.
    const given = this.fields.filter(({ name, kind }) => router.query.has(name) && kind !== "secret");
    const record = Object.fromEntries(
      given.map(({ name, kind }) => [name, givenValue(kind, router.query.get(name) ?? "")]),
    );
    const proposed = this.fields.filter(({ name }) => name in suggested);
    this.inputs = { ...this.inputs, ...inputsOf(proposed, suggested), ...inputsOf(given, record) };
  }

  private get path(): string {
    return filled((this.resource.read ?? this.resource.update ?? this.resource.list).path, this.values);
  }

  async load(signal?: AbortSignal): Promise<void> {
    if (this.isNew) return;
    try {
      const { json, headers } = await get(this.path, signal);
      this.show(isMap(json) ? json : {}, headers.get("etag") ?? undefined);
    } catch (error) {
      if (signal?.aborted) return;
      const isGone = error instanceof ApiError && error.status === 404;
      this.problem = isGone ? text.messages.missing : error instanceof ApiError ? error.message : String(error);
    }
  }

  /** Somebody may have changed it. What was typed stays. */
  async look(): Promise<void> {
    const before = this.record;
    if (this.isNew || before === undefined || this.saving) return;
    const isOver = () => this.record !== before || this.saving;
    try {
      const { json, headers } = await request("GET", this.path, { quiet: true });
      if (isOver() || !isMap(json) || same(json, before)) return;
      if (this.isChanged) this.meanwhile = "kept";
      else {
        this.show(json, headers.get("etag") ?? undefined);
        this.meanwhile = "shown";
      }
    } catch (error) {
      // Anything else may succeed the next time.
      if (!isOver() && error instanceof ApiError && error.status === 404) this.meanwhile = "gone";
    }
  }

  private show(record: Values, tag: string | undefined): void {
    this.meanwhile = undefined;
    this.record = record;
    this.tag = tag;
    if (!this.isNew) frame.read(addressOf(this.resource, this.values), record);
    this.inputs = inputsOf(this.fields, record);
  }

  /** What the server has beyond the fields of the form. */
  get facts(): [string, unknown][] {
    const names = new Set(this.fields.map(({ name }) => name));
    return Object.entries(this.record ?? {}).filter(([name]) => !names.has(name));
  }

  /** The end of a stored secret, as the API shows it. */
  stored({ name, kind }: FormField): string | undefined {
    return kind === "secret" ? textOf(this.record?.[`${name}_info`]) || undefined : undefined;
  }

  get isChanged(): boolean {
    return this.record !== undefined && !same(this.inputs, inputsOf(this.fields, this.record));
  }

  field(name: string): FormField | undefined {
    return this.fields.find((field) => field.name === name);
  }

  /** A field by its name; one that the form does not have is left. */
  typeIn(name: string, input: Input): void {
    const field = this.field(name);
    if (field) this.type(field, input);
  }

  /** While the page is shown: whoever leaves during a save is asked. Gives back what ends it. */
  warnsOfLoss(): () => void {
    const warn = (event: BeforeUnloadEvent) => {
      if (this.saving) event.preventDefault();
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }

  type(field: FormField, input: Input): void {
    this.inputs = { ...this.inputs, [field.name]: input };
    if (this.messages[field.name]) this.messages = { ...this.messages, [field.name]: [] };
    if (!this.isChanged) return this.draft.forget();
    // Fields that were left alone are the server's.
    const before = inputsOf(this.fields, this.record ?? {});
    const isTyped = ([name, value]: [string, Input]) => !same(value, before[name]);
    const base = Object.entries(before).filter(([name]) => !same(this.inputs[name], before[name]));
    this.draft.keep(
      Object.fromEntries(Object.entries(this.inputs).filter(isTyped)),
      this.fields,
      Object.fromEntries(base),
    );
  }

  restoreDraft(): void {
    const { inputs, conflicts } = this.draft.takeOver(this.inputs);
    this.inputs = { ...this.inputs, ...inputs };
    this.conflicts = this.isNew ? [] : conflicts;
  }

  reset(): void {
    if (this.record) this.inputs = inputsOf(this.fields, this.record);
    this.messages = {};
    this.problem = "";
    this.draft.drop();
  }

  /** The values of what was typed, and what cannot be read of it. */
  private read(): { readonly values: Readonly<Record<string, unknown>>; readonly messages: Record<string, string[]> } {
    const { values, mistakes } = sentOf(this.fields, this.inputs, { record: this.record ?? {}, isNew: this.isNew });
    const said = { number: text.messages.notNumber, json: text.messages.notJson };
    const messages = Object.entries(mistakes).map(([name, mistake]) => [name, [said[mistake]]]);
    return { values, messages: Object.fromEntries(messages) };
  }

  /** The request that a save would be. */
  call(): Call | undefined {
    const { operation } = this;
    const { values, messages } = this.read();
    if (!operation?.body || Object.keys(messages).length > 0) return undefined;
    const { key } = operation.body;
    return {
      method: operation.method,
      path: filled(operation.path, this.values),
      body: key === undefined ? values : { [key]: values },
      ...(operation.ifMatch && this.tag !== undefined && { ifMatch: this.tag }),
    };
  }

  async save(): Promise<void> {
    if (this.saving) return;
    this.messages = this.read().messages;
    const call = this.call();
    if (!call || (this.losesCode && !(await this.mayLoseCode(this.code)))) return;
    const sent = this.inputs;
    this.saving = true;
    this.problem = "";
    try {
      const answer = await request(call.method, call.path, { body: call.body, ifMatch: call.ifMatch });
      this.draft.forget();
      toasts.say(text.messages.saved);
      if (this.isNew) this.created(answer);
      else await this.updated(answer, sent);
    } catch (error) {
      await this.refused(error);
    } finally {
      this.saving = false;
    }
  }

  /** By which others name it. */
  private get code(): string {
    return textOf(this.record?.["code"] ?? this.record?.["url_code"]);
  }

  private get losesCode(): boolean {
    const { code = this.code, url_code = code } = this.read().values;
    return !this.isNew && this.code !== "" && url_code !== this.code;
  }

  /** Asks whoever would take a record from those who use it; `title` is what it is called. */
  mayLoseCode(title: string): Promise<boolean> {
    return mayLose(this.resource, [{ name: title, values: this.values }]);
  }

  private created({ json }: Answer): void {
    const once = this.onlyShownNow(json);
    if (once) {
      this.record = isMap(json) ? json : {};
      this.shownOnce = once;
    } else this.goTo(json);
  }

  /** Where the Studio shows a record, or their list. */
  protected pageOf(values: readonly string[]): string {
    return addressOf(this.resource, values);
  }

  /** Leaves the form of a new record for the record. */
  goTo(json: unknown): void {
    const id = idOf(json, this.resource);
    router.go(this.pageOf(id === undefined ? this.values : [...this.values, id]), { replace: true });
  }

  private onlyShownNow(json: unknown): Values | undefined {
    const lasting = this.resource.read?.answer?.properties;
    if (!isMap(json) || !lasting) return undefined;
    const once = Object.entries(json).filter(([name, value]) => !(name in lasting) && typeof value === "string");
    return once.length > 0 ? Object.fromEntries(once) : undefined;
  }

  /** A field that was touched while the request was under way keeps what was typed. */
  private async updated({ json, headers }: Answer, sent: Readonly<Record<string, Input>>): Promise<void> {
    const touched = changes(sent, this.inputs) as Record<string, Input>; // of inputs
    const tag = headers.get("etag") ?? undefined;
    if (isMap(json) && (tag !== undefined || !this.operation?.ifMatch)) this.show(json, tag);
    else await this.load();
    this.inputs = { ...this.inputs, ...touched };
  }

  private async refused(error: unknown): Promise<void> {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 412) return this.merge();
    const { byField, others } = messagesByField(this.fields, error.errors);
    this.messages = byField;
    const summary = Object.keys(byField).length > 0 ? [text.messages.wrongFields] : [];
    this.problem = [...summary, ...others].join(" ") || error.message || text.messages.offline;
  }

  /** Somebody else has saved meanwhile: takes theirs where I have changed nothing. */
  async merge(): Promise<void> {
    const loaded = this.record ?? {};
    const mine = { ...loaded, ...this.read().values };
    const { json, headers } = await get(this.path);
    const theirs = isMap(json) ? json : {};
    const { values, conflicts } = merged(loaded, theirs, mine);
    const named = new Set(this.fields.map(({ name }) => name));
    this.show(theirs, headers.get("etag") ?? undefined);
    this.inputs = inputsOf(this.fields, values);
    this.conflicts = conflicts.filter(({ field }) => named.has(field));
    if (this.conflicts.length === 0) this.problem = text.messages.merged;
  }

  /** `takeTheirs`: the fields whose other version wins. */
  resolve(takeTheirs: ReadonlySet<string>): void {
    const original = inputsOf(this.fields, this.record ?? {});
    const taken = Object.entries(original).filter(([name]) => takeTheirs.has(name));
    this.inputs = { ...this.inputs, ...Object.fromEntries(taken) };
    this.conflicts = [];
  }

  remove(words: string): void {
    const { remove } = this.resource;
    if (!remove) return;
    const ifMatch = remove.ifMatch ? this.tag : undefined;
    this.draft.forget();
    toasts.deleteLater(filled(remove.path, this.values), words, {
      ifMatch,
      undone: () => router.go(this.pageOf(this.values)),
    });
    router.go(this.pageOf(this.values.slice(0, -1)));
  }
}

/** What is no text stands as JSON in the address. */
function givenValue(kind: FormField["kind"], value: string): unknown {
  if (kind === "flag") return value === "true";
  if (!["json", "list", "choices", "lookups"].includes(kind)) return value;
  try {
    return parseJson(value);
  } catch {
    return undefined;
  }
}

/** The program of a flow in its form: as steps and as text, with what the server has said of it. */
import { isMap, text, type Editor } from "studio";
import { messageOf, locationOf, standing, stepFaults, type StepFault } from "./faults.ts";
import { othersIn, programIn, shown, stepsOf, withProgram } from "./text.ts";
import type { Program } from "./tree.ts";

const mostBefore = 100;

export class ProgramForm {
  readonly editor: Editor;
  /** As they were told; those of steps that were changed since do not stand any more. */
  private told = $state.raw<readonly StepFault[]>([]);
  /** What was typed last, and the input that it has become: it is not set in order under somebody's hands. */
  private typed = $state.raw<Typed>();
  private readonly known = $derived(this.typed?.input === this.input ? this.typed : undefined);
  readonly text = $derived(this.known?.text ?? programIn(this.stored, this.input));
  /** Undefined while the text is no list of steps. */
  readonly program = $derived<Program | undefined>(this.known?.program ?? stepsOf(this.text));
  /** Programs as they were before each change here, the latest last. */
  private before = $state.raw<readonly Program[]>([]);
  readonly faults = $derived(this.program ? standing(this.told, this.program) : []);

  constructor(editor: Editor) {
    this.editor = editor;
  }

  private get input(): string {
    const { fields } = this.editor.inputs;
    return typeof fields === "string" ? fields : "";
  }

  private get stored(): Readonly<Record<string, unknown>> {
    const fields = this.editor.record?.["fields"];
    return isMap(fields) ? fields : {};
  }

  /** What `fields` has beside the program: how agents may call the flow. */
  get others(): Readonly<Record<string, unknown>> {
    return this.known?.others ?? othersIn(this.input) ?? this.stored;
  }

  /** The names of the input, where its schema says them. */
  get inputNames(): readonly string[] {
    const { input } = this.others;
    const properties = isMap(input) ? input["properties"] : undefined;
    return isMap(properties) ? Object.keys(properties) : [];
  }

  /** `undefined` takes it away. */
  setOther(name: string, value: unknown): void {
    const { [name]: _, ...rest } = this.others;
    this.put(this.text, this.program, value === undefined ? rest : { ...this.others, [name]: value });
  }

  /** What is said of the text, with the places as they are now. */
  get messages(): readonly string[] {
    const said = this.editor.messages["fields"] ?? [];
    const others = said.filter((message) => locationOf(message) === undefined || message === text.messages.notJson);
    return [...others, ...this.faults.map(messageOf)];
  }

  /** What names things that are not there yet, of the program that is stored. */
  get warnings(): readonly StepFault[] {
    const said = this.editor.record?.["warnings"];
    return Array.isArray(said) && this.program && !this.editor.isChanged
      ? stepFaults(said.map(String), this.program)
      : [];
  }

  /** `program`: the steps that the text is of, so that those which stay are the same. */
  write(typed: string, program?: Program): void {
    this.put(typed, program, this.others);
  }

  private put(typed: string, program: Program | undefined, others: Readonly<Record<string, unknown>>): void {
    if (!this.editor.field("fields")) return;
    const input = withProgram(others, typed);
    this.typed = { input, text: typed, program, others };
    this.editor.typeIn("fields", input);
  }

  change(program: Program): void {
    if (this.program) this.before = [...this.before.slice(1 - mostBefore), this.program];
    this.write(shown(program), program);
  }

  /** Takes the latest change back; whether there was one. */
  takeBack(): boolean {
    const last = this.before.at(-1);
    if (!last) return false;
    this.before = this.before.slice(0, -1);
    this.write(shown(last), last);
    return true;
  }

  /** The path of the first step that the server refuses; undefined if it refuses none. */
  async save(): Promise<string | undefined> {
    this.told = [];
    await this.editor.save();
    const said = this.editor.messages["fields"] ?? [];
    // Where nothing is said, the page of a new flow has been left already.
    this.told = said.length > 0 && this.program ? stepFaults(said, this.program) : [];
    return this.told[0]?.path;
  }
}

interface Typed {
  readonly input: string;
  readonly text: string;
  readonly program: Program | undefined;
  readonly others: Readonly<Record<string, unknown>>;
}

/** Runs the source of a `script` step in QuickJS, within a guarded process: it reaches nothing but its input. */
import variant from "@jitl/quickjs-singlefile-mjs-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
} from "quickjs-emscripten-core";

export interface ScriptTask {
  readonly source: string;
  /** JSON. */
  readonly input: string;
}

export type ScriptResult = { readonly output: string } | { readonly fault: string };

const limits = { cpuMs: 1000, memoryMb: 64, stackBytes: 512_000, outputChars: 1_000_000 };
const pagesOfMb = 16;

/** QuickJS's own limit of memory counts nothing in this build: the memory of the machine that it runs on has the bound. */
const made = () =>
  newQuickJSWASMModuleFromVariant(
    newVariant(variant, {
      wasmMemory: new WebAssembly.Memory({ initial: 16 * pagesOfMb, maximum: limits.memoryMb * pagesOfMb }),
    }),
  );
let quickjs = made();

export default async function run(given: unknown): Promise<ScriptResult> {
  const { source, input } = given as ScriptTask; // step.ts makes it
  const runtime = (await quickjs).newRuntime();
  runtime.setMaxStackSize(limits.stackBytes);
  // Its own time: on a busy machine others take some of it.
  const until = cpuMs() + limits.cpuMs;
  let isLate = false;
  runtime.setInterruptHandler(() => (isLate = cpuMs() > until));
  const context = runtime.newContext();
  try {
    // What a script does to its own JSON changes nothing here.
    const body = `(function (input) {"use strict";\n${source}\n})`;
    const whole = `((parse, print) => print(${body}(parse(${JSON.stringify(input)}))))(JSON.parse, JSON.stringify)`;
    const result = context.evalCode(whole, "script");
    if (result.error) {
      const fault = result.error.consume((thrown) => faultOf(context, thrown, isLate));
      if (fault === full) quickjs = made();
      return { fault };
    }
    const output = result.value.consume((one) => (context.typeof(one) === "string" ? context.getString(one) : "null"));
    return output.length > limits.outputChars
      ? { fault: `returns more than ${limits.outputChars} characters as JSON` }
      : { output };
  } finally {
    context.dispose();
    runtime.dispose();
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const full = `needs more than ${limits.memoryMb} MB`;

function faultOf(context: QuickJSContext, error: QuickJSHandle, isLate: boolean): string {
  if (isLate) return `takes more than ${limits.cpuMs} ms`;
  const thrown: unknown = context.dump(error);
  if (typeof thrown !== "object" || thrown === null)
    return `throws ${JSON.stringify(thrown) ?? "undefined"}`.slice(0, 1000);
  const { name = "Error", message = "", stack = "" } = thrown as Record<string, unknown>; // what QuickJS makes of an error
  if (message === "out of memory") return full;
  const line = Number(/script:(\d{1,6})/.exec(String(stack))?.[1] ?? 0) - 1;
  return `${String(name)}: ${String(message)}${line > 0 ? ` (line ${line})` : ""}`.slice(0, 1000);
}

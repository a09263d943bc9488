/** The step `script`: a pure function of its input in JavaScript. behaviour B.9. */
import { ChildFault, HttpError, parseJson, Type, type BaseContext } from "platform";
import type { StepType } from "../api.ts";
import type { ScriptResult, ScriptTask } from "./child.ts";

const params = Type.Object({
  source: Type.String({
    minLength: 1,
    maxLength: 50_000,
    description: "the body of a function of `input`: `return` gives the result. It reaches nothing else",
  }),
  input: Type.Optional(Type.Unknown({ description: "a JSON value; expressions are filled in" })),
});

/** A process of its own: at most a second of its time and 64 MB (child.ts). */
export function scriptStep(ctx: Pick<BaseContext, "child">): {
  step: StepType<typeof params>;
  stop: () => Promise<void>;
} {
  const child = ctx.child("script", {
    timeLimitMs: 4_000,
    memoryBytes: 700_000_000,
    maxIdleBytes: 250_000_000,
    maxQueued: 500,
  });
  const step: StepType<typeof params> = {
    type: "script",
    doc: "computes its result in JavaScript",
    params,
    isPure: true,
    async run({ params: { source, input = null } }) {
      const task: ScriptTask = { source, input: JSON.stringify(input) };
      // child.ts answers so.
      const result = (await child.run(task).catch(refused)) as ScriptResult;
      if ("fault" in result) throw new HttpError(422, { error: `the script ${result.fault}` });
      return parseJson(result.output);
    },
  };
  return { step, stop: child.stop };
}

/** What the script has done to its process is the script's fault; a busy machine is not. */
function refused(error: unknown): never {
  if (error instanceof ChildFault && (error.reason === "timeout" || error.reason === "crash"))
    throw new HttpError(422, { error: "the script takes more time or memory than it may" });
  throw error;
}

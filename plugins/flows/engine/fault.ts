import { HttpError, sentenceOf, ValidationError } from "platform";

/** Why a step failed: the error of the process, and `error` in its `on_error` steps. */
export class StepFault extends Error {
  override readonly name = "StepFault";
  /** The answer of a connector's remote. */
  readonly status: number | null;
  readonly data: unknown;
  /** The step's `timeout`, or that of a step around it. */
  readonly timedOut: boolean;

  constructor(message: string, { status = null, data = null, timedOut = false }: Partial<StepFaultFacts> = {}) {
    super(message.length > mostChars ? `${message.slice(0, mostChars - 1).toWellFormed()}…` : message);
    this.status = status;
    this.data = data;
    this.timedOut = timedOut;
  }
}

/** A process may keep the error of each of its steps, and a message may be made of all its variables. */
const mostChars = 2_000;

interface StepFaultFacts {
  readonly status: number | null;
  readonly data: unknown;
  readonly timedOut: boolean;
}

/** The process has ended, or another server has taken it over: write nothing more. */
export class Gone extends Error {}

/** The variables are too large to be stored. */
export class MemoryFull extends Error {}

/** The runtime has refused an event: too many events follow from each other. */
export function isLoop(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "event_loop";
}

/** Turns refusals into failures of the step. */
export async function recorded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ValidationError)
      throw new StepFault(sentenceOf(error.fields), { status: 422, data: error.fields });
    if (error instanceof HttpError && error.status < 500)
      throw new StepFault(error.message, { status: error.status, data: error.body });
    if (isLoop(error)) throw new StepFault(error.message);
    throw error;
  }
}

/** Throws a StepFault if a template has left it blank. */
export function named(id: string | null): string {
  if (id === null) throw new StepFault("id is blank: it must be a record's id");
  return id;
}

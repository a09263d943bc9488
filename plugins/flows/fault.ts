/** Why a step failed: what the process tells, and what its `on_error` steps see as `error`. */
export class StepFault extends Error {
  override readonly name = "StepFault";
  /** What a connector's remote answered with. */
  readonly status: number | null;
  readonly data: unknown;
  /** The step's `timeout`, or that of a step around it. */
  readonly timedOut: boolean;

  constructor(message: string, { status = null, data = null, timedOut = false }: Partial<StepFaultFacts> = {}) {
    super(message);
    this.status = status;
    this.data = data;
    this.timedOut = timedOut;
  }
}

interface StepFaultFacts {
  readonly status: number | null;
  readonly data: unknown;
  readonly timedOut: boolean;
}

/** The process has ended, or another server has taken it over: nothing more is to be written. */
export class Gone extends Error {}

/** The variables are more than is stored. */
export class MemoryFull extends Error {}

/** Events that follow from each other too deep, as the runtime refuses them. */
export function isLoop(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "event_loop";
}

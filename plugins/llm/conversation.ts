/** A model's answer as Server-Sent Events: `text` as it comes, then `end` or `error`. */
import { HttpError, isObject, type Log } from "platform";
import type { CallOutcome } from "../connectors/api.ts";

type Ask = (onText: (text: string) => void, signal: AbortSignal) => Promise<CallOutcome>;

const heartbeatMs = 15_000;

/** The model is stopped when a signal is aborted, or the reader goes away. */
export function conversation(ask: Ask, signals: readonly AbortSignal[], log: Log): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const stop = new AbortController();
  const signal = AbortSignal.any([...signals, stop.signal]);
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      // Nothing can be said once the reader is gone.
      const say = (text: string) => {
        if (!signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const beat = setInterval(() => say(":\n\n"), heartbeatMs);
      // The headers go out at once: a model may think for a while.
      say(":\n\n");
      void ask((text) => say(eventOf("text", { text })), signal)
        .then(endOf, (fault: unknown) => faultOf(fault, signal, log))
        .then(say)
        .finally(() => {
          clearInterval(beat);
          if (!stop.signal.aborted) controller.close();
        });
    },
    cancel() {
      stop.abort(new Error("the reader is gone"));
    },
  });
}

function endOf({ ok, data, error }: CallOutcome): string {
  if (!ok || !isObject(data)) return eventOf("error", { error: error ?? "the call failed" });
  const { stop, model, usage } = data;
  return eventOf("end", { stop, model, usage });
}

function faultOf(fault: unknown, signal: AbortSignal, log: Log): string {
  if (!(fault instanceof HttpError) && !signal.aborted) log.error("a conversation failed", { error: fault });
  return eventOf("error", { error: fault instanceof HttpError ? fault.message : "internal error" });
}

function eventOf(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

import { answer, field, forbidden, HttpError, invalid, isObject, route, tooMany, Type, warned } from "platform";
import type { BaseContext, Caller, Log, Route, Static } from "platform";
import type { Apps } from "../apps/api.ts";
import type { CallOutcome, Connectors } from "../connectors/api.ts";
import type { Prompts } from "../prompts/api.ts";
import { chatOf } from "./chat.ts";
import { kindName } from "./connector.ts";

const Turn = Type.Object({
  role: field.oneOf(["user", "assistant"]),
  content: Type.String({ maxLength: 1_000_000 }),
});

const ChatInput = Type.Object({
  connector: field.from(field.code(), { path: "/connect/connectors.json", value: "code" }),
  messages: Type.Array(Turn, { minItems: 1, maxItems: 500 }),
  variables: Type.Optional(field.object()),
  app_id: Type.Optional(field.from(Type.String(), { path: "/core/apps.json", value: "id" })),
});

interface ChatContext extends Pick<BaseContext, "stopping"> {
  readonly apps: Pick<Apps, "promptOf">;
  readonly connectors: Pick<Connectors, "call" | "kindOf">;
  readonly prompts: Pick<Prompts, "renderFor">;
  readonly limit: ReturnType<BaseContext["limiter"]>;
}

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // A proxy that collects answers would keep events back.
  "x-accel-buffering": "no",
};

const example =
  'event: text\ndata: {"text":"Of course: "}\n\nevent: text\ndata: {"text":"…"}\n\n' +
  'event: end\ndata: {"stop":"end","model":"gpt-5-mini","usage":{"input_tokens":310,"output_tokens":42}}\n\n';

/** Conversations of people with a model, by a prompt of the kind `chat`. behaviour B.5. */
export function chatRoutes({ apps, connectors, prompts, limit, stopping }: ChatContext): Route[] {
  return [
    route(
      "POST",
      "/core/prompts/:id/chat",
      {
        summary: "Talk with a model by a prompt",
        description:
          "`:id` is a prompt's id, or a code, which your cascade resolves. Server-Sent Events: `text` with the next part of the " +
          "answer, then `end` { stop, model, usage } or `error` { error }. The prompt, with your `variables`, is what the " +
          "model is told first; `TOKEN` is empty in it. Closing the connection stops the model. `connector` is the code of a " +
          "`core/llm`. With `app_id` (needs `apps`) the `prompt` of this app comes before the text of the prompt.",
        access: { privilege: "flows" },
        idempotency: "own",
        body: { schema: ChatInput },
        request: { connector: "model", messages: [{ role: "user", content: "Write the entry." }] },
        answers: { 200: answer.text("text/event-stream") },
        responses: {
          200: example,
          422: { connector: ["is not the code of an active core/llm connector"] },
          429: { error: "too many requests, try again in 12 s" },
        },
      },
      async ({ account, caller, params, body, request, log }) => {
        const { allowed, retryAfterSeconds } = await limit.take(`${account.id}/${caller.user.id}`);
        if (!allowed) throw tooMany(retryAfterSeconds);
        const { connector, messages } = body;
        const { kind, text: rendered, unread } = await prompts.renderFor(caller, params.id, body.variables ?? {});
        if ((await connectors.kindOf(account.id, connector)) !== kindName)
          throw invalid({ connector: ["is not the code of an active core/llm connector"] });
        if (kind !== "chat") throw invalid({ base: ["the prompt is of the kind agent: give it to an agent"] });
        const own = body.app_id === undefined ? undefined : await promptOfApp(apps, caller, body.app_id);
        const system = own === undefined ? rendered : `${own}\n\n${rendered}`;
        mustEndWithQuestion(messages);
        chatOf({ messages, system });
        const call = { accountId: account.id, code: connector, method: "chat", params: { messages, system } };
        const stream = conversation(
          async (onText, signal) => {
            const outcome = await connectors.call({ ...call, onText, signal });
            if (!outcome) throw new HttpError(404, { error: "the connector is not there any more" });
            return outcome;
          },
          [request.signal, stopping],
          log,
        );
        return new Response(stream, { headers: warned({ status: 200, headers, body: "" }, unread).headers });
      },
    ),
  ];
}

async function promptOfApp(apps: ChatContext["apps"], { account, privileges }: Caller, id: string): Promise<string> {
  if (!privileges.has("apps")) throw forbidden("`app_id` needs the privilege apps");
  const prompt = await apps.promptOf(account.id, id);
  if (prompt === undefined) throw invalid({ app_id: ["is not the id of an app"] });
  if (prompt === null || prompt.trim() === "") throw invalid({ app_id: ["is the id of an app without a prompt"] });
  return prompt;
}

function mustEndWithQuestion(messages: Static<typeof ChatInput>["messages"]): void {
  const last = messages.at(-1);
  if (last?.role !== "user" || last.content.trim() === "")
    throw invalid({ messages: ["must end with a message of the user"] });
}

type Ask = (onText: (text: string) => void, signal: AbortSignal) => Promise<CallOutcome>;

const heartbeatMs = 15_000;

/** An answer as Server-Sent Events: `text` as it comes, then `end` or `error`. The model is stopped when a signal is aborted, or the reader goes away. */
function conversation(ask: Ask, signals: readonly AbortSignal[], log: Log): ReadableStream<Uint8Array> {
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

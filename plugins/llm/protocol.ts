/** What the protocols of models have in common. */
import type { Chat } from "./chat.ts";
import type { Draft } from "./draft.ts";

export interface Target {
  readonly model: string;
  readonly host: string;
}

export interface Protocol {
  /** Below the address of the API. */
  readonly place: string;
  readonly headers: (secret: string | null) => Record<string, string>;
  readonly body: (chat: Chat, target: Target, stream: boolean) => unknown;
  /** Reads an answer that came in one piece. */
  readonly whole: (draft: Draft, data: unknown) => void;
  /** Reads one event of a stream. */
  readonly event: (draft: Draft, data: unknown) => void;
}

/** `https://host`, `https://host/v1` and the whole address are all right. */
export function addressOf(url: string, place: string): string {
  const target = new URL(url);
  let path = target.pathname;
  while (path.endsWith("/")) path = path.slice(0, -1);
  if (path.endsWith(place)) return `${target.origin}${path}`;
  return `${target.origin}${path === "" ? "/v1" : path}${place}`;
}

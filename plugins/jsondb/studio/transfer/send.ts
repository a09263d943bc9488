/** Sends a file: `fetch` tells nothing of how much has arrived. */
import { ApiError, connection, isMap, parseJson, personHeader } from "studio";

export interface Sent {
  readonly status: number;
  readonly json: unknown;
  readonly task: string | undefined;
}

export interface Sending {
  readonly key?: string;
  readonly onprogress?: (share: number) => void;
  readonly signal?: AbortSignal;
}

const attempts = 5;
const longestWaitMs = 15_000;

/** Refusals by 422 are answers; others throw, as does what could not be sent (status 0). */
export async function send(path: string, body: Blob | string, type: string, options: Sending = {}): Promise<Sent> {
  for (let attempt = 1; ; attempt++) {
    const sending = await once(path, body, type, options);
    const { status } = sending;
    if (status === 401) await connection.signedInAgain();
    else {
      const wait = Number(sending.getResponseHeader("retry-after") ?? Number.NaN) * 1000;
      const isBusy = (status === 429 || status === 503) && wait <= longestWaitMs && attempt < attempts;
      if (!isBusy) return answerOf(sending);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

function once(path: string, body: Blob | string, type: string, options: Sending): Promise<XMLHttpRequest> {
  const { key, onprogress, signal } = options;
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    const stop = () => sending.abort();
    sending.upload.addEventListener("progress", ({ loaded, total }) => onprogress?.(total > 0 ? loaded / total : 0));
    sending.addEventListener("loadend", () => {
      signal?.removeEventListener("abort", stop);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve(sending);
    });
    signal?.addEventListener("abort", stop);
    sending.open("POST", path);
    sending.setRequestHeader("content-type", type);
    if (key !== undefined) sending.setRequestHeader("idempotency-key", key);
    for (const [name, value] of Object.entries(personHeader())) sending.setRequestHeader(name, value);
    sending.send(body);
  });
}

function answerOf(sending: XMLHttpRequest): Sent {
  const { status, responseText, statusText } = sending;
  let json: unknown;
  try {
    json = parseJson(responseText);
  } catch {
    json = undefined;
  }
  if (status === 0) throw new ApiError(0, "");
  if (status >= 400 && status !== 422)
    throw new ApiError(status, isMap(json) && typeof json["error"] === "string" ? json["error"] : statusText);
  return { status, json, task: sending.getResponseHeader("x-task-id") ?? undefined };
}

/** A refusal in words: `{ field: […] }`, where `file` is the file by its name. */
export function wordsIn(json: unknown, file = ""): string {
  if (!isMap(json)) return "";
  if (typeof json["error"] === "string") return json["error"];
  const errors = Array.isArray(json["errors"])
    ? json["errors"].filter(isMap).map(({ message }) => String(message))
    : [];
  const fields = Object.entries(json).filter(
    ([, said]) => Array.isArray(said) && said.every((one) => typeof one === "string"),
  );
  const named = fields.map(([name, said]) => {
    const words = [said].flat().join(", ");
    return name === "base" ? words : `${name === "file" && file !== "" ? `“${file}”` : name} ${words}`;
  });
  return [...named, ...errors].join("; ");
}

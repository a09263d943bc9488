/** Uploads by tus, one after the other: a part at a time, and again where a connection breaks. */
import { messageOf, personHeader } from "studio";

const partBytes = 5_000_000;
const attempts = 6;
const tus = { "tus-resumable": "1.0.0" };

export interface Sending {
  readonly id: string;
  readonly file: File;
  state: "waits" | "goes" | "done" | "failed" | "stopped";
  /** Bytes that have arrived. */
  sent: number;
  problem: string;
}

export interface UploadTarget {
  readonly folder: string;
  readonly isPublic: boolean;
}

class Uploads {
  all = $state<Sending[]>([]);
  #stops = new Map<string, AbortController>();
  #isRunning = false;

  /** `done` is told of each file that has arrived. */
  add(files: Iterable<File>, target: UploadTarget, done: () => void): void {
    for (const file of files) this.all.push({ id: crypto.randomUUID(), file, state: "waits", sent: 0, problem: "" });
    void this.#run(target, done);
  }

  again(one: Sending, target: UploadTarget, done: () => void): void {
    Object.assign(one, { state: "waits", sent: 0, problem: "" });
    void this.#run(target, done);
  }

  stop(one: Sending): void {
    if (one.state === "waits") one.state = "stopped";
    this.#stops.get(one.id)?.abort();
  }

  clear(): void {
    this.all = this.all.filter(({ state }) => state === "waits" || state === "goes");
  }

  async #run(target: UploadTarget, done: () => void): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let one = this.#next(); one; one = this.#next()) {
      const stop = new AbortController();
      this.#stops.set(one.id, stop);
      one.state = "goes";
      try {
        await send(one, target, stop.signal);
        one.state = "done";
        done();
      } catch (error) {
        one.state = stop.signal.aborted ? "stopped" : "failed";
        one.problem = stop.signal.aborted ? "" : messageOf(error);
      }
      this.#stops.delete(one.id);
    }
    this.#isRunning = false;
  }

  #next(): Sending | undefined {
    return this.all.find(({ state }) => state === "waits");
  }
}

export const uploads = new Uploads();

async function send(one: Sending, { folder, isPublic }: UploadTarget, signal: AbortSignal): Promise<void> {
  const { file } = one;
  const metadata = Object.entries({ filename: file.name, folder, is_public: String(isPublic) })
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key} ${base64(value)}`)
    .join(",");
  const headers = { ...tus, "upload-length": String(file.size), "upload-metadata": metadata };
  const begun = await asked("POST", "/core/media/uploads", headers, signal);
  const path = begun.headers.get("location") ?? "";
  for (let failed = 0; one.sent < file.size;) {
    try {
      const part = { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": String(one.sent) };
      const answer = await asked("PATCH", path, part, signal, file.slice(one.sent, one.sent + partBytes));
      one.sent = Number(answer.headers.get("upload-offset"));
      failed = 0;
    } catch (error) {
      if (signal.aborted || error instanceof Refusal || ++failed === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** failed));
      one.sent = Number((await asked("HEAD", path, tus, signal)).headers.get("upload-offset"));
    }
  }
}

/** The server does not want it: another attempt would change nothing. */
class Refusal extends Error {}

async function asked(method: string, path: string, headers: Record<string, string>, signal: AbortSignal, body?: Blob) {
  const answer = await fetch(path, {
    method,
    signal,
    headers: { ...personHeader(), ...headers },
    ...(body && { body }),
  });
  if (answer.ok) return answer;
  const words = problemOf(await answer.json().catch(() => undefined), answer.statusText);
  throw answer.status < 500 && answer.status !== 409 && answer.status !== 423 ? new Refusal(words) : new Error(words);
}

function problemOf(json: unknown, standard: string): string {
  if (typeof json !== "object" || json === null) return standard;
  return Object.entries(json)
    .map(([name, said]) =>
      name === "error" ? String(said) : `${name} ${Array.isArray(said) ? said.join(", ") : String(said)}`,
    )
    .join("; ");
}

function base64(value: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(value)));
}

/**
 * The load generator. As a process it answers each `Load` of its parent with a `Measured` or an error. Each of its
 * connections sends its next request when the last is answered. It uses raw sockets, because it shares processors with
 * the server that it measures: a small answer costs it 0.02 ms, half of what autocannon needs.
 */
import { pick, randomSequence, cityOf, contactOf, fragmentOf, idOf, type Contact } from "./contacts.ts";

export interface Load {
  readonly operation: keyof typeof operations;
  readonly target: Target;
  readonly connections: number;
  readonly seconds: number;
  /** Determines the requests. */
  readonly seed: number;
}

export interface Target {
  readonly kind: "corestead" | "ceiling";
  readonly port: number;
  readonly token: string;
  /** How many contacts there are. */
  readonly total: number;
  /** The work of the narrow ceiling: a list by another order, a search in one field, a change of one number. */
  readonly narrow?: boolean;
  /** More of each new contact. */
  readonly data?: Readonly<Record<string, string>>;
  /** More of each list's address. */
  readonly query?: string;
}

export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export type LoadAnswer = { readonly measured: Measured } | { readonly error: string };

/** One request and its right answer. */
export interface Exchange {
  /** As it goes over the wire. */
  readonly request: string;
  readonly status: number;
  /** Text that the body must contain. */
  readonly contains: string;
  /** Whether the whole body is right. Called now and then, because parsing costs more than the rest of the client. */
  readonly verify?: (body: string) => boolean;
}

if (import.meta.main) {
  process.on("message", (load: Load) => {
    measure(load).then(
      (measured) => process.send?.({ measured }),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  process.on("disconnect", () => process.exit(0));
}

async function measure({ operation, target, seed, ...loop }: Load): Promise<Measured> {
  const random = randomSequence(seed);
  return summaryOf(await runLoop({ ...loop, port: target.port, next: () => operations[operation](target, random) }));
}

export function summaryOf({ latencies, ...result }: LoopResult): Measured {
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? NaN;
  return { ...result, p50: at(0.5), p99: at(0.99) };
}

type Make = (target: Target, random: () => number) => Exchange;

export const operations = {
  get(target, random) {
    const n = pick(random, target.total);
    const path = target.kind === "corestead" ? `${records}/${idOf(n)}.json` : `/contacts/${idOf(n)}`;
    // Another operation may have changed the contact, but not its name.
    const verify = (body: string) => contactIn(target, body).name === contactOf(n, target.total).name;
    return { request: get(target, path), status: 200, contains: idOf(n), verify };
  },

  list(target, random) {
    const city = cityOf(pick(random, target.total), target.total);
    const value = encodeURIComponent(city);
    const order = target.narrow ? "visits" : "joined_at";
    const own = `/core/dbs/contacts/search.json?filter[city]=${value}&sort=-${order}&limit=20${target.query ?? ""}`;
    const path = target.kind === "corestead" ? own : `/contacts?city=${value}&limit=20`;
    const verify = (body: string) => {
      const found: Contact[] = JSON.parse(body);
      const keys = found.map(({ joined_at, visits }) => (target.narrow ? visits : Date.parse(joined_at)));
      const sorted = keys.every((key, i) => i === 0 || key <= (keys[i - 1] ?? 0));
      return found.length === 20 && sorted && found.every((contact) => contact.city === city);
    };
    return { request: get(target, path), status: 200, contains: city, verify };
  },

  /** A filter whose matches grow with the table (one contact in seventy), in another field's order. Corestead only. */
  filter(target, random) {
    const age = 18 + pick(random, 70);
    const path = `/core/dbs/contacts/search.json?filter[age]=${age}&sort=-joined_at&limit=20`;
    const verify = (body: string) => JSON.parse(body).every((contact: Contact) => contact.age === age);
    return { request: get(target, path), status: 200, contains: '"id":', verify };
  },

  search(target, random) {
    const fragment = fragmentOf(pick(random, target.total), random);
    const within = target.narrow ? "&search_in=name" : "";
    const own = `/core/dbs/contacts/search.json?q=${fragment}${within}&limit=20`;
    const path = target.kind === "corestead" ? own : `/search?q=${fragment}&limit=20`;
    const holds = ({ name, email, city }: Contact) => `${name} ${email} ${city}`.toLowerCase().includes(fragment);
    const verify = (body: string) => {
      const found: Contact[] = JSON.parse(body);
      return found.length > 0 && found.length <= 20 && found.every(holds);
    };
    return { request: get(target, path), status: 200, contains: '"id":', verify };
  },

  patch(target, random) {
    const id = idOf(pick(random, target.total));
    const visits = pick(random, 100_000);
    const changes = target.narrow ? { visits } : { visits, phone: `+48 ${100_000_000 + pick(random, 900_000_000)}` };
    const own = target.kind === "corestead";
    const path = own ? `${records}/${id}.json` : `/contacts/${id}`;
    const body = own ? { record: { data: changes } } : changes;
    const verify = (text: string) => contactIn(target, text).visits === visits;
    return { request: send(target, "PATCH", path, body), status: 200, contains: `${visits}`, verify };
  },

  create(target, random) {
    // Of so many numbers that none comes twice: an e-mail may be unique.
    const contact = contactOf(pick(random, 2 ** 16) * 2 ** 31 + pick(random, 2 ** 31), target.total);
    const own = target.kind === "corestead";
    const body = own ? { record: { data: { ...contact, ...target.data } } } : contact;
    const verify = (text: string) => contactIn(target, text).email === contact.email;
    const request = send(target, "POST", own ? `${records}.json` : "/contacts", body);
    return { request, status: 201, contains: contact.email, verify };
  },

  /** A page of a site from the cache. Corestead only. */
  page: () => ({ request: "GET /cached HTTP/1.1\r\nHost: bench.test\r\n\r\n", status: 200, contains: "</html>" }),

  /** A page of 31 kB that is rendered for each visitor, by a parameter of its own. Corestead only. */
  render: (_target, random) => ({
    request: `GET /rendered?r=${pick(random, 2 ** 31)} HTTP/1.1\r\nHost: bench.test\r\n\r\n`,
    status: 200,
    contains: "</html>",
  }),
} satisfies Record<string, Make>;

const records = "/core/dbs/contacts/records";

/** Corestead returns what the caller stored under `data`. */
function contactIn({ kind }: Target, body: string): Partial<Contact> {
  const answer: { data: Partial<Contact> } & Partial<Contact> = JSON.parse(body);
  return kind === "corestead" ? answer.data : answer;
}

function get({ token }: Target, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
}

export function send({ token }: Pick<Target, "token">, method: string, path: string, body: unknown): string {
  const text = JSON.stringify(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

export interface LoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly next: () => Exchange;
}

export interface LoopResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: Float64Array;
}

interface Connection {
  exchange: Exchange;
  sentAt: number;
  /** The part received so far of an answer in several pieces. */
  received: Buffer;
}

const maxRequests = 400_000;
/** How often an answer is parsed in full; of all others, status, length and one part are compared. */
const parseEvery = 64;

/** Throws at the first wrong answer, or if a connection breaks. */
export async function runLoop({ port, connections, seconds, next }: LoopOptions): Promise<LoopResult> {
  const latencies = new Float64Array(maxRequests);
  const start = performance.now();
  const end = start + seconds * 1000;
  let [finished, open, lastAt] = [0, connections, start];
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const sendNext = (socket: Bun.Socket<Connection>) => {
    const { request } = (socket.data.exchange = next());
    socket.data.received = Buffer.alloc(0);
    socket.data.sentAt = performance.now();
    if (socket.write(request) !== Buffer.byteLength(request)) reject(new Error("a request did not fit its socket"));
  };
  const onData = (socket: Bun.Socket<Connection>, piece: Buffer) => {
    const { data } = socket;
    data.received = data.received.length === 0 ? Buffer.from(piece) : Buffer.concat([data.received, piece]);
    const bodyAt = bodyIn(data.received);
    if (bodyAt === undefined) return;
    lastAt = performance.now();
    latencies[finished++] = lastAt - data.sentAt;
    checkAnswer(data.exchange, data.received, bodyAt, finished % parseEvery === 0);
    if (lastAt < end && finished + open <= maxRequests) return sendNext(socket);
    data.sentAt = Number.NaN;
    socket.end();
    if (--open === 0) resolve();
  };
  const socket = {
    open: sendNext,
    data(one: Bun.Socket<Connection>, piece: Buffer) {
      try {
        onData(one, piece);
      } catch (error) {
        reject(error);
        one.terminate();
      }
    },
    close: ({ data }: Bun.Socket<Connection>) => {
      if (!Number.isNaN(data.sentAt)) reject(new Error("the server closed a connection"));
    },
    error: (_: unknown, error: Error) => reject(error),
  };
  const fresh = () => ({ exchange: { request: "", status: 0, contains: "" }, sentAt: 0, received: Buffer.alloc(0) });
  const connect = () => Bun.connect<Connection>({ hostname: "127.0.0.1", port, data: fresh(), socket });
  await Promise.all(Array.from({ length: connections }, connect));
  await promise;
  return {
    requests: finished,
    seconds: (lastAt - start) / 1000,
    latencies: latencies.subarray(0, finished).toSorted(),
  };
}

/** Returns where the body begins, once all of it has arrived. */
function bodyIn(answer: Buffer): number | undefined {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = answer.toString("latin1", 0, headEnd + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${head}`);
  return answer.length < headEnd + 4 + Number(length) ? undefined : headEnd + 4;
}

function checkAnswer({ request, ...right }: Exchange, answer: Buffer, bodyAt: number, whole: boolean): void {
  const status = Number(answer.toString("latin1", 9, 12));
  const isRight = status === right.status && answer.includes(right.contains, bodyAt);
  if (isRight && (!whole || !right.verify || right.verify(answer.toString("utf8", bodyAt)))) return;
  const line = request.split("\r\n", 1)[0];
  throw new Error(`${line} was answered wrongly: ${status} ${answer.toString("utf8", bodyAt, bodyAt + 500)}`);
}

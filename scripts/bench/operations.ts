/** The benchmarked requests in Corestead's form and the ceiling's, with the right answer to each. */
import type { CeilingName } from "./processes.ts";
import { cityOf, contactOf, fragmentOf, idOf, pick, type Contact } from "./contacts.ts";

/** One request and its right answer. */
export interface Exchange {
  /** The request as it goes over the wire. */
  readonly request: string;
  readonly status: number;
  /** Text that the body must contain. */
  readonly contains: string;
  /** Whether the whole body is right. Called now and then, because parsing costs more than the rest of the client. */
  readonly verify: (body: string) => boolean;
}

export interface Target {
  readonly kind: "corestead" | "ceiling";
  readonly port: number;
  readonly token: string;
  /** The path of Corestead's database, e.g. `/core/dbs/contacts`. */
  readonly path: string;
  /** How many contacts are seeded. */
  readonly total: number;
  /** The work of the ceiling of that name; `wide` where none is given. */
  readonly work?: CeilingName;
}

export const operationNames = ["get", "list", "search", "patch", "create"] as const;
export type OperationName = (typeof operationNames)[number];

type Make = (target: Target, random: () => number) => Exchange;

export const operations: Record<OperationName | "sorted" | "recent" | "filtered" | "prompt" | "site", Make> = {
  get(target, random) {
    const n = pick(random, target.total);
    const id = idOf(n);
    const path = target.kind === "corestead" ? `${target.path}/records/${id}.json` : `/contacts/${id}`;
    // Another operation may have changed the contact, but not its name.
    const verify = (body: string) => contactIn(target, JSON.parse(body)).name === contactOf(n, target.total).name;
    return { request: get(target, path), status: 200, contains: id, verify };
  },

  list(target, random) {
    const city = cityOf(pick(random, target.total), target.total);
    const value = encodeURIComponent(city);
    const order = isNarrow(target) ? "visits" : "joined_at";
    const path =
      target.kind === "corestead"
        ? `${target.path}/search.json?filter[city]=${value}&sort=-${order}&limit=20`
        : `/contacts?city=${value}&limit=20`;
    const verify = (body: string) => {
      const found: Contact[] = JSON.parse(body);
      const keys = found.map(({ joined_at, visits }) => (isNarrow(target) ? visits : Date.parse(joined_at)));
      const sorted = keys.every((key, i) => i === 0 || key <= (keys[i - 1] ?? 0));
      return found.length === 20 && sorted && found.every((contact) => contact.city === city);
    };
    return { request: get(target, path), status: 200, contains: city, verify };
  },

  search(target, random) {
    const n = pick(random, target.total);
    const fragment = fragmentOf(n, random);
    const within = isNarrow(target) ? "&search_in=name" : "";
    const path =
      target.kind === "corestead"
        ? `${target.path}/search.json?q=${fragment}${within}&limit=20`
        : `/search?q=${fragment}&limit=20`;
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
    const changes = isNarrow(target) ? { visits } : { visits, phone: `+48 ${100_000_000 + pick(random, 900_000_000)}` };
    const corestead = target.kind === "corestead";
    const path = corestead ? `${target.path}/records/${id}.json` : `/contacts/${id}`;
    const body = corestead ? { record: { data: changes } } : changes;
    const verify = (text: string) => {
      const contact = contactIn(target, JSON.parse(text));
      return (
        Object.entries(changes).every(([name, value]) => Object.is(Object(contact)[name], value)) && "name" in contact
      );
    };
    return { request: send(target, "PATCH", path, body), status: 200, contains: `${visits}`, verify };
  },

  create(target, random) {
    const contact = contactOf(pick(random, 2 ** 31), target.total);
    const corestead = target.kind === "corestead";
    const path = corestead ? `${target.path}/records.json` : "/contacts";
    const body = corestead ? { record: { data: contact } } : contact;
    const verify = (text: string) => contactIn(target, JSON.parse(text)).email === contact.email;
    return { request: send(target, "POST", path, body), status: 201, contains: contact.email, verify };
  },

  /** The first page of all contacts. Corestead only. */
  sorted: (target) => ({
    request: get(target, `${target.path}/search.json?sort=-joined_at&limit=20`),
    status: 200,
    contains: '"id":',
    verify: (body) => JSON.parse(body).length === 20,
  }),

  /** A filter whose matches grow with the table (one contact in seventy), in order of creation. Corestead only. */
  recent: (target, random) => ofAge(target, random, "-created_at"),

  /** The same, ordered by another field. Corestead only. */
  filtered: (target, random) => ofAge(target, random, "-joined_at"),

  /** A rendered prompt; `path` is its address. */
  prompt: (target) => ({
    request: get(target, target.path),
    status: 200,
    contains: target.token,
    verify: (body) => !body.includes("{{ TOKEN }}"),
  }),

  site: sitePage,
};

/** A list by another order, a search in one field, a patch of one number: what the narrow ceiling's indexes are for. */
function isNarrow({ work }: Target): boolean {
  return work === "narrow";
}

/** A page of a site: `path` is its host and path, in which `{n}` stands for an even number below `total`. */
function sitePage({ path, total }: Target, random: () => number): Exchange {
  const slash = path.indexOf("/");
  // `{r}` makes all requests different, so that none waits for another's answer.
  const even = 2 * pick(random, Math.ceil(total / 2));
  const asked = path
    .slice(slash)
    .replace("{n}", `${even}`)
    .replace("{r}", `${pick(random, 2 ** 31)}`);
  const request = `GET ${asked} HTTP/1.1\r\nHost: ${path.slice(0, slash)}\r\n\r\n`;
  return { request, status: 200, contains: "</html>", verify: (body) => body.startsWith("<!doctype html>") };
}

function ofAge(target: Target, random: () => number, sort: string): Exchange {
  const age = 18 + pick(random, 70);
  const verify = (body: string) => {
    const found: Contact[] = JSON.parse(body);
    return found.length === 20 && found.every((contact) => contact.age === age);
  };
  const path = `${target.path}/search.json?filter[age]=${age}&sort=${sort}&limit=20`;
  return { request: get(target, path), status: 200, contains: '"id":', verify };
}

/** Corestead returns what the caller stored under `data`. */
function contactIn(target: Target, answer: { data: Partial<Contact> } & Partial<Contact>): Partial<Contact> {
  return target.kind === "corestead" ? answer.data : answer;
}

function get(target: Target, path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${target.token}\r\n\r\n`;
}

function send(target: Target, method: string, path: string, body: unknown): string {
  const text = JSON.stringify(body);
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${target.token}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/**
 * A pooler in transaction mode, like pgbouncer 1.21 and later: a client gets a session of the server for the length of
 * a transaction. It refuses unknown settings, keeps prepared statements, and loses LISTEN.
 *
 *     const pooler = await startPooler(target);
 *     const sql = openPool({ url: pooler.url }, { pooled: true });
 */
import { connect, createServer, type Socket } from "node:net";
import type { SocketTarget } from "../runtime/db/db.ts";
import { eventually } from "./harness.ts";

export interface Pooler {
  readonly url: string;
  close(): Promise<void>;
}

interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

/** A session of the server. */
interface Session {
  readonly socket: Socket;
  readonly prepared: Set<string>;
  /** Of each ParseComplete that is to come, whether the client waits for it. */
  readonly parses: boolean[];
  client?: Client | undefined;
}

interface Client {
  readonly socket: Socket;
  readonly prepared: Map<string, Buffer>;
  readonly unsent: Message[];
  session?: Session | undefined;
}

const knownSettings = ["user", "database", "client_encoding", "application_name", "timezone", "datestyle"];
const sessions = 3;

export async function startPooler({ socketDir, port, user, database }: SocketTarget): Promise<Pooler> {
  const idle: Session[] = [];
  const waiting: Client[] = [];
  const open = new Set<Socket>();
  const greeting: Buffer[] = [];

  const serve = (client: Client): void => {
    client.session ??= idle.pop();
    if (!client.session) return void (waiting.includes(client) || waiting.push(client));
    client.session.client = client;
    for (const message of client.unsent.splice(0)) forward(client, client.session, message);
  };
  const leave = (session: Session): void => {
    if (session.client) session.client.session = undefined;
    session.client = undefined;
    idle.push(session);
    const next = waiting.shift();
    if (next) serve(next);
  };
  const fromServer = (session: Session, { type, bytes }: Message): void => {
    if (type === "S" && idle.length + waiting.length === 0 && !session.client) greeting.push(bytes);
    const wanted = type !== "1" || session.parses.shift() !== false;
    if (wanted && session.client) session.client.socket.write(bytes);
    if (type === "Z" && bytes[5] === "I".charCodeAt(0)) leave(session);
  };
  const startSession = (): void => {
    const socket = connect(`${socketDir}/.s.PGSQL.${port}`);
    const session: Session = { socket, prepared: new Set(), parses: [] };
    open.add(socket);
    const read = messageReader((message) => fromServer(session, message));
    socket.on("data", read).on("error", () => socket.destroy());
    socket.write(startup({ user, database, TimeZone: "UTC", DateStyle: "ISO", client_encoding: "UTF8" }));
  };
  for (let n = 0; n < sessions; n++) startSession();
  await eventually(() => idle.length === sessions, "sessions of the server");

  const server = createServer((socket) => {
    open.add(socket);
    const client: Client = { socket, prepared: new Map(), unsent: [] };
    const read = messageReader((message) => {
      if (message.type === "X") socket.end();
      else {
        client.unsent.push(message);
        serve(client);
      }
    });
    socket.once("data", (bytes: Buffer) => {
      const unknown = settingsOf(bytes).find((name) => !knownSettings.includes(name.toLowerCase()));
      const key = packed("K", Buffer.from(crypto.getRandomValues(new Uint8Array(8))));
      const welcome = Buffer.concat([packed("R", Buffer.alloc(4)), ...greeting, key, packed("Z", Buffer.from("I"))]);
      if (unknown !== undefined) socket.end(refusal(`unsupported startup parameter: ${unknown}`));
      else socket.on("data", read).write(welcome);
    });
    socket.on("error", () => socket.destroy());
    // Like pgbouncer, never reuses a session whose client disconnected in the middle of something.
    socket.on("close", () => {
      open.delete(socket);
      if (!client.session) return;
      client.session.client = undefined;
      client.session.socket.destroy();
      startSession();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("the pooler has no port");
  return {
    url: `postgres://${user}@127.0.0.1:${address.port}/${database}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/** Prepares a statement first if this session has not seen it. */
function forward(client: Client, session: Session, { type, bytes }: Message): void {
  const name = nameIn(type, bytes);
  if (name && type === "P") client.prepared.set(name, bytes);
  const missing = name && type !== "P" && !session.prepared.has(name) ? client.prepared.get(name) : undefined;
  if (missing) {
    session.parses.push(false);
    session.socket.write(missing);
  }
  if (type === "P") session.parses.push(true);
  if (name) session.prepared.add(name);
  session.socket.write(bytes);
}

/** The statement's name in Parse, Bind and Describe. */
function nameIn(type: string, bytes: Buffer): string | undefined {
  const textAt = (start: number) => bytes.toString("utf8", start, bytes.indexOf(0, start));
  if (type === "P") return textAt(5);
  if (type === "B") return textAt(bytes.indexOf(0, 5) + 1);
  if (type === "D" && bytes[5] === "S".charCodeAt(0)) return textAt(6);
  return undefined;
}

function messageReader(give: (message: Message) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1;
      const message = { type: String.fromCharCode(rest[0] ?? 0), bytes: Buffer.from(rest.subarray(0, end)) };
      rest = rest.subarray(end);
      give(message);
    }
  };
}

function settingsOf(startupMessage: Buffer): string[] {
  const words = startupMessage.toString("utf8", 8).split("\0");
  return words.filter((word, at) => at % 2 === 0 && word !== "");
}

function startup(settings: Readonly<Record<string, string>>): Buffer {
  const words = Buffer.from(`${Object.entries(settings).flat().join("\0")}\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(words.length + 8, 0);
  head.writeUInt32BE(196_608, 4);
  return Buffer.concat([head, words]);
}

function packed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function refusal(text: string): Buffer {
  return packed("E", Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`));
}

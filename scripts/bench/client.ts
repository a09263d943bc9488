/**
 * A loop of HTTP/1.1 requests over keep-alive connections: each connection sends its next request after the answer to
 * the last (closed), or with `perSecond` when it is due (open), as visitors come who do not wait for each other. Uses raw sockets, because the client shares processors with the server that it measures (README).
 */
import type { Exchange } from "./operations.ts";

export interface LoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly maxRequests: number;
  readonly next: () => Exchange;
  /** Of all connections together; undefined: as many as are answered. */
  readonly perSecond?: number | undefined;
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
  /** When the present request was to be sent. */
  dueAt: number;
  /** The part received so far of an answer in several pieces. */
  pieces: Buffer[];
  missing: number;
}

/** How often an answer is parsed in full; of all others, status, length and one part are compared. */
const parseEvery = 64;
const headEnd = Buffer.from("\r\n\r\n");

/** Throws at the first wrong answer, or if a connection breaks. */
export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const latencies = new Float64Array(options.maxRequests);
  const start = performance.now();
  const end = start + options.seconds * 1000;
  let finished = 0;
  let open = options.connections;
  let lastAt = start;
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const send = (socket: Bun.Socket<Connection>) => {
    const connection = socket.data;
    connection.exchange = options.next();
    const { request } = connection.exchange;
    if (socket.write(request) !== Buffer.byteLength(request))
      reject(new Error("a request did not fit into its socket"));
  };
  const intervalMs = options.perSecond === undefined ? 0 : (options.connections / options.perSecond) * 1000;
  const sendWhenDue = (socket: Bun.Socket<Connection>) => {
    const now = performance.now();
    const { data } = socket;
    data.dueAt = intervalMs > 0 ? data.dueAt + intervalMs : now;
    // A request that waited for the answer to the one before it has waited from when it was due.
    data.sentAt = Math.min(now, data.dueAt);
    if (data.dueAt <= now) return send(socket);
    setTimeout(() => {
      data.sentAt = performance.now();
      send(socket);
    }, data.dueAt - now);
  };
  const onAnswer = (socket: Bun.Socket<Connection>, answer: Buffer, bodyAt: number) => {
    const now = performance.now();
    latencies[finished++] = now - socket.data.sentAt;
    lastAt = now;
    checkAnswer(socket.data.exchange, answer, bodyAt, finished % parseEvery === 0);
    if (now < end && finished + open <= options.maxRequests) return sendWhenDue(socket);
    socket.data.missing = -1;
    socket.end();
    if (--open === 0) resolve();
  };
  const onData = (socket: Bun.Socket<Connection>, data: Buffer) => {
    const connection = socket.data;
    if (connection.pieces.length > 0) {
      connection.pieces.push(data);
      connection.missing -= data.length;
      if (connection.missing > 0) return;
      data = Buffer.concat(connection.pieces);
      connection.pieces = [];
    }
    const bodyAt = data.indexOf(headEnd) + 4;
    // A large answer may be split anywhere, even in its head.
    if (bodyAt < 4) {
      connection.pieces.push(Buffer.from(data));
      connection.missing = 1;
      return;
    }
    const missing = bodyAt + contentLength(data.toString("latin1", 0, bodyAt)) - data.length;
    if (missing < 0) throw new Error("more came than the answer");
    if (missing === 0) return onAnswer(socket, data, bodyAt);
    connection.pieces.push(Buffer.from(data));
    connection.missing = missing;
  };

  await Promise.all(
    Array.from({ length: options.connections }, (_, place) =>
      Bun.connect<Connection>({
        hostname: "127.0.0.1",
        port: options.port,
        data: {
          exchange: { request: "", status: 0, contains: "", verify: () => true },
          sentAt: 0,
          dueAt: start - (place / options.connections) * intervalMs,
          pieces: [],
          missing: 0,
        },
        socket: {
          open: sendWhenDue,
          data(socket, data) {
            try {
              onData(socket, data);
            } catch (error) {
              reject(error);
              socket.terminate();
            }
          },
          close: (socket) => void (socket.data.missing >= 0 && reject(new Error("the server closed a connection"))),
          error: (_socket, error) => reject(error),
        },
      }),
    ),
  );
  await promise;
  return {
    requests: finished,
    seconds: (lastAt - start) / 1000,
    latencies: latencies.subarray(0, finished).toSorted(),
  };
}

function contentLength(head: string): number {
  const found = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (found === undefined) throw new Error(`an answer without a length: ${head}`);
  return Number(found);
}

function checkAnswer(exchange: Exchange, answer: Buffer, bodyAt: number, whole: boolean): void {
  const status = Number(answer.toString("latin1", 9, 12));
  const right = status === exchange.status && answer.includes(exchange.contains, bodyAt);
  if (right && !(whole && !exchange.verify(answer.toString("utf8", bodyAt)))) return;
  const request = exchange.request.split("\r\n", 1)[0];
  throw new Error(`${request} was answered wrongly: ${status} ${answer.toString("utf8", bodyAt, bodyAt + 500)}`);
}

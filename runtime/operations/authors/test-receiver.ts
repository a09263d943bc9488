/**
 * A receiver of webhooks on this machine: it records requests, and answers as the test says.
 *
 *     const receiver = app.receiver();
 *     await eventually(() => receiver.requests.length === 1);
 */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly requests: Received[];
  /** The requests to one path. */
  readonly at: (path: string) => Received[];
  /** How requests are answered from now on; default: `ok`. */
  answer: (request: Received) => Response | Promise<Response>;
  readonly stop: () => Promise<void>;
}

export function startReceiver(): Receiver {
  const requests: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = await request.text();
      const received = {
        method: request.method,
        path: pathname,
        headers: request.headers,
        body,
        at: performance.now(),
      };
      requests.push(received);
      return receiver.answer(received);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    at: (path) => requests.filter((request) => request.path === path),
    answer: () => new Response("ok"),
    stop: () => server.stop(true),
  };
  return receiver;
}

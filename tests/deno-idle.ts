/** For deno.test.ts: a server whose connections may be silent for a second after a request. */
import { host } from "#host";

const { port } = host.listen({
  port: 0,
  hostname: "127.0.0.1",
  idleSeconds: () => 1,
  fetch: () => new Response("ok"),
});
process.stdout.write(`serves on http://127.0.0.1:${port}\n`);

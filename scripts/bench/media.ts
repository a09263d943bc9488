/**
 * Media files: `bun scripts/bench/media.ts [--quick] [--write]`. A picture in another size from the cache, beside the same
 * bytes as a static file of a Bun server that does nothing else; and the memory of the server while files of 1, 2 and 5 GB arrive.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import { runLoop } from "./client.ts";
import { median } from "./compare.ts";
import { adminToken, memoryOf, startCorestead, temporaryFolder } from "./processes.ts";
import { number, publish, table, verdict, verdictTable } from "./report.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const rounds = options.quick ? 3 : 7;
const seconds = 1.5;
const connections = 16;
const uploads = options.quick ? [250_000_000, 500_000_000] : [1_000_000_000, 2_000_000_000, 5_000_000_000];
const pieceBytes = 1_000_000;

const server = await startCorestead(await temporaryFolder());
const origin = `http://127.0.0.1:${server.port}`;
const authorization = `Bearer ${adminToken}`;
try {
  const speed = await pictures();
  const sent = [];
  for (const bytes of uploads) sent.push(await largeUpload(bytes));
  const [least = NaN, most = NaN] = [sent[0]?.most, sent.at(-1)?.most];
  const text = [
    table(["640 px from the cache", "requests/s", "static file", "ratio"], [speed.row]),
    table(
      ["upload", "seconds", "MB/s", "memory before, MB", "most, MB"],
      sent.map(({ row }) => row),
    ),
    verdictTable([
      verdict("a resized picture from the cache by a static file, requests/s", speed.ratio, { least: 0.8 }),
      verdict("most memory at the largest upload by that at the smallest", most / least, { most: 1.3 }),
    ]),
  ].join("\n\n");
  await publish("media", text, options.write);
} finally {
  await server.stop();
}
process.exit(0);

async function pictures() {
  const form = new FormData();
  form.append("is_public", "true");
  form.append("file", new Blob([gradient(1200, 800)]), "team.png");
  const made = await fetch(`${origin}/core/media.json`, { method: "POST", headers: { authorization }, body: form });
  const { id } = await made.json();
  const path = `/media/${id}/w/640.webp`;
  const picture = await fetch(origin + path);
  const file = join(await temporaryFolder(), "team.webp");
  await Bun.write(file, picture);
  const peer = await staticPeer(file, Object.fromEntries(picture.headers));
  const times: { own: number; peer: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const one = { own: await perSecond(server.port, path), peer: await perSecond(peer.port, path) };
    if (round > 0) times.push(one); // the first one warms both up
  }
  peer.stop();
  const ratio = median(times.map(({ own, peer: other }) => own / other));
  const [own, other] = [median(times.map((one) => one.own)), median(times.map((one) => one.peer))];
  const size = `${number(Bun.file(file).size / 1000, 0)} kB`;
  return { ratio, row: [`${size}, ${connections} connections`, number(own, 0), number(other, 0), number(ratio, 2)] };
}

/** A process of its own that answers with the file and these headers. */
async function staticPeer(file: string, headers: Readonly<Record<string, string>>) {
  const source = `
    const options = { headers: ${JSON.stringify({ ...headers, date: undefined, "content-length": undefined })} };
    const server = Bun.serve({ port: 0, fetch: () => new Response(Bun.file(${JSON.stringify(file)}), options) });
    console.log(server.port);`;
  const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe" });
  process.once("exit", () => child.kill());
  const { value } = await child.stdout.getReader().read();
  return { port: Number(new TextDecoder().decode(value)), stop: () => child.kill() };
}

async function perSecond(port: number, path: string): Promise<number> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;
  const exchange = { request, status: 200, contains: "WEBP", verify: (body: string) => body.includes("RIFF") };
  const result = await runLoop({ port, connections, seconds, maxRequests: 200_000, next: () => exchange });
  return result.requests / result.seconds;
}

async function largeUpload(bytes: number) {
  const tus = { authorization, "tus-resumable": "1.0.0" };
  const begun = await fetch(`${origin}/core/media/uploads`, {
    method: "POST",
    headers: { ...tus, "upload-length": `${bytes}`, "upload-metadata": `filename ${btoa(`film ${bytes}.bin`)}` },
  });
  const before = memoryOf(server.pid).now;
  const piece = new Uint8Array(pieceBytes).fill(7);
  let sent = 0;
  let most = before;
  const sample = () => (most = Math.max(most, memoryOf(server.pid).now));
  // Also while the server reads the whole for its hash.
  const sampling = setInterval(sample, 50);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(piece);
      sent += pieceBytes;
      sample();
      if (sent >= bytes) controller.close();
    },
  });
  const start = performance.now();
  const answer = await fetch(origin + begun.headers.get("location"), {
    method: "PATCH",
    headers: { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": "0" },
    body,
  });
  if (answer.status !== 204) throw new Error(`the upload was answered by ${answer.status}: ${await answer.text()}`);
  const took = (performance.now() - start) / 1000;
  clearInterval(sampling);
  sample();
  const row = [
    `${number(bytes / 1e9, 1)} GB`,
    number(took, 1),
    number(bytes / 1e6 / took, 0),
    number(before, 0),
    number(most, 0),
  ];
  return { row, most };
}

/** A picture as PNG (RFC 2083). */
function gradient(width: number, height: number): Uint8Array<ArrayBuffer> {
  const line = (y: number) =>
    Buffer.from([0, ...Array.from({ length: width * 3 }, (_, x) => (x * (y + 7)) >> (x % 3 === 0 ? 5 : 7))]);
  const uint32 = (value: number) => Buffer.from(new Uint8Array(new Uint32Array([value]).buffer).toReversed());
  const chunk = (name: string, content: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name), content]);
    return Buffer.concat([uint32(content.length), named, uint32(crc32(named))]);
  };
  const head = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 2, 0, 0, 0])]);
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, (_, y) => line(y))));
  const start = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  const parts = [start, chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", new Uint8Array())];
  return new Uint8Array(Buffer.concat(parts));
}

import { answer, field, notFound, ok, route, Type, type BaseContext, type RequestInput, type Route } from "platform";

/** The proof that it is `corestead doctor` of this installation: a time, signed with the secret key. */
const proofHeader = "x-corestead-probe";
const proofMs = 300_000;
/** The largest body that is read. */
const maxBytes = 32_000_000;
/** So long that a proxy which keeps the first event back until the end is told from a slow line. */
const pauseMs = 2_000;

const Probe = answer.object("Probe", {
  host: Type.String({ description: "the host that was asked for, as the server understands it" }),
  ip: Type.String({ description: "the client's address, or that of a proxy whose headers do not count" }),
  forwarded_host: field.nullable(Type.String()),
  forwarded_proto: field.nullable(Type.String()),
  forwarded_for: field.nullable(Type.String()),
  bytes: Type.Integer({ description: "of the body, as it arrived" }),
});
const example = {
  host: "core.example.com",
  ip: "203.0.113.9",
  forwarded_host: null,
  forwarded_proto: "https",
  forwarded_for: "203.0.113.9",
  bytes: 0,
};
const access = { open: "`corestead doctor` proves with the secret key that it may ask" } as const;
const description = `Answers \`corestead doctor\` alone, which sends a proof in the header \`${proofHeader}\`; for everybody else it does not exist.`;

/** Echoes a request, so that `corestead doctor` can tell what a proxy in front changes. */
export function probeRoutes({ secrets }: Pick<BaseContext, "secrets">): Route[] {
  const check = ({ request }: Pick<RequestInput, "request">): void => {
    const at = Number(secrets.verify("probe", request.headers.get(proofHeader) ?? "") ?? Number.NaN);
    if (!(Math.abs(Date.now() - at) < proofMs)) throw notFound();
  };
  return [
    route(
      "POST",
      "/core/probe",
      {
        summary: "What of a request arrives here",
        description,
        access,
        input: "stream",
        onSites: true,
        takes: [answer.text("application/octet-stream")],
        request: "any bytes",
        reads: () => true,
        answers: { 200: Probe },
        responses: { 200: example, 404: { error: "not found" } },
      },
      async (input) => {
        check(input);
        const { headers } = input.request;
        return ok({
          host: input.host,
          ip: input.ip,
          forwarded_host: headers.get("x-forwarded-host"),
          forwarded_proto: headers.get("x-forwarded-proto"),
          forwarded_for: headers.get("x-forwarded-for"),
          bytes: await sizeOf(input.request.body),
        });
      },
    ),
    route(
      "GET",
      "/core/probe/events",
      {
        summary: "Two events, the second some seconds after the first",
        description,
        access,
        onSites: true,
        answers: { 200: answer.text("text/event-stream") },
        responses: { 200: "data: 1\n\ndata: 2\n\n", 404: { error: "not found" } },
      },
      (input) => {
        check(input);
        return new Response(twoEvents(), { headers: streamHeaders });
      },
    ),
  ];
}

// As of the streams of databases.
const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

function twoEvents(): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode("data: 1\n\n"));
      timer = setTimeout(() => {
        controller.enqueue(encoder.encode("data: 2\n\n"));
        controller.close();
      }, pauseMs);
    },
    cancel: () => clearTimeout(timer),
  });
}

async function sizeOf(body: ReadableStream<Uint8Array> | null): Promise<number> {
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) break;
  }
  return bytes;
}

/** Resumable uploads by tus 1.0.0: `/core/media/uploads`. behaviour B.15. */
import {
  created,
  field,
  noContent,
  ok,
  route,
  Type,
  unsupportedType,
  uuidOf,
  answer,
  warned,
  type Route,
  badRequest,
  HttpError,
  invalid,
} from "platform";
import type { UploadRow } from "./store.ts";
import type { MediaContext } from "../context.ts";
import * as uploads from "./uploads.ts";

const access = { privilege: "media" } as const;
const partType = "application/offset+octet-stream";

const Upload = answer.object("MediaUpload", {
  id: Type.String({ format: "uuid" }),
  size: Type.Integer(),
  offset: Type.Integer(),
  media_id: field.nullable(Type.String({ format: "uuid" })),
  expires_at: answer.time(),
});

const example = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e11",
  size: 5_000_000_000,
  offset: 70_000_000,
  media_id: null,
  expires_at: "2026-02-01T10:00:00.000Z",
};

export function uploadRoutes(ctx: MediaContext): Route[] {
  const own = { "tus-resumable": tusVersion, "cache-control": "no-store" };
  const about = { "tus-version": tusVersion, "tus-extension": extensions, "tus-max-size": `${ctx.maxBytes}` };
  const always = { "tus-resumable": tusVersion, ...about };
  const stateOf = (row: UploadRow, offset: number) => ({
    ...own,
    "upload-offset": `${offset}`,
    "upload-length": `${row.size}`,
    "upload-expires": row.expiresAt.toUTCString(),
  });
  /** The media file that it has become. */
  const placeOf = (mediaId: string | null) => (mediaId === null ? {} : { location: `/core/media/${mediaId}.json` });
  return [
    route(
      "POST",
      "/core/media/uploads",
      {
        summary: "Begin a resumable upload (tus 1.0.0)",
        description: `For files of any size over connections that break: tus-js-client and the like send a file by it. Headers: \`Tus-Resumable: ${tusVersion}\`, \`Upload-Length\`, and \`Upload-Metadata\` with \`filename\`, \`folder\`, \`is_public\`, \`titles\` and \`alts\`, each value in Base64. \`Location\` is where the parts go. A body of the type \`${partType}\` is the first part. An upload that nobody goes on with for a day is removed.`,
        access,
        always,
        input: "stream",
        idempotency: "own",
        takes: [Type.String({ contentMediaType: partType })],
        request: "the first bytes",
        answers: { 201: Upload },
        responses: { 201: { ...example, offset: 0 }, 412: { error: `send the header Tus-Resumable: ${tusVersion}` } },
      },
      async ({ caller, request }) => {
        const { headers } = request;
        mustSpeakTus(headers);
        const row = await uploads.start(
          ctx,
          caller,
          bytesOf(headers, "Upload-Length"),
          metadataOf(headers.get("Upload-Metadata")),
        );
        // A part comes along; an empty file has come whole.
        const isPart = headers.get("content-type") === partType && row.size > 0;
        const { offset, mediaId } =
          isPart || row.size === 0
            ? await uploads.append(ctx, caller, { id: row.id, offset: 0, body: isPart ? request.body : null })
            : { offset: 0, mediaId: null };
        const place = { location: `/core/media/uploads/${row.id}`, ...about };
        return created(shown({ ...row, mediaId }, offset), { ...stateOf(row, offset), ...place });
      },
    ),
    route(
      "GET",
      "/core/media/uploads/:id",
      {
        summary: "How far a resumable upload is",
        description: "HEAD is what tus asks for: `Upload-Offset` and `Upload-Length`.",
        access,
        always,
        answers: { 200: Upload },
        responses: { 200: example },
      },
      async ({ caller, params }) => {
        const { row, offset } = await uploads.progress(ctx, caller, uuidOf(params.id));
        return ok(shown(row, offset), stateOf(row, offset));
      },
    ),
    route(
      "PATCH",
      "/core/media/uploads/:id",
      {
        summary: "Send a part of a resumable upload",
        description: `The body is a part of the type \`${partType}\`, from \`Upload-Offset\` on: 409 if the upload is elsewhere, 423 while another request writes, 413 beyond \`Upload-Length\`. What has arrived when a connection breaks stays. The last part makes the media file, whose address is \`Location\`.`,
        access,
        always,
        input: "stream",
        takes: [Type.String({ contentMediaType: partType })],
        request: "the next bytes",
        responses: {
          204: null,
          409: { error: "the upload goes on at byte 70000000" },
          412: { error: `send the header Tus-Resumable: ${tusVersion}` },
          423: { error: "another request writes to this upload" },
        },
      },
      async ({ caller, request, params }) => {
        const { id } = await uploads.find(ctx, caller, uuidOf(params.id));
        mustSpeakTus(request.headers);
        if (request.headers.get("content-type") !== partType) throw unsupportedType(`send ${partType}`);
        const given = { id, offset: bytesOf(request.headers, "Upload-Offset"), body: request.body };
        const { row, offset, mediaId, hints } = await uploads.append(ctx, caller, given);
        return warned(noContent({ ...stateOf(row, offset), ...placeOf(mediaId) }), hints);
      },
    ),
    route(
      "DELETE",
      "/core/media/uploads/:id",
      {
        summary: "End a resumable upload, and forget what has arrived",
        access,
        always,
        responses: { 204: null, 412: { error: `send the header Tus-Resumable: ${tusVersion}` } },
      },
      async ({ caller, request, params }) => {
        const { id } = await uploads.find(ctx, caller, uuidOf(params.id));
        mustSpeakTus(request.headers);
        await uploads.end(ctx, caller, id);
        return noContent(own);
      },
    ),
  ];
}

function shown({ id, size, mediaId: media_id, expiresAt: expires_at }: UploadRow, offset: number) {
  return { id, size, offset, media_id, expires_at };
}

const tusVersion = "1.0.0";
const extensions = "creation,creation-with-upload,expiration,termination";
/** 412 for a client of another version. */
function mustSpeakTus(headers: Headers): void {
  if (headers.get("tus-resumable") === tusVersion) return;
  const error = `send the header Tus-Resumable: ${tusVersion}`;
  throw new HttpError(412, { error }, { "tus-version": tusVersion, "tus-resumable": tusVersion });
}

/** A count of bytes in a header. 400 for anything else. */
function bytesOf(headers: Headers, name: string): number {
  const text = headers.get(name);
  if (text === null) throw badRequest(`the header ${name} is required`);
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`the header ${name} must be a number of bytes`);
  return Number(text);
}

/** `filename d29ybGQ=,is_public dHJ1ZQ==` -> what the form of an upload would say. 422 for what cannot be read. */
function metadataOf(header: string | null): Record<string, string> {
  if (header === null || header.trim() === "") return {};
  return Object.fromEntries(
    header.split(",").map((pair) => {
      const [key = "", value = "", ...rest] = pair.trim().split(" ");
      if (key === "" || rest.length > 0) throw metadataFault("must be pairs of a key and a value in Base64");
      return [key, textOf(key, value)];
    }),
  );
}

function textOf(key: string, value: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(value));
  } catch {
    throw metadataFault(`has no Base64 of UTF-8 as "${key.slice(0, 50)}"`);
  }
}

function metadataFault(message: string): HttpError {
  return invalid({ "Upload-Metadata": [message] });
}

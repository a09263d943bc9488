/** The headers of tus 1.0.0 (https://tus.io/protocols/resumable-upload). Pure. */
import { badRequest, HttpError, invalid } from "platform";

export const tusVersion = "1.0.0";
export const extensions = "creation,creation-with-upload,expiration,termination";
/** 412 for a client of another version. */
export function mustSpeakTus(headers: Headers): void {
  if (headers.get("tus-resumable") === tusVersion) return;
  const error = `send the header Tus-Resumable: ${tusVersion}`;
  throw new HttpError(412, { error }, { "tus-version": tusVersion, "tus-resumable": tusVersion });
}

/** A count of bytes in a header. 400 for anything else. */
export function bytesOf(headers: Headers, name: string): number {
  const text = headers.get(name);
  if (text === null) throw badRequest(`the header ${name} is required`);
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`the header ${name} must be a number of bytes`);
  return Number(text);
}

/** `filename d29ybGQ=,is_public dHJ1ZQ==` -> what the form of an upload would say. 422 for what cannot be read. */
export function metadataOf(header: string | null): Record<string, string> {
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

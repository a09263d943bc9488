/** Makes a mail from the parameters of a call; names every mistake by its field. Pure. */
import { mistakes } from "platform";
import { recordOf } from "../connectors/api.ts";
import { hasControl, parseAddress, splitList, type Address } from "./address.ts";

export interface Attachment {
  readonly filename: string;
  /** Base64. */
  readonly content: string;
  readonly contentType: string;
}

export interface Mail {
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly replyTo: readonly Address[];
  readonly subject: string;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly attachments: readonly Attachment[];
}

type Params = Readonly<Record<string, unknown>>;

export const limits = {
  /** In to, cc and bcc together. */
  recipients: 100,
  subjectChars: 998,
  textChars: 2_000_000,
  attachments: 20,
  /** The size of all attachments together, before base64. */
  attachmentBytes: 7_000_000,
};

/** Throws the 422 that names every wrong field. `defaults` are the connector's own `from` and `reply_to`. */
export function mailOf(params: Params, defaults: Params): Mail {
  const found = mistakes();
  const list = (field: string, value: unknown = params[field]): Address[] => {
    if (value === undefined || value === null || value === "") return [];
    const texts = Array.isArray(value) ? value : typeof value === "string" ? splitList(value) : undefined;
    if (!texts || (typeof value === "string" && hasControl(value))) {
      found.add(field, texts ? "must be one line" : "must be an address or an array of addresses");
      return [];
    }
    if (texts.length > limits.recipients) {
      found.add(field, `may have at most ${limits.recipients} addresses`);
      return [];
    }
    return texts.flatMap((text: unknown, at) => {
      const address = typeof text === "string" ? parseAddress(text) : undefined;
      if (!address) found.add(field, `${Array.isArray(value) ? `[${at}] ` : ""}is not a mail address`);
      return address ?? [];
    });
  };
  const text = (field: string): string | undefined => {
    const value = params[field];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") found.add(field, "must be a text");
    else if (value.length > limits.textChars) found.add(field, `may have at most ${limits.textChars} characters`);
    else if (value.includes("\0")) found.add(field, "must not have a NUL character");
    else return value.toWellFormed();
    return undefined;
  };

  const [from, ...furtherFrom] = list("from", params["from"] ?? defaults["from"]);
  if (furtherFrom.length > 0) found.add("from", "must be one address");
  const [to, cc, bcc] = [list("to"), list("cc"), list("bcc")];
  const replyTo = list("reply_to", params["reply_to"] ?? defaults["reply_to"]);
  const subject = subjectOf(params["subject"], (message) => found.add("subject", message));
  const body = { text: text("text"), html: text("html") };
  const attachments = attachmentsOf(params["attachments"], found.add);
  if (!found.any) {
    if (!from) found.add("from", "is required: here, or as `from` in the connector's fields");
    if (to.length + cc.length + bcc.length === 0) found.add("to", "is required");
    if (to.length + cc.length + bcc.length > limits.recipients)
      found.add("to", `may have at most ${limits.recipients} addresses, cc and bcc included`);
    if (body.text === undefined && body.html === undefined) found.add("text", "is required, or html");
  }
  found.check();
  return { from: from as Address, to, cc, bcc, replyTo, subject, ...body, attachments }; // checked just now
}

function subjectOf(value: unknown, wrong: (message: string) => void): string {
  if (value === undefined || value === null || value === "") wrong("is required");
  else if (typeof value !== "string") wrong("must be a text");
  else if (value.length > limits.subjectChars) wrong(`may have at most ${limits.subjectChars} characters`);
  else if (hasControl(value)) wrong("must be one line without control characters");
  else return value.toWellFormed();
  return "";
}

function attachmentsOf(given: unknown, wrong: (field: string, message: string) => void): Attachment[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) {
    wrong("attachments", "must be an array of { name, content, content_type }");
    return [];
  }
  if (given.length > limits.attachments) {
    wrong("attachments", `may be at most ${limits.attachments}`);
    return [];
  }
  let bytes = 0;
  const attachments = given.flatMap((one: unknown, at) => {
    const attachment = attachmentOf(recordOf(one) ?? {}, (key, message) => wrong(`attachments[${at}].${key}`, message));
    bytes += ((attachment?.content.length ?? 0) / 4) * 3;
    return attachment ?? [];
  });
  if (bytes > limits.attachmentBytes) wrong("attachments", `may have at most ${limits.attachmentBytes} bytes together`);
  return attachments;
}

type WrongKey = (key: string, message: string) => void;

function attachmentOf({ name, content, content_type: type }: Params, wrong: WrongKey): Attachment | undefined {
  const isName = typeof name === "string" && name !== "" && name.length <= 255 && !hasControl(name);
  if (!isName) wrong("name", "must be one line of at most 255 characters");
  const isContent = typeof content === "string" && isBase64(content);
  if (!isContent) wrong("content", "must be base64");
  const isType = type === undefined || type === null || (typeof type === "string" && mediaType.test(type));
  if (!isType) wrong("content_type", "must be a media type such as application/pdf");
  if (!isName || !isContent || !isType) return undefined;
  return { filename: name.toWellFormed(), content, contentType: type ?? "application/octet-stream" };
}

const mediaType = /^[A-Za-z0-9][\w.+-]{0,99}\/[A-Za-z0-9][\w.+-]{0,99}(?:; ?charset=[\w-]{1,40})?$/;

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

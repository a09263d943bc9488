/** What the routes of media answer with, and the addresses of files. */
import { answer, field, Type, type Secrets, type Static } from "platform";
import type { MediaRow } from "./store.ts";

const texts = () => Type.Unsafe<Readonly<Record<string, string>>>(Type.Record(Type.String(), Type.String()));

export const MediaFile = answer.object("MediaFile", {
  id: answer.uuid(),
  name: Type.String(),
  folder: Type.String(),
  size: Type.Integer(),
  mime: Type.String(),
  width: field.nullable(Type.Integer()),
  height: field.nullable(Type.Integer()),
  sha256: Type.String(),
  is_public: Type.Boolean(),
  url: Type.String(),
  titles: texts(),
  alts: texts(),
  created_at: answer.time(),
  updated_at: answer.time(),
});

export const mediaExample = {
  id: "0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f",
  name: "team.jpg",
  folder: "team",
  size: 284_113,
  mime: "image/jpeg",
  width: 1600,
  height: 1067,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  is_public: true,
  url: "/media/0198c5d2-7a1b-7c3d-8e4f-5a6b7c8d9e0f/team.jpg",
  titles: { en: "Our team" },
  alts: { en: "Four people around a table", pl: "Cztery osoby przy stole" },
  created_at: "2026-01-31T10:00:00.000Z",
  updated_at: "2026-01-31T10:00:00.000Z",
};

export const MediaFolder = answer.object("MediaFolder", {
  path: Type.String(),
  files: Type.Integer(),
  bytes: Type.Integer(),
});

export const MediaUse = answer.object("MediaUse", {
  model: Type.String(),
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  site_code: field.nullable(Type.String()),
});

export const MediaLink = answer.object("MediaLink", { url: Type.String(), expires_at: answer.time() });

export function toApi(row: MediaRow): Static<typeof MediaFile> {
  return {
    id: row.id,
    name: row.name,
    folder: row.folder,
    size: row.size,
    mime: row.mime,
    width: row.width,
    height: row.height,
    sha256: row.hash,
    is_public: row.isPublic,
    url: addressOf(row),
    titles: row.titles,
    alts: row.alts,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

/** Below the address of the account, and of each of its sites. */
export function addressOf({ id, name }: Pick<MediaRow, "id" | "name">): string {
  return `/media/${id}/${encodeURIComponent(name)}`;
}

type Named = Pick<MediaRow, "accountId" | "id">;

const purpose = "media link";

/** The query that opens a file to whoever has it, for so long. */
export function linkTo(secrets: Pick<Secrets, "sign">, row: Named, seconds: number) {
  const expires = `${Math.floor(Date.now() / 1000) + seconds}`;
  const signed = secrets.sign(purpose, payload(row, expires));
  const signature = signed.slice(signed.lastIndexOf(".") + 1);
  return { query: `expires=${expires}&signature=${signature}`, expiresAt: new Date(Number(expires) * 1000) };
}

/** How many seconds a link's query still opens this file; 0 if it does not. */
export function secondsLeft(secrets: Pick<Secrets, "verify">, row: Named, query: URLSearchParams): number {
  const [expires, signature] = [query.get("expires") ?? "", query.get("signature") ?? ""];
  if (!/^\d{1,12}$/.test(expires) || signature === "") return 0;
  if (secrets.verify(purpose, `${payload(row, expires)}.${signature}`) === undefined) return 0;
  return Math.max(0, Number(expires) - Math.floor(Date.now() / 1000));
}

function payload({ accountId, id }: Named, expires: string) {
  return `${accountId}/${id}/${expires}`;
}

/** Media files, as other plugins see them. */
import { service, type Queryable } from "platform";

/** A public picture that may stand in a page. */
export interface PagePicture {
  /** `/media/<id>/team.jpg` */
  readonly url: string;
  /** `/media/<id>/w/` and a width, for a picture that has other sizes. */
  readonly smaller: readonly { readonly url: string; readonly width: number }[];
  readonly width: number | null;
  readonly height: number | null;
  /** Text by locale. */
  readonly alts: Readonly<Record<string, string>>;
}

/** A file as it should be in the library. */
export interface NewFile {
  /** `team/2026`; empty is the top. */
  readonly folder: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly is_public: boolean;
  /** Texts by locale. */
  readonly titles: Readonly<Record<string, string>>;
  readonly alts: Readonly<Record<string, string>>;
}

/** A record whose texts name a file. */
export interface FileUse {
  /** `Cms::Page` */
  readonly model: string;
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly siteCode: string | null;
}

/** Where a plugin's own records use a file; asked for those who have the privilege. */
export interface FileUses {
  readonly privilege: string;
  find(
    accountId: number,
    file: { readonly id: string; readonly path: string },
    limit: number,
  ): Promise<readonly FileUse[]>;
}

export interface Media {
  /**
   * Stores the file, or makes the one that has its place like it. Other bytes get another address, because an address
   * never changes its content. An SVG is made anew each time. `userId` null = no person (a command).
   */
  put(
    by: { readonly accountId: number; readonly userId: number | null },
    file: NewFile,
  ): Promise<{ readonly id: string; readonly done: "made" | "changed" | "unchanged" }>;
  /** Public pictures by folder and name (`team/anna.jpg`); one that does not exist is not in the result. */
  picturesOf(accountId: number, paths: readonly string[]): Promise<ReadonlyMap<string, PagePicture>>;
  /** Of these ids, in small letters, those of files of the account; with `userId` only public ones and that person's. */
  existing(on: Queryable, accountId: number, ids: readonly string[], userId?: number): Promise<ReadonlySet<string>>;
  /**
   * The answer with the bytes of a file, or with the picture in another size (`320.webp`); 404 if there is none. Whoever
   * calls it has to know that the request may read the file.
   */
  sent(accountId: number, id: string, request: Request, size: string | undefined): Promise<Response>;
  /** Calls `run` after the commit of every change of an account's files, before the change is answered. */
  onChanged(run: (accountId: number) => Promise<void>): void;
  /** Adds to what `GET /core/media/:id/uses` answers. */
  addUses(uses: FileUses): void;
}

export const media = service<Media>("media");

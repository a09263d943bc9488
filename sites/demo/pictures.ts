import { generatedFile, type Account } from "platform";
import type { Media } from "../../plugins/media/api.ts";
import pictures from "./pictures.json" with { type: "json" };

/** Where the site's templates look for them. */
const folder = "kobalt";

/** Puts the site's pictures into the media library. Other widths are made when a browser asks for them. */
export async function putPictures({ media }: { readonly media: Media }, account: Account): Promise<readonly string[]> {
  const by = { accountId: account.id, userId: null };
  const done = await Promise.all(
    Object.entries(pictures).map(async ([code, texts]) => {
      const name = `${code}.avif`;
      const bytes = await generatedFile(`demo/${name}`, () => new URL(`pictures/${name}`, import.meta.url));
      return (await media.put(by, { folder, name, bytes, is_public: true, ...texts })).done;
    }),
  );
  return [`the pictures: ${counted(done)}`];
}

export type Done = "made" | "changed" | "unchanged";

/** "3 made, 2 unchanged" */
export function counted(done: readonly Done[]): string {
  const counts = (["made", "changed", "unchanged"] as const).flatMap((word) => {
    const count = done.filter((one) => one === word).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.join(", ");
}

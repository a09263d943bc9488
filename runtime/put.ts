/** Making what is to stand at a code, changing what stands there to it, or leaving it as it is. */
export interface PutResult {
  readonly id: string;
  readonly done: "made" | "changed" | "unchanged";
}

interface Writes {
  create(): Promise<{ readonly id: string }>;
  update(id: string): Promise<unknown>;
}

/** `found`: what stands there now; a field that is left out of `given` stays as it is. */
export async function putAt<Given extends object>(
  given: Given,
  found: ({ readonly [Field in keyof Given]-?: unknown } & { readonly id: string }) | undefined,
  { create, update }: Writes,
): Promise<PutResult> {
  if (!found) return { id: (await create()).id, done: "made" };
  const isSame = Object.entries(given).every(
    ([field, value]) => value === undefined || JSON.stringify(value) === JSON.stringify(Reflect.get(found, field)),
  );
  if (isSame) return { id: found.id, done: "unchanged" };
  await update(found.id);
  return { id: found.id, done: "changed" };
}

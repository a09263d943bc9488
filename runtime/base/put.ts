/** PUT by code: creates the object, changes the existing one, or leaves it alone if nothing differs. */
export interface PutResult {
  readonly id: string;
  readonly done: "made" | "changed" | "unchanged";
}

interface Writes {
  create(): Promise<{ readonly id: string }>;
  update(id: string): Promise<unknown>;
}

/** `found` is the existing object; a field missing from `given` stays as it is. */
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

/** What is kept with the account for the person: read, and changed from what is stored by then, because another tab changes it too. */
import { ApiError, get, request } from "./request.ts";
import { isMap, ownOf } from "../resources/values.ts";

const path = "/account/me/preferences.json";
const attempts = 5;

export async function preference(name: string, signal?: AbortSignal): Promise<unknown> {
  return (await stored(name, signal)).value;
}

/** `make` may be asked again. Undefined or null removes it. Gives back what is stored then. */
export async function changePreference(name: string, make: (before: unknown) => unknown): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const { value, tag } = await stored(name);
    const next = make(value) ?? null;
    try {
      await request("PATCH", path, { body: { preferences: { [name]: next } }, ifMatch: tag });
      return next;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412) || attempt === attempts) throw error;
    }
  }
}

async function stored(name: string, signal?: AbortSignal): Promise<{ readonly value: unknown; readonly tag?: string }> {
  const { json, headers } = await get(path, signal);
  const tag = headers.get("etag");
  return { value: isMap(json) ? ownOf(json, name) : undefined, ...(tag !== null && { tag }) };
}

/** The webhook of a log: the bar over the page calls it by its sentence. Begins and ends with the page. */
import { addressOf, Fetched, frame, isMap, session, Tables } from "studio";
import { calledOf } from "./target.ts";

type Row = Readonly<Record<string, unknown>>;

export function webhookOf(id: () => string): { readonly row: Row; readonly tables: Tables } {
  const tables = new Tables();
  const read = new Fetched(
    () => `/account/webhooks/${encodeURIComponent(id())}.json`,
    ({ json }): Row => (isMap(json) ? json : {}),
  );
  $effect(() => tables.begin());
  $effect(() => {
    if (!read.value) return;
    const address = addressOf(session.resource("/account/webhooks"), [id()]);
    frame.read(address, { ...read.value, name: calledOf(read.value, tables) });
  });
  return {
    tables,
    get row() {
      return read.value ?? {};
    },
  };
}

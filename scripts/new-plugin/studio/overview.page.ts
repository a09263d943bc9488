/** The page of SamplePlugin in the Studio. It runs in a browser, and may import other files here and npm packages. */
import type { ApiFailure, GridRow, Mount, StudioContext, StudioField } from "platform/studio";
import { texts } from "./texts.ts";

const path = "/sample-plugin/items";

export const mount: Mount = async (element, ctx) => {
  const { api, t, navigate } = ctx;
  const grid = document.createElement("studio-grid");
  grid.label = t(texts.items);
  grid.empty = t(texts.none);
  grid.columns = [
    { name: "title", label: t(texts.title) },
    { name: "words", label: t(texts.words) },
  ];
  // The Studio has a form for each item, made from the API's description.
  grid.addEventListener("studio-open", ({ detail: { row } }) => navigate(`sample-plugin/items/${String(row["id"])}`));
  const show = async (): Promise<void> => {
    const { json } = await api("GET", `${path}?limit=100`);
    grid.rows = json as GridRow[]; // as routes.ts declares it
  };

  element.className = "stack";
  element.append(formOf(ctx, show), grid);
  await show();
  // Called when the page is left: end here what goes on by itself, e.g. timers.
  return () => element.replaceChildren();
};

function formOf({ api, t, toast }: StudioContext, added: () => Promise<void>): HTMLFormElement {
  const title = fieldOf("title", t(texts.title));
  title.required = true;
  const text = fieldOf("text", t(texts.text));
  const button = Object.assign(document.createElement("button"), { className: "primary", textContent: t(texts.add) });
  const row = Object.assign(document.createElement("div"), { className: "row" });
  row.append(button);
  const form = Object.assign(document.createElement("form"), { className: "stack" });
  form.append(title, text, row);

  const add = async (): Promise<void> => {
    const item = { title: title.value, text: text.value === "" ? null : text.value };
    await api("POST", path, { body: { item } });
    form.reset();
    toast(t(texts.added, { title: String(item.title) }));
    await added();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    add().catch((error: unknown) => {
      const { errors, message } = error as Error & Partial<ApiFailure>; // with `errors` if the server refuses a field
      title.messages = errors?.["title"] ?? [];
      text.messages = errors?.["text"] ?? [];
      if (title.messages.length + text.messages.length === 0) toast(message, { error: true });
    });
  });
  return form;
}

function fieldOf(name: string, label: string): StudioField {
  return Object.assign(document.createElement("studio-field"), { name, label });
}

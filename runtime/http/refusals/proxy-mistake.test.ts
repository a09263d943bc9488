import { expect, test } from "bun:test";
import { proxyMistakes, type ProxyMistake } from "./proxy-mistake.ts";

interface Case {
  readonly headers?: Record<string, string>;
  readonly host?: string;
  readonly secure?: boolean;
  readonly proxied?: boolean;
  readonly baseUrl?: string;
}

const base = "https://core.example.com";
const host = "core.example.com";
const forwarded = { "x-forwarded-for": "203.0.113.9" };
const complete = { ...forwarded, "x-forwarded-host": host, "x-forwarded-proto": "https" };

test.each<[string, Case, ProxyMistake[]]>([
  ["no proxy, on the machine itself", { host: "127.0.0.1:3000" }, []],
  ["no proxy, in a private network", { host: "nas:3000" }, []],
  ["a right proxy that is trusted", { baseUrl: base, host, headers: complete, proxied: true, secure: true }, []],
  ["https of our own", { baseUrl: base, host, secure: true }, []],
  [
    "https of our own, and a visitor who invents headers",
    { baseUrl: base, host, headers: forwarded, secure: true },
    [],
  ],
  ["a proxy that sends where it found the server", { baseUrl: base, host: "127.0.0.1:3000" }, ["host"]],
  ["one that sends its name for it", { baseUrl: base, host: "app:3000" }, ["host"]],
  ["the same without BASE_URL", { host: "app:3000", headers: forwarded }, ["host"]],
  ["a public name", { baseUrl: base, host: "other.example.com" }, []],
  ["an untrusted proxy", { baseUrl: base, host: "127.0.0.1:3000", headers: complete }, ["untrusted"]],
  [
    "an untrusted one that says https alone",
    { baseUrl: base, host: "app", headers: { "x-forwarded-proto": "https" } },
    ["untrusted", "host"],
  ],
  [
    "one that is not told to be trusted, and need not be",
    { baseUrl: "http://core.example.com", host, headers: forwarded },
    [],
  ],
  ["no scheme", { baseUrl: base, host, headers: forwarded, proxied: true }, ["proto"]],
  [
    "no scheme, and a page of https before",
    { host, headers: { ...forwarded, referer: `https://${host}/` }, proxied: true },
    ["proto"],
  ],
  [
    "another site's page before",
    { host, headers: { ...forwarded, referer: "https://evil.example/" }, proxied: true },
    [],
  ],
  [
    "http all the way",
    { baseUrl: `http://${host}`, host, headers: { ...forwarded, "x-forwarded-proto": "http" }, proxied: true },
    [],
  ],
  [
    "neither host nor scheme",
    { baseUrl: base, host: "app:3000", headers: forwarded, proxied: true },
    ["host", "proto"],
  ],
  ["a BASE_URL of this machine", { baseUrl: "http://localhost:3000", host: "127.0.0.1:3000" }, []],
])("%s", (_, { headers = {}, host: asked = "", secure = false, proxied = false, baseUrl = "" }, expected) => {
  expect(proxyMistakes({ headers: new Headers(headers), host: asked, secure, proxied, baseUrl })).toEqual(expected);
});

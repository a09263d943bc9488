import { expect, test } from "bun:test";
import { deviceOf } from "./browser.ts";

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
    "Edge, Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
    "Safari, macOS",
  ],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1", "Safari, iOS"],
  ["Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"],
  ["curl/8.5.0", "curl/8.5.0"],
  [`<script>${"x".repeat(300)}`, `<script>${"x".repeat(32)}`],
  ["", null],
  [null, null],
  ["  ", null],
])("%s is %p", (userAgent, device) => expect(deviceOf(userAgent)).toBe(device));

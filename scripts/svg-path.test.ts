import { expect, test } from "bun:test";
import { pathOfSvg } from "./svg-path.ts";

test.each([
  ['<path d="M1 2h3" /><path d="m5 12 7-7 7 7" />', "M1 2h3M0 0m5 12 7-7 7 7"],
  ['<line x1="1" x2="3" y1="2" y2="4" />', "M1 2L3 4"],
  ['<polyline points="1 2 3 4" /><polygon points="1 2 3 4 5 6" />', "M1 2 3 4M1 2 3 4 5 6z"],
  ['<circle cx="12" cy="12" r="3" />', "M9 12a3 3 0 1 0 6 0a3 3 0 1 0 -6 0"],
  ['<ellipse cx="12" cy="5" rx="9" ry="3" />', "M3 5a9 3 0 1 0 18 0a9 3 0 1 0 -18 0"],
  ['<rect width="4" height="2" x="1" y="3" />', "M1 3h4v2h-4z"],
  [
    '<rect width="18" height="16" x="3" y="4" rx="2" />',
    "M5 4h14a2 2 0 0 1 2 2v12a2 2 0 0 1 -2 2h-14a2 2 0 0 1 -2 -2v-12a2 2 0 0 1 2 -2z",
  ],
])("%s is one path", (shapes, path) => {
  expect(pathOfSvg(`<!-- a licence -->\n<svg\n  width="24"\n>\n  ${shapes}\n</svg>\n`)).toBe(path);
});

test("a shape that is unknown fails the build", () => {
  expect(() => pathOfSvg("<svg><text>x</text></svg>")).toThrow("an icon has a <text>");
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import { candidatesOf } from "./candidates.ts";

test.each([
  [`<p class="px-4 py-2.5 -mt-2 w-1/2 !p-3 p-3!">`, ["px-4", "py-2.5", "-mt-2", "w-1/2", "!p-3", "p-3!"]],
  [`class='hover:focus:text-[#fff]/50 @md:p-2 *:p-1'`, ["hover:focus:text-[#fff]/50", "@md:p-2", "*:p-1"]],
  [`"[&>p]:mt-0 bg-[url('x.png')] w-[calc(100%-1rem)]"`, ["[&>p]:mt-0", "bg-[url('x.png')]", "w-[calc(100%-1rem)]"]],
  ["`grid-cols-[1fr,2fr] w-(--size) data-[state=open]:flex`", ["grid-cols-[1fr,2fr]", "w-(--size)"]],
  [`<p class:font-bold={on}>`, ["font-bold"]],
  [`:class="{ flex: on, 'p-4': off }"`, ["flex", "p-4"]],
  [`:class="['p-1','p-2',on?'p-3':'p-4']"`, ["p-1", "p-2", "p-3", "p-4"]],
  [`className={on ? "bg-red-500" : 'bg-blue-500'}`, ["bg-red-500", "bg-blue-500"]],
  [`const sizes={small:"p-1",large:"p-9"}[size]`, ["p-1", "p-9"]],
])("in %s it finds the classes", (source, classes) => {
  expect(candidatesOf(source)).toEqual(expect.arrayContaining(classes));
});

test("it ends, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("[", "]", "(", ")", "'", '"', "`", "{", "}", "-", "a", ":", " ", "\n") }),
      (text) => {
        candidatesOf(text);
      },
    ),
  );
  for (const part of ["[", "(", "a-(", "[a", "a[b(", "]"]) candidatesOf(part.repeat(60_000));
});

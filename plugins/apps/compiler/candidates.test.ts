import { expect, test } from "bun:test";
import fc from "fast-check";
import { candidatesOf } from "./style.ts";

test.each([
  [`<p class="px-4 py-2.5 -mt-2 w-1/2 !p-3 p-3!">`, ["px-4", "py-2.5", "-mt-2", "w-1/2", "!p-3", "p-3!"]],
  [`class='hover:focus:text-[#fff]/50 @md:p-2 *:p-1'`, ["hover:focus:text-[#fff]/50", "@md:p-2", "*:p-1"]],
  [`"[&>p]:mt-0 bg-[url('x.png')] w-[calc(100%-1rem)]"`, ["[&>p]:mt-0", "bg-[url('x.png')]", "w-[calc(100%-1rem)]"]],
  ["`grid-cols-[1fr,2fr] w-(--size) data-[state=open]:flex`", ["grid-cols-[1fr,2fr]", "w-(--size)"]],
  [`<p class:font-bold={on}>`, ["font-bold"]],
  [`:class="{ flex: on, 'p-4': off }"`, ["flex", "p-4"]],
  [`:class="{flex:on,grid:off}"`, ["flex", "grid"]],
  [`:class="['p-1','p-2',on?'p-3':'p-4']"`, ["p-1", "p-2", "p-3", "p-4"]],
  [`:class="['p-[13px]']"`, ["p-[13px]"]],
  [`class={['p-4','m-[17px]']}`, ["p-4", "m-[17px]"]],
  [`['w-[calc(100%-10px)]',"bg-[#ff0000]/50"]`, ["w-[calc(100%-10px)]", "bg-[#ff0000]/50"]],
  [`['grid-cols-[1fr_2fr]','grid']`, ["grid-cols-[1fr_2fr]", "grid"]],
  [`[['p-[26px]'],[on&&'p-[27px]']]`, ["p-[26px]", "p-[27px]"]],
  [`on?['p-[1px]']:['p-[2px]','2xl:p-3']`, ["p-[1px]", "p-[2px]", "2xl:p-3"]],
  ["`p-4${on?' m-2':''}`", ["p-4", "m-2"]],
  [`className={on ? "bg-red-500" : 'bg-blue-500'}`, ["bg-red-500", "bg-blue-500"]],
  [`const sizes={small:"p-1",large:"p-9"}[size]`, ["p-1", "p-9"]],
  [`"before:content-[']'] after:content-['(']"`, ["before:content-[']']", "after:content-['(']"]],
])("in %s it finds the classes", (source, classes) => {
  expect(candidatesOf(source)).toEqual(expect.arrayContaining(classes));
});

test("a class is found in whatever form it is written", () => {
  const utilities =
    "p-4 -mt-2 w-1/2 !flex p-3! w-(--size) bg-(image:--x) p-[13px] w-[calc(100%-10px)] bg-[#f00]/50 " +
    "bg-red-500/[0.3] grid-cols-[1fr_2fr] [mask-type:luminance] [--x:1px] @container";
  const variants =
    "hover: 2xl: @md: @[17rem]: *: [&>p]: data-[state=open]: group-hover/a: not-[.a]: [&[data-x]]: " +
    "supports-[display:grid]: max-[40rem]:";
  const variant = fc.array(fc.constantFrom(...variants.split(" ")), { maxLength: 2 });
  const classes = fc
    .tuple(variant, fc.constantFrom(...utilities.split(" ")))
    .map(([before, utility]) => before.join("") + utility);
  const quote = fc.constantFrom('"', "'", "`");
  type Form = (a: string, b: string, q: string) => string;
  const form = fc.constantFrom<Form>(
    (a, b, q) => `<p class=${q}${a} ${b}${q}>`,
    (a, b) => `<p class=${a}><p class=${b}>`,
    (a, b, q) => `[${q}${a}${q},${q}${b}${q}]`,
    (a, b, q) => `[[${q}${a}${q}],[...x,${q}${b}${q}]]`,
    (a, b, q) => `:class="[x?${q}${a}${q}:${q}${b}${q},y]"`,
    (a, b, q) => `class={[x&&${q}${a}${q},[y||${q}${b}${q}]]}`,
    (a, b, q) => `{${q}${a}${q}:x,[${q}${b}${q}]:y}`,
    (a, b, q) => `{a:${q}${a}${q},b:[${q}${b}${q}]}[size]`,
    (a, b, q) => `cn(${q}${a}${q},x?[${q}${b}${q}]:[])`,
    (a, b, q) => `\`${a}\${x?${q}${b}${q}:""}\``,
    (a, b) => `\`\${x}${a} \${y} ${b}\``,
    (a, b, q) => `sizes[x]=${q}${a}${q};sizes[${q}${b}${q}]`,
    (a, b, q) => `className:${q}${a}\n\t${b}${q}}`,
  );
  fc.assert(
    fc.property(classes, classes, quote, form, (a, b, q, written) => {
      expect(candidatesOf(written(a, b, q))).toEqual(expect.arrayContaining([a, b]));
    }),
    { numRuns: 2_000 },
  );
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
  for (const part of ["[", "(", "a-(", "[a", "a[b(", "]", "a[]", "[a]'", "'a[", "-(a)["])
    candidatesOf(part.repeat(60_000));
});

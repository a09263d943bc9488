declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.service" {
  const text: string;
  export default text;
}
declare module "*.env" {
  const text: string;
  export default text;
}
declare module "*.liquid" {
  const text: string;
  export default text;
}
declare module "*/client-core.txt" {
  const text: string;
  export default text;
}
// The source of a page of the Studio: a browser imports it.
declare module "*.page.js" {
  const text: string;
  export default text;
}
// With { type: "file" }: its path.
declare module "*.wasm" {
  const path: string;
  export default path;
}
// These come with types of their own, for bundlers that make a module of them.
declare module "@jsquash/png/codec/pkg/squoosh_png_bg.wasm" {
  const path: string;
  export default path;
}
declare module "@jsquash/resize/lib/resize/pkg/squoosh_resize_bg.wasm" {
  const path: string;
  export default path;
}

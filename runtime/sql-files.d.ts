declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.css" {
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
// The source of a page of the Studio: a browser imports it.
declare module "*.page.js" {
  const text: string;
  export default text;
}

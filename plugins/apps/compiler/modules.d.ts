declare module "tailwindcss/*.css" {
  const text: string;
  export default text;
}
declare module "@vue/compiler-sfc/dist/compiler-sfc.esm-browser.js";

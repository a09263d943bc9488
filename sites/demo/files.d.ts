/** Of files.js: text by path. */
export declare const siteFiles: ReadonlyMap<string, string>;
export declare const appFiles: ReadonlyMap<string, string>;

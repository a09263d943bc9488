/** What this server calls itself over the protocol. */
export const serverInfo = { name: "corestead", title: "Corestead", version: "1" };

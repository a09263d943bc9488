/**
 * Places where a test lets the process die, named by the code that passes them. `CORESTEAD_FAILPOINT="name:kill"` kills
 * it (as kill -9 does) when it first comes to `name`, `"name:kill:3"` the third time. Without the variable they do nothing.
 */
const [armed, action, times = "1"] = (process.env["CORESTEAD_FAILPOINT"] ?? "").split(":");
let passed = 0;

export function failpoint(name: string): void {
  if (armed !== name || action !== "kill" || ++passed < Number(times)) return;
  process.kill(process.pid, "SIGKILL");
}

/**
 * Named places in the code where a test can make the process die. `CORESTEAD_FAILPOINT="name:kill"` kills it (like
 * kill -9) when it first reaches `name`, `"name:kill:3"` the third time. Without the variable they do nothing.
 */
const [armed, action, times = "1"] = (process.env["CORESTEAD_FAILPOINT"] ?? "").split(":");
let passed = 0;

export function failpoint(name: string): void {
  if (armed !== name || action !== "kill" || ++passed < Number(times)) return;
  process.kill(process.pid, "SIGKILL");
}

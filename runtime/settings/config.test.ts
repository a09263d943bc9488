import { describe, expect, test } from "bun:test";
import { readConfig, settingHints } from "./config.ts";
import { ConfigError } from "./settings.ts";

describe("the configuration", () => {
  test("has a standard value for everything, and an empty variable means the standard", () => {
    expect(readConfig({ PORT: "" })).toMatchObject({ port: 3000, host: "127.0.0.1", databaseUrl: "", workers: 1 });
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "1e3"],
    ["BASE_URL", "core.example.com"],
    ["BASE_URL", "https://core.example.com/path"],
    ["BASE_URL", "ftp://core.example.com"],
    ["DATABASE_URL", "mysql://localhost/x"],
    ["DATABASE_URL", "postgres://core@db1,db2/core?target_session_attrs=prefer-standby"],
    ["DATABASE_LISTEN_URL", "postgres://core@db1/core?sslmode=require&target_session_attrs=any"],
    ["WORKERS", "0"],
    ["TRUSTED_PROXIES", "10.0.0.0/8, proxy.local"],
    ["OUTBOUND_ALLOW", "!!"],
    ["OUTBOUND_ALLOW", "10.0.0.0/8, 10.0.0.0/99"],
    ["SECRET_KEY", "short"],
    ["LOG_LEVEL", "loud"],
    ["DATABASE_PREPARE", "yes"],
    ["DATABASE_CACHE_MB", "1GB"],
    ["DATABASE_CACHE_MB", "-1"],
  ])("%s=%s is refused in a line that names it", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} `));
  });

  test("all mistakes are told at once", () => {
    const mistakesOf = () => {
      try {
        readConfig({ PORT: "x", WORKERS: "y" });
      } catch (error) {
        return error instanceof ConfigError ? error.mistakes : [];
      }
      return [];
    };
    expect(mistakesOf()).toHaveLength(2);
  });

  test.each([
    ["DATABASE_URI", "DATABASE_URL"],
    ["MAX_BODY_BYTE", "MAX_BODY_BYTES"],
    ["BACKUPDIR", "BACKUP_DIR"],
    ["TRUSTED_PROXY", undefined],
    ["HTTP_PROXY", undefined],
    ["HOSTNAME", undefined],
    ["PATH", undefined],
    ["DATABASE_URL", undefined],
  ])("%s is nearly %s", (name, meant) => {
    const hint = meant === undefined ? [] : [`${name} is no setting: did you mean ${meant}?`];
    expect(settingHints([], { [name]: "1" })).toEqual(hint);
  });

  test("an address loses its slash at the end", () => {
    expect(readConfig({ BASE_URL: "https://Core.example.com/" }).baseUrl).toBe("https://core.example.com");
  });
});

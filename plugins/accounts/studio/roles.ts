export const roles = ["admin", "manager", "user", "guest"] as const;
export type Role = (typeof roles)[number];

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

/** The link of an invitation leads to the page where the person chooses a password. */
export function withReturn(url: string): string {
  const address = new URL(url);
  address.searchParams.set("return_to", "/studio/account/me?invited=1");
  return address.href;
}

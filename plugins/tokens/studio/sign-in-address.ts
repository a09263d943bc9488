/** Where a browser goes to be signed in by a `web_token`, and from there to the Studio. */
export function signInAddress(origin: string, token: string): string {
  return `${origin}/account/auto_login?${new URLSearchParams({ token, return_to: "/studio" })}`;
}

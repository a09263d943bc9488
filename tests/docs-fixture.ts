/** What a hostile plugin calls itself: it would run as HTML, in an attribute, in a script, and in a comment of TypeScript. */
export const hostileText = `</script></style><img src=x onerror="document.title='hacked'">" onerror='1' \`*/ {{ 7 }}`;

import { splitCookies } from "../http/cookies.ts"

/**
 * The beginning of the names of all cookies of sessions. With `__Host-` a browser accepts them only over HTTPS (or from localhost), without Domain and for
 * the path `/`: so no other host and no page can set them.
 */
export const ownCookiePrefix = "__Host-sallyport-"

/** The session cookies of a request: all values by the name after the prefix. */
export type OwnCookies = ReadonlyMap<string, readonly string[]>

/** A line of Set-Cookie. `seconds` 0 removes the cookie. Lax: a link of another site shows a page of the session, but its forms and scripts have none. */
export function setCookie(name: string, value: string, seconds: number): string {
  return `${ownCookiePrefix}${name}=${value}; Path=/; Max-Age=${Math.max(0, Math.floor(seconds))}; Secure; HttpOnly; SameSite=Lax`
}

/** A line that removes a cookie. */
export function removedCookie(name: string): string {
  return setCookie(name, "", 0)
}

/** The session cookies in a Cookie header. */
export function ownCookiesIn(header: string | undefined): OwnCookies {
  return splitCookies(header ?? "", ownCookiePrefix).own
}

import type { OwnCookies } from "./own-cookies.ts"
import type { OidcSession } from "./session.ts"

/** What the cookies of a request say about a session. `isOld`: it was sealed with a key that is being replaced. */
export type SessionRead =
  | { readonly kind: "none" }
  | { readonly kind: "damaged"; readonly cause: string }
  | { readonly kind: "found"; readonly session: OidcSession; readonly isOld: boolean }

/** Whether this process may refresh a session: another process may be doing it, or may have done it. */
export type RefreshTurn =
  | { readonly kind: "mine" }
  | { readonly kind: "done"; readonly session: OidcSession }
  | { readonly kind: "gone" }
  | { readonly kind: "busy" }

/** Thrown when a session does not fit into the cookies of a browser. */
export class SessionTooLarge extends Error {
  override readonly name = "SessionTooLarge"
}

/** Thrown when sessions cannot be read or written at the moment. */
export class SessionsUnavailable extends Error {
  override readonly name = "SessionsUnavailable"
}

/** Thrown when the provider has ended a session while its login was being finished. */
export class SessionEnded extends Error {
  override readonly name = "SessionEnded"
}

/** Where sessions are: in cookies, or in Redis. Methods throw or reject with SessionsUnavailable. */
export interface SessionPlace {
  read(cookies: OwnCookies): SessionRead | Promise<SessionRead>
  /** Keeps a session; the result has its handle. `forMs`: until it ends. `previous`: the session that it continues, if that still exists. Without one, it may reject with SessionEnded. */
  keep(
    session: OidcSession,
    forMs: number,
    previous: OidcSession | undefined,
  ): OidcSession | Promise<OidcSession | undefined>
  /**
   * The Set-Cookie lines for a session.
   * @throws SessionTooLarge
   */
  lines(session: OidcSession, forMs: number, cookies: OwnCookies): string[]
  /** Ends the session of these cookies and returns the lines that remove them. */
  remove(cookies: OwnCookies): string[] | Promise<string[]>
  takeTurn(session: OidcSession): RefreshTurn | Promise<RefreshTurn>
  endTurn(session: OidcSession): void
}

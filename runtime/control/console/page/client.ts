import { signal } from "@preact/signals"
import type { ConsoleEndAnswer, ConsoleLoginAnswer, ControlProblem, WhoamiAnswer } from "../../api.ts"

/** A request failed: the problem that the control API sent, or that it did not respond (`status` 0). */
export class CallFailure extends Error {
  override readonly name = "CallFailure"
  readonly status: number
  readonly problem: ControlProblem | undefined

  constructor(status: number, message: string, problem?: ControlProblem) {
    super(message)
    this.status = status
    this.problem = problem
  }
}

/** Who is signed in; null: nobody; undefined: not known yet. */
export const who = signal<WhoamiAnswer | null | undefined>(undefined)

/** Sends a request to the control API and reads the JSON of its response. Rejects with `CallFailure`. A 401 ends the session of the page. */
export async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await send(method, path, body)
  return (await jsonOf(response)) as Answer
}

/** Sends JSON by POST and gives each line of the response to `take` as it comes. Rejects with `CallFailure`, and when `signal` aborts. */
export async function postLines<Line>(
  path: string,
  body: unknown,
  signal: AbortSignal,
  take: (line: Line) => void,
): Promise<void> {
  const response = await send("POST", path, body, signal)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
    const lines = (rest + next.value).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) if (line !== "") take(JSON.parse(line) as Line)
  }
  if (rest !== "") take(JSON.parse(rest) as Line)
}

/** Reads a resource that is text. */
export async function getText(path: string): Promise<string> {
  return (await send("GET", path, undefined)).text()
}

async function send(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  let response: Response
  try {
    response = await fetch(path, {
      ...{ method, credentials: "same-origin", signal: signal ?? null },
      ...(body === undefined
        ? {}
        : body instanceof Blob
          ? { body }
          : {
              body: JSON.stringify(body),
              headers: { "content-type": "application/json", accept: "application/json" },
            }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new CallFailure(0, "The server does not respond.")
  }
  if (response.ok) return response
  throw failureOf(response, await jsonOf(response))
}

/** Why a request failed. The engine has `message` where the control API has a problem. */
function failureOf(response: Response, content: unknown): CallFailure {
  if (response.status === 401 && who.peek() !== undefined) who.value = null
  const problem = content as (ControlProblem & { readonly message?: string }) | undefined
  const text = problem?.detail ?? problem?.title ?? problem?.message ?? response.statusText
  return new CallFailure(response.status, text, problem)
}

async function jsonOf(response: Response): Promise<unknown> {
  return response.headers.get("content-type")?.includes("json") === true ? response.json() : undefined
}

/** Reads a resource. Rejects with `CallFailure`, and when `signal` aborts. */
export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return (await jsonOf(await send("GET", path, undefined, signal))) as Answer
}

/** Sends lines of JSON, and reads the JSON of the response. Rejects with `CallFailure`. */
export async function postText<Answer>(path: string, lines: string): Promise<Answer> {
  const body = new Blob([lines], { type: "application/x-ndjson" })
  return (await jsonOf(await send("POST", path, body))) as Answer
}

/** Asks who is signed in. Rejects when the control API does not respond. */
export async function loadWho(): Promise<void> {
  try {
    who.value = await get<WhoamiAnswer>("/v1/whoami")
  } catch (error) {
    if (!(error instanceof CallFailure) || error.status !== 401) throw error
    who.value = null
  }
}

/** Begins a session by a token or by the code of a link. Rejects with `CallFailure`. */
export async function signIn(
  credential: { readonly token: string } | { readonly code: string },
): Promise<void> {
  await call("POST", "/console/session", credential)
  await loadWho()
}

/** Goes to the page of an issuer, which leads back to the present view. Rejects with `CallFailure`. */
export async function signInAt(issuer: string): Promise<void> {
  const to = location.pathname + location.search
  const { page } = await call<ConsoleLoginAnswer>("POST", "/console/login", { issuer, to })
  location.assign(page)
}

/** Ends the session, and the one at the issuer, if it has a page for that. */
export async function signOut(): Promise<void> {
  const ended = await call<ConsoleEndAnswer>("DELETE", "/console/session").catch(() => undefined)
  who.value = null
  if (ended?.page) location.assign(ended.page)
}

const roles: readonly WhoamiAnswer["role"][] = ["viewer", "operator", "publisher", "admin"]

/** Whether the operator may do what needs a role and an operation. Buttons for everything else are not shown. */
export function may(role: WhoamiAnswer["role"], operation: string): boolean {
  const me = who.value
  if (me === null || me === undefined || roles.indexOf(me.role) < roles.indexOf(role)) return false
  const { may: scope } = me
  return (
    scope === null || scope.includes(operation) || scope.includes(operation.split(".", 1)[0] ?? operation)
  )
}

/** A session ends after 30 minutes without a request. Somebody who only reads and scrolls uses it, too. */
export function keepSession(): void {
  let last = Date.now()
  const noticed = () => {
    if (who.peek() === null || Date.now() - last < 5 * 60_000) return
    last = Date.now()
    void loadWho().catch(() => undefined)
  }
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, noticed, { passive: true })
}

import type { FastifyReply, FastifyRequest } from "fastify"
import type { BrowserRequest, LoginStep } from "../oidc/oidc-client.ts"
import { ownCookiesIn } from "../oidc/own-cookies.ts"
import { isReturnPath } from "../oidc/return-path.ts"
import type { LogoutAnswer } from "./api.ts"
import { originOf } from "./origin.ts"
import type { PortalScene, SignIn } from "./scene.ts"

/** Which step of a login a path is; undefined: none. */
export function loginStepOf({ signIn }: PortalScene, path: string): keyof SignIn["paths"] | undefined {
  if (signIn === undefined) return undefined
  const { login, callback, logout } = signIn.paths
  if (path === login) return "login"
  if (path === callback) return "callback"
  return path === logout ? "logout" : undefined
}

/** Serves a step of a login: a redirect, or a small page that says why it failed. */
export async function serveLogin(
  scene: PortalScene & { readonly signIn: SignIn },
  step: keyof SignIn["paths"],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { client } = scene.signIn
  const browser: BrowserRequest = {
    origin: originOf(scene, request),
    cookies: ownCookiesIn(request.headers.cookie),
  }
  const query = new URLSearchParams(request.url.split("?")[1] ?? "")
  if (step === "callback") return sendStep(reply, await client.finish(browser, query))
  if (step === "login") {
    const returnTo = query.get("return_to") ?? "/"
    return sendStep(reply, await client.begin(browser, isReturnPath(returnTo) ? returnTo : "/"))
  }
  const over = await client.end(browser)
  // The policy of the pages lets no form lead to another site, so they go there themselves.
  if (/\bapplication\/json\b/.test(request.headers.accept ?? "") && over.kind !== "failed") {
    for (const line of over.cookies) reply.header("set-cookie", line)
    const answer: LogoutAnswer = { page: over.kind === "redirect" ? over.location : null }
    return reply.header("cache-control", "no-store").send(answer)
  }
  if (over.kind !== "done") return sendStep(reply, over)
  for (const line of over.cookies) reply.header("set-cookie", line)
  return reply.code(303).header("location", "/").header("cache-control", "no-store").send()
}

const failures: Readonly<
  Record<(LoginStep & { readonly kind: "failed" })["fault"], readonly [number, string]>
> = {
  "login-invalid": [400, "The login took too long, was already finished, or began in another browser."],
  "login-refused": [403, "The identity provider did not let you in."],
  "login-failed": [502, "The identity provider sent a response that cannot be used."],
  "session-too-large": [502, "The identity provider sent more about you than a cookie can hold."],
  "issuer-unavailable": [503, "The identity provider does not respond. Try again in a minute."],
  "sessions-unavailable": [503, "Sessions are not available. Try again in a minute."],
}

/** The cause of a failure is for operators, and is not sent. */
function sendStep(reply: FastifyReply, step: LoginStep): FastifyReply {
  for (const line of step.cookies) reply.header("set-cookie", line)
  reply.header("cache-control", "no-store")
  if (step.kind === "redirect") return reply.code(303).header("location", step.location).send()
  const [status, text] = failures[step.fault]
  return reply
    .code(status)
    .type("text/html; charset=utf-8")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign-in failed</title><h1>Sign-in failed</h1><p>${text}</p><p><a href="/">Back</a></p></html>\n`,
    )
}

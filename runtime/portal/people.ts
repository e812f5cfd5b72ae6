import type { FastifyReply, FastifyRequest } from "fastify"
import { claimAt } from "../identity/claim-at.ts"
import type { Claims } from "../identity/verifier.ts"
import { ownCookiesIn } from "../oidc/own-cookies.ts"
import type { Person } from "./api.ts"
import { sendPortalProblem } from "./problem.ts"
import type { PortalScene, SignIn } from "./scene.ts"

/** Subscriptions have owners of at most this length. */
const ownerMax = 200

/** The person of a request. A text says why the person cannot own anything. `unavailable`: nobody can say at the moment. */
export type FoundPerson = Person | { readonly refused: string } | "nobody" | "unavailable"

/** Reads the session of a request, and adds its renewed cookies to the response. */
export async function personOf(
  { signIn }: PortalScene,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FoundPerson> {
  if (signIn === undefined) return "nobody"
  const found = await signIn.client.session(ownCookiesIn(request.headers.cookie), {})
  if (found.kind === "unavailable") return "unavailable"
  if (found.kind !== "session") return "nobody"
  for (const line of found.cookies) reply.header("set-cookie", line)
  return personIn(found.claims, signIn)
}

/** The owner of subscriptions must be one name that the provider gives to nobody else. */
function personIn(claims: Claims, { owner: claim }: SignIn): Person | { readonly refused: string } {
  const owner = claimAt(claims, claim)
  if (typeof owner !== "string" || owner === "")
    return { refused: "your account has no name by which subscriptions could belong to you" }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such names are refused.
  if (owner.length > ownerMax || /[\u0000-\u001f\u007f]/.test(owner))
    return { refused: "the name of your account cannot own subscriptions" }
  if (claim === "email" && claims["email_verified"] !== true)
    return { refused: "your identity provider has not verified your e-mail address" }
  const names = ["name", "preferred_username", "email"].map((each) => claims[each])
  const name = names.find((each): each is string => typeof each === "string" && each !== "")
  return { owner, name: (name ?? owner).slice(0, ownerMax) }
}

/** The person of a request that needs one; undefined when a problem was sent. */
export async function requirePerson(
  scene: PortalScene,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | undefined> {
  reply.header("cache-control", "no-store")
  if (scene.signIn === undefined) {
    sendPortalProblem(reply, "no-sign-in", "this portal has no sign-in")
    return undefined
  }
  const found = await personOf(scene, request, reply)
  if (found === "nobody") sendPortalProblem(reply, "unauthenticated", "sign in first")
  else if (found === "unavailable")
    sendPortalProblem(
      reply.header("retry-after", "1"),
      "unavailable",
      "the identity provider does not respond",
    )
  else if ("refused" in found) sendPortalProblem(reply, "forbidden", found.refused)
  else return found
  return undefined
}

import {
  createHash,
  createHmac,
  createSecretKey,
  type Hash,
  type Hmac,
  type KeyObject,
  timingSafeEqual,
} from "node:crypto"
import type { Taken } from "../../limits/limiter.ts"
import { replayCounter } from "../../plan/step-values.ts"
import type { StepOf } from "../../plan/steps.ts"
import { type Exchange, requestBytes } from "../exchange.ts"
import { type ProblemName, problem, Refused } from "../messages/answer.ts"
import type { Outcome, Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"
import { compileSignature, type GivenSignature, type SignatureFault } from "./given-signature.ts"
import { failureStatus } from "./token-guard.ts"

type Plan = StepOf<"validate-hmac">

/** Shorter keys can be guessed: anybody who has one signed request can try them without asking us. */
const keyBytesMin = 16

/**
 * Verifies an HMAC over parts of the request, in constant time. The head is judged first, so that the body of a request without a signature is not
 * read. Only requests with a valid signature are remembered against replay: others could otherwise fill the memory.
 */
export const validateHmac: Policy<"validate-hmac"> = (plan, provision) => {
  const keys = plan.secrets.map(({ secret }) => keyOf(plan, secret, provision.secret(secret)))
  const refuse = refusing(plan, provision)
  const { now } = provision.clock
  const guard = plan.replay === undefined ? undefined : compileGuard(plan, plan.replay, provision)
  const judge = (exchange: Exchange, given: GivenSignature): Outcome | Promise<Outcome> => {
    if (!isSigned(plan, keys, given, exchange))
      return refuse(exchange, "signature-invalid", "the signature does not match the request")
    const pass = (taken?: Taken): Outcome => {
      if (taken?.local === true) return unguarded
      if (taken?.allowed === false)
        return refuse(exchange, "signature-replayed", "the request was already accepted", 409)
      exchange.claims = { sub: plan.caller }
      return undefined
    }
    if (guard === undefined) return pass()
    const taken = guard(exchange, given)
    return taken instanceof Promise ? taken.then(pass) : pass(taken)
  }
  const read = compileSignature(plan)
  const readsBody = plan.signed.includes("body")
  return (exchange) => {
    const given = read(exchange, now())
    if ("problem" in given) return refuse(exchange, given.problem, given.cause)
    const loading = readsBody ? exchange.load(requestBytes) : undefined
    return loading === undefined ? judge(exchange, given) : loading.then(() => judge(exchange, given), unread)
  }
}

/** The key of an HMAC. */
function keyOf({ key }: Plan, name: string, secret: string): KeyObject {
  const encoded = secret.replace(/^whsec_/, "")
  if (key === "base64" && !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded))
    throw new Error(`the secret \`${name}\` is not Base64 (RFC 4648), as its form of signature requires`)
  const bytes = key === "base64" ? Buffer.from(encoded, "base64") : Buffer.from(secret)
  if (bytes.length < keyBytesMin)
    throw new Error(
      `the secret \`${name}\` has ${bytes.length} bytes, which can be guessed; a signature needs at least ${keyBytesMin}`,
    )
  return createSecretKey(bytes)
}

/** Whether one of the keys has made one of the signatures. */
function isSigned(
  plan: Plan,
  keys: readonly KeyObject[],
  given: GivenSignature,
  exchange: Exchange,
): boolean {
  return keys.some((key) => {
    const expected = addSigned(createHmac(plan.algorithm, key), plan, given, exchange).digest()
    return given.signatures.some((each) => timingSafeEqual(each, expected))
  })
}

/** Adds what is signed, as the client sent it. */
function addSigned<Sum extends Hash | Hmac>(
  sum: Sum,
  { signed }: Plan,
  { timestamp, headers }: GivenSignature,
  exchange: Exchange,
): Sum {
  const target = exchange.originalTarget
  const query = exchange.originalQuery
  for (const part of signed) {
    if (part === "body") sum.update(exchange.requestBody.sentBytes)
    else if (part === "timestamp") sum.update(timestamp)
    else if (part === "method") sum.update(exchange.method)
    else if (part === "path") sum.update(target.split("?", 1)[0] as string)
    else if (part === "query") sum.update(query)
    else if (part === "target") sum.update(target)
    else if (part === "host") sum.update(exchange.authority)
    else if ("literal" in part) sum.update(part.literal)
    // Fields are bytes, which Node returns as Latin-1.
    else sum.update(headers.get(part.header) ?? "", "latin1")
  }
  return sum
}

/**
 * Remembers accepted requests: by what was signed, and not by the signature, because a header may contain several signatures of one request. The
 * window of a limit of one call is exact, bounded in memory, and shared by all processes where limits are.
 */
function compileGuard(
  plan: Plan,
  { header, seconds }: NonNullable<Plan["replay"]>,
  provision: Provision,
): (exchange: Exchange, given: GivenSignature) => Taken | Promise<Taken> {
  const limiter = provision.limiter()
  return (exchange, given) => {
    const once =
      header === undefined
        ? addSigned(createHash("sha256"), plan, given, exchange).digest("base64url")
        : (given.headers.get(header) ?? "")
    return limiter.take(replayCounter, JSON.stringify([plan.caller, header, once]), 1, seconds)
  }
}

const unguarded = problem("limits-unavailable", {
  headers: ["retry-after", "1"],
  presented: true,
  cause:
    "repeated requests cannot be recognized, because the Redis of `limits { shared redis }` is unavailable",
})

type Refuse = (exchange: Exchange, name: ProblemName, cause: string, status?: number) => Outcome

/** Refusals have no detail about the expected signature. RFC 9110 §15.5.2 requires a challenge in every 401; no registered scheme describes an HMAC. */
function refusing(plan: Plan, provision: Provision): Refuse {
  const status = failureStatus(compileCount(plan.status, provision))
  const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
  return (exchange, name, cause, own) => {
    const code = own ?? status(exchange)
    return problem(name, {
      status: code,
      headers: code === 401 ? ["www-authenticate", `HMAC header="${plan.signature.header}"`] : [],
      reason: reasons[name as SignatureFault["problem"]],
      message: own === undefined ? message?.of(exchange) : undefined,
      presented: name !== "signature-missing",
      cause: `signature: ${cause}`,
    })
  }
}

const reasons = {
  "signature-missing": "SignatureNotPresent",
  "signature-malformed": "SignatureMalformed",
  "signature-invalid": "SignatureInvalid",
  "signature-expired": "SignatureExpired",
  "signature-replayed": "SignatureReplayed",
} as const

/** A body that cannot be read is the refusal of a request with a signature, so that `any-of` prefers it. */
function unread(error: unknown): Outcome {
  if (error instanceof Refused && error.answer.kind === "problem") return { ...error.answer, presented: true }
  throw error
}

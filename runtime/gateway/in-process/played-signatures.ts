import { createHmac } from "node:crypto"
import type { Step, StepOf } from "../../plan/steps.ts"
import type { ClientRequest, FieldLine } from "./world.ts"

/** An order for a signature (HMAC). */
export interface SignatureOrder {
  /** The secret that signs; undefined: the first that the route accepts. */
  readonly secret?: string | undefined
  /** The time in the signature, in milliseconds from now. */
  readonly offsetMs: number
  /** Signs other content than the request has. */
  readonly isForged: boolean
}

/** What a signature is made with. */
export interface SigningContext {
  readonly nowMs: number
  /** The text of a secret of the plan; undefined: there is none with this name. */
  secretOf(name: string): string | undefined
  /** A number that no request had before: webhooks have an id of their own. */
  next(): number
}

/**
 * The request with the signature that the steps of its route ask for; unchanged if none does. It is made as a sender makes it: from the published
 * form, not by the code that verifies it.
 */
export function withSignature(
  steps: readonly Step[],
  request: ClientRequest,
  order: SignatureOrder,
  context: SigningContext,
): ClientRequest {
  const asking = steps.flatMap((each) => (each.kind === "validate-hmac" ? [each] : []))
  const step = asking.find(({ secrets }) => secrets.some((each) => each.secret === order.secret)) ?? asking[0]
  if (step === undefined) return request
  const name = order.secret ?? step.secrets[0]?.secret ?? ""
  const secret = context.secretOf(name)
  if (secret === undefined) return request
  const key = step.key === "base64" ? Buffer.from(secret.replace(/^whsec_/, ""), "base64") : secret
  const milliseconds = context.nowMs + order.offsetMs
  const time =
    step.timestamp?.unit === "milliseconds" ? String(milliseconds) : String(Math.floor(milliseconds / 1000))
  const named = withNamed(step, request, context, time)
  const sum = createHmac(step.algorithm, key)
  for (const part of step.signed) sum.update(partOf(part, named, time))
  if (order.isForged) sum.update("forged")
  const { header, prefix = "", separator, encoding } = step.signature
  const signature = `${prefix}${sum.digest(encoding)}`
  const from = step.timestamp?.from
  const value =
    from !== undefined && "prefix" in from
      ? `${from.prefix}${time}${separator ?? ","}${signature}`
      : signature
  return withLine(named, header, value)
}

/** The request with the headers that are signed, and which the test did not give: the time, and an id. */
function withNamed(
  { timestamp, signed, replay }: StepOf<"validate-hmac">,
  request: ClientRequest,
  context: SigningContext,
  time: string,
): ClientRequest {
  const from = timestamp?.from
  let named = request
  if (from !== undefined && "header" in from) named = withDefault(named, from.header, () => time)
  const ids = [
    ...signed.flatMap((part) => (typeof part === "object" && "header" in part ? [part.header] : [])),
    ...(replay?.header === undefined ? [] : [replay.header]),
  ]
  for (const header of ids) named = withDefault(named, header, () => `test-${context.next()}`)
  return named
}

type Part = StepOf<"validate-hmac">["signed"][number]

function partOf(part: Part, request: ClientRequest, time: string): string | Buffer {
  const { method, target, body } = request
  const [path = "", ...query] = target.split("?")
  if (typeof part === "object")
    return "literal" in part ? part.literal : Buffer.from(lineOf(request, part.header) ?? "", "latin1")
  switch (part) {
    case "method":
      return method
    case "path":
      return path
    case "query":
      return query.join("?")
    case "target":
      return target
    case "host":
      return lineOf(request, "host") ?? "localhost"
    case "timestamp":
      return time
    case "body":
      return body ?? ""
  }
}

function lineOf({ headers }: ClientRequest, wanted: string): string | undefined {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

function withDefault(request: ClientRequest, name: string, made: () => string): ClientRequest {
  return lineOf(request, name) === undefined ? withLine(request, name, made()) : request
}

function withLine(request: ClientRequest, name: string, value: string): ClientRequest {
  const line: FieldLine = [name, value]
  return { ...request, headers: [...request.headers, line] }
}

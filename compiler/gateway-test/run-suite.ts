import { explanationText } from "../../runtime/check/explain-text.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { InProcessGateway, Order } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { Credentials } from "../../runtime/gateway/in-process/placed-credentials.ts"
import type {
  BackendAnswer,
  BackendRequest,
  ClientRequest,
  World,
} from "../../runtime/gateway/in-process/world.ts"
import type { Span } from "../core/source.ts"
import type {
  GatewaySuite,
  GatewayTest,
  GatewayTestStep,
  Mismatch,
  Observed,
  OpenGateway,
  PlayedAnswer,
  RequestOrder,
  TestCaller,
  TestGiven,
} from "./gateway-suite.ts"
import { foundText, OpenedWebSockets } from "./web-sockets.ts"

/** An expectation that does not hold. */
export interface GatewayFailure extends Mismatch {
  /** The request, and which of several. */
  readonly request: string
  readonly what: string
  readonly span: Span
  /** What decided the response, in lines. */
  readonly why: readonly string[]
}

/** A test that ran. */
export interface GatewayTestResult {
  readonly test: GatewayTest
  readonly failures: readonly GatewayFailure[]
  /** Why it could not run to its end; undefined: it did. */
  readonly error: string | undefined
  /** Number of expectations that were judged. */
  readonly expectations: number
  readonly passed: boolean
}

/** Receives every passage of a test, also those of redirects that a browser follows. */
export type OnPassage = (test: GatewayTest, passage: Passage) => void

/** Gateways by what they depend on: one plan and one environment need one. */
export class OpenGateways {
  readonly #open: OpenGateway
  readonly #gateways = new Map<string, Promise<InProcessGateway>>()

  constructor(open: OpenGateway) {
    this.#open = open
  }

  /** The gateway for a test. @throws LoadError when the plan cannot be provisioned */
  of({ plan, folder }: GatewaySuite, { environment }: TestGiven): Promise<InProcessGateway> {
    const key = JSON.stringify([plan.digest, folder, environment])
    let gateway = this.#gateways.get(key)
    if (gateway === undefined) {
      gateway = this.#open(plan, environment, folder)
      this.#gateways.set(key, gateway)
    }
    return gateway
  }

  async close(): Promise<void> {
    for (const gateway of this.#gateways.values())
      await gateway.then((opened) => opened.close()).catch(() => undefined)
  }
}

/** Runs one test, in a world of its own. `models`: replace those of the plan, by store. */
export async function runGatewayTest(
  gateway: InProcessGateway,
  test: GatewayTest,
  onPassage?: OnPassage,
  models?: ReadonlyMap<string, LoadedModel>,
): Promise<GatewayTestResult> {
  const failures: GatewayFailure[] = []
  let expectations = 0
  let error: string | undefined
  try {
    await gateway.restart(worldOf(test.given), models)
    const sockets = new OpenedWebSockets()
    for (const step of test.steps) {
      if (step.afterMs > 0) await gateway.advance(step.afterMs)
      const all = step.together.flatMap((each) => Array.from({ length: each.times }, () => each))
      const passages = await sendAll(gateway, all, test.given)
      for (const [index, passage] of passages.entries()) {
        const each = all[index] as GatewayTestStep
        onPassage?.(test, passage)
        expectations += each.expectations.length
        failures.push(...(await judged(each, passage, index + 1)))
      }
      if (step.webSocket !== undefined && step.request === undefined) {
        const passage = await sockets.act(step.webSocket, gateway)
        expectations += step.expectations.length
        failures.push(...(await judged(step, passage, 1)))
      }
      for (let turn = 1; step.request !== undefined && turn <= step.times; turn += 1) {
        const passage = await sendOrder(gateway, step.request, test.given, (each) => onPassage?.(test, each))
        if (step.webSocket !== undefined) sockets.note(step.webSocket.name, passage)
        expectations += step.expectations.length
        const found = await judged(step, passage, turn)
        failures.push(...found)
        // Later turns of the same request would fail for the same reason.
        if (found.length > 0) break
      }
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown)
  }
  return { test, failures, error, expectations, passed: failures.length === 0 && error === undefined }
}

async function judged(step: GatewayTestStep, passage: Passage, turn: number): Promise<GatewayFailure[]> {
  const seen = await observed(
    passage,
    step.expectations.some(({ needsProof }) => needsProof === true),
  )
  const failures: GatewayFailure[] = []
  let why: readonly string[] | undefined
  for (const expectation of step.expectations) {
    const difference = expectation.differs(seen)
    if (difference === undefined) continue
    why ??= [...(await reasonsOf(passage)), ...reasonsOfWebSocket(seen)]
    const { what, span } = expectation
    const text = step.request?.text ?? step.webSocket?.text ?? ""
    failures.push({
      ...difference,
      what,
      span,
      request: step.times > 1 ? `${text} (request ${turn})` : text,
      why,
    })
    // The remaining differences follow from the same reason, which is shown once.
    why = []
  }
  return failures
}

/** With the proofs of its decisions, if they are needed: explaining costs more than deciding. */
async function observed(passage: Passage, needsProof: boolean): Promise<Observed> {
  const decisions = []
  for (const decision of passage.decisions)
    decisions.push({ ...decision, proof: needsProof ? await proofOf(decision) : "" })
  const { webSocket: open } = passage
  const webSocket = open && { isOpen: open.isOpen, cause: open.cause, ...open.take() }
  return { ...passage, decisions, webSocket }
}

function reasonsOfWebSocket({ webSocket }: Observed): string[] {
  return webSocket === undefined ? [] : [`the WebSocket is ${foundText(webSocket)}`]
}

async function proofOf(decision: Passage["decisions"][number]): Promise<string> {
  const explanation = await decision.explain()
  return explanation === undefined ? "" : explanationText(explanation)
}

/** What responded, for whom reads a failure: the step with its place and cause, and the proof of the last decision. */
async function reasonsOf({ finished, response, decisions, sent }: Passage): Promise<string[]> {
  const lines: string[] = []
  const { answeredBy, cause, reason, problem, route } = finished
  const called = [problem, reason].filter((each) => each !== undefined).join(", ")
  const by =
    answeredBy === undefined
      ? ""
      : ` by ${answeredBy.kind}${answeredBy.place === "" ? "" : ` (${answeredBy.place})`}`
  lines.push(
    `${response.status}${called === "" ? "" : ` ${called}`}${by}${route === undefined ? "; no route matched" : ""}`,
  )
  if (cause !== undefined) lines.push(firstLine(cause))
  for (const { method, target, backend, origin, answer } of sent) {
    const outcome = "failure" in answer ? answer.failure : answer.status
    lines.push(`${backend ?? origin} got ${method} ${target}: ${outcome}`)
  }
  const decision = decisions.at(-1)
  if (decision !== undefined) lines.push(...(await proofOf(decision)).trimEnd().split("\n"))
  return lines
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? ""
}

/** Sends requests at one moment, each as its caller. */
async function sendAll(
  gateway: InProcessGateway,
  steps: readonly GatewayTestStep[],
  given: TestGiven,
): Promise<readonly Passage[]> {
  if (steps.length === 0) return []
  return gateway.sendTogether(
    steps.flatMap(({ request }) => (request === undefined ? [] : [orderOf(gateway, request, given)])),
  )
}

/** Sends a request of a test as its caller. A browser follows redirects: `onPassage` gets every passage, and the last one is the result. */
export async function sendOrder(
  gateway: InProcessGateway,
  order: RequestOrder,
  given: TestGiven,
  onPassage?: (passage: Passage) => void,
): Promise<Passage> {
  const { request, credentials } = orderOf(gateway, order, given)
  const login = order.caller?.login
  if (login !== undefined)
    return gateway.visit({ request, credentials, login, follows: order.follows ?? true, onPassage })
  const passage = await gateway.send(request, credentials)
  onPassage?.(passage)
  return passage
}

function orderOf(gateway: InProcessGateway, order: RequestOrder, given: TestGiven): Order {
  const { method, target, body, caller } = order
  const request: ClientRequest = {
    ...{ method, target, body, ip: order.ip ?? caller?.ip, certificate: caller?.certificate },
    headers: [...order.headers, ...(caller?.headers ?? [])],
  }
  return { request, credentials: caller === undefined ? undefined : credentialsOf(gateway, caller, given) }
}

function credentialsOf(gateway: InProcessGateway, caller: TestCaller, given: TestGiven): Credentials {
  const { token, subscription, password, signature, logout } = caller
  const issued = given.subscriptions.find(({ name }) => name === subscription)?.key
  const key = subscription === undefined ? caller.key : (issued ?? gateway.keyOf(subscription))
  return {
    key,
    password,
    signature,
    logout,
    token: token === undefined ? undefined : { ...token, claims: claimsOf(token, gateway.nowMs) },
  }
}

function claimsOf(
  { claims, relative }: NonNullable<TestCaller["token"]>,
  nowMs: number,
): Record<string, unknown> {
  const times = Object.entries(relative).map(([name, ms]) => [name, Math.floor((nowMs + ms) / 1000)])
  return { ...claims, ...Object.fromEntries(times) }
}

/** The world of a test. Responses of backends begin from their first one. */
export function worldOf(given: TestGiven): World {
  const played = new Map<string, number>()
  return {
    timeMs: given.timeMs,
    tuples: given.tuples,
    issuersDown: given.issuersDown,
    issued: new Map(
      given.subscriptions.map(({ name, key, product, api }) => [
        key,
        { name, product, api, all: product === undefined && api === undefined ? true : undefined },
      ]),
    ),
    answer: (request) => answerOf(request, given.answers, played),
    playsProviderAt: (origin) => !given.answers.has(origin),
  }
}

/** The response for a request: of the first entry for its method and path, otherwise the next of the others; the last one repeats. */
function answerOf(
  request: BackendRequest,
  answers: TestGiven["answers"],
  played: Map<string, number>,
): BackendAnswer {
  const name = request.backend ?? request.origin
  const all = answers.get(name)
  if (all === undefined && request.backend === undefined) return { failure: "refused" }
  if (all === undefined) return { status: asksForWebSocket(request) ? 101 : 200 }
  const special = all.find(({ on }) => on !== undefined && isFor(on, request))
  if (special !== undefined) return special.answer
  const others = all.filter(({ on }) => on === undefined)
  const at = played.get(name) ?? 0
  played.set(name, at + 1)
  return others[Math.min(at, others.length - 1)]?.answer ?? { status: 404 }
}

function asksForWebSocket({ headers }: BackendRequest): boolean {
  return headers.some(([name, value]) => name === "upgrade" && value === "websocket")
}

/** A path may end in `*`. */
function isFor(on: NonNullable<PlayedAnswer["on"]>, { method, target }: BackendRequest): boolean {
  if (on.method !== method && on.method !== "*") return false
  const [path = ""] = target.split("?", 1)
  return on.path.endsWith("*") ? path.startsWith(on.path.slice(0, -1)) : path === on.path
}

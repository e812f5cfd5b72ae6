import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import type * as z from "zod"
import type { Subscription } from "../control/api.ts"
import { problemsOf } from "../plan/read.ts"
import {
  emptyRequest,
  type OwnErrorsAnswer,
  type OwnSubscriptionsAnswer,
  type Person,
  rotateKeyRequest,
  subscribeRequest,
  usageRange,
} from "./api.ts"
import { beginChange } from "./audit.ts"
import { RequestBudget } from "./budget.ts"
import { ownErrors } from "./own-errors.ts"
import { OwnSubscriptions, type PortalRefusal, shown } from "./own-subscriptions.ts"
import { daysOf, ownUsage } from "./own-usage.ts"
import { requirePerson } from "./people.ts"
import type { PortalPorts } from "./ports.ts"
import { sendPortalProblem } from "./problem.ts"
import type { PortalScene } from "./scene.ts"

interface ByName {
  Params: { name: string }
}

/** Changes of one person: keys are made, and each change has rows in the audit log. */
const changePace = { burst: 20, everyMs: 3_000 }

/** What people see and do of their own subscriptions. */
export function addSubscriptionRoutes(app: FastifyInstance, ports: PortalPorts): void {
  const own = new OwnSubscriptions(ports.subscriptions)
  const budget = new RequestBudget(changePace)
  app.get("/api/subscriptions", async (request, reply) => {
    const scene = ports.scene() as PortalScene
    const person = await requirePerson(scene, request, reply)
    if (person === undefined) return reply
    const answer: OwnSubscriptionsAnswer = { subscriptions: await own.list(person, scene.published) }
    return answer
  })
  app.get<ByName>("/api/subscriptions/:name", async (request, reply) => {
    const scene = ports.scene() as PortalScene
    const person = await requirePerson(scene, request, reply)
    if (person === undefined) return reply
    const found = await own.find(person, request.params.name)
    return found === undefined
      ? sendPortalProblem(reply, "not-found", "you have no such subscription")
      : shown(found, scene.published)
  })
  addReports(app, ports, own)
  /** Adds a route that changes something: its body, its person and its row in the audit log come first. */
  const change = <Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    status: number,
    run: (
      person: Person,
      body: z.infer<Shape>,
      name: string,
      scene: PortalScene,
    ) => Promise<object | PortalRefusal>,
  ) =>
    app.post<ByName>(path, async (request, reply) => {
      const scene = ports.scene() as PortalScene
      const person = await requirePerson(scene, request, reply)
      if (person === undefined) return reply
      const read = shape.safeParse(request.body)
      if (!read.success) return sendMistake(reply, read.error)
      const wait = budget.take(person.owner)
      if (wait > 0) return sendTooMany(reply, wait)
      await beginChange(ports.audit, request as FastifyRequest, person, scene.signIn?.issuer ?? "")
      const done = await run(person, read.data, request.params.name, scene)
      if ("refused" in done)
        return sendPortalProblem(reply, (done as PortalRefusal).refused, (done as PortalRefusal).detail)
      return reply.code(status).send(done)
    })
  change("/api/subscriptions", subscribeRequest, 201, (person, body, _name, { published }) =>
    own.subscribe(person, body, published),
  )
  change("/api/subscriptions/:name/rotate", rotateKeyRequest, 200, (person, { key }, name, { published }) =>
    own.rotate(person, name, key, published),
  )
  for (const action of ["suspend", "cancel"] as const)
    change(`/api/subscriptions/:name/${action}`, emptyRequest, 200, (person, _body, name, { published }) =>
      own.end(person, name, action, published),
    )
}

/** What is known about the calls of a subscription. */
function addReports(app: FastifyInstance, ports: PortalPorts, own: OwnSubscriptions): void {
  const report = (
    path: string,
    read: (
      found: Subscription,
      scene: PortalScene,
      request: FastifyRequest,
      reply: FastifyReply,
    ) => Promise<object>,
  ) =>
    app.get<ByName>(`/api/subscriptions/:name/${path}`, async (request, reply) => {
      const scene = ports.scene() as PortalScene
      const person = await requirePerson(scene, request, reply)
      if (person === undefined) return reply
      const found = await own.find(person, request.params.name)
      return found === undefined
        ? sendPortalProblem(reply, "not-found", "you have no such subscription")
        : read(found, scene, request as FastifyRequest, reply)
    })
  report("usage", async ({ name }, { published }, { query }, reply) => {
    const asked = usageRange.safeParse(query)
    if (!asked.success) return sendMistake(reply, asked.error)
    const days = daysOf(asked.data)
    if (typeof days === "string") return sendPortalProblem(reply, "bad-request", days)
    return ownUsage(ports.usage, name, days, published)
  })
  report("limits", (found, { published }) =>
    ports.subscriptions.limits(found, (api, version) => published.shows(api, version)),
  )
  report("errors", async ({ name }) => {
    const answer: OwnErrorsAnswer = { errors: ownErrors(await ports.refusals(name)) }
    return answer
  })
}

function sendMistake(reply: FastifyReply, error: z.ZodError): FastifyReply {
  const [problem] = problemsOf(error)
  return sendPortalProblem(
    reply,
    "bad-request",
    `${problem?.path || "the body"}: ${problem?.message ?? "is invalid"}`,
  )
}

function sendTooMany(reply: FastifyReply, wait: number): FastifyReply {
  return sendPortalProblem(
    reply.header("retry-after", String(wait)),
    "too-many-requests",
    `too many changes; try again in ${wait} s`,
  )
}

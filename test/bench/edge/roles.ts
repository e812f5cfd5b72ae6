import { readFileSync } from "node:fs"
import { createServer } from "node:http2"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { openGateway, type Role, type Settings } from "../gateway/servers.ts"
import { bare } from "./bare.ts"

const applyEveryMs = 500

/** Answers each gRPC call with the message it got, by HTTP/2 without TLS, on the port after the backend's. */
async function calls({ port }: Settings): Promise<void> {
  const server = createServer()
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
    stream.on("error", () => {})
    stream.pipe(stream)
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
}

/** The files of the plans that are applied in turn in one round, beside that of the quiet plan. */
export const changingPlans = (plan: string, round: number): string[] => [
  `${plan}.${round}.one`,
  `${plan}.${round}.other`,
]

/** The product; from SIGUSR2 to the next it applies the plans of a round in turn, twice a second, and then the quiet one again. */
async function edge(settings: Settings): Promise<void> {
  const runtime = await openGateway(settings)
  const { plan = "" } = settings
  const planIn = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Plan
  const quiet = planIn(plan)
  let applied = 0
  let round = 0
  let timer: NodeJS.Timeout | undefined
  const apply = (next: Plan) => {
    applied += 1
    runtime.apply(next, { who: "bench", commit: null, message: null }).catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  }
  process.on("SIGUSR2", () => {
    if (timer === undefined) {
      const plans = changingPlans(plan, round).map(planIn)
      round += 1
      timer = setInterval(() => apply(plans[applied % plans.length] as Plan), applyEveryMs)
    } else {
      clearInterval(timer)
      timer = undefined
      apply(quiet)
      console.error(`${applied} plans were applied`)
    }
  })
}

export const edgeRoles: Readonly<Record<string, Role>> = { bareEdge: bare, calls, edge }

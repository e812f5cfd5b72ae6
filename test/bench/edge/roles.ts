import { readFileSync } from "node:fs"
import { createServer } from "node:http2"
import type { Plan } from "../../../runtime/plan/plan.ts"
import { openGateway, type Role, type Settings } from "../gateway/servers.ts"

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

/** The product; from SIGUSR2 to the next it applies its two plans in turn, twice a second. */
async function edge(settings: Settings): Promise<void> {
  const runtime = await openGateway(settings)
  const plans = [settings.plan, `${settings.plan}.other`].map(
    (file) => JSON.parse(readFileSync(file ?? "", "utf8")) as Plan,
  )
  let applied = 0
  let timer: NodeJS.Timeout | undefined
  const apply = () => {
    applied += 1
    runtime
      .apply(plans[applied % plans.length] as Plan, { who: "bench", commit: null, message: null })
      .catch((error: unknown) => {
        console.error(error)
        process.exit(1)
      })
  }
  process.on("SIGUSR2", () => {
    if (timer === undefined) timer = setInterval(apply, applyEveryMs)
    else {
      clearInterval(timer)
      timer = undefined
      console.error(`${applied} plans were applied`)
    }
  })
}

export const edgeRoles: Readonly<Record<string, Role>> = { calls, edge }

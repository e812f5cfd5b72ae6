import { SourceUnavailable } from "../check/ports.ts"
import type { PlanKeeper } from "../control/plan-keeper.ts"
import { Unavailable } from "../control/ports.ts"
import { type Control, startControl } from "../control/server.ts"
import type { SubscriptionDesk } from "../control/subscription-desk.ts"
import type { Gateway } from "../gateway/gateway.ts"
import type { Address } from "../plan/resources.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import type { EngineListeners } from "./engine-listeners.ts"
import type { Heartbeat } from "./heartbeat.ts"
import { StartError } from "./start-error.ts"

/** The parts of the process that operators ask about. */
export interface ControlParts {
  readonly keeper: PlanKeeper
  readonly heartbeat: Heartbeat
  readonly metrics: Metrics
  readonly gateway: Gateway | undefined
  readonly listeners: EngineListeners | undefined
  readonly notReady: () => Promise<readonly string[]>
  readonly subscriptions: SubscriptionDesk
}

/** Whether and where this process listens to operators. */
export interface ControlRole {
  readonly roles: readonly string[]
  readonly control: { readonly listen: Address; readonly token: string } | undefined
  readonly log: Log
}

/** Opens the control listener where the process has that role. @throws StartError when its address cannot be had. */
export async function openControl(settings: ControlRole, parts: ControlParts): Promise<Control | undefined> {
  if (!settings.roles.includes("control")) return undefined
  if (settings.control === undefined)
    throw new StartError("the role `control` needs a token", "Set SALLYPORT_CONTROL_TOKEN.")
  const { listen, token } = settings.control
  const { keeper } = parts
  try {
    return await startControl(
      { listen, token, log: settings.log },
      {
        current: () => keeper.current(),
        plan: (serial) => keeper.plan(serial),
        history: (limit) => keeper.history(limit),
        apply: (plan, base, author) => keeper.apply(plan, base, author),
        notReady: parts.notReady,
        subscriptions: parts.subscriptions,
        metrics: () => parts.metrics.render(),
        engine: () => parts.listeners?.door(),
        async status() {
          const processes = await parts.heartbeat.fleet().catch(rethrow)
          const [newest] = await keeper.history(1)
          return { serial: newest?.serial ?? null, processes, warnings: warningsOf(parts) }
        },
      },
    )
  } catch (error) {
    throw startErrorOf(error, listen)
  }
}

function warningsOf({ gateway, listeners }: ControlParts): string[] {
  return [
    ...issuerWarnings(gateway?.state().issuers ?? {}, "its APIs answer 503"),
    ...issuerWarnings(listeners?.issuers() ?? {}, "callers of the engine with its tokens are answered 503"),
  ]
}

function issuerWarnings(issuers: ReturnType<Gateway["state"]>["issuers"], without: string): string[] {
  return Object.entries(issuers)
    .filter(([, { lastError }]) => lastError !== undefined)
    .map(
      ([name, { ready, lastError }]) =>
        `issuer ${name}: ${lastError} (${ready ? "its last keys serve on" : without})`,
    )
}

function rethrow(error: unknown): never {
  throw error instanceof SourceUnavailable ? new Unavailable(error.message) : error
}

function startErrorOf(error: unknown, { host, port }: Address): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === "EADDRINUSE") {
    return new StartError(
      `cannot listen on ${host}:${port} for control: the port is in use`,
      "Stop the process that has it, or set SALLYPORT_CONTROL_LISTEN to another address.",
    )
  }
  if (code === "EACCES" || code === "EADDRNOTAVAIL") {
    return new StartError(
      `cannot listen on ${host}:${port} for control (${code})`,
      "Set SALLYPORT_CONTROL_LISTEN to an address of this machine.",
    )
  }
  return error
}

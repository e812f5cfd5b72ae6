import { SourceUnavailable } from "../check/ports.ts"
import type { StatusAnswer } from "../control/api.ts"
import type { CanaryKeeper } from "../control/canary-keeper.ts"
import { canaryRecordOf, countsOf } from "../control/canary-records.ts"
import type { PlanKeeper } from "../control/plan-keeper.ts"
import {
  type CanaryPorts,
  type ControlPorts,
  type HealthPorts,
  type OutagePorts,
  type PlanReview,
  type Readiness,
  Unavailable,
} from "../control/ports.ts"
import { type Control, startControl, startHealth } from "../control/server.ts"
import { TrafficHistory } from "../control/traffic-history.ts"
import type { Address } from "../plan/resources.ts"
import { findControlToken } from "../store/control-tokens.ts"
import { countMoved } from "../store/count-moved.ts"
import type { Database } from "../store/database.ts"
import { countPrunable, prune } from "../store/prune.ts"
import { finishMoves, listMoves } from "../store/tuple-moves.ts"
import type { Log } from "../telemetry/log.ts"
import type { ControlListeners } from "./control-listeners.ts"
import type { ControlView } from "./control-view.ts"
import type { Heartbeat } from "./heartbeat.ts"
import type { Metering } from "./metering.ts"
import { openAudit } from "./open-audit.ts"
import { judgeCanaries } from "./open-canaries.ts"
import type { OutageRollbacks } from "./outage-rollbacks.ts"
import { planImpact } from "./plan-impact.ts"
import { StartError } from "./start-error.ts"
import { tupleImpact } from "./tuple-impact.ts"
import { TupleMover } from "./tuple-mover.ts"
import { openWebhooks, type WebhookSettings } from "./webhooks.ts"

/** The parts of the process behind the control API. */
export interface ControlParts {
  readonly database: Database
  readonly keeper: PlanKeeper
  readonly canaries: CanaryKeeper
  readonly heartbeat: Heartbeat
  readonly readiness: () => Promise<Readiness>
  readonly started: () => boolean
  readonly view: ControlView
  readonly metering: Pick<Metering, "subscriptionDesk" | "usageDesk">
  /** The control listeners of plans. */
  readonly operators: ControlListeners | undefined
  /** Absent: this process cannot roll back without the database. */
  readonly outage: OutageRollbacks | undefined
}

/** The address of the control listener, or without the control role that of health and metrics. */
export interface ControlRole {
  readonly roles: readonly string[]
  readonly control: { readonly listen: Address; readonly token?: string | undefined } | undefined
  readonly hosts?: readonly string[] | undefined
  readonly log: Log
  readonly auditSinks?: readonly string[] | undefined
  readonly auditToken?: string | undefined
  readonly webhooks?: WebhookSettings | undefined
  readonly reviewPlans?: PlanReview | undefined
  /** Default: true. */
  readonly enforcesChangeRules?: boolean | undefined
}

/**
 * Opens the control listener; in a process without that role only health and metrics.
 * @throws StartError when its address cannot be opened
 */
export async function openControl(role: ControlRole, parts: ControlParts): Promise<Control | undefined> {
  const { roles, control, hosts, log, auditSinks, auditToken, enforcesChangeRules = true, reviewPlans } = role
  const operates = roles.includes("control")
  if (operates && control?.token === undefined)
    throw new StartError("the role `control` needs a token", "Set SALLYPORT_CONTROL_TOKEN.")
  if (control === undefined) return undefined
  const { listen, token = "" } = control
  const health = { started: parts.started, readiness: parts.readiness, metrics: () => parts.view.metrics() }
  try {
    if (!operates) return await startHealth({ listen, hosts, log }, health)
    const { operators } = parts
    const audit = openAudit(parts.database, log, {
      sinks: auditSinks,
      token: auditToken,
      outage: parts.outage,
    })
    const webhooks = openWebhooks(role.webhooks ?? { urls: [], secret: "" }, log)
    operators?.attachAudit(audit)
    const { notify } = webhooks
    if (parts.outage !== undefined)
      parts.outage.onTaken = ({ rows, record }) => {
        for (const row of rows) audit.copy(row)
        if (record !== undefined) notify({ type: "plan.applied", data: record })
      }
    const judged = { ...parts, log, audit, notify, processId: parts.heartbeat.id }
    const canaries = judgeCanaries(parts.canaries, judged)
    const history = new TrafficHistory(() => parts.view.traffic())
    const traffic = { processId: parts.heartbeat.id, history, listen: parts.view.listen }
    const opened = await startControl(
      {
        ...{ listen, token, hosts, log },
        hooks: operators?.hooks,
        onRefused: operators?.countRefusal,
        callers: () => operators?.callers,
        http: operators?.http,
        findToken: (digest) => findControlToken(parts.database, digest),
      },
      { ...health, ...portsOf(parts, canaries), traffic, audit, enforcesChangeRules, reviewPlans, notify },
    )
    operators?.attach(opened)
    const mover = new TupleMover(parts.database, log)
    return {
      ...opened,
      close: async () => {
        history.close()
        await Promise.all([opened.close(), operators?.close(0), mover.close()])
        await Promise.all([audit.close(), webhooks.close()])
      },
    }
  } catch (error) {
    throw startErrorOf(error, listen, operates ? "control" : "health and metrics")
  }
}

/** What the control API can ask of this process. */
function portsOf(
  parts: ControlParts,
  canaries: CanaryPorts,
): Omit<
  ControlPorts,
  keyof HealthPorts | "traffic" | "audit" | "enforcesChangeRules" | "reviewPlans" | "notify"
> {
  const { keeper } = parts
  return {
    current: () => keeper.current(),
    plan: (serial) => keeper.plan(serial),
    history: (limit) => keeper.history(limit),
    historyIdentity: () => keeper.historyIdentity(),
    apply: (plan, base, author) => keeper.apply(plan, base, author),
    outage: outagePortsOf(parts),
    subscriptions: parts.metering.subscriptionDesk,
    usage: parts.metering.usageDesk,
    tokens: { database: parts.database },
    consents: { database: parts.database },
    pruning: {
      prune: (retention, cursor) => prune(parts.database, retention, cursor),
      countPrunable: (retention) => countPrunable(parts.database, retention),
    },
    moves: {
      list: () => listMoves(parts.database),
      count: (store, moves) => countMoved(parts.database, store, moves),
      finish: (store) => finishMoves(parts.database, store),
    },
    impact: (question) => planImpact(parts, question),
    tupleImpact: async (question) =>
      tupleImpact({ database: parts.database, plan: (await keeper.current())?.plan }, question),
    explain: (question) => parts.view.explain(question),
    refusal: (id) => parts.view.refusal(id),
    recentRefusals: () => parts.view.recentRefusals(),
    routeCounts: (keys) => parts.view.routeCounts(keys),
    engine: () => parts.view.engine(),
    canaries,
    status: () => statusOf(parts, canaries),
  }
}

/** Undefined in a process that keeps no plans on disk. */
function outagePortsOf({ outage, keeper, canaries }: ControlParts): OutagePorts | undefined {
  return (
    outage && {
      running: () => keeper.running,
      refusedSerial: () => keeper.refusedSerial,
      knownCanary: () => canaries.known,
      kept: () => outage.plans.list(),
      find: (serial) => outage.plans.find(serial),
      rollBack: (request) => keeper.rollBackAlone(request),
      append: (content) => outage.append(content),
    }
  )
}

/** Without the database this process reports only itself, because operators need `status` most at such a time. */
async function statusOf(parts: ControlParts, canaries: CanaryPorts): Promise<StatusAnswer> {
  const { heartbeat, keeper, view } = parts
  const { warnings, ...own } = await view.status()
  try {
    const processes = await heartbeat.fleet()
    const [newest] = await keeper.history(1)
    // The reports are read only while one runs: most of the time none does.
    const found = (await canaries.running()) && (await canaries.newest())
    const canary =
      found?.canary.state === "running" ? canaryRecordOf(found.canary, countsOf(found.reports)) : null
    return { serial: newest?.serial ?? null, canary, processes, warnings, ...own }
  } catch (error) {
    if (!(error instanceof SourceUnavailable || error instanceof Unavailable)) throw error
    const away = `the database is unavailable: only the process that was asked is shown (${error.message})`
    return { serial: null, canary: null, processes: [heartbeat.own()], warnings: [away, ...warnings], ...own }
  }
}

/** The error with its remedy. */
function startErrorOf(error: unknown, { host, port }: Address, purpose: string): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === "EADDRINUSE") {
    return new StartError(
      `cannot listen on ${host}:${port} for ${purpose}: the port is in use`,
      "Stop the process that uses it, or set SALLYPORT_CONTROL_LISTEN to another address.",
    )
  }
  if (code === "EACCES" || code === "EADDRNOTAVAIL") {
    return new StartError(
      `cannot listen on ${host}:${port} for ${purpose} (${code})`,
      "Set SALLYPORT_CONTROL_LISTEN to an address of this machine.",
    )
  }
  return error
}

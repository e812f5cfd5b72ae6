import type { ProcessStatus, StatusAnswer } from "../../../runtime/control/api.ts"
import { table } from "./table.ts"

export function statusText(status: StatusAnswer): string {
  const newest =
    status.serial === null ? "No plan was applied yet.\n" : `The newest plan is serial ${status.serial}.\n`
  const processes = table(
    ["PROCESS", "ROLES", "VERSION", "SINCE", "SERIAL", "STATE"],
    status.processes.map((process) => [
      `${process.host}:${process.pid}`,
      process.roles.join(","),
      process.version,
      process.startedAt.replace("T", " ").replace(/\.\d+Z$/, "Z"),
      process.serial === null ? "-" : String(process.serial),
      stateOf(process, status.serial),
    ]),
  )
  return newest + processes + status.warnings.map((warning) => `warning: ${warning}\n`).join("")
}

function stateOf(process: ProcessStatus, newest: number | null): string {
  if (process.error !== null) return `error: ${process.error}`
  if (process.state === "degraded") return `degraded: ${process.reasons.join("; ")}`
  if (process.state === "draining") return "draining"
  return process.serial === newest ? "up to date" : "behind"
}

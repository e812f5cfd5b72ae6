import { readFileSync } from "node:fs"
import { constants, setPriority } from "node:os"

/** Part of a core, above 0, at most 1; "idle": all time that nothing else on the machine wants. */
export type ProcessorShare = number | "idle"

/** Part of a core where the system cannot give a thread only idle time. */
const shareMax = 0.5
/** Part of a limited processor time: the rest is for requests. */
const quotaPart = 0.25

/** What decides about the share of a thread. */
export interface ThreadSystem {
  readonly platform: NodeJS.Platform
  /** Undefined when there is no such file. */
  read(path: string): string | undefined
  /** Gives the calling thread the lowest priority. @throws Error when the system refuses */
  lower(): void
}

export const ownSystem: ThreadSystem = {
  platform: process.platform,
  read: (path) => {
    try {
      return readFileSync(path, "utf8")
    } catch {
      return undefined
    }
  },
  lower: () => setPriority(0, constants.priority.PRIORITY_LOW),
}

/**
 * The part of a core that the calling thread may use. For "idle" the thread gets the lowest priority, so that it runs only while a core has nothing
 * else to do, and then without pauses. Only Linux has priorities of threads: elsewhere the same call would slow down the whole process, and the
 * thread uses half of a core. A quota of the container counts all threads alike, so that of a quota a quarter is used, at most half of a core.
 */
export function shareOfThread(share: ProcessorShare, system: ThreadSystem = ownSystem): number {
  if (share !== "idle") return share
  if (system.platform !== "linux") return shareMax
  const quota = quotaOf(system)
  if (quota !== undefined) return Math.min(shareMax, quotaPart * quota)
  try {
    system.lower()
    return 1
  } catch {
    return shareMax
  }
}

/** The cores that the process may use at once by the smallest quota of its control groups (versions 1 and 2); undefined: without a quota. */
function quotaOf(system: ThreadSystem): number | undefined {
  const quotas = (system.read("/proc/self/cgroup") ?? "").split("\n").flatMap((line) => {
    const [, controllers = "", path] = line.match(/^\d+:([^:]*):(\/.*)$/) ?? []
    if (path === undefined) return []
    const folders = withParents(path === "/" ? "" : path)
    if (controllers === "")
      return folders.map((folder) => quotaIn(system.read(`/sys/fs/cgroup${folder}/cpu.max`)))
    if (!controllers.split(",").includes("cpu")) return []
    return folders.map((folder) => {
      const file = (name: string) => system.read(`/sys/fs/cgroup/${controllers}${folder}/${name}`)
      return quotaIn(`${file("cpu.cfs_quota_us")} ${file("cpu.cfs_period_us")}`)
    })
  })
  const found = quotas.filter((quota) => quota !== undefined)
  return found.length === 0 ? undefined : Math.min(...found)
}

/** `/a/b`, `/a` and the root. A container sees its own group as the root, or a path that does not exist for it. */
function withParents(path: string): readonly string[] {
  const parts = path.split("/")
  return parts.map((_, at) => parts.slice(0, parts.length - at).join("/"))
}

/** `200000 100000` is two cores; `max 100000` and `-1 100000` are no quota. */
function quotaIn(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? "").trim().split(/\s+/).map(Number)
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : undefined
}

import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { promisify } from "node:util"

/** Where Linux says how much CPU time a container may use: `200000 100000` is two cores, `max 100000` no limit (cgroup v2). */
const quotaFile = "/sys/fs/cgroup/cpu.max"

/** Number of cores that this process may use, also in a container with a limit of CPU time. */
export async function coresForUs(file = quotaFile): Promise<number> {
  const cores = availableParallelism()
  const [, quota, period] = /^(\d+) (\d+)$/m.exec(await readFile(file, "utf8").catch(() => "")) ?? []
  if (quota === undefined || period === undefined) return cores
  return Math.max(1, Math.min(cores, Math.ceil(Number(quota) / Number(period))))
}

/**
 * Tells systemd that the process serves (`Type=notify`). Node cannot send datagrams to a Unix socket, so systemd's own program does;
 * `NotifyAccess=all` admits it. Without `NOTIFY_SOCKET` nothing is done.
 */
export async function notifySupervisor(
  env: Readonly<Record<string, string | undefined>>,
  onFailure: (reason: string) => void,
): Promise<void> {
  if (!env["NOTIFY_SOCKET"]) return
  try {
    await promisify(execFile)("systemd-notify", ["--ready"], { env: { ...process.env, ...env } })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    onFailure(code === "ENOENT" ? "the program systemd-notify is not installed" : message)
  }
}

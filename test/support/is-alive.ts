/** Whether a process with this id runs. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: a process of somebody else.
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

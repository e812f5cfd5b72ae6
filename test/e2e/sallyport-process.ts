import { type ChildProcess, spawn } from "node:child_process"
import { onTestFinished } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { freePort } from "../support/free-port.ts"

/** The end of what `sallyport dev` prints when it has started. */
export const devIsReady = /--id REQUEST_ID` says why\.\n$/

/** The real command, running. */
export interface SallyportProcess {
  readonly child: ChildProcess
  /** Everything it has printed. */
  readonly output: { out: string; err: string }
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>
  /** Waits until its standard output has a match. Rejects when it ends before. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Asks it to end, and waits. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

/** The same for one test: whatever becomes of that, the process ends with it. */
export function startForTest(...words: Parameters<typeof start>): SallyportProcess {
  const started = start(...words)
  onTestFinished(async () => void (await started.stop("SIGKILL")))
  return started
}

/** Starts `sallyport …` in a folder. `env` is added to ours. */
export function start(
  cwd: string,
  env: Readonly<Record<string, string>>,
  ...argv: string[]
): SallyportProcess {
  const child = spawn(
    process.execPath,
    ["--liftoff-only", `${projectRoot}compiler/cli/sallyport.mjs`, ...argv],
    {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  )
  const output = { out: "", err: "" }
  child.stdout.on("data", (chunk) => {
    output.out += String(chunk)
  })
  child.stderr.on("data", (chunk) => {
    output.err += String(chunk)
  })
  const exited = new Promise<number | string>((resolve) =>
    child.once("close", (code, signal) => resolve(code ?? signal ?? "")),
  )
  return {
    child,
    output,
    exited,
    printed: (pattern) => matching(() => pattern.exec(output.out), exited, output),
    stop(signal = "SIGTERM") {
      child.kill(signal)
      return exited
    },
  }
}

async function matching<T>(
  look: () => T | null,
  exited: Promise<unknown>,
  output: { out: string; err: string },
): Promise<T> {
  let ended = false
  void exited.then(() => {
    ended = true
  })
  for (;;) {
    const found = look()
    if (found !== null) return found
    if (ended) throw new Error(`it ended without it:\n${output.out}\n${output.err}`)
    await pause()
  }
}

/** Asks until the answer is one that is wanted. The test's own time limit ends it. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined) return answer
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25))
}

/** Ports nobody listens on now. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()))
}

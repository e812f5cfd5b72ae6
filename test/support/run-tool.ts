import { spawn } from "node:child_process"
import { projectRoot } from "../structure/tree.ts"

/** What a tool printed, and its exit code; null: a signal ended it. */
export interface ToolResult {
  readonly code: number | null
  readonly output: string
}

/** With a bound V8 collects earlier: knip takes 190 MB instead of 400. */
const heap = "--max-old-space-size=250"

/** Runs a program below node_modules. */
export async function runTool(program: string, flags: readonly string[]): Promise<ToolResult> {
  const words = [heap, `${projectRoot}node_modules/${program}`, ...flags]
  const child = spawn(process.execPath, words, { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.on("data", (text) => {
    output += text
  })
  child.stderr.on("data", (text) => {
    output += text
  })
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve))
  return { code, output }
}

/** The projects of the type checker: all of Node's code, and the pages, which have the types of browsers. */
const projects = {
  types: "tsconfig.json",
  console: "runtime/control/console/page/tsconfig.json",
  portal: "runtime/portal/page/tsconfig.json",
  playground: "compiler/playground/tsconfig.json",
}

/** The type checker, in one thread: otherwise it needs 1.3 GB. It keeps in node_modules/.cache what it knows, and checks again what has changed. */
export async function checkTypes(): Promise<ToolResult> {
  const results: ToolResult[] = []
  for (const [name, project] of Object.entries(projects))
    results.push(
      await runTool("typescript/bin/tsc", [
        ...["-p", project, "--noEmit", "--pretty", "false", "--singleThreaded"],
        ...["--incremental", "--tsBuildInfoFile", `node_modules/.cache/${name}.tsbuildinfo`],
      ]),
    )
  const failed = results.find(({ code }) => code !== 0)
  return failed ?? { code: 0, output: "" }
}

import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

/**
 * Makes dist/ current once per run: the tests start the real command and the real workers. Where the sources of one room do not build for the
 * moment, those of the others can still be tested with what was built last; not where `CI` is set.
 */
export function setup(): void {
  const builder = fileURLToPath(new URL("../../compiler/cli/build.mjs", import.meta.url))
  try {
    execFileSync(process.execPath, [builder, "--if-stale"], { stdio: "inherit" })
  } catch (error) {
    const built = fileURLToPath(new URL("../../dist/main.js", import.meta.url))
    if (process.env["CI"] || !existsSync(built)) throw error
    console.error("The product does not build: tests that start the command start what was built last.")
  }
}

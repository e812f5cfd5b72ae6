import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Makes dist/ current once per run: the tests start the real command and the real workers. */
export function setup(): void {
  const builder = fileURLToPath(new URL("../../compiler/cli/build.mjs", import.meta.url))
  execFileSync(process.execPath, [builder, "--if-stale"], { stdio: "inherit" })
}

import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const program = fileURLToPath(new URL("../../compiler/cli/sallyport.mjs", import.meta.url))

/** Runs `sallyport migrate` for a database: in a process of its own, so that this one does not load the product. */
export async function migrateByCommand(url: string): Promise<void> {
  const env = { ...process.env, SALLYPORT_DATABASE_URL: url }
  await promisify(execFile)(process.execPath, [program, "migrate"], { env })
}

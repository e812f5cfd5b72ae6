import { execFile } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { projectRoot } from "../structure/tree.ts"
import { freePorts } from "./sallyport-process.ts"

/** The ports the example has by itself: gateway, engine, identity provider, control, and the two backends. */
export const usualPorts = [8000, 8080, 8081, 8082, 9001, 9002] as const

/** A folder with the example on ports of its own, and the command where npx finds it. */
export interface Example {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly argv: readonly string[]
  /** In the order of `usualPorts`. */
  readonly ports: readonly number[]
}

export async function example(): Promise<Example> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-dev-"))
  const ports = await freePorts(usualPorts.length)
  const [gateway, authz, identity, control, first, second] = ports
  cpSync(`${projectRoot}models`, join(folder, "models"), { recursive: true })
  const text = readFileSync(`${projectRoot}gateway.conf`, "utf8")
    .replaceAll("127.0.0.1:8000", `127.0.0.1:${gateway}`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${authz}`)
    .replaceAll(":9001", `:${first}`)
    .replaceAll(":9002", `:${second}`)
  writeFileSync(join(folder, "gateway.conf"), text)
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true })
  symlinkSync(`${projectRoot}compiler/cli/sallyport.mjs`, join(folder, "node_modules/.bin/sallyport"))
  return {
    folder,
    ports,
    // The token of whoever runs these tests is not theirs to use.
    env: {
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
      SALLYPORT_CONTROL_TOKEN: "",
      SALLYPORT_DATABASE_URL: "",
    },
    argv: [
      "dev",
      "--identity",
      `127.0.0.1:${identity}`,
      "--backends",
      `127.0.0.1:${first},127.0.0.1:${second}`,
    ],
  }
}

/** A line in bash, as somebody pastes it in another terminal of the folder. */
export function bash(folder: string, line: string): Promise<{ code: number; out: string }> {
  const { SALLYPORT_CONTROL_URL: _, ...env } = process.env
  return new Promise((resolve) => {
    execFile("bash", ["-c", line], { cwd: folder, env: { ...env, NO_COLOR: "1" } }, (error, out) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, out }),
    )
  })
}
